"""The eight kinds of deception that speakers and observers choose from.

Triadic Werewolf paper, Table 3: the four kinds of the WOLF engine (omission, distortion, fabrication, misdirection),
three more, and none. The definitions here are in our own words.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from pathlib import Path


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
        return str(_TOLD[self]["definition"])


_TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_BY_NAME: dict[str, DeceptionType] = {
    name: kind for kind in DeceptionType for name in (kind.value, *_TOLD[kind]["aliases"])
}
_NOT_A_WORD = re.compile(r"[\W_]+")
_LONGEST = 100


def parse_type(text: str | None) -> DeceptionType | None:
    """The type that a text names, whatever its case, spaces, hyphens or quotes; None for anything else.

    A text that names no type is never read as "none": an unreadable text stays unread.
    """
    if text is None or len(text) > _LONGEST:
        return None
    return _BY_NAME.get(text) or _BY_NAME.get(_NOT_A_WORD.sub("_", text.casefold()).strip("_"))
