"""Results of a fit besides its scores: the effects of names, last speakers and seats, and how often each role slips."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from scipy.special import expit

from liescope.benchmark.analyses.analysis_figures import Dots, stated_conditions
from liescope.benchmark.analyses.intervals import LEAST, SMALLER
from liescope.benchmark.capability.counts import schema
from liescope.benchmark.capability.forms import DECEIVER, DISCLOSER, VOTER
from liescope.benchmark.capability.model import SLIPS
from liescope.benchmark.capability.posterior import Posterior, slip_rates
from liescope.benchmark.capability.results import labelled, summary
from liescope.common.figures import svg
from liescope.common.report.contents import Column, Report, ReportTable, Section
from liescope.common.statistics import holm

EFFECTS = schema("text term level", "number effect effect_lo effect_hi points points_lo points_hi p", "count games")
NOBODY = "nobody"


def effects(posterior: Posterior) -> pl.DataFrame:
    """How much each name of the deceiver, last speaker or seat adds to the fitted logit, a frame of EFFECTS; the
    effects of a term add up to 0 in every draw. A term with one level in all games has an effect of 0.

    effect: logits, the mean and the central 95% interval; points: the same in percentage points of an otherwise even
    chance; p: twice the share of draws on the rarer side of 0, of which at least one counts.
    """
    rows = []
    for term in posterior.variant.shifts:
        games = dict(posterior.rows.group_by(term).agg(pl.col("games").sum()).iter_rows())
        for level, drawn in zip(posterior.names[term], posterior.flat()[term].T, strict=True):
            rarer = min((drawn >= 0).sum(), (drawn <= 0).sum())
            p = min(1.0, 2 * (1 + rarer) / (1 + drawn.size)) if drawn.any() else None
            numbers = *summary(drawn), *summary(100 * (expit(drawn) - 0.5)), p
            rows.append((term, level or NOBODY, *numbers, games[level]))
    return pl.DataFrame(rows, EFFECTS, orient="row")


def tables(posteriors: Mapping[str, Posterior]) -> dict[str, pl.DataFrame]:
    """What fits with such terms tell beside their scores, those that they have: effects, with their p corrected for all
    rows (p_holm), and slips (`slip_rates`). posteriors: by condition, "" for the only one; all have the same terms.
    """
    variant, several, found = next(iter(posteriors.values())).variant, len(posteriors) > 1, {}
    if variant.shifts:
        table = labelled({name: effects(one) for name, one in posteriors.items()}, several)
        corrected = pl.Series("p_holm", holm(table["p"].to_list()), pl.Float64)
        found["effects"] = table.insert_column(table.columns.index("games"), corrected).with_columns(
            pl.col("p", "p_holm").clip(LEAST)
        )
    if SLIPS in variant.terms:
        found["slips"] = labelled({name: slip_rates(one.rows) for name, one in posteriors.items()}, several)
    return found


_EFFECTS = (
    *map(Column, ("condition", "term", "level")),
    Column("effect", interval=True),
    Column("points", format="z.1f", interval=True),
    *map(Column, ("p_holm", "games")),
)
_SLIPS = (
    *map(Column, ("condition", "role", "model")),
    *(Column(rate, format="z.3f", interval=True) for rate in ("slip", "drawn")),
    Column("votes"),
)


def part(posteriors: Mapping[str, Posterior]) -> Report:
    """Both as sections and the tables effects and slips. posteriors: by condition, "" for the only one."""
    found, sections = tables(posteriors), []
    if "effects" in found:
        shifts = found["effects"]
        what = "effect on the logit, with its 95% interval"
        figure = Dots(what, "level", "term", stated_conditions, reference=0, value="effect")
        sections.append(
            Section(
                "effects",
                "Names, last speakers and seats",
                caption="effect: what it adds to the logit of the mafia's win, with 95% intervals; those of one term "
                "add up to 0. points: the same in percentage points, where the chance is even without it. p holm: "
                f"twice the share of draws on the rarer side of 0, corrected for the number of rows (Holm). {SMALLER}",
                figure=svg(figure(shifts), "effects"),
                figure_alt="Effects on the logit of the mafia's win with 95% intervals, a panel for each term.",
                table=ReportTable.of(shifts, _EFFECTS),
                source="Eq. 8 of the Mini-Mafia paper" if "name" in set(shifts["term"]) else "",
                file="effects.csv",
                printed=True,
            )
        )
    if "slips" in found:
        sections.append(
            Section(
                "slips",
                "Slips and drawn votes",
                caption=f"slip: how often the {DECEIVER} or the {DISCLOSER} votes for the {VOTER}, of its votes that "
                "could be read; the published model takes that for never. drawn: how often the rules drew the vote, "
                "because the reply could not be read. Means under a uniform prior (Laplace's rule) with central 95% "
                "intervals.",
                table=ReportTable.of(found["slips"], _SLIPS),
                source="Eq. 10 and section 6.2 of the Mini-Mafia paper",
                file="slips.csv",
                printed=True,
            )
        )
    return Report(sections=tuple(sections), tables=found)
