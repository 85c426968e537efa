"""Mafia with any number of mafiosos, detectives and villagers, and Mini-Mafia, one configuration of it.

Rules and information flow: Mini-Mafia paper, section 2.1 and Appendix A. At night each detective investigates one
player and one mafioso, drawn at random, decides the kill. By day the living discuss in rounds, each in a fresh random
order, then vote secretly; the player with most votes is arrested, and ties are broken at random. Town wins when no
mafioso is left in the game; mafia wins when only mafiosos are left, or when the days run out.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from liescope.common.errors import UsageError
from liescope.games.core import AskKind, Asks, EventKind, Game, Outcome, Phase, Play, Replies
from liescope.games.game_options import LATER, NAMES, BallotSpec, Names
from liescope.games.shared_rules import ballot, discuss, investigate, legal_choice, plurality

MAFIOSO, DETECTIVE, VILLAGER = "mafioso", "detective", "villager"
MAFIA, TOWN = "mafia", "town"


class MafiaSpec(BallotSpec):
    """The options; more in `BallotSpec`.

    rounds: discussion rounds a day. scripted_night: the rules draw the night's targets and ask nobody: a random
    villager dies (any town member once no villager is left), each detective learns of a mafioso. days: voting days
    until the mafia wins by survival, 0 for no limit. reveal_dead: the role of whoever dies at night is announced.
    mutual_discovery: a mafioso investigated by a detective learns who the detective is, and a living detective is
    warned of it (earlier versions of the Mini-Mafia authors' games had the last two). spared: names of villagers whom
    the first scripted night kills only if there is no other villager.
    """

    mafiosos: int = Field(default=2, ge=1, description="Number of mafiosos.")
    detectives: int = Field(default=1, ge=0, description="Number of detectives.")
    villagers: int = Field(default=4, ge=0, description="Number of villagers.")
    rounds: int = Field(default=2, ge=1, description="Rounds of discussion a day.")
    scripted_night: bool = False
    days: int = Field(default=0, ge=0, description="Days until the mafia wins by survival; 0 for no limit.")
    reveal_dead: Annotated[bool, LATER] = Field(
        default=False, description="Announce the role of whoever dies at night."
    )
    mutual_discovery: Annotated[bool, LATER] = Field(
        default=False,
        description="Let an investigated mafioso learn who the detective is, and warn the detective.",
    )
    spared: Annotated[Names, LATER] = Field(default=(), description="Names whom the first scripted night kills last.")

    def composition(self) -> dict[str, int]:
        return {MAFIOSO: self.mafiosos, DETECTIVE: self.detectives, VILLAGER: self.villagers}

    def check(self) -> None:
        """Raises UsageError if no game can be played with these options."""
        if self.detectives + self.villagers < 1:
            raise UsageError("Mafia needs at least one player who is not a mafioso")
        BallotSpec.check(self)
        if self.spared and not self.scripted_night:
            raise UsageError("only a scripted night can spare somebody: in any other, a mafioso chooses")
        if strangers := sorted(set(self.spared) - set(self.seats())):
            raise UsageError(f"nobody in this game is called {strangers[0]!r}, so the night cannot spare them")


MINI_MAFIA = MafiaSpec(mafiosos=1, detectives=1, villagers=2, rounds=2, scripted_night=True, days=1, names=NAMES[:4])


class Mafia(Game):
    """One game of Mafia. Raises UsageError if no game can be played with this spec."""

    name: ClassVar[str] = "mafia"
    options: MafiaSpec

    def team(self, role: str) -> str:
        return MAFIA if role == MAFIOSO else TOWN

    def deceives(self, role: str) -> bool:
        return role == MAFIOSO

    def play(self) -> Play:
        self.set_up()
        while True:
            self.day += 1
            yield from self._night()
            if outcome := self.over():
                return outcome
            self.log(EventKind.DAY, Phase.DISCUSSION)
            yield from discuss(self, self.options.rounds)
            self.arrest(*plurality((yield from ballot(self, Phase.VOTING)), self.random))
            if outcome := self.over(last_day=self.day == self.options.days):
                return outcome

    # The phases

    def set_up(self) -> None:
        """Log the setup and the roles."""
        options = {"reveal_dead": self.options.reveal_dead, "mutual_discovery": self.options.mutual_discovery}
        self.begin(rounds=self.options.rounds, **{option: True for option, chosen in options.items() if chosen})
        if self.options.mafiosos > 1:
            mafia = self.holding(MAFIOSO, alive=False)
            self.log(EventKind.PARTNERS, Phase.SETUP, audience=mafia, data={"names": list(mafia)})

    def _night(self) -> Generator[Asks, Replies, None]:
        self.log(EventKind.NIGHT, Phase.NIGHT)
        detectives = self.holding(DETECTIVE)
        killer = self.random.choice(self.holding(MAFIOSO))
        if self.options.scripted_night:
            prey = [name for name in self.alive if self.roles[name] == VILLAGER] or self._town()
            if self.day == 1:
                prey = [name for name in prey if name not in self.options.spared] or prey
            victim = self.random.choice(prey)
            found = [(name, self.random.choice(self.holding(MAFIOSO)), "") for name in detectives]
            self.acted(killer, victim, "", found, drawn=True)
        else:
            self.log(EventKind.KILLER, Phase.NIGHT, actor=killer, audience=self.holding(MAFIOSO, alive=False))
            asks = [self.ask(killer, AskKind.KILL, Phase.NIGHT, options=tuple(self._town()))]
            asks += [self.ask(name, AskKind.INVESTIGATE, Phase.NIGHT, options=self.others(name)) for name in detectives]
            replies = yield self.batch(asks)
            chosen = [legal_choice(ask, reply, self.random) for ask, reply in zip(asks, replies, strict=True)]
            found = [(name, target, why) for name, (target, why) in zip(detectives, chosen[1:], strict=True)]
            self.acted(killer, *chosen[0], found)

    def acted(self, killer: str, victim: str, why: str, found: Sequence[tuple[str, str, str]], **drawn: bool) -> None:
        """Log a night. why: the rules chose the victim; found: who investigated whom, and why the rules chose that;
        drawn: nobody chose.
        """
        audience = self.holding(MAFIOSO, alive=False)
        self.log(EventKind.KILL, Phase.NIGHT, actor=killer, target=victim, audience=audience, fallback=why, data=drawn)
        self.alive.remove(victim)
        revealed = {"role": self.roles[victim]} if self.options.reveal_dead else {}
        self.log(EventKind.DEATH, Phase.NIGHT, target=victim, data=revealed)
        for name, target, chosen in found:
            investigate(self, name, target, chosen, **drawn)
            if self.options.mutual_discovery and self.roles[target] == MAFIOSO and name in self.alive:
                self.log(EventKind.DISCOVERY, Phase.NIGHT, actor=name, target=target, audience=(name, target))

    def arrest(self, arrested: str, tied: Sequence[str]) -> None:
        """Log an arrest. tied: all with the most votes."""
        self.alive.remove(arrested)
        data = {"tied": list(tied)} if len(tied) > 1 else {}
        self.log(EventKind.ARREST, Phase.VOTING, target=arrested, data=data)

    def over(self, last_day: bool = False) -> Outcome | None:
        """The outcome, if the game has ended."""
        mafia = self.holding(MAFIOSO)
        if not mafia:
            return self.end(TOWN, "every mafioso is out of the game")
        if len(mafia) == len(self.alive):
            return self.end(MAFIA, "only mafiosos are left")
        if last_day:
            return self.end(MAFIA, "the days ran out with a mafioso in the game")
        return None

    def _town(self) -> list[str]:
        return [name for name in self.alive if self.roles[name] != MAFIOSO]


class MiniMafia(Mafia):
    """Four players, a scripted night, two rounds, one vote (Mini-Mafia paper, section 2.1)."""

    name: ClassVar[str] = "mini-mafia"
