"""Scores of each fit on disk, under a hash of everything they depend on: a run that was killed goes on, and a later one
with another corpus or detector fits only what is new.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from liescope.common.reading import regular
from liescope.detectors.registry import versions_of
from liescope.detectors.transfer.choose import Choice, Recipe
from liescope.detectors.transfer.plan import Fit
from liescope.detectors.transfer.table import UNITS, Table
from liescope.labeling import claims

_FACTS = b"liescope"


@dataclass(frozen=True, slots=True)
class Fitted:
    """score: (n,) of the rows that the fit scores, in [0, 1]; players: of the players of their games; choice: of the
    options; reason: why there are no scores, else empty.
    """

    score: NDArray[np.float64]
    players: NDArray[np.float64]
    choice: Choice
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """A folder with one Parquet file for each fit: the scores of its statements, then those of its players (corpus,
    game_id, statement_id or player, score), and the choice in its metadata.
    """

    folder: Path

    def read(self, key: str, fit: Fit, table: Table) -> Fitted | None:
        """What was fitted before; None if it was not, or if its file is damaged."""
        try:
            found = pq.read_table(regular(self.folder / f"{key}.parquet"))
            facts = json.loads(found.schema.metadata[_FACTS])
            every = found["score"].to_numpy().astype(np.float64)
            score, players = np.split(every, [len(every) - found["statement_id"].null_count])
            tried = tuple((setting, value) for setting, value in facts["choice"].pop("tried"))
            done = Fitted(score, players, Choice(**facts["choice"], tried=tried), facts["reason"])
        except (OSError, pa.ArrowException, ValueError, LookupError, TypeError):
            return None
        lengths = (len(score), len(players)) == (len(fit.score), len(table.seats(fit.score)))
        whole = lengths and bool(((every >= 0) & (every <= 1)).all())
        return done if whole or done.reason else None

    def write(self, key: str, fit: Fit, done: Fitted, table: Table) -> None:
        """Keep what was fitted. Raises OSError."""
        said = table.frame[fit.score[: len(done.score)]].select("corpus", "game_id", "statement_id")
        seated = table.players[table.seats(fit.score)[: len(done.players)]].select("corpus", "game_id", "player")
        every = pl.Series("score", np.concatenate([done.score, done.players]), dtype=pl.Float64)
        scored = pl.concat([said, seated], how="diagonal").with_columns(every)
        facts = json.dumps({"choice": asdict(done.choice), "reason": done.reason})
        partial = self.folder / f".{key}.partial"
        arrow = scored.to_arrow()
        pq.write_table(arrow.replace_schema_metadata({_FACTS: facts.encode()}), partial, compression="zstd")
        partial.replace(self.folder / f"{key}.parquet")


@dataclass(frozen=True, slots=True)
class Keys:
    """Names the scores of a fit: a hash of the statements that it learns from and scores, with context, units and their
    games, of the labels that it learns, of the detector with its options and grid, and of the code and packages that do
    it.
    """

    rows: tuple[bytes, ...]
    y: NDArray[np.bool_]
    recipe: str

    @classmethod
    def of(cls, table: Table, recipe: Recipe) -> Keys:
        examples = table.examples(recipe.most_context)
        units = table.frame.select(*UNITS.values()).iter_rows()
        games = {key: game.digest() for key, game in table.transcripts.items()}
        rows = tuple(_hash(e, names, games[e.game_id]) for e, names in zip(examples, units, strict=True))
        kind = recipe.detector.kind
        facts = (kind, recipe.text, recipe.fixed, recipe.grid, recipe.seed, versions_of(kind), _code())
        return cls(rows, table.y, repr(facts))

    def key(self, fit: Fit) -> str:
        learned, scored = (b"".join(self.rows[i] for i in rows) for rows in (fit.learn, fit.score))
        labels = self.y[fit.learn].tobytes()
        return _hash(self.recipe, fit.by, learned, labels, scored).hex()[:32]


def _hash(*facts: object) -> bytes:
    return hashlib.sha256(repr(facts).encode(errors="backslashreplace")).digest()


@lru_cache(maxsize=1)
def _code() -> str:
    """A hash of the code that reads, fits and scores."""
    here = Path(__file__).parent
    kinds = ("kinds", "view", "fine_tuning", "judge", "follow_up")
    rooms = (here.parent, *(here.parent / name for name in kinds), Path(claims.__file__).parent)
    files = [*(file for room in rooms for file in sorted(room.glob("*.py"))), here / "choose.py", here / "fitting.py"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
