"""Who answers in the suspect's place: a chat model behind an endpoint, or a local causal language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.follow_up.questions import Conversation, Questions, first_side
from liescope.detectors.judge.answers import label_probability
from liescope.detectors.language_model import LanguageModel
from liescope.detectors.protocol import Progress
from liescope.generate.players.openai.completion import Completion

ASKING = "asking the suspect"
_MOST = 100_000  # conversations whose answers are remembered
_remembered: WeakKeyDictionary[LanguageModel, dict[tuple[str, ...], NDArray[np.float64]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ToTheSuspect:
    """One question at the end of a conversation, put to a chat model. The answer is the probability of yes, or 1 or 0
    from an endpoint without probabilities.
    """

    conversation: Conversation
    questions: Questions
    asked: str

    def words(self, stated: bool) -> list[dict[str, str]]:  # noqa: ARG002
        return self.conversation.messages(self.questions.intro, self.asked)

    def read(self, reply: Completion, stated: bool) -> float | None:
        if not stated:
            return label_probability(reply.tokens, self.questions.sides)
        side = first_side(reply.content, self.questions)
        return None if side is None else float(side)


def local_answers(
    model: LanguageModel, conversations: Sequence[Conversation], questions: Questions, progress: Progress
) -> NDArray[np.float64]:
    """(conversations, questions): the probability of yes, from those of the next word. Answers are remembered, so that
    folds share the work.
    """
    known = _remembered.setdefault(model, {})
    asked, found = questions.asked(), []
    for number, one in enumerate(conversations):
        progress(ASKING, number, len(conversations))
        text, ends = one.text(questions.intro), [one.put(words) for words in asked]
        answers = known.get((text, *ends))
        if answers is None:
            answers = model.chances(text, ends, questions.sides)
            if len(known) < _MOST:
                known[text, *ends] = answers
        found.append(answers)
    progress(ASKING, len(conversations), len(conversations))
    return np.stack(found)
