"""The background method in a report: its scores, and whether they agree with the capability model (Figures 7 to 9 of
the paper) and between conditions (Figure 10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from liescope.benchmark.analyses.analysis_figures import DRAWN, Dots, stated_conditions
from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import schema, stated
from liescope.benchmark.capability.results import labelled
from liescope.benchmark.capability.results import scores as capability_scores
from liescope.benchmark.capability.z_scores import DESIGN, DRAWS, SEED, score, win_rates
from liescope.common.figures import style, svg
from liescope.common.report.contents import Column, Report, Section, Table, with_interval
from liescope.common.statistics import fisher

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from liescope.benchmark.capability.posterior import Posterior

FEWEST = 3  # the fewest models whose scores can be correlated
CORRELATIONS = schema(
    "text capability one other", "count models", "text measure", "number r lo hi simulated simulated_sd"
)


def correlations(
    one: tuple[Array, Array], other: tuple[Array, Array], shape: Callable[[Array], Array]
) -> list[tuple[int | str | float | None, ...]]:
    """Pearson's and Spearman's correlation of two sets of scores: (models, measure, r, lo, hi, simulated,
    simulated_sd), empty for fewer than three models or scores without differences.

    one, other: (score, its standard deviation), each of shape (models,). shape: a transformation of scores before
    correlating, such as np.exp.

    lo to hi: 95% interval by Fisher's transformation, as if these models were drawn from many. simulated and
    simulated_sd: mean and standard deviation over scores drawn around the given ones, each independently and normal, as
    the paper reports them; chance in the draws adds to that in the scores, so the mean lies nearer to 0 than r.
    """
    if len(one[0]) < FEWEST or not all(np.ptp(score) for score, _ in (one, other)):
        return []
    from scipy.stats import rankdata

    random = np.random.default_rng(SEED)
    drawn, drawn_other = (shape(random.normal(score, sd, size=(DRAWS, len(score)))) for score, sd in (one, other))
    point, point_other = (shape(score[None]) for score, _ in (one, other))
    found: list[tuple[int | str | float | None, ...]] = []
    for measure in ("Pearson", "Spearman"):
        if measure == "Spearman":
            drawn, drawn_other, point, point_other = (
                rankdata(part, axis=1) for part in (drawn, drawn_other, point, point_other)
            )
        r = fisher(float(_pearson(point, point_other)[0]), len(one[0]))
        simulated = _pearson(drawn, drawn_other)
        found.append((len(one[0]), measure, *r, float(simulated.mean()), float(simulated.std(ddof=1))))
    return found


def _pearson(one: Array, other: Array) -> Array:
    """The correlation of each row with the other's."""
    one, other = (part - part.mean(axis=1, keepdims=True) for part in (one, other))
    spread = np.sqrt(np.square(one).sum(axis=1) * np.square(other).sum(axis=1))
    return np.asarray(np.clip((one * other).sum(axis=1) / spread, -1, 1))


PARAMETER = {"deceive": "m", "detect": "v", "disclose": "d"}
OFFSET = ("detect", "b")  # the voter's offset, in models that have one; a high one favours the mafia
FITTED, AGAINST = "capability model (m, v or d)", "against backgrounds (z)"


def with_capability_model(background: pl.DataFrame, capability: pl.DataFrame) -> pl.DataFrame:
    """The correlation of z-scores with m, v and d of a fit of the same games, over the models with both: a frame
    of CORRELATIONS (`liescope.benchmark.capability.background_report.correlations`), where `one` is m, v, d
    or b and `other` is z.

    background: scores (`liescope.benchmark.capability.z_scores.score`); capability: a frame with the columns model,
    m, m_sd and the same of d, v and, where the fitted model has it, b (`liescope.benchmark.capability.results.scores`).
    """
    rows = []
    for name, parameter in (*PARAMETER.items(), *([OFFSET] if OFFSET[1] in capability.columns else ())):
        both = background.filter(capability=name).join(capability.drop_nulls(parameter), on="model")
        fitted, z = ((both[column].to_numpy(), both[f"{column}_sd"].to_numpy()) for column in (parameter, "z"))
        found = correlations(fitted, z, np.asarray)
        rows += [(name, parameter, "z", *numbers) for numbers in found]
    return pl.DataFrame(rows, CORRELATIONS, orient="row")


def beside(background: pl.DataFrame, capability: pl.DataFrame) -> pl.DataFrame:
    """Both methods in one unit, over the models that have both: capability, model, method, value, lo, hi, each in
    standard deviations from the mean of that method over the models; best z first.

    background, capability: as for `with_capability_model`, the latter with the columns m_lo, m_hi and the same of d and
    v.
    """
    parts = [
        background.filter(capability=name)
        .join(capability.drop_nulls(parameter), on="model", maintain_order="left")
        .select("capability", "model", method=pl.lit(method), **_in_its_unit(column))
        for name, parameter in PARAMETER.items()
        for method, column in ((FITTED, parameter), (AGAINST, "z"))
    ]
    return pl.concat(parts)


