"""Counts from a CSV file, in the form that `fit` documents or as the Mini-Mafia paper prints its three tables."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from io import StringIO
from pathlib import Path

import polars as pl

from liescope.benchmark.counting.counts import PLAYERS, SCHEMA, Counts, tally
from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text

TABLE_KEYS = ("capability", "model")
MOST_DIGITS = 12  # of a count; more must be a mistake and would overflow the sums
TABLE_GAMES = 100  # games in each cell of the paper's tables
MOST_NAMED = 20  # contradictions in one message


def read_counts(path: Path) -> Counts:
    """Counts of a CSV file with the columns mafioso, detective, villager, mafia_wins, games, in any order; rows of the
    same cell are added up, further columns are ignored. A file with the columns capability and model is read as the
    paper's tables (`read_tables`).

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
            raise BadData(f"{name}, line {line}: a cell needs the names of a mafioso, a detective and a villager")
        wins, games = (_whole(row[column], column, line, name) for column in ("mafia_wins", "games"))
        if games < 1 or wins > games:
            raise BadData(f"{name}, line {line}: {wins} mafia wins in {games} games is impossible; check both columns")
        cells.append((*names, wins, games))
    return tally(pl.DataFrame(cells, SCHEMA, orient="row"))


def published_counts() -> pl.DataFrame:
    """The 140 cells of the Mini-Mafia paper (Tables 2 to 4): cells as in `Counts`."""
    name = "mini_mafia_win_counts.csv"
    return parse_counts((files("liescope.benchmark") / "data" / name).read_text(encoding="utf-8"), name)


def published_scores() -> pl.DataFrame:
    """The paper's scores (Figure 2): model, m, m_sd, d, d_sd, v, v_sd; mean of v is 1, mean of m is 0."""
    return pl.read_csv(
        StringIO((files("liescope.benchmark") / "data" / "mini_mafia_published.csv").read_text(encoding="utf-8"))
    )


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
    """A count: a whole number that is not negative; 23.0 is one, as spreadsheets write it."""
    whole = text.strip().removesuffix(".0")
    if not (whole.isascii() and whole.isdigit() and len(whole) <= MOST_DIGITS):
        raise BadData(f"{name}, line {line}: {column} is {text!r}; it must be a whole number, zero or more")
    return int(whole)


def _from_tables(header: Sequence[str], rows: Sequence[tuple[int, Mapping[str, str]]], name: str) -> pl.DataFrame:
    """Cells of the paper's three tables: capability, model, then one column for each background model.

    Deceive counts mafia wins of (model; background, background), Detect town wins of (background, background; model),
    Disclose town wins of (background; model; background), each of 100 games. A model against itself appears in all
    three tables as the same 100 games: it is kept once, and the tables must agree on it.
    """
    backgrounds = [column for column in header if column not in TABLE_KEYS]
    found: dict[tuple[str, str, str], list[_Entry]] = {}
    for line, row in rows:
        model, capability = row["model"].strip(), row["capability"].strip().casefold()
        for background in backgrounds:
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
            found.setdefault(places[capability], []).append(_Entry(line, capability, count))
    contradictions = [(cell, said) for cell, said in found.items() if len({entry.mafia_wins for entry in said}) > 1]
    if contradictions:
        raise BadData(_contradicted(name, contradictions))
    cells = [(*cell, said[0].mafia_wins, TABLE_GAMES) for cell, said in found.items()]
    return tally(pl.DataFrame(cells, SCHEMA, orient="row"))


@dataclass(frozen=True, slots=True)
class _Entry:
    """One number of the paper's tables: its line, capability, and wins of the judged side."""

    line: int
    capability: str
    wins: int

    @property
    def mafia_wins(self) -> int:
        return self.wins if self.capability == "deceive" else TABLE_GAMES - self.wins

    def __str__(self) -> str:
        as_mafia = "" if self.capability == "deceive" else f", so {self.mafia_wins} of the mafia"
        side = "mafia" if self.capability == "deceive" else "town"
        return f"line {self.line} ({self.capability}) has {self.wins} wins of the {side}{as_mafia}"


def _contradicted(name: str, contradictions: Sequence[tuple[tuple[str, str, str], Sequence[_Entry]]]) -> str:
    """What the tables say of the same games, of every cell on which they disagree."""
    words = [
        f"mafioso {mafioso}, detective {detective}, villager {villager}: {'; '.join(map(str, said))}"
        for (mafioso, detective, villager), said in contradictions[:MOST_NAMED]
    ]
    more = len(contradictions) - MOST_NAMED
    words += [f"and {more} more"] if more > 0 else []
    return f"{name} says different things about the same {TABLE_GAMES} games; correct the file. " + ". ".join(words)
