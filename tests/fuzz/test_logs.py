"""Whatever a published log holds: what can be read comes in, and the rest is refused line by line."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from random import Random

from liescope.common.errors import LiescopeError
from liescope.games.record import GameRecord, record_from_json, record_to_json
from liescope.games.record_checks import check_record
from liescope.generate.importers import read_games
from liescope.labeling.label import label_game
from tests.fuzz.inputs import INPUTS, seeds
from tests.fuzz.mutations import damaged_bytes, damaged_json, json_bytes, said
from tests.generate.importers import avalon_game, quack_game
from tests.generate.importers.written import as_log, play_game


def read(*paths: Path, format: str = "mini-mafia") -> Counter[str]:
    """How much of the files came in, and how much was refused; what came in is sound, and can be labelled and kept."""
    found: Counter[str] = Counter()
    try:
        for item in read_games(format, *paths):
            if isinstance(item, GameRecord):
                check_record(item)
                label_game(item)
                assert record_from_json(json.loads(json.dumps(record_to_json(item)))) == item
                found["read"] += 1
            else:
                found["refused"] += 1
    except LiescopeError as error:
        said(error)
        found["refused"] += 1
    return found


def test_logs(tmp_path: Path) -> None:
    logs = [as_log(play_game(seed)) for seed in range(7)]
    lines = []
    for seed in range(INPUTS["logs"]):
        random = Random(seed)
        log = logs[seed % len(logs)] | {"game_id": f"b_game_{seed:04d}"}
        if random.random() < 0.1:
            lines.append(damaged_bytes(json_bytes(log), random).replace(b"\n", b" "))
        else:
            lines.append(json_bytes(damaged_json(log, random)))
    (tmp_path / "games.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    found = read(tmp_path / "games.jsonl")
    assert found.total() == INPUTS["logs"]
    assert min(found["read"], found["refused"]) > INPUTS["logs"] // 20


def test_packed_logs(tmp_path: Path) -> None:
    text = b"\n".join(json_bytes(as_log(play_game(seed))) for seed in range(10))
    packed = gzip.compress(text)
    found: Counter[str] = Counter()
    for seed in range(INPUTS["packed logs"]):
        (tmp_path / "games.jsonl.gz").write_bytes(damaged_bytes(packed, Random(seed)))
        found += read(tmp_path / "games.jsonl.gz")
    assert min(found["read"], found["refused"]) > INPUTS["packed logs"] // 10


@seeds("quack")
def test_quack_archives(tmp_path: Path, seeds: range) -> None:
    found: Counter[str] = Counter()
    for seed in seeds:
        random = Random(seed)
        log = [json_bytes(line) for line in quack_game.log()]
        claims = [json_bytes(line) for line in quack_game.claims()]
        lines, entries = random.choice(((log, quack_game.log()), (claims, quack_game.claims())))
        place = random.randrange(len(lines))
        lines[place] = json_bytes(damaged_json(entries[place], random)).replace(b"\n", b" ")
        files = {"m/g/game.jsonl": b"\n".join(log), "m/g/tier3_claims.jsonl": b"\n".join(claims)}
        archive = quack_game.pack(tmp_path / "a.tar.gz", files)
        if seed % 3 == 0:
            archive.write_bytes(damaged_bytes(archive.read_bytes(), random))
        found += read(archive, format="quack")
    assert min(found["read"], found["refused"]) > len(seeds) // 10


def test_avalon_logs(tmp_path: Path) -> None:
    lines = [json_bytes(damaged_json(avalon_game.game(seed), Random(seed))) for seed in range(INPUTS["avalon"])]
    (tmp_path / "games.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    found = read(tmp_path / "games.jsonl", format="avalon-nlu")
    assert found.total() == INPUTS["avalon"]
    assert min(found["read"], found["refused"]) > INPUTS["avalon"] // 10
