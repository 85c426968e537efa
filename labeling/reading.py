"""A masked statement as sentences, with what its pronouns mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from liescope.games.vocabulary import NAME
from liescope.labeling.wording import ACCUSED, ACTING, BECAUSE, BREAK, DEAD_SO, OWN_DEATH, VICTIM

_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
_CAPITAL = re.compile("[A-Z]+")

_VOCATIVE = re.compile(
    rf"\W*(?:(?:hey|hi|hello|ok|okay|so|and|but|no|yes|well|look|listen|wait|sorry),? )?({NAME})(?:,| ?[:-] )"
)
_SECOND_VOCATIVE = re.compile(rf" (?:and )?{NAME},")
_LAST_VOCATIVE = re.compile(rf", ({NAME})\W*$")
_NAMES = re.compile(NAME)
_REACH, _LINK = 200, 20
_OWN_LABEL = re.compile(rf"\W*({NAME})(?: \([^)]{{0,40}}\))?: ")


def lower(text: str) -> str:
    """Lower case without changing the length, so that positions stay valid."""
    low = text.lower()
    return low if len(low) == len(text) else _CAPITAL.sub(lambda found: found[0].lower(), text)


@dataclass(slots=True)
class Sentence:
    """One sentence: its words in lower case, where it starts in the masked text, and who its pronouns may refer to. me:
    the speaker's character; you: the player spoken to; focus: who the sentences before it were about ("" if no one).
    """

    low: str
    start: int
    me: str
    you: str
    focus: str
    number: int

    @property
    def asks(self) -> bool:
        return "?" in self.low[-4:]

    def named(self, start: int, end: int) -> list[str]:
        """The other players named between two positions, in order, except those whose death is mentioned: those to vote
        out, if there are any.
        """
        found = [one for one in _NAMES.finditer(self.low, start, end) if one[0] != self.me]
        found = [one for one in found if not self._victim(self.low, one)]
        accused = [one[0] for one in found if ACCUSED.search(self.low, max(0, one.start() - _LINK), one.start())]
        return accused or [one[0] for one in found]

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
        before = self.low[max(0, position - _REACH) : position]
        if dead := DEAD_SO.search(before):
            return dead[1]
        named = [found for found in _NAMES.finditer(before) if found[0] != self.you and not self._victim(before, found)]
        if BECAUSE.search(before, max(0, len(before) - _LINK)) and (
            subjects := [found for found in named if ACTING.match(before, found.end())]
        ):
            return subjects[0][0]
        apart = max((found.end() for found in BREAK.finditer(before)), default=0)
        named = [found for found in named if found.start() >= apart] or named
        plain = [found[0] for found in named if not before.startswith("'s", found.end())]
        if plain or named:
            return plain[-1] if plain else named[-1][0]
        return self.focus or (self.you if self.you in before else "")

    def _victim(self, words: str, name: re.Match[str]) -> bool:
        """Whether a player is named as one who died."""
        return bool(
            OWN_DEATH.match(words, name.end()) or VICTIM.search(words, max(0, name.start() - _LINK), name.start())
        )


def sentences(masked: str, me: str) -> Iterator[Sentence]:
    """The sentences in order. The caller sets `focus` on the current sentence, and the next one starts with it."""
    you, focus = "", ""
    own = _OWN_LABEL.match(masked)
    start = own.end() if own and own[1] == me else 0
    for number, found in enumerate(_SENTENCE.finditer(masked, start)):
        low = lower(found[0])
        if low.isascii():  # it names nobody
            sentence = Sentence(low, found.start(), me, you, focus, number)
            yield sentence
            focus = sentence.focus or you
            continue
        first = _VOCATIVE.match(low)
        if first and first[1] != me and not low.startswith((" the ", " a ", " an ", " our ", " who "), first.end()):
            you = "" if _SECOND_VOCATIVE.match(low, first.end()) else first[1]
        elif (last := _LAST_VOCATIVE.search(low, max(0, len(low) - 12))) and last[1] != me:
            you = last[1]
        sentence = Sentence(low, found.start(), me, you, focus, number)
        yield sentence
        named = sentence.named(first.end() if first else 0, len(low))
        focus = sentence.focus if sentence.focus != focus else named[0] if named else focus or you
