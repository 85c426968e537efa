"""What keeping requests and checksums costs: appends a second, and bytes on disk for each call of whole games.

Run: python tests/performance/bench_journal.py
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from liescope.games.core import Ask, AskKind, Assessment, Event, Game, Reply
from liescope.games.mafia import MINI_MAFIA, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start
from liescope.games.werewolf import WEREWOLF_TABLE, Werewolf
from liescope.generate.players.player_protocol import Attempt
from liescope.generate.players.prompts import load_prompts
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_tables import checksum

RAW = "I have listened to everyone, and what Bob says does not fit the votes of yesterday. " * 4
APPENDS = 5000
GAMES: dict[str, Callable[[int], Game]] = {
    "werewolf": lambda n: Werewolf(replace(WEREWOLF_TABLE, assess=True), n, f"game-{n}"),
    "mini-mafia": lambda n: MiniMafia(replace(MINI_MAFIA, assess=True), n, f"game-{n}"),
}


def _reply(ask: Ask) -> Reply:
    if ask.kind is AskKind.EXPLAINED_VOTE:
        return Reply(choice=ask.options[0], text=f"{ask.step}: {RAW[:120]}", raw=RAW)
    if ask.options:
        return Reply(choice=ask.options[ask.step % len(ask.options)], raw=RAW)
    if ask.about is not None:
        return Reply(assessment=Assessment(True, "omission", 0.5, 0.5, RAW[:80]), raw=RAW)
    return Reply(text=f"{ask.seat}, step {ask.step}: {RAW[:200]}", raw=RAW)


def _whole_games(name: str, games: int, requests: bool, path: Path) -> tuple[int, int, int, float]:
    """Calls, characters of their prompts, bytes of the journal, and seconds of processor time spent in it."""
    prompts = load_prompts("full", name)
    calls = letters = 0
    spent = 0.0
    with Journal.create(path, {}) as journal:
        for number in range(games):
            game = GAMES[name](number)

            def answer(ask: Ask, view: Sequence[Event]) -> Reply:
                nonlocal calls, letters, spent
                text = prompts.render(ask, view).text
                calls, letters = calls + 1, letters + len(text)
                body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": text}], "temperature": 1}
                reply = _reply(ask)
                began = time.process_time()
                sent = body if requests else None
                journal.log_attempt(Attempt(ask.game, ask.step, ask.seat, 1, RAW, "", 900, 0, 80, 0.1, 800.0, sent))
                journal.log_reply(ask, "m", reply)
                spent += time.process_time() - began
                return reply

            session = start(lambda game=game: game)
            drive(session, answer)
            journal.add_record(record(game, session.outcome, dict.fromkeys(game.names, ("m", Source.MODEL))), number)
    base = sqlite3.connect(path / "journal.sqlite")
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.execute("VACUUM")
    base.close()
    return calls, letters, (path / "journal.sqlite").stat().st_size, spent


def bench_whole_games() -> None:
    for name, games in (("werewolf", 1), ("mini-mafia", 50)):
        with tempfile.TemporaryDirectory() as folder:
            calls, letters, before, slow = _whole_games(name, games, False, Path(folder) / "without")
            _, _, after, slower = _whole_games(name, games, True, Path(folder) / "with")
        print(
            f"{name}, assessed: {calls / games:,.0f} calls a game, {letters / games / 1e6:.2f} MB of prompts; journal "
            f"{before / games / 1e3:,.0f} kB a game without requests, {after / games / 1e3:,.0f} kB with them "
            f"({(after - before) / calls:.0f} bytes a call); a call with its two commits {slow / calls * 1e6:.0f} and "
            f"{slower / calls * 1e6:.0f} µs of processor"
        )


def bench_appends() -> None:
    """Whole records of Mini-Mafia, a commit each; and the checksum alone."""
    session = start(lambda: MiniMafia(seed=1, game_id="g"))
    drive(session, lambda ask, _: _reply(ask))
    game: GameRecord = record(session.game, session.outcome, dict.fromkeys(session.game.names, ("m", Source.MODEL)))
    games = [replace(game, game_id=f"game-{number}") for number in range(APPENDS)]
    with tempfile.TemporaryDirectory() as folder, Journal.create(Path(folder) / "run", {}) as journal:
        began = time.process_time()
        for number, one in enumerate(games):
            journal.add_record(one, number)
        each = (time.process_time() - began) / APPENDS
        row = journal._base.execute("SELECT number, game_id, status, record FROM games LIMIT 1").fetchone()
    began = time.process_time()
    for _ in range(APPENDS):
        checksum(row)
    alone = (time.process_time() - began) / APPENDS
    print(
        f"game-sized appends ({len(row[3]):,} characters), a commit each: {1 / each:,.0f} a second of processor "
        f"with JSON and checksum; the checksum takes {alone * 1e6:.1f} of {each * 1e6:.0f} µs"
    )


if __name__ == "__main__":
    bench_appends()
    bench_whole_games()
