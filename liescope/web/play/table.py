"""One table: people take its seats, its game is played as a run of its own, and each seat sees its own view."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from liescope.common.errors import LiescopeError, RunPaused, UsageError
from liescope.games.core import AskKind, Event, Game, Replies, public
from liescope.games.record import GameRecord, Status
from liescope.games.session import Session
from liescope.generate.players.human import Desk, pseudonym
from liescope.generate.players.protocol import Player
from liescope.generate.players.shared import Halt, Shared
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.limits import Limits
from liescope.generate.runs.plan import Plan, PlannedGame, read_plan, table_plan
from liescope.generate.runs.playing import Playing
from liescope.generate.runs.runner import run
from liescope.web.play.setup import PERSON
from liescope.web.play.store import SeatKept, State, Store, TableKept

LOG, ASK, PAGE = "log", "ask", "page"
"""What a seat's page is told has changed: what the seat has seen, what it is asked, or the page as a whole."""


class Listener:
    """One open page of a seat. Changes that it has not been told of add up."""

    def __init__(self) -> None:
        self._told = asyncio.Event()
        self._what: set[str] = set()

    def tell(self, what: str) -> None:
        self._what.add(what)
        self._told.set()

    async def next(self) -> set[str]:
        """What has changed since the last call; waits until something has."""
        await self._told.wait()
        self._told.clear()
        what, self._what = self._what, set()
        return what


class _Watched(Session):
    """A session that says when the game has moved on."""

    def __init__(self, game: Game, moved: Callable[[], None]) -> None:
        self._moved: Callable[[], None] | None = None
        super().__init__(game)
        self._moved = moved

    def send(self, replies: Replies) -> None:
        super().send(replies)
        if self._moved is not None:
            self._moved()


class _Job(Playing):
    """The playing of a table's game, which the table watches."""

    def __init__(self, plan: Plan, out: Path, table: Table) -> None:
        super().__init__(plan, out)
        self._table = table

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:  # noqa: ARG002
        session = _Watched(self._plan.make(planned), self._table.moved)
        self._table.session = session
        self._table.moved()
        return session


@dataclass(slots=True)
class Seat:
    """A person's seat. seen: how many events its view had when its pages were last told."""

    kept: SeatKept
    listeners: set[Listener] = field(default_factory=set)
    seen: int = 0

    @property
    def name(self) -> str:
        return self.kept.name

    def tell(self, what: str) -> None:
        for listener in self.listeners:
            listener.tell(what)


