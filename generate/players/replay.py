"""Players whose replies were recorded: `replay:RUN` and `replay:RUN?then=SPEC`.

The games of a plan with such players are those of the recording, dealt again with the same seeds (`runs.planning`).
As long as what a seat has seen is what it saw in the recording, it gives the reply that it gave there, word for word.
Once another player has made a difference, the seat is off the record:

- with then=SPEC, that player plays it from there on; SPEC is the rest of the spec, with options of its own;
- otherwise it gives the reply that it gave at the same point of the recording (the kind of ask, day, phase and round;
  for an assessment, of the same statement), marked with the note OFF; if there is none, or it chose somebody who can
  no longer be chosen, the ask fails; a measurement is then null, with the reason.

The recording is only read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from liescope.common.errors import PlayerFailed, UsageError
from liescope.games.core import ASSESSMENTS, FORMS, Ask, Event, EventKind, Reply
from liescope.games.record import Source
from liescope.generate.players.player_protocol import Player, PlayerContext

OFF = "off the record"  # the note on a reply that was given to other words
_THEN = "then="
_GAMES = 256  # recorded games held at once
_MEASURED = frozenset({EventKind.SELF_REPORT, EventKind.RATING})  # they depend on a game's id and change nothing
_Seen = tuple[object, ...]


def read_replay(argument: str) -> tuple[Path, str]:
    """The run and the spec of who plays on, "" for nobody. Raises UsageError."""
    run, _, option = argument.partition("?")
    if not run or (option and not option.startswith(_THEN)):
        raise UsageError("recorded replies are named as replay:runs/NAME, or as replay:runs/NAME?then=SPEC")
    return Path(run), option.removeprefix(_THEN)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded game. models: of each seat, with their sources; seen: what each seat had seen in the end; on: its
    replies by all that was asked, and how much the seat had seen; off: by the point of the game alone.
    """

    models: Mapping[str, tuple[str, Source]]
    seen: dict[str, list[_Seen]] = field(default_factory=dict)
    on: dict[_Seen, Reply] = field(default_factory=dict)
    off: dict[_Seen, Reply] = field(default_factory=dict)

    def keep(self, ask: Ask, view: Sequence[Event], reply: Reply) -> None:
        seen, point = _seen(view), _point(ask, view)
        self.seen[ask.seat] = seen
        self.on.setdefault((*point, ask.options, len(seen)), reply)
        self.off.setdefault(point, reply)

    def on_record(self, ask: Ask, view: Sequence[Event]) -> Reply | None:
        """The reply to this very ask, if the seat has seen what it saw then."""
        seen = _seen(view)
        reply = self.on.get((*_point(ask, view), ask.options, len(seen)))
        return reply if reply is not None and self.seen[ask.seat][: len(seen)] == seen else None

    def off_record(self, ask: Ask, view: Sequence[Event]) -> Reply | None:
        """The reply at the same point of the game, if it can be given here."""
        reply = self.off.get(_point(ask, view))
        if reply is None or (reply.choice is not None and reply.choice not in ask.options):
            return None
        return replace(reply, notes=(*reply.notes, OFF))


