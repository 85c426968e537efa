"""What a judge learned, as JSON: its prompt, the examples in it, the calibration of its answers, and what asking came
to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from scipy.special import expit, log_expit, logit

from liescope.common.reading import read_json
from liescope.detectors.detector import TRAIN_AGAIN
from liescope.detectors.examples import REASONING, WORDS, Example, Roles, moment_of
from liescope.detectors.judge.prompt import Examples, GameExamples, JudgePrompt
from liescope.detectors.textualize import (
    PLAYER_TOKEN,
    TextConfig,
    clean,
    hide_roles,
    replace_names,
    textualize,
    viewed,
)
from liescope.detectors.view.transcript import EXILED, KILLED, SAID, SILENT, VOTED, GameMoment, TranscriptTurn

_STRICT = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_LARGEST = 2**23  # bytes
_EDGE = 0.0025  # of the probabilities that a model states, 0 and 1 among them
Floats = NDArray[np.float64]


class PlattScaling(BaseModel):
    """Platt's: the log-odds of an answer, times slope, plus intercept (Platt 1999). A slope below 0 is not learned."""

    model_config = _STRICT

    slope: Annotated[float, Field(ge=0, le=100)] = 1.0
    intercept: Annotated[float, Field(ge=-100, le=100)] = 0.0

    @classmethod
    def fitted(cls, probability: Floats, y: NDArray[np.bool_]) -> Self:
        """Of probabilities and labels, each (n,). With few answers it stays near slope 1 and intercept 0: either is a
        normal prior's mean, of variance 1.
        """
        from scipy.optimize import minimize

        odds, sign = _log_odds(probability), np.where(y, 1.0, -1.0)

        def loss(at: Floats) -> float:
            return float(((at - (1, 0)) ** 2).sum() / 2 - log_expit(sign * (at[0] * odds + at[1])).sum())

        slope, intercept = minimize(loss, (1.0, 0.0), bounds=((0, 100), (-100, 100)), method="L-BFGS-B").x
        return cls(slope=float(slope), intercept=float(intercept))

    def log_odds(self, probability: Floats) -> Floats:
        return self.slope * _log_odds(probability) + self.intercept

    def __call__(self, probability: Floats) -> Floats:
        return np.asarray(expit(self.log_odds(probability)))


def _log_odds(probability: Floats) -> Floats:
    return np.asarray(logit(np.clip(probability, _EDGE, 1 - _EDGE)))


