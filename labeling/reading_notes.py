"""Notes on how a statement was read, for other rooms to act on. They travel from `Reply.notes` to `Event.data["notes"]`
and from there to the column `read_notes`.
"""

from __future__ import annotations

from collections.abc import Iterable

LOST_TEXT = "the text was lost before it was published: only a backslash is left of it"
CUT_TEXT = "the text was cut at an escaped quotation mark before it was published"
MAYBE_CUT = "may have been cut off: it ends in dots"
CUT_NOTES = (CUT_TEXT, MAYBE_CUT)
"""The end of what was said is lost, or seems to be."""


def text_is_lost(read_notes: Iterable[str]) -> bool:
    """Whether none of what was said is left, so that the statement, like a silence, has no words to judge."""
    return LOST_TEXT in read_notes
