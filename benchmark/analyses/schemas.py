"""The columns of the frames that the analyses read; their types are those of the tables (`liescope.data_cards`)."""

from __future__ import annotations

OPINIONS = frozenset({"statements", "ratings", "ranks", "guesses", "tags"})
"""Frames that hold the rows of a game once for each rater."""
FORK = ("fork_step", "fork_group", "fork_seat", "fork_event")
LABELS = ("label_role", "label_claim", "label_self", "self_type")

_GAME = ("game_id", "family", "game", "condition", "model", "learning")
_TURN = (*_GAME, "turn")
_DAY = (*_GAME, "day")
COLUMNS: dict[str, tuple[str, ...]] = {
    "games": (
        *(*_TURN, "lineup", "settings", "source", "seating", "triadic", "winner", "reason", "days", "seed"),
        *("run", "siblings", *FORK),
        *("last_speaker", "silences", "fallbacks"),
    ),
    "seats": (*_TURN, "name", "role", "team", "deceives", "seat_model", "person", "won", "survived", "fate", "day_out"),
    "statements": (
        *_DAY,
        "rater",
        "statement_id",
        "phase",
        "round",
        "place",
        "position",
        "statements_of_day",
        "speaker",
        "speaker_role",
        "speaker_model",
        "text",
        "truncated",
        "read_notes",
        *LABELS,
        "self_confidence",
        "label_peer",
        "peer_rate",
        "peer_ratings",
        "peer_suspicion",
        "planted_type",
    ),
    "claims": (
        *_DAY,
        "statement_id",
        "place",
        "speaker",
        "speaker_role",
        "kind",
        "subject",
        "object",
        "denied",
        "verdict",
        "known",
        "claim_class",
    ),
    "ratings": (
        *_DAY,
        "rater",
        "statement_id",
        "speaker",
        "speaker_role",
        "observer",
        "observer_role",
        "observer_model",
        "observer_seat_model",
        "flag",
        "type",
        "confidence",
        "suspicion",
        "running_suspicion",
        *LABELS,
    ),
    "votes": (*_DAY, "ballot", "voter", "voter_role", "target", "target_role", "drawn"),
    "ranks": (*_DAY, "rater", "ballot", "voter", "voter_role", "drawn", "suspicion_rank"),
    "turns": (*_DAY, "speaker", "speaker_role", "silent"),
    "nights": (*_DAY, "act", "round", "actor", "actor_role", "target", "target_role", "died", "drawn", "fallback"),
    "bids": (*_DAY, "phase", "turn", "bidder", "role", "bid", "floor", "drawn"),
    "lessons": (*_TURN, "kind", "text", "kept", "nearest"),
    "guesses": (*_GAME, "rater", "observer", "observer_role", "target", "target_role", "guess"),
    "tags": (*_GAME, "kind", "text", "rater", "categories", "order"),
}
