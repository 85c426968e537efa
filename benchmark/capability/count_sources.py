"""Counts from the sources that a user names: runs, corpora, files of counts."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import product
from pathlib import Path

import polars as pl

from liescope.benchmark.capability.counts import (
    DECEIVER,
    DISCLOSER,
    PLAYERS,
    SCHEMA,
    TABLES,
    VOTER,
    Counts,
    add,
    count_by_settings,
    stated,
    tally,
)
from liescope.benchmark.capability.model import leave_out
from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.reading import read_text
from liescope.common.stores import local
from liescope.common.text import number_of
from liescope.generate.corpus.open import OpenedGames, open_games
from liescope.generate.corpus.read import SILENT
from liescope.generate.runs.run_folder import labels
from liescope.labeling.conditions import PROMPTS

MOST_DIGITS = 12  # the largest count; more must be a mistake and would overflow the sums


def read_counts(path: Path) -> Counts:
    """Counts of a CSV file with the columns of PLAYERS, mafia_wins and games, in any order; rows of the
    same cell are added up, further columns are ignored.

    Raises UsageError if there is no such file, BadData (naming the line) where its content cannot be counts.
    """
    try:
        text = read_text(path, encoding="utf-8-sig", given=True)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}; give a CSV file of counts or the folder of a run") from None
    cells = parse_counts(text, str(path))
    return Counts(cells)


def parse_counts(text: str, name: str) -> pl.DataFrame:
    """The cells of a CSV text; name: used in errors. See `read_counts`."""
    reader = csv.reader(StringIO(text))
    try:
        header = [column.strip() for column in next(reader, [])]
        lines = [(reader.line_num, line) for line in reader if any(field.strip() for field in line)]
    except csv.Error as error:
        raise BadData(f"{name} cannot be read as CSV: {error}") from None
    if len(set(header)) < len(header):
        raise BadData(f"{name} has two columns with the same name: {', '.join(header)}; rename one")
    if missing := [column for column in SCHEMA if column not in header]:
        raise BadData(
            f"{name} lacks the column {missing[0]!r}; counts have the columns {', '.join(SCHEMA)}, "
            f"this file has {', '.join(header) or 'none'}"
        )
    if not lines:
        raise BadData(f"{name} holds no counts; each line after the header is a cell")
    return tally(pl.DataFrame([_cell(header, *line, name) for line in lines], SCHEMA, orient="row"))


def _cell(header: Sequence[str], number: int, line: Sequence[str], name: str) -> tuple[str | int, ...]:
    """The values of a line in the order of SCHEMA. A count is a whole number, or 23.0 as spreadsheets write it."""
    where = f"{name}, line {number}"
    if len(line) != len(header):
        raise BadData(f"{where}: {len(line)} fields under {len(header)} columns; correct the line")
    row = {column: value.strip() for column, value in zip(header, line, strict=True)}
    if not all(row[player] for player in PLAYERS):
        raise BadData(f"{where}: a cell needs the names of a {DECEIVER}, a {DISCLOSER} and a {VOTER}")
    for column in ("mafia_wins", "games"):
        whole = row[column].removesuffix(".0")
        if not (whole.isascii() and whole.isdigit() and len(whole) <= MOST_DIGITS):
            raise BadData(f"{where}: {column} is {row[column]!r}; it must be a whole number, zero or more")
    wins, games = (int(row[column].removesuffix(".0")) for column in ("mafia_wins", "games"))
    if games < 1 or wins > games:
        raise BadData(f"{where}: {wins} mafia wins in {games} games is impossible; check both columns")
    return (*(row[player] for player in PLAYERS), wins, games)


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
    files = [local(path) for path in paths if is_file(Path(path))]
    read = [open_games(path, TABLES) for path in paths if not is_file(Path(path))]
    opened, notes = with_silent(read, silent)
    check_apart(opened)
    found: dict[tuple[str, str], dict[str, Counts]] = {}
    for games in opened:
        for kind, counts in count_by_settings(games.tables).items():
            found.setdefault(kind, {})[games.source] = counts
    if files:
        found["", "{}"] = {str(path): read_counts(path) for path in files}
    by_condition = dict(zip(_named(list(found)), found.values(), strict=True))
    if not independent:
        _check_told(by_condition, files, pool)
    parts = {name: add(list(by_source.values())) for name, by_source in by_condition.items()}
    if pool:
        notes += _pooled(parts, [json.loads(settings) for _, settings in found])
        parts = {"": add(list(parts.values()))}
    parts = {name: replace(counts, notes=notes) for name, counts in parts.items()}
    for model in without:
        parts = _without(parts, model)
    kept = {name: counts for name, counts in parts.items() if not counts.cells.is_empty()}
    if not kept:
        excluded = add(list(parts.values())).excluded
        reasons = "; ".join(f"{count} because {reason}" for reason, count in sorted(excluded.items()))
        raise UsageError(f"no game can be counted{f': {reasons}' if reasons else ', there are none'}")
    return kept


def _check_told(parts: Mapping[str, Mapping[str, Counts]], files: Sequence[Path], pool: bool) -> None:
    """Raises UsageError if a file of counts, which does not say which games it holds, would be added to other games.
    parts: by condition and source.
    """
    together = [{name for part in parts.values() for name in part}] if pool else [set(part) for part in parts.values()]
    for file, names in product(map(str, files), together):
        if file in names and (others := sorted(names - {file})):
            raise UsageError(
                f"{file} does not say which games it counts, and games of {', '.join(others)} would count twice if "
                "they are among them; if they are different games, say so with --independent"
            )


def is_file(path: Path) -> bool:
    """Whether a source names a file of counts, existing or not."""
    return local(path).is_file() or (not local(path).exists() and path.suffix == ".csv")


def check_apart(opened: Sequence[OpenedGames], by_rater: bool = False) -> None:
    """Raises UsageError if a game is in two sources and would count twice. by_rater: allow it if raters differ."""
    home: dict[tuple[str, str | None], str] = {}
    for games in opened:
        for game_id, rater in games.tables["games"].select("game_id", "judge").iter_rows():
            if (other := home.setdefault((game_id, rater if by_rater else None), games.source)) is not games.source:
                rated = f", {f'rated by {rater}' if rater else 'with the ratings of its players'}" if by_rater else ""
                raise UsageError(
                    f"{other} and {games.source} both hold the game {game_id}{rated}, which would count twice; "
                    "name one of them"
                )


def with_silent(opened: Sequence[OpenedGames], count: bool) -> tuple[Sequence[OpenedGames], tuple[str, ...]]:
    """The games, those that a model was silent in without their mark if they are to count; and what to say then."""
    silent = sum(games.tables["games"].filter(SILENT).height for games in opened)
    if not (count and silent):
        return opened, ()
    meta = pl.when(~SILENT).then("meta").alias("meta")
    kept = [replace(one, tables={**one.tables, "games": one.tables["games"].with_columns(meta)}) for one in opened]
    return kept, (f"{number_of(silent, 'game')} are counted in which no reply of one of the models could be used.",)


def _named(kinds: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each condition, given as (game, settings as JSON)."""
    named = labels([("", json.loads(settings)) for _, settings in kinds])
    if len(set(named)) < len(named):  # the same settings, other rules
        named = [f"{game} {name}".strip() for (game, _), name in zip(kinds, named, strict=True)]
    return named


def _pooled(parts: Mapping[str, Counts], settings: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """A note on conditions that were added up; none for a single one."""
    if len(parts) < 2:
        return ()
    prompts = {tuple(one.get(key) for key in ("prompts", PROMPTS)) for one in settings}
    games = (f"{stated(name)} ({counts.games} games)" for name, counts in parts.items())
    return (
        f"{len(parts)} conditions were added up as if they were one: {'; '.join(games)}. "
        f"{'Their prompts differ, and t' if len(prompts) > 1 else 'T'}he figures describe this mixture, not any one of "
        "them.",
    )


def _without(parts: Mapping[str, Counts], model: str) -> dict[str, Counts]:
    found = {}
    for name, counts in parts.items():
        kept = replace(counts, cells=leave_out(counts.cells, model), played=leave_out(counts.played, model))
        games = counts.games - kept.games
        reason = {f"{model} played in them": games} if games else {}
        found[name] = replace(kept, excluded={**counts.excluded, **reason})
    if all(found[name].games == parts[name].games for name in parts):
        players = (set(counts.cells[column]) for counts in parts.values() for column in PLAYERS)
        raise UnknownName("model", model, set().union(*players))
    return found
