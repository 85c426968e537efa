"""What an analysis starts from: the finished games of one or several runs as frames, and the facts of those runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from liescope.benchmark.analyses.frames import Frames, load_frames
from liescope.common.errors import UsageError
from liescope.games.record import GameRecord, Source, Status
from liescope.generate.runs.journal import Journal

_LONGEST = 300  # characters of a setting's value


@dataclass(slots=True)
class Run:
    """One run. plan, versions: of its run.json; finished: games; failed: games by the reason that broke them off."""

    path: Path
    plan: Mapping[str, Any]
    versions: Mapping[str, str]
    finished: int = 0
    failed: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class GameSet:
    """runs: in the order named; frames: of their finished games; sources: whose words were spoken in them; pooled:
    games of different settings count as one condition.
    """

    runs: tuple[Run, ...]
    frames: Frames
    sources: frozenset[Source]
    pooled: bool = False


def load_games(paths: Sequence[Path], watch: Callable[[int], None] = lambda _: None, pool: bool = False) -> GameSet:
    """The games of all runs. A game may be in several runs if each has other raters: the players and judges. watch: is
    called with the number of games read so far. pool: games of different settings are one condition.

    Raises UsageError where no game is finished or two runs hold the same game with the same raters, BadData for a
    folder that holds no run.
    """
    runs: list[Run] = []
    sources: set[Source] = set()
    frames = load_frames(_finished(paths, runs, sources, watch), pool)
    if not any(run.finished for run in runs):
        failed = sum(run.failed.total() for run in runs)
        why = f"{failed} failed; `liescope play … --retry-failed` takes them up" if failed else "none has ended yet"
        raise UsageError(f"{', '.join(map(str, paths))}: no finished game to analyse ({why})")
    return GameSet(tuple(runs), frames, frozenset(sources), pool)


def _finished(
    paths: Sequence[Path], runs: list[Run], sources: set[Source], watch: Callable[[int], None]
) -> Iterator[GameRecord]:
    """Every finished game, filling in runs and sources on the way."""
    home: dict[tuple[str, str | None], Path] = {}
    for path in paths:
        with Journal.open(path) as journal:
            run = Run(path, journal.plan, journal.versions)
            runs.append(run)
            for record in journal.records():
                judge = record.meta.get("judge")
                other = home.setdefault((record.game_id, judge), path)
                if other is not path:
                    raise UsageError(
                        f"{other} and {path} both hold the game {record.game_id}, "
                        f"{f'judged by {judge}' if judge else 'with the ratings of its players'}, which would count "
                        "twice; name one of them"
                    )
                if record.status is Status.FAILED:
                    run.failed[record.failure] += 1
                    continue
                run.finished += 1
                sources.update(seat.source for seat in record.seats)
                watch(len(home))
                yield record


def settings(runs: Sequence[Run]) -> pl.DataFrame:
    """What the runs were played with, one row a setting (Table 22): run, setting, value."""
    rows = [
        (str(run.path), name, value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…")
        for run in runs
        for name, value in [
            *_flat(run.plan),
            *((f"version of {package}", number) for package, number in run.versions.items()),
        ]
    ]
    return pl.DataFrame(rows, {"run": pl.String, "setting": pl.String, "value": pl.String}, orient="row")


def _flat(plan: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, str]]:
    for key, value in plan.items():
        name = f"{within}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif key == "cells" and isinstance(value, list):
            yield name, f"{len(value)}: " + "; ".join(", ".join(dict.fromkeys(map(_words, cell))) for cell in value)
        else:
            yield name, _words(value)


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
