"""Rating a finished game: a rater takes each seat in turn and sees only what that seat saw.

It is driven like any other game, so it is recorded, resumed and replayed in the same way. Its events are those of the
frozen log, followed by the rater's assessments, each marked with the rater's name.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from liescope.games.core import LEAVES, Ask, AskKind, Asks, Event, EventKind, Game, Outcome, Phase, Play, Replies, Reply
from liescope.games.game_options import GameSpec
from liescope.games.game_registry import find_game
from liescope.games.record import GameRecord
from liescope.games.shared_rules import assessment, assessment_asks, own_answer, sampled


@dataclass(frozen=True, slots=True)
class RatingSpec:
    """What the rater is asked. share: the share of statements to assess, from every seat; 0 for none. roles: name
    everybody's role, from each surviving seat, before the rater learns who won. lessons: tag the lessons learned.
    claims: list the claims in each statement. beliefs: the speakers themselves, asked afresh from what they knew before
    each statement, say whether they believe the claims that they then made; nobody rates.
    """

    share: float = 1.0
    roles: bool = False
    lessons: bool = False
    claims: bool = False
    beliefs: bool = False

    @property
    def rates(self) -> bool:
        """Whether the rater takes the place of the players' own assessments."""
        return bool(self.share or self.roles or self.lessons)


class _Frozen(GameSpec):
    def composition(self) -> dict[str, int]:
        return {role: self.roles.count(role) for role in dict.fromkeys(self.roles)}


class RatedGame(Game):
    """The rating of one recorded game by the named rater. made: by a statement's index, its claims in normal form,
    about which the speaker is asked.
    """

    name: ClassVar[str] = "judging"

    def __init__(
        self, frozen: GameRecord, spec: RatingSpec, rater: str, made: Mapping[int, Sequence[str]] | None = None
    ) -> None:
        names = tuple(seat.name for seat in frozen.seats)
        roles = tuple(seat.role for seat in frozen.seats)
        super().__init__(_Frozen(names=names, roles=roles), frozen.seed or 0, frozen.game_id)
        self.frozen = frozen
        self.spec = spec
        self.rater = rater
        self._made = made or {}
        self._seats = {seat.role: seat for seat in frozen.seats}
        self._given: list[dict[str, Any]] = []

    def team(self, role: str) -> str:
        return self._seats[role].team

    def deceives(self, role: str) -> bool:
        return bool(self._seats[role].deceives)

    def play(self) -> Play:
        for event in self.frozen.events:
            self.day = event.day
            if event.kind is EventKind.END and self.spec.roles:
                yield from self._name_roles()
            if event.index in self._made:
                yield from self._believe(event, self._made[event.index])
            self.events.append(event)
            if event.kind in LEAVES and event.target in self.alive:
                self.alive.remove(event.target)
            if event.kind is EventKind.STATEMENT and sampled(self.game_id, event.index, self.spec.share):
                yield from self._assess(event)
            if event.kind is EventKind.STATEMENT and self.spec.claims:
                yield from self._find_claims(event)
            elif event.kind is EventKind.LESSON and self.spec.lessons:
                yield from self._tag(event)
        self.events.extend(self._ratings())
        return self.frozen.outcome or Outcome("", (), self.frozen.failure, self.day)

    def record(self) -> GameRecord:
        """The rated game: the frozen log and the ratings so far, which the labels are read from."""
        events = (*self.frozen.events, *self._ratings())
        if not self.spec.rates:
            return replace(self.frozen, events=events)
        return replace(self.frozen, events=events, meta={**self.frozen.meta, "judge": self.rater})

    def _ratings(self) -> Iterator[Event]:
        """The ratings so far as events after the frozen log, so that every logged event keeps its index."""
        for index, facts in enumerate(self._given, len(self.frozen.events)):
            yield Event(index=index, **facts)

    def _assess(self, statement: Event) -> Generator[Asks, Replies, None]:
        asks = assessment_asks(self, statement, self.others(statement.actor or ""))
        replies = yield self.batch(asks)
        for ask, reply in zip(asks, replies, strict=True):
            self._keep(assessment(ask, reply, statement))

    def _name_roles(self) -> Generator[Asks, Replies, None]:
        asks = [
            self.ask(name, AskKind.NAME_ROLES, Phase.END, options=tuple(n for n in self.names if n != name))
            for name in self.alive
        ]
        replies = yield self.batch(asks)
        for ask, reply in zip(asks, replies, strict=True):
            self._keep(_filled(EventKind.ROLES_NAMED, ask, reply, "roles"))

    def _tag(self, lesson: Event) -> Generator[Asks, Replies, None]:
        ask = self.ask(lesson.actor or "", AskKind.TAG_LESSON, Phase.END, about=lesson.index)
        (reply,) = yield self.batch([ask])
        self._keep(_filled(EventKind.LESSON_TAGS, ask, reply, "tags"))

    def _find_claims(self, statement: Event) -> Generator[Asks, Replies, None]:
        teams = find_game(self.frozen.game).teams
        options = tuple(dict.fromkeys([*teams, *teams.values()]))
        speaker = statement.actor or ""
        ask = self.ask(speaker, AskKind.FIND_CLAIMS, statement.phase, options=options, about=statement.index)
        (reply,) = yield self.batch([ask])
        facts = _filled(EventKind.CLAIMS_FOUND, ask, reply, "claims")
        names = ("kind", "subject", "object", "polarity", "quote")
        claims = [dict(zip(names, fields, strict=True)) for fields in facts["data"].get("claims", {}).values()]
        self._keep({**facts, "data": {**facts["data"], "claims": claims}})

    def _believe(self, statement: Event, made: Sequence[str]) -> Generator[Asks, Replies, None]:
        """Ask before the statement is on the record, so that nobody is reminded of its words."""
        ask = self.ask(statement.actor or "", AskKind.BELIEFS, statement.phase, options=tuple(made))
        (reply,) = yield self.batch([ask])
        facts = _filled(EventKind.BELIEFS, ask, reply, "beliefs")
        about = {"about": statement.index, "day": self.day}
        # marked like everything asked afterwards, though the speaker answered
        own = {"judge": self.frozen.seat(ask.seat).model}
        self._given.append({**facts, **about, "data": {**facts["data"], **own}})

    def _keep(self, facts: dict[str, Any]) -> None:
        self._given.append({**facts, "day": self.day, "data": {**facts["data"], "judge": self.rater}})


def _filled(kind: EventKind, ask: Ask, reply: Reply, name: str) -> dict[str, Any]:
    """The fields of the event for a completed form."""
    form = None if reply.form is None else {field: list(values) for field, values in reply.form.items()}
    return own_answer(kind, ask, reply, name, form, "the form in the reply is empty")
