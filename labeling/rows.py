"""The rows that labelling a game yields. Their fields are columns of the corpus, under the same names.

Every label that could not be had is None, and the `…_null` field beside it says why; "" where the label is there.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """A checkable claim found in a statement.

    kind: role, investigation, protection, innocence, guilt or vote; subject: the player it is about; value: the claimed
    role, team ("mafia", "town", "villagers") or vote target, "not " before what is denied; quote: the words it was read
    from; verdict: false, true or unverifiable (what the log says); known: the speaker could know the verdict; lie:
    verdict false and known.
    """

    kind: str
    subject: str
    value: str
    quote: str
    verdict: str
    known: bool
    lie: bool


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One public statement with its four labels.

    statement_id: "{game_id}:{event}"; phase: discussion, voting (the spoken reason of a vote) or defence; position: 1
    for the first statement of the game; alive: the living players when it was made; truncated: the rules cut the
    message; read_notes: leniencies in reading the reply.
    label_role: the speaker's role wants the table deceived. label_claim: a claim in it is a lie (False where there is a
    claim and no lie, None where there is no claim that the speaker could know to be true or false). label_self,
    self_type, self_confidence: the speaker's own report. label_peer: more than half of the usable ratings flag it
    (None on a tie); peer_rate: the share that flags it; peer_ratings: how many were usable; peer_type: the commonest
    type among those that flag it; peer_confidence, peer_suspicion: means. planted_type: what a scripted speaker
    meant, None for others.
    """

    statement_id: str
    game_id: str
    game: str
    source: str
    day: int
    phase: str
    round: int
    position: int
    speaker: str
    speaker_role: str
    speaker_team: str
    speaker_model: str
    text: str
    truncated: bool
    alive: tuple[str, ...]
    read_notes: tuple[str, ...]
    label_role: bool
    label_claim: bool | None
    label_claim_null: str
    claims: tuple[Claim, ...]
    label_self: bool | None
    label_self_null: str
    self_type: str | None
    self_confidence: float | None
    self_reason: str
    label_peer: bool | None
    label_peer_null: str
    peer_rate: float | None
    peer_ratings: int
    peer_type: str | None
    peer_confidence: float | None
    peer_suspicion: float | None
    planted_type: str | None


@dataclass(frozen=True, slots=True)
class RatingRow:
    """What one observer thought of one statement. flag, type, confidence, suspicion are None where they could not be
    read, with `null` saying why; running_suspicion is the observer's smoothed suspicion of the speaker after it. Where
    a judge rated the game from the observer's seat, observer_model is the judge.
    """

    statement_id: str
    game_id: str
    speaker: str
    speaker_role: str
    observer: str
    observer_role: str
    observer_model: str
    flag: bool | None
    type: str | None
    confidence: float | None
    suspicion: float | None
    running_suspicion: float
    reason: str
    null: str


@dataclass(frozen=True, slots=True)
class VoteRow:
    """One vote. ballot: 1 for the first or only vote of the day, 2 for the revote; fallback: "" or why the rules drew
    it.
    """

    game_id: str
    day: int
    ballot: int
    voter: str
    voter_role: str
    voter_model: str
    voter_source: str
    target: str
    target_role: str
    fallback: str


@dataclass(frozen=True, slots=True)
class LabelledGame:
    """All rows of one game, in the order of play."""

    statements: tuple[StatementRow, ...]
    ratings: tuple[RatingRow, ...]
    votes: tuple[VoteRow, ...]
