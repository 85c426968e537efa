"""Prepares a statement for the patterns: cleaned, names masked, cut into sentences, pronouns resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from liescope.labeling.wording import NAME, OWN_DEATH

_FIRST = 0xF0000
_MOST_NAMES = 0xFFFD
_ODD = {0x2018: "'", 0x2019: "'", 0x02BC: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"', 0x2026: "...", 0x00A0: " "}
_ODD |= {code: " " for code in range(32) if code != 10}
_UNSEEN = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF, 0x61C)
_ODD_CHARACTERS: dict[int, str | None] = {**_ODD, **dict.fromkeys(_UNSEEN)}
_PRIVATE = re.compile("[\U000f0000-\U000ffffd]")
_BLANKS = re.compile(r"[ *_~`]{2,}|[*_~`]")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
_WHOLE = re.compile(r'\s*"([^"]*)"[\s.]*')
_QUOTED = re.compile(r'"[^"]{0,400}"')
_CAPITAL = re.compile("[A-Z]+")

# Names that are also English words: only the exact spelling counts as the name.
_ORDINARY = frozenset(
    re.findall(
        r"\w+",
        "a an the i he she they you who me it will may mark hope faith grace frank bill rose art ivy jack drew chase "
        "pat rob sue dawn joy summer april june august red blue green town mafia detective villager",
    )
)

_VOCATIVE = re.compile(
    rf"\W*(?:(?:hey|hi|hello|ok|okay|so|and|but|no|yes|well|look|listen|wait|sorry),? )?({NAME})(?:,| ?[:-] )"
)
_SECOND_VOCATIVE = re.compile(rf" (?:and )?{NAME},")
_LAST_VOCATIVE = re.compile(rf", ({NAME})\W*$")
_NAMES = re.compile(NAME)
_OWN_LABEL = re.compile(rf"\W*({NAME})(?: \([^)]{{0,40}}\))?: ")


def clean(text: str) -> str:
    """Straight quotes, no control characters, direction marks or markup, single spaces."""
    return _BLANKS.sub(" ", _PRIVATE.sub(" ", text.translate(_ODD_CHARACTERS)))


@lru_cache(maxsize=256)
def _name_pattern(names: tuple[str, ...]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    """A pattern that matches any name as a word, and the private character of each spelling."""
    marks: dict[str, str] = {}
    for number, name in enumerate(names[:_MOST_NAMES]):
        spelled = clean(name).strip()
        spellings = {spelled} if spelled.lower() in _ORDINARY else {spelled, spelled.lower(), spelled.upper()}
        for spelling in spellings:
            if spelling:
                marks.setdefault(spelling, chr(_FIRST + number))
    if not marks:
        return None, marks
    longest_first = sorted(marks, key=lambda spelling: (-len(spelling), spelling))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"), marks


def mask(text: str, names: tuple[str, ...]) -> str:
    """The cleaned text with each name as its private character. Words in quotation marks are left out, because
    they are someone else's, unless the whole text is quoted.
    """
    text = clean(text)
    whole = _WHOLE.fullmatch(text)
    text = whole[1] if whole else _QUOTED.sub('""', text)
    pattern, marks = _name_pattern(names)
    return pattern.sub(lambda found: marks[found[0]], text) if pattern else text


def unmask(text: str, names: Sequence[str]) -> str:
    """The text with its names restored, as the game spells them."""
    return _NAMES.sub(lambda found: names[ord(found[0]) - _FIRST], text)


def mark_of(name: str, names: Sequence[str]) -> str:
    """The private character of a player, "" for a speaker who is not a player."""
    return chr(_FIRST + names.index(name)) if name in names else ""


def lower(text: str) -> str:
    """Lower case without changing the length, so that positions stay valid."""
    low = text.lower()
    return low if len(low) == len(text) else _CAPITAL.sub(lambda found: found[0].lower(), text)


@dataclass(slots=True)
class Sentence:
    """One sentence: its words, in lower case, and who its pronouns may refer to. me: the speaker's character; you: the
    player spoken to; focus: who the sentences before it were about ("" if no one).
    """

    words: str
    low: str
    me: str
    you: str
    focus: str
    number: int

    @property
    def asks(self) -> bool:
        return "?" in self.low[-4:]

    def named(self, start: int, end: int) -> list[str]:
        """The other players named between two positions, in order, except those whose death is mentioned."""
        found = _NAMES.finditer(self.low, start, end)
        return [one[0] for one in found if one[0] != self.me and not OWN_DEATH.match(self.low, one.end())]

    def resolve(self, word: str, position: int) -> str:
        """The character of the player that a subject or object refers to, "" if unclear."""
        word = word.strip()
        if _NAMES.match(word):
            return word[0]
        if word in ("i", "me", "myself"):
            return self.me
        if word == "you":
            return self.you
        if word == "who":
            before = self.low[max(0, position - 3) : position].rstrip(" ,")
            return before[-1] if before and _NAMES.match(before[-1]) else ""
        before = self.low[max(0, position - 200) : position]
        named = [
            found
            for found in _NAMES.finditer(before)
            if found[0] != self.you and not OWN_DEATH.match(self.low, found.end() + max(0, position - 200))
        ]
        plain = [found[0] for found in named if not before.startswith("'s", found.end())]
        if plain or named:
            return plain[-1] if plain else named[-1][0]
        return self.focus or (self.you if self.you in before else "")


def sentences(masked: str, me: str) -> Iterator[Sentence]:
    """The sentences in order. The caller sets `focus` on the current sentence, and the next one starts with it."""
    you, focus = "", ""
    own = _OWN_LABEL.match(masked)
    start = own.end() if own and own[1] == me else 0
    for number, found in enumerate(_SENTENCE.finditer(masked, start)):
        words = found[0]
        low = lower(words)
        first = _VOCATIVE.match(low)
        if first and first[1] != me and not low.startswith((" the", " a", " our", " who"), first.end()):
            you = "" if _SECOND_VOCATIVE.match(low, first.end()) else first[1]
        elif (last := _LAST_VOCATIVE.search(low, max(0, len(low) - 12))) and last[1] != me:
            you = last[1]
        sentence = Sentence(words, low, me, you, focus, number)
        yield sentence
        named = sentence.named(first.end() if first else 0, len(low))
        focus = sentence.focus if sentence.focus != focus else named[0] if named else focus or you
