"""Which night acts were nobody's choice: drawn by the rules, or substituted for an unusable reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from liescope.games.core import Event, EventKind

DRAWN = "drawn by the rules"


def not_chosen(events: Sequence[Event], own: bool = True) -> dict[int, str]:
    """By event index, why a night act was not its actor's choice. own: whether they follow the rules of this package;
    in other games players choose what is not marked.

    The rules mark the acts they draw (`data["drawn"]`). In games recorded before this mark existed, drawn acts are
    found from the events: a night without a KILLER event in a game whose kills have an actor was scripted; a victim
    that the werewolves did not agree on, or that no readable proposal named, was drawn.
    """
    reasons = {event.index: event.fallback for event in events if event.kind in ACTS and event.fallback}
    for kill in events:
        if own and kill.kind is EventKind.KILL and kill.index not in reasons:
            night = [event for event in events if event.day == kill.day and event.kind in _OF_A_NIGHT]
            if kill.actor is not None and not any(event.kind is EventKind.KILLER for event in night):
                acts = [event for event in night if event.kind in (EventKind.KILL, EventKind.INVESTIGATION)]
                reasons |= dict.fromkeys((event.index for event in acts), DRAWN)
            elif kill.actor is None and not _agreed(kill, night):
                reasons[kill.index] = DRAWN
    marked = (event.index for event in events if event.kind in ACTS and event.data.get("drawn"))
    return dict.fromkeys(marked, DRAWN) | reasons


ACTS = frozenset({EventKind.PROPOSAL, EventKind.KILL, EventKind.PROTECTION, EventKind.INVESTIGATION})
_OF_A_NIGHT = ACTS | {EventKind.KILLER}


def _agreed(kill: Event, night: Sequence[Event]) -> bool:
    """Whether most werewolves proposed this victim in their last round, one of them readably."""
    proposals = [event for event in night if event.kind is EventKind.PROPOSAL]
    if not proposals:
        return True
    last = [event for event in proposals if event.round == max(proposal.round for proposal in proposals)]
    votes = Counter(event.target for event in last)
    alone = list(votes.values()).count(votes[kill.target]) == 1
    return alone and any(event.target == kill.target and not event.fallback for event in last)
