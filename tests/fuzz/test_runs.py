"""A run folder may come from anyone: whatever is in it, opening it gives a result or one line that says what is wrong.

Damage to run.json, to the bytes of the journal, and to its rows, signed anew as a stranger would sign them.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from liescope.benchmark.analyses.frames import load_games
from liescope.common.errors import LiescopeError
from liescope.games.rated_game import RatingSpec
from liescope.generate.corpus.build import build
from liescope.generate.players.player_protocol import Attempt
from liescope.generate.runs.game_text import transcript
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_tables import NAMES, checksum
from liescope.generate.runs.plan_games import make_plan
from liescope.generate.runs.rating import RatingJob
from liescope.generate.runs.runner import run
from liescope.generate.runs.show_commands import list_calls, list_games, prompt_of_call
from liescope.labeling.label import label_game
from tests.fuzz.mutations import ESCAPES, damage_file, damaged_json, said, seeds
from tests.generate.runs.fakes import play

CELLS: list[Any] = [None, -1, 10**15, "x", b"\xff", 1.5, "", "\x1b[2J"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three small runs: Mini-Mafia assessed, Werewolf, and that Werewolf judged."""
    folder = tmp_path_factory.mktemp("runs")
    who = "scripted:bold"
    mini = make_plan("mini-mafia", {"assess": True}, [who], "self", [(who,) * 3], 2, 1)
    table = {"villagers": 2, "werewolves": 1, "seers": 1, "debate_turns": 3, "defence_turns": 1, "assess": True}
    wolf = make_plan("werewolf", table, [who], "self", [(who,) * 5], 1, 1)
    asyncio.run(play(mini, folder / "mini"))
    asyncio.run(play(wolf, folder / "wolf"))
    asyncio.run(run(RatingJob.of(folder / "wolf", who, RatingSpec(0.2, True, True)), folder / "judged"))
    with Journal.open(folder / "mini", write=True) as journal:
        (game_id, *_) = journal.game_ids()
        (call, *_) = journal.calls(game_id)
        request = {"model": "m", "messages": [{"role": "user", "content": "You are Bob.\nSpeak."}]}
        journal.log_attempt(Attempt(game_id, call["step"], call["seat"], 1, "raw", "", 1, 0, 1, request=request))
    return folder


def spoil(folder: Path, random: Random) -> str:
    """Change one thing in a run folder; says what."""
    what = random.choice(["record", "record", "record", "reply", "cell", "journal.sqlite", "run.json"])
    if (folder / what).is_file():
        damage_file(folder / what, random)
        return what
    base = sqlite3.connect(folder / "journal.sqlite")
    with base:
        filled = [name for name in NAMES if base.execute(f"SELECT count(*) FROM {name}").fetchone()[0]]
        table = {"record": "games", "reply": "replies"}.get(what) or random.choice(filled)
        names = NAMES[table]
        place, *row = random.choice(base.execute(f"SELECT rowid, {', '.join(names)} FROM {table}").fetchall())
        column = names.index(what) if what != "cell" else random.randrange(len(names))
        row[column] = (
            json.dumps(damaged_json(json.loads(row[column]), random)) if what != "cell" else random.choice(CELLS)
        )
        try:
            base.execute(
                f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in names)} WHERE rowid = ?", (*row, place)
            )
            new = row[0] if table in ("games", "attempts") else place
            kept = base.execute(f"SELECT {', '.join(names)} FROM {table} WHERE rowid = ?", (new,)).fetchone()
            base.execute(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", (checksum(kept), new))
        except (sqlite3.Error, TypeError):
            return f"{what} that SQLite refuses"
    base.close()
    return what


def show(folder: Path, random: Random) -> None:
    with Journal.open(folder) as journal:
        listed = list_games(journal)
        json.dumps(listed.data, allow_nan=False)
        lines = [*listed.lines]
        for game in journal.records():
            lines += transcript(game, label_game(game))
            calls = list_calls(journal, game.game_id)
            json.dumps(calls.data, allow_nan=False)
            lines += calls.lines
            if calls.data["calls"] and random.random() < 0.2:
                call = random.choice(calls.data["calls"])
                lines += prompt_of_call(journal, game.game_id, call["step"], call["seat"]).lines
    shown = "\n".join(line.plain for line in lines)
    assert not any(sign in shown for sign in ESCAPES)


def packaged(folder: Path, random: Random) -> None:
    if random.random() < 0.1:
        build([folder], out=folder.parent / "corpus")


def analysed(folder: Path, random: Random) -> None:
    if random.random() < 0.5:
        load_games([folder])


def judged(folder: Path, random: Random) -> None:
    if random.random() < 0.2:
        job = RatingJob.of(folder, "scripted:steady", RatingSpec(0.2, True, True))
        asyncio.run(run(job, folder.parent / "by-a-judge"))


READERS: tuple[Callable[[Path, Random], None], ...] = (show, packaged, analysed, judged)


def outcome(reader: Callable[[Path, Random], None], folder: Path, random: Random) -> str:
    """Whether a reader took the folder, or what it said."""
    try:
        reader(folder, random)
    except LiescopeError as error:
        return said(error)
    return "read"


@seeds("runs")
def test_a_run_that_somebody_changed_gives_a_result_or_one_line(runs: Path, tmp_path: Path, seeds: range) -> None:
    outcomes = []
    for seed in seeds:
        random = Random(seed)
        home = tmp_path / str(seed)
        folder = shutil.copytree(runs / random.choice(["mini", "wolf", "judged"]), home / "run")
        spoil(folder, random)
        outcomes += [outcome(reader, folder, random) for reader in READERS]
        shutil.rmtree(home)
    assert all(str(tmp_path) in words for words in outcomes if words.startswith("BadData"))
    assert len(seeds) < outcomes.count("read") < 3 * len(seeds)
