"""What the list of games and the queue of doubtful labels know of each game, from its rows in two tables.

An opinion on a statement is a probability that it is deceptive: what its label says (0 or 1), the share of peers that
flag it, or what detectors say, each with its threshold at a half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from liescope.data_cards.tables import TARGETS
from liescope.web.view.game_sources import ShownDetector
from liescope.web.view.scores import ScoreTable

LABELS = ("role", "claim", "self", "peer")
"""The labels that can disagree on whether a statement is deceptive; a broken promise is another question."""
DETECTOR = "detector"
OPINIONS = (*LABELS, DETECTOR)
PAIRS = tuple(f"{one}_{other}" for one, other in combinations(LABELS, 2))
"""Two labels, as a column that counts the statements on which they disagree."""
GAME_COLUMNS = ("game_id", "status", "model", "game", "cell", "winner", "days", "statements", "silences", "fallbacks")
COUNTS = (*(f"has_{label}" for label in TARGETS), "doubted", *PAIRS)
"""Of a game: the statements with each label, those on which anything disagrees, those on which two labels do."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Rows to index. games: GAME_COLUMNS, then COUNTS; players: game_id, model, role; statements: game_id, event, then
    OPINIONS; mistakes: game_id, detector, missed, alarms; words: game_id, words.
    """

    games: pl.DataFrame
    players: pl.DataFrame
    statements: pl.DataFrame
    mistakes: pl.DataFrame
    words: pl.DataFrame


def facts_of(games: pl.DataFrame, statements: pl.DataFrame, scores: ScoreTable | None = None) -> Facts:
    """The facts of some games. games, statements: their rows in these tables."""
    said = statements.select(
        "statement_id",
        "game_id",
        "text",
        *(pl.col(f"label_{label}").alias(label) for label in TARGETS),
        peer_rate="peer_rate",
        event=pl.col("statement_id").str.extract(r":(\d+)$").cast(pl.Int64),
    )
    scored = _scored(said, scores)
    said = said.join(_opinion(scored), on="statement_id", how="left", maintain_order="left")
    known = [pl.col(label) for label in LABELS] + [pl.col(DETECTOR) > 0.5]
    differ = pl.any_horizontal(known) & ~pl.all_horizontal(one.fill_null(value=True) for one in known)
    pairs = [(pl.col(one) != pl.col(other)).sum().alias(f"{one}_{other}") for one, other in combinations(LABELS, 2)]
    counted = said.group_by("game_id").agg(
        *(pl.col(label).is_not_null().sum().alias(f"has_{label}") for label in TARGETS),
        differ.sum().alias("doubted"),
        *pairs,
    )
    rows = games.select(GAME_COLUMNS).join(counted, on="game_id", how="left", maintain_order="left")
    opinions = [pl.col(label).cast(pl.Float64) for label in LABELS if label != "peer"]
    return Facts(
        rows.with_columns(pl.col(COUNTS).fill_null(0)),
        games.select("game_id", "seats").explode("seats").unnest("seats").select("game_id", "model", "role").unique(),
        said.select("game_id", "event", *opinions, peer="peer_rate", detector=DETECTOR),
        _mistakes(scored),
        said.group_by("game_id").agg(words=pl.col("text").str.join(" ")),
    )


def _scored(said: pl.DataFrame, scores: ScoreTable | None) -> pl.DataFrame:
    """A row for each score: statement_id, game_id, detector, p (with the threshold at a half), y (the target)."""
    schema = {"statement_id": pl.String, "game_id": pl.String, DETECTOR: pl.String, "p": pl.Float64, "y": pl.Boolean}
    if scores is None:
        return pl.DataFrame(schema=schema)
    found = scores.of_games(said["game_id"].unique(maintain_order=True)).join(said, on="statement_id", how="inner")
    if found.is_empty():
        return pl.DataFrame(schema=schema)
    p, y = _by_detector(scores.detectors)
    return found.select("statement_id", "game_id", DETECTOR, p=p, y=y)


def _by_detector(detectors: Sequence[ShownDetector]) -> tuple[pl.Expr, pl.Expr]:
    """The score with the detector's threshold at a half, and the label that it was trained on."""
    score, p, y = pl.col("score"), pl.lit(None, pl.Float64), pl.lit(None, pl.Boolean)
    for one in detectors:
        mine, cut = pl.col(DETECTOR) == one.name, min(max(one.threshold, 1e-9), 1 - 1e-9)
        moved = pl.when(score > cut).then(0.5 + (score - cut) / (1 - cut) / 2).otherwise(score / cut / 2)
        p, y = pl.when(mine).then(moved).otherwise(p), pl.when(mine).then(pl.col(one.target)).otherwise(y)
    return p, y


def _opinion(scored: pl.DataFrame) -> pl.DataFrame:
    """What the detectors say of each statement together."""
    return scored.group_by("statement_id").agg(pl.col("p").mean().alias(DETECTOR))


def _mistakes(scored: pl.DataFrame) -> pl.DataFrame:
    flagged = pl.col("p") > 0.5
    return scored.group_by("game_id", DETECTOR).agg(
        missed=(pl.col("y") & ~flagged).sum(), alarms=(~pl.col("y") & flagged).sum()
    )
