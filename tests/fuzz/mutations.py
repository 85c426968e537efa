"""Seeded damage: to bytes, to the values of JSON data, and to words."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x" * 5000,
    "\x1b[31m\u202e",
    "\ud800",
    "=1+1|[a](javascript:x)",
    "../../etc/passwd",
    [],
    [[]],
    {},
    {"": None},
)


def damaged_bytes(data: bytes, random: Random) -> bytes:
    """The bytes with one kind of damage: bits flipped, a part cut, doubled or filled with noise, the end missing."""
    if not data:
        return random.randbytes(8)
    start = random.randrange(len(data))
    end = min(len(data), start + random.choice([1, 4, 64, 4096]))
    kind = random.randrange(5)
    if kind == 0:
        flipped = bytearray(data)
        for _ in range(random.choice([1, 3, 20])):
            flipped[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return bytes(flipped)
    if kind == 1:
        return data[:start]
    if kind == 2:
        return data[:start] + data[end:]
    if kind == 3:
        return data[:end] + data[start:]
    return data[:start] + random.randbytes(end - start) + data[end:]


def damaged_json(data: Any, random: Random) -> Any:
    """The data with one value, somewhere in it, replaced, removed, renamed or doubled."""
    changed = deepcopy(data)
    places: list[tuple[Any, Any]] = []
    _collect(changed, places)
    if not places:
        return random.choice(HOSTILE)
    holder, key = random.choice(places)
    kind = random.randrange(4)
    if kind == 0 and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif kind == 1:
        del holder[key]
    elif kind == 2 and isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[key] = random.choice(HOSTILE)
    return changed


def _collect(data: Any, places: list[tuple[Any, Any]]) -> None:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        places.append((data, key))
        _collect(value, places)


def damaged_text(text: str, random: Random) -> str:
    """The text with a stretch of it removed, doubled, or replaced by something hostile."""
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice([1, 2, 8]))
    hostile = str(random.choice(HOSTILE))
    middle = random.choice(["", text[start:end] * 2, hostile, random.choice("@?=&:/,;%\0 ")])
    return text[:start] + middle + text[end:]


def json_bytes(data: Any) -> bytes:
    """As a careless program would write it: NaN and lone surrogates and all."""
    return json.dumps(data, allow_nan=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
