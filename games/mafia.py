"""Mafia for any number of mafiosos, detectives and villagers, and Mini-Mafia, a configuration of it.

Rules and information flow: Mini-Mafia paper, section 2.1 and Appendix A. At night each detective investigates one
player and one mafioso, drawn at random, decides the kill. By day the living discuss in rounds, each in an order drawn
anew, then vote blindly; the plurality is arrested, a tie is drawn. Town wins when no mafioso is left in the game,
mafia when nobody else is, or when the days run out.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from games.assessing import assess
from games.core import AskKind, Asks, EventKind, Game, Outcome, Phase, Play, Replies
from games.errors import UsageError
from games.talk import speech
from games.voting import legal_choice, plurality

MAFIOSO, DETECTIVE, VILLAGER = "mafioso", "detective", "villager"
MAFIA, TOWN = "mafia", "town"
NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin", "Frank", "Grace", "Henry", "Ivy", "Jack", "Kate", "Liam")


@dataclass(frozen=True, slots=True)
class MafiaSpec:
    """The table.

    names: as many as there are roles. rounds: discussion rounds a day. message_limit: characters kept of a message,
    None for no limit. scripted_night: the night's targets are drawn and nobody is asked: a random villager dies (any of
    the town once no villager is left), each detective learns a mafioso. days: voting days until mafia wins by
    survival, 0 for no end. roles: fixed roles in the order of names, empty to draw them. assess: after each statement
    its speaker reports on it and every other living player rates it.
    """

    mafiosos: int = 2
    detectives: int = 1
    villagers: int = 4
    names: tuple[str, ...] = ()
    rounds: int = 2
    message_limit: int | None = 200
    scripted_night: bool = False
    days: int = 0
    roles: tuple[str, ...] = ()
    assess: bool = False

    def composition(self) -> dict[str, int]:
        return {MAFIOSO: self.mafiosos, DETECTIVE: self.detectives, VILLAGER: self.villagers}

    def seats(self) -> tuple[str, ...]:
        """The names in play: the given ones, or the first of the stock names."""
        return self.names or NAMES[: self.mafiosos + self.detectives + self.villagers]

    def check(self) -> None:
        """Raises UsageError for a table that cannot be played."""
        count = self.mafiosos + self.detectives + self.villagers
        if min(self.mafiosos, self.rounds) < 1 or min(self.detectives, self.villagers, self.days) < 0:
            raise UsageError("Mafia needs at least one mafioso and one round; no count may be negative")
        if self.detectives + self.villagers < 1:
            raise UsageError("Mafia needs at least one player who is not a mafioso")
        names = self.seats()
        if len(names) != count:
            raise UsageError(f"{count} roles need {count} names; {len(names)} are given")
        if len({name.casefold() for name in names}) != count or not all(name.strip() for name in names):
            raise UsageError("every player needs a name of its own (upper and lower case count as the same)")
        if self.roles and sorted(self.roles) != sorted(self.deck()):
            raise UsageError(f"the fixed roles {', '.join(self.roles)} do not match the table {self.composition()}")
        if self.message_limit is not None and self.message_limit < 1:
            raise UsageError("message_limit must be at least 1 character, or none")

    def deck(self) -> list[str]:
        """The roles to deal, one for each player."""
        return [role for role, count in self.composition().items() for _ in range(count)]


MINI_MAFIA = MafiaSpec(1, 1, 2, NAMES[:4], rounds=2, scripted_night=True, days=1)


class Mafia(Game):
    """One game of Mafia. Raises UsageError for a table that cannot be played."""

    name: ClassVar[str] = "mafia"

    def __init__(self, spec: MafiaSpec, seed: int, game_id: str) -> None:
        spec.check()
        super().__init__(seed, game_id, spec.seats())
        self.spec = spec
        roles = list(spec.roles or spec.deck())
        if not spec.roles:
            self.random.shuffle(roles)
        self.roles = dict(zip(self.names, roles, strict=True))

    def team(self, role: str) -> str:
        return MAFIA if role == MAFIOSO else TOWN

    def deceives(self, role: str) -> bool:
        return role == MAFIOSO

    def play(self) -> Play:
        self._setup()
        while True:
            self.day += 1
            yield from self._night()
            if outcome := self._over():
                return outcome
            self.log(EventKind.DAY, Phase.DISCUSSION)
            for number in range(1, self.spec.rounds + 1):
                yield from self._discussion(number)
            yield from self._vote()
            if outcome := self._over(last_day=self.day == self.spec.days):
                return outcome

    # The phases

    def _setup(self) -> None:
        facts = {"names": list(self.names), "composition": self.spec.composition(), "rounds": self.spec.rounds}
        self.log(EventKind.SETUP, Phase.SETUP, data=facts)
        for name in self.names:
            self.log(EventKind.ROLE, Phase.SETUP, actor=name, audience=(name,), data={"role": self.roles[name]})
        if self.spec.mafiosos > 1:
            mafia = self._mafia()
            self.log(EventKind.PARTNERS, Phase.SETUP, audience=mafia, data={"names": list(mafia)})

    def _night(self) -> Generator[Asks, Replies, None]:
        self.log(EventKind.NIGHT, Phase.NIGHT)
        detectives = [name for name in self.alive if self.roles[name] == DETECTIVE]
        killer = self.random.choice([name for name in self.alive if self.roles[name] == MAFIOSO])
        if self.spec.scripted_night:
            prey = [name for name in self.alive if self.roles[name] == VILLAGER] or self._town()
            victim = self.random.choice(prey)
            found = [(name, self.random.choice(self._mafia(alive=True)), "") for name in detectives]
            self._kill(killer, victim, "")
        else:
            self.log(EventKind.KILLER, Phase.NIGHT, actor=killer, audience=self._mafia())
            asks = [self.ask(killer, AskKind.KILL, Phase.NIGHT, options=tuple(self._town()))]
            asks += [self.ask(name, AskKind.INVESTIGATE, Phase.NIGHT, options=self.others(name)) for name in detectives]
            replies = yield self.batch(asks)
            chosen = [legal_choice(ask, reply, self.random) for ask, reply in zip(asks, replies, strict=True)]
            found = [(name, target, why) for name, (target, why) in zip(detectives, chosen[1:], strict=True)]
            self._kill(killer, *chosen[0])
        for name, target, why in found:
            data = {"role": self.roles[target]}
            self.log(
                EventKind.INVESTIGATION,
                Phase.NIGHT,
                actor=name,
                target=target,
                audience=(name,),
                fallback=why,
                data=data,
            )

    def _kill(self, killer: str, victim: str, why: str) -> None:
        self.log(EventKind.KILL, Phase.NIGHT, actor=killer, target=victim, audience=self._mafia(), fallback=why)
        self.alive.remove(victim)
        self.log(EventKind.DEATH, Phase.NIGHT, target=victim)

    def _discussion(self, number: int) -> Generator[Asks, Replies, None]:
        for speaker in self.random.sample(self.alive, len(self.alive)):
            ask = self.ask(
                speaker, AskKind.SPEAK, Phase.DISCUSSION, number, rounds=self.spec.rounds, limit=self.spec.message_limit
            )
            (reply,) = yield self.batch([ask])
            event = self.log(**speech(ask, reply))
            if self.spec.assess and event.kind is EventKind.STATEMENT:
                yield from assess(self, event, self.others(speaker))

    def _vote(self) -> Generator[Asks, Replies, None]:
        asks = [self.ask(name, AskKind.VOTE, Phase.VOTING, options=self.others(name)) for name in self.alive]
        replies = yield self.batch(asks)
        votes = []
        for ask, reply in zip(asks, replies, strict=True):
            target, why = legal_choice(ask, reply, self.random)
            votes.append(target)
            self.log(EventKind.VOTE, Phase.VOTING, actor=ask.seat, target=target, fallback=why)
        arrested, tied = plurality(votes, self.random)
        self.alive.remove(arrested)
        data = {"tied": list(tied)} if len(tied) > 1 else {}
        self.log(EventKind.ARREST, Phase.VOTING, target=arrested, data=data)

    def _over(self, last_day: bool = False) -> Outcome | None:
        mafia = self._mafia(alive=True)
        if not mafia:
            return self._end(TOWN, "every mafioso is out of the game")
        if len(mafia) == len(self.alive):
            return self._end(MAFIA, "only mafiosos are left")
        if last_day:
            return self._end(MAFIA, "the days ran out with a mafioso in the game")
        return None

    def _end(self, winner: str, reason: str) -> Outcome:
        self.log(EventKind.END, Phase.END, data={"winner": winner})
        winners = tuple(name for name in self.names if self.team(self.roles[name]) == winner)
        return Outcome(winner, winners, reason, self.day)

    def _town(self) -> list[str]:
        return [name for name in self.alive if self.roles[name] != MAFIOSO]

    def _mafia(self, alive: bool = False) -> tuple[str, ...]:
        names = self.alive if alive else self.names
        return tuple(name for name in names if self.roles[name] == MAFIOSO)


class MiniMafia(Mafia):
    """Four players, a scripted night, two rounds, one vote (Mini-Mafia paper, section 2.1)."""

    name: ClassVar[str] = "mini-mafia"

    def __init__(self, spec: MafiaSpec = MINI_MAFIA, seed: int = 0, game_id: str = "mini-mafia") -> None:
        super().__init__(spec, seed, game_id)
