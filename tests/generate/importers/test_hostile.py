"""Files made to do harm: each costs its own line, little memory and little time, and never the import."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from liescope.games.record import GameRecord, record_from_json, record_to_json
from liescope.generate.importers import Rejected, import_games, importing, read_games
from liescope.generate.importers.commands import app
from liescope.generate.importers.text_files import DEEPEST, Line, lines_of, read_objects, unpacked
from tests.generate.importers.written import as_log, play_game

Writer = Callable[..., Path]
MEGABYTE = 1 << 20


def parted(path: Path, batches: Path | None = None) -> tuple[list[GameRecord], list[Rejected]]:
    found = list(read_games("mini-mafia", path, batches=batches))
    games = [item for item in found if isinstance(item, GameRecord)]
    return games, [item for item in found if isinstance(item, Rejected)]


LINES: dict[str, tuple[Callable[[str], str], str]] = {
    "half a surrogate in the id": (lambda line: line.replace("b_game_0007", "b\\ud800"), "printable characters"),
    "half a surrogate in a name": (lambda line: line.replace("Alice", "A\\udfff"), "cannot be kept apart"),
    "half a surrogate in a key": (lambda line: line.replace('"timestamp"', '"time\\ud800"'), ""),
    "Infinity": (lambda line: line.replace('"game_number": 1', '"game_number": Infinity'), "is no number"),
    "a float that overflows": (lambda line: line.replace('"game_number": 1', '"game_number": 1e999'), "too large"),
    "a number of 40 digits": (lambda line: line.replace('"game_number": 1', f'"game_number": {10**40}'), "too large"),
    "a number of 9000 digits": (lambda line: line.replace('"game_number": 1', f'"game_number": {"9" * 9000}'), "JSON"),
    "deep arrays": (lambda line: line.replace('"game_number": 1', f'"game_number": {"[" * 60}{"]" * 60}'), "nested"),
    "unclosed arrays": (lambda _: "[" * 200_000, "nested"),
    "an escape in a name": (lambda line: line.replace("Alice", "A\\u001b[31m"), "cannot be kept apart"),
    "a line break in a name": (lambda line: line.replace("Alice", "A\\nVotes: B"), "cannot be kept apart"),
    "a name that is a pattern": (lambda line: line.replace("Alice", "(a+)+$"), "cannot be kept apart"),
    "a name without end": (lambda line: line.replace("Alice", "A" * 10_000), "cannot be kept apart"),
    "no id": (lambda line: line.replace("b_game_0007", ""), "printable characters"),
    "many players": (
        lambda line: json.dumps({"game_id": "g", "players": json.loads(line)["players"] * 500}),
        "2000 players",
    ),
    "a line of 5 megabytes": (lambda line: line.replace("Night 1", "N" * 5 * MEGABYTE), "longer than"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_hostile_line_is_rejected_with_its_reason_and_the_others_come_in(
    name: str, write_log: Writer, tmp_path: Path
) -> None:
    change, words = LINES[name]
    bad = change(json.dumps(as_log(play_game(7))))
    path = write_log([play_game(1), bad, play_game(2)])
    result = import_games("mini-mafia", path, out=tmp_path / "run")
    kept = [json.loads(line) for line in (tmp_path / "run" / "rejected.jsonl").read_text().splitlines()]
    assert [entry["line"] for entry in kept] == ([2] if words else [])
    assert all(words in entry["reason"] and len(entry["reason"]) <= 500 for entry in kept)
    assert result.games == (2 if words else 3)
    json.dumps(result.to_json(), allow_nan=False).encode()


def test_models_that_are_no_text_cost_the_games_that_name_them(write_log: Writer) -> None:
    model = {"model": "m\ud800"}
    batch = {"batch_id": "b", "model_configs": dict.fromkeys(("mafioso", "detective", "villager"), model)}
    other = record_from_json({**record_to_json(play_game(2)), "game_id": "c_game_0001"})
    games, bad = parted(write_log([play_game(1), other]), write_log([batch], "batches.jsonl"))
    assert [game.game_id for game in games] == ["c_game_0001"]
    assert [(entry.line, entry.reason) for entry in bad] == [(1, "holds characters that are no text")]


def peak_of(read: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the most memory it took, in megabytes."""
    tracemalloc.start()
    try:
        result = read()
        return result, tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def test_a_gzip_bomb_without_a_line_break_takes_little_memory(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    block = b"a" * MEGABYTE
    bomb = b"".join(packer.compress(block) for _ in range(40)) + packer.flush()
    (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n') + bomb)
    lines, peak = peak_of(lambda: list(lines_of(unpacked(tmp_path / "bomb.jsonl.gz"))))
    assert lines[0] == Line(1, '{"a": 1}')
    assert [(line.number, line.text) for line in lines[1:]] == [(2, "")]
    assert "longer than" in lines[1].problem
    assert peak < 25


def test_lines_after_many_blank_ones_keep_their_numbers(tmp_path: Path) -> None:
    blank = b"\n" * 1_000_000 + b" \n \r\n" * 10_000
    (tmp_path / "blank.gz").write_bytes(gzip.compress(blank + b"{}\n \n", compresslevel=1))
    assert [(line.number, line.text) for line in lines_of(unpacked(tmp_path / "blank.gz"))] == [(1_020_001, "{}")]


def test_a_gzipped_file_that_is_too_large_ends_with_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "big.gz").write_bytes(gzip.compress(b"{}\n" * 400_000))
    *lines, last = lines_of(unpacked(tmp_path / "big.gz", 100_000))
    assert 30_000 < len(lines) < 70_000
    assert {line.text for line in lines} == {"{}"}
    assert "unpack it first" in last.problem


def test_a_line_of_100_megabytes_takes_little_memory_and_the_next_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b"{}\n")
        file.truncate(100 * MEGABYTE)
        file.seek(0, 2)
        file.write(b"\n{}\n")
    lines, peak = peak_of(lambda: list(lines_of(unpacked(path))))
    assert [(line.number, line.text) for line in lines] == [(1, "{}"), (2, ""), (3, "{}")]
    assert peak < 25


