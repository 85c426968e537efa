"""The requests of a run, stored compactly: each line of text once, and for a prompt only what its seat's last one
lacks.

A prompt is a list of lines. Lines are stored in `texts` under their hash. A prompt is stored in `prompts` under a hash
of its whole text: the prompt whose beginning it shares, how many lines they share, and its own lines after those. Both
hashes are checked when a prompt is read, so that a changed row is detected.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

_KNOWN = 1 << 16  # texts remembered as already written, so that most lines need no SQL statement
_KNOWN_LINES, _KNOWN_PROMPTS = 1024, 256  # kept in memory by a reader


class RequestStore:
    """The rows to write for the requests of one process: `texts` and `prompts` hold those still pending."""

    def __init__(self) -> None:
        self.texts: list[tuple[int, str]] = []
        self.prompts: list[tuple[int, int | None, int, bytes]] = []
        # By game; by seat, "" for any, and the message's place in a request.
        self._last: dict[str, dict[tuple[str, int], tuple[int, list[int]]]] = {}
        self._written: dict[int, None] = {}

    def keep(self, game: str, seat: str, request: Mapping[str, Any]) -> tuple[int, bytes]:
        """Take in the body of a request; returns the stored names of its parameters and of its messages' texts."""
        messages = [dict(message) for message in request.get("messages", ())]
        prompts = []
        for place, message in enumerate(messages):
            if isinstance(text := message.get("content"), str):
                message["content"] = None
                prompts.append(self._prompt(game, seat, place, escaped(text)))
        rest = {**request, "messages": messages}
        parameters = json.dumps(rest, separators=(",", ":"))
        return self._text(parameters, name_of(parameters)), array("q", prompts).tobytes()

    def forget(self, game: str) -> None:
        """Forget a game that ended, since no later prompt will share the beginning of its prompts."""
        self._last.pop(game, None)

    def _text(self, text: str, name: int) -> int:
        if name not in self._written:
            if len(self._written) >= _KNOWN:
                self._written.pop(next(iter(self._written)))
            self._written[name] = None
            self.texts.append((name, text))
        return name

    def _prompt(self, game: str, seat: str, place: int, text: str) -> int:
        name = name_of(text)
        last, own, any_seat = self._last.setdefault(game, {}), (seat, place), ("", place)
        lines = [self._text(line, _line_name(line)) for line in text.split("\n")]
        nearest = (last[key] for key in (own, any_seat) if key in last)
        near = [(_shared(before, lines), parent) for parent, before in nearest]
        shared, parent = max(near, default=(0, None), key=lambda one: one[0])
        if parent != name:
            tail = array("q", lines[shared:]).tobytes()
            self.prompts.append((name, parent if shared else None, shared, tail))
        last[own] = last[any_seat] = name, lines
        return name


def _shared(one: list[int], other: list[int]) -> int:
    """The number of lines that two prompts share at the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class RequestReader:
    """The requests of a run, read back. The lines and beginnings that prompts share are read once while they are in
    use, as everything is named by a hash of its contents.
    """

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._text = lru_cache(maxsize=_KNOWN_LINES)(self._read_text)
        self._lines: dict[int, list[int]] = {}  # of the prompts read last

    def read(self, parameters: int, prompts: bytes) -> dict[str, Any]:
        """The body of a request as it was sent. Raises ValueError if what was kept is damaged."""
        body: dict[str, Any] = json.loads(self._read_text(parameters))
        names = iter(_numbers(prompts))
        for message in body["messages"]:
            if message.get("content") is None and (name := next(names, None)) is not None:
                message["content"] = self._prompt(name)
        return body

    def _prompt(self, name: int) -> str:
        tails: list[tuple[int, int, array[int]]] = []
        seen: set[int] = set()
        at: int | None = name
        while at is not None and at not in self._lines:
            row = self._base.execute("SELECT parent, shared, tail FROM prompts WHERE id = ?", (at,)).fetchone()
            if row is None or at in seen:
                raise ValueError("a prompt that a request names is missing")
            seen.add(at)
            parent, shared, tail = row
            tails.append((at, shared, _numbers(tail)))
            at = parent
        lines = [] if at is None else self._lines[at]
        for part, shared, tail in reversed(tails):
            lines = [*lines[:shared], *tail]
            self._remember(part, lines)
        text = "\n".join(map(self._text, lines))
        if name_of(text) != name:
            raise ValueError("a prompt is not what was written")
        return text

    def _remember(self, name: int, lines: list[int]) -> None:
        if len(self._lines) >= _KNOWN_PROMPTS:
            self._lines.pop(next(iter(self._lines)))
        self._lines[name] = lines

    def _read_text(self, name: int) -> str:
        row = self._base.execute("SELECT text FROM texts WHERE id = ?", (name,)).fetchone()
        if row is None or not isinstance(row[0], str) or name_of(row[0]) != name:
            raise ValueError("a text that a request names is missing or not what was written")
        return row[0]


def _numbers(data: Any) -> array[int]:
    if not isinstance(data, bytes) or len(data) % 8:
        raise ValueError("a list of texts is not what was written")
    return array("q", data)


def name_of(text: str) -> int:
    """The name that a text is stored under: 64 bits of its BLAKE2b hash, as a signed SQLite integer."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


_line_name = lru_cache(maxsize=_KNOWN)(name_of)  # for lines only: whole prompts are long and seldom repeat


def escaped(text: str) -> str:
    """The text with lone surrogates written as escapes, since SQLite takes only valid UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
