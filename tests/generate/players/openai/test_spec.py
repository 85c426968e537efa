"""A spec string says which model, where, and how it is asked; what it lacks is said when the player is opened."""

from __future__ import annotations

import pytest

from liescope.common.errors import MissingKey, UnknownName, UsageError
from liescope.games.core import AskKind
from liescope.generate.players.openai.openai_player import open_openai
from liescope.generate.players.openai.spec import read_spec
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.player_registry import open_player
from liescope.generate.players.run_limits import Limits, Price


def table(**options) -> PlayerContext:
    return PlayerContext(log=lambda attempt: None, game="mafia", **options)


@pytest.mark.parametrize(
    ("argument", "name", "url"),
    [
        ("m@http://localhost:8000/v1", "m", "http://localhost:8000/v1"),
        ("m@http://localhost:8000/v1/", "m", "http://localhost:8000/v1"),
        ("org/m:latest@https://host/v1?temperature=0", "org/m:latest", "https://host/v1"),
        ("/path/to/model@http://127.0.0.1:1/v1", "/path/to/model", "http://127.0.0.1:1/v1"),
        ("m@2025@http://[::1]:8000/v1", "m@2025", "http://[::1]:8000/v1"),
        ("gpt-4.1-mini", "gpt-4.1-mini", ""),
        ("@cf/meta/llama-3.1-8b-instruct", "@cf/meta/llama-3.1-8b-instruct", ""),
        ("claude-3-5-sonnet@20240620", "claude-3-5-sonnet@20240620", ""),
    ],
)
def test_a_name_at_an_address_is_split(argument: str, name: str, url: str) -> None:
    spec = read_spec(argument)
    assert (spec.name, spec.base_url) == (name, url)


@pytest.mark.parametrize(
    "address", ["localhost:8000/v1", "localhost", "127.0.0.1:8000", "gpu-1:8000", "api.example.org/v1"]
)
def test_an_address_without_its_scheme_is_never_taken_for_a_model_of_openais(address: str) -> None:
    with pytest.raises(UsageError, match=f"begins with http://.*@http://{address}"):
        read_spec(f"llama@{address}")


def test_a_name_without_its_kind_is_answered_with_how_specs_look() -> None:
    with pytest.raises(UnknownName, match=r"unknown player 'gpt-4.1-mini'.*openai:MODEL@URL"):
        open_player("gpt-4.1-mini", table())


def test_nothing_is_sent_that_was_not_asked_for(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says('"Hi."'))
    desk(f"m@{stub.url}").ask(asked[AskKind.SPEAK])
    assert set(stub.requests[0].body) == {"model", "messages"}


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("", "needs a model's name"),
        ("@http://localhost/v1", "needs a model's name"),
        ("m@http://", "an endpoint's address looks like"),
        ("m@http://host:port/v1", "an endpoint's address looks like"),
        ("m@http://ho st/v1", "an endpoint's address looks like"),
        ("m@http://me:hush@host/v1", "must hold no password"),
        ("m?temperature=warm", "temperature must be a number"),
        ("m?temperature=nan", "temperature must be a number"),
        ("m?temperature=-1", "temperature must be a number"),
        ("m?max_tokens=0", "max_tokens must be a number"),
        ("m?max_tokens.vote=0", "max_tokens.vote must be a number"),
        ("m?top_p=2", "top_p must be a number from 0 to 1"),
        ("m?json=yaml", "the choices are: none, object, schema"),
        ("m?json.vote=none", "unknown option 'json.vote'"),
        ("m?temprature=1", "Did you mean 'temperature'"),
        ("m?temperature.speek=1", "Did you mean 'speak'"),
        ("m?temperature.=1", "unknown kind of ask for temperature ''"),
        ("m?temperature.x=1", "bid, explained_vote,"),
        ("m?api_key=sk-hush", "extra, json, key_env, max_tokens, persona, reasoning_effort"),
        ("m?thinking=many", "thinking must be a number"),
        ("m?thinking=1&reasoning_effort=low", "give one of them"),
        ("m?persona=", "persona names a text file"),
    ],
)
def test_a_spec_that_cannot_be_read_is_refused_with_the_reason(argument: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        read_spec(argument)
    assert words in str(error.value)
    assert "hush" not in str(error.value)


@pytest.mark.parametrize(
    ("variable", "spec"),
    [("OPENAI_API_KEY", "openai:gpt-4.1-mini"), ("MY_API_KEY", "openai:m@http://localhost:1/v1?key_env=MY_API_KEY")],
)
def test_a_missing_key_is_named_when_the_player_is_opened(variable: str, spec: str, monkeypatch) -> None:
    for value in ("", "  "):
        monkeypatch.setenv(variable, value)
        with pytest.raises(MissingKey, match=variable):
            open_player(spec, table())


def test_a_key_that_no_header_takes_is_refused_without_showing_it(monkeypatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-se\ncret")
    with pytest.raises(UsageError, match="MY_API_KEY") as error:
        open_openai("m?key_env=MY_API_KEY", table())
    assert "cret" not in str(error.value)


def test_a_named_key_is_sent(serve, stubs, desk, asked, monkeypatch) -> None:
    monkeypatch.setenv("MY_API_KEY", " sk-mine\n")
    stub = serve(stubs.says('"Hi."'))
    desk(f"m@{stub.url}?key_env=MY_API_KEY").ask(asked[AskKind.SPEAK])
    assert stub.requests[0].headers["authorization"] == "Bearer sk-mine"


def test_a_budget_in_money_needs_a_price() -> None:
    with pytest.raises(UsageError, match="needs the price of 'm'"):
        open_openai("m@http://localhost:1/v1", table(limits=Limits(max_cost=1.0, prices={"other": Price(1, 1)})))


def test_prompts_that_do_not_work_are_refused_when_the_player_is_opened(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"rules\.jinja is missing"):
        open_openai("m@http://localhost:1/v1", table(prompts=tmp_path))
