"""Games that the server hosts: people take their seats, each round is played as a run of its own, and each seat sees
its own view. The hub finds them by their secrets, and starts and stops all of them together.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liescope.common.errors import LiescopeError, RunPaused, UsageError
from liescope.common.text import look_of
from liescope.games.core import Ask, Event, public
from liescope.games.record import GameRecord
from liescope.games.session import Session
from liescope.generate.players.human import AskDesk, pseudonym
from liescope.generate.players.player_protocol import Halt, Player, Shared
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_plan import Plan, PlannedGame
from liescope.generate.runs.run_progress import RunProgress
from liescope.generate.runs.runner import run
from liescope.web.play.game_setup import (
    GameKept,
    SeatKept,
    ServerFile,
    Setup,
    State,
    failed,
    folder_of,
    folders,
    has_left,
    new_plan,
    now,
    plan_of,
    record_of,
    same_setup,
    withdraw_from,
)
from liescope.web.play.seat_lines import Stage, read_form, stage_of

OPEN_S = 5.0  # a page that has not asked for news for so long counts as closed
_KEPT_S = 0.01  # between two checks for an answer in the journal


@dataclass(slots=True)
class PersonSeat:
    """A person's seat. asked: when a page of it last asked for news (`time.monotonic`); answered: the key of the last
    form that was taken from it, with its ask.
    """

    kept: SeatKept
    asked: float = 0.0
    answered: tuple[str, Ask] | None = None

    @property
    def open(self) -> bool:
        """Whether somebody has this seat's page open."""
        return time.monotonic() - self.asked < OPEN_S


class _RoundJob(Playing):
    """The playing of a round. begun: called with its session."""

    def __init__(self, plan: Plan, out: Path, begun: Callable[[Session], None]) -> None:
        super().__init__(plan, out)
        self._begun = begun

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:  # noqa: ARG002
        session = Session(self.plan.make(planned))
        self._begun(session)
        return session


