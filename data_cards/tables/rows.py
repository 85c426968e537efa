"""The rows of every table, a class each. What their columns mean says columns.toml."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VoteRow:
    """One vote."""

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
    suspicion_rank: float | None


@dataclass(frozen=True, slots=True)
class NightActRow:
    """One act of a night."""

    game_id: str
    day: int
    act: str
    round: int
    actor: str | None
    actor_role: str | None
    target: str | None
    target_role: str | None
    died: bool | None
    fallback: str


@dataclass(frozen=True, slots=True)
class BidRow:
    """One bid for the floor."""

    game_id: str
    day: int
    phase: str
    turn: int
    bidder: str
    role: str
    bid: int
    floor: bool
    fallback: str


@dataclass(frozen=True, slots=True)
class CallRow:
    """One request to a player, retries included."""

    game_id: str
    step: int
    seat: str
    attempt: int
    kind: str | None
    model: str | None
    problem: str
    notes: tuple[str, ...]
    raw: str
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    latency_ms: float | None
    response_id: str | None
    served_model: str | None
    via: str | None
    reasoning: str | None


@dataclass(frozen=True, slots=True)
class LessonRow:
    """One lesson that a learning player wrote after a game, whether kept or not."""

    game_id: str
    cell: str
    author_model: str | None
    turn: int | None
    kind: str
    text: str
    kept: bool
    nearest: float | None
    categories: tuple[str, ...]
    order: int


@dataclass(frozen=True, slots=True)
class LessonTagRow:
    """A judge's tags of one lesson."""

    game_id: str
    kind: str
    text: str
    judge: str
    categories: tuple[str, ...]
    order: int | None


@dataclass(frozen=True, slots=True)
class RoleGuessRow:
    """The role that a judge named for one player, from the seat of another."""

    game_id: str
    judge: str
    observer: str
    observer_role: str
    target: str
    target_role: str
    guess: str | None


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One player of a game."""

    name: str
    role: str
    team: str
    deceives: bool | None
    model: str
    source: str
    won: bool | None
    fate: str
    day_out: int | None


@dataclass(frozen=True, slots=True)
class GameRow:
    """One game, finished or failed."""

    game_id: str
    run: str
    origin: str
    game: str
    cell: str
    model: str
    condition: str
    settings: str
    prompt_version: str | None
    learning: bool
    turn: int | None
    seating: str | None
    siblings: str | None
    fork_step: int | None
    fork_group: str | None
    fork_seat: str | None
    fork_event: int | None
    seed: int | None
    source: str
    status: str
    failure: str
    winner: str | None
    reason: str | None
    days: int
    seats: tuple[SeatRow, ...]
    judge: str | None
    killed: tuple[str, ...]
    voted_out: tuple[str, ...]
    last_speaker: str | None
    statements: int
    silences: int
    fallbacks: int
    winners: tuple[str, ...]
    meta: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of a game. Together with the game's row in `games`, its events are the whole record."""

    game_id: str
    index: int
    kind: str
    day: int
    phase: str
    round: int
    actor: str | None
    target: str | None
    text: str
    about: int | None
    audience: tuple[str, ...] | None
    drawn: bool
    fallback: str
    reasoning: str | None
    payload: str


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One statement with its labels, which are never merged."""

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
    audience: tuple[str, ...]
    text: str
    truncated: bool
    alive: tuple[str, ...]
    read_notes: tuple[str, ...]
    label_role: bool | None
    label_role_null: str
    label_claim: bool | None
    label_claim_null: str
    label_promise: bool | None
    label_promise_null: str
    label_belief: bool | None
    label_belief_null: str
    label_gold: bool | None
    label_gold_null: str
    label_self: bool | None
    label_self_null: str
    self_type: str | None
    self_type_null: str
    self_confidence: float | None
    self_confidence_null: str
    self_reason: str
    self_notes: tuple[str, ...]
    label_peer: bool | None
    label_peer_null: str
    peer_rate: float | None
    peer_ratings: int
    peer_type: str | None
    peer_confidence: float | None
    peer_suspicion: float | None
    planted_type: str | None
    reasoning: str | None
    transcript: str | None


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One observer's rating of one statement."""

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
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim in a statement: what it says, what the log says of it, and what its speaker could know."""

    statement_id: str
    game_id: str
    speaker: str
    speaker_role: str
    speaker_model: str
    origin: str
    start: int | None
    end: int | None
    quote: str
    kind: str
    subject: str
    object: str
    polarity: str
    normal: str
    verdict: str
    evidence: tuple[int, ...]
    known: bool | None
    claim_class: str
    kept: bool | None
