"""Whether lies work: suspicion and votes after deceptive statements against those after honest ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis import SAID, SUSPICION, VOTES, Analysis
from liescope.benchmark.analyses.analysis_figures import Dots, cell_names
from liescope.benchmark.analyses.conditions_of_play import GAME, POOLED, RATER, UNKNOWN, chosen
from liescope.benchmark.analyses.conduct import said
from liescope.benchmark.analyses.disclosure import accusations
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, Zero, adjusted_difference
from liescope.benchmark.capability.counts import schema
from liescope.common.colours import COLOURS
from liescope.common.statistics import CHANGE, PROPORTION
from liescope.games.shared_rules import START
from liescope.games.taxonomy import DeceptionType

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LABELS = ("label_role", "label_claim", "label_self", "label_peer", "self_type", "planted_type")
"""The labels of a statement, which are never merged."""
HONEST, DECEPTIVE = "honest", "deceptive"
SPEAKER, ACCUSED = "speaker", "accused"
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
    whether its vote in the previous ballot did; vote_change: vote minus vote_before, for what is said between two
    ballots of a day (reasons of votes, defences). Votes that the rules drew are null. model: the speaker's;
    observer_model: of the player in the observer's seat, whoever rated; allied: speaker and observer deceive for one
    team, so they know each other.
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
    """The seats as speakers or observers, with that word before each column's name."""
    facts = {"": "name", "_role": "role", "_model": "model", "_deceives": "deceives", "_team": "team"}
    return frames.seats.select("game_id", **{who + name: column for name, column in facts.items()})


def _rated(frames: Frames, whom: pl.DataFrame) -> pl.DataFrame:
    """Suspicion before and after, for those who rated the statement."""
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
    # polars cannot check order within groups and warns on every call; all three frames are sorted by place.
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
    """Votes in the ballot after each statement, with the same voters' votes in the ballot before."""
    votes = chosen(frames.votes).select("game_id", "day", "ballot", "target", observer="voter")
    earlier = votes.select("game_id", "day", "observer", ballot=pl.col("ballot") + 1, earlier="target")
    both = votes.join(earlier, on=["game_id", "day", "ballot", "observer"], how="left")
    rows = whom.join(both, on=["game_id", "day", "ballot"], how="inner")
    to = pl.col("about")
    return rows.select(*_PAIR, vote=pl.col("target") == to, vote_before=pl.col("earlier") == to)


def ballot_after(phase: pl.Expr) -> pl.Expr:
    """The ballot of the day that follows a phase; null for the night, whose words few hear."""
    between = phase.is_in(["voting", "defence"])
    return pl.when(phase == "discussion").then(1).when(between).then(2).cast(pl.Int64)


def of_kinds(rows: pl.DataFrame, labels: Sequence[str] = LABELS) -> pl.DataFrame:
    """Each row once for each of these labels that is not null. label: its name; kind: its value, honest, deceptive or a
    type of deception; lie: whether that is deceptive.
    """
    parts = []
    for label in labels:
        typed = rows.schema[label] == pl.String
        words = pl.when(label).then(pl.lit(DECEPTIVE)).otherwise(pl.lit(HONEST)) if not typed else pl.col(label)
        known = rows.drop_nulls(label).with_columns(label=pl.lit(label), kind=words)
        parts.append(known.drop(labels))
    return pl.concat(parts).with_columns(lie=~pl.col("kind").is_in([HONEST, DeceptionType.NONE.value]))


_ALIKE = ("model", "observer_model", "speaker_role", "observer_role", "phase", "_day", "third", "_band")
_FIGURES = ("difference", "lo", "hi", "matched", "matched_lo", "matched_hi")
_SCHEMA = schema(
    "text game condition rater of measure label kind by model",
    f"number after_lies after_honest {' '.join(_FIGURES)}",
    "count lies honest games",
)
_OF_A_FLAG = ("self_type",)  # whether a statement deceives has a label of its own
_FIRST = ("label_self", "label_claim", "planted_type", "label_role", "label_peer", "self_type")
_FEWEST = 5  # the fewest games with lies, and with honest statements, for an interval
_DAYS = 4  # later days are pooled with this one
_BANDS = 5  # groups by suspicion before the statement
_OF = {SPEAKER: "about the speaker", ACCUSED: "about whom it accuses"}


def lies_and_suspicion(frames: Frames) -> pl.DataFrame:
    """The shift in suspicion after deceptive statements, minus that after honest ones; see `_after_lies`."""
    return _after_lies(frames, ("shift",))


def lies_and_votes(frames: Frames) -> pl.DataFrame:
    """The observers' votes after deceptive statements, minus those after honest ones; see `_after_lies`."""
    return _after_lies(frames, ("vote", "vote_change"))


