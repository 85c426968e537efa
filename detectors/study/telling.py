"""Words, characters and forms that alone tell deceptive from honest statements, whatever put them there.

Of everything that statements have or have not, what is named has passed an exact test: Fisher's, on one deceptive and
one honest statement of each game, drawn by chance, so that what the statements of a game share counts once; corrected
over everything that was looked at (Tarone 1990: Bonferroni over those that could have passed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.common.statistics import Bools
from liescope.detectors.study.alarms import BEYOND_CHANCE, CHANCE, NOTABLE, PLAIN, SERIOUS, Examined, Jackknifed, graded
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.figures import Finding
from liescope.detectors.study.metrics import POOLED
from liescope.detectors.study.scores import CONTROL
from liescope.detectors.study.tokens import LETTERS, MARKS, WORDS, Token, tokens_of

TELLING = "telling"
ERROR = 0.001
"""The probability that anything at all is named where nothing tells."""
GIVEN_AWAY = 0.35
"""A word with an AUROC that is certainly this far above chance gives the label away."""
_SENTENCES, _MOST = 5, 6  # of one family, in the table
_SAME = 0.5  # the share of their statements from which two tokens tell the same


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A token that passed the test. there: (n,) the labelled statements that have it; reached: the AUROC of having it,
    or of lacking it if honest statements have it more often.
    """

    token: Token
    there: Bools
    reached: Jackknifed

    @property
    def severity(self) -> str:
        beyond = self.reached.certain - CHANCE
        if self.token.family != MARKS:
            return graded(beyond, (BEYOND_CHANCE[1], GIVEN_AWAY))
        found = graded(beyond, BEYOND_CHANCE)
        return NOTABLE if found == PLAIN and self.token.unusual else found


def telling(data: Audited) -> Examined:
    """The most telling word, the most telling mark, and whatever else is an alarm."""
    presence, tokens = tokens_of(data.labelled["text"].to_list())
    if not tokens:
        return Examined(TELLING)
    y, target = data.y[data.known], data.plan.target
    named = _chosen(presence, tokens, passing(presence, y, data.groups[data.known], data.plan.seed), data)
    first = {told.token.family: told for told in reversed(named)}
    worst = [told for told in named if told.severity == SERIOUS or told.token.unusual][:_SENTENCES]
    figures = {id(told): told.reached.figure(CONTROL + told.token.words, target, "all", POOLED) for told in named}
    said = dict.fromkeys([*worst, *(first[family] for family in (WORDS, MARKS) if family in first)])
    found = [Finding(_sentence(told, y, len(tokens)), (figures[id(told)],), told.severity) for told in said]
    return Examined(TELLING, list(figures.values()), found)


def passing(presence: Any, y: Bools, groups: NDArray[np.str_], seed: int) -> NDArray[np.int64]:
    """The columns of a sparse matrix (statements, tokens) that pass `exact` on one statement of each class and group,
    drawn by chance.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    _, first = np.unique(np.char.add(groups[order], np.where(y[order], "+", "-")), return_index=True)
    drawn = np.sort(order[first])
    rows = presence.tocsr()
    lies, others = (np.asarray(rows[drawn[y[drawn] == side]].sum(axis=0)).ravel() for side in (True, False))
    return np.flatnonzero(exact(lies, int(y[drawn].sum()), others, int((~y[drawn]).sum())))


def exact(lies: NDArray[np.int64], all_lies: int, others: NDArray[np.int64], all_others: int) -> Bools:
    """(tokens,): which counts of statements pass Fisher's exact test, two-sided (twice the smaller tail), with all
    tokens together wrong with a probability of at most `ERROR`. A token that could not pass, however it were spread, is
    not counted among them (Tarone 1990).
    """
    from scipy.stats import hypergeom

    every, having = all_lies + all_others, lies + others
    low, high = np.maximum(0, having - all_others), np.minimum(having, all_lies)
    spread = hypergeom(every, all_lies, having)
    least = np.minimum(1.0, 2 * np.minimum(spread.pmf(low), spread.pmf(high)))
    sorted_least = np.sort(least)
    counted = np.arange(1, len(least) + 1)
    able = np.searchsorted(sorted_least, ERROR / counted, side="right")  # how many could pass at each correction
    correction = int(counted[able <= counted][0]) if (able <= counted).any() else len(least)
    p = np.minimum(1.0, 2 * np.minimum(spread.cdf(lies), spread.sf(lies - 1)))
    return np.asarray(p <= ERROR / correction)


def _chosen(presence: Any, tokens: list[Token], passed: NDArray[np.int64], data: Audited) -> list[Told]:
    """The most telling first, none that tells the same as one before it; of each family, no more than are shown."""
    y = data.y[data.known]
    lies, others = (np.asarray(presence[rows].sum(axis=0)).ravel() for rows in (y, ~y))
    lean = lies / y.sum() - others / (~y).sum()
    parts = np.array([token.family == LETTERS for token in tokens])[passed]
    found: list[Told] = []
    kept: dict[str, list[Bools]] = {WORDS: [], MARKS: [], LETTERS: []}
    for at in passed[np.lexsort((passed, parts, -np.abs(lean[passed]).round(6)))]:
        token = tokens[at]
        mine = kept[token.family]
        if len(mine) == _MOST or (token.family == LETTERS and abs(lean[at]) / 2 <= GIVEN_AWAY):
            continue
        there = np.zeros(len(y), dtype=bool)
        there[presence.indices[presence.indptr[at] : presence.indptr[at + 1]]] = True
        if any(_alike(there, known) or _alike(~there, known) for every in kept.values() for known in every):
            continue
        score = np.full(len(data.y), np.nan)
        score[data.known] = there if lean[at] > 0 else ~there
        mine.append(there)
        found.append(Told(token, there, data.auroc(score)))
    return found


def _alike(one: Bools, other: Bools) -> bool:
    return bool((one & other).sum() > _SAME * (one | other).sum())


def _sentence(told: Told, y: Bools, looked_at: int) -> str:
    what = f"{told.token.words[0].upper()}{told.token.words[1:]}"
    lies, others = (f"{told.there[side].sum():,} of {side.sum():,}" for side in (y, ~y))
    words = f"{what} alone {told.token.verb} AUROC {told.reached:.3f}: in {lies} deceptive and {others} honest ones"
    if told.token.unusual:
        return f"{words}. Nobody types such a character: what wrote or changed these statements put it there."
    if told.severity == SERIOUS:
        return f"{words}. Whether the speakers or the making of the corpus put it there is for a reader to find out."
    kind = {WORDS: "word or sequence of words", MARKS: "mark"}[told.token.family]
    return f"{words}. Of {looked_at:,} candidates, no other {kind} that passes an exact test tells more."