@pytest.mark.parametrize("longest", [1, 2, 3, 100])
def test_a_line_may_be_as_long_as_the_limit_and_no_longer(longest: int, tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"\n".join(b"x" * size for size in (longest, longest + 1, longest)))
    read = [(line.number, line.text, bool(line.problem)) for line in lines_of(unpacked(tmp_path / "lines"), longest)]
    text = "x" * longest
    assert read == [(1, text, False), (2, "", True), (3, text, False)]


def test_depth_is_limited_exactly(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text("".join('{"a":' * depth + "1" + "}" * depth + "\n" for depth in (DEEPEST - 1, DEEPEST)))
    kept, rejected = (entry for _, entry in read_objects(path))
    assert isinstance(kept, dict)
    assert isinstance(rejected, Rejected)


def test_reading_ends_when_nearly_nothing_can_be_read(write_log: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MOST_REJECTED", 30)
    games, bad = parted(write_log([play_game(1), *["junk"] * 100, play_game(2)]))
    assert len(games) == 1
    assert len(bad) == 31
    assert "the rest was left out" in bad[-1].reason


def test_nothing_that_is_printed_holds_a_terminals_escapes(
    write_log: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    escape = "\x1b]0;owned\x07\x1b[2J\u202e"
    model = {"model": f"m{escape}"}
    batch = {"batch_id": "b", "model_configs": dict.fromkeys(("mafioso", "detective", "villager"), model)}
    strange = as_log(play_game(3))
    strange["players"][0]["role"] = f"king{escape}"
    lines = [play_game(1), strange, f'{{"game_id": "x{escape}", "players": 5}}', f'"{escape}"']
    given = write_log(lines), "--batches", write_log([batch], "batches.jsonl")
    words = ["mini-mafia", *given, "--out", tmp_path / "run"]
    typer.main.get_command(app).main(["import", *map(str, words)], prog_name="liescope", standalone_mode=False)
    printed = capsys.readouterr()
    assert "3 could not be imported" in printed.out
    assert not {"\x1b", "\x07", "\u202e"} & {*printed.out}
    assert max(map(len, printed.out.splitlines())) <= 200


def test_what_stands_before_a_damaged_or_cut_place_is_read(tmp_path: Path) -> None:
    chance = random.Random(2)
    text = b"".join(b'{"n": %d, "x": "%s"}\n' % (n, chance.randbytes(40).hex().encode()) for n in range(2000))
    packed = gzip.compress(text)
    for share in (0.2, 0.5, 0.8):
        place = int(len(packed) * share)
        for broken in (packed[:place], packed[:place] + bytes(400) + packed[place + 400 :]):
            (tmp_path / "damaged.gz").write_bytes(broken)
            *lines, last = lines_of(unpacked(tmp_path / "damaged.gz"))
            assert last.problem
            whole = [line for line in lines if line.text in text.decode()]
            assert len(whole) > 2000 * share - 200
    (tmp_path / "damaged.gz").write_bytes(packed[:-1])
    *lines, last = lines_of(unpacked(tmp_path / "damaged.gz"))
    assert (len(lines), "ended before" in last.problem) == (2000, True)


def test_gzip_members_of_any_size_with_zeros_behind_them_are_one_file(tmp_path: Path) -> None:
    chance = random.Random(3)
    for size in (1, 100, 2048, 4000, 4096, 5000, 20_000):
        parts = [chance.randbytes(size).hex().encode() + b"\n" for _ in range(3)]
        (tmp_path / "members.gz").write_bytes(b"".join(map(gzip.compress, parts)) + bytes(5000))
        assert [line.text.encode() + b"\n" for line in lines_of(unpacked(tmp_path / "members.gz"))] == parts
