"""How much of the uncertainty about a parameter is left: what the games tell of the differences between players."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from liescope.benchmark.capability.posterior import ROLE_OF, Posterior

MUCH = 0.5  # share from which on a page warns


def uncertainty_left(posterior: Posterior) -> dict[str, float]:
    """By parameter (m, d, v, b), the share of the variance between players that is uncertainty, 0 to 1. The variance
    between players, as the posterior has it in the mean, is that of their mean scores and the posterior variance of a
    player's difference from the mean of all; the share is the second by both. 0 where games tell the parameter exactly,
    1 where they tell nothing of who is above whom. Without parameters that one player alone has.
    """
    left = {}
    for name, draws in posterior.flat().items():
        if name in ROLE_OF and draws.shape[1] > 1:
            apart = draws - draws.mean(axis=1, keepdims=True)
            left[name] = float(apart.var(axis=0).mean() / np.square(apart).mean())
    return left


def left_sentence(posterior: Posterior) -> str:
    """The shares, in a sentence, and what they do to the scores; "" where there are none."""
    left = uncertainty_left(posterior)
    if not left:
        return ""
    shares = ", ".join(f"{name} {share:.0%}" for name, share in left.items())
    scale = (
        "Scores are drawn together by about as much: players may lie further apart than their scores."
        if posterior.variant.learned
        else "The priors of this model have a fixed width. Where the design has few backgrounds, it can set the scale: "
        "players may lie less far apart than their scores."
    )
    return (
        f"Of the variance between players, as much is uncertainty that these games leave: {shares}. At 0% they tell "
        f"the players apart exactly, at 100% not at all. {scale}"
    )


def warning(left: Mapping[str, float]) -> str:
    """What must be said of parameters about which much is left, "" if there are none."""
    much = {name: share for name, share in left.items() if share >= MUCH}
    if not much:
        return ""
    shares = ", ".join(f"{name} ({share:.0%})" for name, share in much.items())
    return (
        f"THESE GAMES TELL LITTLE about the players' {shares}: so much of the variance between players is uncertainty "
        "that is left. Their order is in good part chance."
    )
