"""Counts from the sources that a user names: runs, corpora, files of counts.

A CSV file has the form that `fit` documents, or that of the three tables that the Mini-Mafia paper prints.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.capability.backend import Array
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
from liescope.generate.corpus.open import OpenedGames, open_games
from liescope.generate.runs.run_folder import labels
from liescope.labeling.conditions import PROMPTS

TABLE_KEYS = ("capability", "model")
MOST_DIGITS = 12  # the largest count; more must be a mistake and would overflow the sums
TABLE_GAMES = 100  # games in each cell of the paper's tables


def read_counts(path: Path) -> Counts:
    """Counts of a CSV file with the columns of PLAYERS, mafia_wins and games, in any order; rows of the
    same cell are added up, further columns are ignored. A file with the columns capability and model is read as the
    paper's tables.

    Raises UsageError if there is no such file, BadData (naming the line) where its content cannot be counts.
    """
    try:
        text = read_text(path, encoding="utf-8-sig", given=True)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}; give a CSV file of counts or the folder of a run") from None
    cells = parse_counts(text, str(path))
    return Counts(cells, cells)


def parse_counts(text: str, name: str) -> pl.DataFrame:
    """The cells of a CSV text; name: used in errors. See `read_counts`."""
    header, rows = _rows(text, name)
    if set(TABLE_KEYS) <= set(header):
        return _from_tables(header, rows, name)
    missing = [column for column in SCHEMA if column not in header]
    if missing:
        raise BadData(
            f"{name} lacks the column {missing[0]!r}; counts have the columns {', '.join(SCHEMA)}, "
            f"this file has {', '.join(header) or 'none'}"
        )
    cells = []
    for line, row in rows:
        names = [row[column].strip() for column in PLAYERS]
        if not all(names):
            raise BadData(f"{name}, line {line}: a cell needs the names of a {DECEIVER}, a {DISCLOSER} and a {VOTER}")
        wins, games = (_whole(row[column], column, line, name) for column in ("mafia_wins", "games"))
        if games < 1 or wins > games:
            raise BadData(f"{name}, line {line}: {wins} mafia wins in {games} games is impossible; check both columns")
        cells.append((*names, wins, games))
    return tally(pl.DataFrame(cells, SCHEMA, orient="row"))


def _rows(text: str, name: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """The header and (line number, row by column) of every line that is not blank."""
    reader = csv.reader(StringIO(text))
    try:
        header = [column.strip() for column in next(reader, [])]
        lines = [(reader.line_num, line) for line in reader if any(field.strip() for field in line)]
    except csv.Error as error:
        raise BadData(f"{name} cannot be read as CSV: {error}") from None
    if len(set(header)) < len(header):
        raise BadData(f"{name} has two columns with the same name: {', '.join(header)}; rename one")
    for number, line in lines:
        if len(line) != len(header):
            raise BadData(f"{name}, line {number}: {len(line)} fields under {len(header)} columns; correct the line")
    if header and not lines:
        raise BadData(f"{name} holds no counts; each line after the header is a cell")
    return header, [(number, dict(zip(header, line, strict=True))) for number, line in lines]


def _whole(text: str, column: str, line: int, name: str) -> int:
    """A count: a whole number, not negative; 23.0, as spreadsheets write it, is one."""
    whole = text.strip().removesuffix(".0")
    if not (whole.isascii() and whole.isdigit() and len(whole) <= MOST_DIGITS):
        raise BadData(f"{name}, line {line}: {column} is {text!r}; it must be a whole number, zero or more")
    return int(whole)


def _from_tables(header: Sequence[str], rows: Sequence[tuple[int, Mapping[str, str]]], name: str) -> pl.DataFrame:
    """Cells of the paper's three tables: capability, model, then one column for each background model.

    Deceive counts mafia wins of (model; background, background), Detect town wins of (background, background; model),
    Disclose town wins of (background; model; background), each of 100 games. A model against itself appears in all
    three tables as the same 100 games: it is kept once, and the tables must agree.
    """
    found: dict[tuple[str, str, str], dict[int, int]] = {}
    for line, row in rows:
        model, capability = row["model"].strip(), row["capability"].strip().casefold()
        for background in header:
            if background in TABLE_KEYS:
                continue
            places = {
                "deceive": (model, background, background),
                "detect": (background, background, model),
                "disclose": (background, model, background),
            }
            if capability not in places or not model:
                raise BadData(f"{name}, line {line}: capability must be one of {', '.join(places)}, model not empty")
            count = _whole(row[background], background, line, name)
            if count > TABLE_GAMES:
                raise BadData(f"{name}, line {line}: {count} wins under {background!r} of {TABLE_GAMES} games")
            wins = count if capability == "deceive" else TABLE_GAMES - count
            found.setdefault(places[capability], {})[line] = wins
    for cell, said in found.items():
        if len(set(said.values())) > 1:
            lines = ", ".join(f"line {line} has {wins}" for line, wins in said.items())
            raise BadData(
                f"{name} says different things about the same {TABLE_GAMES} games of {', '.join(cell)}: of wins of the "
                f"mafia, {lines}; correct the file"
            )
    cells = [(*cell, next(iter(said.values())), TABLE_GAMES) for cell, said in found.items()]
    return tally(pl.DataFrame(cells, SCHEMA, orient="row"))


Counted = npt.NDArray[np.int64]
IMPLAUSIBLE = 1e-4
"""Of pairs of sources with different games and equal chances, so many may be taken for the same; a refusal should be
rare, and even a copy of half the games is far beyond it from about forty combinations on."""
# enough to estimate that share; to see whether more are needed; in one batch
_DRAWS, _FIRST, _BLOCK = 40_000, 200, 1000
_MOST_CELLS = 300  # the most combinations to compare, those with most games
_LARGEST = 10**8  # games of a combination; more cannot be real, and numpy draws no more


def too_alike(sources: Mapping[str, pl.DataFrame]) -> list[str]:
    """A sentence, without a full stop, for each pair of sources that agree too well to be independent. sources: counts
    by their names.
    """
    said = []
    for one, other in combinations(sources, 2):
        chi2, shared, p = _agreement(sources[one], sources[other])
        if p < IMPLAUSIBLE:
            said.append(
                f"{one} and {other} agree too well to hold different games: X² is {chi2:.1f} over {shared} "
                "combinations that both count, so little as different games show in less than one of "
                f"{1 / IMPLAUSIBLE:,.0f} pairs of sources"
            )
    return said


def _agreement(first: pl.DataFrame, second: pl.DataFrame) -> tuple[float, int, float]:
    """(Pearson's X², over how many shared combinations, how often different games with equal chances would agree as
    well: 1 if often, or if no combination is informative).
    """
    columns = [*PLAYERS, "mafia_wins", "games"]
    both = tally(first.select(columns)).join(tally(second.select(columns)), on=PLAYERS, suffix="_other")
    total, won = pl.col("games") + pl.col("games_other"), pl.col("mafia_wins") + pl.col("mafia_wins_other")
    telling = both.filter((won > 0) & (won < total) & (total <= _LARGEST)).with_columns(total=total, won=won)
    kept = telling.sort("total", *PLAYERS, descending=True).head(_MOST_CELLS)
    games, wins, totals, all_wins = (kept[name].to_numpy() for name in ("games", "mafia_wins", "total", "won"))
    seen = float(_chi2(wins, games, all_wins, totals))
    random = np.random.default_rng(1)

    def drawn(times: int) -> Array:
        return _chi2(
            random.hypergeometric(all_wins, totals - all_wins, games, size=(times, len(games))), games, all_wins, totals
        )

    first_draws = drawn(_FIRST)  # this many settle nearly every pair
    if seen > first_draws.mean() - 2 * first_draws.std() or not len(games):
        return seen, kept.height, 1.0
    as_well = sum(int((drawn(_BLOCK) <= seen).sum()) for _ in range(_DRAWS // _BLOCK))
    return seen, kept.height, (as_well + 1) / (_DRAWS + 1)


def _chi2(wins: Counted, games: Counted, total_wins: Counted, total_games: Counted) -> Array:
    """Pearson's X² of homogeneity, over all combinations together."""
    share = total_wins / total_games
    variance = share * (1 - share) * games * (total_games - games) / total_games
    return np.asarray((np.square(wins - games * share) / variance).sum(axis=-1))


