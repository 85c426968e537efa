"""How many tokens a request will take, estimated before it is sent from what earlier ones took."""

from __future__ import annotations

from collections.abc import Hashable

from liescope.generate.players.openai.budget import CHARACTERS_A_TOKEN, Usage

_FIRST_ANSWER = 200.0  # tokens of an answer of a kind that was not answered before
_WEIGHT = 0.05  # of each answer in the mean


class TokenEstimate:
    """Of the requests to one host."""

    def __init__(self) -> None:
        self._a_character = 1 / CHARACTERS_A_TOKEN
        self._answers: dict[Hashable, float] = {}

    def of(self, kind: Hashable, characters: int) -> tuple[float, float]:
        """Tokens of the prompt and of the answer. kind: the model and kind of ask; characters: of the prompt."""
        return characters * self._a_character, self._answers.get(kind, _FIRST_ANSWER)

    def learn(self, kind: Hashable, characters: int, usage: Usage) -> None:
        """What a request took."""
        if usage.prompt is not None and characters > 0:
            self._a_character += _WEIGHT * (usage.prompt / characters - self._a_character)
        if usage.completion is not None:
            before = self._answers.get(kind, float(usage.completion))
            self._answers[kind] = before + _WEIGHT * (usage.completion - before)
