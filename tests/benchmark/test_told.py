"""How much of the uncertainty about a parameter is left, and that every page with scores says it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from liescope.benchmark.capability.fit_report import fit_lines, fit_page
from liescope.benchmark.capability.results import left_sentence, uncertainty_left
from liescope.benchmark.capability.variants import PAPER
from liescope.benchmark.fitting import FitResult, _result
from liescope.common.report.files import page_html
from liescope.common.report.plain_text import markdown
from tests.benchmark.test_findings import fitted

NAMES = tuple("abcdefgh")
APART = tuple(float(at) for at in range(8))


def shown(sd: float, apart: float) -> FitResult:
    """A fit whose scores are known to within sd, of eight players who lie apart by so much."""
    return _result(fitted(NAMES, tuple(apart * at for at in APART), sd), "keep", {})


@pytest.mark.parametrize(("apart", "share"), [(10.0, 0.0), (1.0, 0.14), (0.2, 0.81), (0.0, 1.0)])
def test_the_share_that_is_left_is_that_of_the_posterior_variance(apart: float, share: float) -> None:
    """Eight players at equal distances have a variance of 5.25 of these; that of the differences is 7/8."""
    (fit,) = shown(1.0, apart).fits
    assert uncertainty_left(fit.posterior) == pytest.approx(dict.fromkeys("mdvb", share), abs=0.02)


@pytest.mark.parametrize(("apart", "warns"), [(1.0, False), (0.3, True)])
def test_every_page_says_how_much_is_left_and_warns_where_it_is_much(apart: float, warns: bool) -> None:
    result = shown(1.0, apart)
    said = " ".join(" ".join(fit_lines(result)).split())
    for words in (page_html(fit_page(result)), markdown(fit_page(result)), said):
        assert "is uncertainty that these games leave" in words
        assert "players may lie further apart than their scores" in words
        assert ("THESE GAMES TELL LITTLE" in words) is warns
    assert set(result.to_json()["left"]) == set("mdvb")


def test_scores_of_a_model_whose_widths_are_given_are_not_said_to_be_drawn_together() -> None:
    """Two simulated data sets of ten models on five backgrounds had slopes of 0.99 to 1.28 of m and d on the truth."""
    (fit,) = shown(1.0, 1.0).fits
    assert "drawn together" in left_sentence(fit.posterior)
    words = left_sentence(replace(fit.posterior, variant=PAPER))
    assert "drawn together" not in words
    assert "players may lie less far apart than their scores" in words


def test_a_page_without_any_score_that_the_games_tell_says_so() -> None:
    assert "These games do not tell m" in page_html(fit_page(shown(5.0, 1.0)))


def test_a_role_that_one_player_held_leaves_nothing_to_tell() -> None:
    (part,) = fitted(("a",), (0.0,), 0.1)
    assert uncertainty_left(part.posterior) == {}
    assert left_sentence(part.posterior) == ""
