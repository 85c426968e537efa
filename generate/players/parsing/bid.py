"""A bid for the floor: one whole number from 0 to 10."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from liescope.generate.players.parsing.clean import unfence

_ALONE = re.compile(r"[\s*_`\"'#>]*(-?\d{1,9})(?:\.0+)?(?:\s*/\s*10|\s*out of 10)?[\s*_`\"'.]*")
_NAMED = re.compile(
    r"\b(?:bid|urgency|score)\b[\s*_\"']*(?:is|of|:|=)?[\s*_\"'=:]*(-?\d{1,9})(?!\d|\.\d|e\d|\s*(?:or|to|-|–)\s*\d)",
    re.IGNORECASE,
)
_ANY = re.compile(r"(?<![\w.])-?\d{1,9}(?![\w.]*\d)")
_SCALE = re.compile(r"/\s*10\b|\bout of 10\b|\b(?:from )?0\s*(?:to|-|–)\s*10\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bid:
    """bid: None if there is no single number, with the problem given."""

    bid: int | None
    rest: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_bid(text: str) -> Bid:
    """The bid in a cleaned text; a number outside 0 to 10 counts as the nearest bid, with a note."""
    line, _, rest = (unfence(text) or text).partition("\n")
    if found := _ALONE.fullmatch(line):
        return _bid(int(found.group(1)), rest.strip())
    if (number := _in_json(text)) is not None:
        return _bid(number, "", "bid in JSON")
    for pattern, note in ((_NAMED, "bid in a sentence"), (_ANY, "bid in a sentence")):
        numbers = {int(found) for found in pattern.findall(_SCALE.sub(" ", text))}
        if len(numbers) == 1:
            return _bid(numbers.pop(), text, note)
        if numbers:
            return Bid(None, problem="several numbers and no single bid")
    return Bid(None, problem="no number in the reply")


def _bid(number: int, rest: str, *notes: str) -> Bid:
    bid = min(max(number, 0), 10)
    return Bid(bid, rest, (*notes, *(["bid outside 0 to 10"] if bid != number else [])))


def _in_json(text: str) -> int | None:
    try:
        data = json.loads(unfence(text) or text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, Mapping):
        return None
    numbers = [value for value in data.values() if isinstance(value, int | float) and not isinstance(value, bool)]
    named = {"bid", "urgency", "score"} & {str(key).casefold() for key in data}
    return int(numbers[0]) if named and len(numbers) == 1 and numbers[0] == numbers[0] // 1 else None
