"""What a model learns in one game for the next, in words (Triadic Werewolf paper, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LessonKind(StrEnum):
    """The list that a lesson belongs to."""

    TO_DO = "to_do"
    TO_AVOID = "to_avoid"
    WINNING_TACTIC = "winning_tactic"


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson: a note in free text."""

    kind: LessonKind
    text: str
