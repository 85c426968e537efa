"""The sheet of a deal, and what a text claims about it: battery, scratches and age of the item, any value, exactly
or as a bound, and the offers so far. Questions, conditions and quotations claim nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from liescope.games.facts import ClaimData
from liescope.games.shared_rules import claim_of

FACTS: Mapping[str, Sequence[str]] = {  # what may be true of an item; the best comes first
    "battery": ("works", "dead"),
    "scratches": ("none", "some"),
    "age": ("2", "3", "4", "5", "6"),
}
OTHERS, ELSEWHERE = "others", "elsewhere"  # who has offered something, if not a player by name


@dataclass(frozen=True, slots=True)
class Sheet:
    """item: its name; condition: a value for each of FACTS; values: what a perfect item is worth to each buyer, and the
    seller's least price; offers: so far, each as a buyer and a price.
    """

    item: str
    condition: Mapping[str, str]
    seller: str
    values: Mapping[str, int]
    offers: list[tuple[str, int]] = field(default_factory=list)

    def worth(self, buyer: str) -> float:
        """What the item is worth to a buyer: a dead battery takes 30% of its value, scratches 20%, each year 5%."""
        dead, scratched = (self.condition[fact] != FACTS[fact][0] for fact in ("battery", "scratches"))
        return self.values[buyer] * (100 - 30 * dead - 20 * scratched - 5 * int(self.condition["age"])) / 100

    def claims(self, text: str, speaker: str) -> list[ClaimData]:
        """What a text claims, with verdicts; known: whether its speaker could know them."""
        claims = []
        for kind, who, said, start, end in _found(text, speaker, tuple(self.values)):
            true = self._true(kind, subject := who or self.item, said)
            known = speaker == subject or (kind != "value" and speaker == self.seller)
            claims.append(claim_of(kind, subject, said, true, (start, end), known))
        return claims

    def _true(self, kind: str, subject: str, said: str) -> bool | None:
        if kind in FACTS:
            return said == self.condition.get(kind)
        if kind == "offer":
            made = any(subject in (who, OTHERS) and price == int(said) for who, price in self.offers)
            return None if subject == ELSEWHERE else made
        if (value := self.values.get(subject)) is None:
            return None
        more = int(said.rpartition(" ")[2]) - value
        return more >= 0 if "most" in said else more <= 0 if "least" in said else more == 0


_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_BREAK = re.compile(r"[,;:.!?\n]+|\b(?:and|but|though|while|so|because)\b", re.I)
_NO_CLAIM = re.compile(r"\?$|[\"“”]|\b(?:if|whether|suppose|hope|warranty|you (?:said|say|claim|told)\w*)\b", re.I)
_NOT = re.compile(r"\b(?:not?|never|nobody|hardly|without|free of|nothing|cannot|\w+n[’']t)\b", re.I)
_CONDITION = {
    "battery": re.compile(
        r"(?=\w)(?=.*\bbatter(?:y|ies)\b).*?\b(?:(?P<works>works?|working|fine|good|great|strong|perfect(?:ly)?|holds?|"
        r"lasts?)|(?P<dead>dead|dying|weak|broken|bad|gone|faulty|fails?|problems?|trouble))\b",
        re.I,
    ),
    "scratches": re.compile(
        r"\b(?:(?P<none>scratch-free|unscratched|spotless|flawless|pristine)|(?P<some>scratch(?:es|ed)?|dent(?:s|ed)?))\b",
        re.I,
    ),
}
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_AGE = re.compile(
    rf"(?<!than )\b(?P<years>\d\d?|{'|'.join(_NUMBERS)})[- ]years?[- ](?:old|ago)\b|\bbrand[- ]new\b", re.I
)
_N = r"\D{0,12}?\b(?P<n>\d{1,4})\b"
_OFFER = re.compile(
    rf"\b(?:offered|(?:have|had|got) an offer|bid)\b(?!.*\bthan\b)(?: of| me| us| you){{0,2}}{_N}", re.I
)
_WORTH = re.compile(rf"\bworth{_N}(?: coins)?(?: to me\b)?", re.I)
_BOUND = re.compile(
    rf"\b(?:can|could|cannot|worth|my)\b.*?\b(?:(?P<most>at most|up to|limit|maximum|budget)|(?P<least>at least|lowest|"
    rf"least|minimum)|(?P<more>more|higher|above|over|beyond)|(?:less|lower|below|under)){_N}",
    re.I,
)
_ELSEWHERE = re.compile(r"\b(?:elsewhere|online|outside|friend|neighbour|shop|dealer|last week)\b", re.I)


def _found(text: str, speaker: str, names: Sequence[str]) -> Iterator[tuple[str, str, str, int, int]]:
    """The claims of a text, each with its kind, subject ("" for the item), object, and characters in the text."""
    for sentence in _SENTENCE.finditer(text):
        if _NO_CLAIM.search(sentence[0]):
            continue
        start = sentence.start()
        for end, after in [*(gap.span() for gap in _BREAK.finditer(text, *sentence.span())), (sentence.end(),) * 2]:
            for kind, subject, said, match in _in_clause(text[start:end], speaker, names):
                yield kind, subject, said, start + match.start(), start + match.end()
            start = after


def _in_clause(words: str, speaker: str, names: Sequence[str]) -> Iterator[tuple[str, str, str, re.Match[str]]]:
    for fact, pattern in _CONDITION.items():
        if found := pattern.search(words):
            said, (best, worst) = str(found.lastgroup), FACTS[fact]
            denied = _NOT.search(words, 0, found.start(said))
            yield fact, "", (worst if said == best else best) if denied else said, found
    if found := _AGE.search(words):
        years = (found["years"] or "zero").lower()
        yield "age", "", str(_NUMBERS.index(years)) if years in _NUMBERS else years, found
    named = next((name for name in names if re.search(rf"\b{re.escape(name)}\b", words)), "")
    mine, denied = re.search(r"\b(?:I (?:can|could|cannot|can't)|[Mm]y|to me)\b", words), _NOT.search(words)
    if (found := _OFFER.search(words)) and not denied:
        own = re.search(r"\bI (?:have |had |already )*(?:offered|bid)\b", words)
        who = ELSEWHERE if _ELSEWHERE.search(words) else named or (speaker if own else OTHERS)
        yield "offer", who, found["n"], found
    elif (found := _BOUND.search(words)) and (who := speaker if mine else named):
        most = found["most"] or (not found["least"] and bool(denied) == bool(found["more"]))
        yield "value", who, f"at {'most' if most else 'least'} {found['n']}", found
    elif (found := _WORTH.search(words)) and not denied:
        yield "value", speaker if mine else named, found["n"], found
