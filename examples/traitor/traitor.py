"""Traitor: three players, one of them a traitor; one discussion, one vote."""

from pydantic import Field

from liescope.games import BallotSpec, EventKind, Game, Phase
from liescope.games.mafia.words import WORDS
from liescope.games.playable import PlayableGame
from liescope.games.shared_rules import ballot, discuss, plurality


class TraitorSpec(BallotSpec):
    rounds: int = Field(default=1, ge=1, description="Rounds of discussion.")

    def composition(self):
        return {"mafioso": 1, "detective": 0, "villager": 2}


class Traitor(Game):
    name = "traitor"

    def team(self, role):
        return "mafia" if role == "mafioso" else "town"

    def deceives(self, role):
        return role == "mafioso"

    def play(self):
        self.begin(rounds=self.options.rounds)
        self.day = 1
        self.log(EventKind.DAY, Phase.DISCUSSION)
        yield from discuss(self, self.options.rounds)
        votes = yield from ballot(self, Phase.VOTING)
        arrested, _ = plurality(votes, self.random)
        self.alive.remove(arrested)
        self.log(EventKind.ARREST, Phase.VOTING, target=arrested)
        return self.end("town" if self.roles[arrested] == "mafioso" else "mafia", "the vote decided")


GAME = PlayableGame("traitor", "Traitor", TraitorSpec(), Traitor, words=WORDS)
