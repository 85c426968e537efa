"""Results of a fit besides its scores: the effects of names, last speakers and seats, and how often each role slips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.special import expit

from liescope.benchmark.analyses.analysis_figures import Dots, stated_conditions
from liescope.benchmark.capability.counts import DECEIVER, DISCLOSER, PLAYERS, VOTER, schema
from liescope.benchmark.capability.model import SHIFTS
from liescope.benchmark.capability.results import TAILS, chances_of_first, in_the_running, labelled, settled
from liescope.common.figures import svg
from liescope.common.report.contents import Column, Report, Section, Table, with_interval

if TYPE_CHECKING:
    from liescope.benchmark.capability.posterior import Posterior

EFFECTS = schema("text term level", "number effect effect_lo effect_hi points points_lo points_hi", "count games")
SLIPS = schema("text role model", "number slip slip_lo slip_hi drawn drawn_lo drawn_hi", "count votes")
NOBODY = "nobody"
_WITH = {
    "name": f"with a {DECEIVER} called {{}}",
    "last": "where the last to speak is the {}",
    "seat": f"with the {DECEIVER} in seat {{}}",
}


def effects(posterior: Posterior) -> pl.DataFrame:
    """How much each name of the deceiver, last speaker or seat adds to the fitted logit, a frame of EFFECTS; the
    effects of a term add up to 0 in every draw. No rows for a term with one level in all games.

    effect: logits, the mean and the central 95% interval; points: the same in percentage points of an otherwise even
    chance.
    """
    flat, rows = posterior.flat(), []
    for term in posterior.variant.shifts:
        levels = posterior.names[term]
        if len(levels) < 2:
            continue
        games = dict(posterior.rows.group_by(term).agg(pl.col("games").sum()).iter_rows())
        for place, level in enumerate(levels):
            drawn = flat[term][:, place]
            numbers = [float(one) for part in (drawn, 100 * (expit(drawn) - 0.5)) for one in _summary(part)]
            rows.append((term, level or NOBODY, *numbers, games[level]))
    return pl.DataFrame(rows, EFFECTS, orient="row")


def slip_rates(posterior: Posterior) -> pl.DataFrame:
    """How often each model votes for the voter as deceiver or discloser (slip, of its readable votes), and how often
    the rules drew its vote (drawn), with central 95% intervals: a frame of SLIPS, empty for a model without slips.
    """
    if posterior.slips is None:
        return pl.DataFrame(schema=SLIPS)
    rows = []
    for (role, model), drawn in posterior.slips.drawn.items():
        slip = posterior.slips.slip.get((role, model))
        mine = posterior.rows.filter(pl.col(role) == model)
        votes = int(mine[f"{role}_votes"].sum()) + int(mine[f"{role}_drawn"].sum())
        rows.append((role, model, *((None,) * 3 if slip is None else _summary(slip)), *_summary(drawn), votes))
    return pl.DataFrame(rows, SLIPS, orient="row")


def _summary(draws: Any) -> tuple[float, float, float]:
    lo, hi = np.quantile(draws, TAILS)
    return float(draws.mean()), float(lo), float(hi)


def to_json(posterior: Posterior) -> dict[str, list[dict[str, Any]]]:
    """Both as rows under "effects" and "slips", if the fitted model has such terms."""
    found = {"effects": effects(posterior), "slips": slip_rates(posterior)}
    return {name: table.to_dicts() for name, table in found.items() if table.height}


def part(posteriors: Mapping[str, Posterior]) -> Report:
    """Both as sections and the tables effects and slips. posteriors: by condition, "" for the only one."""
    several = len(posteriors) > 1
    shifts = labelled({name: effects(one) for name, one in posteriors.items()}, several)
    votes = labelled({name: slip_rates(one) for name, one in posteriors.items()}, several)
    sentences = [f"{name}: {text}" if several else text for name, one in posteriors.items() for text in _sentences(one)]
    sections = [*([_effects(shifts, sentences)] if sentences else []), *([_slips(votes)] if votes.height else [])]
    tables = {"effects": shifts, "slips": votes}
    return Report(sections=tuple(sections), tables={name: table for name, table in tables.items() if table.height})


def _sentences(posterior: Posterior) -> list[str]:
    """A sentence for each term: under which level the mafia wins most, if that is settled."""
    said = []
    for term in posterior.variant.shifts:
        levels = [level or NOBODY for level in posterior.names[term]]
        if len(levels) < 2:
            said.append(f"All games have one level of {SHIFTS[term]}, {levels[0]}, so its effect cannot be told.")
            continue
        draws = posterior.flat()[term]
        chances = chances_of_first(draws)
        if (best := settled(chances)) is None:
            said.append(
                f"Of {SHIFTS[term]}, these games do not settle where the mafia wins most: in the running, by the "
                f"chance to be highest, are {in_the_running(levels, chances)}."
            )
        else:
            effect = with_interval(*_summary(draws[:, best]))
            said.append(f"The mafia wins most {_WITH[term].format(levels[best])}: {effect} in logits.")
    return said


_EFFECTS = (
    Column("condition"),
    Column("term"),
    Column("level"),
    Column("effect", interval=True),
    Column("points", format="z.1f", interval=True),
    Column("games"),
)
_SLIPS = (
    Column("condition"),
    Column("role"),
    Column("model"),
    Column("slip", format="z.3f", interval=True),
    Column("drawn", format="z.3f", interval=True),
    Column("votes"),
)


def _effects(table: pl.DataFrame, sentences: Sequence[str]) -> Section:
    title = "Names, last speakers and seats"
    if table.is_empty():
        return Section("effects", title, tuple(sentences))
    figure = Dots(
        "effect on the logit, with its 95% interval", "level", "term", stated_conditions, reference=0, value="effect"
    )
    return Section(
        "effects",
        title,
        tuple(sentences),
        "effect: what it adds to the logit of the mafia's win, with 95% intervals; those of one term add up to 0. "
        "points: the same in percentage points, where the chance is even without it.",
        svg(figure(table), "effects"),
        "Effects on the logit of the mafia's win with 95% intervals, a panel for each term.",
        Table.of(table, _EFFECTS),
        source="Eq. 8 of the Mini-Mafia paper" if "name" in set(table["term"]) else "",
        file="effects.csv",
    )


def _slips(table: pl.DataFrame) -> Section:
    facets = {"slip": f"votes for the {VOTER}, of those that could be read", "drawn": "votes that the rules drew"}
    rates = pl.concat(
        table.filter(role=role)
        .drop_nulls(name)
        .with_columns(rate=name, lo=f"{name}_lo", hi=f"{name}_hi", panel=pl.lit(f"{role}: {words}"))
        for role in PLAYERS
        for name, words in facets.items()
    )
    figure = Dots("share of votes, with its 95% interval", "model", "panel", stated_conditions, limits=(0, 1))
    return Section(
        "slips",
        "Slips and drawn votes",
        (
            f"slip: how often the {DECEIVER} or the {DISCLOSER} votes for the {VOTER}, of its votes that could be "
            "read; the published model takes that for never. drawn: how often the rules drew the vote, because the "
            "reply could not be read.",
        ),
        "Means under a uniform prior (Laplace's rule) with central 95% intervals.",
        svg(figure(rates), "slips"),
        "Rates of slips and of drawn votes with 95% intervals by model, a panel for each role.",
        Table.of(table, _SLIPS),
        source="Eq. 10 and section 6.2 of the Mini-Mafia paper",
        file="slips.csv",
    )