class Table:
    """A table of a server, in whatever state it is."""

    def __init__(self, kept: TableKept, store: Store, limits: Limits, halt: Halt) -> None:
        self.id = kept.id
        self.setup = kept.setup
        self.state = kept.state
        self.round = kept.round
        self.note = kept.note
        self.desk = Desk(self.setup.patience, self._asked)
        self.session: Session | None = None
        self.seats = {seat.name: Seat(seat) for seat in store.seats(kept.id)}
        self._store = store
        self._limits = limits
        self._halt = halt
        self._task: asyncio.Task[None] | None = None
        self._record: GameRecord | None = None
        self._floor: str | None = None

    @property
    def run(self) -> Path:
        """The folder of the run that the table plays."""
        return self._store.folder / (self.id if self.round == 1 else f"{self.id}-{self.round}")

    @property
    def here(self) -> int:
        """How many people have taken their seats."""
        return sum(seat.kept.pseudonym is not None for seat in self.seats.values())

    # Before the game

    def take(self, name: str, words: str, consent: str) -> None:
        """Somebody takes a seat under a pseudonym. Raises UsageError for a name that cannot be used, and for a seat
        that is taken.
        """
        seat = self.seats[name]
        chosen = pseudonym(words)
        if self.state is not State.LOBBY or seat.kept.pseudonym is not None:
            raise UsageError("this seat is taken; ask the host for a link of your own")
        taken = {str(other.kept.pseudonym).casefold() for other in self.seats.values()} | set(self.setup.seats)
        if chosen.casefold() in {name.casefold() for name in taken}:
            raise UsageError("somebody at this table has that name; choose another pseudonym")
        self._store.take(self.id, name, chosen, consent)
        for kept in self._store.seats(self.id):
            self.seats[kept.name].kept = kept
        self._tell_all(PAGE)
        if self.here == len(self.seats):
            self.start()

    def start(self) -> None:
        """Begin the game; seats that nobody took go to the table's filler. Raises UsageError if it cannot begin."""
        if self.state is not State.LOBBY:
            raise UsageError("this table's game has begun")
        if not self.here:
            raise UsageError("nobody is at this table yet; share the links of its seats")
        self._begin(self._new_plan())

    def again(self) -> None:
        """Play another game at the same table, with the same people in the same seats."""
        if self.state is not State.ENDED:
            raise UsageError("this table's game has not ended")
        self.round += 1
        self.session = self._record = None
        for seat in self.seats.values():
            seat.seen = 0
        self.desk = Desk(self.setup.patience, self._asked)
        self._begin(self._new_plan())

    def resume(self) -> None:
        """Go on with a game that was under way when the server stopped."""
        self._begin(read_plan(_plan_of(self.run), self.run) if (self.run / PLAN_FILE).exists() else self._new_plan())

    def _new_plan(self) -> Plan:
        held = {
            name: spec if spec != PERSON else self._holder(self.seats[name].kept)
            for name, spec in self.setup.seats.items()
        }
        return table_plan(self.setup.game, self.setup.options, held, secrets.randbits(62), self.setup.prompts)

    def _holder(self, seat: SeatKept) -> str:
        return self.setup.filler if seat.pseudonym is None else f"human:{seat.pseudonym}"

    # The game

    def _begin(self, plan: Plan) -> None:
        self._put(State.PLAYING)
        self._task = asyncio.create_task(self._play(plan), name=self.id)
        self._tell_all(PAGE)

    async def _play(self, plan: Plan) -> None:
        shared = Shared()
        shared.once(Desk, lambda: self.desk)
        try:
            job = _Job(plan, self.run, self)
            tally = await run(job, self.run, self._limits, retry_failed=True, halt=self._halt, shared=shared)
            stop: LiescopeError | None = tally.stop
        except LiescopeError as error:
            stop = error
        if stop is None:
            self._put(State.ENDED)
        elif self._halt.error is None:
            self._put(State.PAUSED, str(stop))
        self._tell_all(PAGE)

    async def close(self, why: RunPaused) -> None:
        """Stop for now; everything so far is in the journal."""
        self.desk.close(why)
        for seat in self.seats.values():
            seat.tell("")
        if self._task is not None:
            await self._task

    def view(self, name: str) -> tuple[Event, ...]:
        """What a seat has seen so far, as `Game.view`."""
        if self.session is not None:
            return self.session.game.view(name)
        if (record := self.record()) is None:
            return ()
        return tuple(public(event) for event in record.events if event.seen_by(name))

    def record(self) -> GameRecord | None:
        """The game once it has ended, None before."""
        if self._record is None and self.state is State.ENDED:
            with Journal.open(self.run) as journal:
                self._record = next(iter(journal.records()), None)
        return self._record

    @property
    def over(self) -> bool:
        """Whether the game has ended by its rules, so that roles may be told."""
        record = self.record()
        return record is not None and record.status is Status.DONE

    def floor(self) -> str | None:
        """Who is speaking, which everybody at a table knows; None at any other time."""
        asks = self.session.asks if self.session is not None else ()
        return asks[0].seat if len(asks) == 1 and asks[0].kind is AskKind.SPEAK else None

    # Pages

    @contextmanager
    def listening(self, name: str) -> Iterator[Listener]:
        """A page of a seat, while it is open."""
        listener, seat = Listener(), self.seats[name]
        seat.listeners.add(listener)
        self.back(name)
        try:
            yield listener
        finally:
            seat.listeners.discard(listener)

    def person(self, name: str) -> str:
        """The name under which the desk knows whoever holds a seat."""
        return self.seats[name].kept.pseudonym or ""

    def back(self, name: str) -> None:
        """A person has shown that they are there."""
        self.desk.back(self.person(name))

    def moved(self) -> None:
        """The game has moved on: tell the pages of those seats that have seen something, and all who has the floor."""
        floor, self._floor = self._floor, self.floor()
        for seat in self.seats.values():
            if floor != self._floor:
                seat.tell(ASK)
            seen = len(self.view(seat.name))
            if seen != seat.seen:
                seat.seen = seen
                seat.tell(LOG)

    def _asked(self, person: str) -> None:
        for seat in self.seats.values():
            if seat.kept.pseudonym == person:
                seat.tell(ASK)

    def _put(self, state: State, note: str = "") -> None:
        self.state, self.note = state, note
        self._store.put(self.id, state, self.round, note)

    def _tell_all(self, what: str) -> None:
        for seat in self.seats.values():
            seat.tell(what)


def _plan_of(run: Path) -> Mapping[str, object]:
    with Journal.open(run) as journal:
        return journal.plan
