"""Counts from the sources that a user names: runs, corpora, files of counts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.benchmark.capability.contests import count_contests, has_contests
from liescope.benchmark.capability.counts import (
    TABLES,
    Counts,
    add,
    count_by_settings,
    schema_of,
    stated,
    tally,
    why_not,
    with_settings,
)
from liescope.benchmark.capability.forms import CONTESTS, DECEIVER, DISCLOSER, JUDGE, THREE_ROLES, VOTER, RoleForm
from liescope.benchmark.capability.model import leave_out
from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.stores import local
from liescope.common.text import number_of
from liescope.generate.corpus.open import OpenedGames, check_apart, open_games, records
from liescope.generate.corpus.read import SILENT
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.tables import read_rows
from liescope.generate.runs.run_folder import labels
from liescope.labeling.conditions import PROMPTS

MOST_DIGITS = 12  # the largest count; more must be a mistake and would overflow the sums


def read_counts(path: Path) -> Counts:
    """Counts of a table, CSV or any other that `read_rows` reads, with the columns of a form in any order; rows of the
    same cell are added up, further columns are ignored.

    Raises UsageError if there is no such file, BadData (naming the line) where its content cannot be counts.
    """
    try:
        found = list(read_rows(path))
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}; give a CSV file of counts or the folder of a run") from None
    if not found:
        raise BadData(f"{path} holds no counts; each line after the header is a cell")
    form = CONTESTS if any(JUDGE in row for _, row in found if not isinstance(row, Rejected)) else THREE_ROLES
    rows = [_cell(row, form, f"{path}, line {number}") for number, row in found]
    return Counts(tally(pl.DataFrame(rows, schema_of(form), orient="row")))


def _cell(row: Mapping[str, Any] | Rejected, form: RoleForm, where: str) -> tuple[str | int, ...]:
    """The values of a row in the order of its columns. A count is a whole number, or 23.0 as spreadsheets write it."""
    if isinstance(row, Rejected):
        raise BadData(f"{where}: {row.reason}")
    if missing := [column for column in form.columns if column not in row]:
        raise BadData(
            f"{where}: there is no column {missing[0]!r}; counts have the columns {', '.join(form.columns)}, this file "
            f"has {', '.join(row) or 'none'}"
        )
    *players, wins, games = ("" if row[column] is None else str(row[column]).strip() for column in form.columns)
    if not all(players):
        *others, last = (f"a {role}" for role in form.players)
        raise BadData(f"{where}: a cell needs the names of {', '.join(others)} and {last}")
    numbers = [count.removesuffix(".0") for count in (wins, games)]
    for column, whole in zip((form.won, form.of), numbers, strict=True):
        if not (whole.isascii() and whole.isdigit() and len(whole) <= MOST_DIGITS):
            raise BadData(f"{where}: {column} is {whole!r}; it must be a whole number, zero or more")
    won, played = map(int, numbers)
    if played < 1 or won > played:
        what = f"{won} {form.won.replace('_', ' ')} in {played} {form.of}"
        raise BadData(f"{where}: {what} is impossible; check both columns")
    return (*players, won, played)


def load_conditions(
    paths: Sequence[str | os.PathLike[str]],
    without: Sequence[str] = (),
    pool: bool = False,
    independent: bool = False,
    silent: bool = False,
) -> dict[str, Counts]:
    """The games of all paths, counted by condition: a folder is a run or a corpus, a file holds counts as CSV, and
    USER/NAME is a corpus on the Hub. Files do not say how their games were played; they are one condition.

    without: models whose games are left out, and counted as excluded. pool: add up all conditions, under "".
    independent: a file of counts, which does not say which games it holds, holds none of the others'. silent: count
    games that a model was silent in, too.

    A condition is named by the settings that tell it from the others, "" if there is only one. Raises UsageError
    if a path is named twice, if games could count twice, or if no game is left to count; BadData if one cannot be read,
    and UnknownName for an unknown model.
    """
    if len({Path(path).resolve() for path in paths}) < len(paths):
        raise UsageError("the same run, corpus or file is named twice; its games would count double")
    files = [path for path in paths if is_file(Path(path))]
    read = [open_games(path, TABLES) for path in paths if path not in files]
    opened, notes = with_silent(read, silent)
    check_apart(opened)
    if files and not independent and (others := [*map(str, files[1:]), *(games.source for games in opened if pool)]):
        raise UsageError(
            f"{files[0]} does not say which games it counts, and games of {', '.join(others)} would count twice if "
            "they are among them; if they are different games, say so with --independent"
        )
    found: dict[tuple[str, str], list[Counts]] = {}
    for games in opened:
        for kind, counts in _counted(games).items():
            found.setdefault(kind, []).append(counts)
    if files:
        found["", "{}"] = [read_counts(local(file)) for file in files]
    if len({counts.form for several in found.values() for counts in several if counts.games}) > 1:
        both = f"games of a {DECEIVER}, a {DISCLOSER} and a {VOTER} and contests of a deceiver and a judge"
        raise UsageError(f"{both} have no common scale; fit them apart")
    settings = [json.loads(stated_settings) for _, stated_settings in found]
    named = labels([("", one) for one in settings])
    if len(set(named)) < len(named) or len({game for game, _ in found} - {""}) > 1:  # other rules
        named = [f"{game} {name}".strip() for (game, _), name in zip(found, named, strict=True)]
    parts = {name: add(several) for name, several in zip(named, found.values(), strict=True)}
    if pool:
        if len(parts) > 1:
            prompts = {tuple(one.get(key) for key in ("prompts", PROMPTS)) for one in settings}
            added = (f"{stated(name)} ({counts.games} games)" for name, counts in parts.items())
            notes += (
                f"{len(parts)} conditions were added up as if they were one: {'; '.join(added)}. "
                f"{'Their prompts differ, and t' if len(prompts) > 1 else 'T'}he figures describe this mixture, not "
                "any one of them.",
            )
        parts = {"": add(list(parts.values()))}
    parts = {name: replace(counts, notes=(*counts.notes, *notes)) for name, counts in parts.items()}
    for model in without:
        parts = _without(parts, model)
    kept = {name: counts for name, counts in parts.items() if not counts.cells.is_empty()}
    if not kept:
        excluded = add(list(parts.values())).excluded
        reasons = "; ".join(f"{count} because {reason}" for reason, count in sorted(excluded.items()))
        raise UsageError(f"no game can be counted{f': {reasons}' if reasons else ', there are none'}")
    return kept


def _counted(games: OpenedGames) -> dict[tuple[str, str], Counts]:
    """The games of one source, by (game, settings): contests where the rules tell of them, else the three roles."""
    table = games.tables["games"]
    told = table["game"].is_in([name for name in table["game"].unique() if has_contests(name)])
    found = count_by_settings({**games.tables, "games": table.filter(~told)})
    if told.any():
        contested = with_settings(table.filter(told)).select("game_id", "game", "settings", why_not())
        by_id = {name: ((game, settings), why) for name, game, settings, why in contested.iter_rows()}
        found |= count_contests(by_id, records(games.source))
    return found


def is_file(path: Path) -> bool:
    """Whether a source names a file of counts, existing or not."""
    return local(path).is_file() or (not local(path).exists() and path.suffix == ".csv")


def with_silent(opened: Sequence[OpenedGames], count: bool) -> tuple[Sequence[OpenedGames], tuple[str, ...]]:
    """The games, those that a model was silent in without their mark if they are to count; and what to say then."""
    silent = sum(games.tables["games"].filter(SILENT).height for games in opened)
    if not (count and silent):
        return opened, ()
    meta = pl.when(~SILENT).then("meta").alias("meta")
    kept = [replace(one, tables={**one.tables, "games": one.tables["games"].with_columns(meta)}) for one in opened]
    return kept, (f"{number_of(silent, 'game')} are counted in which no reply of one of the models could be used.",)


def _without(parts: Mapping[str, Counts], model: str) -> dict[str, Counts]:
    found = {}
    for name, counts in parts.items():
        kept = replace(counts, cells=leave_out(counts.cells, model), played=leave_out(counts.played, model))
        if counts.form is CONTESTS:
            left = f"{counts.games - kept.games} of {counts.games} contests are left out, in which {model} is."
            kept = replace(kept, notes=(*counts.notes, left))
        elif games := counts.games - kept.games:
            kept = replace(kept, excluded={**counts.excluded, f"{model} played in them": games})
        found[name] = kept
    if all(found[name].games == parts[name].games for name in parts):
        players = (set(counts.cells[column]) for counts in parts.values() for column in counts.form.players)
        raise UnknownName("model", model, set().union(*players))
    return found
