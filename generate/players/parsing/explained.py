"""A vote with its reason: the name first, then what everybody is to hear.

Only what is clearly meant for everybody becomes the reason: words in double quotation marks that stand on their own,
not a quotation within a sentence; or the paragraph behind the label "Reason:". Anything else stays private, as players
are told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liescope.generate.players.parsing.choice import read_choice
from liescope.generate.players.parsing.clean import visible
from liescope.generate.players.parsing.objects import find_object
from liescope.generate.players.parsing.speech import read_message

_VOTES = ("vote", "name", "choice", "target", "player")
_REASONS = ("reason", "message", "explanation", "statement")
_QUOTE = re.compile(r'(?<!\\)["“„«]')
_LABEL = re.compile(r"\W{0,9}(?:my )?(?:reason|explanation)\W{0,9}[:–—-]\W{0,9}", re.IGNORECASE)
_QUOTES = 20  # how many opening quotes are tried


@dataclass(frozen=True, slots=True)
class ExplainedVote:
    """option: None where no single option could be read, with the problem named; reason: "" where none was given."""

    option: str | None
    reason: str = ""
    rest: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_explained_vote(text: str, options: Sequence[str], seat: str) -> ExplainedVote:
    """The vote and the reason in a cleaned text by the player of that name."""
    if data := find_object(text, []):
        vote = _field(data, _VOTES)
        choice = read_choice(text if vote is None else vote, options)
        reason = " ".join((_field(data, _REASONS) or "").split())
        return ExplainedVote(choice.option, reason, "", ("vote in JSON",), choice.problem)
    choice = read_choice(text, options)
    after = text if choice.option is None else choice.rest
    begin = _opening(after, choice.option or "")
    message = read_message(after[begin:] if begin is not None else "", seat)
    if message.text is not None:
        return ExplainedVote(choice.option, message.text, message.rest, choice.notes + message.notes, choice.problem)
    if choice.option is None:
        return ExplainedVote(None, "", "", choice.notes, choice.problem)
    label = _LABEL.match(after)
    if label is None:
        return ExplainedVote(choice.option, "", after.strip(), choice.notes)
    said, _, rest = after[label.end() :].partition("\n\n")
    reason = " ".join(said.split())
    notes = (*choice.notes, "reason without quotation marks") if reason else choice.notes
    return ExplainedVote(choice.option, reason, rest.strip(), notes)


def _opening(text: str, option: str) -> int | None:
    """Where a quotation opens that stands on its own: at the start of a line, or behind the name, a sentence or a
    label.
    """
    for number, found in enumerate(_QUOTE.finditer(text)):
        if number == _QUOTES:
            break
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip(" \t*_`>#~")
        if not before or before[-1] in ".:!?;–—-" or before.casefold() == option.casefold():
            return found.start()
    return None


def _field(data: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these fields that is a text."""
    known = {str(key).casefold(): visible(value)[0] for key, value in data.items() if isinstance(value, str)}
    return next((known[name] for name in names if name in known), None)
