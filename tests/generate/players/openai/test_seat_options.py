"""How a seat's model is asked is said in its spec: by kind of ask, with a persona, a thinking budget, or any field that
a provider has; it stands in the name in tables, and files that a spec names are part of the plan.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.common.errors import BadData, PlanChanged, UsageError
from liescope.detectors.judge.asking import check_model
from liescope.games.core import AskKind, EventKind
from liescope.generate.players.openai.openai_player import open_openai
from liescope.generate.players.openai.spec import read_spec, thinking_fields
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import make_plan


def table(**options: Any) -> PlayerContext:
    return PlayerContext(log=lambda attempt: None, game="mafia", **options)


@pytest.fixture
def persona(tmp_path: Path) -> Path:
    file = tmp_path / "liar.txt"
    file.write_text("You are {name}, a {role} who {lies}.\n", encoding="utf-8")
    return file


# By kind of ask


def test_a_setting_of_one_kind_of_ask_comes_before_the_general_one(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says('"Hi."'))
    spec = f"m@{stub.url}?temperature=0.7&temperature.vote=0&top_p.speak=0.9&max_tokens=300&max_tokens.vote=5&json=none"
    desk(f"{spec}&reasoning_effort=low").ask(*map(asked.get, (AskKind.SPEAK, AskKind.VOTE, AskKind.PEER_ASSESSMENT)))
    names = ("temperature", "top_p", "max_tokens", "reasoning_effort")
    sent = [tuple(request.body.get(name) for name in names) for request in stub.requests]
    assert sent == [(0.7, 0.9, 300, "low"), (0.0, None, 5, "low"), (0.7, None, 300, "low")]


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


# Personas


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


def test_the_name_in_tables_tells_personas_apart_by_their_text(persona: Path) -> None:
    spec = f"m@http://localhost:1/v1?temperature=0&persona={persona}"
    first = open_openai(spec, table()).model
    persona.write_text("You are honest.", encoding="utf-8")
    second = open_openai(spec, table()).model
    assert first != second
    assert first.startswith("m (persona=liar#")
    assert first.endswith(", temperature=0.0)")


@pytest.mark.parametrize(
    ("data", "words"), [(b"", "is empty"), (b"\xff\xfe", "cannot be read"), (b"a" * 70_000, "longer than 65,536")]
)
def test_a_persona_that_cannot_be_read_is_named(persona: Path, data: bytes, words: str) -> None:
    persona.write_bytes(data)
    with pytest.raises(BadData, match=words) as error:
        open_openai(f"m@http://localhost:1/v1?persona={persona}", table())
    assert str(persona) in str(error.value)
    persona.unlink()
    with pytest.raises(BadData, match="No such file"):
        open_openai(f"m@http://localhost:1/v1?persona={persona}", table())


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


def test_a_plan_whose_specs_name_no_file_is_written_as_before() -> None:
    plan = make_plan("mini-mafia", {}, ["scripted:bold"], "self", [("scripted:bold",) * 3], 2, 5)
    assert "files" not in plan.to_json()


# Thinking budgets and fields of providers

BUDGETS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openrouter.ai": ({"reasoning": {"max_tokens": 2048}}, {"reasoning": {"effort": "none"}}),
    "api.anthropic.com": (
        {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        {"thinking": {"type": "disabled"}},
    ),
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
    ("data", "words"),
    [
        ("[]", "must hold one JSON object"),
        ("{", "cannot be read as JSON"),
        ('{"a": NaN}', "cannot be read as JSON"),
        ("[" * 60_000, "cannot be read as JSON"),
        ('{"stream": true, "model": "x"}', "sets model, stream, which Liescope sets itself"),
        ('{"headers": [{"X-Api-Key": "hush"}]}', "sets X-Api-Key; requests are recorded"),
    ],
)
def test_extra_fields_that_cannot_be_sent_are_refused(tmp_path: Path, data: str, words: str) -> None:
    extra = tmp_path / "more.json"
    extra.write_text(data, encoding="utf-8")
    with pytest.raises(BadData, match=words) as error:
        open_openai(f"m@http://localhost:1/v1?extra={extra}", table())
    assert "hush" not in str(error.value)
