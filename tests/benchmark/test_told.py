"""How much of the uncertainty about a parameter is left, and that every page with scores says it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from liescope.benchmark.capability.markdown import report
from liescope.benchmark.capability.page import fit_page
from liescope.benchmark.capability.told import uncertainty_left
from liescope.benchmark.fitting import FitResult, _result
from liescope.benchmark.terminal import fit_lines
from liescope.common.report_page import page_html
from tests.benchmark.test_findings import fitted

NAMES = tuple("abcdefgh")
APART = tuple(float(at) for at in range(8))


def shown(sd: float, apart: float) -> FitResult:
    """A fit whose scores are known to within sd, of players who lie apart by so much."""
    (part,) = fitted(NAMES, tuple(apart * at for at in APART), sd)
    sds = {name: np.full((4, 500), apart) for name in "mdvb"}
    return _result((replace(part, posterior=replace(part.posterior, sds=sds)),), "keep")


@pytest.mark.parametrize(("sd", "share"), [(0.1, 0.01), (0.5, 0.25), (1.0, 1.0)])
def test_the_share_that_is_left_is_that_of_the_posterior_variance(sd: float, share: float) -> None:
    (fit,) = shown(sd, 1.0).fits
    assert uncertainty_left(fit.posterior) == pytest.approx(dict.fromkeys("mdvb", share), rel=0.05)


def test_where_the_spread_is_given_it_is_that_of_the_prior() -> None:
    (part,) = fitted(NAMES, APART, 1.0)
    left = uncertainty_left(part.posterior)
    assert (left["m"], left["b"]) == pytest.approx((0.25, 1.0), rel=0.05)


@pytest.mark.parametrize(("sd", "warns"), [(0.5, False), (0.9, True)])
def test_every_page_says_how_much_is_left_and_warns_where_it_is_much(sd: float, warns: bool) -> None:
    result = shown(sd, 1.0)
    said = " ".join(" ".join(fit_lines(result)).split())
    for words in (page_html(fit_page(result)), report(result), said):
        assert "is uncertainty that these games leave" in words
        assert "players lie further apart than their scores" in words
        assert ("THESE GAMES TELL LITTLE" in words) is warns
    assert set(result.to_json()["left"]) == set("mdvb")


def test_a_role_that_one_player_held_leaves_nothing_to_tell() -> None:
    (part,) = fitted(("a",), (0.0,), 0.1)
    assert uncertainty_left(part.posterior) == {}
