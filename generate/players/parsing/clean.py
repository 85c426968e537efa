"""Cleaning of a raw text before it is read: it is made safe to store, and its reasoning is removed.

Each step takes one pass over the text, so a hostile answer costs time in proportion to its length only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from liescope.generate.players.parsing.reasoning import split_reasoning

LONGEST = 100_000

# Invisible characters: controls, zero-width and bidirectional marks, tags, halves of surrogate pairs. The
# zero-width joiners stay, which emoji and several scripts need.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_FENCE = re.compile(r"\s*```[^\n`]*\n")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """text: what to read; reasoning: what was removed; notes: what was done; problem: "", or why there is no text."""

    text: str
    reasoning: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def storable(text: str) -> str:
    """The text in a form that UTF-8 can encode: lone surrogates, which JSON can introduce, become "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def visible(raw: str) -> tuple[str, tuple[str, ...]]:
    """The text without invisible characters, cut at LONGEST, with lines ending in "\\n"; and notes of what was done."""
    notes: list[str] = []
    if len(raw) > LONGEST:
        raw = raw[:LONGEST]
        notes.append(f"only the first {LONGEST} characters were read")
    text, removed = _UNSEEN.subn("", _LINE_ENDS.sub("\n", raw))
    if removed:
        notes.append("control characters removed")
    return text.strip(), tuple(notes)


def clean(raw: str) -> Cleaned:
    """Remove invisible characters and the model's reasoning (`reasoning.split_reasoning`)."""
    text, notes = visible(raw)
    split = split_reasoning(text)
    return Cleaned(split.answer, split.reasoning, notes + split.notes, split.problem)


def unfence(text: str) -> str | None:
    """The contents of a code fence that opens the text, or None if there is no such fence."""
    opened = _FENCE.match(text)
    if not opened:
        return None
    body = text[opened.end() :]
    closed = body.find("```")
    return (body if closed < 0 else body[:closed]).strip()
