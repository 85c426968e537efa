"""Which role a scripted player would name for everybody at a table of Mafia, once the game is over."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from games.mafia import DETECTIVE, MAFIOSO, VILLAGER
from generate.players.scripted.beliefs import SURE, suspicion
from generate.players.scripted.seen import Seen
from generate.players.scripted.skills import Skills


def name_roles(seen: Seen, options: tuple[str, ...], skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """As many mafiosos and detectives as the table has, without the seat's own role: what the seat knows, then the most
    suspect as mafiosos (drawn with sensitivity v) and those who claimed to be detectives; all others are villagers.
    """
    left = dict(seen.counts)
    left[seen.role] = left.get(seen.role, 0) - 1
    named: dict[str, str] = {}

    def give(role: str, names: Iterable[str]) -> None:
        for name in names:
            if name in options and name not in named and left.get(role, 0) > 0:
                named[name] = role
                left[role] -= 1

    for name, role in (*dict.fromkeys(seen.partners, MAFIOSO).items(), *seen.results.items()):
        give(role, [name])
    scores = suspicion(seen, None if seen.evil else seen.me)
    cleared = seen.town | {name for name, role in seen.results.items() if role != MAFIOSO}
    doubt = {name: scores[name] - SURE * (name in cleared) for name in options}
    noise = {name: random.gauss(0.0, 1.0) for name in options}
    suspects = sorted(options, key=lambda name: -(max(skills.v, 0.0) * doubt[name] + noise[name]))
    claimants = [said.actor for said in seen.said if said.reading.role == DETECTIVE]
    give(MAFIOSO, suspects)
    give(DETECTIVE, [*claimants, *reversed(suspects)])
    return {name: (named.get(name, VILLAGER),) for name in options}
