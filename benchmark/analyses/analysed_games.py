"""The input of an analysis: the finished games of one or more runs as frames, and facts about those runs."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import polars as pl

from liescope.benchmark.analyses.frames import Frames, frames_of
from liescope.benchmark.capability.count_sources import check_apart
from liescope.common.errors import UsageError
from liescope.games.core import AskKind
from liescope.games.game_registry import PROMPTS
from liescope.games.record import Source, Status
from liescope.games.table_rules import BIDS
from liescope.generate.corpus.open import OpenedGames, open_games

_LONGEST = 300  # characters of a setting's value
PROVIDERS = "the provider's default"
"""What a setting is that no spec names."""


@dataclass(slots=True)
class Run:
    """One run. name: as it was named, with the corpus that it was read from; plan, versions: of its run.json;
    finished: games; failed: games by the reason that broke them off.
    """

    name: str
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


def load_games(
    paths: Sequence[str | os.PathLike[str]], watch: Callable[[int], None] = lambda _: None, pool: bool = False
) -> GameSet:
    """The games of all sources: folders of runs, folders of corpora, and corpora on the Hub. A game may be in several
    of them if each has other raters: the players and judges. watch: is called with the number of games read so far.
    pool: games of different settings are one condition.

    Raises UsageError if no game is finished or two sources hold the same game with the same raters, BadData for a
    source that holds neither a run nor a corpus.
    """
    opened: list[OpenedGames] = []

    def watch_all(count: int) -> None:
        watch(sum(games.tables["games"].height for games in opened) + count)

    for path in paths:
        opened.append(open_games(path, watch=watch_all))
    check_apart(opened, by_rater=True)
    runs = tuple(run for games in opened for run in _runs(games))
    if not any(run.finished for run in runs):
        failed = sum(run.failed.total() for run in runs)
        why = f"{failed} failed; `liescope play … --retry-failed` retries them" if failed else "none has finished yet"
        raise UsageError(f"{', '.join(map(str, paths))}: no finished game to analyse ({why})")
    return GameSet(runs, frames_of([games.tables for games in opened], pool), _sources(opened), pool)


def _runs(games: OpenedGames) -> Iterator[Run]:
    done = pl.col("status") == Status.DONE.value
    for run in games.runs:
        mine = games.tables["games"].filter(pl.col("run") == run.name)
        failed = mine.filter(~done).group_by("failure").len().sort("len", "failure", descending=[True, False])
        name = f"{games.source} ({run.name})" if games.from_corpus else games.source
        yield Run(name, run.plan, run.versions, mine.filter(done).height, Counter(dict(failed.iter_rows())))


def _sources(opened: Sequence[OpenedGames]) -> frozenset[Source]:
    done = pl.col("status") == Status.DONE.value
    seats = [games.tables["games"].filter(done).select(pl.col("seats").explode()) for games in opened]
    return frozenset(Source(name) for name in pl.concat(seats)["seats"].struct.field("source").unique())


def settings(runs: Sequence[Run]) -> pl.DataFrame:
    """The runs' settings, one per row (Table 22): run, setting, value. How models were asked is said of each, also
    where nothing was set.
    """
    rows = [
        (run.name, name, value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…")
        for run in runs
        for name, value in [
            *_flat(run.plan),
            *_asked(run.plan),
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


def _asked(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """How each model of a plan was asked, and what a bid can be."""
    game = str(plan.get("game"))
    if game not in PROMPTS:
        yield "temperature, top_p, max_tokens", "not known: the games were not played here"
        return
    family = PROMPTS[game]
    specs = [*plan.get("players", ()), *(spec for cell in plan.get("cells", ()) for spec in cell)]
    for spec in dict.fromkeys(map(str, specs)):
        kind, _, rest = spec.partition(":")
        if kind not in ("openai", "local"):
            continue
        model, _, query = rest.partition("?")
        named = dict(parse_qsl(query))
        own = family.temperature
        default = {
            "temperature": PROVIDERS
            if own is None
            else f"{own:g}, as the paper of this game has it (runs begun before this was set: {PROVIDERS})",
            "top_p": PROVIDERS,
            "max_tokens": f"not set: {PROVIDERS}",
        }
        for name, words in default.items():
            each = [f"{value} ({option})" for option, value in named.items() if option.partition(".")[0] == name]
            yield f"{name} of {model}", "; ".join([*each, *([] if name in named else [words])])
    if AskKind.BID in family.variables:
        yield "bids", f"whole numbers from {BIDS[0]} to {BIDS[-1]}; one that cannot be read counts as 0"


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
