"""A person as a player: the ask lies on a desk until the person answers or the game stops waiting. `human:PSEUDONYM`
needs a desk and something that carries asks to the person and answers back: `liescope serve`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import SystemRandom

from liescope.common.errors import LiescopeError, UsageError
from liescope.common.model_names import PEOPLE
from liescope.games.core import SPEECH, Ask, Event, Reply
from liescope.games.record import Source
from liescope.games.withdrawal import NAME as WITHDRAWN
from liescope.generate.players.player_protocol import AtOnce, Attempt, PlayerContext

LONGEST_NAME = 32
LEFT = "left the game"
AWAY_AFTER = 2  # after so many asks in a row without an answer, a person counts as away
_NAME = re.compile(r"\w(?:[\w .'-]*\w)?")
_NO_NAMES = frozenset({"human", PEOPLE})
# digits of a telephone number or a birthday; not digits within a word
_NUMBER = re.compile(r"(?<!\w)\d(?:[ .'-]*\d){5}")
_COLOURS = ["Amber", "Blue", "Copper", "Coral", "Golden", "Green", "Grey", "Indigo", "Ivory", "Silver", "Teal"]
_BEASTS = ["Badger", "Crane", "Finch", "Hare", "Heron", "Lynx", "Marten", "Newt", "Otter", "Owl", "Seal", "Wren"]


@dataclass(frozen=True, slots=True)
class SeatPatience:
    """How long a game waits for a person, in seconds: for words, for anything else, and for a person who is away."""

    words: float = 180.0
    choices: float = 90.0
    away: float = 15.0

    def of(self, ask: Ask, away: bool) -> float:
        """The seconds that an ask may take."""
        patient = self.words if ask.kind in SPEECH else self.choices
        return min(patient, self.away) if away else patient


@dataclass(slots=True)
class Waiting:
    """An ask that a person has not answered yet. ends: when the game stops waiting, by `time.monotonic`."""

    ask: Ask
    ends: float
    since: float = field(default_factory=time.monotonic)
    reply: asyncio.Future[Reply] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class AskDesk:
    """What people are asked now, one ask for each."""

    def __init__(self, patience: SeatPatience) -> None:
        self.patience = patience
        self._waiting: dict[str, Waiting] = {}
        self._missed: dict[str, int] = {}
        self._left: set[str] = set()
        self._closed: LiescopeError | None = None

    def waiting(self, person: str) -> Waiting | None:
        """The ask that a person has to answer, if there is one."""
        return self._waiting.get(person)

    def away(self, person: str) -> bool:
        """Whether the person let the last asks run out of time."""
        return self._missed.get(person, 0) >= AWAY_AFTER

    def back(self, person: str) -> None:
        """The person is back: the game waits as long as for everybody."""
        if self._missed.pop(person, 0) >= AWAY_AFTER and (open_now := self._waiting.get(person)):
            open_now.ends = open_now.since + self.patience.of(open_now.ask, away=False)

    def answer(self, person: str, reply: Reply) -> bool:
        """Give a person's reply; False if nothing is asked of them (any more)."""
        waiting = self._waiting.get(person)
        if waiting is None or waiting.reply.done():
            return False
        waiting.reply.set_result(reply)
        return True

    def leave(self, person: str) -> None:
        """The person has left for good: whatever is asked of them has no answer."""
        self._left.add(person)
        self.answer(person, Reply(problem=LEFT))

    def close(self, why: LiescopeError) -> None:
        """Answer every open ask, and all later ones, with this error."""
        self._closed = why
        for waiting in self._waiting.values():
            if not waiting.reply.done():
                waiting.reply.set_exception(why)

    async def ask(self, person: str, ask: Ask) -> Reply:
        """The reply of a person, or an unusable one once their time is up. Raises the reason why the desk closed."""
        if self._closed is not None:
            raise self._closed
        if person in self._left:
            return Reply(problem=LEFT)
        seconds = self.patience.of(ask, self.away(person))
        waiting = self._waiting[person] = Waiting(ask, time.monotonic() + seconds)
        try:
            while (left := waiting.ends - time.monotonic()) > 0:
                done, _ = await asyncio.wait([waiting.reply], timeout=left)
                if done:
                    self._missed.pop(person, None)
                    return waiting.reply.result()
            self._missed[person] = self._missed.get(person, 0) + 1
            return Reply(problem=f"no answer within {seconds:g} s")
        finally:
            del self._waiting[person]


class HumanPlayer(AtOnce):
    """A person behind a desk. model: the pseudonym."""

    source = Source.HUMAN

    def __init__(self, model: str, context: PlayerContext) -> None:
        self.model = model
        self._log = context.log
        self._desk = context.shared.once(AskDesk, _no_desk)

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:  # noqa: ARG002
        """Waits for the person; how long they took is logged as latency. They see the view on a page, not here."""
        begun = time.monotonic()
        reply = await self._desk.ask(self.model, ask)
        taken = (time.monotonic() - begun) * 1000
        self._log(Attempt(ask.game, ask.step, ask.seat, 1, reply.raw, reply.problem, latency_ms=round(taken)))
        return reply


def open_human(argument: str, context: PlayerContext) -> HumanPlayer:
    """The player of `human:PSEUDONYM`. Raises UsageError for a name that cannot be used, and without a desk."""
    return HumanPlayer(pseudonym(argument), context)


def pseudonym(name: str) -> str:
    """A person's name in tables, with single spaces. Raises UsageError for one that cannot be used, or that says how to
    reach somebody.
    """
    name = " ".join(name.split())
    if any(sign in name for sign in "@/:") or name.casefold().startswith("www.") or _NUMBER.search(name):
        raise UsageError(
            "a pseudonym must not be an address, link, handle or number of yours; take one that tells nobody who you "
            "are"
        )
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME or name.casefold() in _NO_NAMES:
        raise UsageError(f"a pseudonym has 1 to {LONGEST_NAME} letters, digits, spaces or - . ' and is not 'human'")
    if name.casefold().startswith(WITHDRAWN):
        raise UsageError(f"names that begin with {WITHDRAWN} are for people who withdrew; choose another pseudonym")
    return name


def suggested(taken: Collection[str]) -> str:
    """A free pseudonym, made of words that say nothing about the person."""
    free = [f"{colour} {beast}" for colour in _COLOURS for beast in _BEASTS if f"{colour} {beast}" not in taken]
    return SystemRandom().choice(free) if free else ""


def _no_desk() -> AskDesk:
    raise UsageError("people play in a browser: open a game with `liescope serve`")
