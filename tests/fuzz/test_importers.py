"""Whatever is in the files of other people, an importer gives games, refusals, or one line that says what is wrong."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZipFile

import polars as pl
import pytest

from liescope.common.errors import LiescopeError
from liescope.games.record import GameRecord, record_from_json, record_to_json
from liescope.games.record_checks import check_record
from liescope.generate.importers import read_games
from liescope.labeling.label import label_game
from tests.contracts.test_importers import NEEDS, SAMPLES
from tests.fuzz.mutations import HOSTILE, INPUTS, damage_file, damaged_bytes, damaged_json, json_bytes, said, seeds
from tests.generate.importers import avalon_game, quack_game
from tests.generate.importers.test_own_data import ALIBIS
from tests.generate.importers.written import as_log, play_game

ROWS: list[dict[str, Any]] = [{**row, "group": row["interview"]} for row in ALIBIS]
FRAME = pl.DataFrame(ROWS)
OTHERS = ("utf-16", "utf-16-be", "utf-32", "latin-1", "cp037", "utf-8-sig")


def zipped(path: Path) -> None:
    with ZipFile(path, "w") as archive:
        archive.writestr("a.csv", FRAME.write_csv())


TABLES: dict[str, Callable[[Path], object]] = {
    "a.csv": FRAME.write_csv,
    "a.tsv": partial(FRAME.write_csv, separator="\t"),
    "a.json": lambda path: path.write_bytes(json_bytes(ROWS)),
    "a.jsonl": FRAME.write_ndjson,
    "a.parquet": FRAME.write_parquet,
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.write_csv().encode())),
    "a.csv.bz2": lambda path: path.write_bytes(bz2.compress(FRAME.write_csv().encode())),
    "a.zip": zipped,
}


ARCHIVED = {"m/g/game.jsonl": quack_game.log(), "m/g/tier3_claims.jsonl": quack_game.claims()}
LOGS = b"\n".join(json_bytes(as_log(play_game(seed))) for seed in range(10))
PACKED: dict[str, Callable[[Path], object]] = {
    "mini-mafia": lambda path: path.write_bytes(gzip.compress(LOGS)),
    "quack": lambda path: quack_game.pack(path, {at: quack_game.as_lines(held) for at, held in ARCHIVED.items()}),
}


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


def spoil(file: Path, random: Random) -> None:
    """Damage a file: its values, its bytes, its encoding, or the cells of a table."""
    data, kind = file.read_bytes(), random.random()
    if file.suffix == ".jsonl" and kind < 0.7:
        lines = data.splitlines()
        place = random.randrange(len(lines))
        lines[place] = json_bytes(damaged_json(json.loads(lines[place]), random))
        file.write_bytes(b"\n".join(lines) + b"\n")
    elif file.suffix in (".csv", ".tsv") and kind < 0.5:
        text = data.decode()
        cells = text.split("," if file.suffix == ".csv" else "\t")
        cells[random.randrange(len(cells))] = str(random.choice(HOSTILE))
        file.write_bytes(",".join(cells).encode("utf-8", "surrogatepass"))
    elif kind > 0.9 and file.suffix in (".csv", ".tsv", ".json", ".jsonl"):
        file.write_bytes(data.decode("utf-8", "replace").encode(random.choice(OTHERS), "replace"))
    elif file.suffix == ".gz" and kind < 0.5:
        file.write_bytes(gzip.compress(damaged_bytes(gzip.decompress(data), random)))
    elif file.name == "agent-logs.json":  # objects over several lines, one after another
        file.write_bytes(damaged_bytes(data, random))
    else:
        damage_file(file, random)


@seeds("importers")
@pytest.mark.parametrize(
    "format", [*(name for name in SAMPLES if name not in NEEDS), *TABLES, *map("packed {}".format, PACKED)]
)
def test_a_spoilt_file_is_games_and_refusals(format: str, tmp_path: Path, seeds: range) -> None:
    whole, found = tmp_path / "whole", Counter[str]()
    whole.mkdir()
    if format in TABLES:
        TABLES[format](whole / format)
        sources = [whole / format]
    elif format.startswith("packed "):
        format = format.removeprefix("packed ")
        sources = [whole / ("a.tar.gz" if format == "quack" else "a.jsonl.gz")]
        PACKED[format](sources[0])
    else:
        sources = SAMPLES[format](whole)
    for seed in seeds:
        folder = shutil.copytree(whole, tmp_path / "spoilt")
        random = Random(f"{format} {seed}")
        spoil(random.choice(sorted(file for file in folder.rglob("*") if file.is_file())), random)
        paths = [folder / source.relative_to(whole) for source in sources]
        found += read(*paths, format="text" if format in TABLES else format)
        shutil.rmtree(folder)
    assert found.total() >= len(seeds)
    assert found["refused"]


LINES: dict[str, Callable[[int], dict[str, Any]]] = {
    "mini-mafia": lambda seed: as_log(play_game(seed % 7)) | {"game_id": f"b_game_{seed:04d}"},
    "avalon-nlu": avalon_game.game,
}


@pytest.mark.parametrize("format", LINES)
def test_of_many_spoilt_lines_each_is_a_game_or_a_refusal(format: str, tmp_path: Path) -> None:
    lines = [json_bytes(damaged_json(LINES[format](seed), Random(seed))) for seed in range(INPUTS["lines of logs"])]
    (tmp_path / "games.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    found = read(tmp_path / "games.jsonl", format=format)
    assert found.total() == len(lines)
    assert min(found["read"], found["refused"]) > len(lines) // 20