def load_conditions(
    paths: Sequence[str | os.PathLike[str]],
    without: Sequence[str] = (),
    pool: bool = False,
    only: Sequence[str] = (),
    independent: bool = False,
) -> dict[str, Counts]:
    """The games of all paths, counted by condition: a folder is a run or a corpus, a file holds counts as CSV, and
    USER/NAME is a corpus on the Hub. Files do not say how their games were played; they are one condition.

    without: models whose games are left out, and counted as excluded. only: conditions to keep, by their name or some
    of its settings, `UNSTATED` for that of files; all if none is named. pool: add up the kept conditions, under "".
    independent: assume that the sources hold different games, however well their counts agree.

    A condition is named by the settings that tell it from the others, "" if there is only one. Raises UsageError
    if a path is named twice, if sources to be added up agree too well to hold different games
    (`liescope.benchmark.capability.count_sources`), or if no game is left to count; BadData if one cannot be read, and
    UnknownName for an unknown model or condition.
    """
    if len({Path(path).resolve() for path in paths}) < len(paths):
        raise UsageError("the same run, corpus or file is named twice; its games would count double")
    files = [Path(path) for path in paths if is_file(Path(path))]
    opened = [open_games(path, TABLES) for path in paths if not is_file(Path(path))]
    check_apart(opened)
    found: dict[tuple[str, str], dict[str, Counts]] = {}
    for games in opened:
        for kind, counts in count_by_settings(games.tables).items():
            found.setdefault(kind, {})[games.source] = counts
    if files:
        found["", "{}"] = {str(path): read_counts(path) for path in files}
    named = _named(list(found))
    chosen = _chosen(dict(zip(named, found.values(), strict=True)), only)
    settings = [json.loads(text) for name, (_, text) in zip(named, found, strict=True) if name in chosen]
    prompts = {tuple(one.get(key) for key in ("prompts", PROMPTS)) for one in settings}
    notes = _alike(chosen, pool, independent)
    parts = {name: add(list(by_source.values())) for name, by_source in chosen.items()}
    if pool:
        notes += _pooled(parts, len(prompts) > 1)
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


