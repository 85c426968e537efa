"""The journal: one folder a run, in which nothing that was paid for is ever lost.

A run folder holds `run.json` (the resolved plan, the versions it was made with, the format's number) and
`journal.sqlite` (every attempt and reply as it arrives, and every game as it ends). SQLite keeps a write-ahead log, so
that a process killed at any moment loses nothing that was committed, and others may read while the run goes on. One
process writes; it holds a lock on the folder.

What arrives within one turn of the event loop shares a commit: a reply and its attempt are never apart, a reply from an
endpoint is safe before anything else happens, and players that answer at once do not pay for a commit each.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Any

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.folders import take_lock
from liescope.games.core import Ask, Reply
from liescope.games.record import GameRecord, Status, record_from_json, record_to_json, reply_from_json, reply_to_json
from liescope.generate.players.protocol import Attempt, EndpointFacts
from liescope.generate.runs.folder import (
    FORMAT,
    PLAN_FILE,
    check_whole,
    connect,
    guard,
    one,
    read_head,
    versions,
    write_head,
)

_TABLES = f"""
PRAGMA user_version = {FORMAT};
CREATE TABLE IF NOT EXISTS games (
    number INTEGER PRIMARY KEY, game_id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, record TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS replies (
    game_id TEXT NOT NULL, step INTEGER NOT NULL, seat TEXT NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL,
    model TEXT NOT NULL, reply TEXT NOT NULL, raw TEXT NOT NULL, UNIQUE (game_id, step, seat)
);
CREATE TABLE IF NOT EXISTS attempts (
    game_id TEXT NOT NULL, step INTEGER NOT NULL, seat TEXT NOT NULL, kind TEXT, model TEXT, problem TEXT NOT NULL,
    raw TEXT NOT NULL, prompt_tokens INTEGER, cached_tokens INTEGER, completion_tokens INTEGER, cost REAL,
    latency_ms REAL
);
CREATE INDEX IF NOT EXISTS attempts_of_game ON attempts (game_id, step, seat);
"""
_ADD_GAME = "INSERT INTO games VALUES (?, ?, ?, ?)"
_ADD_REPLY = "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_ATTEMPT = "INSERT INTO attempts VALUES (?, ?, ?, NULL, NULL, ?, ?, ?, ?, ?, ?, ?)"
# A request has a row in attempts; a reply that nobody asked a wire for has none, and stands for itself.
_CALLS = """
SELECT a.step, a.seat, row_number() OVER (PARTITION BY a.step, a.seat ORDER BY a.rowid), coalesce(r.kind, a.kind),
    coalesce(r.model, a.model), a.problem, r.reply, a.raw, a.prompt_tokens, a.cached_tokens, a.completion_tokens,
    a.cost, a.latency_ms
FROM attempts a LEFT JOIN replies r USING (game_id, step, seat) WHERE a.game_id = :game
UNION ALL
SELECT step, seat, 1, kind, model, '', reply, raw, NULL, NULL, NULL, NULL, NULL FROM replies r WHERE game_id = :game
    AND NOT EXISTS (SELECT 1 FROM attempts a WHERE (a.game_id, a.step, a.seat) = (r.game_id, r.step, r.seat))
ORDER BY 1, 2, 3
"""
_BY_KIND = """
SELECT kind, count(*), sum(prompt), sum(cached), sum(completion) FROM replies LEFT JOIN (
    SELECT game_id, step, seat, sum(prompt_tokens) AS prompt, sum(cached_tokens) AS cached,
        sum(completion_tokens) AS completion FROM attempts GROUP BY game_id, step, seat
) USING (game_id, step, seat) GROUP BY kind ORDER BY count(*) DESC, kind
"""


@dataclass(frozen=True, slots=True)
class KindSpent:
    """What one kind of ask took: replies, and tokens of all requests for them (None where no endpoint told any)."""

    kind: str
    replies: int
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None


class Journal:
    """A run folder, open. Use it as a context manager; leaving it commits and gives the lock back.

    Every method raises BadData where the journal is damaged, and UsageError where it cannot be written (no space left,
    no permission, opened for reading).
    """

    def __init__(self, path: Path, head: Mapping[str, Any], base: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self.plan: dict[str, Any] = head["plan"]
        self.versions: dict[str, str] = head["versions"]
        self._head = dict(head)
        self._base = base
        self._lock = lock
        self._games: list[tuple[int | None, str, str, str]] = []
        self._replies: list[tuple[Any, ...]] = []
        self._attempts: list[tuple[Any, ...]] = []
        self._waiting = False
        self._broken: UsageError | None = None

    # Opening and closing

    @classmethod
    def create(cls, path: Path, plan: Mapping[str, Any]) -> Journal:
        """A new run in an empty or missing folder, open for writing. plan: plain JSON data.

        Raises UsageError where the folder holds a run already, is held by another process or cannot be written.
        """
        with guard(path), ExitStack() as undo:
            path.mkdir(parents=True, exist_ok=True)
            lock = take_lock(path)
            undo.callback(os.close, lock)
            if (path / PLAN_FILE).exists():
                raise UsageError(f"{path} holds a run already; choose another folder for the new one")
            base = connect(path, write=True)
            undo.callback(base.close)
            base.executescript(_TABLES)
            if one(base, "SELECT (SELECT count(*) FROM games) + (SELECT count(*) FROM replies)")[0]:
                raise BadData(f"{path} holds a journal whose {PLAN_FILE} is missing; put it back or start elsewhere")
            head = {"format": FORMAT, "versions": versions(), "plan": dict(plan), "endpoints": ()}
            write_head(path, head)
            undo.pop_all()
        return cls(path, head, base, lock)

    @classmethod
    def open(cls, path: Path, write: bool = False) -> Journal:
        """An existing run: for reading (also while another process writes it), or to go on with it.

        Raises BadData where the folder holds no run or a damaged one, UsageError where another process writes it.
        """
        head = read_head(path)
        with guard(path), ExitStack() as undo:
            lock = take_lock(path) if write else None
            if lock is not None:
                undo.callback(os.close, lock)
            base = connect(path, write)
            undo.callback(base.close)
            check_whole(path, base)
            undo.pop_all()
        return cls(path, head, base, lock)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if error is None:
                self.commit()
            else:  # the error on its way says more than that its last lines could not be kept
                with suppress(UsageError):
                    self.commit()
        finally:
            self.close()

    def close(self) -> None:
        """Close without committing what waits; leaving the context manager commits first."""
        self._base.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def name(self) -> str:
        return self.path.resolve().name

    # Writing

    def log_attempt(self, attempt: Attempt) -> None:
        """Keep one request, successful or not. The order of arrival numbers them, also over several resumed runs."""
        self._check_writable()
        a = attempt
        numbers = (a.prompt_tokens, a.cached_tokens, a.completion_tokens, a.cost, a.latency_ms)
        self._attempts.append((a.game, a.step, a.seat, a.problem, _storable(a.raw), *numbers))
        self._changed()

    def log_reply(self, ask: Ask, model: str, reply: Reply, position: int = 0) -> None:
        """Keep the reply to an ask. position: the ask's place in its batch, where replies may come in another order."""
        self._check_writable()
        kept = (_dump(reply_to_json(reply)), _storable(reply.raw))
        self._replies.append((ask.game, ask.step, ask.seat, position, ask.kind.value, model, *kept))
        self._changed()

    def log_failure(self, ask: Ask, model: str) -> None:
        """Note whose the attempts were that led to no reply at all."""
        self._check_writable()
        self.commit()
        with guard(self.path), self._base:
            where = (ask.kind.value, model, ask.game, ask.step, ask.seat)
            self._base.execute("UPDATE attempts SET kind = ?, model = ? WHERE (game_id, step, seat) = (?, ?, ?)", where)

    def add_record(self, record: GameRecord, number: int | None = None) -> None:
        """Keep a game that ended. number: its place in the run, by default after the last one."""
        self._check_writable()
        self._games.append((number, record.game_id, record.status.value, _dump(record_to_json(record))))
        self._changed()

    def forget_failed(self) -> int:
        """Forget that games failed, so that they go on from their last reply; returns how many."""
        self._check_writable()
        self.commit()
        with guard(self.path), self._base:
            return self._base.execute("DELETE FROM games WHERE status = ?", (Status.FAILED.value,)).rowcount

    def endpoint_facts(self) -> tuple[EndpointFacts, ...]:
        """What the run found out about its endpoints so far, one entry for each host and model."""
        found: tuple[EndpointFacts, ...] = self._head["endpoints"]
        return found

    def record_endpoint(self, facts: EndpointFacts) -> None:
        """Keep what was found out about an endpoint, in place of what was known of the same host and model."""
        self._check_writable()
        known = {(one.host, one.model): one for one in self.endpoint_facts()}
        if known.get((facts.host, facts.model)) != facts:
            known[facts.host, facts.model] = facts
            self._head["endpoints"] = tuple(known.values())
            with guard(self.path):
                write_head(self.path, self._head)

    def commit(self) -> None:
        """Make everything so far durable. Raises what an earlier commit in the background ran into."""
        if self._broken is None and (self._games or self._replies or self._attempts):
            try:
                with guard(self.path), self._base:
                    self._base.executemany(_ADD_ATTEMPT, self._attempts)
                    self._base.executemany(_ADD_REPLY, self._replies)
                    self._base.executemany(_ADD_GAME, self._games)
            except UsageError as error:
                self._broken = error
            self._attempts.clear()
            self._replies.clear()
            self._games.clear()
        if self._broken is not None:
            raise self._broken

    def _check_writable(self) -> None:
        if self._lock is None:
            raise UsageError(f"{self.path} is open for reading; open it with write=True")
        if self._broken is not None:
            raise self._broken

    def _changed(self) -> None:
        """Commit at the end of this turn of the event loop; at once where there is none."""
        if self._waiting:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.commit()
            return
        self._waiting = True
        loop.call_soon(self._end_of_turn)

    def _end_of_turn(self) -> None:
        self._waiting = False
        with suppress(UsageError):  # kept in _broken, for whoever writes or commits next
            self.commit()

    # Reading

    def records(self) -> Iterator[GameRecord]:
        """Every game that ended, done or failed, in the run's order, one at a time."""
        self.commit()
        with guard(self.path):
            for (text,) in self._base.execute("SELECT record FROM games ORDER BY number"):
                yield record_from_json(json.loads(text))

    def record(self, game_id: str) -> GameRecord:
        """One game. Raises UnknownName with the nearest ids."""
        self.commit()
        with guard(self.path):
            found = self._base.execute("SELECT record FROM games WHERE game_id = ?", (game_id,)).fetchone()
            if found is None:
                raise _unknown_game(self.name, game_id, self.game_ids())
            return record_from_json(json.loads(found[0]))

    def game_ids(self) -> list[str]:
        """Ids of the games that ended, in the run's order."""
        self.commit()
        with guard(self.path):
            return [row[0] for row in self._base.execute("SELECT game_id FROM games ORDER BY number")]

    def done(self) -> list[tuple[int, str]]:
        """(place in the run, id) of the games that were played to their end, in the run's order."""
        self.commit()
        found = "SELECT number, game_id FROM games WHERE status = ? ORDER BY number"
        with guard(self.path):
            return list(self._base.execute(found, (Status.DONE.value,)))

    def begun(self) -> set[str]:
        """Ids of the games that have replies and did not end."""
        self.commit()
        with guard(self.path):
            found = "SELECT DISTINCT game_id FROM replies WHERE game_id NOT IN (SELECT game_id FROM games)"
            return {row[0] for row in self._base.execute(found)}

    def answers(self, game_id: str) -> dict[tuple[int, str], Reply]:
        """The recorded replies of a game by (step, seat); the last batch may lack some seats."""
        self.commit()
        asked = "SELECT step, seat, reply, raw FROM replies WHERE game_id = ? ORDER BY step, position, rowid"
        with guard(self.path):
            rows = self._base.execute(asked, (game_id,))
            return {(step, seat): reply_from_json(json.loads(text), raw) for step, seat, text, raw in rows}

    def replies(self, game_id: str) -> list[tuple[Reply, ...]]:
        """The recorded replies of a game as batches, in the order of the asks, as `games.session.replay` takes them."""
        batches: dict[int, list[Reply]] = {}
        for (step, _), reply in self.answers(game_id).items():
            batches.setdefault(step, []).append(reply)
        return [tuple(batch) for batch in batches.values()]

    def calls(self, game_id: str) -> list[dict[str, Any]]:
        """Every request of a game, with the columns of `liescope.generate.corpus.schema.CALLS` but `split`."""
        self.commit()
        with guard(self.path):
            return [_call(game_id, *row) for row in self._base.execute(_CALLS, {"game": game_id})]

    def counts(self) -> dict[str, int]:
        """How many games ended, by status."""
        self.commit()
        with guard(self.path):
            return dict(self._base.execute("SELECT status, count(*) FROM games GROUP BY status ORDER BY status"))

    def spent_by_kind(self) -> list[KindSpent]:
        """What each kind of ask took so far, the most frequent first."""
        self.commit()
        with guard(self.path):
            return [KindSpent(*row) for row in self._base.execute(_BY_KIND)]

    def spent(self) -> tuple[int, float]:
        """Tokens (prompts and completions) and money of all requests so far."""
        self.commit()
        sums = "total(prompt_tokens) + total(completion_tokens), total(cost)"
        with guard(self.path):
            tokens, cost = one(self._base, f"SELECT {sums} FROM attempts")
        return int(tokens), float(cost)


def read_runs(paths: Iterable[Path]) -> Iterator[tuple[str, GameRecord, list[dict[str, Any]]]]:
    """(run name, game, its calls) of every game of the runs, in order, one at a time."""
    for path in paths:
        with Journal.open(path) as journal:
            for record in journal.records():
                yield journal.name, record, journal.calls(record.game_id)


def _call(game_id: str, *row: Any) -> dict[str, Any]:
    step, seat, attempt, kind, model, problem, reply, raw, prompt, cached, completion, cost, latency = row
    read = json.loads(reply) if reply and not problem else {"problem": problem, "notes": []}
    return {
        "game_id": game_id,
        "step": step,
        "seat": seat,
        "attempt": attempt,
        "kind": kind,
        "model": model,
        "problem": read["problem"],
        "notes": read["notes"],
        "raw": raw,
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "completion_tokens": completion,
        "cost": cost,
        "latency_ms": latency,
    }


def _unknown_game(run: str, game_id: str, known: list[str]) -> UnknownName:
    near = get_close_matches(game_id, known, n=5, cutoff=0.3) or known[:5]
    return UnknownName(f"game of {run}", game_id, near)


_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def _dump(data: dict[str, Any]) -> str:
    """JSON in plain ASCII, which holds any text that a model may send, half a surrogate pair included."""
    return _encode(data)


def _storable(text: str) -> str:
    """SQLite takes valid UTF-8 only; half a surrogate pair is written out as an escape."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
