"""The sentences of the authors' logs, from every version of their engine, as entries.

A player's memory is a list of sentences. The versions word them differently: messages with or without quotation marks,
"found dead" with or without the role, votes with or without the day. A sentence of unknown form becomes None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from liescope.games.mafia import MAFIOSO
from liescope.generate.importers.mini_mafia.log_game import LogMessage, LogVote
from liescope.labeling.label import CUT_TEXT, LOST_TEXT, MAYBE_CUT

UNCLOSED = "the closing quote is missing"
BROKEN = "characters that are no text were replaced"
BLANK = "the published message is blank"
ROLE_WORDS = {"assassin": MAFIOSO, "evil": MAFIOSO}  # what early versions call a role
NOT_MAFIOSO = "not mafioso"
_GOOD = frozenset({"good", "innocent"})


@dataclass(frozen=True, slots=True)
class OwnRole:
    role: str


@dataclass(frozen=True, slots=True)
class Begins:
    """A night or a day begins."""

    night: bool


@dataclass(frozen=True, slots=True)
class Death:
    """A player was found dead; role: "" if it is not announced. name "": no one died."""

    name: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Kill:
    killer: str
    victim: str


@dataclass(frozen=True, slots=True)
class LearnedRole:
    """What this player learned about another player's role. stated: the sentence mentions an investigation."""

    name: str
    role: str
    stated: bool = True


@dataclass(frozen=True, slots=True)
class Exposure:
    """Another player knows this player's role."""

    name: str


@dataclass(frozen=True, slots=True)
class Votes:
    votes: tuple[LogVote, ...]


@dataclass(frozen=True, slots=True)
class Arrest:
    name: str
    role: str = ""


Entry = OwnRole | Begins | Death | Kill | LearnedRole | Exposure | Votes | Arrest | LogMessage
_Found = Sequence[str]  # the groups of a sentence from 1, "You" replaced by the player's name
PUBLIC = (Death, LogMessage, Votes, Arrest)


def role_of(word: str) -> str:
    """The role that a log's word means."""
    word = word.casefold()
    return NOT_MAFIOSO if word in _GOOD else ROLE_WORDS.get(word, word)


class Wording:
    """Reads the sentences about the players of one table."""

    def __init__(self, names: Sequence[str]) -> None:
        name = f"(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})"
        who = f"(You|{name})"
        self._message = re.compile(rf"(You said|You|{name}): ?(.*)", re.DOTALL)
        self._vote = re.compile(rf"{who} voted for ({name})(?: \(([^()]*)\))?")
        self._votes = re.compile(
            rf"(?:Day \d+ )?[Vv]otes: ((?:{self._vote.pattern})(?:, (?:{self._vote.pattern}))*)\.?"
        )
        when = r"(?:(?:Night|Day) \d+: )?"
        warning = r"(?:(?:Beware|Be careful), )?"
        self._forms: tuple[tuple[re.Pattern[str], Callable[[_Found], Entry]], ...] = tuple(
            (re.compile(rf"{when}{pattern}\.?"), make)
            for pattern, make in (
                (rf"You(?:'re| are) ({name}), the (\w+)", lambda found: OwnRole(role_of(found[2]))),
                (r"(Night|Day) \d+ begins", lambda found: Begins(found[1] == "Night")),
                (
                    rf"(?:The (\w+) )?({name})(?: \((\w+)\))? was found dead(?: this morning)?",
                    lambda found: Death(found[2], role_of(found[1] or found[3])),
                ),
                (r"(Nobody|No one) (?:died|was killed|was found dead)[\w ]*", lambda _: Death("")),
                (rf"{who} killed ({name})", lambda found: Kill(found[1], found[2])),
                (
                    rf"You investigated ({name})(?::| and discovered that they are(?: the| an?)?) (\w+)",
                    lambda found: LearnedRole(found[1], role_of(found[2])),
                ),
                (
                    rf"You know ({name}) is the (\w+)",
                    lambda found: LearnedRole(found[1], role_of(found[2]), stated=False),
                ),
                (rf"{warning}({name}) knows (?:that )?you're the \w+", lambda found: Exposure(found[1])),
                (
                    rf"{warning}({name}) is the detective and discovered (?:that )?you're the \w+",
                    lambda found: Exposure(found[1]),
                ),
                (rf"({name}) investigated you and learned (?:that )?you're \w+", lambda found: Exposure(found[1])),
                (rf"({name}) was arrested(?: \((\w+)\))?", lambda found: Arrest(found[1], role_of(found[2]))),
                (rf"{who} remained silent", lambda found: LogMessage(found[1], None)),
            )
        )

    def read(self, line: str, me: str) -> Entry | None:
        """The entry for a sentence in the memory of `me`; None for a sentence of unknown form."""
        if spoken := self._message.fullmatch(line):
            return _message(_self(spoken[1], me), spoken[2])
        if votes := self._votes.fullmatch(line):
            return _read_votes(self._vote.finditer(votes[1]), me)
        for pattern, make in self._forms:
            if found := pattern.fullmatch(line):
                return make(["", *(_self(part or "", me) for part in found.groups())])
        return None


@lru_cache(maxsize=256)
def wording(names: tuple[str, ...]) -> Wording:
    """The reader for a table of these players."""
    return Wording(names)


def _self(name: str, me: str) -> str:
    return me if name in ("You", "You said") else name


def _read_votes(votes: Iterator[re.Match[str]], me: str) -> Votes | None:
    """The votes; None if one carries a remark that is not known to mean a drawn vote."""
    read = []
    for vote in votes:
        drawn = "random" in (vote[3] or "")
        if vote[3] and not drawn:
            return None
        read.append(LogVote(_self(vote[1], me), vote[2], drawn))
    return Votes(tuple(read))


def _message(speaker: str, words: str) -> LogMessage:
    if words.rstrip(".") == "remained silent":
        return LogMessage(speaker, None)
    quoted = words.startswith('"')
    closed = len(words) > 1 and words.endswith('"')
    text = (words[1:-1] if closed else words[1:]) if quoted else words
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    before, escaped, _ = whole.rpartition("\\") if whole.endswith("\\") else (whole, "", "")
    lost = bool(escaped) and re.fullmatch(_leads_to_a_quote(speaker), before) is not None
    facts = {
        LOST_TEXT: lost,
        CUT_TEXT: bool(escaped) and not lost,
        BLANK: not whole.strip(),
        UNCLOSED: quoted and not closed,
        MAYBE_CUT: text.endswith("..."),  # the authors' parser adds them after an unclosed quote
        BROKEN: whole != text,
    }
    return LogMessage(speaker, whole, tuple(note for note, holds in facts.items() if holds))


def _leads_to_a_quote(speaker: str) -> str:
    """A pattern for what may precede a quotation without any meaning: "", "[", "Alice: "."""
    name = re.escape(speaker)
    return rf"\s*(?:\[|{name}(?:'s \w+|, as {name})?:)?\s*"
