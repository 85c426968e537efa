"""The tables about what was said: statements with their labels, and each observer's ratings of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from liescope.data_cards.tables.declare import (
    DAY,
    DECEPTION_TYPES,
    GAME_ID,
    GAME_NAME,
    HONESTY,
    SPEAKER_ROLE,
    STATEMENT_ID,
    Meaning,
)

SPEAKER_MODEL = Meaning("the model or script that speaks, unknown where the source names none")


def _label(name: str, meaning: str, elsewhere: str | None = None) -> Meaning:
    return Meaning(meaning, reason=f"{name}_null", classes=HONESTY, elsewhere=elsewhere)


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One statement with its labels, which are never merged."""

    statement_id: Annotated[str, STATEMENT_ID]
    game_id: Annotated[str, GAME_ID]
    game: Annotated[str, GAME_NAME]
    source: Annotated[str, Meaning("where the speaker's words come from: scripted, model, human or imported")]
    day: Annotated[int, DAY]
    phase: Annotated[str, Meaning("discussion, voting (the spoken reason of a vote), defence or night", elsewhere=None)]
    round: Annotated[
        int,
        Meaning(
            "the round of discussion, or the turn where players bid for the floor, from 1; 0 for reasons of votes; an "
            "imported game may count turns or ticks in its own way",
            elsewhere=None,
        ),
    ]
    position: Annotated[int, Meaning("1 for the first statement of the {unit}, 2 for the next")]
    speaker: Annotated[str, Meaning("who says it, by name (in a conversation: system, user, assistant or a tool)")]
    speaker_role: Annotated[str, SPEAKER_ROLE]
    speaker_team: Annotated[str, Meaning("the team of the role, empty where it is not known", elsewhere=None)]
    speaker_model: Annotated[str, SPEAKER_MODEL]
    audience: Annotated[
        tuple[str, ...],
        Meaning("who heard it, with the speaker, by name; empty for everyone at the table", elsewhere=None),
    ]
    text: Annotated[str, Meaning("what was said, as those who heard it heard it")]
    truncated: Annotated[bool, Meaning("the rules cut the message at their limit", elsewhere=None)]
    alive: Annotated[tuple[str, ...], Meaning("everybody in the {unit} when it was said, by name")]
    read_notes: Annotated[tuple[str, ...], Meaning("leniencies needed to read the player's reply", elsewhere=None)]
    label_role: Annotated[bool | None, _label("label_role", "the speaker's role aims to deceive the others")]
    label_role_null: Annotated[str, Meaning("why label_role is null, else empty", elsewhere=None)]
    label_claim: Annotated[
        bool | None, _label("label_claim", "a checkable claim in the statement is false and the speaker could know it")
    ]
    label_claim_null: Annotated[str, Meaning("why label_claim is null, else empty", elsewhere=None)]
    label_promise: Annotated[
        bool | None, _label("label_promise", "a promise in the statement was broken by the act that followed")
    ]
    label_promise_null: Annotated[str, Meaning("why label_promise is null, else empty", elsewhere=None)]
    label_belief: Annotated[
        bool | None, _label("label_belief", "the speaker, asked afresh, believes a claim in the statement to be false")
    ]
    label_belief_null: Annotated[str, Meaning("why label_belief is null, else empty", elsewhere=None)]
    label_gold: Annotated[
        bool | None,
        _label(
            "label_gold",
            "its source states that it is deceptive; the card says what that means and who decided",
            elsewhere="",
        ),
    ]
    label_gold_null: Annotated[str, Meaning("why label_gold is null, else empty")]
    label_self: Annotated[
        bool | None,
        _label("label_self", "the speaker's own report, right after speaking: it was deceptive", elsewhere=""),
    ]
    label_self_null: Annotated[str, Meaning("why label_self is null, else empty")]
    self_type: Annotated[
        str | None,
        Meaning("the type of deception that the speaker reports", reason="self_type_null", classes=DECEPTION_TYPES),
    ]
    self_type_null: Annotated[str, Meaning("why self_type is null, else empty")]
    self_confidence: Annotated[
        float | None, Meaning("the speaker's confidence in the report, 0 to 1", reason="self_confidence_null")
    ]
    self_confidence_null: Annotated[str, Meaning("why self_confidence is null, else empty")]
    self_reason: Annotated[str, Meaning("the speaker's reason, empty if none was given")]
    self_notes: Annotated[
        tuple[str, ...],
        Meaning(
            "leniencies needed to read the report, why a field is null, and whether flag and type contradict each other"
        ),
    ]
    label_peer: Annotated[
        bool | None,
        _label("label_peer", "more than half of the usable ratings by others flag it as deceptive", elsewhere=""),
    ]
    label_peer_null: Annotated[str, Meaning("why label_peer is null, else empty")]
    peer_rate: Annotated[float | None, Meaning("the share of usable ratings that flag it", "without a usable rating")]
    peer_ratings: Annotated[int, Meaning("how many ratings were usable")]
    peer_type: Annotated[
        str | None,
        Meaning(
            "the most frequent type of deception among the ratings that flag it",
            "where no rating flags it and names a type",
            classes=DECEPTION_TYPES,
        ),
    ]
    peer_confidence: Annotated[
        float | None, Meaning("the mean confidence of the ratings, 0 to 1", "where no usable rating gives one")
    ]
    peer_suspicion: Annotated[
        float | None, Meaning("the mean suspicion of the speaker, 0 to 1", "where no rating gives one")
    ]
    planted_type: Annotated[
        str | None,
        Meaning(
            "the type of deception that a scripted speaker meant",
            "for all others",
            classes=DECEPTION_TYPES,
            elsewhere=None,
        ),
    ]
    reasoning: Annotated[
        str | None,
        Meaning(
            "what the speaker thought before it spoke, as far as its model or its source shows that; nobody heard it",
            "where none of it is shown",
        ),
    ]
    transcript: Annotated[
        str | None,
        Meaning(
            "the earlier statements of the {unit} that all who heard this one had heard, oldest first, one per line as "
            '"NAME: TEXT"',
            "in a corpus built without --transcript",
        ),
    ]


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One observer's rating of one statement."""

    statement_id: Annotated[str, STATEMENT_ID]
    game_id: Annotated[str, GAME_ID]
    speaker: Annotated[str, Meaning("the speaker of the statement")]
    speaker_role: Annotated[str, SPEAKER_ROLE]
    observer: Annotated[str, Meaning("who rates it: one of those who heard it, or a judge who took no seat")]
    observer_role: Annotated[
        str, Meaning("the observer's hidden role, empty for a judge without a seat", elsewhere=None)
    ]
    observer_model: Annotated[str, Meaning("the model or script that rates it, unknown where the source names none")]
    flag: Annotated[bool | None, Meaning("the observer considers it deceptive", reason="null", classes=HONESTY)]
    type: Annotated[
        str | None, Meaning("the type of deception that the observer sees", reason="null", classes=DECEPTION_TYPES)
    ]
    confidence: Annotated[float | None, Meaning("the observer's confidence in the flag, 0 to 1", reason="null")]
    suspicion: Annotated[float | None, Meaning("the observer's suspicion of the speaker, 0 to 1", reason="null")]
    running_suspicion: Annotated[
        float, Meaning("the observer's suspicion smoothed over the {unit}: 0.7 new + 0.3 old, from 0.5")
    ]
    reason: Annotated[str, Meaning("the observer's reason, empty if none was given")]
    null: Annotated[str, Meaning("which of flag, type, confidence and suspicion are null, and why; else empty")]
    notes: Annotated[
        tuple[str, ...],
        Meaning(
            "leniencies needed to read the rating, why a field is null, and whether flag and type contradict each other"
        ),
    ]


