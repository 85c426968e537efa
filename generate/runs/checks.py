"""Games and replies from a journal, checked as they are read, since a journal may come from anyone."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from liescope.common.errors import BadData
from liescope.common.text import plain
from liescope.games.checks import NotARecord, check_record, check_reply
from liescope.games.core import Reply
from liescope.games.record import GameRecord, record_from_json, reply_from_json
from liescope.labeling.taxonomy import DeceptionType

_LONGEST = 160  # characters of an error shown
_TYPES = frozenset({None, *(kind.value for kind in DeceptionType)})
_FAULTS = (KeyError, TypeError, ValueError, AttributeError, RecursionError)  # raised by JSON of the wrong shape


def read_record(text: str, where: str) -> GameRecord:
    """The game that a journal holds as JSON. where: the file and the game, for messages.

    Raises BadData if it is not a game: wrong types, names without a seat, events out of place, missing facts.
    """
    try:
        game = record_from_json(_whole(_read(text), text))
        check_record(game)
    except _FAULTS as error:
        raise BadData(f"{where} is no game of this format: {_short(error)}") from None
    return game


def read_kept_reply(text: str, raw: str, where: str) -> Reply:
    """The reply that a journal holds as JSON. where: the file, the game and the ask, for messages.

    Raises BadData if it is not a reply.
    """
    try:
        reply = reply_from_json(_read(text), raw)
        check_reply(reply)
        if reply.assessment is not None and reply.assessment.type not in _TYPES:
            raise NotARecord(f"there is no deception type {reply.assessment.type!r}")
    except _FAULTS as error:
        raise BadData(f"{where} is no reply of this format: {_short(error)}") from None
    return reply


def _read(text: str) -> Any:
    return _DECODER.decode(text)


def _whole(data: Any, text: str) -> Any:
    """The data with lone surrogates replaced by U+FFFD, because no table can hold them."""
    if "\\ud" not in text and "\\uD" not in text:
        return data
    return json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass").decode("utf-8", "replace"))


def _no_number(word: str) -> NoReturn:
    """Reject NaN and Infinity: they are not valid JSON, although Python's reader accepts them."""
    raise NotARecord(f"{word} is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def _short(error: Exception) -> str:
    words = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    line = " ".join(plain(words).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
