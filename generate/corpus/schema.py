"""The corpus's fixed Arrow schemas, one for each config. `split` is always the last column."""

from __future__ import annotations

import pyarrow as pa

SPLITS = ("train", "validation", "test")
ROLES = ("mafioso", "detective", "villager", "werewolf", "doctor", "seer", "jester")

_TEXTS = pa.list_(pa.string())
_CLAIM = pa.struct(
    [
        ("kind", pa.string()),
        ("subject", pa.string()),
        ("value", pa.string()),
        ("quote", pa.string()),
        ("verdict", pa.string()),
        ("known", pa.bool_()),
        ("lie", pa.bool_()),
    ]
)
_SEAT = pa.struct(
    [
        ("name", pa.string()),
        ("role", pa.string()),
        ("team", pa.string()),
        ("model", pa.string()),
        ("source", pa.string()),
        ("won", pa.bool_()),
    ]
)

# The fields of liescope.labeling.rows.StatementRow, RatingRow and VoteRow, in their order, and the split.
STATEMENTS = pa.schema(
    [
        ("statement_id", pa.string()),
        ("game_id", pa.string()),
        ("game", pa.string()),
        ("source", pa.string()),
        ("day", pa.int32()),
        ("phase", pa.string()),
        ("round", pa.int32()),
        ("position", pa.int32()),
        ("speaker", pa.string()),
        ("speaker_role", pa.string()),
        ("speaker_team", pa.string()),
        ("speaker_model", pa.string()),
        ("text", pa.string()),
        ("truncated", pa.bool_()),
        ("alive", _TEXTS),
        ("read_notes", _TEXTS),
        ("label_role", pa.bool_()),
        ("label_claim", pa.bool_()),
        ("label_claim_null", pa.string()),
        ("claims", pa.list_(_CLAIM)),
        ("label_self", pa.bool_()),
        ("label_self_null", pa.string()),
        ("self_type", pa.string()),
        ("self_confidence", pa.float64()),
        ("self_reason", pa.string()),
        ("label_peer", pa.bool_()),
        ("label_peer_null", pa.string()),
        ("peer_rate", pa.float64()),
        ("peer_ratings", pa.int32()),
        ("peer_type", pa.string()),
        ("peer_confidence", pa.float64()),
        ("peer_suspicion", pa.float64()),
        ("planted_type", pa.string()),
        ("split", pa.string()),
    ]
)

RATINGS = pa.schema(
    [
        ("statement_id", pa.string()),
        ("game_id", pa.string()),
        ("speaker", pa.string()),
        ("speaker_role", pa.string()),
        ("observer", pa.string()),
        ("observer_role", pa.string()),
        ("observer_model", pa.string()),
        ("flag", pa.bool_()),
        ("type", pa.string()),
        ("confidence", pa.float64()),
        ("suspicion", pa.float64()),
        ("running_suspicion", pa.float64()),
        ("reason", pa.string()),
        ("null", pa.string()),
        ("split", pa.string()),
    ]
)

VOTES = pa.schema(
    [
        ("game_id", pa.string()),
        ("day", pa.int32()),
        ("ballot", pa.int32()),
        ("voter", pa.string()),
        ("voter_role", pa.string()),
        ("voter_model", pa.string()),
        ("voter_source", pa.string()),
        ("target", pa.string()),
        ("target_role", pa.string()),
        ("fallback", pa.string()),
        ("split", pa.string()),
    ]
)

# One row a game, failed ones too. A *_model is null where a role is not in the game or several models play it.
GAMES = pa.schema(
    [
        ("game_id", pa.string()),
        ("run", pa.string()),
        ("game", pa.string()),
        ("cell", pa.string()),
        ("seed", pa.int64()),
        ("source", pa.string()),
        ("status", pa.string()),
        ("failure", pa.string()),
        ("winner", pa.string()),
        ("reason", pa.string()),
        ("days", pa.int32()),
        ("seats", pa.list_(_SEAT)),
        *((f"{role}_model", pa.string()) for role in ROLES),
        ("learning", pa.bool_()),
        ("turn", pa.int32()),
        ("judge", pa.string()),
        ("killed", _TEXTS),
        ("voted_out", _TEXTS),
        ("last_speaker", pa.string()),
        ("statements", pa.int32()),
        ("silences", pa.int32()),
        ("fallbacks", pa.int32()),
        ("split", pa.string()),
    ]
)

# One row a lesson that a jester proposed after a game, those that were not kept too.
LESSONS = pa.schema(
    [
        ("game_id", pa.string()),
        ("cell", pa.string()),
        ("model", pa.string()),
        ("turn", pa.int32()),
        ("kind", pa.string()),
        ("text", pa.string()),
        ("kept", pa.bool_()),
        ("nearest", pa.float64()),
        ("categories", _TEXTS),
        ("order", pa.int32()),
        ("split", pa.string()),
    ]
)

# One row a request to a player, retries too. latency_ms is null for players that are not asked over a wire.
CALLS = pa.schema(
    [
        ("game_id", pa.string()),
        ("step", pa.int32()),
        ("seat", pa.string()),
        ("attempt", pa.int32()),
        ("kind", pa.string()),
        ("model", pa.string()),
        ("problem", pa.string()),
        ("notes", _TEXTS),
        ("raw", pa.string()),
        ("prompt_tokens", pa.int64()),
        ("cached_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("cost", pa.float64()),
        ("latency_ms", pa.float64()),
        ("split", pa.string()),
    ]
)

CONFIGS: dict[str, pa.Schema] = {
    "statements": STATEMENTS,
    "games": GAMES,
    "votes": VOTES,
    "ratings": RATINGS,
    "lessons": LESSONS,
    "calls": CALLS,
}
