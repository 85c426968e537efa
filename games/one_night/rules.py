"""One-night werewolf: one night, one discussion, one vote, and face-down cards in the centre.

Rules: after One Night Ultimate Werewolf (Ted Alspach and Akihisa Okui), without the roles that swap cards, so that
everybody keeps the role they were dealt. There are more cards than players; the rest lie face down in the centre. At
night the werewolves learn of each other, a werewolf without a partner sees one centre card, and each seer looks at one
player's card. Then everybody talks in rounds, each in a fresh random order, and all vote once, simultaneously. Whoever
gets the most votes is exiled; if several tie for most, all of them are; if no player gets two votes, nobody is.

The villagers win if a werewolf is exiled; the werewolves win if none is. If all werewolves are in the centre, the
villagers win by exiling nobody, and otherwise nobody wins.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

from pydantic import Field

from liescope.common.errors import UsageError
from liescope.games.core import AskKind, Asks, EventKind, Game, Outcome, Phase, Play, Replies
from liescope.games.game_options import BallotSpec
from liescope.games.shared_rules import all_with_most, ballot, discuss, investigate, legal_choice

WEREWOLF, SEER, VILLAGER = "werewolf", "seer", "villager"
WEREWOLVES, VILLAGERS, NOBODY = "werewolves", "villagers", "nobody"
NEEDED = 2  # votes needed to be exiled


class OneNightSpec(BallotSpec):
    """The cards; more options in `BallotSpec`. centre: how many of the cards no player holds; rounds: of discussion."""

    werewolves: int = Field(default=2, ge=1, description="Number of werewolves.")
    seers: int = Field(default=1, ge=0, description="Number of seers.")
    villagers: int = Field(default=4, ge=0, description="Number of villagers.")
    centre: int = Field(default=2, ge=0, description="Cards that nobody holds.")
    rounds: int = Field(default=2, ge=1, description="Rounds of discussion a day.")

    def composition(self) -> dict[str, int]:
        return {WEREWOLF: self.werewolves, SEER: self.seers, VILLAGER: self.villagers}

    def undealt(self) -> int:
        return self.centre

    def check(self) -> None:
        """Raises UsageError if no game can be played with these options."""
        if sum(self.composition().values()) - self.centre < 3:
            raise UsageError("One-night werewolf needs at least three players besides the cards in the centre")
        BallotSpec.check(self)


TABLE = OneNightSpec(message_limit=300)


class OneNightWerewolf(Game):
    """One game of one-night werewolf. Raises UsageError if no game can be played with this spec."""

    name: ClassVar[str] = "one-night-werewolf"
    options: OneNightSpec

    def team(self, role: str) -> str:
        return WEREWOLVES if role == WEREWOLF else VILLAGERS

    def deceives(self, role: str) -> bool:
        return role == WEREWOLF

    def play(self) -> Play:
        self.begin(centre=self.options.centre, rounds=self.options.rounds)
        self.day = 1
        yield from self._night()
        self.log(EventKind.DAY, Phase.DISCUSSION)
        yield from discuss(self, self.options.rounds)
        votes = yield from ballot(self, Phase.VOTING)
        return self._end(self._exile(votes))

    def _night(self) -> Generator[Asks, Replies, None]:
        self.log(EventKind.NIGHT, Phase.NIGHT)
        wolves = self.holding(WEREWOLF)
        if wolves:
            alone = len(wolves) == 1 and self.centre
            seen = {"seen": self.random.choice(self.centre)} if alone else {}
            self.log(EventKind.PARTNERS, Phase.NIGHT, audience=wolves, data={"names": list(wolves), **seen})
        seers = self.holding(SEER)
        if not seers:
            return
        asks = [self.ask(name, AskKind.INVESTIGATE, Phase.NIGHT, options=self.others(name)) for name in seers]
        replies = yield self.batch(asks)
        for ask, reply in zip(asks, replies, strict=True):
            investigate(self, ask.seat, *legal_choice(ask, reply, self.random))

    def _exile(self, votes: list[str]) -> tuple[str, ...]:
        """The exiled players, in seating order."""
        gone = all_with_most(votes, NEEDED)
        exiled = tuple(name for name in self.names if name in gone)
        for name in exiled:
            self.alive.remove(name)
            self.log(EventKind.EXILE, Phase.VOTING, target=name, data={"votes": votes.count(name), "needed": NEEDED})
        if not exiled:
            self.log(EventKind.NO_EXILE, Phase.VOTING, data={"needed": NEEDED})
        return exiled

    def _end(self, exiled: tuple[str, ...]) -> Outcome:
        if any(self.roles[name] == WEREWOLF for name in exiled):
            return self.end(VILLAGERS, "a werewolf was exiled")
        if self.holding(WEREWOLF):
            return self.end(WEREWOLVES, "no werewolf was exiled")
        if not exiled:
            return self.end(VILLAGERS, "there was no werewolf, and nobody was exiled")
        return self.end(NOBODY, "there was no werewolf, and somebody was exiled")
