"""The contents of a journal: its games, replies, calls and requests, each checked as it is read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.text import brief, plain
from liescope.games.core import AskKind, Reply, reasoning_in
from liescope.games.record import GameRecord, Status, record_from_json, reply_from_json
from liescope.games.record_checks import NotARecord, check_record, check_reply
from liescope.games.taxonomy import DeceptionType
from liescope.generate.players.player_protocol import VIA_CACHE
from liescope.generate.runs.journal_tables import RequestReader, rows
from liescope.generate.runs.run_folder import (
    JOURNAL_FILE,
    PART,
    guard,
    numbers_of,
    plan_settings,
    run_name,
    with_settings,
)

_LONGEST = 160  # characters of an error shown
_TYPES = frozenset({None, *(kind.value for kind in DeceptionType)})
_FAULTS = (KeyError, TypeError, ValueError, AttributeError, RecursionError)  # what JSON of the wrong shape raises


def read_record(text: str, where: str) -> GameRecord:
    """The game that a journal holds as JSON. where: the file and the game, for messages.

    Raises BadData if it is not a game: wrong types, names without a seat, events out of place, missing facts.
    """
    try:
        data = _DECODER.decode(text)
        if "\\ud" in text or "\\uD" in text:  # lone surrogates, which no table can hold, become U+FFFD
            whole = json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
            data = json.loads(whole.decode("utf-8", "replace"))
        game = record_from_json(data)
        check_record(game)
    except _FAULTS as error:
        raise BadData(f"{where} is not a game of this format: {_short(error)}") from None
    return game


def read_kept_reply(text: str, raw: str, where: str) -> Reply:
    """The reply that a journal holds as JSON. where: the file, the game and the ask, for messages.

    Raises BadData if it is not a reply.
    """
    try:
        reply = reply_from_json(_DECODER.decode(text), raw)
        check_reply(reply)
        if reply.assessment is not None and reply.assessment.type not in _TYPES:
            raise NotARecord(f"there is no deception type {reply.assessment.type!r}")
    except _FAULTS as error:
        raise BadData(f"{where} is not a reply of this format: {_short(error)}") from None
    return reply


def _no_number(word: str) -> NoReturn:
    """Reject NaN and Infinity: they are not valid JSON, although Python's reader accepts them."""
    raise NotARecord(f"{word} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def _short(error: Exception) -> str:
    words = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return brief(plain(words), _LONGEST)


_KINDS = frozenset(AskKind)
_FACTS = (
    "problem, raw, prompt_tokens, cached_tokens, completion_tokens, cost, latency_ms, response_id, served_model, via"
)
_ANSWERS = """
SELECT kind, avg(completion_tokens) FROM attempts JOIN replies USING (game_id, step, seat)
WHERE attempts.problem = '' AND completion_tokens IS NOT NULL GROUP BY kind
"""
NO_ANSWER = "no answer: "
"""How the problem of a measurement begins that could not be obtained: nothing came that could be used or not."""
_SPENT = f"""
SELECT sum(CASE via WHEN '{VIA_CACHE}' THEN 0 ELSE coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) END)
    FILTER (WHERE prompt_tokens IS NOT NULL OR completion_tokens IS NOT NULL), total(cost) FROM attempts
"""


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """One request for an ask. attempt counts from 1; body: the JSON that was sent, None if it was not kept; problem: ""
    or why it gave no reply; via: as in `Attempt`.
    """

    attempt: int
    model: str
    body: dict[str, Any] | None
    response_id: str | None
    served_model: str | None
    problem: str
    via: str | None = None


class JournalReader:
    """The read methods of an open journal. Every one raises BadData if the journal is damaged."""

    def __init__(self, path: Path, plan: dict[str, Any], base: sqlite3.Connection) -> None:
        self.path = path
        self.plan = plan
        self._base = base
        self._settings = plan_settings(plan)
        self._requests_kept = RequestReader(base)

    @property
    def name(self) -> str:
        return run_name(self.path, self.plan)

    def commit(self) -> None:
        """Make everything so far durable, so that reads see all of it; a reader has nothing to commit."""

    # Games

    def records(self) -> Iterator[GameRecord]:
        """Every game that ended, done or failed, in the run's order, one at a time."""
        return self._records("ORDER BY number")

    def records_at(self, numbers: Iterable[int]) -> Iterator[GameRecord]:
        """The games that ended at some places in the run; places without one are left out."""
        for number in numbers:
            yield from self._records("WHERE number = ?", number)

    def record(self, game_id: str) -> GameRecord:
        """One game. Raises UnknownName with the nearest ids."""
        for found in self._records("WHERE game_id = ?", game_id):
            return found
        if game_id in self.begun():
            raise UsageError(f"game {plain(game_id)} has not ended; `--calls` shows what it holds so far")
        raise _unknown_game(f"run {self.name}", game_id, self.game_ids())

    def game_ids(self) -> list[str]:
        """Ids of the games that ended, in the run's order."""
        return list(self.numbered().values())

    def numbered(self) -> dict[int, str]:
        """Ids of the games that ended, by their place in the run, in order. Fast however large the games are."""
        return {number: game_id for game_id, number in self._ids("SELECT game_id, number FROM games ORDER BY number")}

    def done(self) -> list[tuple[int, str]]:
        """(place in the run, id) of the games that were played to the end, in the run's order."""
        found = f"SELECT game_id, number FROM games WHERE status = '{Status.DONE.value}' ORDER BY number"
        return [(number, game_id) for game_id, number in self._ids(found)]

    def begun(self) -> set[str]:
        """Ids of the games that have replies but have not ended."""
        return set(self.begun_replies())

    def begun_replies(self) -> dict[str, int]:
        """The number of replies of each game that has not ended."""
        found = "FROM replies WHERE game_id NOT IN (SELECT game_id FROM games) GROUP BY game_id"
        return dict(self._ids(f"SELECT game_id, count(*) {found}"))

    def find(self, name: str) -> str:
        """The id of the game that a user means: an id, the game number at its end, or the beginning of one.

        Raises UsageError if several match; UnknownName, with the nearest ids, if none does.
        """
        return find_game_id(name, [*self.game_ids(), *self.begun()], self.name, "run ")

    # Replies and requests

    def answers(self, game_id: str) -> dict[tuple[int, str], Reply]:
        """The recorded replies of a game by (step, seat); the last batch may lack some seats."""
        kept = self._read(
            "replies", "step, seat, reply, raw", "WHERE game_id = ? ORDER BY step, position, seat", game_id
        )
        return {
            (step, seat): read_kept_reply(text, raw, self._where(game_id, step, seat)) for step, seat, text, raw in kept
        }

    def calls(self, game_id: str) -> list[dict[str, Any]]:
        """Every request of a game, with the columns of `liescope.data_cards.tables.rows.CallRow`.

        A reply that came without asking an endpoint has no attempt, and gets a row anyway.
        """
        answered: dict[tuple[int, str], tuple[str | None, str | None, str]] = {}
        made: dict[tuple[int, str], list[dict[str, Any]]] = {}
        where = "WHERE game_id = ?"
        names = _FACTS.split(", ")
        for step, seat, *values in self._read("attempts", f"step, seat, {_FACTS}", f"{where} ORDER BY place", game_id):
            made.setdefault((step, seat), []).append(dict(zip(names, values, strict=True)))
        for step, seat, kind, model in self._read("unanswered", "step, seat, kind, model", where, game_id):
            answered[step, seat] = kind, model, ""
        for step, seat, kind, model, text, raw in self._read(
            "replies", "step, seat, kind, model, reply, raw", where, game_id
        ):
            answered[step, seat] = kind, model, text
            made.setdefault((step, seat), [{**dict.fromkeys(names), "problem": "", "raw": raw}])
        calls = []
        for (step, seat), attempts in sorted(made.items()):
            kind, model, text = answered.get((step, seat), (None, None, ""))
            at = self._where(game_id, step, seat)
            if kind is not None and kind not in _KINDS:
                raise BadData(f"{at}: there is no ask of the kind {plain(kind)!r}")
            for number, facts in enumerate(attempts, 1):
                reply = read_kept_reply(text, facts["raw"], at) if text and not facts["problem"] else Reply()
                call = {"game_id": game_id, "step": step, "seat": seat, "attempt": number, "kind": kind, "model": model}
                told = {"problem": facts.pop("problem") or reply.problem, "notes": list(reply.notes)}
                calls.append({**call, **told, **facts, "reasoning": reasoning_in(reply.private)})
        return calls

    def requests(self, game_id: str, step: int, seat: str) -> list[KeptRequest]:
        """The requests that were made for one ask, in order; none for players that ask no endpoint."""
        where, ask = "WHERE (game_id, step, seat) = (?, ?, ?)", (game_id, step, seat)
        models = [*self._read("replies", "model", where, *ask), *self._read("unanswered", "model", where, *ask), ("",)]
        columns = "request, response_id, served_model, problem, via"
        kept = []
        for number, (request, *answer) in enumerate(
            self._read("attempts", columns, f"{where} ORDER BY place", *ask), 1
        ):
            with guard(self.path):
                try:
                    body = None if request is None else self._requests_kept.read(request)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise BadData(f"{self._where(game_id, step, seat)}: {error}") from error
            kept.append(KeptRequest(number, models[0][0], body, *answer))
        return kept

    def templates(self, digest: str) -> dict[str, str]:
        """The prompt templates kept under a hash, by file name."""
        return dict(self._read("templates", "name, source", "WHERE digest = ? ORDER BY name", digest))

    # Figures

    def planned(self) -> int:
        """The number of games to be played here; 0 for a plan that lists none, such as that of an import."""
        for cells, games in (("groups", "times"), ("cells", "games")):
            listed, each = self.plan.get(cells), self.plan.get(games)
            if isinstance(listed, list) and isinstance(each, int):
                return len(numbers_of(len(listed), each, self.plan.get(PART, ""), bool(self.plan.get("learning"))))
        return 0

    def counts(self) -> dict[str, int]:
        """The number of games that ended, by status."""
        return dict(self._sql("SELECT status, count(*) FROM games GROUP BY status ORDER BY status"))

    def answer_tokens(self) -> dict[str, float]:
        """The mean tokens of an answer, by kind of ask, where endpoints counted some."""
        return dict(self._sql(_ANSWERS))

    def spent(self) -> tuple[int, float]:
        """Tokens (prompts and completions) and money spent on all requests so far; cached ones count nothing."""
        tokens, cost = self._sql(_SPENT)[0]
        return tokens or 0, cost

    def uses(self) -> tuple[dict[str, int], dict[str, int]]:
        """By model, how many replies came, and how many of them could not be used."""
        problem = "json_extract(reply, '$.problem')"
        came = f"FROM replies WHERE {problem} NOT LIKE '{NO_ANSWER}%' GROUP BY model"
        found = self._sql(f"SELECT model, count(*), sum({problem} != '') {came}")
        return {model: all for model, all, _ in found}, {model: bad for model, _, bad in found}

    def totals(self) -> tuple[int, int | None]:
        """The replies of the whole run, and the tokens that were spent on them as `spent` counts them; None where
        nothing counted any.
        """
        (replies,), (tokens, _) = *self._sql("SELECT count(*) FROM replies"), *self._sql(_SPENT)
        return replies, tokens

    def _read(self, table: str, columns: str, where: str = "", *values: Any) -> Iterator[tuple[Any, ...]]:
        self.commit()
        return rows(self._base, self.path, table, columns, where, values)

    def _sql(self, query: str) -> list[tuple[Any, ...]]:
        self.commit()
        with guard(self.path):
            return self._base.execute(query).fetchall()

    def _ids(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query whose first column is a game's id."""
        found = self._sql(query)
        if not all(isinstance(row[0], str) for row in found):
            raise BadData(f"{self.path / JOURNAL_FILE} holds a game whose id is not text; restore it from a copy")
        return found

    def _where(self, game_id: str, step: int | None = None, seat: str = "") -> str:
        ask = "" if step is None else f", step {step}, {plain(seat)}"
        return f"{self.path / JOURNAL_FILE}, game {plain(game_id)}{ask}"

    def _records(self, where: str, *values: Any) -> Iterator[GameRecord]:
        for game_id, status, text in self._read("games", "game_id, status, record", where, *values):
            game = read_record(text, self._where(game_id))
            if (game.game_id, game.status.value) != (game_id, status):
                says = f"the game says that it is {plain(game.game_id)}, {game.status}"
                raise BadData(f"{self._where(game_id)}: {says}")
            yield with_settings(game, self._settings)


def number_in(game_id: str) -> int | None:
    """The number at the end of a game's id."""
    end = game_id.rpartition("-")[2]
    return int(end) if end.isascii() and end.isdigit() else None


def find_game_id(words: str, known: Sequence[str], source: str, kind: str = "") -> str:
    """The id that a user means: an id, the game number at its end, or the beginning of one. source: the name of where
    the games are, after the kind of source in messages.

    Raises UsageError if several match; UnknownName, with the nearest ids, if none does.
    """
    fitting = [words] if words in known else []
    if not fitting and words.isascii() and words.isdigit():
        fitting = [game_id for game_id in known if number_in(game_id) == int(words)]
    if not fitting:
        fitting = [game_id for game_id in known if words and game_id.startswith(words)]
    if len(fitting) > 1:
        some = ", ".join(map(plain, fitting[:5])) + ("…" if len(fitting) > 5 else "")
        raise UsageError(f"{plain(words)} fits {len(fitting)} games of {source}: {some}; give more of the id")
    if not fitting:
        raise _unknown_game(f"{kind}{source}", words, known)
    return fitting[0]


def _unknown_game(source: str, game_id: str, known: Sequence[str]) -> UnknownName:
    near = get_close_matches(game_id, known[:10_000], n=5, cutoff=0.3) or known[:5]
    return UnknownName(f"game in {source}:", game_id, near, others=len(known) - len(near))
