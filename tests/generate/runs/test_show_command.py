"""`liescope show`: the list of games, one game at 80 columns, and the prompt of any call."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from liescope.common.console import hang
from liescope.common.errors import RunPaused
from liescope.games.core import Ask
from liescope.generate.players.player_protocol import Attempt
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import RENDERED, SENT
from liescope.generate.runs.run_plan import Plan
from liescope.generate.runs.show_commands import prompt_of_call
from tests.generate.runs.fakes import FakeEndpoint, play

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def wolves(say: Say, run: Path) -> Path:
    """Two fully assessed games of ten."""
    words = ["--player", "scripted:bold", "--games", 1, "--learning", "off", "--assess", "--seed", 3, "--out", run]
    assert say("play", "werewolf", *words)[0] == 0
    return run


def only_game(run: Path) -> str:
    with Journal.open(run) as journal:
        (game_id,) = journal.game_ids()
    return game_id


def test_a_game_of_ten_reads_at_80_columns_with_its_observers_as_counts(say: Say, wolves: Path) -> None:
    code, out, _ = say("show", wolves, only_game(wolves)[:3])
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= 80
    joined = " ".join(out.split())
    assert "others, with suspicion: " in joined
    assert "honest; mean 0." in joined
    with Journal.open(wolves) as journal:
        (game,) = journal.records()
    for event in game.events:
        assert " ".join(event.text.split()) in joined


def test_the_list_reads_at_80_columns_also_with_long_names_of_models(say: Say, run: Path) -> None:
    long = ["--player", "fake:organisation/a-model-with-a-very-long-name-3.5-instruct-2026-01-31"]
    assert say("play", "mini-mafia", *long, "--player", "fake:b", "--games", 1, "--out", run)[0] == 0
    _, out, _ = say("show", run)
    *lines, command = out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert command == f"liescope show {run} GAME_ID"


def test_lines_wrap_at_words_and_hang_in() -> None:
    console = Console(width=40)
    line = Text("    " + "word " * 30)
    parts = [part.plain for part in hang(line, console)]
    assert all(len(part) <= 40 for part in parts)
    assert {len(part) - len(part.lstrip()) for part in parts[1:]} == {6}
    assert parts[0].startswith("    word")
    assert " ".join(" ".join(parts).split()) == line.plain.strip()


def test_a_word_that_is_longer_than_the_line_stays_whole() -> None:
    """A path or a command is there to be copied."""
    parts = [part.plain.strip() for part in hang(Text("see liescope/" + "x" * 99), Console(width=40))]
    assert "liescope/" + "x" * 99 in parts


def test_the_beginning_of_an_id_or_its_number_is_enough(say: Say, run: Path) -> None:
    assert say("play", "mini-mafia", "--player", "fake:a", "--games", 12, "--out", run)[0] == 0
    with Journal.open(run) as journal:
        ids = journal.game_ids()
    for name, wanted in [(ids[11], 11), ("11", 11), ("0", 0)]:
        code, out, _ = say("show", run, name)
        assert (code, out.split()[0]) == (0, ids[wanted])
    code, _, err = say("show", run, ids[0][:8])
    (line,) = err.splitlines()
    assert code == 1
    assert "fits 12 games" in line
    assert "give more of the id" in line
    code, _, err = say("show", run, "nowhere")
    assert code == 1
    assert "unknown game" in err


def test_games_that_have_begun_are_listed_with_their_replies(
    say: Say, run: Path, plan: Callable[..., Plan], endpoint: FakeEndpoint
) -> None:
    def stop(ask: Ask) -> None:
        if len(endpoint.asked) > 13:
            raise RunPaused("the plug was pulled")

    endpoint.before = stop
    asyncio.run(play(plan(games=4, players=("fake:a", "fake:b")), run))
    code, out, _ = say("show", run)
    assert code == 0
    assert "begun" in out
    assert "replies so far" in out
    counted = re.search(r"(\d+) still to play", out)
    code, out, _ = say("show", run, "--json")
    rows = json.loads(out)["games"]
    assert counted
    with Journal.open(run) as journal:
        planned = journal.plan["games"] * len(journal.plan["cells"])
    assert int(counted[1]) + len(rows) == planned
    begun = [row for row in rows if row["status"] == "begun"]
    assert begun
    assert all(row["replies"] > 0 for row in begun)
    code, out, err = say("show", run, begun[0]["game_id"])
    assert code == 1
    assert "has not ended" in err
    assert say("show", run, begun[0]["game_id"], "--prompt", 0, _first_seat(run, begun[0]["game_id"]))[0] == 0


def _first_seat(run: Path, game_id: str) -> str:
    with Journal.open(run) as journal:
        return next(seat for _, seat in journal.answers(game_id))


# The prompt of a call


def test_every_call_of_a_scripted_game_has_a_prompt_rendered_from_its_own_view(say: Say, wolves: Path) -> None:
    game_id = only_game(wolves)
    with Journal.open(wolves) as journal:
        calls = journal.calls(game_id)
        shown = [prompt_of_call(journal, game_id, call["step"], call["seat"]) for call in calls[::150]]
    assert {prompt.data["origin"] for prompt in shown} == {RENDERED}
    for call, prompt in zip(calls[::150], shown, strict=True):
        assert prompt.data["kind"] == call["kind"]
        assert f"You are {call['seat']}" in prompt.data["prompt"]
    call = calls[0]
    code, out, _ = say("show", wolves, game_id, "--prompt", call["step"], call["seat"])
    assert code == 0
    assert "Rendered again from the journal" in out
    assert " ".join(shown[0].data["prompt"].split()) in " ".join(out.split())


def test_a_prompt_that_was_sent_is_shown_as_it_was_sent(say: Say, wolves: Path) -> None:
    game_id = only_game(wolves)
    messages = [{"role": "user", "content": "You are Bob.\nSpeak \x1b[31mnow."}]
    request = {"model": "m", "messages": messages, "temperature": 0.5}
    with Journal.open(wolves, write=True) as journal:
        (call, *_) = journal.calls(game_id)
        where = (game_id, call["step"], call["seat"])
        journal.log_attempt(Attempt(*where, 1, "raw", "", request=request, response_id="r-1", served_model="m-2026"))
    with Journal.open(wolves) as journal:
        shown = prompt_of_call(journal, *where)
    assert (shown.data["origin"], shown.data["prompt"]) == (SENT, messages[0]["content"])
    code, out, _ = say("show", wolves, game_id, "--prompt", call["step"], call["seat"])
    assert code == 0
    assert "\x1b" not in out
    assert "served by m-2026, response r-1" in out
    assert '"temperature": 0.5' in out
    code, out, _ = say("show", wolves, game_id, "--prompt", call["step"], call["seat"], "--json")
    assert json.loads(out)["requests"][0]["request"] == request


def test_calls_are_listed_with_step_and_seat(say: Say, wolves: Path) -> None:
    game_id = only_game(wolves)
    code, out, _ = say("show", wolves, game_id, "--calls")
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= 80
    with Journal.open(wolves) as journal:
        assert len(out.splitlines()) == len(journal.calls(game_id)) + 2


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["0", "--prompt", 0, "Zoe"], "asks Zoe nothing: at step 0, those asked are"),
        (["0", "--prompt", 9999, "Bob"], "has no step 9999"),
        (["0", "--prompt", -1, "Bob"], "has no step -1"),
        (["--calls"], "name it"),
        (["0", "--calls", "--prompt", 0, "Bob"], "one of the two"),
    ],
)
def test_a_call_that_is_not_there_is_one_line(words: list[object], part: str, say: Say, wolves: Path) -> None:
    code, out, err = say("show", wolves, *words)
    (line,) = err.splitlines()
    assert (code, out) == (1, "")
    assert part in line