def _in_its_unit(column: str) -> dict[str, pl.Expr]:
    """value, lo and hi of a score."""
    mean, unit = pl.col(column).mean(), pl.col(column).std()
    return {
        name: (pl.col(source) - mean) / unit
        for name, source in (("value", column), ("lo", f"{column}_lo"), ("hi", f"{column}_hi"))
    }


def between_conditions(scores: pl.DataFrame) -> pl.DataFrame:
    """The correlation of exponential scores between every two conditions, over the models that both have: a frame of
    CORRELATIONS, where `one` and `other` are conditions of different games.

    scores: those of `liescope.benchmark.capability.z_scores.score`, with the column condition.
    """
    rows = []
    for capability in DESIGN:
        part = scores.filter(capability=capability)
        for one, other in combinations(part["condition"].unique(maintain_order=True), 2):
            both = part.filter(condition=one).join(part.filter(condition=other), on="model", suffix="_other")
            first, second = ((both[f"z{end}"].to_numpy(), both[f"z_sd{end}"].to_numpy()) for end in ("", "_other"))
            found = correlations(first, second, np.exp)
            rows += [(capability, one, other, *numbers) for numbers in found]
    return pl.DataFrame(rows, CORRELATIONS, orient="row")


_ROWS = 150  # of one figure


def _dots(table: pl.DataFrame, value: str, axis: str, panels: Sequence[str], **more: Any) -> Dots:
    """A figure with a row for each model and a dot for each condition."""
    colours: Literal["model"] | None = None if "condition" in table.columns else "model"
    return Dots(axis, "model", panels, stated_conditions, colours, value=value, **more)


AGREEMENT = "Scores against backgrounds beside the capability model"
CONDITIONS = "Scores against backgrounds, one condition against another"
_PAPER = "of the Mini-Mafia paper"
_RATES = {"deceive": "Figure 11", "detect": "Figure 12", "disclose": "Figure 13"}
_MEANING = (
    "A background is one model in the two other roles. In each, the win rate of a model's side is compared with those "
    "of the other models, in units of their standard deviation; z is the mean over backgrounds. No model of how the "
    "roles work together is assumed. Only models that met every background are compared, and z compares only with them."
)
_UNCERTAINTY = (
    "± is the uncertainty of the model's own games, with mean and standard deviation over models taken as known, as "
    "published. The intervals take neither as known. Chance makes models differ more than they do, which draws z "
    "towards 0; the intervals allow for that and reach further outwards."
)
_CORRELATED = (
    "lo to hi: 95%, Fisher's, as if these models were drawn from many; with few models it is wide. simulated and its "
    "sd: mean and standard deviation over scores drawn anew within their uncertainty, as the paper reports them, which "
    "lie nearer to 0 than r."
)
_SAME_GAMES = "Both methods score the same games, so agreement says nothing about what other games would give."


def part_of_conditions(cells: Mapping[str, pl.DataFrame], posteriors: Mapping[str, Posterior]) -> Report:
    """Win rates and scores against backgrounds, their agreement with the capability model, and their agreement between
    conditions.

    cells: the counts of each condition (`liescope.benchmark.capability.counts.Counts`), "" for the only one.
    posteriors: fits of the same counts, where there are any.

    Tables: background (the scores), background_rates, background_agreement, background_conditions, if not empty.
    """
    several = len(cells) > 1
    scored = {name: score(frame) for name, frame in cells.items()}
    fits = {name: (scored[name].scores, capability_scores(posterior)) for name, posterior in posteriors.items()}
    rates = labelled({name: win_rates(frame) for name, frame in cells.items()}, several)
    scores = labelled({name: found.scores for name, found in scored.items()}, several)
    agreement = labelled({name: with_capability_model(*pair) for name, pair in fits.items()}, several)
    between = between_conditions(scores) if several else pl.DataFrame()
    notes = [f"{_of(name)}{note}" for name, found in scored.items() for note in found.notes]
    missing = {
        f"Scores against backgrounds, {_of(name)}to {capability}": why
        for name, found in scored.items()
        for capability, why in found.missing.items()
    }
    sections = []
    if not scores.is_empty():
        sections.append(_scores(scores, notes))
        if not agreement.is_empty():
            both = labelled({name: beside(*pair) for name, pair in fits.items()}, several)
            sections.append(_agreement(agreement, both))
        elif fits:
            missing[AGREEMENT] = f"fewer than {FEWEST} models have scores of both methods"
        if not between.is_empty():
            sections.append(_conditions(scores, between))
        elif several:
            missing[CONDITIONS] = f"no two conditions have scores of the same {FEWEST} models or more"
    tables = {
        "background": scores,
        "background_rates": rates,
        "background_agreement": agreement,
        "background_conditions": between,
    }
    return Report(
        sections=(*sections, *_rates(rates, scores)),
        tables={name: table for name, table in tables.items() if not table.is_empty()},
        missing=missing,
    )


def _svg(name: str, table: pl.DataFrame, figure: Callable[[pl.DataFrame], Figure]) -> str:
    """The figure, "" if there are too many models for one."""
    if table["model"].n_unique() > DRAWN:
        return ""
    with style():
        return svg(figure(table), name)


