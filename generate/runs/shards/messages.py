"""Messages between a run and its workers: plain JSON data, with bytes as base64."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

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
