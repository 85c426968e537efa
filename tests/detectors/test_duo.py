"""Two opinions that count alike, and what each of them alone would have said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from liescope.detectors.detector import scores_of, silent
from liescope.detectors.detector_registry import make
from liescope.detectors.examples import Example, Labelled, labelled, read_statements
from liescope.detectors.kinds.duo import DuoDetector, together
from liescope.detectors.kinds.linear import LinearDetector
from liescope.detectors.kinds.tfidf import TfidfDetector
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.candidate import Candidate
from liescope.detectors.view.joint_posterior import NEVER, player_logits
from liescope.detectors.view.transcript import KILLED, GameMoment, TranscriptTurn, read_transcripts

_opinion = st.lists(st.integers(-40, 40), min_size=5, max_size=5).map(lambda values: np.array(values) / 8)


@given(one=_opinion, other=_opinion, times=st.sampled_from([0.01, 0.5, 3.0, 100.0]), more=st.integers(-9, 9))
def test_neither_opinion_outweighs_the_other_however_sure_of_itself(
    one: np.ndarray, other: np.ndarray, times: float, more: int
) -> None:
    found, again = together(one, other), together(one * times + more, other)
    scale = again.std() / found.std() if found.std() > 1e-9 else 0.0
    if one.std() and other.std():
        assert np.allclose((again - again.mean()), (found - found.mean()) * scale, atol=1e-6 * max(times, 1))
    assert together(other, one) == pytest.approx(found)
    assert found.mean() == pytest.approx(np.mean([one, other]))


def test_whoever_is_ruled_out_is_compared_with_nobody_and_who_tells_nobody_apart_has_no_say() -> None:
    one, other = np.array([1.0, 3.0, 2.0]), np.array([0.5, -0.5, 0.1])
    found = together(np.append(one, 9.0), np.append(other, NEVER))
    assert found[:3] == pytest.approx(together(one, other))
    assert found[3] == NEVER
    assert together(one, np.zeros(3)) == pytest.approx(one - 1.0)
    assert together(np.array([2.0]), np.array([-1.0])) == pytest.approx(np.array([0.5]))


@pytest.fixture(scope="module")
def learned(corpus: Path) -> Labelled:
    return labelled(read_statements(corpus, ["train"]), "role", 0, read_transcripts(corpus))


@pytest.fixture(scope="module")
def three(learned: Labelled) -> tuple[DuoDetector, LinearDetector, TfidfDetector]:
    made = [make(kind, TextConfig(), {}) for kind in ("duo", "linear", "tfidf")]
    return tuple(one.fit(learned.examples, learned.y, learned.groups) for one in made)


def test_players_are_judged_by_what_linear_and_tfidf_make_of_the_table(
    corpus: Path, three: tuple[DuoDetector, LinearDetector, TfidfDetector]
) -> None:
    duo, linear, tfidf = three
    for game in list(read_transcripts(corpus, ["test"]).values())[:5]:
        for upto in (3, None):
            moment = GameMoment(game, upto)
            seats = [Candidate(moment, name) for name in game.names]
            words = np.array(player_logits(moment, scores_of(tfidf, [moment], silent)[0]))
            expected = together(linear.scores(seats, silent), words)
            assert duo.scores(seats, silent) == pytest.approx(expected)


def test_whoever_was_killed_deceives_nobody(
    corpus: Path, three: tuple[DuoDetector, LinearDetector, TfidfDetector]
) -> None:
    game = next(iter(read_transcripts(corpus, ["test"]).values()))
    silent_one = next(name for name in game.names if name not in {turn.player for turn in game.turns})
    killed = replace(game, turns=(TranscriptTurn(KILLED, silent_one), *game.turns))
    (found,) = three[0].player_posteriors([GameMoment(killed)])
    assert found[silent_one] < 1e-4
    assert sum(found.values()) == pytest.approx(1)


def test_a_statement_without_its_game_has_the_mean_of_both_log_odds(
    three: tuple[DuoDetector, LinearDetector, TfidfDetector],
) -> None:
    duo, linear, tfidf = three
    for target in ("role", "claim"):
        alone = Example("", "", "Ada", "", "I am calm, and we should rush this.", ("Ada",), target=target)
        one, two, both = (float(logit(kind.predict_proba([alone])[0, 1])) for kind in (linear, tfidf, duo))
        assert both == pytest.approx((one + two) / 2)


def test_its_reasons_are_those_of_both(
    learned: Labelled, three: tuple[DuoDetector, LinearDetector, TfidfDetector]
) -> None:
    (reasons,) = three[0].explain(learned.examples[5:6], 50)
    assert {reason.field for reason in reasons} >= {"words", "own"}
    assert [abs(one.weight) for one in reasons] == sorted((abs(one.weight) for one in reasons), reverse=True)
    halves = {str(replace(one, weight=one.weight / 2)) for one in three[1].explain(learned.examples[5:6], 50)[0]}
    assert {str(one) for one in reasons if one.field != "words"} <= halves
