"""Examples for a judge's prompt, and the statements or games that its calibration is learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.examples import Example, moment_of
from liescope.detectors.judge.game_text import game_text
from liescope.detectors.judge.questions import Examples, GameExamples
from liescope.detectors.textualize import TextConfig, textualize
from liescope.detectors.view.roles import Roles
from liescope.detectors.view.transcript import Moment

_LONGEST = 4000  # characters of a statement that can be an example


@dataclass(frozen=True, slots=True)
class Drawn:
    """Games in random order. examples: rows of the statements shown; rest: rows of all others, by whole games."""

    examples: list[int]
    rest: list[int]


def draw_statements(
    examples: Sequence[Example], y: NDArray[np.bool_], groups: NDArray[np.str_], shots: int, seed: int
) -> Drawn:
    """One deceptive and one honest statement of each game, until there are enough; no game is on both sides."""
    draw = np.random.default_rng(seed)
    short = np.array([len(example.text) <= _LONGEST for example in examples])
    chosen, rest = list[int](), list[int]()
    for game in draw.permutation(np.unique(groups)):
        rows = np.flatnonzero(groups == game)
        sides = [rows[(y[rows] == lies) & short[rows]] for lies in (True, False)]
        if len(chosen) < shots and all(map(len, sides)):
            chosen += [int(draw.choice(side)) for side in draw.permutation(np.arange(2)) for side in [sides[side]]]
        else:
            rest += rows.tolist()
    return Drawn(chosen[:shots], rest)


def last_moments(examples: Sequence[Example]) -> dict[str, Moment]:
    """By game, as far as its last statement among these."""
    return {example.game_id: moment_of(example) for example in examples}


def shown_statements(
    examples: Sequence[Example], y: NDArray[np.bool_], rows: Sequence[int], text: TextConfig
) -> Examples:
    return tuple((textualize(examples[row], text), bool(y[row])) for row in rows)


def shown_games(moments: Mapping[str, Moment], roles: Mapping[str, Roles], text: TextConfig) -> GameExamples:
    shown = []
    for key, moment in moments.items():
        game = game_text(moment, text)
        shown.append((game.text, tuple((game.called[name], lies) for name, lies in roles[key].items())))
    return tuple(shown)
