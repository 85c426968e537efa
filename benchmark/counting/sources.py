"""Counts from the sources a user names: runs, corpora, files of counts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from liescope.benchmark.capability.identification import leave_out
from liescope.benchmark.counting.counts import PLAYERS, TABLES, Counts, add, count_by_settings, counted_games
from liescope.benchmark.counting.tables import read_counts
from liescope.common.errors import UnknownName, UsageError
from liescope.generate.corpus.open import OpenedGames, open_games
from liescope.generate.runs.conditions import labels


def load_counts(paths: Sequence[str | os.PathLike[str]], without: Sequence[str] = ()) -> Counts:
    """The games of all paths, added up across conditions; see `load_conditions`."""
    return load_conditions(paths, without, pool=True)[""]


def load_conditions(
    paths: Sequence[str | os.PathLike[str]], without: Sequence[str] = (), pool: bool = False
) -> dict[str, Counts]:
    """The games of all paths, counted by condition: a folder is a run or a
    corpus, a file holds counts as CSV, and USER/NAME is a corpus on the Hub. Files do not say how
    their games were played; they are one condition. without: models whose games are left out, and counted as excluded.
    pool: add up all conditions, under "".

    A condition is named by the settings that tell it from the others, "" if there is only one. Raises UsageError
    if a path is named twice or no game is left to count, BadData if one cannot be read, and UnknownName for a
    model that is not there.
    """
    if len({Path(path).resolve() for path in paths}) < len(paths):
        raise UsageError("the same run, corpus or file is named twice; its games would count double")
    files = [Path(path) for path in paths if is_file(Path(path))]
    opened = [open_games(path, TABLES) for path in paths if not is_file(Path(path))]
    check_apart(opened)
    found = count_by_settings(game for games in opened for game in counted_games(games.tables))
    if files:
        found["", "{}"] = add([read_counts(path) for path in files])
    parts = _by_condition(found, pool)
    for model in without:
        parts = _without(parts, model)
    kept = {name: counts for name, counts in parts.items() if not counts.cells.is_empty()}
    if not kept:
        excluded = add(list(parts.values())).excluded
        reasons = "; ".join(f"{count} because {reason}" for reason, count in sorted(excluded.items()))
        raise UsageError(f"no game can be counted{f': {reasons}' if reasons else ', there are none'}")
    return kept


def is_file(path: Path) -> bool:
    """Whether a source is a file of counts, also one that is not there."""
    return path.is_file() or (not path.exists() and path.suffix == ".csv")


def check_apart(opened: Sequence[OpenedGames]) -> None:
    """Raises UsageError if a game is in two sources, and would count twice."""
    home: dict[str, str] = {}
    for games in opened:
        for game_id in games.tables["games"]["game_id"]:
            if (other := home.setdefault(game_id, games.source)) is not games.source:
                raise UsageError(
                    f"{other} and {games.source} both hold the game {game_id}, which would count twice; "
                    "name one of them"
                )


def _by_condition(found: Mapping[tuple[str, str], Counts], pool: bool) -> dict[str, Counts]:
    if pool:
        return {"": add(list(found.values()))}
    named = labels([("", json.loads(settings)) for _, settings in found])
    if len(set(named)) < len(named):  # the same settings, other rules
        named = [f"{game} {name}".strip() for (game, _), name in zip(found, named, strict=True)]
    return dict(zip(named, found.values(), strict=True))


def _without(parts: Mapping[str, Counts], model: str) -> dict[str, Counts]:
    found = {}
    for name, counts in parts.items():
        kept, undrawn = leave_out(counts.cells, model), leave_out(counts.undrawn, model)
        games = int(counts.cells["games"].sum()) - int(kept["games"].sum())
        excluded = {**counts.excluded, **({f"{model} played in them": games} if games else {})}
        played = leave_out(counts.played, model)
        found[name] = replace(counts, cells=kept, undrawn=undrawn, excluded=excluded, played=played)
    if all(found[name].cells.height == parts[name].cells.height for name in parts):
        players = (set(counts.cells[column]) for counts in parts.values() for column in PLAYERS)
        raise UnknownName("model", model, set().union(*players))
    return found
