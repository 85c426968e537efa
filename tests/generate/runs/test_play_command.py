"""`liescope play` and `liescope show`: options, the two kinds of output, transcripts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from liescope.common.errors import PlayerFailed
from liescope.common.text import plain
from liescope.games.core import Ask, EventKind, Reply
from liescope.generate.players import player_registry
from liescope.generate.runs.journal import Journal
from tests.generate.runs.fakes import FakeEndpoint, FakePlayer, records

Say = Callable[..., tuple[int, str, str]]
HUGE = "1" + "0" * 22


def test_play_prints_a_summary_and_show_lists_the_games(say: Say, run: Path) -> None:
    code, out, _ = say("play", "mini-mafia", "--player", "fake:a", "--games", 12, "--out", run)
    assert code == 0
    assert "12 of 12 games" in out
    assert f"liescope show {run}" in out
    assert "Fallbacks" in out
    code, out, _ = say("show", run)
    assert code == 0
    assert out.count("3 × fake:a") == 12


def test_backgrounds_and_designs_make_the_cells(say: Say, tmp_path: Path) -> None:
    two = ["--player", "fake:a", "--player", "fake:b", "--games", 1, "--json"]
    for name, words, cells in [
        ("all", [], 8),
        ("one", ["--background", "fake:a"], 4),
        ("outside", ["--background", "fake:c"], 6),
        ("self", ["--design", "self"], 2),
        ("full", ["--design", "full"], 8),
    ]:
        code, out, _ = say("play", "mini-mafia", *two, *words, "--out", tmp_path / name)
        assert (code, json.loads(out)["cells"]) == (0, cells)


def test_a_list_of_cells_is_played_as_often_as_it_names_a_cell(say: Say, tmp_path: Path) -> None:
    table = "mafioso,detective,villager\nfake:a,fake:b,fake:b\nfake:c,fake:a,fake:a\nfake:a,fake:b,fake:b\n"
    (tmp_path / "cells.csv").write_text(table, encoding="utf-8")
    words = ["--cells", tmp_path / "cells.csv", "--games", "2", "--out", tmp_path / "run"]
    assert say("play", "mini-mafia", *words)[0] == 0
    cells = Counter(game.cell for game in records(tmp_path / "run"))
    assert cells == {"fake:a | fake:b | fake:b": 4, "fake:c | fake:a | fake:a": 2}


def test_a_table_named_role_by_role_holds_every_kind_of_player_and_resumes_from_its_config(
    say: Say, run: Path, endpoint: FakeEndpoint
) -> None:
    seats = ["--seat", "mafioso=scripted:bold?m=1.5", "--seat", "detective=fake:a", "--player", "scripted:novice"]
    assert say("play", "mini-mafia", *seats, "--games", "2", "--out", run)[0] == 0
    assert say("play", "--config", run / "run.toml")[0] == 0
    found = records(run)
    assert len(found) == 2
    for one in found:
        models = {seat.role: (seat.model, seat.source.value) for seat in one.seats}
        assert models == {
            "mafioso": ("scripted:bold?m=1.5", "scripted"),
            "detective": ("a", "model"),
            "villager": ("scripted:novice", "scripted"),
        }


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["mini-mafia", "--price", "a=nan,1"], "MODEL=PROMPT,COMPLETION"),
        (["mini-mafia", "--price", "a=1,1", "--max-cost", "nan"], "--max-cost"),
        (["mini-mafia", "--timeout", "inf"], "--timeout must be a span of time"),
        (["mini-mafia", "--currency", "so much"], "USD or EUR"),
        (["mini-mafia", "--design", "self", "--background", "fake:b"], "--background"),
        (["mini-mafia", "--cells", "none.csv", "--design", "self"], "--design"),
        (["mafia", "--games", "9" * 12], "a run holds at most"),
        (["mafia", "--concurrency", HUGE], "--concurrency must be"),
        (["mafia", "--days", HUGE], "days"),
        (["mafia", "--message-limit", HUGE], "limit"),
        (["mafia", "--villagers", "1000000000"], "villagers"),
        (["mafia", "--names", ",,,"], "names"),
        (["mafia", "--assess", "--assess-share", "nan"], "assess"),
        (["mafia", "--player", "scripted:bold?m=1e308"], "m"),
        (["mafia", "--player", "scripted:bold?v=inf"], "v"),
    ],
)
def test_a_mistake_in_an_option_is_one_line_and_writes_nothing(
    words: list[str], part: str, say: Say, run: Path
) -> None:
    code, out, err = say("play", *words, "--player", "fake:a", "--out", run)
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    assert part in line
    assert not run.exists()


def test_a_run_in_which_nothing_could_be_played_exits_1_with_the_reason(
    say: Say, run: Path, endpoint: FakeEndpoint
) -> None:
    def fail(ask: Ask) -> None:
        raise PlayerFailed("the endpoint says 401")

    endpoint.before = fail
    code, out, err = say("play", "mini-mafia", "--player", "fake:a", "--games", 2, "--out", run)
    assert code == 1
    assert "2 failed" in out
    assert "the run is incomplete: 2 of 2 games failed" in err
    assert "401" in err.splitlines()[-1]
    endpoint.before = lambda ask: None
    words = ["--player", "fake:a", "--games", 2, "--out", run, "--retry-failed"]
    code, out, _ = say("play", "mini-mafia", *words)
    assert code == 0
    assert "2 of 2" in out


def test_the_summary_fits_80_columns_and_names_the_currency(say: Say, run: Path) -> None:
    words = ["--player", "fake:a", "--games", 1, "--assess", "--currency", "EUR", "--out", run]
    code, out, err = say("play", "werewolf", *words)
    assert code == 0
    assert all(len(line) <= 80 for line in [*out.splitlines(), *err.splitlines()] if str(run) not in line)
    assert " EUR." in out


def test_a_transcript_marks_what_the_rules_filled_in(say: Say, run: Path) -> None:
    say("play", "mini-mafia", "--player", "fake:a", "--games", 6, "--assess", "--out", run)
    counted = (EventKind.SELF_REPORT, EventKind.RATING)
    shown = Counter[bool]()
    for game in records(run):
        code, out, _ = say("show", run, game.game_id)
        filled = sum(bool(event.fallback) and event.kind not in counted for event in game.events)
        assert (code, out.count("(fallback: ")) == (0, filled)
        shown[filled > 0] += 1
    assert shown[True]


def test_hostile_text_reaches_the_terminal_as_harmless_text(
    say: Say, run: Path, monkeypatch: pytest.MonkeyPatch, endpoint: FakeEndpoint
) -> None:
    evil = "a\x1b[2Jb\x07 \u202egnirts [red]no markup[/red] \x9b31m\ud83d"

    class Evil(FakePlayer):
        async def answer(self, ask: Ask, view: object) -> Reply:
            return Reply(choice=ask.options[0]) if ask.options else Reply(text=evil, raw=evil)

    monkeypatch.setitem(player_registry.PLAYERS, "fake", lambda name, table: Evil(name, table, endpoint))
    say("play", "mini-mafia", "--player", "fake:a", "--games", 1, "--out", run)
    with Journal.open(run) as journal:
        (game_id,) = journal.game_ids()
    code, out, _ = say("show", run, game_id)
    assert code == 0
    assert "[red]no markup[/red]" in out
    assert not any(sign in out for sign in "\x1b\x07\u202e\x9b")
    assert plain(evil) in out
