"""Learning cells: games in order, each with the lessons of those before; other cells beside them as ever."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from liescope import cli
from liescope.common.errors import PlayerFailed, RunPaused, UsageError
from liescope.games.core import Ask, EventKind
from liescope.games.game_registry import find_game
from liescope.games.record import GameRecord, Status
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs import job
from liescope.generate.runs.fork import fork
from liescope.generate.runs.plan_games import PlanSettings, make_plan, plan_games
from liescope.generate.runs.run_plan import Plan
from tests.generate.runs.fakes import FakeEndpoint, play, records

PLAYERS = ("fake:a", "fake:b")


@pytest.fixture(autouse=True)
def _equal_lessons_alone_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """No encoder needs to be loaded to see that a lesson is in a book already."""

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([np.random.default_rng([*text.encode()]).standard_normal(64) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    monkeypatch.setattr(job, "open_similarity", lambda: embed)


TABLE = {"villagers": 2, "werewolves": 1, "debate_turns": 1, "defence_turns": 1}
GAMES = 4


def planned(games: int = GAMES, levels: tuple[bool, ...] = (False, True), **options: Any) -> Plan:
    cells = [(player,) * 4 for player in PLAYERS for _ in levels]
    table = {**TABLE, **options}
    return make_plan("werewolf", table, PLAYERS, "factorial", cells, games, 1, learning=levels * len(PLAYERS))


def run_job(plan: Plan, out: Path, concurrency: int = 8, **options: bool) -> list[GameRecord]:
    asyncio.run(play(plan, out, Limits(concurrency=concurrency), **options))
    return records(out)


def told(game: GameRecord) -> list[str]:
    """The lessons that a game's jester began with."""
    return [text for e in game.events if e.kind is EventKind.LESSONS for _, text in e.data["lessons"]]


def kept(game: GameRecord) -> list[str]:
    return [lesson["text"] for lesson in game.meta.get("lessons", ()) if lesson["kept"]]


def by_cell(games: list[GameRecord]) -> dict[str, list[GameRecord]]:
    cells: dict[str, list[GameRecord]] = defaultdict(list)
    for game in games:
        cells[game.cell].append(game)
    return {cell: sorted(games, key=lambda game: game.meta["turn"]) for cell, games in cells.items()}


def test_each_game_of_a_learning_cell_begins_with_all_that_the_games_before_it_kept(
    run: Path, endpoint: FakeEndpoint
) -> None:
    cells = by_cell(run_job(planned(), run))
    assert len(cells) == 4
    for cell, games in cells.items():
        learns = cell.endswith("learning on")
        assert [game.meta["turn"] for game in games] == list(range(GAMES))
        assert {game.meta["learning"] for game in games} == {learns}
        book: list[str] = []
        for game in games:
            assert told(game) == book
            book += kept(game)
            assert not kept(game) or learns
        assert bool(book) == learns
    assert len(list((run / "lessons").iterdir())) == len(PLAYERS)
    for player in PLAYERS:  # with and without learning, the cards are the same
        off, on = (cells[f"{' | '.join([player] * 4)} | learning {level}"] for level in ("off", "on"))
        for one, other in zip(off, on, strict=True):
            assert one.seed == other.seed
            assert [seat.role for seat in one.seats] == [seat.role for seat in other.seats]


def test_games_of_a_learning_cell_follow_each_other_while_other_cells_run_beside_them(
    run: Path, endpoint: FakeEndpoint
) -> None:
    plan = planned()
    run_job(plan, run)
    games = {plan.game_id(number): plan.planned(number) for number in range(len(plan))}
    asked = [games[game] for game, _, _ in endpoint.asked]
    for number in range(len(plan.cells)):
        turns = [game.turn for game in asked if game.number % len(plan.cells) == number]
        if games[plan.game_id(number)].learning:
            assert turns == sorted(turns)
        else:
            assert turns != sorted(turns)
    beside = [{game.number % len(plan.cells) for game in asked[at : at + 40]} for at in range(0, len(asked), 40)]
    assert sum(len(cells) > 1 for cells in beside) > len(beside) / 2


