"""QUACK's claims as claims of a statement: what is said, the verdict, the events that decide it, what the speaker knew.

A model read the claims from the utterances (silver, not gold), and the authors' program checked them against the log.
Whether the speaker could know the verdict:

- A claim about others is not known, except by the duck: it is the only duck, so it knows that each accusation it makes
  is false. A weak accusation voices a doubt, which cannot be false: whether it was meant is not known.
- What speakers say of themselves (where they were, what they did, whom they saw) they know. But only the verdict "true"
  can be relied on. Of the geese's 689 own claims, 95 (14%) got "false"; of those about whom they saw, 85 of 327 (26%;
  of the duck's, 69 of 117). Geese have no reason to lie there, and most are right: replaying the rooms shows that in 67
  of the 85 the goose saw that player in that room before the meeting, and in 14 more before an earlier one (the duck in
  66 and 3 of its 69). The authors' window ends a tick too early and leaves out who is just coming or leaving, or dead.
  So what a "false" of this kind says about the speaker is not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from liescope.games.facts import ClaimData
from liescope.generate.importers.quack.entries import Claim

DUCK = "duck"
VERDICTS = {"true": "true", "false": "false", "wrong_room": "false"}
"""QUACK's verdicts that decide a claim. The others, near_miss and unverifiable, leave it open."""
_ACCUSATION, _ACTIVITY, _SIGHTING = "accusation", "activity", "sighting"
_WEAK = "weak"


@dataclass(frozen=True, slots=True)
class Act:
    """An event that can decide a claim: who did it, or to whom it was done, and when. task: part of a task."""

    index: int
    player: str
    tick: int
    task: bool = False


def claim_data(
    claim: Claim, text: str, speaker: str, role: str, roles: Mapping[str, int], acts: Sequence[Act]
) -> ClaimData:
    """A claim in Liescope's form. text: the statement; role: the speaker's; roles: the events that gave the roles, by
    player; acts: what happened before.
    """
    said, verified = claim.structured_claim, claim.verification
    accuses = said.claim_type == _ACCUSATION
    subject = (said.target if accuses else said.subject) or ""
    verdict = VERDICTS.get(verified.verdict, "unverifiable")
    data = ClaimData(
        kind=said.claim_type,
        subject=subject or None,
        object=_object(claim) or None,
        polarity="affirmed",
        verdict=verdict,
        evidence=[roles[subject]] if accuses and subject in roles else _decisive(claim, acts),
        known=_known(claim, verdict, speaker, role),
    )
    span = _span(verified.evidence.claimed_route, text)
    return data | ClaimData(start=span[0], end=span[1]) if span else data


def _object(claim: Claim) -> str:
    """What is claimed of the subject, such as "Eve in weapons (at tick 3)"."""
    said = claim.structured_claim
    if said.claim_type == _ACCUSATION:
        return f"{DUCK} ({_WEAK})" if said.confidence == _WEAK else DUCK
    room = " > ".join(claim.verification.evidence.claimed_route) or said.room or ""
    what = (said.target if said.claim_type == _SIGHTING else said.activity) or ""
    words = f"{what} in {room}" if what and room else what or room
    return f"{words} ({said.temporal_ref})" if words and said.temporal_ref else words


def _known(claim: Claim, verdict: str, speaker: str, role: str) -> bool | None:
    said = claim.structured_claim
    if said.claim_type == _ACCUSATION:
        return False if role != DUCK else None if said.confidence == _WEAK else True
    if not said.subject or (said.subject == speaker and verdict != "true"):
        return None
    return said.subject == speaker


def _decisive(claim: Claim, acts: Sequence[Act]) -> list[int]:
    """The acts of those that the claim is about, in the ticks that it was checked for."""
    said, window = claim.structured_claim, claim.temporal_window
    about = {said.subject, said.target}
    tasks = said.claim_type == _ACTIVITY and said.activity == "task"
    found = (
        act.index
        for act in acts
        if act.player in about and act.task == tasks and window.start_tick <= act.tick <= window.end_tick
    )
    return list(dict.fromkeys(found))


def _span(route: Sequence[str], text: str) -> tuple[int, int] | None:
    """Where a route stands in the text, room after room; None if that is not in exactly one place."""
    rooms = [re.escape(room).replace("_", "[ _-]?") for room in route]
    if len(rooms) < 2:
        return None
    words = r"\W{1,5}".join(rooms)
    found = [match.span() for match in re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)]
    return found[0] if len(found) == 1 else None