def _sentences(table: pl.DataFrame) -> tuple[str, ...]:
    """How strongly scores correlate, a sentence for each capability and pair."""
    pairs = table.filter(measure="Pearson").join(
        table.filter(measure="Spearman"),
        on=[name for name in ("condition", "capability", "one", "other") if name in table.columns],
        suffix="_rank",
    )
    return tuple(
        f"To {row['capability']}{_where(row)}, {stated(row['one'])} and {stated(row['other'])} correlate by "
        f"{with_interval(row['r'], row['lo'], row['hi'])}, their ranks by "
        f"{with_interval(row['r_rank'], row['lo_rank'], row['hi_rank'])}, over {row['models']} models."
        for row in pairs.iter_rows(named=True)
    )


def _where(row: Mapping[str, Any], form: str = " ({})") -> str:
    return form.format(stated(row["condition"])) if "condition" in row else ""


def _of(condition: str) -> str:
    """The condition as a prefix; a single one has no name."""
    return f"{condition}: " if condition else ""


_SCORES = (
    Column("condition"),
    Column("capability"),
    Column("model"),
    Column("z", interval=True),
    Column("z_sd", "± of z"),
    Column("score", "score exp(z)", interval=True),
    Column("score_sd", "± of score"),
    Column("backgrounds"),
    Column("games"),
)


def _scores(scores: pl.DataFrame, notes: list[str]) -> Section:
    panels = [f"To {name}" for name in scores["capability"]]
    return Section(
        "background",
        "Scores against backgrounds",
        (_MEANING, _UNCERTAINTY, *notes),
        "z and exp(z) with 95% intervals, highest z first.",
        _svg("background", scores, _dots(scores, "z", "z-score with its 95% interval", panels, reference=0)),
        "z-scores with 95% intervals by model: to deceive, to detect, to disclose.",
        Table.of(scores, _SCORES),
        folded=True,
        source=f"Eq. 10 to 14 {_PAPER}",
        file="background.csv",
    )


def _agreement(agreement: pl.DataFrame, both: pl.DataFrame) -> Section:
    panels = [
        f"To {row['capability']}: {PARAMETER[row['capability']]} and z{_where(row, ', {}')}" for row in both.to_dicts()
    ]
    axis = "standard deviations from the mean over models, with 95% intervals"
    return Section(
        "background-agreement",
        AGREEMENT,
        (*_sentences(agreement), _SAME_GAMES),
        _CORRELATED,
        _svg("background-agreement", both, Dots(axis, "model", panels, "method", reference=0, value="value")),
        "Scores of both methods by model, in standard deviations from their mean.",
        agreement,
        folded=True,
        source=f"Figures 7 to 9 {_PAPER}",
        file="background_agreement.csv",
    )


def _conditions(scores: pl.DataFrame, between: pl.DataFrame) -> Section:
    score, sd = pl.col("score"), pl.col("score_sd")
    shown = scores.with_columns(score_lo=score - sd, score_hi=score + sd)
    panels = [f"To {name}" for name in scores["capability"]]
    axis = "exp(z), with a standard deviation to either side"
    return Section(
        "background-conditions",
        CONDITIONS,
        _sentences(between),
        _CORRELATED,
        _svg("background-conditions", shown, _dots(shown, "score", axis, panels, reference=1)),
        "Exponential scores by model and condition.",
        between,
        folded=True,
        source=f"Figure 10 and Appendix C {_PAPER}",
        file="background_conditions.csv",
    )


def _rates(rates: pl.DataFrame, scores: pl.DataFrame) -> list[Section]:
    """Win rates of each capability; models in the order of their scores, those without one at the end."""
    sections = []
    for capability, source in _RATES.items():
        found = rates.filter(capability=capability)
        if found.is_empty():
            continue
        ranked = scores.filter(capability=capability)["model"] if not scores.is_empty() else pl.Series(dtype=pl.String)
        models = pl.concat([ranked, found["model"].sort()]).unique(maintain_order=True)
        shown = found["background"].unique().sort().head(max(1, _ROWS // len(models)))
        rows = found.join(models.to_frame("model").with_row_index("place"), on="model")
        rows = rows.filter(pl.col("background").is_in(shown.implode()))
        rows = rows.sort("background", "place", maintain_order=True)
        panels = [f"against {name}" for name in rows["background"]]
        name = f"background-rates-{capability}"
        sections.append(
            Section(
                name,
                f"Win rates in each background: to {capability}",
                (),
                "Laplace's rule: mean (rate) and standard deviation (sd) of a win rate under a uniform prior, with its "
                "central 95% (lo to hi).",
                _svg(name, rows, _dots(rows, "rate", "win rate with its 95% interval", panels, limits=(0, 1))),
                "Win rates with 95% intervals by model, a panel for each background.",
                found.drop("capability"),
                folded=True,
                source=f"{source} {_PAPER}",
                file="background_rates.csv",
            )
        )
    return sections
