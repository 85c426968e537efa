"""Whether lies work: suspicion and votes after deceptive statements against those after honest ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.adjusted import adjusted_difference
from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, GAME, POOLED, RATER
from liescope.benchmark.analyses.corrections import Zero
from liescope.benchmark.analyses.figures import cell_names, dots
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.moves import ACCUSED, DECEPTIVE, SPEAKER, moves, of_kinds
from liescope.benchmark.analyses.needs import SAID, SUSPICION, VOTES
from liescope.benchmark.analyses.sides import UNKNOWN
from liescope.common.colours import COLOURS
from liescope.common.statistics import CHANGE, PROPORTION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ALIKE = ("model", "observer_model", "speaker_role", "observer_role", "phase", "_day", "third", "_band")
_FIGURES = ("difference", "lo", "hi", "matched", "matched_lo", "matched_hi")
_SCHEMA = pl.Schema(
    {
        **dict.fromkeys((*GAME, RATER, "of", "measure", "label", "kind", "by", "model"), pl.String),
        **dict.fromkeys(("after_lies", "after_honest", *_FIGURES), pl.Float64),
        **dict.fromkeys(("lies", "honest", "games"), pl.Int64),
    }
)
_OF_A_FLAG = ("self_type",)  # whether such a statement deceives is a label of its own
_FIRST = ("label_self", "label_claim", "planted_type", "label_role", "label_peer", "self_type")
_FEWEST = 5  # games with lies, and with honest statements, below which there is no interval
_DAYS = 4  # later days count as this one
_BANDS = 5  # of the suspicion before the statement
_OF = {SPEAKER: "about the speaker", ACCUSED: "about whom it accuses"}


def suspicion_shifts(frames: Frames) -> pl.DataFrame:
    """How far each kind of statement moves each role: the mean shift of the observers' running suspicion of its
    speaker.

    label: one of the labels of statements; kind: its value, honest, deceptive or a type of deception. Allies are left
    out. Columns: game, condition, model (the speaker's), learning, rater, label, kind, observer_role, mean, lo, hi
    (over games), n (ratings), games.
    """
    rows = of_kinds(moves(frames).filter((pl.col("of") == SPEAKER) & ~pl.col("allied")))
    return game_means(rows, [*CELL, RATER, "label", "kind", "observer_role"], "shift", CHANGE)


def lies_and_suspicion(frames: Frames) -> pl.DataFrame:
    """The shift in suspicion after deceptive statements, less that after honest ones; see `_after_lies`."""
    return _after_lies(frames, ("shift",))


def lies_and_votes(frames: Frames) -> pl.DataFrame:
    """The observers' votes after deceptive statements, less those after honest ones; see `_after_lies`."""
    return _after_lies(frames, ("vote", "vote_change"))


def _after_lies(frames: Frames, measures: Sequence[str]) -> pl.DataFrame:
    """One row for each label, kind of lie by that label, and measure.

    of: whose suspicion or votes, the statement's speaker or whoever it accuses. measure: shift (of running suspicion,
    between -1 and 1), vote (the share of the next votes that go to that player) or vote_change (from the ballot before
    to the one after). by: all, or speaker or observer, whose model the row is about. after_lies, after_honest: means;
    difference: the first minus the second; matched: the same among statements alike in both models, both roles (the
    speaker's not for label_role, which follows from it), phase, day (from 4 on together), third of the day's
    statements, and fifth of suspicion before; null where none are. Intervals: Student's, with errors clustered by game,
    forks with the game that they go on from; null where lies or honest statements are from fewer than five games.
    Allies of the speaker are left out. lies, honest: rows of each; games: the fewer of those with lies and those with
    honest statements. Types of lies are apart only by all.
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
    """The figures of a row of the table; none if there are no lies or nothing else."""
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


def plot_suspicion_shifts(table: pl.DataFrame) -> Figure:
    """A panel a cell and label, a row a kind, a dot for each role of the observers."""
    table = table.filter(pl.col("label") == _shown(table))
    series = [f"{role} observes" for role in table["observer_role"]]
    panels = [f"{_words(label)}, {cell}" for label, cell in zip(table["label"], cell_names(table), strict=True)]
    axis = "shift of the suspicion of the speaker"
    return dots(table, "mean", axis, [_words(kind) for kind in table["kind"]], panels, series, reference=0)


def plot_suspicion(table: pl.DataFrame) -> Figure:
    """See `_plot`."""
    return _plot(table, "shift of suspicion after lies, less after honest words")


def plot_votes(table: pl.DataFrame) -> Figure:
    """See `_plot`; the next vote."""
    return _plot(table.filter(measure="vote"), "share of votes after lies, less after honest words")


def _plot(table: pl.DataFrame, axis: str) -> Figure:
    """A row for each label and kind of lie, all models together; then one for each model, as speaker and as observer,
    by the first of the labels that there is. A panel for the speaker and one for whom it accuses; all statements, and
    alike ones.
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
    return dots(pl.concat([shown, matched]), "difference", axis, rows * 2, panels * 2, series, colours, reference=0)


def _shown(table: pl.DataFrame) -> str:
    """The label that a figure shows where it has room for one."""
    return next(label for label in _FIRST if label in set(table["label"]))


def _words(name: str) -> str:
    return name.replace("_", " ")


_NOTE = (
    "An association, not an effect: who lies, when and about what differs from who does not, even among statements "
    "alike (matched). Only forks of games tell what a statement changes."
)
ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "suspicion_shifts",
        "Which statements move whom",
        suspicion_shifts,
        plot_suspicion_shifts,
        needs=(SAID, SUSPICION),
        otherwise="no rated statement has a label",
        interval=Interval.MEANS,
        note="Below zero, the speaker was suspected less afterwards. Labels answer different questions and are never "
        "merged; the players' ratings and each judge's are apart.",
        main=True,
        corrections=(Zero("mean"),),
    ),
    Analysis(
        "lies_and_suspicion",
        "Lies and suspicion",
        lies_and_suspicion,
        plot_suspicion,
        needs=(SAID, SUSPICION),
        otherwise="no label has both lies and honest statements among those rated",
        interval=Interval.CLUSTERED,
        note=_NOTE,
        main=True,
        corrections=(
            Zero(),
            Zero("matched", own_bounds=True),
        ),
    ),
    Analysis(
        "lies_and_votes",
        "Lies and votes",
        lies_and_votes,
        plot_votes,
        needs=(SAID, VOTES),
        otherwise="no label has both lies and honest statements before a vote",
        interval=Interval.CLUSTERED,
        note=_NOTE,
        main=True,
        corrections=(
            Zero(),
            Zero("matched", own_bounds=True),
        ),
    ),
)
