"""How fast `view` lists games: a made-up corpus of 100,000 games with a detector's scores, the time to index it, and of
the first page, every filter once it is indexed.

    python tests/performance/bench_view.py [GAMES]

Prints figures; asserts nothing. Everything is in a temporary folder.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import liescope
from liescope.generate.corpus.open import open_games
from liescope.web.view.game_index import Index
from liescope.web.view.game_list import SORTS, Filters, choices, list_games
from liescope.web.view.game_sources import CorpusSource, Opened
from liescope.web.view.score_table import ScoreTable, read_scores

TIMES = 5


class Repeated(CorpusSource):
    """The games of a small corpus, again and again, with ids of their own."""

    def __init__(self, path: Path, games: int) -> None:
        super().__init__(path)
        opened = open_games(path, ("statements",))
        self._small = opened.tables["games"], opened.tables["statements"]
        self._count = games

    def identity(self) -> str:
        return f"repeated {self._count}"

    def version(self) -> Hashable:
        return 0

    def listed(self) -> Mapping[int, str]:
        return {number: f"game-{number}" for number in range(1, self._count + 1)}

    def tables(self, numbers: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        games, statements = self._small
        places = pl.DataFrame({"number": numbers}).with_columns(place=pl.col("number") % games.height)
        named = games.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64), old="game_id")
        new = places.join(named, on="place").with_columns(game_id=pl.format("game-{}", "number"))
        said = new.select("old", "game_id").join(statements.rename({"game_id": "old"}), on="old")
        ids = pl.format("{}:{}", "game_id", pl.col("statement_id").str.extract(r":(\d+)$"))
        return new.select(games.columns), said.with_columns(statement_id=ids).select(statements.columns)


def guesses(source: Repeated, folder: Path) -> ScoreTable:
    """A detector that scores every statement at random."""
    _, said = source.tables(list(source.listed()))
    table = said.select("statement_id", score=pl.int_range(pl.len()).hash(1) % 1000 / 1000)
    table.write_parquet(folder / "guess.parquet")
    return read_scores(folder / "guess.parquet")


def timed(what: str, act: Callable[[], Any]) -> None:
    seconds = []
    for _ in range(TIMES):
        began = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - began)
    print(f"{what:36} median {statistics.median(seconds) * 1000:7.1f} ms   longest {max(seconds) * 1000:7.1f} ms")


def main(games: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        run, corpus = Path(folder) / "run", Path(folder) / "corpus"
        liescope.play("werewolf", players=["scripted:bold"], games=2, out=run, assess=True)
        liescope.play("mini-mafia", players=["scripted:bold", "scripted:novice"], games=6, out=Path(folder) / "mini")
        liescope.build([run, Path(folder) / "mini"], out=corpus)
        source = Repeated(corpus, games)
        index = Index(Opened(source, guesses(source, Path(folder))))
        began = time.perf_counter()
        index.catch_up()
        spent = time.perf_counter() - began
        with index.store.reading() as base:
            (statements,) = base.execute("SELECT count(*) FROM statements").fetchone()
        size = index.store.path.stat().st_size / 1e6
        print(f"{games:,} games, {statements:,} statements: indexed in {spent:.1f} s ({size:,.0f} MB)")
        store = index.store
        timed("choices of the filters", lambda: choices(store))
        timed("first page", lambda: list_games(store, Filters(), "guess"))
        timed("last page", lambda: list_games(store, Filters(page=games)))
        for sort in SORTS:
            timed(f"sorted: {sort}", lambda sort=sort: list_games(store, Filters(sort=sort)))  # type: ignore[misc]
        for name, value in (
            ("model", "scripted:bold"),
            ("role", "werewolf"),
            ("winner", "town"),
            ("status", "failed"),
            ("labels", "peer"),
            ("differ", "role_peer"),
            ("differ", "any"),
            ("mistakes", "any"),
            ("fallbacks", "yes"),
            ("words", "detective alice"),
        ):
            chosen = Filters(**{name: value})  # type: ignore[arg-type]
            timed(f"{name}: {value}", lambda chosen=chosen: list_games(store, chosen, "guess"))  # type: ignore[misc]
        together = Filters(model="scripted:bold", role="werewolf", differ="any", sort="most disagreement")
        timed("several together", lambda: list_games(store, together, "guess"))
        index.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
