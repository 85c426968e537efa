"""The journal: one folder a run, in which nothing that was paid for is ever lost.

A run folder holds `run.json` (the resolved plan, the versions it was made with, the format's number) and
`journal.sqlite` (every request and reply as it arrives, and every game as it ends). SQLite keeps a write-ahead log, so
that a process killed at any moment loses nothing that was committed, and others may read while the run goes on. One
process writes; it holds a lock on the folder. Every row carries a checksum, and what a row says is checked when it is
read.

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
from liescope.common.text import plain
from liescope.games.core import Ask, AskKind, Reply
from liescope.games.record import GameRecord, Status, record_to_json, reply_to_json
from liescope.generate.players.protocol import Attempt, EndpointFacts
from liescope.generate.runs.checks import read_kept_reply, read_record
from liescope.generate.runs.conditions import with_settings
from liescope.generate.runs.folder import (
    FORMAT,
    JOURNAL_FILE,
    PLAN_FILE,
    check_whole,
    connect,
    guard,
    one,
    read_head,
    versions,
    write_head,
)
from liescope.generate.runs.requests import RequestStore, read_request, storable
from liescope.generate.runs.tables import create, insertion, rows, signed, upgrade, view_format_1

_KINDS = frozenset(AskKind)
_CALL = (
    "step, seat, problem, raw, prompt_tokens, cached_tokens, completion_tokens, cost, latency_ms, response_id, "
    "served_model"
)
_NOT_ASKED = (None,) * 7  # no endpoint was asked, so nothing is known but the reply
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


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """One request for an ask. attempt counts from 1; body: the JSON that was sent, None where it was not kept (runs of
    older versions); problem: "" or why it gave no reply.
    """

    attempt: int
    model: str
    body: dict[str, Any] | None
    response_id: str | None
    served_model: str | None
    problem: str


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
        self._rows: dict[str, list[tuple[Any, ...]]] = {"attempts": [], "replies": [], "unanswered": [], "games": []}
        self._requests = RequestStore()
        self._next: dict[str, int] = {}  # the next free place in games and attempts
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
            if one(base, "PRAGMA user_version")[0]:
                check_whole(path, base)
            create(base)
            if one(base, "SELECT (SELECT count(*) FROM games) + (SELECT count(*) FROM replies)")[0]:
                raise BadData(f"{path} holds a journal whose {PLAN_FILE} is missing; put it back or start elsewhere")
            head = {"format": FORMAT, "versions": versions(), "plan": dict(plan), "endpoints": ()}
            write_head(path, head)
            undo.pop_all()
        return cls(path, head, base, lock)

    @classmethod
    def open(cls, path: Path, write: bool = False, checked: bool = False) -> Journal:
        """An existing run: for reading (also while another process writes it), or to go on with it.

        checked: this process has looked at the whole file before. A run of format 1 is brought to format 2 before it
        goes on, and left as it is where it is read. Raises BadData where the folder holds no run or a damaged one,
        UsageError where another process writes it.
        """
        head = read_head(path)
        with guard(path), ExitStack() as undo:
            lock = take_lock(path) if write else None
            if lock is not None:
                undo.callback(os.close, lock)
            base = connect(path, write)
            undo.callback(base.close)
            number = check_whole(path, base, checked)
            if write and number < FORMAT:
                upgrade(base)
            if write and head["format"] < FORMAT:
                head["format"] = FORMAT
                write_head(path, head)
            if not write:
                if number < FORMAT:
                    view_format_1(base)
                base.execute("PRAGMA query_only = ON")
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
        sent = (None, None) if a.request is None else self._requests.keep(a.game, a.seat, a.request)
        money = (_real(a.cost), _real(a.latency_ms))
        said = [None if text is None else storable(text) for text in (a.response_id, a.served_model)]
        tokens = (a.prompt_tokens, a.cached_tokens, a.completion_tokens)
        kept = (a.game, a.step, a.seat, storable(a.problem), storable(a.raw), *tokens, *money, *sent, *said)
        self._add("attempts", kept)

    def log_reply(self, ask: Ask, model: str, reply: Reply, position: int = 0) -> None:
        """Keep the reply to an ask. position: the ask's place in its batch, where replies may come in another order."""
        self._check_writable()
        kept = (_dump(reply_to_json(reply)), storable(reply.raw))
        self._add("replies", (ask.game, ask.step, ask.seat, position, ask.kind.value, model, *kept))

    def log_failure(self, ask: Ask, model: str) -> None:
        """Note whose the attempts were that led to no reply at all."""
        self._check_writable()
        self._add("unanswered", (ask.game, ask.step, ask.seat, ask.kind.value, model))

    def add_record(self, record: GameRecord, number: int | None = None) -> None:
        """Keep a game that ended. number: its place in the run, by default after the last one."""
        self._check_writable()
        self._requests.forget(record.game_id)
        self._add("games", (number, record.game_id, record.status.value, _dump(record_to_json(record))))

    def keep_templates(self, digest: str, sources: Mapping[str, str]) -> None:
        """Keep prompt templates whole, by file name, under the hash that the plan names; once is enough."""
        self._check_writable()
        if self.templates(digest):
            return
        with guard(self.path), self._base:
            kept = [signed((digest, name, storable(source))) for name, source in sources.items()]
            self._base.executemany(insertion("templates"), kept)

    def forget_failed(self, game_ids: Iterable[str] | None = None) -> int:
        """Forget that games failed (all, or those with the ids), so that they resume from their last reply; returns how
        many.
        """
        self._check_writable()
        self.commit()
        with guard(self.path), self._base:
            if game_ids is None:
                return self._base.execute("DELETE FROM games WHERE status = ?", (Status.FAILED.value,)).rowcount
            which = [(Status.FAILED.value, game_id) for game_id in game_ids]
            return self._base.executemany("DELETE FROM games WHERE (status, game_id) = (?, ?)", which).rowcount

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
        if self._broken is None and any(self._rows.values()):
            try:
                with guard(self.path), self._base:
                    self._write()
            except UsageError as error:
                self._broken = error
                self._next.clear()
            for waiting in (*self._rows.values(), self._requests.texts, self._requests.prompts):
                waiting.clear()
        if self._broken is not None:
            raise self._broken

    def _write(self) -> None:
        self._base.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", self._requests.texts)
        self._base.executemany("INSERT OR IGNORE INTO prompts VALUES (?, ?, ?, ?)", self._requests.prompts)
        attempts = [(self._place("attempts", "place"), *row) for row in self._rows["attempts"]]
        games = [
            (self._place("games", "number") if number is None else number, *row) for number, *row in self._rows["games"]
        ]
        self._base.executemany(insertion("attempts"), map(signed, attempts))
        self._base.executemany(insertion("replies"), map(signed, self._rows["replies"]))
        again = insertion("unanswered").replace("INSERT", "INSERT OR REPLACE")
        self._base.executemany(again, map(signed, self._rows["unanswered"]))
        self._base.executemany(insertion("games"), map(signed, games))

    def _place(self, table: str, column: str) -> int:
        """The place of a new row: after the last one of the table."""
        if table not in self._next:
            (last,) = one(self._base, f"SELECT max({column}) FROM {table}")
            self._next[table] = (last or 0) + 1
        self._next[table] += 1
        return self._next[table] - 1

    def _add(self, table: str, row: tuple[Any, ...]) -> None:
        self._rows[table].append(row)
        self._changed()

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
        for game_id, status, text in self._read("games", "game_id, status, record", "ORDER BY number"):
            yield self._record(game_id, status, text)

    def record(self, game_id: str) -> GameRecord:
        """One game. Raises UnknownName with the nearest ids."""
        self.commit()
        for name, status, text in self._read("games", "game_id, status, record", "WHERE game_id = ?", (game_id,)):
            return self._record(name, status, text)
        if game_id in self.begun():
            raise UsageError(f"game {plain(game_id)} has not ended; `--calls` shows what it holds so far")
        raise _unknown_game(self.name, game_id, self.game_ids())

    def game_ids(self) -> list[str]:
        """Ids of the games that ended, in the run's order."""
        return [game_id for (game_id,) in self._names("SELECT game_id FROM games ORDER BY number")]

    def done(self) -> list[tuple[int, str]]:
        """(place in the run, id) of the games that were played to their end, in the run's order."""
        found = f"SELECT game_id, number FROM games WHERE status = '{Status.DONE.value}' ORDER BY number"
        return [(number, game_id) for game_id, number in self._names(found)]

    def begun(self) -> set[str]:
        """Ids of the games that have replies and did not end."""
        return set(self.begun_replies())

    def begun_replies(self) -> dict[str, int]:
        """How many replies each game has that did not end."""
        found = "FROM replies WHERE game_id NOT IN (SELECT game_id FROM games) GROUP BY game_id"
        return dict(self._names(f"SELECT game_id, count(*) {found}"))

    def find(self, name: str) -> str:
        """The id of the game that a person means: an id, the beginning of one, or a game's number at its end.

        Raises UsageError for several that fit, UnknownName for none, with the nearest ids.
        """
        known = [*self.game_ids(), *self.begun()]
        fitting = [name] if name in known else [game_id for game_id in known if name and game_id.startswith(name)]
        if not fitting and name.isascii() and name.isdigit():
            fitting = [game_id for game_id in known if _number_of(game_id) == int(name)]
        if len(fitting) > 1:
            some = ", ".join(plain(game_id) for game_id in fitting[:5]) + ("…" if len(fitting) > 5 else "")
            raise UsageError(f"{plain(name)} fits {len(fitting)} games of {self.name}: {some}; give more of the id")
        if not fitting:
            raise _unknown_game(self.name, name, known)
        return fitting[0]

    def answers(self, game_id: str) -> dict[tuple[int, str], Reply]:
        """The recorded replies of a game by (step, seat); the last batch may lack some seats."""
        self.commit()
        kept = self._read(
            "replies", "step, seat, reply, raw", "WHERE game_id = ? ORDER BY step, position, seat", (game_id,)
        )
        return {
            (step, seat): read_kept_reply(text, raw, self._where(game_id, step, seat)) for step, seat, text, raw in kept
        }

    def replies(self, game_id: str) -> list[tuple[Reply, ...]]:
        """The recorded replies of a game as batches, in the order of the asks, as `games.session.replay` takes them."""
        batches: dict[int, list[Reply]] = {}
        for (step, _), reply in self.answers(game_id).items():
            batches.setdefault(step, []).append(reply)
        return [tuple(batch) for batch in batches.values()]

    def calls(self, game_id: str) -> list[dict[str, Any]]:
        """Every request of a game, with the columns of `liescope.data_cards.tables.CallRow`.

        A reply that no endpoint was asked for has no attempt, and stands for itself.
        """
        self.commit()
        of = ("WHERE game_id = ?", (game_id,))
        answered: dict[tuple[int, str], tuple[str, str, str]] = {}
        made: dict[tuple[int, str], list[tuple[Any, ...]]] = {}
        for step, seat, *facts in self._read("attempts", _CALL, "WHERE game_id = ? ORDER BY place", (game_id,)):
            made.setdefault((step, seat), []).append(tuple(facts))
        for step, seat, kind, model in self._read("unanswered", "step, seat, kind, model", *of):
            answered[step, seat] = kind, model, ""
        for step, seat, kind, model, text, raw in self._read("replies", "step, seat, kind, model, reply, raw", *of):
            answered[step, seat] = kind, model, text
            made.setdefault((step, seat), [("", raw, *_NOT_ASKED)])
        return [
            self._call(game_id, step, seat, number, answered.get((step, seat)), facts)
            for (step, seat), attempts in sorted(made.items())
            for number, facts in enumerate(attempts, 1)
        ]

    def requests(self, game_id: str, step: int, seat: str) -> list[KeptRequest]:
        """The requests that were made for one ask, in order; none for players that ask no endpoint."""
        self.commit()
        of = ("WHERE (game_id, step, seat) = (?, ?, ?)", (game_id, step, seat))
        models = [*self._read("replies", "model", *of), *self._read("unanswered", "model", *of), ("",)]
        columns = "parameters, prompts, response_id, served_model, problem"
        kept = []
        order = (f"{of[0]} ORDER BY place", of[1])
        for number, (parameters, prompts, *answer) in enumerate(self._read("attempts", columns, *order), 1):
            body = None
            if parameters is not None:
                with guard(self.path):
                    try:
                        body = read_request(self._base, parameters, prompts or b"")
                    except (ValueError, KeyError, TypeError, AttributeError) as error:
                        raise BadData(f"{self._where(game_id, step, seat)}: {error}") from error
            kept.append(KeptRequest(number, models[0][0], body, *answer))
        return kept

    def templates(self, digest: str) -> dict[str, str]:
        """The prompt templates that were kept under a hash, by file name; none in runs of older versions."""
        self.commit()
        return dict(self._read("templates", "name, source", "WHERE digest = ? ORDER BY name", (digest,)))

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
        tokens, cost = 0, 0.0
        for prompt, completion, money in self._read("attempts", "prompt_tokens, completion_tokens, cost"):
            tokens += (prompt or 0) + (completion or 0)
            cost += money or 0.0
        return tokens, cost

    def _read(
        self, table: str, columns: str, where: str = "", values: tuple[Any, ...] = ()
    ) -> Iterator[tuple[Any, ...]]:
        return rows(self._base, self.path, table, columns, where, values)

    def _names(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query whose first column is a game's id."""
        self.commit()
        with guard(self.path):
            found = self._base.execute(query).fetchall()
        if not all(isinstance(row[0], str) for row in found):
            raise BadData(f"{self.path / JOURNAL_FILE} holds a game whose id is no text; restore it from a copy")
        return found

    def _where(self, game_id: str, step: int | None = None, seat: str = "") -> str:
        ask = "" if step is None else f", step {step}, {plain(seat)}"
        return f"{self.path / JOURNAL_FILE}, game {plain(game_id)}{ask}"

    def _record(self, game_id: str, status: str, text: str) -> GameRecord:
        game = read_record(text, self._where(game_id))
        if (game.game_id, game.status.value) != (game_id, status):
            raise BadData(f"{self._where(game_id)}: the game says that it is {plain(game.game_id)}, {game.status}")
        return with_settings(game, self.plan)

    def _call(
        self,
        game_id: str,
        step: int,
        seat: str,
        attempt: int,
        answer: tuple[str, str, str] | None,
        facts: tuple[Any, ...],
    ) -> dict[str, Any]:
        kind, model, text = answer or (None, None, "")
        if kind is not None and kind not in _KINDS:
            raise BadData(f"{self._where(game_id, step, seat)}: there is no ask of the kind {plain(kind)!r}")
        problem, raw, prompt, cached, completion, cost, latency, response_id, served_model = facts
        reply = read_kept_reply(text, raw, self._where(game_id, step, seat)) if text and not problem else None
        return {
            "game_id": game_id,
            "step": step,
            "seat": seat,
            "attempt": attempt,
            "kind": kind,
            "model": model,
            "problem": problem if reply is None else reply.problem,
            "notes": [] if reply is None else list(reply.notes),
            "raw": raw,
            "prompt_tokens": prompt,
            "cached_tokens": cached,
            "completion_tokens": completion,
            "cost": cost,
            "latency_ms": latency,
            "response_id": response_id,
            "served_model": served_model,
        }


def read_runs(paths: Iterable[Path]) -> Iterator[tuple[str, GameRecord, list[dict[str, Any]]]]:
    """(run name, game, its calls) of every game of the runs, in order, one at a time."""
    for path in paths:
        with Journal.open(path) as journal:
            for record in journal.records():
                yield journal.name, record, journal.calls(record.game_id)


def _number_of(game_id: str) -> int | None:
    end = game_id.rpartition("-")[2]
    return int(end) if end.isascii() and end.isdigit() else None


def _unknown_game(run: str, game_id: str, known: list[str]) -> UnknownName:
    near = get_close_matches(game_id, known, n=5, cutoff=0.3) or known[:5]
    return UnknownName(f"game in run {run}:", game_id, near, others=len(known) - len(near))


_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def _dump(data: dict[str, Any]) -> str:
    """JSON in plain ASCII, which holds any text that a model may send, half a surrogate pair included."""
    return _encode(data)


def _real(value: float | None) -> float | None:
    """A number as SQLite gives it back from a column of reals."""
    return None if value is None else float(value)