class HostedGame:
    """A hosted game, in whatever state it is."""

    def __init__(self, kept: GameKept, store: ServerFile, limits: Limits) -> None:
        self.id = kept.id
        self.setup = kept.setup
        self.state = kept.state
        self.round = kept.round
        self.note = kept.note
        self.desk = AskDesk(self.setup.patience)
        self.session: Session | None = None
        self.seats = {seat.name: PersonSeat(seat) for seat in store.seats(kept.id)}
        self._withdrawing = asyncio.Lock()  # two at once would collide in the same runs
        self._store = store
        self._limits = limits
        self._task: asyncio.Task[None] | None = None
        self._under_way = False  # whether a run is open
        self._stopped: RunPaused | None = None
        self._halt = Halt()
        self._record: GameRecord | None = None
        self._stage: Stage | None = None
        self._since = 0.0
        self._progress: RunProgress | None = None

    @property
    def run(self) -> Path:
        """The folder of the run that is played."""
        return folder_of(self._store.folder, self.id, self.round)

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
        if seat.kept.pseudonym is not None:
            raise UsageError("this seat is taken; ask the host for a link of your own")
        if self.state is not State.LOBBY:
            raise UsageError("the game has begun without you; ask the host for a seat in another game")
        taken = {str(other.kept.pseudonym) for other in self.seats.values()} | set(self.setup.seats)
        if look_of(chosen) in map(look_of, taken):
            raise UsageError("somebody in this game has that name, or one that looks like it; choose another pseudonym")
        self._keep(name, pseudonym=chosen, consent=consent, consented=now())
        if self.here == len(self.seats):
            self.start()

    def start(self) -> None:
        """Begin the game; seats that nobody took go to its filler. Raises UsageError if it cannot begin."""
        if self.state is not State.LOBBY:
            raise UsageError("this game has begun")
        if not self.here:
            raise UsageError("nobody is in this game yet; share the links of its seats")
        self._begin(self._new_plan())

    def again(self) -> None:
        """Play another round with the same people in the same seats."""
        if self.state is not State.ENDED:
            raise UsageError("this game has not ended")
        if self._withdrawing.locked():
            raise UsageError("somebody's words are being withdrawn; try again in a moment")
        self._catch_up()
        self.round += 1
        self.session = self._record = None
        for seat in self.seats.values():
            seat.answered = None
        self._begin(self._new_plan())

    def resume(self) -> None:
        """Go on with a game that stopped, or that was under way when the server did. Raises UsageError for any other
        game, BadData for a damaged run, which stays as it is.
        """
        if self.state not in (State.PLAYING, State.PAUSED) or self._under_way:
            raise UsageError("this game has not stopped")
        try:
            if self._catch_up():  # withdrawing their words removed the whole game: another begins
                self.round += 1
            plan = plan_of(self.run) or self._new_plan()
        except LiescopeError as error:
            self._put(State.PAUSED, str(error))
            raise
        self._begin(plan)

    def _new_plan(self) -> Plan:
        people = {name: seat.kept.pseudonym for name, seat in self.seats.items() if not self.leaving(name)}
        return new_plan(self.setup, people)

    # The game

    def _begin(self, plan: Plan) -> None:
        self.desk = AskDesk(self.setup.patience)
        self._halt = Halt()
        for name in self._leavers():
            self.desk.leave(self.person(name))
        self._put(State.PLAYING)
        self._under_way = True
        self._task = asyncio.create_task(self._play(plan), name=self.id)

    async def _play(self, plan: Plan) -> None:
        shared = Shared()
        shared.once(AskDesk, lambda: self.desk)
        job = _RoundJob(plan, self.run, self._started)
        stop: Exception | None
        try:
            tally = await run(
                job,
                self.run,
                self._limits,
                True,
                self._watched,
                halt=self._halt,
                shared=shared,
            )
            stop = tally.stop or failed(self.run)
        except LiescopeError as error:
            stop = error
        except Exception as error:  # whatever it is, people must learn that their game has stopped
            logging.getLogger("uvicorn.error").exception("the game of %s has stopped", self.id)
            stop = error
        finally:
            self._under_way, self._progress = False, None
        if self.state is State.CLOSED:
            pass  # closed by its host, perhaps just as the game ended
        elif stop is None:
            self.session = None  # its record tells the rest
            self._put(State.ENDED, self._unusable(tally.fallbacks))
        elif self._stopped is None:
            why = str(stop) if isinstance(stop, LiescopeError) else f"an error of the server ({type(stop).__name__})"
            self._put(State.PAUSED, why)
        await self.settle()

    def _started(self, session: Session) -> None:
        self.session = session

    def _unusable(self, fallbacks: Counter[str]) -> str:
        """What the host should know about an ended game: how often programs gave no usable reply."""
        people = set(map(self.person, self.seats))
        times = sum(count for model, count in fallbacks.items() if model not in people)
        what = "1 reply" if times == 1 else f"{times} replies"
        return f"{what} of programs could not be used: they said nothing, or chance decided" if times else ""

    def _watched(self, progress: RunProgress) -> None:
        self._progress = progress

    @property
    def waits(self) -> str:
        """The endpoints that the current game is waiting for, and their last words; "" if all answer."""
        hosts = self._progress.activity.hosts if self._progress is not None else {}
        return "; ".join(f"{name}: {host.wait[1]}" for name, host in hosts.items() if host.wait is not None)

    async def answer(self, name: str, key: str, given: Mapping[str, str], key_of: Callable[[Ask], str]) -> None:
        """Take what a person has sent for the form with this key; returns once the journal holds it. A form that is
        sent twice counts once. key_of: the key of the form for an ask. Raises UsageError, worded for the person, if it
        cannot be accepted.
        """
        seat, waiting = self.seats[name], self.desk.waiting(self.person(name))
        if waiting is not None and not waiting.reply.done() and key_of(waiting.ask) == key:
            reply = read_form(waiting.ask, given)
            seat.answered = key, waiting.ask
            self.desk.answer(self.person(name), reply)
        elif seat.answered is None or seat.answered[0] != key:
            raise UsageError("That question is closed: the time was up, or it was answered on another page of yours.")
        _, ask = seat.answered
        under_way, run = True, self.run
        while under_way:
            under_way = self._under_way
            with Journal.open(run, checked=True) as journal:
                if (ask.step, ask.seat) in journal.answers(ask.game):
                    return
            await asyncio.sleep(_KEPT_S)
        raise UsageError("The game has stopped before your answer was kept; it is asked again when the game goes on.")

    def end(self) -> None:
        """Close the game for good; what was played stays in its run. Raises UsageError if it is closed."""
        if self.state is State.CLOSED:
            raise UsageError("this game is closed")
        self._stop(RunPaused("the host has closed the game"))
        self._put(State.CLOSED)
        if not self._under_way:
            self._task = asyncio.create_task(self.settle(), name=self.id)

    async def close(self, why: RunPaused) -> None:
        """Stop for now; everything so far is in the journal."""
        self._stop(why)
        if self._task is not None:
            await self._task

    def _stop(self, why: RunPaused) -> None:
        self._stopped = why
        self._halt.set(why)
        self.desk.close(why)

    # Withdrawal

    def leaving(self, name: str) -> bool:
        """Whether the person in a seat has withdrawn, or will have once the game has ended."""
        return has_left(self.person(name)) or self.seats[name].kept.leaving

    async def withdraw(self, name: str) -> None:
        """Withdraw the words of the person in a seat from every round, from a round under way once it ends; until then
        the person counts as having left. Before the first round, the seat is free again.
        """
        if self.state is State.LOBBY:
            self._keep(name, pseudonym=None, consent=None, consented=None)
        else:
            self._keep(name, leaving=True)
            self.desk.leave(self.person(name))
            await self.settle()

    async def settle(self) -> None:
        """Carry out the withdrawals that are due, unless a game may still go on. The host is told of one that fails; it
        is retried at the next withdrawal, the end of a game or the start of the server.
        """
        async with self._withdrawing:
            if self._under_way or self.state not in (State.ENDED, State.CLOSED):
                return
            with suppress(LiescopeError):  # a damaged run must not keep people from leaving the others
                self._catch_up()
            if not (leavers := self._leavers()):
                return
            runs, problems = folders(self._store.folder, self.id, self.round), []
            for name in leavers:
                try:
                    become = await asyncio.to_thread(withdraw_from, runs, self.person(name))
                except LiescopeError as error:
                    problems.append(f"somebody's words are still to be withdrawn: {error}")
                else:
                    self._keep(name, pseudonym=become, leaving=False)
            self._put(self.state, "; ".join(problems))
            self.session = self._record = None

    def _catch_up(self) -> bool:
        """Forget people whose words were withdrawn from the game by command; returns whether there are any."""
        plan = plan_of(self.run)
        people = {name: spec.partition(":")[2] for name, spec in (plan.held if plan is not None else {}).items()}
        left = {name: person for name, person in people.items() if has_left(person)}
        for name, person in left.items():
            self._keep(name, pseudonym=person, leaving=False)
        return bool(left)

    def _leavers(self) -> list[str]:
        """The seats whose people's words are still to be withdrawn."""
        return sorted(name for name, seat in self.seats.items() if seat.kept.leaving)

    def _keep(self, name: str, **values: str | bool | None) -> None:
        self.seats[name].kept = self._store.put_seat(self.id, name, **values)

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
            self._record = record_of(self.run)
        return self._record

    def stage(self) -> tuple[Stage, float] | None:
        """What is going on, and the latest time (`time.monotonic`) until which the game would wait for a person,
        whether or not a person is asked; None while nothing is asked.
        """
        asks = self.session.asks if self.session is not None and self.state is State.PLAYING else ()
        if (stage := stage_of(asks)) != self._stage:
            self._stage, self._since = stage, time.monotonic()
        if stage is None:
            return None
        return stage, self._since + self.desk.patience.of(asks[0], away=False)

    # Pages

    def person(self, name: str) -> str:
        """The desk's name for whoever holds a seat."""
        return self.seats[name].kept.pseudonym or ""

    def back(self, name: str) -> None:
        """Note that a person is there: they did something, which an open page alone does not show."""
        self.desk.back(self.person(name))

    def _put(self, state: State, note: str = "") -> None:
        self.state, self.note = state, note
        self._store.put(self.id, state, self.round, note)


