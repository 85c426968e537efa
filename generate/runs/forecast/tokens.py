"""How many tokens a text has and how long answers are, where nothing has been counted yet. These are estimates.

Characters a token: 3.8 to 4.3 by kind of ask, for the built-in prompts of three games, by the tokenizers of Qwen and of
Mistral (Tekken). Messages: 3,000 of the games that the authors of Mini-Mafia published have 15 to 50 tokens (5% to 95%)
by either, 29 in the median. The other answers are as long as their formats ask for; no number allows for reasoning.
All 39,160 messages have 139 characters in the mean; those of scripts have 94 to 115, so they are lengthened.
"""

from __future__ import annotations

from liescope.games.core import AskKind
from liescope.generate.runs.forecast.result import Range

CHARACTERS_A_TOKEN = Range(3.6, 4.0, 4.5)
_CHOICE = Range(2, 5, 40)
_ANSWERS = {
    AskKind.SPEAK: Range(15, 35, 90),
    AskKind.EXPLAINED_VOTE: Range(20, 45, 110),
    AskKind.SELF_ASSESSMENT: Range(50, 90, 200),
    AskKind.PEER_ASSESSMENT: Range(55, 100, 220),
    AskKind.REFLECTION: Range(60, 150, 400),
    AskKind.NAME_ROLES: Range(20, 40, 100),
    AskKind.TAG_LESSON: Range(15, 25, 60),
    AskKind.FIND_CLAIMS: Range(20, 90, 300),
}


MESSAGES = 139 / 108  # how much longer messages of models are than those of scripts
_MORE = "That is how it looks from here, and so far nothing has been said that would make it look any other way. "


def as_models_say(text: str, limit: int | None) -> str:
    """A script's message, as long as a model's would be, with words that say nothing."""
    length = min(round(len(text) * MESSAGES), limit or 10**6)
    more = length - len(text) - 1
    return f"{text} {(_MORE * (more // len(_MORE) + 1))[:more]}" if more > 0 else text


def tokens_of(characters: float) -> Range:
    """The tokens of a text with so many characters."""
    ratio = CHARACTERS_A_TOKEN
    return Range(characters / ratio.high, characters / ratio.likely, characters / ratio.low)


def answer_tokens(kind: AskKind, most: float | None = None, thinking: int = 0) -> Range:
    """The tokens of an answer. most: the limit that the player sets; thinking: its budget for reasoning."""
    usual = _ANSWERS.get(kind, _CHOICE)
    longest = Range(usual.low, usual.likely + thinking / 2, usual.high + thinking)
    return longest if most is None else Range(*(min(part, most) for part in longest))
