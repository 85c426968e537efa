"""The games of a corpus folder, or of a corpus on the Hub."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import UnknownName, UsageError
from liescope.common.reading import read_bytes
from liescope.common.text import plain
from liescope.data_cards.tables import (
    BidRow,
    ClaimRow,
    GameRow,
    LessonRow,
    NightActRow,
    RatingRow,
    RoleGuessRow,
    SeatRow,
    StatementRow,
    VoteRow,
)
from liescope.generate.corpus import collected, read
from liescope.generate.corpus.files import FACTS_FILE
from liescope.generate.corpus.read import read_facts
from liescope.generate.runs.rebuild import CallPrompt
from liescope.labeling.rows import LabelledGame
from liescope.web.view.rebuilt import GameRows, rebuilt
from liescope.web.view.sources import ViewedGame

_ROWS: Mapping[str, type[Any]] = {
    "games": GameRow,
    "statements": StatementRow,
    "claims": ClaimRow,
    "ratings": RatingRow,
    "votes": VoteRow,
    "night_acts": NightActRow,
    "bids": BidRow,
    "lessons": LessonRow,
    "role_guesses": RoleGuessRow,
}
TABLES_SHOWN = (*_ROWS, "calls")
"""The tables that are read of a corpus."""


class CorpusSource:
    """A corpus. Its tables say what happened in a game, from which its record is put together."""

    kind = "corpus"

    def __init__(self, path: Path) -> None:
        """Raises BadData if the folder holds no corpus of this version."""
        self.path = path
        self.facts = read_facts(path)
        self.name = path.resolve().name

    def find(self, words: str) -> str:
        ids = self._ids
        if words in ids:
            return words
        fitting = [
            one for one in ids if words and (one.startswith(words) or _number(one) == _number(f"-{words}") != -1)
        ]
        if len(fitting) > 1:
            some = ", ".join(map(plain, fitting[:5])) + ("…" if len(fitting) > 5 else "")
            raise UsageError(f"{plain(words)} fits {len(fitting)} games of {self.name}: {some}; give more of the id")
        if not fitting:
            near = get_close_matches(words, ids[:10_000], n=5, cutoff=0.3) or ids[:5]
            raise UnknownName(f"game in {self.name}:", words, near, others=len(ids) - len(near))
        return fitting[0]

    def game(self, game_id: str) -> ViewedGame:
        rows = {table: tuple(self._rows(table, game_id)) for table in _ROWS}
        if not rows["games"]:
            raise UnknownName(f"game in {self.name}:", game_id, self._ids[:5], others=max(0, len(self._ids) - 5))
        labels = LabelledGame(rows["statements"], rows["ratings"], rows["votes"], rows["claims"])
        more = (rows[table] for table in ("night_acts", "bids", "lessons", "role_guesses"))
        record, certain = rebuilt(GameRows(rows["games"][0], labels, *more))
        claims = tuple(
            replace(claim, evidence=tuple(index for index in claim.evidence if index in certain))
            for claim in labels.claims
        )
        calls = self._frame("calls", game_id).drop("split").to_dicts()
        return ViewedGame(record, replace(labels, claims=claims), calls=tuple(calls))

    def prompt(self, game_id: str, step: int, seat: str) -> CallPrompt:
        raise UsageError(
            f"a corpus holds replies and no prompts; game {plain(game_id)}, step {step}, {plain(seat)} can be seen in "
            "its run: liescope view runs/NAME"
        )

    def version(self) -> Hashable:
        return None

    def identity(self) -> str:
        """corpus.json holds the hash of every file."""
        return f"{self.path.resolve()} {sha256(read_bytes(self.path / FACTS_FILE)).hexdigest()}"

    def listed(self) -> Mapping[int, str]:
        return dict(enumerate(self._ids, 1))

    def tables(self, numbers: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        wanted = pl.col("game_id").is_in([self._ids[number - 1] for number in numbers])
        rows = (read(self.path, name).filter(wanted).drop("split") for name in ("games", "statements"))
        games, statements = (collected(rows_of, self.path) for rows_of in rows)
        return games, statements

    def begun(self) -> Sequence[tuple[str, int]]:
        return ()

    @cached_property
    def _ids(self) -> list[str]:
        """By the numbers of their runs, or else by id, and not by splits."""
        ids: list[str] = collected(read(self.path, "games").select("game_id"), self.path)["game_id"].to_list()
        return sorted(ids, key=lambda one: (one.rpartition("-")[0], _number(one), one))

    def _frame(self, table: str, game_id: str) -> pl.DataFrame:
        return collected(read(self.path, table).filter(pl.col("game_id") == game_id), self.path)

    def _rows(self, table: str, game_id: str) -> list[Any]:
        return [_ROWS[table](**_typed(one)) for one in self._frame(table, game_id).drop("split").iter_rows(named=True)]


def _typed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as its class takes it: lists are tuples, seats are rows."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    if "seats" in values:
        values["seats"] = tuple(SeatRow(**seat) for seat in values["seats"])
    return values


def _number(game_id: str) -> int:
    end = game_id.rpartition("-")[2]
    return int(end) if end.isascii() and end.isdigit() else -1