class Hub:
    """The games kept in a folder. Call `open` in a running event loop, before anything else. seats: the game and the
    seat that a link's secret leads to; terms: fields of the setup of every new game, whatever was given.
    """

    def __init__(self, folder: Path, limits: Limits, terms: Mapping[str, Any] | None = None) -> None:
        self._store = ServerFile(folder)
        self._limits = limits
        self._terms = dict(terms or {})
        self._settling: set[asyncio.Task[None]] = set()
        self.hosted: dict[str, HostedGame] = {}
        self.seats: dict[str, tuple[HostedGame, str]] = {}
        self.host_secret = self._store.secret("host")
        self.form_secret = self._store.secret("forms")
        for kept in self._store.games():
            self._take(HostedGame(kept, self._store, self._limits))

    def open(self) -> None:
        """Resume every game where it was when the server stopped; if one cannot be resumed, its host is told why."""
        for hosted in self.hosted.values():
            if hosted.state in (State.PLAYING, State.PAUSED):
                with suppress(LiescopeError):
                    hosted.resume()
            else:
                self._settling.add(asyncio.create_task(hosted.settle()))

    async def close(self) -> None:
        """Stop all games for now; they go on when the server starts again."""
        why = RunPaused("the server is stopping")
        await asyncio.gather(*self._settling)
        await asyncio.gather(*(hosted.close(why) for hosted in self.hosted.values()))
        self._store.close()

    def add(self, setup: Setup) -> HostedGame:
        """A new game, whose links can be shared."""
        made = self._store.add(setup.model_copy(update=self._terms))
        kept = next(kept for kept in self._store.games() if kept.id == made)
        return self._take(HostedGame(kept, self._store, self._limits))

    def find(self, setup: Setup) -> HostedGame | None:
        """A game with this setup that its host has not closed."""
        open_now = (hosted for hosted in self.hosted.values() if hosted.state is not State.CLOSED)
        return next((hosted for hosted in open_now if same_setup(hosted.setup, setup)), None)

    def is_host(self, secret: str) -> bool:
        return hmac.compare_digest(secret.encode("utf-8", "replace"), self.host_secret.encode())

    def _take(self, hosted: HostedGame) -> HostedGame:
        self.hosted[hosted.id] = hosted
        for name, seat in hosted.seats.items():
            self.seats[seat.kept.secret] = hosted, name
        return hosted
