"""The ratings of a set of games as a part of a report."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from liescope.benchmark.background.scores import score
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.benchmark.counting.counts import PLAYERS
from liescope.benchmark.ratings import sections
from liescope.benchmark.ratings.bradley_terry import Ratings, rate
from liescope.benchmark.ratings.nash import Nash, average, by_fit, by_ratings
from liescope.benchmark.ratings.scores import DRAWS, Scores, conflicts, pairs, ranked, ranks, taus
from liescope.benchmark.ratings.sections import elo_table, nash_table, stacked
from liescope.common.report.contents import Report

TABLES = ("ratings", "nash", "ahead", "ranks", "rank_by_method", "tau", "conflicts")
FIT, TERRY, NASH, BACKGROUND = "capability model", "Bradley-Terry", "Nash averaging", "background z"
_PARAMETER = dict(zip(PLAYERS, PARAMETERS, strict=True))
_CAPABILITY = dict(zip(PLAYERS, ("deceive", "disclose", "detect"), strict=True))  # of the background method


def part(cells: pl.DataFrame, posterior: Posterior | None = None) -> Report:
    """Bradley-Terry ratings, Nash averaging, who is ahead of whom, and where methods disagree, of one set of games.

    cells: counts as in `liescope.benchmark.counting.counts.Counts`. posterior: the fit of the same counts; without it
    the part holds what needs none, and says what is missing.
    """
    if reason := _nothing(cells):
        titles = (sections.RATINGS, sections.NASH, sections.AHEAD, sections.METHODS)
        return Report(missing=dict.fromkeys(titles, reason))
    by_role, overall = rate(cells), rate(cells, overall=True)
    nash = average(cells, (posterior and by_fit(posterior)) or by_ratings(by_role))
    elo, shares = pl.concat([elo_table(cells, by_role), elo_table(cells, overall)]), nash_table(nash)
    found = [sections.ratings(elo, by_role, overall), sections.nash(shares, nash)]
    tables, missing = {"ratings": elo, "nash": shares}, {}
    if posterior is None:
        missing[sections.AHEAD] = "there is no fit of the capability model, whose draws tell it"
    else:
        known = (name for name in PARAMETERS if name in posterior.draws and len(posterior.names[name]) > 1)
        drawn = {name: _drawn(posterior, name) for name in known}
        placed = {name: ranks(scores) for name, scores in drawn.items()}
        tables["ahead"] = stacked({name: pairs(scores) for name, scores in drawn.items()}, "score")
        tables["ranks"] = stacked(placed, "score")
        found += [sections.ahead(name, scores, placed[name]) for name, scores in drawn.items()]
    methods = {role: _methods(role, posterior, by_role, nash) for role in PLAYERS if len(by_role.names[role]) > 1}
    background = score(cells)
    for role, scores in methods.items():
        if z := _background_scores(background.scores, _CAPABILITY[role]):
            scores[BACKGROUND] = z
    missing |= {f"{BACKGROUND} among the methods: {name}": reason for name, reason in background.missing.items()}
    tables["rank_by_method"] = stacked({role: ranked(one) for role, one in methods.items()}, "role")
    tables["tau"] = stacked({role: taus(one) for role, one in methods.items()}, "role")
    tables["conflicts"] = stacked({role: conflicts(one) for role, one in methods.items()}, "role")
    if methods:
        found.append(sections.methods(tables["rank_by_method"], tables["tau"]))
        found.append(sections.conflicts(tables["conflicts"], tables["conflicts"].columns[3:]))
    else:
        missing[sections.METHODS] = "no role was held by two models"
    shown = {name: table for name, table in tables.items() if table.height}
    return Report(sections=tuple(found), tables=shown, notes=tuple(_notes(cells, by_role)), missing=missing)


def _nothing(cells: pl.DataFrame) -> str:
    """Why these counts rate nobody, "" if they do."""
    models = set().union(*(cells[role] for role in PLAYERS))
    if len(models) < 2:
        return f"ratings compare models, and these games have {'one' if models else 'none'}"
    if cells["mafia_wins"].sum() in (0, cells["games"].sum()):
        return "one side won every game, which says nothing about how models differ"
    return ""


def _methods(role: str, posterior: Posterior | None, by_role: Ratings, nash: Nash) -> dict[str, Scores]:
    known = posterior is not None and _PARAMETER[role] in posterior.draws
    fit = {FIT: _drawn(posterior, _PARAMETER[role])} if posterior and known else {}
    return {**fit, TERRY: by_role.scores(role), NASH: nash.ratings[role]}


def _drawn(posterior: Posterior, name: str) -> Scores:
    names = posterior.names[name]
    return Scores(names, posterior.draws[name].reshape(-1, len(names)))


def _background_scores(table: pl.DataFrame, capability: str) -> Scores | None:
    """The z-scores of a capability, with draws from their normal distribution; None below two models."""
    rows = table.filter(pl.col("capability") == capability)
    if rows.height < 2:
        return None
    noise = np.random.default_rng(1).standard_normal((DRAWS, rows.height))
    return Scores(rows["model"].to_list(), rows["z"].to_numpy() + rows["z_sd"].to_numpy() * noise)


def _notes(cells: pl.DataFrame, by_role: Ratings) -> Iterator[str]:
    if by_role.undetermined:
        yield (
            f"{by_role.undetermined} differences between ratings are told by no game, because models never met the "
            "same others: there the ratings are a guess with a wide interval."
        )
    alone = [f"{model} as the {role}" for role in PLAYERS for model in _one_sided(cells, role)]
    if alone:
        yield (
            f"Never won, or never lost: {', '.join(alone)}. Only the prior, Normal(0, 2) in logits, keeps such "
            "ratings finite."
        )


def _one_sided(cells: pl.DataFrame, role: str) -> list[str]:
    sums = cells.group_by(role).agg(pl.col("mafia_wins", "games").sum()).sort(role)
    return sums.filter((pl.col("mafia_wins") == 0) | (pl.col("mafia_wins") == pl.col("games")))[role].to_list()
