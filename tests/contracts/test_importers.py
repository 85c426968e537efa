"""What every importer promises. A new one joins by standing in the registry."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest
import typer
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.settings import OptionsModel, declare
from liescope.data_cards.licences import OPEN
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.importers import IMPORTERS, Importer, Rejected, import_games, read_games
from liescope.generate.importers.commands import app
from liescope.labeling.label import label_game
from tests.generate.importers import (
    avalon_game,
    foreign,
    inspect_log,
    quack_game,
    test_diplomacy,
    test_own_data,
    written,
)

every_importer = pytest.mark.parametrize("importer", IMPORTERS.values(), ids=IMPORTERS.keys())
NEEDS = {"inspect": "inspect_ai", "inspect-games": "inspect_ai"}  # packages that only the reading of a format needs


def _marks(name: str) -> Sequence[pytest.MarkDecorator]:
    package = NEEDS.get(name, "json")
    return [pytest.mark.skipif(not find_spec(package), reason=f"{package} is not installed: make faces")]


every_reader = pytest.mark.parametrize(
    "importer", [pytest.param(importer, id=name, marks=_marks(name)) for name, importer in IMPORTERS.items()]
)


@every_importer
def test_an_importer_says_what_it_reads_whose_it_is_and_what_may_be_done_with_it(importer: type[Importer]) -> None:
    assert IMPORTERS[importer.format] is importer
    assert importer.format == importer.format.lower()
    assert importer.__doc__
    for words in (importer.reads, importer.origin, importer.licence):
        assert words.strip()
    assert importer.licence.endswith(".")
    assert importer.version >= 1
    if importer.licence_id:
        assert importer.redistributable == (importer.licence_id in OPEN)


@every_importer
def test_every_option_is_described_has_a_default_and_is_on_the_command(importer: type[Importer]) -> None:
    command = cast(Any, typer.main.get_command(app)).commands["import"]
    taken = {option for parameter in command.params for option in parameter.opts}
    for name, field in importer.Options.model_fields.items():
        assert field.description
        assert not field.is_required()
        assert f"--{name.replace('_', '-')}" in taken
    with pytest.raises(UsageError, match=r"unknown option of .* '--colour'"):
        importer.Options.of({"colour": "red"}, importer.format)


def _log(folder: Path) -> list[Path]:
    lines = "".join(json.dumps(written.as_log(written.play_game(seed, text="Hm."))) + "\n" for seed in (1, 2))
    (folder / "games.jsonl").write_text(lines, encoding="utf-8")
    return [folder / "games.jsonl"]


def _rows(folder: Path) -> list[Path]:
    rows = [{"game_id": game, "speaker": who, "text": f"Hm, {who}."} for game in "ab" for who in ("Ann", "Ben")]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [folder / "rows.jsonl"]


def _alibis(folder: Path) -> list[Path]:
    return [test_own_data.table(folder / "a.csv", [{**row, "group": row["interview"]} for row in test_own_data.ALIBIS])]


def _chats(folder: Path) -> list[Path]:
    return [test_own_data.lines(folder / "a.jsonl", 2 * [{"messages": test_own_data.CHAT, "deceptive": True}])]


def _turns(folder: Path) -> list[Path]:
    games = [{**turn, "game_index": f"Game {game}"} for game in (1, 2) for turn in foreign.crew()]
    return [foreign.stream(folder / "agent-logs.json", games)]


SAMPLES: dict[str, Callable[[Path], list[Path]]] = {
    "text": _alibis,
    "chat": _chats,
    "inspect": lambda folder: [inspect_log.written(folder / "cars.eval")],
    "inspect-games": lambda folder: [inspect_log.written_games(folder / "games.eval")],
    "jsonl": _rows,
    "mini-mafia": _log,
    "avalon-nlu": lambda folder: [
        avalon_game.write_games(folder / "a.jsonl", [avalon_game.game(1), avalon_game.game(2)])
    ],
    "diplomacy": lambda folder: [test_diplomacy.written(folder, [test_diplomacy.dialogue(game_id=n) for n in (1, 2)])],
    "quack": lambda folder: [quack_game.write_folder(folder / "logs", games=2)],
    "kaggle-werewolf": lambda folder: [foreign.as_json(folder / f"{n}.json", foreign.replay(n)) for n in (1, 2)],
    "ai-diplomacy": lambda folder: [
        foreign.as_json(folder / f"{n}.json", foreign.campaign(n, ITALY="Hm.")) for n in "ab"
    ],
    "amongus": _turns,
    "secret-mafia": lambda folder: [
        test_own_data.lines(folder / "a.jsonl", [*foreign.trajectories(1), *foreign.trajectories(2)])
    ],
    "scout": lambda folder: [foreign.transcripts(folder)],
}
"""By format, two small games in the form of its publishers. A new importer adds its own."""


def check_reads(importer: type[Importer], sources: Sequence[Path]) -> None:
    """An importer reads both games of its sample whole: somebody says something in each, and every time the same."""
    found = [list(read_games(importer.format, *sources)) for _ in range(2)]
    games = [game for game in found[0] if isinstance(game, GameRecord)]
    assert len(games) == len(found[0]) == 2
    assert len({game.game_id for game in games}) == 2
    assert found[0] == found[1]
    for game in games:
        assert sum(event.kind is EventKind.STATEMENT and bool(event.text) for event in game.events) > 1
        assert len(label_game(game).statements) > 1


@every_reader
def test_an_importer_reads_the_games_of_a_sample(importer: type[Importer], tmp_path: Path) -> None:
    assert importer.format in SAMPLES, "add a sample of two games to SAMPLES"
    check_reads(importer, SAMPLES[importer.format](tmp_path))


@every_reader
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"junk\n",
        b"{}\n[]\n",
        b'{"game_id": 3}\n',
        b"\xff\xfe\x00",
        b"\x1f\x8b\x08",
        b"SQLite format 3\x00",
    ],
)
def test_a_file_of_something_else_is_rejections_and_no_game(
    importer: type[Importer], content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "odd").write_bytes(content)
    found = list(read_games(importer.format, tmp_path / "odd"))
    assert all(isinstance(item, Rejected) and item.reason for item in found)
    with pytest.raises(BadData, match=r"no \w+ that can be imported"):
        import_games(importer.format, tmp_path / "odd", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@every_reader
def test_a_source_that_is_not_there_is_named(importer: type[Importer], tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        import_games(importer.format, tmp_path / "nowhere", out=tmp_path / "run")


def test_kinds_that_share_an_option_share_its_type() -> None:
    class One(OptionsModel):
        size: int = Field(default=1, description="How large.")

    class Other(OptionsModel):
        size: str = Field(default="", description="How large.")

    assert [option.name for option in declare({"one": One, "two": One})] == ["size"]
    with pytest.raises(TypeError, match="another type"):
        declare({"one": One, "other": Other})
