"""Who a seat in one-night werewolf takes for a werewolf.

What others say is read in two ways: for its firmness, as in every game, and for its claims, as labels are made.
"""

from __future__ import annotations

from collections.abc import Iterator

from liescope.games.one_night.rules import SEER, WEREWOLF, OneNightWerewolf
from liescope.games.script.draws import SURE
from liescope.games.script.knowledge import Heard, Knowledge
from liescope.games.vocabulary import FoundClaim

POINTED = 0.3  # for being accused at all
REPORTED = 1.2  # for being reported as a werewolf by a seer
CLEARED = 0.5  # subtracted, for being reported as not one
RIVAL = 2.0  # for claiming a role whose only card the observer holds


def reports(seen: Knowledge, said: Heard) -> Iterator[tuple[str, bool]]:
    """Whose card the speaker claims to have seen, and whether it was a werewolf's."""
    for claim in _claims(seen, said):
        if claim.kind == "investigation" and claim.value:
            yield claim.subject, claim.value == WEREWOLF


def claims_seer(seen: Knowledge, said: Heard) -> bool:
    """Whether the speaker claims to be the seer, or to have seen a card."""
    claims = _claims(seen, said)
    own = any((claim.kind, claim.subject, claim.value) == ("role", said.actor, SEER) for claim in claims)
    return own or any(claim.kind == "investigation" for claim in claims)


def _claims(seen: Knowledge, said: Heard) -> tuple[FoundClaim, ...]:
    return seen.find_claims(said.text, said.actor, seen.table.names, OneNightWerewolf.name)


def public_suspicion(seen: Knowledge) -> dict[str, float]:
    """How suspect each player seems to someone who knows no card, on the scale of log-odds."""
    scores = dict.fromkeys(seen.table.names, 0.0)
    for said in seen.table.said:
        scores[said.actor] -= 0.5 * said.reading.strength
        for name, weight in said.reading.accused:
            if name != said.actor:
                scores[name] += weight * (POINTED + 0.5 * said.reading.strength)
        for name, guilty in reports(seen, said):
            scores[name] += REPORTED if guilty else -CLEARED
    return scores


def believe(seen: Knowledge) -> dict[str, float]:
    """How suspect each other player is to this seat, from what was said and what it saw at night."""
    scores = public_suspicion(seen)
    only_seer = seen.role == SEER and seen.table.counts.get(SEER) == 1
    for said in seen.table.said:
        if only_seer and said.actor != seen.me and claims_seer(seen, said):
            scores[said.actor] += RIVAL
    others = [name for name in seen.table.names if name != seen.me]  # also those who were exiled
    for name in others:
        if seen.evil:
            scores[name] = SURE if name in seen.partners else -SURE
        elif name in seen.results:
            scores[name] = SURE if seen.results[name] == WEREWOLF else -SURE
    return {name: scores[name] for name in others}
