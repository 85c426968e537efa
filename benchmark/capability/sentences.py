"""The sentences of a report of a fit: who leads, the notes that must accompany it, how to read it, how well it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.optimize import brentq

from liescope.benchmark.capability.counts import add, stated
from liescope.benchmark.capability.forms import VOTER, form_of
from liescope.benchmark.capability.model import PAPER
from liescope.benchmark.capability.posterior import sample_longer
from liescope.benchmark.capability.priors import moved_sentence
from liescope.benchmark.capability.results import (
    MISFIT,
    MUCH,
    SURE,
    chances_of_first,
    in_the_running,
    percent,
    settled,
    summary,
    uncertainty_left,
)
from liescope.common.report.contents import with_interval
from liescope.games.record import Source

if TYPE_CHECKING:
    from liescope.benchmark.capability.backend import Array
    from liescope.benchmark.capability.posterior import Posterior
    from liescope.benchmark.fitting import ConditionFit


_SOURCES = {
    Source.SCRIPTED: "Rule-based players with planted skills spoke in these games: the scores test the tool "
    "and are not findings about models or people.",
    Source.HUMAN: "People played in these games; whoever they were, they count as one player, people.",
    Source.IMPORTED: "These games were played elsewhere and imported.",
}
NO_SOURCE = "The counts come from a file that does not say who played."


def notes(fits: Sequence[ConditionFit], drawn_votes: str, unfit: Mapping[str, str]) -> list[str]:
    """Sentences that must accompany any figure of these fits. unfit: why a condition has no fit."""
    counts = add([part.counts for part in fits])
    words = [text for source, text in _SOURCES.items() if source in counts.sources] or [NO_SOURCE]
    words += counts.notes
    words += [
        f"NOT FITTED: the games with {stated(name)}, because {reason}. The scores are of the other games only."
        for name, reason in unfit.items()
    ]
    words += [f"Left out: {count} games, because {reason}." for reason, count in sorted(counts.excluded.items())]
    if counts.drawn_games:
        kept, other = ("kept", "leave-out") if drawn_votes == "keep" else ("left out", "keep")
        words.append(
            f"{counts.drawn_games} of {counts.games} games ({counts.drawn_games / counts.games:.0%}) contain a vote "
            f"drawn at random because a reply was unreadable; they are {kept} (--drawn-votes {other} shows what that "
            "does)."
        )
    return words + of_each(fits, _cautions)


def _cautions(part: ConditionFit) -> Iterable[str]:
    """What must be said of one fit."""
    posterior = part.posterior
    yield f"The model is {posterior.variant.name}: {posterior.variant.formula}."
    if posterior.variant == PAPER:
        yield (
            f"The published model has no term for {VOTER}s who lean to one side, and counts that scatter more than it "
            "says make its intervals too narrow: see the goodness of fit."
        )
    if posterior.faults:
        yield (
            f"NOT FULLY CONVERGED: {'; '.join(posterior.faults)}. Do not publish these scores. "
            f"{sample_longer(posterior.settings)}."
        )
    yield left_sentence(posterior)
    yield from posterior.cautions()
    yield moved_sentence(posterior)
    if part.goodness.p < MISFIT:
        yield f"POOR FIT: {part.goodness.sentence()}"


def left_sentence(posterior: Posterior) -> str:
    """What share of the variance between players games leave open; "" if players cannot be compared."""
    left = uncertainty_left(posterior)
    if not left:
        return ""
    shares = ", ".join(f"{name} {share:.0%}" for name, share in left.items())
    much = ", ".join(name for name, share in left.items() if share >= MUCH)
    chance = f" THESE GAMES TELL LITTLE about {much}: the order is in good part chance." if much else ""
    scale = " Scores are drawn together by about as much: players may lie further apart than their scores."
    return (
        f"Of the variance between players, as much is uncertainty that these games leave: {shares}. At 0% they tell "
        f"the players apart exactly, at 100% not at all.{chance}"
        f"{scale if posterior.variant.dispersed else ''}"
    )


def of_each(fits: Sequence[ConditionFit], say: Callable[[ConditionFit], Iterable[str]]) -> list[str]:
    """Sentences on each fit, with its condition if there are several."""
    return [f"{stated(part.condition)}: {one}" if len(fits) > 1 else one for part in fits for one in say(part) if one]


def separated(cells: pl.DataFrame, offset: bool) -> Iterator[str]:
    """A sentence for the models whose side won every game that they played in one role, and one for those that lost
    every game. offset: whether voters have one, which such games leave open; without it nothing is said of voters,
    whose v only scales gaps that other games measure too.
    """
    form = form_of(cells)
    for place, role in enumerate(form.players[: 2 + offset]):
        sums = cells.group_by(role).agg(pl.col(form.won, form.of).sum()).sort(role)
        what = "offset" if place == 2 else "score"
        for outcome, won in (("won", not place), ("lost", place)):
            found = sums.filter(pl.col(form.won) == (pl.col(form.of) if won else 0))
            names = ", ".join(f"{model} ({games})" for model, _, games in found.iter_rows())
            if names:
                yield (
                    f"All {form.of} as the {role} {outcome}, by {names}: what bounds the {what} there is the prior "
                    "alone; games against other players would tell more."
                )


_DOUBT = " (by a model that does not fit these games, whose intervals are too narrow)"
_MOST = 20  # beyond so many times the games, no number is given


def findings(fits: Sequence[ConditionFit]) -> tuple[str, ...]:
    """Who leads in each score, if it is the highest in 95% of the draws; otherwise those still in the running."""
    return tuple(
        f"{'; '.join((f'with {fit.condition}, ' if fit.condition else '') + _lead(name, fit) for fit in fits)}."
        for name in fits[0].counts.form.leads
    )


def _lead(parameter: str, fit: ConditionFit) -> str:
    posterior, form = fit.posterior, fit.counts.form
    role, leads = form.roles[parameter], f"{form.leads[parameter]} {form.as_role(parameter)}"
    these, the = ("these games", "the") if fit.condition else ("These games", "The")
    names = posterior.names[parameter]
    if posterior.faults:
        return f"{the} sampler has not fully converged, so nothing is said of who {leads}"
    if len(names) == 1:
        return f"{names[0]} alone was the {role}, so these games compare nobody there"
    if len(posterior.unidentified().get(parameter, ())) == len(names):
        return f"{these} do not tell who {leads}: no {parameter} is known better than before any game"
    draws = posterior.flat()[parameter]
    chances = chances_of_first(draws)
    if (best := settled(chances)) is None:
        return (
            f"{these} do not settle who {leads}: in the running, by the chance that {parameter} is highest, are "
            f"{in_the_running(names, chances)}; {_games(posterior, draws)}"
        )
    return (
        f"{names[best]} {leads}, {parameter} {with_interval(*summary(draws[:, best]))}: ahead of all others in "
        f"{percent(float(chances[best]))} of the draws; next is {names[int(np.argsort(-chances)[1])]}"
        f"{_DOUBT if fit.goodness.p < MISFIT else ''}"
    )


def _games(posterior: Posterior, draws: Array) -> str:
    """How many more games would settle who is first. draws: the scores', shape (draws, models).

    The scores are taken to be their means. Their deviations fall with the square root of the number of games; where
    counts are dispersed, each further game of a combination counts less.
    """
    played, rho = posterior.cells[posterior.form.of].to_numpy(), float(posterior.rho().mean())
    means = draws.mean(axis=0)

    def chance(times: float) -> float:
        # How many independent games would be as informative, and how many now.
        more, now = ((games / (1 + np.maximum(games - 1, 0) * rho)).sum() for games in (times * played, played))
        return float(chances_of_first(means + (draws - means) / np.sqrt(more / now))[means.argmax()])

    if chance(_MOST) < SURE:
        return f"even {_MOST} times as many {posterior.form.of} like these would not settle it"
    more = (float(brentq(lambda times: chance(times) - SURE, 1, _MOST, xtol=0.01)) - 1) * played.sum()
    shown = max(1, round(more, 2 - len(str(int(more)))))
    return f"about {shown:,.0f} more {posterior.form.of} like these should, if they differ as they seem to"
