"""The sentences of a report of a fit: notes that must accompany it, how to read it, and how well it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.optimize import brentq

from liescope.benchmark.capability.counts import DECEIVER, DISCLOSER, VOTER, add, stated
from liescope.benchmark.capability.model import PAPER
from liescope.benchmark.capability.posterior import sample_longer
from liescope.benchmark.capability.results import (
    MISFIT,
    SURE,
    TAILS,
    chances_of_first,
    in_the_running,
    left_sentence,
    percent,
    settled,
    uncertainty_left,
    warning,
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
HEADS = {"m": "m: deceives", "d": "d: discloses", "v": "v: responds", "b": "b: leans to the mafia"}
TITLE = "Who deceives, who discloses, who responds"
_CORE = (
    "At the core of the model stands v (m - d), on the logistic scale of the mafia's chance to win: m of the "
    f"{DECEIVER}, d of the {DISCLOSER}, v of the {VOTER} who votes. A higher m deceives better, a higher d makes the "
    f"truth believed more often; a higher v follows the better speaker more reliably. A {VOTER} with v near 0 does not "
    "heed who speaks better: {deaf}. One with a negative v follows the worse speaker."
)
_DEAF = {False: "it votes at random", True: "it leans by its b alone, and votes at random only where b is near 0, too"}
_SCALE = (
    "The mean of m is 0 and the mean of v is 1 by convention, so scores compare only within one fit: another set of "
    "models or games has a different zero and unit. Overlapping intervals do not settle an order."
)
_OFFSET = (
    f"b is a {VOTER}'s offset: above 0 it leans to the {DECEIVER} whatever the two say, below 0 to the {DISCLOSER}. "
    "The mean of b is 0."
)
APART = "Every fit has its own zero and unit: a difference shows how a model's place among these models changes."
INCOMPARABLE = f"No two conditions have the same {DECEIVER}s and {VOTER}s, so their scores cannot be compared."
NOTHING_SHARED = "No combination of players was played in two conditions."


def notes(fits: Sequence[ConditionFit], drawn_votes: str, unfit: Mapping[str, str]) -> list[str]:
    """Sentences that must accompany any figure of these fits: whose words, what was left out, which conditions have no
    fit (unfit: the reasons).
    """
    counts = add([part.counts for part in fits])
    words = [text for source, text in _SOURCES.items() if source in counts.sources]
    if not counts.sources:
        words.append(NO_SOURCE)
    words += counts.notes
    words += [
        f"NOT FITTED: the games with {stated(name)}, because {reason}. The scores are of the other games only."
        for name, reason in unfit.items()
    ]
    words += [f"Left out: {count} games, because {reason}." for reason, count in sorted(counts.excluded.items())]
    if counts.drawn_games:
        games = int(counts.cells["games"].sum())
        words.append(
            f"{counts.drawn_games} of {games} games ({counts.drawn_games / games:.0%}) contain a vote drawn at random "
            f"because a reply was unreadable; they are {'kept' if drawn_votes == 'keep' else 'left out'}."
        )
    words += [
        f"{'Without' if drawn_votes == 'keep' else 'With'} these games {_of(part.condition)}there is no fit: "
        f"{part.other_failure}."
        for part in fits
        if part.other_failure
    ]
    for part in fits:
        words.append(
            f"The model {_of(part.condition)}is {part.posterior.variant.name}: {part.posterior.variant.formula}."
        )
        if part.posterior.variant == PAPER:
            words.append(
                f"The published model has no term for {VOTER}s who lean to one side, and counts that scatter more than "
                "it says make its intervals too narrow: see the goodness of fit."
            )
        if part.posterior.faults:
            words.append(
                f"NOT FULLY CONVERGED: {'; '.join(part.posterior.faults)}. Do not publish these scores. "
                f"{sample_longer(part.posterior.settings)}."
            )
        if little := warning(uncertainty_left(part.posterior)):
            words.append(f"{stated(part.condition)}: {little}" if len(fits) > 1 else little)
        words += part.posterior.cautions()
        if part.goodness.p < MISFIT:
            words.append(f"POOR FIT: {part.goodness.sentences()[0]}")
        words += part.goodness.separated
    if len(fits) > 1:
        words.append(
            f"{len(fits)} conditions, each fitted separately: {'; '.join(stated(part.condition) for part in fits)}."
        )
    return words


def reading(scores: pl.DataFrame) -> tuple[str, ...]:
    """How to read a table of scores, in paragraphs."""
    offset = "b" in shown_parameters(scores)
    return _CORE.format(deaf=_DEAF[offset]), _SCALE, *([_OFFSET] if offset else [])


def _of(condition: str) -> str:
    return f"of the condition {condition} " if condition else ""


def told(fits: Sequence[ConditionFit]) -> list[str]:
    """A sentence for each fit on the uncertainty left about its parameters."""
    return _of_each(fits, lambda part: [left_sentence(part.posterior)])


def goodness_sentences(fits: Sequence[ConditionFit]) -> list[str]:
    """Sentences on the goodness of each fit."""
    return _of_each(fits, lambda part: part.goodness.sentences()[:2])


def _of_each(fits: Sequence[ConditionFit], say: Callable[[ConditionFit], Iterable[str]]) -> list[str]:
    """Sentences on each fit, with its condition if there are several."""
    return [f"{stated(part.condition)}: {one}" if len(fits) > 1 else one for part in fits for one in say(part) if one]


def shown_parameters(scores: pl.DataFrame) -> tuple[str, ...]:
    """The parameters that a table of scores has."""
    return tuple(name for name in HEADS if name in scores.columns and scores[name].null_count() < scores.height)


_LEADS = {
    "m": f"deceives best as the {DECEIVER}",
    "d": f"is believed most as the {DISCLOSER}",
    "v": f"follows the better speaker most reliably as the {VOTER}",
}
_ROLES = {"m": f"the {DECEIVER}", "d": f"the {DISCLOSER}", "v": f"the {VOTER}"}
_DOUBT = " (by a model that does not fit these games, whose intervals are too narrow)"
_MOST = 20  # beyond so many times the games, no number is given


def findings(fits: Sequence[ConditionFit]) -> tuple[str, str, str]:
    """The model with the highest m, d and v of each condition if it is the highest in 95% of the posterior draws;
    otherwise those still in the running.
    """
    m, d, v = (_sentence(name, fits) for name in _LEADS)
    return m, d, v


def _sentence(parameter: str, fits: Sequence[ConditionFit]) -> str:
    said = [(f"with {fit.condition}, " if fit.condition else "") + _lead(parameter, fit) for fit in fits]
    text = "; ".join(said)
    begins_with_name = not (fits[0].condition or text.startswith(("these games", "the fitted model", "the sampler")))
    return f"{text[:1] if begins_with_name else text[:1].upper()}{text[1:]}."


def _lead(parameter: str, fit: ConditionFit) -> str:
    posterior = fit.posterior
    if parameter not in posterior.draws:
        return f"the fitted model gives {parameter} no meaning of its own ({posterior.variant.formula})"
    if posterior.faults:
        return f"the sampler has not fully converged, so nothing is said of who {_LEADS[parameter]}"
    names = posterior.names[parameter]
    if len(names) == 1:
        return f"{names[0]} alone was {_ROLES[parameter]}, so these games compare nobody there"
    if len(posterior.unidentified().get(parameter, ())) == len(names):
        return f"these games do not tell who {_LEADS[parameter]}: no {parameter} is known better than before any game"
    draws = posterior.draws[parameter].reshape(-1, len(names))
    chances = chances_of_first(draws)
    if (best := settled(chances)) is None:
        return (
            f"these games do not settle who {_LEADS[parameter]}: in the running, by the chance that {parameter} is "
            f"highest, are {in_the_running(names, chances)}; {_games(posterior, draws)}"
        )
    lo, hi = np.quantile(draws[:, best], TAILS)
    score = f"{parameter} {with_interval(float(draws[:, best].mean()), lo, hi)}"
    return (
        f"{names[best]} {_LEADS[parameter]}, {score}: ahead of all others in {percent(float(chances[best]))} of the "
        f"draws; next is {names[int(np.argsort(-chances)[1])]}{_DOUBT if fit.goodness.p < MISFIT else ''}"
    )


def _games(posterior: Posterior, draws: Array) -> str:
    """How many more games would settle who is first. draws: the scores', shape (draws, models).

    The scores are taken to be their means. Their deviations fall with the square root of the number of games; where
    counts are dispersed, each further game of a combination counts less.
    """
    played, rho = posterior.cells["games"].to_numpy().astype(np.float64), float(posterior.rho().mean())
    means = draws.mean(axis=0)

    def independent(games: Array) -> float:
        """How many independent games would be as informative."""
        return float((games / (1 + np.maximum(games - 1, 0) * rho)).sum())

    def chance(times: float) -> float:
        worth = independent(times * played) / independent(played)
        return float(chances_of_first(means + (draws - means) / np.sqrt(worth))[means.argmax()])

    if chance(_MOST) < SURE:
        return f"even {_MOST} times as many games like these would not settle it"
    more = (float(brentq(lambda times: chance(times) - SURE, 1, _MOST, xtol=0.01)) - 1) * played.sum()
    shown = max(1, round(more, 2 - len(str(int(more)))))
    return f"about {shown:,.0f} more games like these should, if they differ as they seem to"
