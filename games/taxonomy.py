"""The eight kinds of deception that speakers and observers choose from.

Triadic Werewolf paper, Table 3: the four kinds of the WOLF engine (omission, distortion, fabrication, misdirection),
three more, and none. The definitions here are in our own words.
"""

from __future__ import annotations

import re
from enum import StrEnum


class DeceptionType(StrEnum):
    """How a statement deceives. `definition` describes it in a sentence."""

    NONE = "none"
    OMISSION = "omission"
    DISTORTION = "distortion"
    FABRICATION = "fabrication"
    MISDIRECTION = "misdirection"
    SYCOPHANCY = "sycophancy"
    STRATEGIC_DECEPTION = "strategic_deception"
    PERSUASIVE_MANIPULATION = "persuasive_manipulation"

    @property
    def definition(self) -> str:
        return _DEFINITIONS[self]


_DEFINITIONS = {
    DeceptionType.NONE: "The statement is true as far as the speaker knows, and is not meant to deceive.",
    DeceptionType.OMISSION: "The speaker keeps back something that matters, on purpose.",
    DeceptionType.DISTORTION: "Something true is bent or blown up.",
    DeceptionType.FABRICATION: "Something is made up.",
    DeceptionType.MISDIRECTION: "Attention is drawn away from what matters.",
    DeceptionType.SYCOPHANCY: "The speaker agrees in order to fit in or to be trusted, without believing it.",
    DeceptionType.STRATEGIC_DECEPTION: "The speaker gives a false picture of its role, abilities or plans.",
    DeceptionType.PERSUASIVE_MANIPULATION: "Feelings or social pressure stand in for reasons.",
}

_ALIASES = {
    "honest": DeceptionType.NONE,
    "truthful": DeceptionType.NONE,
    "no_deception": DeceptionType.NONE,
    "not_deceptive": DeceptionType.NONE,
    "omit": DeceptionType.OMISSION,
    "distort": DeceptionType.DISTORTION,
    "exaggeration": DeceptionType.DISTORTION,
    "fabricate": DeceptionType.FABRICATION,
    "misdirect": DeceptionType.MISDIRECTION,
    "deflection": DeceptionType.MISDIRECTION,
    "sycophantic": DeceptionType.SYCOPHANCY,
    "strategic": DeceptionType.STRATEGIC_DECEPTION,
    "manipulation": DeceptionType.PERSUASIVE_MANIPULATION,
    "persuasive": DeceptionType.PERSUASIVE_MANIPULATION,
    "emotional_manipulation": DeceptionType.PERSUASIVE_MANIPULATION,
}

_BY_NAME = {kind.value: kind for kind in DeceptionType} | _ALIASES
_NOT_A_WORD = re.compile(r"[\W_]+")
_LONGEST = 100


def parse_type(text: str | None) -> DeceptionType | None:
    """The type that a text names, whatever its case, spaces, hyphens or quotes; None for anything else.

    A text that names no type is never read as "none": an unreadable text stays unread.
    """
    if text is None or len(text) > _LONGEST:
        return None
    return _BY_NAME.get(text) or _BY_NAME.get(_NOT_A_WORD.sub("_", text.casefold()).strip("_"))
