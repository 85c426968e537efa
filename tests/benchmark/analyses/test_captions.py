"""What a report says about an analysis is so: which interval it prints, and what it needs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from liescope.benchmark.analyses import intervals
from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.analysis_registry import ANALYSES
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval
from liescope.common import statistics
from liescope.games.facts import GameMeta
from liescope.games.record import GameRecord
from tests.benchmark.analyses.made import load_frames
from tests.benchmark.analyses.spoken import HONEST, LIE, continuation, spoken
from tests.benchmark.random_play import judged, mini_mafia, werewolf

METHODS: dict[Interval, set[str]] = {
    Interval.NONE: set(),
    Interval.SHARES: {"wilson"},
    Interval.UNITS: {"wilson"},
    Interval.DIFFERENCE: {"difference"},
    Interval.SHARES_AND_DIFFERENCE: {"wilson", "difference"},
    Interval.FISHER: {"fisher"},
    Interval.MEANS: {"jackknife"},
    Interval.MEAN_DIFFERENCE: {"difference"},
    Interval.CLUSTERED: {"clustered"},
    Interval.STUDENT: {"rows"},
}
DOORS = {
    "shares": "wilson",
    "fisher": "fisher",
    "game_means": "jackknife",
    "game_figure": "jackknife",
    "game_difference": "difference",
    "adjusted_difference": "clustered",
    "mean": "rows",
}
TOGETHER = [
    ("statements", "claims", "ratings", "ranks"),
    ("ratings", "ranks"),
    *[(name,) for name in ("votes", "nights", "bids", "guesses", "tags")],
    ("lessons", "tags"),
]
"""Frames that are empty together: what games without talk, without ratings and so on look like."""
EVERY = [pytest.param(one, id=one.name) for one in ANALYSES]


def settled(record: GameRecord, **settings: str) -> GameRecord:
    attributes = {seat.name: {"initial": seat.name[0]} for seat in record.seats}
    meta: GameMeta = {**record.meta, "settings": settings, "attributes": attributes}
    return replace(record, game_id=f"{record.game_id}-{settings}", meta=meta)


@pytest.fixture(scope="module")
def rich() -> Frames:
    """Games of two conditions, of several models at one table, judged and not: every analysis finds something."""
    wolves = [werewolf(model, seed, learning) for model, seed in (("a", 0), ("b", 2)) for learning in (True, False)]
    plain = [settled(game, rounds="2") for game in wolves]
    other = [settled(werewolf("a", seed), rounds="8") for seed in range(2)]
    bare = [settled(mini_mafia("a", seed), rounds="2") for seed in range(3)]
    mixed = [
        replace(game, game_id=f"mixed {game.game_id}", seats=tuple(replace(s, model=s.role) for s in game.seats))
        for game in bare
    ]
    forks = [continuation(1, text, number) for number in range(3) for text in (HONEST, LIE)]
    told = "I investigated Alice last night, and she is the mafioso."
    confronted = [spoken("", told, reply, game_id=reply) for reply in ("Bob is lying.", "What a night.")]
    dyadic = [settled(werewolf("a", seed, jester=False), rounds="2") for seed in range(2)]
    return load_frames([*plain, *(judged(game) for game in plain), *other, *bare, *mixed, *dyadic, *forks, *confronted])


@pytest.fixture(scope="module")
def bare() -> tuple[Frames, Frames]:
    """A game without a jester and one without ratings."""
    return load_frames([mini_mafia("a", 1)]), load_frames([werewolf("a", 1, assess=False)])


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The ways to find an interval that were called since the test began."""
    found: set[str] = set()

    def spy(way: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **options: Any) -> Any:
            found.add(way)
            return real(*args, **options)

        return called

    for name, way in DOORS.items():
        real = next(getattr(module, name) for module in (intervals, statistics) if hasattr(module, name))
        for module in list(sys.modules.values()):
            inside = getattr(module, "__name__", "").startswith("liescope.benchmark") and module is not intervals
            if inside and getattr(module, name, 0) is real:
                monkeypatch.setattr(module, name, spy(way, real))
    return found


@pytest.mark.parametrize("analysis", EVERY)
def test_the_caption_names_the_interval_that_was_computed_and_that_stands_around_its_figure(
    analysis: Analysis, rich: Frames, used: set[str]
) -> None:
    assert set(METHODS) == set(Interval)
    table = analysis.table(rich)
    assert table.height, "these games should have something for every analysis"
    bounded = {"lo", "hi"} <= set(table.columns)
    assert bounded == (analysis.interval is not Interval.NONE)
    assert bounded == bool(analysis.interval.caption)
    if bounded:
        assert used == METHODS[analysis.interval]
        figure = next(name for name in ("rate", "mean", "difference", "gap", "kappa", "r") if name in table.columns)
        inside = pl.col(figure).is_between(pl.col("lo") - 1e-9, pl.col("hi") + 1e-9)
        assert table.drop_nulls(["lo", "hi", figure]).select(inside.mean().fill_null(1)).item() > 0.9
    assert not {"Wilson", "Newcombe", "jackknife", "Fisher's", "resampl"} & set(analysis.note.split())


@pytest.mark.long
@pytest.mark.parametrize("analysis", EVERY)
def test_an_analysis_of_games_that_lack_something_is_empty_with_a_reason_of_its_own(
    analysis: Analysis, rich: Frames, bare: tuple[Frames, ...]
) -> None:
    poor = [replace(rich, **{name: getattr(rich, name).clear() for name in names}) for names in TOGETHER]
    for games in (*poor, *bare, load_frames([])):
        if analysis.found(games).is_empty() and games.games.height:
            assert analysis.otherwise != Analysis("", "", lambda frames: frames.games).otherwise