class LearnedJudge(BaseModel):
    """prompt: the one asked with; statements or games: the examples in it, word for word; prevalence: the share of the
    statements of training that are deceptive, or with whole games of the players; stated: whether the model states
    numbers, None if it was not asked; own_cache: whether its user named a folder for its replies.
    """

    model_config = _STRICT

    prompt: JudgePrompt
    statements: tuple[tuple[str, bool], ...] = ()
    games: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()
    prevalence: Annotated[float, Field(gt=0, lt=1)]
    calibration: PlattScaling = PlattScaling()
    stated: bool | None = None
    own_cache: bool = False

    def write(self, path: Path) -> None:
        path.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises BadData for what `write` never writes."""
        return read_json(path, TypeAdapter(cls), _LARGEST, TRAIN_AGAIN)


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """What asking a judge came to. how: "log-probability" of its answer, or "stated confidence"; statements: asked
    about; failed: those without a score, by reason; found: replies in the cache; requests, tokens, cost: of this time,
    cost None without a price; view: what it was shown of each.
    """

    name: str
    how: str
    served_models: tuple[str, ...]
    statements: int
    failed: Mapping[str, int]
    found: int
    requests: int
    tokens: int
    cost: float | None
    currency: str
    view: str = "words"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def sentences(self) -> list[str]:
        """What to tell the user about it."""
        cost = "" if self.cost is None else f", {self.cost:.4f} {self.currency}"
        said = [
            f"{self.name}: {self.how}; {self.statements:,} statements, {self.found:,} replies kept from before, "
            f"{self.requests:,} requests, {self.tokens:,} tokens{cost}"
        ]
        return said + [f"{self.name}: {count:,} statements have no score ({why})" for why, count in self.failed.items()]


@dataclass(frozen=True, slots=True)
class ToldGame:
    """text: a line for each turn; called: by the name of a player, what stands for it in the text."""

    text: str
    called: dict[str, str]


EVERYBODY = ""


def asked_about(moment: GameMoment, view: str) -> tuple[str, ...]:
    """Whom each question about a game is about: everybody at once where words are read. Where reasoning is, each player
    who kept some, in a question of its own, so that nobody is judged by what others thought.
    """
    if view == WORDS:
        return (EVERYBODY,)
    thought = {turn.player for _, turn in moment.transcript.said(moment.upto) if turn.reasoning.strip()}
    return tuple(name for name in moment.transcript.names if name in thought)


def game_text(moment: GameMoment, config: TextConfig, judged: str = EVERYBODY) -> ToldGame:
    """A game as far as it is seen. With masked names, players are numbered in the order of their appearance, so that
    neither a name nor its place at the table gives anything away. judged: of `asked_about`; whose statements the view
    is of, while others are shown by their words.
    """
    game = moment.transcript
    text = "\n".join(_lines(game.turns[: moment.upto], judged, config.view))
    called = {name: name for name in game.names}
    if config.mask_names:
        numbers: dict[str, str] = {}

        def token(name: str) -> str:
            return numbers.setdefault(name, f"{PLAYER_TOKEN}{len(numbers) + 1}")

        text = replace_names(text, game.names, token)
        called = {name: token(name.casefold()) for name in game.names}
    return ToldGame(hide_roles(text) if config.mask_role_words else text, called)


def _lines(turns: tuple[TranscriptTurn, ...], judged: str, view: str) -> Iterator[str]:
    for turn in turns:
        if turn.kind == SAID:
            to = f" (to {', '.join(sorted(turn.audience - {turn.player}))} alone)" if turn.audience else ""
            own = view if turn.player == judged else WORDS
            kept = bool(turn.reasoning.strip())
            if own == REASONING and not kept:  # its words never stand in for what it thought
                yield f"{turn.player}{to} says what is not shown."
                continue
            for who, said in viewed(f"{turn.player}{to}", turn.text, turn.reasoning, own if kept else WORDS):
                yield f"{who}: {clean(said)}"
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
class DrawnShots:
    """Games in random order. examples: rows of the statements shown; rest: rows of all others, by whole games."""

    examples: list[int]
    rest: list[int]


def draw_statements(
    examples: Sequence[Example], y: NDArray[np.bool_], groups: NDArray[np.str_], shots: int, seed: int
) -> DrawnShots:
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
    return DrawnShots(chosen[:shots], rest)


def last_moments(examples: Sequence[Example]) -> dict[str, GameMoment]:
    """By game, as far as its last statement among these."""
    return {example.game_id: moment_of(example) for example in examples}


def shown_statements(
    examples: Sequence[Example], y: NDArray[np.bool_], rows: Sequence[int], text: TextConfig
) -> Examples:
    return tuple((textualize(examples[row], text), bool(y[row])) for row in rows)


def shown_games(moments: Mapping[str, GameMoment], roles: Mapping[str, Roles], text: TextConfig) -> GameExamples:
    """Games with the truth about whom a question is about: everybody, or one player of each, a deceptive and an honest
    one in turn where both can be asked about.
    """
    shown = []
    for number, (key, moment) in enumerate(moments.items()):
        known = roles[key]
        asked = [name for name in asked_about(moment, text.view) if name == EVERYBODY or name in known]
        wanted = number % 2 == 0
        for judged in sorted(asked, key=lambda name: known.get(name) != wanted)[:1]:
            game = game_text(moment, text, judged)
            about = known if judged == EVERYBODY else {judged: known[judged]}
            shown.append((game.text, tuple((game.called[name], lies) for name, lies in about.items())))
    return tuple(shown)
