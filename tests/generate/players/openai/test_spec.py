"""A spec string says which model, where, and how each kind of ask is put; what it lacks is said when it is opened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.common.errors import BadData, MissingKey, PlanChanged, UsageError
from liescope.detectors.judge.asking import check_model
from liescope.games.core import AskKind, EventKind
from liescope.generate.exports.inspect_log import transcript_of
from liescope.generate.players.openai.openai_player import open_openai
from liescope.generate.players.openai.spec import read_spec, thinking_fields
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.player_registry import open_player
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import answered, rebuild


def table(**options: Any) -> PlayerContext:
    return PlayerContext(log=lambda attempt: None, game="mafia", **options)


@pytest.fixture
def persona(tmp_path: Path) -> Path:
    file = tmp_path / "liar.txt"
    file.write_text("You are {name}, a {role} who {lies}.\n", encoding="utf-8")
    return file


def test_a_setting_of_one_kind_of_ask_comes_before_the_general_one(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says('"Hi."'))
    spec = f"m@{stub.url}?temperature=0.7&temperature.vote=0&top_p.speak=0.9&max_tokens=300&max_tokens.vote=5&json=none"
    desk(f"{spec}&reasoning_effort=low").ask(*map(asked.get, (AskKind.SPEAK, AskKind.VOTE, AskKind.PEER_ASSESSMENT)))
    names = ("temperature", "top_p", "max_tokens", "reasoning_effort")
    sent = [tuple(request.body.get(name) for name in names) for request in stub.requests]
    assert sent == [(0.7, 0.9, 300, "low"), (0.0, None, 5, "low"), (0.7, None, 300, "low")]
    desk(f"m@{stub.url}").ask(asked[AskKind.SPEAK])
    assert set(stub.requests[-1].body) == {"model", "messages"}, "nothing is sent that was not asked for"


@pytest.mark.parametrize(("game", "general"), [("werewolf", 1.0), ("mafia", None)])
def test_werewolf_is_asked_at_the_papers_temperature_unless_told_otherwise(
    game: str, general: float | None, serve, stubs, desk, asked, asked_by_werewolf
) -> None:
    asks = asked_by_werewolf if game == "werewolf" else asked
    votes = AskKind.EXPLAINED_VOTE if game == "werewolf" else AskKind.VOTE
    stub = serve(stubs.says('"Hi."'))
    spec = f"m@{stub.url}?temperature.{votes}=0&json=none"
    table = desk(spec, game=game)
    table.ask(asks[AskKind.SPEAK], asks[votes])
    assert [request.body.get("temperature") for request in stub.requests] == [general, 0.0]
    assert table.player.model == f"m (temperature.{votes}=0.0)"  # what the game asks at is not the model's name


def test_settings_that_change_the_answers_are_part_of_the_name_in_any_order() -> None:
    words = ("temperature.vote=0", "temperature=1", "top_p=0.5", "reasoning_effort=low")
    one, other = read_spec(f"m?{'&'.join(words)}"), read_spec(f"m?{'&'.join(reversed(words))}")
    assert one == other
    label = "m (reasoning_effort=low, temperature=1.0, temperature.vote=0.0, top_p=0.5)"
    assert one.label == read_spec(f"m?{'&'.join(words)}&max_tokens=9").label == label


def test_a_persona_is_a_system_message_that_knows_its_seat(serve, stubs, desk, asked, persona: Path) -> None:
    stub = serve(stubs.says('"Hi."'))
    one = desk(f"m@{stub.url}?persona={persona}")
    ask, view = asked[AskKind.SPEAK]
    unknowing = [event for event in view if event.kind is not EventKind.ROLE]
    role = next(event.data["role"] for event in view if event.kind is EventKind.ROLE)
    one.ask((ask, view))
    system, prompt = stub.requests[0].body["messages"]
    assert system == {"role": "system", "content": f"You are {ask.seat}, a {role} who {{lies}}.\n"}
    assert prompt["role"] == "user"
    assert one.player._opened.persona.filled(replace(ask, seat="{role}"), unknowing).startswith("You are player, a")


def test_a_seat_that_remembers_less_is_told_so_and_has_another_name(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says("Bob"))
    ask = asked[AskKind.VOTE]
    for memory in ("full", "last:1", "last:99999"):
        desk(f"m@{stub.url}?memory={memory}").ask(ask)
    whole, short, long = (request.body["messages"][-1]["content"] for request in stub.requests)
    assert len(short) < len(whole) == len(long)
    assert "only the last 1 events" in short
    assert (read_spec("m?memory=full").label, read_spec("m?memory=last:3").label) == ("m", "m (memory=last:3)")
    for wrong in ("last:0", "last", "", "summary", "full:3"):
        with pytest.raises(UsageError, match=r"memory is full, last:K or summary:K"):
            read_spec(f"m?memory={wrong}")


def test_a_summary_is_asked_for_once_also_of_a_run_that_goes_on_and_its_seat_alone_reads_it(
    serve, stubs, tmp_path: Path
) -> None:
    def words(prompt: str) -> str:
        last = prompt.splitlines()[-1]
        digest = sha256(prompt.encode()).hexdigest()[:6]
        return f"Note {digest}." if "summary alone" in last else f'"I say {digest}."' if "quotation" in last else "?"

    stub = serve(lambda request, number: stubs.says(words(request.body["messages"][-1]["content"])))
    asked: dict[str, Any] = {"players": [f"openai:m@{stub.url}?memory=summary:2"], "games": 2, "max_fallbacks": 1}
    asked |= {"preflight": False, "concurrency": 1}
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    liescope.play("mini-mafia", out=whole, **asked)
    once = len(stub.requests)
    stopped = liescope.play("mini-mafia", out=halves, max_tokens=2000, **asked)
    assert stopped.tally.stop is not None
    liescope.play("mini-mafia", out=halves, **asked)
    assert len(stub.requests) == 2 * once, "nothing is paid for twice"
    with pytest.raises(UsageError, match="a rater writes no summaries"):
        liescope.label(whole, asked["players"][0])
    with Journal.open(whole) as one, Journal.open(halves) as two:
        assert list(one.records()) == list(two.records())
        for game in one.records():
            session = rebuild(one, game.game_id)
            answered(one, game.game_id, session, 1000)
            assert tuple(session.events) == game.events
            notes = {event.text: event.actor for event in game.events if event.kind is EventKind.SUMMARY}
            assert len({*notes.values()}) > 1
            exported = " ".join(message["content"] for message in transcript_of(game))
            assert not any(note in exported for note in notes), "a transcript that others judge has no seat's notes"
            for ask, body in ((ask, body["messages"][-1]["content"]) for ask, body in sent(one, game.game_id)):
                assert all(notes[note] == ask for note in notes if note in body)


def sent(journal: Journal, game: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The requests of a game, each with its seat."""
    for step, seat in journal.answers(game):
        yield from ((seat, request.body) for request in journal.requests(game, step, seat))