_NO_SPAN = "where an importer does not say"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim in a statement: what it says, what the log says of it, and what its speaker could know."""

    statement_id: Annotated[str, STATEMENT_ID]
    game_id: Annotated[str, GAME_ID]
    speaker: Annotated[str, Meaning("who makes the claim")]
    speaker_role: Annotated[str, SPEAKER_ROLE]
    speaker_model: Annotated[str, SPEAKER_MODEL]
    origin: Annotated[str, Meaning("who found the claim: rules, import:FORMAT or model:NAME")]
    start: Annotated[int | None, Meaning("where its words begin in the statement, in characters from 0", _NO_SPAN)]
    end: Annotated[int | None, Meaning("where its words end: the first character after them", _NO_SPAN)]
    quote: Annotated[str, Meaning("its words")]
    kind: Annotated[
        str,
        Meaning(
            "role, investigation, protection, innocence, guilt, or a promise: vote (for a player) or vote_with (as a "
            "player votes); importers may have kinds of their own"
        ),
    ]
    subject: Annotated[str, Meaning("the player that the claim is about; of a promise, the speaker")]
    object: Annotated[
        str,
        Meaning(
            "the role or team that is claimed, or whom a promise names; empty if nothing is said of it; in imported "
            "claims, what the source has"
        ),
    ]
    polarity: Annotated[str, Meaning("affirmed, or denied: the claim is that this is not so")]
    normal: Annotated[str, Meaning("the claim as one text, such as role(Alice)=detective or not guilt(Bob)=werewolf")]
    verdict: Annotated[
        str, Meaning("what the log says: true, false or unverifiable; of a promise, true if it was kept")
    ]
    evidence: Annotated[
        tuple[int, ...],
        Meaning("the indices of the events that prove it, and of the statement whose word the speaker took"),
    ]
    known: Annotated[
        bool | None, Meaning("the speaker could know the verdict; false for promises", "where an importer does not say")
    ]
    claim_class: Annotated[
        str,
        Meaning(
            "truthful, lie (false and known to be), mistake (false, and believed on another's word), unsupported "
            "(asserted without a way to know) or undecidable"
        ),
    ]
    kept: Annotated[
        bool | None, Meaning("the act that followed kept the promise", "for other claims and where no act settles it")
    ]
