"""One reader of a finished game: it sees what one seat saw, or what everybody heard, up to a moment.

After each statement that is asked about, the reader says whether it deceives and how sure that is; at the end, how
likely it is that each player does, in games with such roles. A reader is a judge with one view instead of every seat's,
so that its answers are recorded, resumed and labelled as a judge's are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from liescope.common.errors import UsageError
from liescope.games.assessing import assessment, sampled
from liescope.games.core import Ask, AskKind, Asks, Event, EventKind, Outcome, Phase, Play, Replies, Reply, public
from liescope.games.judging import LEAVES, JudgeSpec, Judging
from liescope.games.record import GameRecord

OUTSIDE, ANY_SEAT = "outside", "seat"


@dataclass(frozen=True, slots=True)
class ReaderSpec:
    """What readers see and are asked. view: OUTSIDE, ANY_SEAT, or the name of a role or of a seat; share: of the
    statements that are seen, 0 to 1; days: the last day that is shown, 0 for the whole game; seed: draws the seats.
    """

    view: str = OUTSIDE
    share: float = 1.0
    days: int = 0
    seed: int = 0


class Reader(Judging):
    """The reading of one recorded game. Raises UsageError if the game has no seat of that view."""

    def __init__(self, frozen: GameRecord, spec: ReaderSpec, judge: str) -> None:
        super().__init__(frozen, JudgeSpec(spec.share), judge)
        self.reads = spec
        self.seat = _seat(frozen, spec)

    def play(self) -> Play:
        for event in self._read():
            self.day = event.day
            self.events.append(event)
            if self._asked_about(event):
                yield from self._ask_about(event)
        if self.suspects:
            yield from self._suspect()
        return self.frozen.outcome or Outcome("", (), self.frozen.failure, self.day)

    def view(self, seat: str) -> tuple[Event, ...]:
        """What the reader has seen: of its seat, or what nobody at the table was kept from."""
        if seat:
            return super().view(seat)
        return tuple(public(event) for event in self.events if event.audience is None)

    @property
    def suspects(self) -> bool:
        """Whether the reader is asked who deceives: not where no role says so of anybody."""
        return any(seat.deceives is not None for seat in self.frozen.seats)

    def statements(self) -> int:
        """How many statements the reader is asked about."""
        return sum(map(self._asked_about, self._read()))

    def questions(self) -> int:
        """How many questions the game holds for its reader: its statements, and one at the end."""
        return self.statements() + self.suspects

    def _read(self) -> Iterator[Event]:
        """What is read: up to the last day, the end, or until the reader's seat leaves the game."""
        for event in self.frozen.events:
            if event.kind is EventKind.END or 0 < self.reads.days < event.day:
                return
            yield event
            if event.kind in LEAVES and event.target == self.seat:
                return

    def _asked_about(self, event: Event) -> bool:
        """Whether an event is a statement that the reader hears from another, not lost, and belongs to the share."""
        if event.kind is not EventKind.STATEMENT:
            return False
        heard = event.seen_by(self.seat) if self.seat else event.audience is None
        readable = any(map(str.isalnum, event.text))
        return readable and heard and event.actor != self.seat and sampled(self.game_id, event.index, self.reads.share)

    def _ask_about(self, event: Event) -> Generator[Asks, Replies, None]:
        place: dict[str, Any] = {"phase": event.phase, "round": event.round, "about": event.index}
        ask = self.ask(self.seat, AskKind.PEER_ASSESSMENT, **place)
        (reply,) = yield self.batch([ask])
        self._keep(self._by_reader(assessment(ask, reply, event)))

    def _suspect(self) -> Generator[Asks, Replies, None]:
        others = tuple(name for name in self.names if name != self.seat)
        ask = self.ask(self.seat, AskKind.SUSPECT, Phase.END, options=others)
        (reply,) = yield self.batch([ask])
        self._keep(self._by_reader(_suspicion(ask, reply)))

    def _by_reader(self, facts: dict[str, Any]) -> dict[str, Any]:
        """From outside, a judgement is nobody's at the table. What was not asked is absent."""
        if said := facts["data"].get("assessment"):
            facts["data"]["assessment"] = {name: value for name, value in said.items() if value not in (None, "")}
        return facts if self.seat else {**facts, "actor": None, "audience": ()}


def _suspicion(ask: Ask, reply: Reply) -> dict[str, Any]:
    usable = reply.form is not None and not reply.problem
    said = {name: float(share) for name, (share,) in (reply.form or {}).items()} if usable else {}
    return {
        "kind": EventKind.SUSPICION,
        "phase": ask.phase,
        "actor": ask.seat,
        "audience": (ask.seat,),
        "fallback": "" if usable else reply.problem or "the form in the reply is empty",
        "data": {"suspicion": said} if usable else {},
    }


def _seat(frozen: GameRecord, spec: ReaderSpec) -> str:
    """The seat whose view is read, the same for every reader; "" from outside."""
    if spec.view == OUTSIDE:
        return ""
    fitting = [seat.name for seat in frozen.seats if spec.view in (ANY_SEAT, seat.role, seat.name)]
    if not fitting:
        raise UsageError(f"a game has no role or seat {spec.view!r}; choose {OUTSIDE}, {ANY_SEAT}, or one that it has")
    return Random(f"{spec.seed}:{frozen.game_id}").choice(fitting)
