"""Triadic Werewolf: villagers with a doctor, werewolves, and a jester who wins by being exiled.

Rules: Triadic Werewolf paper, section 3.1 and Table 1, with what it inherits from WOLF and Werewolf Arena. At night the
werewolves agree on a victim, the doctor protects one player (possibly itself) and a seer, if there is one, learns
whether one player is a werewolf; all act simultaneously. By day the living debate by bidding, vote with a public
reason, hear a defence from those who got votes and from whoever bids to answer, and vote again. Exile takes a strict
majority of the living; otherwise nobody is exiled. The roles of the exiled and the dead stay hidden.

Choices that the paper leaves open:
- Each werewolf proposes a victim, all simultaneously. If they differ, they see each other's proposals and propose
  again; if they still differ, the victim named most often dies, and ties are broken at random.
- In the defence those who got votes speak first, most votes first, then in seating order; bidding decides the
  remaining turns.
- An unreadable vote, victim or protection is replaced by a random legal one.
- After `days` days without a winner nobody wins; everybody knows the limit.
- Of several jesters only the exiled one wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any, ClassVar

from pydantic import Field

from liescope.common.errors import UsageError
from liescope.games.core import (
    Ask,
    AskKind,
    Asks,
    EventKind,
    Game,
    Lesson,
    LessonKind,
    Outcome,
    Phase,
    Play,
    Replies,
    Reply,
)
from liescope.games.game_options import BallotSpec
from liescope.games.record import GameRecord
from liescope.games.shared_rules import (
    Contest,
    assess,
    ballot,
    before_votes,
    legal_choice,
    more_than_half,
    notes,
    plurality,
    speech,
    talk,
)

VILLAGER, DOCTOR, SEER, WEREWOLF, JESTER = "villager", "doctor", "seer", "werewolf", "jester"
VILLAGERS, WEREWOLVES, NOBODY = "villagers", "werewolves", "nobody"
_TEAMS = {WEREWOLF: WEREWOLVES, JESTER: JESTER}


class WerewolfSpec(BallotSpec):
    """The options; more in `BallotSpec`.

    debate_turns, defence_turns: the most speaking turns a day, before the first vote and between the votes. days: the
    day after which the game ends without a winner. lessons: what the jester knows from earlier games; learning: the
    jester writes lessons about the game once it has ended.
    """

    villagers: int = Field(default=6, ge=0, description="Number of villagers.")
    doctors: int = Field(default=1, ge=0, description="Number of doctors.")
    werewolves: int = Field(default=2, ge=1, description="Number of werewolves.")
    jesters: int = Field(default=1, ge=0, description="Number of jesters.")
    seers: int = Field(default=0, ge=0, description="Number of seers.")
    debate_turns: int = Field(default=12, ge=0, description="Most turns of debate a day.")
    defence_turns: int = Field(default=6, ge=0, description="Most turns of defence a day.")
    days: int = Field(default=20, ge=1, description="Days after which the game ends without a winner.")
    lessons: tuple[Lesson, ...] = Field(default=(), exclude=True)
    learning: bool = Field(default=False, exclude=True)

    def composition(self) -> dict[str, int]:
        return {
            VILLAGER: self.villagers,
            DOCTOR: self.doctors,
            SEER: self.seers,
            WEREWOLF: self.werewolves,
            JESTER: self.jesters,
        }

    def check(self) -> None:
        """Raises UsageError if no game can be played with these options."""
        BallotSpec.check(self)
        town = self.villagers + self.doctors + self.seers
        if town <= self.werewolves:
            raise UsageError("Werewolf needs more villagers, doctors and seers together than werewolves")
        if (self.learning or self.lessons) and not self.jesters:
            raise UsageError("lessons are the jester's; this game has none")


TRIADIC = WerewolfSpec(message_limit=500)
DYADIC = WerewolfSpec(villagers=7, jesters=0, message_limit=500)


class Werewolf(Game):
    """One game of Werewolf. Raises UsageError if no game can be played with this spec."""

    name: ClassVar[str] = "werewolf"
    options: WerewolfSpec

    def team(self, role: str) -> str:
        return _TEAMS.get(role, VILLAGERS)

    def deceives(self, role: str) -> bool:
        return role in _TEAMS

    def play(self) -> Play:
        self._setup()
        outcome = yield from self._days()
        if self.options.learning:
            yield from self._reflect()
        return outcome

    def _days(self) -> Play:
        while True:
            self.day += 1
            yield from self._night()
            if outcome := self._over():
                return outcome
            self.log(EventKind.DAY, Phase.DISCUSSION)
            yield from talk(self, Phase.DISCUSSION, self.options.debate_turns)
            voted_for = yield from self._first_vote()
            yield from talk(self, Phase.DEFENCE, self.options.defence_turns, voted_for)
            exiled = yield from self._revote()
            if outcome := self._over(exiled, last_day=self.day == self.options.days):
                return outcome

    # The phases

    def _setup(self) -> None:
        spec = self.options
        self.begin(debate_turns=spec.debate_turns, defence_turns=spec.defence_turns, days=spec.days)
        wolves = self.holding(WEREWOLF, alive=False)
        if len(wolves) > 1:
            self.log(EventKind.PARTNERS, Phase.SETUP, audience=wolves, data={"names": list(wolves)})
        if spec.lessons:
            lessons = [[lesson.kind.value, lesson.text] for lesson in spec.lessons]
            for name in self.holding(JESTER):
                self.log(EventKind.LESSONS, Phase.SETUP, actor=name, audience=(name,), data={"lessons": lessons})

    def _night(self) -> Generator[Asks, Replies, None]:
        """All act simultaneously; only the werewolves may need a second round."""
        self.log(EventKind.NIGHT, Phase.NIGHT)
        doctors, seers = self.holding(DOCTOR), self.holding(SEER)
        asks = self._proposals(1)
        wolves = len(asks)
        asks += [self.ask(name, AskKind.PROTECT, Phase.NIGHT, options=tuple(self.alive)) for name in doctors]
        asks += [self.ask(name, AskKind.INVESTIGATE, Phase.NIGHT, options=self.others(name)) for name in seers]
        replies = yield self.batch(asks)
        protected = set()
        for ask, reply in zip(asks[wolves:], replies[wolves:], strict=True):
            target = self._act(ask, reply)
            if ask.kind is AskKind.PROTECT:
                protected.add(target)
        first = len(self.events)
        victims = [self._act(ask, reply) for ask, reply in zip(asks[:wolves], replies[:wolves], strict=True)]
        if len(set(victims)) > 1:
            asks = self._proposals(2)
            replies = yield self.batch(asks)
            first = len(self.events)
            victims = [self._act(ask, reply) for ask, reply in zip(asks, replies, strict=True)]
        victim, top = plurality(victims, self.random)
        chosen = len(top) == 1 and any(act.target == victim and not act.fallback for act in self.events[first:])
        data = {"proposals": victims} if chosen else {"proposals": victims, "drawn": True}
        audience = self.holding(WEREWOLF, alive=False)
        self.log(EventKind.KILL, Phase.NIGHT, target=victim, audience=audience, data=data)
        if victim in protected:
            self.log(EventKind.QUIET, Phase.NIGHT)
        else:
            self.alive.remove(victim)
            self.log(EventKind.DEATH, Phase.NIGHT, target=victim)

    def _proposals(self, round: int) -> list[Ask]:
        prey = tuple(name for name in self.alive if self.roles[name] != WEREWOLF)
        return [self.ask(name, AskKind.KILL, Phase.NIGHT, round, options=prey) for name in self.holding(WEREWOLF)]

    def _act(self, ask: Ask, reply: Reply) -> str:
        """Log what a seat does at night; returns its target."""
        target, why = legal_choice(ask, reply, self.random)
        audience: tuple[str, ...] = (ask.seat,)
        data = notes(reply)
        if ask.kind is AskKind.KILL:
            kind, audience = EventKind.PROPOSAL, self.holding(WEREWOLF, alive=False)
        elif ask.kind is AskKind.PROTECT:
            kind = EventKind.PROTECTION
        else:
            kind = EventKind.INVESTIGATION
            data = {"role": WEREWOLF if self.roles[target] == WEREWOLF else f"not {WEREWOLF}", **data}
        place = {"actor": ask.seat, "target": target, "audience": audience, "fallback": why}
        self.log(kind, Phase.NIGHT, ask.round, data=data, **place)
        return target

    def _first_vote(self) -> Generator[Asks, Replies, tuple[str, ...]]:
        """Everybody votes simultaneously, each with a reason; returns those who got votes, most votes first."""
        limit = self.options.message_limit
        yield from before_votes(self, Phase.VOTING)
        asks = [
            self.ask(name, AskKind.EXPLAINED_VOTE, Phase.VOTING, options=self.others(name), limit=limit)
            for name in self.alive
        ]
        replies = yield self.batch(asks)
        votes: Counter[str] = Counter()
        for ask, reply in zip(asks, replies, strict=True):
            target, why = legal_choice(ask, reply, self.random)
            votes[target] += 1
            self.log(EventKind.VOTE, Phase.VOTING, actor=ask.seat, target=target, fallback=why)
            reason = self.log(**speech(ask, reply))
            yield from assess(self, reason)
        return tuple(sorted(votes, key=lambda name: (-votes[name], self.names.index(name))))

    def _revote(self) -> Generator[Asks, Replies, str | None]:
        """Everybody votes simultaneously; returns who is exiled."""
        votes = yield from ballot(self, Phase.REVOTE)
        needed = len(self.alive) // 2 + 1
        exiled = next(iter(more_than_half(votes)), None)
        if exiled is None:
            self.log(EventKind.NO_EXILE, Phase.REVOTE, data={"needed": needed})
        else:
            self.alive.remove(exiled)
            data = {"votes": votes.count(exiled), "needed": needed}
            self.log(EventKind.EXILE, Phase.REVOTE, target=exiled, data=data)
        return exiled

    def _over(self, exiled: str | None = None, last_day: bool = False) -> Outcome | None:
        if exiled is not None and self.roles[exiled] == JESTER:
            return self.end(JESTER, "the jester was exiled", (exiled,))
        wolves = len(self.holding(WEREWOLF))
        if not wolves:
            return self.end(VILLAGERS, "every werewolf is out of the game")
        if wolves >= len(self.alive) - wolves - len(self.holding(JESTER)):
            return self.end(WEREWOLVES, "the werewolves are as many as all others but the jester")
        if last_day:
            return self.end(NOBODY, "the days ran out")
        return None

    def _reflect(self) -> Generator[Asks, Replies, None]:
        """The jester, dead or alive, looks back and writes lessons."""
        asks = [self.ask(name, AskKind.REFLECTION, Phase.END) for name in self.holding(JESTER, alive=False)]
        replies = yield self.batch(asks)
        for ask, reply in zip(asks, replies, strict=True):
            form = reply.form if not reply.problem else None
            why = "" if form is not None else reply.problem or "no lessons in the reply"
            drawn = [
                (kind.value, text) for kind in LessonKind for text in (form or {}).get(kind.value, ()) if text.strip()
            ]
            place: dict[str, Any] = {"actor": ask.seat, "audience": (ask.seat,)}
            data = {"lessons": len(drawn), **notes(reply)}
            about = self.log(EventKind.REFLECTION, Phase.END, fallback=why, data=data, **place).index
            for kind, text in drawn:
                self.log(EventKind.LESSON, Phase.END, text=text, about=about, data={"kind": kind}, **place)


class DyadicWerewolf(Werewolf):
    """The control without a jester: one more villager instead (Triadic Werewolf paper, section 5.2)."""

    name: ClassVar[str] = "dyadic-werewolf"


def exiled_jesters(record: GameRecord) -> Iterator[Contest]:
    """The jester against all others, whom it fools together: into exiling it."""
    if record.outcome is not None:
        for jester in record.by_role(JESTER):
            for seat in record.seats:
                if seat is not jester:
                    yield Contest(jester.name, seat.name, jester.name in record.outcome.winners, together=True)
