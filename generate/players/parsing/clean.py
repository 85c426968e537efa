"""What happens to a raw text before it is read: made safe to keep, and its reasoning taken off.

Everything here is one pass over the text, so that a hostile answer costs no more than its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from liescope.generate.players.parsing.reasoning import split_reasoning

LONGEST = 100_000

# Characters that no reader sees: controls, zero-width and bidirectional marks, tags, halves of surrogate pairs. The
# zero-width joiners stay, which emoji and several scripts need.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_FENCE = re.compile(r"\s*```[^\n`]*\n")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """text: what is to be read; reasoning: what was taken off; notes: what was done; problem: "" or why not."""

    text: str
    reasoning: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def storable(text: str) -> str:
    """The text as UTF-8 can hold it: halves of surrogate pairs, which JSON can smuggle in, become "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def visible(raw: str) -> tuple[str, tuple[str, ...]]:
    """The text without unseen characters, cut at LONGEST, its lines ended by "\\n"; and notes of what was done."""
    notes: list[str] = []
    if len(raw) > LONGEST:
        raw = raw[:LONGEST]
        notes.append(f"only the first {LONGEST} characters were read")
    text, removed = _UNSEEN.subn("", _LINE_ENDS.sub("\n", raw))
    if removed:
        notes.append("control characters removed")
    return text.strip(), tuple(notes)


def clean(raw: str) -> Cleaned:
    """Remove unseen characters, and take the model's reasoning off (`reasoning.split_reasoning`)."""
    text, notes = visible(raw)
    split = split_reasoning(text)
    return Cleaned(split.answer, split.reasoning, notes + split.notes, split.problem)


def unfence(text: str) -> str | None:
    """What stands inside a code fence that opens the text, or None if none does."""
    opened = _FENCE.match(text)
    if not opened:
        return None
    body = text[opened.end() :]
    closed = body.find("```")
    return (body if closed < 0 else body[:closed]).strip()
