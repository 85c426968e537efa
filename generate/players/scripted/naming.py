"""The role a scripted player names for each player at a Mafia table, once the game is over."""

from __future__ import annotations

from random import Random

from liescope.games.mafia import DETECTIVE, MAFIOSO, VILLAGER
from liescope.generate.players.scripted.beliefs import SURE, suspicion
from liescope.generate.players.scripted.dealing import Dealing
from liescope.generate.players.scripted.knowledge import Knowledge
from liescope.generate.players.scripted.skills import Skills


def name_roles(seen: Knowledge, options: tuple[str, ...], skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """As many mafiosos and detectives as the table has, without the seat's own role: what the seat knows, then the most
    suspect as mafiosos (drawn with sensitivity v) and those who claimed to be detectives; all others are villagers.
    """
    deal = Dealing(seen.counts, seen.role, options)
    for name, role in (*dict.fromkeys(seen.partners, MAFIOSO).items(), *seen.results.items()):
        deal.give(role, [name])
    scores = suspicion(seen, None if seen.evil else seen.me)
    cleared = seen.town | {name for name, role in seen.results.items() if role != MAFIOSO}
    doubt = {name: scores[name] - SURE * (name in cleared) for name in options}
    noise = {name: random.gauss(0.0, 1.0) for name in options}
    suspects = sorted(options, key=lambda name: -(max(skills.v, 0.0) * doubt[name] + noise[name]))
    claimants = [said.actor for said in seen.said if said.reading.role == DETECTIVE]
    deal.give(MAFIOSO, suspects)
    deal.give(DETECTIVE, [*claimants, *reversed(suspects)])
    return deal.form(VILLAGER)
