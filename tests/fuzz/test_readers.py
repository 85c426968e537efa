"""Whatever a file, a folder, a reply or an option holds: it is read, or refused in one line; never a traceback."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from liescope import cli
from liescope.games import Ask, AskKind, Phase
from liescope.generate.players.parsing.read import read_reply
from tests.fuzz.mutations import damaged_bytes, damaged_json, damaged_text, json_bytes

Damage = Callable[[Path, Random], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run, a judged run, a corpus and a model, each as the commands make them."""
    folder = tmp_path_factory.mktemp("made")
    players = ["--player", "scripted:bold", "--player", "scripted:novice"]
    for words in (
        ["play", "mini-mafia", *players, "--games", "3", "--assess", "--out", f"{folder}/run"],
        ["label", f"{folder}/run", "--judge", "scripted:steady", "--share", "0.2", "--out", f"{folder}/judged"],
        ["build", f"{folder}/run", "--out", f"{folder}/corpus"],
        ["train", "tfidf", "--corpus", f"{folder}/corpus", "--folds", "0", "--out", f"{folder}/model"],
    ):
        assert cli.main(words) == 0
    return folder


def exit_code(words: list[str], capsys: pytest.CaptureFixture[str]) -> int:
    """What the command exits with. A failure is one line on standard error; an exception comes through and fails."""
    code = cli.main(words)
    said = capsys.readouterr()
    assert code in (0, 1), (words, code)
    if code == 1:
        errors = [line for line in said.err.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, (words, said.err)
    assert "\x1b[31m" not in said.out + said.err
    return code


def damaged_copies(source: Path, tmp_path: Path, damage: Damage, count: int, seed: int) -> Iterator[Path]:
    for number in range(count):
        copy = tmp_path / f"{number}"
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copy(source, copy)
        damage(copy, Random(seed * 100_003 + number))
        yield copy
        shutil.rmtree(copy) if copy.is_dir() else copy.unlink()


def flip(name: str) -> Damage:
    def damage(folder: Path, random: Random) -> None:
        file = folder / name
        file.write_bytes(damaged_bytes(file.read_bytes(), random))

    return damage


def rewrite_json(name: str) -> Damage:
    def damage(folder: Path, random: Random) -> None:
        file = folder / name
        file.write_bytes(json_bytes(damaged_json(json.loads(file.read_bytes()), random)))

    return damage


def rewrite_row(folder: Path, random: Random) -> None:
    """Change one value of one row of the journal, within its JSON where it holds JSON."""
    with closing(sqlite3.connect(folder / "journal.sqlite")) as base, base:
        table = random.choice([name for (name,) in base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")])
        columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
        rows = [row for (row,) in base.execute(f"SELECT rowid FROM {table}")]
        if not rows:
            return
        row, column = random.choice(rows), random.choice(columns)
        (value,) = base.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
        try:
            changed: Any = json_bytes(damaged_json(json.loads(value), random))
        except (TypeError, ValueError):
            changed = damaged_bytes(str(value).encode(), random)
        if random.random() < 0.7:
            changed = changed.decode("utf-8", "replace")
        with suppress(sqlite3.IntegrityError):  # SQLite itself refuses it
            base.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed, row))


RUN_READERS = [["show", "{}"], ["build", "{}", "--out", "{}-out"], ["analyse", "{}", "--out", "{}-out"]]


@pytest.mark.parametrize(
    ("damage", "count"),
    [(flip("journal.sqlite"), 120), (flip("run.json"), 60), (rewrite_json("run.json"), 60), (rewrite_row, 240)],
)
def test_runs(made: Path, tmp_path: Path, damage: Damage, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    codes: Counter[int] = Counter()
    for number, copy in enumerate(damaged_copies(made / "run", tmp_path, damage, count, 1)):
        words = [
            word.format(copy) for word in RUN_READERS[number % len(RUN_READERS) if number % 8 == 2 else number % 2]
        ]
        codes[exit_code(words, capsys)] += 1
    assert codes[1]


@pytest.mark.parametrize("count", [220])
def test_corpora(made: Path, tmp_path: Path, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(str(path.relative_to(made / "corpus")) for path in (made / "corpus").rglob("*") if path.is_file())
    codes: Counter[int] = Counter()

    def damage(folder: Path, random: Random) -> None:
        name = random.choice([*files, "corpus.json", "corpus.json"])
        (rewrite_json if name.endswith(".json") and random.random() < 0.7 else flip)(name)(folder, random)

    for copy in damaged_copies(made / "corpus", tmp_path, damage, count, 2):
        codes[
            exit_code(["train", "tfidf", "--corpus", str(copy), "--folds", "0", "--out", f"{copy}-model"], capsys)
        ] += 1
    assert codes[1]


@pytest.mark.parametrize("count", [200])
def test_models(made: Path, tmp_path: Path, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(str(path.relative_to(made / "model")) for path in (made / "model").rglob("*") if path.is_file())
    codes: Counter[int] = Counter()

    def damage(folder: Path, random: Random) -> None:
        name = random.choice([*files, "model.json", "model.json"])
        (rewrite_json if name.endswith(".json") and random.random() < 0.7 else flip)(name)(folder, random)

    for copy in damaged_copies(made / "model", tmp_path, damage, count, 3):
        codes[exit_code(["score", str(copy), "I investigated Bob. He is the mafioso."], capsys)] += 1
    assert codes[1]


LOG = {
    "game_id": "batch_1_game_0001",
    "game_number": 1,
    "timestamp": "2025-08-01T00:00:00",
    "players": [
        {
            "name": name,
            "role": role,
            "alive": name != "Bob",
            "imprisoned": name == "Alice",
            "memory": [
                f"You are {name}, a {role}.",
                'Alice: "I saw nothing last night."',
                "Charlie: remained silent.",
                "Votes: Alice voted for Diana, Charlie voted for Alice, Diana voted for Alice",
                "Alice was arrested",
            ],
        }
        for name, role in zip(
            ("Alice", "Bob", "Charlie", "Diana"), ("mafioso", "villager", "villager", "detective"), strict=True
        )
    ],
}


def test_published_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = Random(4)
    lines = [json_bytes(damaged_json(LOG, random)) for _ in range(300)]
    lines += [damaged_bytes(json_bytes(LOG), random) for _ in range(200)]
    (tmp_path / "games.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    exit_code(["import", "mini-mafia", f"{tmp_path}/games.jsonl", "--out", f"{tmp_path}/run"], capsys)
    packed = gzip.compress(b"\n".join(lines))
    for number in range(40):
        (tmp_path / "games.jsonl.gz").write_bytes(damaged_bytes(packed, Random(number)))
        exit_code(["import", "mini-mafia", f"{tmp_path}/games.jsonl.gz", "--out", f"{tmp_path}/{number}"], capsys)


SPECS = ["scripted:bold?m=1.5&v=0.4", "scripted:steady"]
ENDPOINT = "gpt-4.1-mini@http://localhost:1/v1?temperature=0.7&key_env=MY_API_KEY"
OPTIONS = ["--games 2", "--seed 1", "--design full", "--rounds 2", "--names A,B,C,D", "--price m=1,2"]


def test_specs_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = Random(5)
    for number in range(300):
        option, value = random.choice(OPTIONS).split(" ")
        spec = random.choice(SPECS)
        words = ["--player", damaged_text(spec, random)] if number % 2 else ["--player", spec, option]
        words += [] if number % 2 else [damaged_text(value, random)]
        if any(word in words for word in ("--games", "--rounds")) and len(words[-1]) > 2:
            words[-1] = words[-1][:2]  # a plan may be large; playing it is not what is tried here
        exit_code(["play", "mini-mafia", "--games", "1", *words, "--out", f"{tmp_path}/{number}"], capsys)


def test_replies_of_every_kind(made: Path) -> None:

    random = Random(6)
    texts = [
        '"Hello, everyone."',
        "Bob\nThey keep contradicting themselves.",
        '{"deceptive": false, "type": "none", "confidence": 0.7, "suspicion": "3/10", "reason": "ok"}',
        "**Vote:** Alice <think>hm</think>",
        '```json\n{"bid": 7}\n```',
    ]
    for _ in range(500):
        kind = random.choice(list(AskKind))
        options = tuple(map(str, range(11))) if kind is AskKind.BID else ("Alice", "Bob", "Diana")
        ask = Ask("g", 0, "Charlie", kind, 1, Phase.VOTING, options=options, limit=200)
        reply = read_reply(ask, damaged_text(damaged_text(random.choice(texts), random), random))
        assert reply.problem or reply.choice or reply.text is not None or reply.assessment or reply.form is not None
