"""The words for cards, and what a statement claims about the cards that its speaker has just laid."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from liescope.games.facts import ClaimData
from liescope.games.narration import counted
from liescope.games.shared_rules import claim_of

RANKS = ("ace", "king", "queen", "jack", "ten", "nine", "eight", "seven", "six", "five")
_DIGITS = {"ten": "10", "nine": "9", "eight": "8", "seven": "7", "six": "6", "five": "5"}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, **{str(n): n for n in range(1, 10)}}
_NAMED = {form: rank for rank in RANKS for form in (rank, f"{rank}s", f"{rank}es", f"{_DIGITS.get(rank, rank)}s")}
_CARDS = re.compile(
    rf"(?P<no>\b(?:no|not|never|without|any)\s(?:\w+\s){{0,2}})?(?:\b(?P<number>{'|'.join(_NUMBERS)})\s"
    rf"(?:(?:of|more|the|my|lovely|little|nice)\s){{0,2}})?\b(?P<rank>{'|'.join(_NAMED)})\b",
    re.IGNORECASE,
)


def plural(rank: str) -> str:
    """ "kings" for "king"."""
    return counted([(rank, 2)]).removeprefix("2 ")


def cards(hand: Mapping[str, int]) -> str:
    """Cards in words, by rank from the aces down: "2 kings and 1 ten"."""
    return counted((rank, hand.get(rank, 0)) for rank in RANKS)


def read_cards(words: str) -> Counter[str]:
    """The cards of `cards`."""
    return Counter({_NAMED[rank]: int(number) for number, rank in re.findall(r"(\d+) (\w+)", words)})


def claims(text: str, speaker: str, laid: Counter[str], evidence: int) -> list[ClaimData]:
    """The claim of a text that names ranks: which cards were laid, and how many of each if it says so. Ranks after a
    "no" or "not" are not claimed. evidence: the event that shows what was laid.
    """
    found = [match for match in _CARDS.finditer(text) if not match["no"]]
    if not found:
        return []
    claimed: dict[str, int] = {}
    for match in found:
        rank, number = _NAMED[match["rank"].lower()], _NUMBERS.get((match["number"] or "").lower(), 0)
        claimed[rank] = number or claimed.get(rank, 0)
    true = claimed.keys() == laid.keys() and all(number in (0, laid[rank]) for rank, number in claimed.items())
    said = " and ".join(counted([(rank, number)]) or plural(rank) for rank, number in claimed.items())
    return [claim_of("laid", speaker, said, true, (found[0].start(), found[-1].end()), evidence=[evidence])]
