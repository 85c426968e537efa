"""An invented game of Avalon, as a line of Avalon-NLU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROLES = ("merlin", "percival", "servant-1", "servant-2", "morgana", "assassin")
SYSTEM = "system"
CHAT = (
    (SYSTEM, "game started!", 1, 1),
    (SYSTEM, "player-1 proposed a party: player-1, player-5", 1, 1),
    ("player-1", "I take the one beside me.", 1, 2),
    ("player-5", "Fine by me, I am good.", 1, 3),
    ("player-6", "No reason to say no.", 1, 4),
    (SYSTEM, "party vote outcome: player-1: yes, player-2: no", 1, 4),
    (SYSTEM, "quest failed!", 1, 4),
    ("player-5", "It must have been player-1.", 2, 1),
    ("player-3", "I trust player-5.", 2, 2),
    (SYSTEM, "quest succeeded!", 2, 3),
    (SYSTEM, "good won for now, but the assassin...", 3, 0),
    (SYSTEM, "the assassin identified merlin, thus evil wins!", 3, 0),
)
DECEPTION = {3: "omission", 7: "commission", 4: "influence"}


def game(number: int = 1) -> dict[str, Any]:
    """Evil wins; player-5 keeps something back and lies, player-6 wins trust; an annotation stands there twice."""
    messages = {
        str(place + 1): {"player": player, "msg": words, "mid": f"m{place}", "quest": quest, "turn": turn}
        for place, (player, words, quest, turn) in enumerate(CHAT)
    }
    notes = [
        {"mid": f"m{place}", "persuasion": "assertion", "deception": DECEPTION.get(place)}
        for place, (player, *_) in enumerate(CHAT)
        if player != SYSTEM
    ]
    notes.insert(4, notes[1])
    beliefs = [
        {"player": "player-3", "about_player": "player-5", "belief": "good", "quest": 2, "turn": 1},
        {"player": "player-1", "about_player": "player-6", "belief": "morgana", "quest": 1, "turn": -1},
    ]
    return {
        "game_id": f"g{number}",
        "users": {
            str(seat): {"name": f"player-{seat}", "role": role, "index": seat} for seat, role in enumerate(ROLES, 1)
        },
        "messages": messages,
        "persuasion": {str(place): note for place, note in enumerate(notes, 1)},
        "beliefs": {str(place): belief for place, belief in enumerate(beliefs, 1)},
    }


def write_games(file: Path, games: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(game) + "\n" for game in games), encoding="utf-8")
    return file
