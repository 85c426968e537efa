"""The games of a corpus folder, or of a corpus on the Hub."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import polars as pl

from liescope.common.errors import UnknownName, UsageError
from liescope.common.reading import read_bytes
from liescope.common.text import plain
from liescope.generate.corpus import collected, read
from liescope.generate.corpus.read import FACTS_FILE, read_facts
from liescope.generate.corpus.records import RECORD_TABLES, record_in
from liescope.generate.runs.rebuild import CallPrompt
from liescope.labeling.label import label_game
from liescope.web.view.sources import ViewedGame

TABLES_SHOWN = (*RECORD_TABLES, "statements", "calls")
"""The tables that are read of a corpus."""


class CorpusSource:
    """A corpus. Its tables hold the record of each game."""

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
        record = record_in(self.path, game_id)
        if record is None:
            raise UnknownName(f"game in {self.name}:", game_id, self._ids[:5], others=max(0, len(self._ids) - 5))
        calls = collected(read(self.path, "calls").filter(pl.col("game_id") == game_id).drop("split"), self.path)
        return ViewedGame(record, label_game(record), calls=tuple(calls.to_dicts()))

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


def _number(game_id: str) -> int:
    end = game_id.rpartition("-")[2]
    return int(end) if end.isascii() and end.isdigit() else -1