def test_the_name_in_tables_tells_personas_apart_by_their_text(persona: Path) -> None:
    spec = f"m@http://localhost:1/v1?temperature=0&persona={persona}"
    first = open_openai(spec, table()).model
    persona.write_text("You are honest.", encoding="utf-8")
    second = open_openai(spec, table()).model
    assert first != second
    assert first.startswith("m (persona=liar#")
    assert first.endswith(", temperature=0.0)")


def test_a_changed_persona_is_a_changed_plan_and_the_old_text_goes_on_as_it_was(
    serve, stubs, persona: Path, tmp_path: Path
) -> None:
    stub = serve(stubs.says('"Alice did it."'))
    out, spec = tmp_path / "run", f"openai:m@{stub.url}?persona={persona}"
    liescope.play("mini-mafia", players=[spec], games=1, out=out)
    text = persona.read_text(encoding="utf-8")
    with Journal.open(out) as journal:
        assert journal.plan["files"] == {str(persona): text}
        game = next(iter(journal.records()))
        request = next(iter(journal.requests(game.game_id, 0, next(iter(journal.answers(game.game_id)))[1])), None)
    assert {seat.model.partition("#")[0] for seat in game.seats} == {"m (persona=liar"}
    assert request is None or request.body["messages"][0]["role"] == "system"
    done = len(stub.requests)
    liescope.play("mini-mafia", players=[spec], games=1, out=out)
    assert len(stub.requests) == done
    persona.write_text("You are honest.", encoding="utf-8")
    with pytest.raises(PlanChanged, match=r"files\..*liar\.txt \"You are {name}.* -> \"You are honest"):
        liescope.play("mini-mafia", players=[spec], games=1, out=out)


def test_a_judge_that_is_a_detector_takes_no_file_of_this_machine() -> None:
    with pytest.raises(UsageError, match="prompt FILE"):
        check_model("openai:m?persona=/etc/passwd", None)


