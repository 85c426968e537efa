"""A vote with its reason: the name first, then what everybody is to hear."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generate.parsing.choice import read_choice
from generate.parsing.clean import unfence
from generate.parsing.speech import read_message

_VOTES = ("vote", "name", "choice", "target", "player")
_REASONS = ("reason", "message", "explanation", "statement")

_OPENING = ('"', "“", "*", "`")  # what may stand before or instead of a straight quotation mark


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
    found = _in_json(text)
    if found is not None:
        choice = read_choice(found[0], options)
        return ExplainedVote(choice.option, " ".join(found[1].split()), "", ("vote in JSON",), choice.problem)
    choice = read_choice(text, options)
    after = choice.rest if choice.option is not None else text
    quote = 0 if after.startswith(_OPENING) else after.find('"')
    message = read_message(after[quote:] if quote >= 0 else "", seat)
    if message.text is not None:
        return ExplainedVote(choice.option, message.text, message.rest, choice.notes + message.notes, choice.problem)
    reason = " ".join(after.split()) if choice.option is not None else ""
    notes = (*choice.notes, "reason without quotation marks") if reason else choice.notes
    return ExplainedVote(choice.option, reason, "", notes, choice.problem)


def _in_json(text: str) -> tuple[str, str] | None:
    """(vote, reason) of a JSON object with both under some usual name, or None."""
    try:
        data = json.loads(unfence(text) or text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, Mapping):
        return None
    known = {str(key).casefold(): value for key, value in data.items() if isinstance(value, str)}
    vote = next((known[name] for name in _VOTES if name in known), None)
    return None if vote is None else (vote, next((known[name] for name in _REASONS if name in known), ""))
