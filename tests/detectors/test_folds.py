"""Rows that are held out together, and what may then be learned from."""

from __future__ import annotations

import numpy as np
import pytest

from liescope.detectors.folds import leaving_out

GAMES, SEATS = 40, 4


def table(models: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(models, games, y) of games at which two models sit together, two statements each; the first seat lies."""
    number, seat = np.divmod(np.arange(GAMES * SEATS), SEATS)
    units = [f"m{model}" for model in (number + seat // 2) % models]
    return np.array(units), np.array([f"g{game:02}" for game in number]), seat == 0


@pytest.mark.parametrize("models", [4, 5, 8])
def test_whoever_is_held_out_is_heard_in_no_game_that_is_learned_from(models: int) -> None:
    units, games, y = table(models)
    folds = leaving_out(units, games, y, 0)
    assert folds
    for learned, held_out in folds:
        assert not set(units[held_out]) & set(units[learned])
        assert not set(games[held_out]) & set(games[learned])
        # and nothing else is given up: every other game is there, with all its rows
        others = [row for row in range(len(y)) if games[row] not in set(games[held_out])]
        assert sorted(learned) == others
        assert all(both(y[side]) for side in (learned, held_out))
    scored = np.concatenate([held_out for _, held_out in folds])
    assert len(scored) == len(set(scored))


def test_a_third_of_the_games_is_held_out_with_all_their_rows() -> None:
    _, games, y = table(3)
    folds = leaving_out(games, games, y, 0)
    assert len(folds) == 3
    for learned, held_out in folds:
        assert sorted([*learned, *held_out]) == list(range(len(y)))
        assert not set(games[held_out]) & set(games[learned])
        assert len(set(games[held_out])) == pytest.approx(GAMES / 3, abs=2)


def test_a_class_that_is_in_one_game_alone_has_no_folds() -> None:
    _, games, y = table(3)
    assert leaving_out(games, games, y & (games == "g00"), 0) == []


def test_a_fold_with_one_class_alone_is_no_fold() -> None:
    units = np.array(["liar", "liar", "a", "b"] * 6)
    games = np.array([f"g{row // 2}" for row in range(24)])
    for _, held_out in leaving_out(units, games, units == "liar", 0):
        assert both((units == "liar")[held_out])
    assert leaving_out(units, games, np.ones(24, dtype=bool), 0) == []


def both(y: np.ndarray) -> bool:
    return 0 < y.sum() < len(y)