BUDGETS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openrouter.ai": ({"reasoning": {"max_tokens": 2048}}, {"reasoning": {"effort": "none"}}),
    "api.anthropic.com": ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, {"thinking": {"type": "disabled"}}),
    "generativelanguage.googleapis.com": (
        {"extra_body": {"google": {"thinking_config": {"thinking_budget": 2048, "include_thoughts": True}}}},
        {"extra_body": {"google": {"thinking_config": {"thinking_budget": 0, "include_thoughts": False}}}},
    ),
    "dashscope-intl.aliyuncs.com": ({"enable_thinking": True, "thinking_budget": 2048}, {"enable_thinking": False}),
    "localhost:8000": (
        {
            "chat_template_kwargs": {"enable_thinking": True, "thinking_budget": 2048},
            "thinking_token_budget": 2048,
            "thinking_budget_tokens": 2048,
        },
        {"chat_template_kwargs": {"enable_thinking": False}},
    ),
}


@pytest.mark.parametrize("host", BUDGETS)
def test_a_thinking_budget_is_said_in_the_words_of_the_provider(host: str) -> None:
    assert (thinking_fields(host, 2048), thinking_fields(host, 0)) == BUDGETS[host]


def test_openai_takes_no_budget_and_says_what_to_use() -> None:
    with pytest.raises(UsageError, match="use reasoning_effort"):
        thinking_fields("api.openai.com", 1)


def test_a_budget_and_extra_fields_reach_the_request(serve, stubs, desk, asked, tmp_path: Path) -> None:
    extra = tmp_path / "more.json"
    extra.write_text(json.dumps({"top_k": 20, "temperature": 9, "provider": {"order": ["a"]}}), encoding="utf-8")
    stub = serve(stubs.says('"Hi."'))
    one = desk(f"m@{stub.url}?thinking=0&temperature=0.5&extra={extra}")
    one.ask(asked[AskKind.SPEAK])
    body = stub.requests[0].body
    assert (body["top_k"], body["provider"], body["temperature"]) == (20, {"order": ["a"]}, 0.5)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert one.player.model.startswith("m (extra=more#")
    assert one.player.model.endswith(", thinking=0, temperature=0.5)")


@pytest.mark.parametrize(
    ("option", "data", "words"),
    [
        ("persona", b"", "is empty"),
        ("persona", b"\xff\xfe", "cannot be read"),
        ("persona", b"a" * 70_000, "longer than 65,536"),
        ("persona", None, "No such file"),
        ("extra", b"[]", "must hold one JSON object"),
        ("extra", b"{", "cannot be read as JSON"),
        ("extra", b'{"a": NaN}', "cannot be read as JSON"),
        ("extra", b"[" * 60_000, "cannot be read as JSON"),
        ("extra", b'{"stream": true, "model": "x"}', "sets model, stream, which Liescope sets itself"),
        ("extra", b'{"headers": [{"X-Api-Key": "hush"}]}', "sets X-Api-Key; requests are recorded"),
    ],
)
def test_a_file_of_a_spec_that_cannot_be_used_is_named_and_refused(
    tmp_path: Path, option: str, data: bytes | None, words: str
) -> None:
    file = tmp_path / "file.txt"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(BadData, match=words) as error:
        open_openai(f"m@http://localhost:1/v1?{option}={file}", table())
    assert str(file) in str(error.value)
    assert "hush" not in str(error.value)


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
        ("m?temperature=nan", "temperature must be 0 to 10, got nan"),
        ("m?temperature=-1", "temperature must be 0 to 10, got -1"),
        ("m?max_tokens=0", "max_tokens must be 1 to 1,000,000,000, got 0"),
        ("m?max_tokens.vote=0", "max_tokens.vote must be 1 to 1,000,000,000, got 0"),
        ("m?top_p=2", "top_p must be 0 to 1, got 2"),
        ("m?json=yaml", "the choices are: none, object, schema"),
        ("m?json.vote=none", "unknown option of openai:m 'json.vote'"),
        ("m?temprature=1", "Did you mean 'temperature'"),
        ("m?temperature.speek=1", "Did you mean 'speak'"),
        ("m?temperature.=1", "unknown kind of ask for temperature ''"),
        ("m?temperature.x=1", "bid, choose, explained_vote,"),
        ("m?api_key=sk-hush", "extra, json, key_env, max_tokens, memory, persona, reasoning_effort"),
        ("m?thinking=many", "thinking must be a whole number"),
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


def test_prompts_that_do_not_work_are_refused_when_the_player_is_opened(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"rules\.jinja is missing"):
        open_openai("m@http://localhost:1/v1", table(prompts=tmp_path))
