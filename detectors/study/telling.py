"""Words, characters and forms that alone tell deceptive from honest statements, whatever put them there.

Of everything that statements have or have not, what is named has passed an exact test: Fisher's, on one deceptive and
one honest statement of each game, drawn by chance, so that what the statements of a game share counts once; corrected
over everything that was looked at (Tarone 1990: Bonferroni over those that could have passed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.common.statistics import Bools
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.figures import (
    BEYOND_CHANCE,
    CHANCE,
    NOTABLE,
    PLAIN,
    SERIOUS,
    Examined,
    Figure,
    Finding,
    Jackknifed,
    graded,
)
from liescope.detectors.study.metrics import POOLED
from liescope.detectors.study.scores import CONTROL
from liescope.detectors.study.tokens import LETTERS, MARKS, Token, tokens_of

ERROR = 0.001
"""The probability that anything at all is named where nothing tells."""
GIVEN_AWAY = 0.35
"""A word with an AUROC that is certainly this far above chance gives the label away."""
_SENTENCES, _MOST = 5, 6  # of what is serious, and of one family in the table
_SAME = 0.5  # the share of their statements from which two tokens tell the same


def telling(data: Audited) -> Examined:
    """The most telling word, the most telling mark, and whatever else is an alarm."""
    presence, tokens = tokens_of(data.labelled["text"].to_list())
    y, figures, findings = data.y[data.known], list[Figure](), list[Finding]()
    passed = passing(presence, y, data.groups[data.known], data.seed) if tokens else np.zeros(0, dtype=np.int64)
    said = {LETTERS}
    for token, there, reached in _chosen(presence, tokens, passed, data):
        figures.append(reached.figure(CONTROL + token.words, data.target, "all", POOLED))
        severity = _severity(token, reached)
        worst = severity == SERIOUS or token.unusual
        if token.family in said and (not worst or len(findings) >= _SENTENCES):
            continue
        said.add(token.family)
        lies, others = (f"{there[side].sum():,} of {side.sum():,}" for side in (y, ~y))
        what = f"{token.words[0].upper()}{token.words[1:]} alone: AUROC {reached:.3f}, in {lies} deceptive and {others}"
        why = f"Of {len(tokens):,} words and marks, no other of its kind that passes an exact test tells more"
        if worst:
            why = "Whether the speakers or the making of the corpus put it there is for a reader to find out"
        if token.unusual:
            why = "Nobody types such a character: what wrote or changed these texts put it there"
        findings.append(Finding(f"{what} honest {data.units.statements}. {why}.", (figures[-1],), severity))
    return Examined(figures, findings)


def _severity(token: Token, reached: Jackknifed) -> str:
    beyond = reached.certain - CHANCE
    if token.family != MARKS:
        return graded(beyond, (BEYOND_CHANCE[1], GIVEN_AWAY))
    found = graded(beyond, BEYOND_CHANCE)
    return NOTABLE if found == PLAIN and token.unusual else found


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

    having = lies + others
    low, high = np.maximum(0, having - all_others), np.minimum(having, all_lies)
    spread = hypergeom(all_lies + all_others, all_lies, having)
    least = np.sort(np.minimum(1.0, 2 * np.minimum(spread.pmf(low), spread.pmf(high))))
    counted = np.arange(1, len(least) + 1)
    able = np.searchsorted(least, ERROR / counted, side="right")  # how many could pass at each correction
    correction = int(np.append(counted[able <= counted], len(least))[0])
    p = np.minimum(1.0, 2 * np.minimum(spread.cdf(lies), spread.sf(lies - 1)))
    return np.asarray(p <= ERROR / correction)


def _chosen(
    presence: Any, tokens: list[Token], passed: NDArray[np.int64], data: Audited
) -> Iterator[tuple[Token, Bools, Jackknifed]]:
    """The most telling first, which statements have it, and the AUROC of having it, or of lacking it; none that tells
    the same as one before it; of each family, no more than are shown.
    """
    y = data.y[data.known]
    lies, others = (np.asarray(presence[rows].mean(axis=0)).ravel() for rows in (y, ~y))
    lean, kept, counts = lies - others, list[Bools](), Counter[str]()
    parts = np.array([token.family == LETTERS for token in tokens], dtype=bool)[passed]
    for at in passed[np.lexsort((passed, parts, -np.abs(lean[passed]).round(6)))]:
        token, there = tokens[at], presence[:, [at]].toarray().ravel() > 0
        if counts[token.family] == _MOST or (token.family == LETTERS and abs(lean[at]) / 2 <= GIVEN_AWAY):
            continue
        if any(_alike(there, known) or _alike(~there, known) for known in kept):
            continue
        counts[token.family] += 1
        kept.append(there)
        score = np.full(len(data.y), np.nan)
        score[data.known] = there == (lean[at] > 0)
        yield token, there, data.auroc(score)


def _alike(one: Bools, other: Bools) -> bool:
    return bool((one & other).sum() > _SAME * (one | other).sum())