def test_a_run_that_stops_anywhere_goes_on_with_the_same_lessons(
    run: Path, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    whole = run_job(planned(), run)
    for stop in (60, 200):
        out = tmp_path / f"stopped-{stop}"
        asked = 0

        def before(ask: Ask, stop: int = stop) -> None:
            nonlocal asked
            asked += 1
            if asked == stop:
                raise RunPaused("the power went out")

        endpoint.before = before
        assert len(run_job(planned(), out)) < len(whole)
        endpoint.before = lambda ask: None
        assert run_job(planned(), out) == whole


def test_the_lessons_of_one_model_begin_every_game_of_another(
    run: Path, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    def taught(source: Path, learning: str) -> Plan:
        settings = PlanSettings(players=("fake:c",), design="self", games=3, lessons=source, learning=learning)
        return plan_games(find_game("werewolf"), settings, TABLE, "full")

    games = run_job(planned(levels=(True,)), run)
    book = next(run.glob("lessons/fake-a*"))
    given = [text for game in games if game.cell.startswith("fake:a") for text in kept(game)]
    with pytest.raises(UsageError, match="several models"):
        taught(run, "off")
    plan = taught(book, "off")
    frozen = run_job(plan, tmp_path / "frozen")
    assert given
    assert [sorted(told(game)) for game in frozen] == [sorted(given)] * 3
    assert {game.meta["settings"]["lessons"] for game in frozen} == {plan.lessons}
    assert not any(kept(game) for game in frozen)
    learning = sorted(run_job(taught(book, "on"), tmp_path / "on"), key=lambda game: game.game_id)
    for at, game in enumerate(learning):
        assert told(game) == [*told(frozen[0]), *(text for before in learning[:at] for text in kept(before))]
    (wolf,) = frozen[0].by_role("werewolf")
    forked = fork(tmp_path / "frozen", "0", 0, seat=wolf.name, out=tmp_path / "fork", times=1)
    assert [told(game) for game in records(forked.folder)] == [told(frozen[0])]
    book.unlink()  # the plan holds its lessons
    with (tmp_path / "frozen" / "run.json").open() as file:
        assert Plan.parse(json.load(file)["plan"], tmp_path).taught == plan.taught


def test_a_failed_game_teaches_nothing_and_tried_again_is_told_what_it_was_told(
    run: Path, endpoint: FakeEndpoint
) -> None:
    plan = planned(games=3, levels=(True,))
    broken = plan.game_id(2)  # the second game of the first cell

    def before(ask: Ask) -> None:
        if ask.game == broken and ask.step > 2:
            raise PlayerFailed("no answer")

    endpoint.before = before
    first = by_cell(run_job(plan, run))
    (cell,) = [cell for cell in first if cell.startswith("fake:a")]
    assert [game.status for game in first[cell]] == [Status.DONE, Status.FAILED, Status.DONE]
    assert "lessons" not in first[cell][1].meta
    endpoint.before = lambda ask: None
    second = by_cell(run_job(plan, run, retry_failed=True))
    assert [game.status for game in second[cell]] == [Status.DONE] * 3
    assert told(second[cell][1]) == kept(first[cell][0])
    assert second[cell][2] == first[cell][2]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["werewolf", "--learning", "maybe"], "the choices are: off, off,on, on"),
        (["werewolf", "--learning", "on", "--design", "full"], "self or factorial"),
        (["mini-mafia", "--learning", "on", "--design", "self"], "nobody learns"),
        (["dyadic-werewolf", "--learning", "on"], "nobody learns"),
        (["werewolf", "--jesters", "0", "--learning", "on"], "only the jester learns"),
        (["deal", "--lessons", "book.jsonl"], "--lessons does not fit deal: nobody learns"),
        (["werewolf", "--lessons", "."], "holds no lessons"),
        (["werewolf", "--lessons", "nowhere"], "No such file"),
    ],
)
def test_learning_where_there_is_none_is_refused_before_anything_is_asked(
    words: list[str], names: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["play", *words, "--out", str(run)]) == 1
    assert names in capsys.readouterr().err
    assert not run.exists()