class ReplayPlayer:
    """The seats of a recording, one object for all of them. model: the recording's name; a seat is named after whose
    replies it gives (`who`).
    """

    def __init__(self, run: Path, context: PlayerContext, then: Player | None) -> None:
        self._run, self._then = run, then
        self._origin = context.origin
        self._held: dict[str, Recording] = {}
        self.model = f"replay of {run.resolve().name}" + (f", then {then.model}" if then else "")
        sources = _sources(run)
        if then is not None and Source.HUMAN in sources:
            raise UsageError(
                f"{run} holds what people said, and {then.model} cannot go on as a person; leave then= out"
            )
        self.source = Source.SCRIPTED if sources == {Source.SCRIPTED} else Source.MODEL
        if then is not None and then.source is not self.source:
            raise UsageError(
                f"{run} holds replies of the source {self.source.value}, and {then.model} is of the source "
                f"{then.source.value}; a seat has one source, so let another player go on"
            )
        if then is not None and hasattr(then, "host"):
            self.host = then.host

    def who(self, game: str, seat: str) -> tuple[str, Source]:
        """The name and the source of a seat, for the record of a game."""
        model, source = self._recording(game).models[seat]
        return f"{model} (replayed{f', then {self._then.model}' if self._then else ''})", source

    async def prepare(self) -> None:
        if self._then is not None:
            await self._then.prepare()

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Raises PlayerFailed if nothing was recorded that can be given, BadData for a damaged recording."""
        recording = self._recording(ask.game)
        reply = recording.on_record(ask, view)
        if reply is not None:
            return reply
        if self._then is not None:
            return await self._then.answer(ask, view)
        reply = recording.off_record(ask, view)
        if reply is None and ask.kind in ASSESSMENTS | FORMS:
            return Reply(problem="nothing was recorded of it", notes=(OFF,))
        if reply is None:
            raise PlayerFailed(
                f"{ask.seat} gave no reply in the recording that fits this {ask.kind.value}; name who plays on, as in "
                f"replay:{self._run}?then=SPEC"
            )
        return reply

    async def close(self) -> None:
        if self._then is not None:
            await self._then.close()

    def _recording(self, game: str) -> Recording:
        origin = self._origin(game)
        if origin not in self._held:
            if len(self._held) >= _GAMES:
                self._held.pop(next(iter(self._held)))
            self._held[origin] = _read(self._run, origin)
        return self._held[origin]


def open_replay(argument: str, context: PlayerContext) -> ReplayPlayer:
    """The player of `replay:ARGUMENT`. Raises UsageError for a spec that cannot be read, BadData for a folder that
    holds no recording.
    """
    from liescope.generate.players.player_registry import open_player

    run, then = read_replay(argument)
    return ReplayPlayer(run, context, open_player(then, context) if then else None)


def named_recording(argument: str) -> dict[str, str]:
    """What the plan keeps of the recording, and of the files that the player after it names."""
    from liescope.generate.players.player_registry import files_of
    from liescope.generate.runs.plan_games import recording_hash

    run, then = read_replay(argument)
    return {str(run): f"run {recording_hash(run)}", **(files_of([then]) if then else {})}


def _sources(run: Path) -> set[Source]:
    from liescope.generate.runs.journal import Journal

    with Journal.open(run) as journal:
        return {seat.source for record in journal.records() for seat in record.seats}


def _read(run: Path, game: str) -> Recording:
    """Replays a recorded game, and keeps what was asked and replied. Raises BadData."""
    from liescope.generate.runs.journal import Journal
    from liescope.generate.runs.moment import batch_of, rebuild

    with Journal.open(run, checked=True) as journal:
        recording = Recording({seat.name: (seat.model, seat.source) for seat in journal.record(game).seats})
        session, answers = rebuild(journal, game), journal.answers(game)
        while session.asks:
            batch = batch_of(session, answers, game)
            for ask, reply in zip(session.asks, batch, strict=True):
                recording.keep(ask, session.game.view(ask.seat), reply)
            session.send(batch)
    return recording


def _seen(view: Sequence[Event]) -> list[_Seen]:
    """What a seat has seen, without what only measures the game and without places in the log."""
    return [_what(event) for event in view if event.kind not in _MEASURED]


def _what(event: Event) -> _Seen:
    data = sorted((key, repr(value)) for key, value in event.data.items())
    return event.kind, event.day, event.phase, event.round, event.actor, event.target, event.text, tuple(data)


def _point(ask: Ask, view: Sequence[Event]) -> _Seen:
    """Where in the game something is asked; for an assessment, of which statement."""
    about: Iterator[_Seen] = (_what(event) for event in view if event.index == ask.about)
    return ask.seat, ask.kind, ask.day, ask.phase, ask.round, next(about, None)
