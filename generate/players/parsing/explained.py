"""A vote with its reason: the name first, then what all players will hear.

The reason is a standalone text in double quotation marks, not a quotation within a sentence; the field of a JSON
object; or, with a note, the text in the reason's place without quotation marks (`unquoted`). If words were written but
must stay private, there is no reason: its text is None, which the rules turn into a silence with a fallback. A readable
reason is kept even if the name cannot be read: then only the vote has no choice, with a note that says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from liescope.generate.players.parsing.choice import Choice, read_choice
from liescope.generate.players.parsing.objects import find_object, first_text
from liescope.generate.players.parsing.speech import read_message
from liescope.generate.players.parsing.unquoted import KEPT_BACK, UNQUOTED, read_unquoted

_VOTES = ("vote", "name", "choice", "target", "player")
_REASONS = ("reason", "public_reason", "message", "explanation", "statement", "justification", "rationale")
_THOUGHTS = ("reasoning", "thoughts", "thought", "thinking", "analysis", "private_reasoning")
_QUOTE = re.compile(r'(?<!\\)["“„«「『]')
_QUOTES = 20  # the maximum number of opening quotes tried


@dataclass(frozen=True, slots=True)
class ExplainedVote:
    """option: None if no single option could be read; reason: "" if none was given, None if there were words that stay
    private; problem: why nothing could be read.
    """

    option: str | None
    reason: str | None = ""
    rest: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_explained_vote(text: str, options: Sequence[str], seat: str) -> ExplainedVote:
    """The vote and the reason in a cleaned text by the player with this name."""
    if data := find_object(text, []):
        vote = first_text(data, _VOTES)
        choice = read_choice(text if vote is None else vote, options)
        reason = " ".join((first_text(data, _REASONS) or "").split())
        return _vote(choice, reason, first_text(data, _THOUGHTS) or "", ("vote in JSON",))
    choice = read_choice(text, options)
    after = text if choice.option is None else choice.rest
    begin = _opening(after, choice.option or "")
    message = read_message(after[begin:] if begin is not None else "", seat)
    if message.text is not None:
        return _vote(choice, message.text, message.rest, choice.notes + message.notes)
    said = read_unquoted(text, choice.option)
    if said.reason is None:
        return _vote(choice, None, said.rest, (*choice.notes, KEPT_BACK))
    return _vote(choice, said.reason, said.rest, (*choice.notes, UNQUOTED) if said.reason else choice.notes)


def _vote(choice: Choice, reason: str | None, rest: str, notes: tuple[str, ...]) -> ExplainedVote:
    if choice.option is None and not reason:
        return ExplainedVote(None, "", rest, notes, choice.problem)
    missing = (f"vote: {choice.problem}",) if choice.option is None else ()
    return ExplainedVote(choice.option, reason, rest, (*notes, *missing))


def _opening(text: str, option: str) -> int | None:
    """Where a standalone quotation opens: at the start of a line, or after the name, a sentence or a label."""
    for number, found in enumerate(_QUOTE.finditer(text)):
        if number == _QUOTES:
            break
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip(" \t*_`>#~")
        if not before or before[-1] in ".:!?;–—-" or before.casefold() == option.casefold():
            return found.start()
    return None
