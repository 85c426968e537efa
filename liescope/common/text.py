"""Makes untrusted text safe to print, and to write into Markdown and CSV; units in words; expressions compiled late."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, cast

_MARKS = re.compile(r"[\\`*_\[\]|~$]|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)


def plain(text: str) -> str:
    """Text that is safe on a terminal: control characters, direction marks and the like become visible escapes.

    Everything from a model, a file or a person passes through here before it is printed. Line breaks are kept.
    """
    return "\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in line
        if unicodedata.category(letter) != "Cs"
    )


def markdown(text: str) -> str:
    """One line of text that Markdown shows literally: it starts no link, image, markup, formula or table cell."""
    escaped = _MARKS.sub(r"\\\g<0>", plain(text))
    return " ".join(escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


# Letters of other alphabets that look like a Latin one, Cyrillic and then Greek, before case is folded
_LOOKS = str.maketrans(
    "АВЕЅІЈКМНОРСТУХԚԜаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαιονϲϳıɑɡ",
    "ABESIJKMHOPCTYXQWaesijopcyxhdqwABEZHIKMNOPTYXaiovcjiag",
)


def look_of(name: str) -> str:
    """What a name looks like: names that a reader cannot tell apart, by case, alphabet, form of letters, spacing or
    marks that nobody sees, have one look.
    """
    seen = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return " ".join(seen.translate(_LOOKS).casefold().split())


def look_alikes(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two of some names that look alike."""
    first: dict[str, str] = {}
    for name in names:
        if (look := look_of(name)) in first:
            return first[look], name
        first[look] = name
    return None


TEXT, CHAT = "text", "chat"
"""What stands in the place of a game's name where there is no game: a text of somebody's table, and a conversation."""
ASSISTANT = "assistant"
"""Whose turns of a conversation are judged; the others are their context."""
GAME = "game"
"""What `unit_of` calls records of games."""
_UNITS = {TEXT: "text", CHAT: "conversation", "inspect": "conversation", "scout": "conversation"}
WITHOUT_GAME = frozenset(_UNITS)


def unit_of(kinds: Iterable[str]) -> str:
    """What to call records of these kinds: a conversation, a text or a game; a record where the kinds are mixed."""
    units = {_UNITS.get(kind, GAME) for kind in kinds}
    return units.pop() if len(units) == 1 else "record" if units else GAME


def any_games(kinds: Iterable[str]) -> bool:
    """Whether there are games among records of these kinds."""
    return not WITHOUT_GAME.issuperset(kinds)


class Units(NamedTuple):
    """What a corpus calls its statements and the units they are drawn by: "statements" of "games" or "conversations",
    "texts" of "groups".
    """

    statements: str
    games: str

    @classmethod
    def of(cls, kinds: Iterable[str], alone: bool = True) -> Units:
        """The words for records of these kinds. alone: no conversations are drawn together, as a group."""
        unit = unit_of(kinds)
        drawn = f"{unit}s" if unit == GAME or (alone and unit != TEXT) else "groups"
        return cls("texts" if unit == TEXT else "statements", drawn)

    @property
    def are_games(self) -> bool:
        return self.games == "games"

    def say(self, words: str) -> str:
        """Our own sentence about statements of games, reworded for these units. Never apply it to quoted words."""
        for ours, own in (("statement", self.statements[:-1]), ("game", self.games[:-1])):
            words = re.sub(rf"\b{ours}(?=s?\b)", own, words)
        return words

    def counted(self, statements: int, games: int, kind: str = "") -> str:
        """How many there are, as "60 statements of 10 games", or "480 texts" where each stands alone. kind: a
        word before the statements, as in "labelled".
        """
        said = f"{kind} {self.statements[:-1]}".strip()
        alone = self.statements == "texts" and statements == games
        return number_of(statements, said) + ("" if alone else f" of {number_of(games, self.games[:-1])}")


OF_GAMES = Units("statements", f"{GAME}s")


def record_unit(kinds: Iterable[str], records: int, statements: int) -> str:
    """What to call one of these records: as `unit_of`, but a group where records hold several texts."""
    unit = unit_of(kinds)
    return "group" if unit == "text" and statements > records else unit


def holding(kinds: Collection[str], records: int, statements: int) -> str:
    """What this many records hold, as in "400 texts of 50 groups"."""
    if unit_of(kinds) == "conversation":
        return f"{number_of(records, 'conversation')} with {number_of(statements, 'turn')}"
    return Units.of(kinds).counted(statements, records)


def number_of(number: int, what: str, plural: str = "") -> str:
    """A count with its noun: "1 text", "2,000 texts"."""
    return f"{number:,} {what if number == 1 else plural or f'{what}s'}"


def cut(line: str, width: int) -> str:
    """A line of at most so many characters."""
    return line if len(line) <= width else f"{line[: width - 1]}…"


def brief(text: str, width: int) -> str:
    """A text on one line of at most so many characters."""
    return cut(" ".join(text.split()), width)


def cell(text: str) -> str:
    """Text for a CSV cell that no spreadsheet runs as a formula: a possible formula is prefixed with a quote."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def sentence(words: str) -> str:
    """The words with a capital, and a full stop unless they end with another mark."""
    whole = words.rstrip(".")
    return f"{whole[:1].upper()}{whole[1:]}{'' if whole.endswith(('?', '!')) else '.'}" if whole else ""


def first_sentence(text: str) -> str:
    """The first sentence of a text, on one line."""
    return sentence(re.split(r"(?<=[.?!]) ", " ".join(text.split()), maxsplit=1)[0])


class _Uncompiled:
    def __init__(self, source: str, flags: int) -> None:
        self.source, self.flags = source, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.source, self.flags), name)
        setattr(self, name, found)  # from now on as fast as any method
        return found


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when it is first used: every command imports many, and few use them."""
    return cast(re.Pattern[str], _Uncompiled(source, flags))
