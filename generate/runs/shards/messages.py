"""Messages between processes: plain JSON data, with bytes as base64, and errors as plain data."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

from liescope.common import errors
from liescope.common.errors import LiescopeError, RunPaused, UsageError

_BYTES = "base64"


def pack(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), default=_plain).encode()


def unpack(data: bytes) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(data, object_hook=_live)
    return message


def _plain(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} is no plain data")


def _live(value: dict[str, Any]) -> Any:
    return b64decode(value[_BYTES]) if value.keys() == {_BYTES} else value


def describe_error(error: LiescopeError) -> list[str]:
    return [type(error).__name__, str(error)]


def make_error(data: list[str]) -> LiescopeError:
    """The error again; one that takes more than a message becomes a plain UsageError."""
    kind, words = data
    found = getattr(errors, kind, None)
    if isinstance(found, type) and issubclass(found, LiescopeError) and "__init__" not in vars(found):
        return found(words)
    return UsageError(words)


def make_pause(data: list[str]) -> RunPaused:
    """The reason why a run is ending."""
    error = make_error(data)
    return error if isinstance(error, RunPaused) else RunPaused(str(error))