def _after_lies(frames: Frames, measures: Sequence[str]) -> pl.DataFrame:
    """One row for each label, kind of lie by that label, and measure.

    of: whose suspicion or votes, the statement's speaker or whoever it accuses. measure: shift (of running suspicion,
    between -1 and 1), vote (the share of the next votes that go to that player) or vote_change (from the ballot before
    to the one after). by: all, or speaker or observer: whose model the row is about. after_lies, after_honest: means;
    difference: the first minus the second; matched: the same among statements alike in both models, both roles (the
    speaker's not for label_role, which follows from it), phase, day (from 4 on together), third of the day's
    statements, and fifth of suspicion before; null where none are. Intervals: Student's, with errors clustered by game,
    forks with their original; null if lies or honest statements come from fewer than five games. Allies of the speaker
    are left out. lies, honest: rows of each; games: the fewer of those with lies and those with honest statements.
    Types of lies appear only by all.
    """
    rows = of_kinds(moves(frames).filter(~pl.col("allied"))).with_columns(
        pl.col("third").fill_null(0),
        pl.col("model", "observer_model", "speaker_role", "observer_role").fill_null(""),
        _day=pl.col("day").clip(upper_bound=_DAYS),
        _band=(pl.col("before") * _BANDS).floor().clip(0, _BANDS - 1).fill_null(-1),
        _all=pl.lit(POOLED),
        _lie=pl.when("lie").then(1.0).otherwise(0.0),
    )
    found = [
        (*key, measure, *row)
        for measure in measures
        for key, part in rows.drop_nulls(measure).group_by(*GAME, RATER, "of", maintain_order=True)
        for row in _rows(part, measure)
    ]
    keys = list(_SCHEMA)[: -len(_FIGURES) - 5]
    table = pl.DataFrame(found, _SCHEMA, orient="row")
    return table.sort([name for name in keys if name != "model"] + ["model"])


def _rows(rows: pl.DataFrame, measure: str) -> Iterator[tuple[Any, ...]]:
    """label, kind, by, model and the figures of each row of the table."""
    pairs = rows.select("model", "observer_model").unique().height
    several = [("speaker", "model"), ("observer", "observer_model")] if pairs > 1 else []
    for (label,), known in rows.group_by("label", maintain_order=True):
        types = sorted(set(known.filter("lie")["kind"]) - {DECEPTIVE})
        for by, column in [("all", "_all"), *several]:
            kinds = [*([] if label in _OF_A_FLAG else [DECEPTIVE]), *(types if by == "all" else [])]
            for (model,), part in known.group_by(column, maintain_order=True):
                for kind in kinds:
                    chosen = part if kind == DECEPTIVE else part.filter(~pl.col("lie") | (pl.col("kind") == kind))
                    if figures := _contrast(chosen, measure, str(label)):
                        yield label, kind, by, model or UNKNOWN, *figures


def _contrast(rows: pl.DataFrame, measure: str, label: str) -> tuple[Any, ...]:
    """The figures of a row of the table; none if there are only lies, or no lies."""
    lies, honest = (rows.filter(pl.col("lie") == lie) for lie in (True, False))
    if lies.is_empty() or honest.is_empty():
        return ()
    fewest = min(part["family"].n_unique() for part in (lies, honest))
    alike = [name for name in _ALIKE if label != "label_role" or name != "speaker_role"]
    scale = PROPORTION if measure == "vote" else CHANGE
    figures: list[float | None] = []
    for strata in (["_all"], alike):
        difference, *bounds, _ = adjusted_difference(rows, "_lie", measure, strata, scale)
        figures += [difference, *(bounds if fewest >= _FEWEST else (None, None))]
    means = [part[measure].cast(pl.Float64).mean() for part in (lies, honest)]
    return *means, *figures, lies.height, honest.height, fewest


def _plot(table: pl.DataFrame, axis: str) -> Figure:
    """A row for each label and kind of lie, all models together; then one for each model, as speaker and as observer,
    by the first available label. A panel for the speaker and one for the accused; all statements, and matched ones.
    """
    label = _shown(table)
    chosen = (pl.col("by") == "all") | ((pl.col("label") == label) & (pl.col("kind") == DECEPTIVE))
    shown = table.filter(chosen).sort(pl.col("by") != "all", pl.col("by") != "speaker", maintain_order=True)
    rows = [
        f"{_words(label)}: {_words(kind)}" if by == "all" else f"{model}, as {by}"
        for label, kind, by, model in shown.select("label", "kind", "by", "model").iter_rows()
    ]
    cells = cell_names(shown.drop("model"))
    panels = [", ".join(filter(None, (_OF[of], cell))) for of, cell in zip(shown["of"], cells, strict=True)]
    matched = shown.with_columns(difference="matched", lo="matched_lo", hi="matched_hi")
    series = ["all statements"] * shown.height + ["statements alike"] * shown.height
    colours = {"all statements": COLOURS["grey"], "statements alike": COLOURS["blue"]}
    return Dots(axis, rows * 2, panels * 2, series, colours, reference=0)(pl.concat([shown, matched]))


def _shown(table: pl.DataFrame) -> str:
    """The label for a figure with room for only one."""
    return next(label for label in _FIRST if label in set(table["label"]))


def _words(name: str) -> str:
    return name.replace("_", " ")


_NOTE = (
    "An association, not an effect: who lies, when and about what differs from who does not, even among statements "
    "alike (matched). Only forks of games tell what a statement changes. Labels answer different questions and are "
    "never merged."
)
ANALYSES_OF_LIES: tuple[Analysis, ...] = (
    Analysis(
        "lies_and_suspicion",
        "Lies and suspicion",
        lies_and_suspicion,
        lambda table: _plot(table, "shift of suspicion after lies, less after honest words"),
        needs=(SAID, SUSPICION),
        otherwise="no label has both lies and honest statements among those rated",
        interval=Interval.CLUSTERED,
        note=_NOTE,
        main=True,
        corrections=(Zero(), Zero("matched", own_bounds=True)),
    ),
    Analysis(
        "lies_and_votes",
        "Lies and votes",
        lies_and_votes,
        lambda table: _plot(table.filter(measure="vote"), "share of votes after lies, less after honest words"),
        needs=(SAID, VOTES),
        otherwise="no label has both lies and honest statements before a vote",
        interval=Interval.CLUSTERED,
        note=_NOTE,
        main=True,
        corrections=(Zero(), Zero("matched", own_bounds=True)),
    ),
)
