"""What each statement moved: every observer's suspicion of its speaker and of whom it accuses, and the observer's vote,
before and after.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import RATER
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.jester_games import chosen
from liescope.benchmark.analyses.needs import SAID, SUSPICION, VOTES, either
from liescope.benchmark.analyses.telling import accusations, said
from liescope.games.assessing import START
from liescope.games.taxonomy import DeceptionType

LABELS = ("label_role", "label_claim", "label_self", "label_peer", "self_type", "planted_type")
"""The labels of a statement, which are never merged."""
HONEST, DECEPTIVE = "honest", "deceptive"
SPEAKER, ACCUSED = "speaker", "accused"
MOST = 50_000  # rows of the file
_PAIR = ("game_id", RATER, "statement_id", "observer", "about")
_COLUMNS = (
    *("family", "game_id", "game", "condition", "learning", RATER, "statement_id", "day", "phase", "position"),
    *("speaker", "speaker_role", "model", "observer", "observer_role", "observer_model", "allied", "about", "of"),
    *("before", "after", "shift", "vote_before", "vote", "vote_change", *LABELS),
)


def moves(frames: Frames) -> pl.DataFrame:
    """One row for each statement, rater, other player who rated or voted then, and player that the statement moved.

    about: the speaker, and whoever is accused (by the rules of `liescope.labeling.accusing`); of: which of the two.
    before, after: the observer's running suspicion of that player, from 0 to 1, before the statement and after its
    rating, or, of an accused, after the accused's next rated statement of that day; shift: after minus before; null
    where nothing was rated. vote: whether the observer's next vote of that day goes to that player; vote_before:
    whether its vote in the ballot before the statement did; vote_change: vote minus vote_before, for what is said
    between two ballots of a day (reasons of votes, defences). Votes that the rules drew are null. model: the speaker's;
    observer_model: of the player in the observer's seat, whoever rated; allied: speaker and observer deceive for the
    same team, so that they know each other.
    """
    statements = frames.statements.with_columns(ballot=ballot_after(pl.col("phase")))
    once = accusations(frames, said(frames)).select("statement_id", about="accused")
    whom = pl.concat(
        [
            statements.select("game_id", RATER, "statement_id", "day", "place", "ballot", "speaker", about="speaker"),
            statements.select("game_id", RATER, "statement_id", "day", "place", "ballot", "speaker").join(
                once, on="statement_id"
            ),
        ]
    )
    pairs = _rated(frames, whom).join(_voted(frames, whom), on=_PAIR, how="full", coalesce=True)
    rows = (
        pairs.join(
            statements.drop("model", "speaker_role", "speaker_model"),
            on=["game_id", RATER, "statement_id"],
            how="inner",
        )
        .join(_seats(frames, "speaker"), on=["game_id", "speaker"], how="left")
        .join(_seats(frames, "observer"), on=["game_id", "observer"], how="left")
        .filter((pl.col("observer") != pl.col("speaker")) & (pl.col("observer") != pl.col("about")))
    )
    same = pl.col("speaker_team") == pl.col("observer_team")
    return rows.with_columns(
        of=pl.when(pl.col("about") == pl.col("speaker")).then(pl.lit(SPEAKER)).otherwise(pl.lit(ACCUSED)),
        model="speaker_model",
        allied=(same & pl.col("speaker_deceives") & pl.col("observer_deceives")).fill_null(False),
        shift=pl.col("after") - pl.col("before"),
        vote_change=pl.col("vote").cast(pl.Float64) - pl.col("vote_before").cast(pl.Float64),
        third=((pl.col("position") - 1) * 3 // pl.col("statements_of_day")).clip(0, 2),
    ).select(*_COLUMNS, "third")


def _seats(frames: Frames, who: str) -> pl.DataFrame:
    """The seats as those of speakers or observers, each column with that word before it."""
    facts = {"": "name", "_role": "role", "_model": "model", "_deceives": "deceives", "_team": "team"}
    return frames.seats.select("game_id", **{who + name: column for name, column in facts.items()})


def _rated(frames: Frames, whom: pl.DataFrame) -> pl.DataFrame:
    """The suspicion before and after, for those who rated the statement."""
    rows = frames.ratings.drop_nulls("suspicion")
    rows = rows.join(whom.select("statement_id", RATER, "place").unique(), on=["statement_id", RATER]).sort("place")
    rated = rows.select("game_id", RATER, "observer", "day", "place", about="speaker", level="running_suspicion")
    pairs = (
        rows.select("game_id", RATER, "statement_id", "observer")
        .join(whom.drop("ballot"), on=["game_id", RATER, "statement_id"])
        .sort("place")
    )
    by = ["game_id", RATER, "observer", "about"]
    earlier = rated.drop("day").rename({"level": "before"})
    later = rated.rename({"level": "after"})
    found = pairs.join_asof(earlier, on="place", by=by, allow_exact_matches=False, check_sortedness=False)
    own = found.filter(pl.col("about") == pl.col("speaker")).join_asof(
        later.drop("day"), on="place", by=by, check_sortedness=False
    )
    others = found.filter(pl.col("about") != pl.col("speaker")).join_asof(
        later, on="place", by=[*by, "day"], strategy="forward", allow_exact_matches=False, check_sortedness=False
    )
    columns = [*_PAIR, "before", "after"]
    return pl.concat([own.select(columns), others.select(columns)]).with_columns(pl.col("before").fill_null(START))


def _voted(frames: Frames, whom: pl.DataFrame) -> pl.DataFrame:
    """The votes in the ballot after each statement, with those of the same voters in the ballot before it."""
    votes = chosen(frames.votes).select("game_id", "day", "ballot", "target", observer="voter")
    earlier = votes.select("game_id", "day", "observer", ballot=pl.col("ballot") + 1, earlier="target")
    both = votes.join(earlier, on=["game_id", "day", "ballot", "observer"], how="left")
    rows = whom.join(both, on=["game_id", "day", "ballot"], how="inner")
    to = pl.col("about")
    return rows.select(*_PAIR, vote=pl.col("target") == to, vote_before=pl.col("earlier") == to)


def ballot_after(phase: pl.Expr) -> pl.Expr:
    """The ballot of the day that follows what is said in a phase; null for words at night, which few hear."""
    between = phase.is_in(["voting", "defence"])
    return pl.when(phase == "discussion").then(1).when(between).then(2).cast(pl.Int64)


def statement_moves(frames: Frames) -> pl.DataFrame:
    """The rows of `moves`, of as many whole games as give 50,000; which games depends on their ids alone."""
    found = moves(frames).drop("third")
    counts = found.group_by("game_id").len().sort(pl.col("game_id").hash(seed=1), "game_id")
    kept = counts.filter((pl.col("len").cum_sum() <= MOST) | (pl.int_range(pl.len()) == 0))
    return found.join(kept, on="game_id", how="semi").sort("game_id", RATER, "day", "statement_id", "of", "observer")


def of_kinds(rows: pl.DataFrame, labels: Sequence[str] = LABELS) -> pl.DataFrame:
    """The rows once for each of these labels that is not null. label: its name; kind: its value, honest, deceptive or a
    type of deception; lie: whether that is deceptive.
    """
    parts = []
    for label in labels:
        typed = rows.schema[label] == pl.String
        words = pl.when(label).then(pl.lit(DECEPTIVE)).otherwise(pl.lit(HONEST)) if not typed else pl.col(label)
        known = rows.drop_nulls(label).with_columns(label=pl.lit(label), kind=words)
        parts.append(known.drop(labels))
    return pl.concat(parts).with_columns(lie=~pl.col("kind").is_in([HONEST, DeceptionType.NONE.value]))


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "statement_moves",
        "Every statement and whom it moved",
        statement_moves,
        needs=(SAID, either(SUSPICION, VOTES)),
        note="One row for each statement, observer, and player about whom it may move the observer (its speaker, or "
        f"whom it accuses), with the statement's labels; whole games up to {MOST:,} rows, drawn by their ids.",
        shown=10,
    ),
)
