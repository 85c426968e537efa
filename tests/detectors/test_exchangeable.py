"""When texts are taken for others than those that verdicts were chosen on, and what is said of them then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from liescope.common.errors import BadData
from liescope.common.statistics import Floats
from liescope.detectors.calibrate import ALPHA, CalibrationGames
from liescope.detectors.examples import Example

PLAIN, ODD = ["we", "should", "talk", "about", "this", "and", "vote"], ["zebra", "quilt", "harbour", "lantern"]


def said(
    rng: np.random.Generator, games: int, odd: float, each: int = 4, named: bool = True
) -> tuple[list[Example], Floats]:
    """(statements, scores) of games, a share of them `odd`: other words."""
    examples, score = [], []
    for number in range(games):
        strange = rng.random() < odd
        for _ in range(each):
            words = [*rng.choice(PLAIN, 6), *(rng.choice(ODD, 3) if strange else [])]
            examples.append(Example("", f"g{number}" if named else "", "A", "", " ".join(words), ("A",)))
            score.append(rng.random())
    return examples, np.array(score)


@pytest.mark.parametrize(("named", "games"), [(True, 40), (False, 40), (True, 6), (True, 1)])
def test_further_games_of_the_same_kind_are_rarely_taken_for_others(named: bool, games: int) -> None:
    rng, fired, times = np.random.default_rng(100 + games), 0, 20
    for _ in range(times):
        chosen_on = CalibrationGames.of(*said(rng, 60, odd=0.3), 0)
        others = chosen_on.others(*said(rng, games, odd=0.3, each=4 if named else 1, named=named))
        assert others.all() or not others.any()
        fired += others.any()
    assert fired <= times * ALPHA + 3 * np.sqrt(times * ALPHA)


@pytest.mark.parametrize(("games", "before"), [(40, 60), (1, 200)])
def test_other_words_are_noticed_and_lone_statements_are_compared_apart(games: int, before: int) -> None:
    rng = np.random.default_rng(0)
    chosen_on = CalibrationGames.of(*said(rng, before, odd=0.0), 0)
    strange, odd = said(rng, games, odd=1.0)
    lone, usual = said(rng, 40, odd=0.0, each=1, named=False)
    found = chosen_on.others([*strange, *lone], np.r_[odd, usual])
    assert found.tolist() == [True] * len(strange) + [False] * len(lone)


def test_other_scores_are_noticed_though_the_words_are_the_same() -> None:
    rng = np.random.default_rng(0)
    chosen_on = CalibrationGames.of(*said(rng, 60, odd=0.0), 0)
    examples, score = said(rng, 40, odd=0.0)
    assert chosen_on.others(examples, score**4).all()


def test_a_saved_one_says_the_same_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    chosen_on, path = CalibrationGames.of(*said(rng, 50, odd=0.2), 0), tmp_path / "calibration.parquet"
    chosen_on.save(path)
    again = CalibrationGames.load(path)
    for odd in (0.2, 0.5, 1.0):
        others = said(rng, 20, odd=odd)
        assert (chosen_on.others(*others) == again.others(*others)).all()
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(BadData, match=r"calibration\.parquet"):
        CalibrationGames.load(path)
