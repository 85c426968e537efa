"""Frames of games of which only what a printed table counts is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import polars as pl

from liescope.benchmark.analyses.frames import SCHEMAS, Frames
from liescope.games.werewolf import JESTER, VILLAGERS, WEREWOLF, WEREWOLVES


@dataclass(frozen=True)
class Counted:
    """One game. fate, day_out: the jester's; wolf_vote: a werewolf voted for it in the revote of day 1."""

    winner: str
    model: str = "model"
    learning: bool = False
    turn: int | None = None
    seating: str = "fixed"
    triadic: bool = True
    fate: str = "alive"
    day_out: int | None = None
    wolf_vote: bool | None = None


def counted(games: Iterable[Counted]) -> Frames:
    """Frames with games, seats (one for each faction) and one werewolf's vote on day 1, all other frames empty."""
    rows: dict[str, list[Mapping[str, Any]]] = {field.name: [] for field in fields(Frames)}
    for number, game in enumerate(games):
        common = {
            "game_id": f"g{number}",
            "family": f"g{number}",
            "game": "werewolf" if game.triadic else "dyadic-werewolf",
            "condition": "",
            "model": game.model,
            "learning": game.learning,
            "turn": game.turn,
        }
        rows["games"].append(
            {**common, "seating": game.seating, "triadic": game.triadic, "winner": game.winner, "days": 1}
        )
        for role, team in (("villager", VILLAGERS), (WEREWOLF, WEREWOLVES), (JESTER, JESTER))[: 2 + game.triadic]:
            fate = game.fate if role == JESTER else "alive"
            day = game.day_out if role == JESTER else None
            rows["seats"].append({**common, "role": role, "team": team, "fate": fate, "day_out": day})
        if game.wolf_vote is not None:
            target = JESTER if game.wolf_vote else "villager"
            vote = {"day": 1, "ballot": 2, "voter_role": WEREWOLF, "target": target, "target_role": target}
            rows["votes"].append({**common, **vote})
    return Frames(**{name: pl.DataFrame(rows[name], SCHEMAS[name], orient="row") for name in rows})


def with_protections(frames: Frames, acts: Iterable[tuple[str, bool, bool]]) -> Frames:
    """The frames with nights of a doctor: (model, learning, it protected itself)."""
    rows = [
        {
            "game_id": f"n{number}",
            "family": f"n{number}",
            "game": "werewolf",
            "condition": "",
            "model": model,
            "learning": learning,
            "day": 1,
            "act": "protection",
            "actor": "Diana",
            "target": "Diana" if own else "Erin",
            "target_role": "doctor" if own else "villager",
        }
        for number, (model, learning, own) in enumerate(acts)
    ]
    return replace(frames, nights=pl.DataFrame(rows, SCHEMAS["nights"], orient="row"))
