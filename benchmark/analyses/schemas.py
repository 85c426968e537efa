"""The columns of the frames that the analyses read."""

from __future__ import annotations

from typing import Any

import polars as pl

OPINIONS = frozenset({"statements", "ratings", "ranks", "guesses", "tags"})
"""Frames that hold the rows of a game once for each rater."""

_GAME = {
    "game_id": pl.String,
    "game": pl.String,
    "condition": pl.String,
    "model": pl.String,
    "learning": pl.Boolean,
}
_RATED = {"rater": pl.String}
_TURN = {**_GAME, "turn": pl.Int64}
_DAY = {**_GAME, "day": pl.Int64}
LABELS = {"label_role": pl.Boolean, "label_claim": pl.Boolean, "label_self": pl.Boolean, "self_type": pl.String}
SCHEMAS: dict[str, dict[str, Any]] = {
    "games": {
        **_TURN,
        "lineup": pl.String,
        "settings": pl.String,
        "source": pl.String,
        "seating": pl.String,
        "triadic": pl.Boolean,
        "winner": pl.String,
        "reason": pl.String,
        "days": pl.Int64,
        "seed": pl.Int64,
    },
    "seats": {
        **_TURN,
        "name": pl.String,
        "role": pl.String,
        "team": pl.String,
        "seat_model": pl.String,
        "won": pl.Boolean,
        "survived": pl.Boolean,
        "fate": pl.String,
        "day_out": pl.Int64,
    },
    "statements": {
        **_DAY,
        **_RATED,
        "statement_id": pl.String,
        "phase": pl.String,
        "position": pl.Int64,
        "statements_of_day": pl.Int64,
        "speaker": pl.String,
        "speaker_role": pl.String,
        "speaker_model": pl.String,
        "text": pl.String,
        **LABELS,
        "self_confidence": pl.Float64,
        "label_peer": pl.Boolean,
        "peer_rate": pl.Float64,
        "peer_ratings": pl.Int64,
        "peer_suspicion": pl.Float64,
        "planted_type": pl.String,
    },
    "ratings": {
        **_DAY,
        **_RATED,
        "statement_id": pl.String,
        "speaker": pl.String,
        "speaker_role": pl.String,
        "observer": pl.String,
        "observer_role": pl.String,
        "observer_model": pl.String,
        "observer_seat_model": pl.String,
        "flag": pl.Boolean,
        "type": pl.String,
        "confidence": pl.Float64,
        "suspicion": pl.Float64,
        "running_suspicion": pl.Float64,
        **LABELS,
    },
    "votes": {
        **_DAY,
        "ballot": pl.Int64,
        "voter": pl.String,
        "voter_role": pl.String,
        "target": pl.String,
        "target_role": pl.String,
        "drawn": pl.Boolean,
    },
    "ranks": {
        **_DAY,
        **_RATED,
        "ballot": pl.Int64,
        "voter": pl.String,
        "voter_role": pl.String,
        "drawn": pl.Boolean,
        "suspicion_rank": pl.Float64,
    },
    "nights": {
        **_DAY,
        "act": pl.String,
        "round": pl.Int64,
        "actor": pl.String,
        "actor_role": pl.String,
        "target": pl.String,
        "target_role": pl.String,
        "died": pl.Boolean,
        "drawn": pl.Boolean,
    },
    "bids": {
        **_DAY,
        "phase": pl.String,
        "turn": pl.Int64,
        "bidder": pl.String,
        "role": pl.String,
        "bid": pl.Int64,
        "floor": pl.Boolean,
        "drawn": pl.Boolean,
    },
    "lessons": {
        **_TURN,
        "kind": pl.String,
        "text": pl.String,
        "kept": pl.Boolean,
        "nearest": pl.Float64,
    },
    "guesses": {
        **_GAME,
        **_RATED,
        "observer": pl.String,
        "observer_role": pl.String,
        "target": pl.String,
        "target_role": pl.String,
        "guess": pl.String,
    },
    "tags": {
        **_GAME,
        "kind": pl.String,
        "text": pl.String,
        **_RATED,
        "categories": pl.List(pl.String),
        "order": pl.Int64,
    },
}