def _chosen(parts: Mapping[str, dict[str, Counts]], only: Sequence[str]) -> dict[str, dict[str, Counts]]:
    """The conditions that were asked for, all if none was."""
    kept: dict[str, dict[str, Counts]] = {}
    for wanted in only:
        settings = set(wanted.split(", "))
        found = {name: part for name, part in parts.items() if settings <= set(stated(name).split(", "))}
        if not found:
            raise UnknownName("condition", wanted, map(stated, parts))
        kept |= found
    return kept or dict(parts)


def _alike(parts: Mapping[str, Mapping[str, Counts]], pool: bool, independent: bool) -> tuple[str, ...]:
    """Notes on sources whose counts agree too well to come from different games. parts: by condition and
    source. Raises UsageError if such sources would be added up, unless they are said to be independent.
    """

    def by_source(*conditions: Mapping[str, Counts]) -> dict[str, pl.DataFrame]:
        names = dict.fromkeys(name for part in conditions for name in part)
        return {name: pl.concat(part[name].cells for part in conditions if name in part) for name in names}

    together = [by_source(*parts.values())] if pool else [by_source(part) for part in parts.values()]
    found = [one for sources in together for one in too_alike(sources)]
    if found and not independent:
        raise UsageError(
            f"{found[0]}; the same games would count twice, so name one of them. If they are different games, "
            "say so with --independent"
        )
    notes = [f"{one}; they were counted as different games, as they were said to be." for one in found]
    if not pool and len(parts) > 1:
        apart = too_alike({stated(name): pl.concat(by_source(part).values()) for name, part in parts.items()})
        notes += [f"{one}; what one of them shows, the other does not confirm." for one in apart]
    return tuple(notes)


def is_file(path: Path) -> bool:
    """Whether a source names a file of counts, existing or not."""
    return path.is_file() or (not path.exists() and path.suffix == ".csv")


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


def _named(kinds: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each condition, given as (game, settings as JSON)."""
    named = labels([("", json.loads(settings)) for _, settings in kinds])
    if len(set(named)) < len(named):  # the same settings, other rules
        named = [f"{game} {name}".strip() for (game, _), name in zip(kinds, named, strict=True)]
    return named


def _pooled(parts: Mapping[str, Counts], prompts_differ: bool) -> tuple[str, ...]:
    """A note on conditions that were added up; none for a single one."""
    if len(parts) < 2:
        return ()
    games = (f"{stated(name)} ({part.cells['games'].sum()} games)" for name, part in parts.items())
    return (
        f"{len(parts)} conditions were added up as if they were one: {'; '.join(games)}. "
        f"{'Their prompts differ, and t' if prompts_differ else 'T'}he figures describe this mixture, not any one of "
        "them.",
    )


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
