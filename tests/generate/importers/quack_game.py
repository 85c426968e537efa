"""An invented QUACK game, written as QUACK writes its files, into a folder or an archive."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NAMES = ("Ann", "Ben", "Cid", "Dot")
DUCK = "player_1"
SAID = "I walked kitchen -> hall -> attic and saw Ben in the attic. Dot was in the kitchen. It is Ben."
LIED = "It is surely Ann! I was in the hall and saw Cid in the hall."
ENTRY = dict[str, Any]


def log(number: int = 1) -> list[ENTRY]:
    """Ben, the duck, kills Cid in the hall while Dot is there; Dot reports it; Ann and Dot exile Ben."""
    rooms = ("kitchen", "hall", "hall", "hall")
    table = {
        f"player_{seat}": {
            "name": name,
            "role": "Duck" if f"player_{seat}" == DUCK else "Goose",
            "team": "duck" if f"player_{seat}" == DUCK else "goose",
            "room": rooms[seat],
            "tasks": [],
        }
        for seat, name in enumerate(NAMES)
    }
    lines = [
        ("game_started", 0, {"players": list(NAMES), "config": {}, "initial_state": table}),
        ("tick_start", 1, {"tick": 1}),
        ("task_progress", 1, _task("player_2", progress="1/2")),
        ("free_roam_chat", 1, _chat("player_2", "hall", "Sweeping here.")),
        ("player_moved", 1, {"player_id": "player_0", "from": "kitchen", "to": "hall", "ticks_remaining": 2}),
        ("free_roam_chat", 1, _chat("player_0", "kitchen", "Off to the hall.")),
        ("tick_start", 2, {"tick": 2}),
        ("task_completed", 2, _task("player_2")),
        ("free_roam_chat", 2, _chat("player_3", "hall", f"Game {number}.")),
        ("tick_start", 3, {"tick": 3}),
        ("player_killed", 3, {"killer_id": DUCK, "target_id": "player_2", "room": "hall"}),
        ("player_moved", 3, {"player_id": DUCK, "from": "hall", "to": "attic"}),
        ("body_reported", 4, {"caller": "player_3", "bodies": [{"room": "hall", "victim_name": "Cid"}]}),
        ("phase_changed", 4, {"phase": "discussion"}),
        ("discussion_message", 4, {"player_id": "player_0", "message": SAID}),
        ("discussion_message", 4, {"player_id": DUCK, "message": LIED}),
        ("discussion_message", 4, {"player_id": "player_3", "message": " "}),
        ("discussion_message", 4, {"player_id": "player_0", "message": f"Game {number}: vote Ben, please."}),
        ("phase_changed", 4, {"phase": "voting"}),
        ("vote_cast", 4, {"voter": "player_0", "target": DUCK}),
        ("vote_cast", 4, {"voter": DUCK, "target": None}),
        ("vote_cast", 4, {"voter": "player_3", "target": DUCK}),
        ("player_ejected", 4, {"player_id": DUCK, "name": "Ben", "role": "Duck", "team": "duck", "votes": {}}),
        ("game_over", 4, {"winner": "goose", "reason": "All Ducks have been ejected"}),
    ]
    return [{"timestamp": 1.5, "event_type": kind, "tick": tick, "data": data} for kind, tick, data in lines]


def claims() -> list[ENTRY]:
    """Claims of the first two messages, with QUACK's verdicts."""
    ann, ben = ("player_0", "Ann", SAID), (DUCK, "Ben", LIED)
    route = {"claimed_route": ["kitchen", "hall", "attic"]}
    return [
        _claim(ann, "location", "near_miss", subject="Ann", evidence=route),
        _claim(ann, "sighting", "false", subject="Ann", target="Ben", room="attic", temporal_ref="late"),
        _claim(ann, "location", "true", subject="Dot", room="kitchen"),
        _claim(ann, "accusation", "true", target="Ben", confidence="strong"),
        _claim(ben, "accusation", "false", target="Ann", confidence="strong"),
        _claim(ben, "accusation", "false", target="Dot", confidence="weak"),
        _claim(ben, "location", "true", subject="Ben", room="hall"),
        _claim(ben, "sighting", "wrong_room", subject="Ben", target="Cid", room="hall"),
        _claim(ben, "activity", "true", start=2, subject="Cid", activity="task", room="hall"),
        _claim(ben, "defense", "unverifiable", subject=""),
    ]


def write_folder(folder: Path, games: int = 2, model: str = "duckling-1") -> Path:
    """Games as an unpacked folder; the last has no claims."""
    for number in range(1, games + 1):
        there = folder / model / f"g_seed{number}"
        there.mkdir(parents=True)
        (there / "game.jsonl").write_bytes(as_lines(log(number)))
        if number < games:
            (there / "tier3_claims.jsonl").write_bytes(as_lines(claims()))
    return folder


def as_lines(entries: list[ENTRY]) -> bytes:
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


def pack(archive: Path, files: Mapping[str, bytes]) -> Path:
    """An archive of these files, by name."""
    with tarfile.open(archive, "w:gz") as packed:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return archive


def _task(player: str, progress: str | None = None) -> ENTRY:
    facts = {"player_id": player, "task_name": "Sweep", "room": "hall"}
    return facts if progress is None else facts | {"progress": progress}


def _chat(player: str, room: str, message: str) -> ENTRY:
    return {"player_id": player, "name": player, "room": room, "message": message, "tick": 1}


def _claim(
    speaker: tuple[str, str, str],
    kind: str,
    verdict: str,
    evidence: ENTRY | None = None,
    start: int = 0,
    **said: str | None,
) -> ENTRY:
    empty = dict.fromkeys(("subject", "target", "room", "activity", "temporal_ref", "confidence"))
    return {
        "meeting": {"meeting_idx": 0, "meeting_tick": 4},
        "temporal_window": {"start_tick": start, "end_tick": 3},
        "speaker": {"speaker_id": speaker[0], "speaker_name": speaker[1], "team": "goose"},
        "utterance": {"raw": speaker[2]},
        "structured_claim": {"claim_type": kind, **empty, **said},
        "verification": {"verdict": verdict, "evidence": evidence or {}},
        "ground_truth_events": [],
    }
