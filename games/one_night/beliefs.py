"""What a seat in one-night werewolf knows, and who it takes for a werewolf.

What others say is read in two ways: for its firmness, as in every game, and for its claims, with the rules that label
the statements (`liescope.labeling.claims`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from liescope.games.core import Event, EventKind
from liescope.games.one_night import SEER, WEREWOLF, OneNightWerewolf
from liescope.games.script.draws import SURE
from liescope.games.script.hearing import MessageContent, read
from liescope.games.script.persona import ClaimFinder
from liescope.games.vocabulary import FoundClaim

POINTED = 0.3  # for being accused at all
REPORTED = 1.2  # for being reported as a werewolf by a seer
CLEARED = 0.5  # subtracted, for being reported as not one
RIVAL = 2.0  # for claiming a role whose only card the observer holds


@dataclass(frozen=True, slots=True)
class Heard:
    """One statement. about: the index of its event."""

    actor: str
    about: int
    text: str
    reading: MessageContent
    claims: tuple[FoundClaim, ...]

    def reports(self) -> Iterator[tuple[str, bool]]:
        """Whose card the speaker claims to have seen, and whether it was a werewolf's."""
        for claim in self.claims:
            if claim.kind == "investigation" and claim.value:
                yield claim.subject, claim.value == WEREWOLF

    @property
    def claims_seer(self) -> bool:
        own = any((claim.kind, claim.subject, claim.value) == ("role", self.actor, SEER) for claim in self.claims)
        return own or any(claim.kind == "investigation" for claim in self.claims)


@dataclass(slots=True)
class Knowledge:
    """What a seat saw. found: the cards that the seer looked at; partners: the other werewolves; centre: the card in
    the centre that a lone werewolf saw.
    """

    me: str
    role: str = ""
    names: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    rounds: int = 0
    partners: frozenset[str] = frozenset()
    centre: str = ""
    found: dict[str, str] = field(default_factory=dict)
    said: list[Heard] = field(default_factory=list)

    @property
    def evil(self) -> bool:
        return self.role == WEREWOLF

    def others(self) -> list[str]:
        return [name for name in self.names if name != self.me]

    def accusers(self) -> list[str]:
        """Players who have spoken against this seat, each once."""
        named = (said for said in self.said if any(name == self.me for name, _ in said.reading.accused))
        return list(dict.fromkeys(said.actor for said in named if said.actor != self.me))


def look(me: str, view: Sequence[Event], find_claims: ClaimFinder) -> Knowledge:
    """Gather what the events in a seat's view reveal."""
    seen = Knowledge(me)
    for event in view:
        match event.kind:
            case EventKind.SETUP:
                seen.names = tuple(event.data["names"])
                seen.counts = dict(event.data["composition"])
                seen.rounds = event.data["rounds"]
            case EventKind.ROLE:
                seen.role = event.data["role"]
            case EventKind.PARTNERS:
                seen.partners = frozenset(event.data["names"]) - {me}
                seen.centre = event.data.get("seen", "")
            case EventKind.INVESTIGATION:
                seen.found[event.target or ""] = event.data["role"]
            case EventKind.STATEMENT:
                actor = event.actor or ""
                claims = find_claims(event.text, actor, seen.names, OneNightWerewolf.name)
                seen.said.append(Heard(actor, event.index, event.text, read(event.text, seen.names), claims))
    return seen


def public_suspicion(seen: Knowledge) -> dict[str, float]:
    """How suspect each player seems to someone who knows no card, on the scale of log-odds."""
    scores = dict.fromkeys(seen.names, 0.0)
    for said in seen.said:
        scores[said.actor] -= 0.5 * said.reading.strength
        for name, weight in said.reading.accused:
            if name != said.actor:
                scores[name] += weight * (POINTED + 0.5 * said.reading.strength)
        for name, guilty in said.reports():
            scores[name] += REPORTED if guilty else -CLEARED
    return scores


def believe(seen: Knowledge) -> dict[str, float]:
    """How suspect each other player is to this seat, from what was said and what it saw at night."""
    scores = public_suspicion(seen)
    only_seer = seen.role == SEER and seen.counts.get(SEER) == 1
    for said in seen.said:
        if only_seer and said.actor != seen.me and said.claims_seer:
            scores[said.actor] += RIVAL
    for name in seen.others():
        if seen.evil:
            scores[name] = SURE if name in seen.partners else -SURE
        elif name in seen.found:
            scores[name] = SURE if seen.found[name] == WEREWOLF else -SURE
    return {name: scores[name] for name in seen.others()}
