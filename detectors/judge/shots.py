"""Statements and whole games as a judge reads them, drawn as examples of its prompt or for its calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.examples import Example, Roles, moment_of
from liescope.detectors.judge.prompt import Examples, GameExamples
from liescope.detectors.textualize import PLAYER_TOKEN, TextConfig, clean, hide_roles, replace_names, textualize
from liescope.detectors.view.transcript import EXILED, KILLED, SAID, SILENT, VOTED, Moment, Turn


@dataclass(frozen=True, slots=True)
class GameText:
    """text: a line for each turn; called: by the name of a player, what stands for it in the text."""

    text: str
    called: dict[str, str]


def game_text(moment: Moment, config: TextConfig) -> GameText:
    """A game as far as it is seen. With masked names, players are numbered in the order of their appearance, so that
    neither a name nor its place at the table gives anything away.
    """
    game = moment.transcript
    text = "\n".join(_lines(game.turns[: moment.upto]))
    called = {name: name for name in game.names}
    if config.mask_names:
        numbers: dict[str, str] = {}

        def token(name: str) -> str:
            return numbers.setdefault(name, f"{PLAYER_TOKEN}{len(numbers) + 1}")

        text = replace_names(text, game.names, token)
        called = {name: token(name.casefold()) for name in game.names}
    return GameText(hide_roles(text) if config.mask_role_words else text, called)


def _lines(turns: tuple[Turn, ...]) -> Iterator[str]:
    for turn in turns:
        if turn.kind == SAID:
            to = f" (to {', '.join(sorted(turn.audience - {turn.player}))} alone)" if turn.audience else ""
            yield f"{turn.player}{to}: {clean(turn.text)}"
        elif turn.kind == SILENT:
            yield f"{turn.player} says nothing."
        elif turn.kind == VOTED:
            yield f"{turn.player} votes for {turn.target or 'nobody'}."
        elif turn.kind == KILLED:
            yield f"{turn.player} is found dead."
        elif turn.kind == EXILED:
            yield f"{turn.player} is voted out."


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
