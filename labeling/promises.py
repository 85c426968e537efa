"""Whether a promise was kept: the act that followed decides.

A promise states an intention, people change their minds during a discussion, and the log shows acts, not intentions. So
a broken promise alone is never a lie: it has a label of its own.
"""

from __future__ import annotations

from liescope.games.core import Event, EventKind, Phase
from liescope.games.record import GameRecord
from liescope.games.vocabulary import FoundClaim, Promise
from liescope.labeling.truth import FALSE, TRUE, UNDECIDED, Checked


def check_promise(promise: Promise, claim: FoundClaim, statement: Event, record: GameRecord) -> Checked:
    """The promise compared with the speaker's next such act, or with the vote that the statement is the reason for. It
    stays open if there is no such act, if the rules drew the act, and if the words leave open whom the act is for.
    """
    act = _act(promise, statement.actor, statement, record)
    other = _act(promise, claim.object, statement, record) if promise.follows else None
    proof = tuple(sorted(event.index for event in (act, other) if event))
    target = other.target if other else "" if promise.follows else claim.object
    if act is None or not target or any(event and event.fallback for event in (act, other)):
        return UNDECIDED
    return Checked(TRUE if (act.target == target) != claim.denied else FALSE, proof, known=False)


def _act(promise: Promise, actor: str | None, statement: Event, record: GameRecord) -> Event | None:
    explained = statement.phase is Phase.VOTING and promise.act is EventKind.VOTE
    for event in record.events if explained else record.events[statement.index :]:
        if event.kind is promise.act and event.actor == actor and 0 <= event.day - statement.day <= promise.days:
            return event
    return None
