"""What judges are asked: about one statement, or about every player of a game."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from liescope.detectors.judge.answers import label_probability, player_probabilities, stated_probability
from liescope.detectors.judge.prompt import JudgePrompt
from liescope.generate.players.openai.completion import Completion

Examples = tuple[tuple[str, bool], ...]
"""Statements of other games, as a judge reads them, and whether each is deceptive."""
GameExamples = tuple[tuple[str, tuple[tuple[str, bool], ...]], ...]
"""Other games, as a judge reads them, and whether each player deceives."""


@dataclass(frozen=True, slots=True)
class AboutStatement:
    """statement: as a detector reads it. The answer is the probability that it is deceptive."""

    statement: str
    target: str
    prompt: JudgePrompt
    examples: Examples = ()

    def words(self, stated: bool) -> str:
        words = ("1", "0") if stated else (self.prompt.deceptive[0], self.prompt.honest[0])
        given = [(shown, words[0] if lies else words[1]) for shown, lies in self.examples]
        return self.prompt.after_examples(self.prompt.render(self.statement, self.target, stated), given)

    def read(self, reply: Completion, stated: bool) -> float | None:
        sides = self.prompt.sides
        return stated_probability(reply.content, sides) if stated else label_probability(reply.tokens, sides)


@dataclass(frozen=True, slots=True)
class AboutGame:
    """game: as a judge reads it; players: as they are called there. The answer is the probability that each of the
    players deceives; a reply that leaves one of them out is none.
    """

    game: str
    players: tuple[str, ...]
    deceivers: int | None
    prompt: JudgePrompt
    examples: GameExamples = ()

    def words(self, stated: bool) -> str:  # noqa: ARG002
        given = [(shown, _object(lies)) for shown, lies in self.examples]
        return self.prompt.after_examples(self.prompt.render_game(self.game, self.players, self.deceivers), given)

    def read(self, reply: Completion, stated: bool) -> Mapping[str, float] | None:  # noqa: ARG002
        found = player_probabilities(reply.content, self.players)
        return found if len(found) == len(self.players) else None


def _object(lies: Iterable[tuple[str, bool]]) -> str:
    return json.dumps({player: int(lie) for player, lie in sorted(lies)}, ensure_ascii=False)
