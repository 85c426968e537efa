"""The ledger of claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from liescope.data_cards.tables.declare import Column
from liescope.data_cards.tables.words import GAME_ID, STATEMENT_ID

_NO_SPAN = "where an importer does not say"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim in a statement: what it says, what the log says of it, and what its speaker could know."""

    statement_id: Annotated[str, STATEMENT_ID]
    game_id: Annotated[str, GAME_ID]
    speaker: Annotated[str, Column("who makes the claim")]
    speaker_role: Annotated[str, Column("the speaker's hidden role")]
    speaker_model: Annotated[str, Column("the model or script that plays the speaker")]
    origin: Annotated[str, Column("who found the claim: rules, import:FORMAT or model:NAME")]
    start: Annotated[int | None, Column("where its words begin in the statement, in characters from 0", _NO_SPAN)]
    end: Annotated[int | None, Column("where its words end: the first character after them", _NO_SPAN)]
    quote: Annotated[str, Column("its words")]
    kind: Annotated[
        str,
        Column(
            "role, investigation, protection, innocence, guilt, or a promise: vote (for a player) or vote_with (as a "
            "player votes); importers may have kinds of their own"
        ),
    ]
    subject: Annotated[str, Column("the player that the claim is about; of a promise, the speaker")]
    object: Annotated[
        str,
        Column(
            "the role or team that is claimed, or whom a promise names; empty if nothing is said of it; in imported "
            "claims, what the source has"
        ),
    ]
    polarity: Annotated[str, Column("affirmed, or denied: the claim is that this is not so")]
    normal: Annotated[str, Column("the claim as one text, such as role(Alice)=detective or not guilt(Bob)=werewolf")]
    verdict: Annotated[str, Column("what the log says: true, false or unverifiable; of a promise, true if it was kept")]
    evidence: Annotated[
        tuple[int, ...],
        Column("the indices of the events that prove it, and of the statement whose word the speaker took"),
    ]
    known: Annotated[
        bool | None, Column("the speaker could know the verdict; false for promises", "where an importer does not say")
    ]
    claim_class: Annotated[
        str,
        Column(
            "truthful, lie (false and known to be), mistake (false, and believed on another's word), unsupported "
            "(asserted without a way to know) or undecidable"
        ),
    ]
    kept: Annotated[
        bool | None, Column("the act that followed kept the promise", "for other claims and where no act settles it")
    ]
