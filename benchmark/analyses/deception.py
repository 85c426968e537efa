"""How often a role deceives, with which kinds of deception, and what reaction each kind draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, RATER
from liescope.benchmark.analyses.figures import canvas, cell_names, groups_of, rows_of, stacked_bars, tidy
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import RATINGS, REPORTED_TYPES, REPORTS_OR_RATINGS
from liescope.benchmark.analyses.palette import COLOURS, CYCLE
from liescope.labeling.taxonomy import DeceptionType

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TYPES = tuple(kind.value for kind in DeceptionType)
_PLACE = {name: place for place, name in enumerate(TYPES)}
_SHADES = dict(zip(TYPES, ("#dddddd", *CYCLE), strict=False))


def deception_rates(frames: Frames) -> pl.DataFrame:
    """Deceptive statements per statement made, by role: as the speaker reports and as the peers see it (Figure 14).

    by "self": the speaker reports the statement as deceptive; by "peers": more than half of the usable ratings flag it.
    Columns: game, condition, model (the speaker's), learning, rater, speaker_role, by, mean, lo, hi (bootstrap over
    games), n (statements), games.
    """
    parts = [
        frames.statements.with_columns(by=pl.lit(by), deceptive=deceptive)
        for by, deceptive in (("self", pl.col("label_self")), ("peers", pl.col("peer_rate") > 0.5))
    ]
    return game_means(pl.concat(parts), [*CELL, RATER, "speaker_role", "by"], "deceptive")


def type_composition(frames: Frames) -> pl.DataFrame:
    """Which kinds of deception a role uses (section 5.5): of its statements by its own report, of the peers' flags.

    by "self": shares of all statements whose type the speaker reported, `none` among them; by "peers": shares of all
    flags with a type. Columns: game, condition, model (the speaker's), learning, rater, speaker_role, by, type,
    mean (the share), lo, hi (bootstrap over games), n (statements or flags), games.
    """
    columns = ["game_id", *CELL, RATER, "speaker_role", "by", "kind"]
    own = frames.statements.with_columns(by=pl.lit("self"), kind="self_type")
    seen = frames.ratings.filter("flag").with_columns(by=pl.lit("peers"), kind="type")
    rows = pl.concat([own.select(columns), seen.select(columns)]).drop_nulls("kind")
    every = pl.DataFrame({"type": TYPES}, {"type": pl.String})
    rows = rows.join(every, how="cross").with_columns(hit=pl.col("kind") == pl.col("type"))
    table = game_means(rows, [*CELL, RATER, "speaker_role", "by", "type"], "hit")
    place = pl.col("type").replace_strict(_PLACE, return_dtype=pl.Int64)
    return table.sort(*CELL, RATER, "speaker_role", "by", place)


def type_yield(frames: Frames) -> pl.DataFrame:
    """What a role's statements draw, by the type that the speaker reports (Appendix F.2, there for the jester).

    metric "suspicion": mean suspicion of the ratings; "flagged": share of the ratings that flag the statement. Columns:
    game, condition, model (the speaker's), learning, rater, speaker_role, type, metric, mean, lo, hi (bootstrap over
    games), n (ratings), games.
    """
    rated = frames.ratings.with_columns(type="self_type").drop_nulls("type")
    parts = [
        rated.with_columns(metric=pl.lit(metric), value=pl.col(column).cast(pl.Float64))
        for metric, column in (("suspicion", "suspicion"), ("flagged", "flag"))
    ]
    table = game_means(pl.concat(parts), [*CELL, RATER, "speaker_role", "type", "metric"], "value")
    place = pl.col("type").replace_strict(_PLACE, return_dtype=pl.Int64)
    return table.sort(*CELL, RATER, "speaker_role", place, "metric")


def plot_deception_rates(table: pl.DataFrame) -> Figure:
    """A dumbbell for each role of each cell: own reports at one end, peers' ratings at the other."""
    rows = table.pivot(on="by", index=[*CELL, RATER, "speaker_role"], values="mean")
    figure, (panel,) = canvas(1, 1.2 + 0.22 * rows.height)
    names = [f"{name}: {role}" for name, role in zip(cell_names(rows), rows["speaker_role"], strict=True)]
    ends = {"self": COLOURS["blue"], "peers": COLOURS["orange"]}
    known = [by for by in ends if by in rows.columns]
    if len(known) == len(ends):
        both = rows.with_row_index("at").drop_nulls(known)
        panel.hlines(both["at"], both["self"], both["peers"], color=COLOURS["grey"], linewidth=2)
    for by in known:
        panel.plot(rows[by], range(rows.height), "o", color=ends[by], label=f"by {by}")
    panel.set_yticks(range(rows.height), names, fontsize=7)
    panel.invert_yaxis()
    panel.set_xlim(-0.02, 1.02)
    panel.set_xlabel("deceptive statements per statement")
    tidy(panel, legend=True)
    return figure


def plot_type_composition(table: pl.DataFrame) -> Figure:
    """Stacked bars of the types that speakers report."""
    own = table.filter(pl.col("by") == "self")
    keys, rows = groups_of(own, ["speaker_role"])
    figure, (panel,) = canvas(1, 1.4 + 0.24 * max(rows.height, 1))
    names = [f"{name}: {role}" for name, role in zip(cell_names(rows), rows["speaker_role"], strict=True)]
    wide = rows.join(own.pivot(on="type", index=keys, values="mean"), on=keys, nulls_equal=True)
    parts = {name: wide[name].fill_null(0.0).to_list() for name in TYPES if name in wide.columns}
    stacked_bars(panel, names, parts, _SHADES)
    return figure


def plot_type_yield(table: pl.DataFrame) -> Figure:
    """Mean suspicion by type, one panel for each role."""
    suspicion = table.filter(pl.col("metric") == "suspicion")
    roles = suspicion["speaker_role"].unique(maintain_order=True).to_list()
    _, cells = groups_of(suspicion)
    figure, panels = canvas(max(len(roles), 1), 2.8)
    for role, panel in zip(roles, panels, strict=False):
        part = suspicion.filter(pl.col("speaker_role") == role)
        for at, (cell, named) in enumerate(zip(cells.iter_rows(named=True), cell_names(cells), strict=True)):
            rows = rows_of(part, cell)
            places = [_PLACE[name] for name in rows["type"]]
            panel.plot(rows["mean"], places, "o", color=CYCLE[at % len(CYCLE)], label=named, markersize=5)
        panel.set_yticks(range(len(TYPES)), TYPES, fontsize=7)
        panel.set_xlim(-0.02, 1.02)
        panel.set_title(role, fontsize=9)
        tidy(panel)
    if roles:
        panels[0].legend(frameon=False, fontsize=7)
    return figure


ANALYSES = (
    Analysis(
        "deception_rates",
        "Deceptive statements",
        deception_rates,
        plot_deception_rates,
        needs=(REPORTS_OR_RATINGS,),
        interval=Interval.BOOTSTRAP,
        source="Figure 14, left",
        note="The share of a role's statements that is deceptive, by its speakers' reports and by most peers' ratings.",
        main=True,
    ),
    Analysis(
        "type_composition",
        "Kinds of deception",
        type_composition,
        plot_type_composition,
        needs=(REPORTS_OR_RATINGS,),
        otherwise="no report and no flag names a kind of deception",
        interval=Interval.BOOTSTRAP,
        source="section 5.5",
        note="Shares add up to one for each role: of its statements by its own report, of the flags that its peers "
        "raised.",
    ),
    Analysis(
        "type_yield",
        "Reactions to each kind of deception",
        type_yield,
        plot_type_yield,
        needs=(REPORTED_TYPES, RATINGS),
        interval=Interval.BOOTSTRAP,
        source="Appendix F.2",
        note="Suspicion and flags drawn by a role's statements, by the type that the speaker reported.",
    ),
)
