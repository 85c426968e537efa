"""What a server says of a batch, and the lines of its output, read without trusting their shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from liescope.generate.players.openai.completion import error_message
from liescope.generate.players.openai.wire import Response

COMPLETED, FAILED, EXPIRED, CANCELLED = "completed", "failed", "expired", "cancelled"
ENDED = frozenset({COMPLETED, FAILED, EXPIRED, CANCELLED})
_LONGEST_ID = 512


@dataclass(frozen=True, slots=True)
class BatchState:
    """status: in lower case, as in OpenAI's protocol ("in_progress", "completed"…); input_file: the file it was made
    of; files: of answers and of errors, as far as there are any; completed, failed, total: requests; full: it failed
    because as much is waiting as the account may have; error: why it failed, on one line.
    """

    id: str
    status: str
    input_file: str = ""
    files: tuple[str, ...] = ()
    completed: int = 0
    failed: int = 0
    total: int = 0
    full: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a batch's output. answer: the response to the request, or why there is none."""

    key: str
    answer: Response | str


def read_id(text: str) -> str:
    """The id of a file that was sent. Raises ValueError if there is none."""
    return _id(_object(text).get("id"))


def read_batch(text: str) -> BatchState:
    """Raises ValueError for what is no batch."""
    return _batch(_object(text))


def read_batches(text: str) -> tuple[list[BatchState], bool]:
    """One page of a list of batches, and whether there are more. Raises ValueError for what is none."""
    data = _object(text)
    found = data.get("data")
    if not isinstance(found, list):
        raise ValueError("the list of batches has another shape")
    return [_batch(one) for one in found if isinstance(one, Mapping)], data.get("has_more") is True


def read_row(line: bytes) -> Row | None:
    """None for a line that belongs to no request."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    key = data.get("custom_id") if isinstance(data, Mapping) else None
    if not isinstance(key, str):
        return None
    response = data.get("response")
    status = response.get("status_code") if isinstance(response, Mapping) else None
    if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
        body = response.get("body")
        return Row(key, Response(status, {}, body if isinstance(body, str) else json.dumps(body)))
    error = data.get("error")
    return Row(key, error_message(json.dumps({"error": error})) if error else "the batch holds no answer to it")


def _batch(data: Mapping[str, Any]) -> BatchState:
    counts, errors = data.get("request_counts"), data.get("errors")
    counts = counts if isinstance(counts, Mapping) else {}
    listed = errors.get("data") if isinstance(errors, Mapping) else errors
    first = listed[0] if isinstance(listed, list) and listed else None
    code = first.get("code") if isinstance(first, Mapping) else None
    words = "" if first is None else error_message(json.dumps({"error": first}))
    files = [data.get(name) for name in ("output_file_id", "error_file_id")]
    return BatchState(
        id=_id(data.get("id")),
        status=str(data.get("status")).lower(),
        input_file=str(data.get("input_file_id") or ""),
        files=tuple(_id(name) for name in files if name),
        completed=_count(counts.get("completed")),
        failed=_count(counts.get("failed")),
        total=_count(counts.get("total")),
        full=code == "token_limit_exceeded" or words.startswith("Enqueued token limit"),
        error=words,
    )


def _object(text: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, Mapping):
        raise ValueError("the response is no JSON object")
    return data


def _id(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_ID:
        raise ValueError("the response holds no id")
    return value


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
