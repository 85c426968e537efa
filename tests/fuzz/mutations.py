"""Seeded damage to bytes, to the values of JSON data, and to words: the one place of what makes input strange."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from liescope.common.errors import LiescopeError

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 1.5, 2**63, 10**30, 1e308, float("nan"), float("inf")),
    *("", "x", "Alice", "x" * 5000, "9" * 50, "\x00", "\x1b[31m\u202e", "\x1b[2J\x07", "\ud800"),
    *("=1+1|[a](javascript:x)", "../../etc/passwd", "villager"),
    *([], [[]], ["x"], [None], {}, {"": None}, {"a": 1}),
)
ESCAPES = "\x1b\x07\u202e"
INPUTS = {  # how many mutated inputs each reader gets
    "runs": 100,
    "corpora": 120,
    "models": 150,
    "importers": 40,
    "lines of logs": 300,
    "config files": 60,
    "specs": 300,
    "options": 300,
    "replies": 700,
}


def seeds(name: str) -> pytest.MarkDecorator:
    """A fifth of a reader's inputs each time, and the others where there is time for them."""
    some = INPUTS[name] // 5
    parts = [range(some), pytest.param(range(some, INPUTS[name]), marks=pytest.mark.long)]
    return pytest.mark.parametrize("seeds", parts, ids=["some", "the others"])


def damaged_bytes(data: bytes, random: Random) -> bytes:
    """The bytes with one kind of damage: bits flipped, a part cut, doubled or filled with noise, the end missing."""
    if not data:
        return random.randbytes(8)
    start = random.randrange(min(len(data), random.choice([len(data), 4096])))  # what a file begins with, more often
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
    """The data with one place in it gone, renamed, doubled, cut, or holding another place's value or a hostile one."""
    changed = deepcopy(data)
    places = list(_places(changed))
    if not places:
        return random.choice(HOSTILE)
    holder, key = random.choice(places)
    kind = random.random()
    if kind < 0.15:
        del holder[key]
    elif kind < 0.3:
        other, place = random.choice(places)
        holder[key] = deepcopy(other[place])
    elif kind < 0.4 and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif kind < 0.4:
        holder.insert(key, deepcopy(holder[key]))
    elif kind < 0.6 and isinstance(holder[key], str):
        holder[key] = damaged_text(holder[key], random)
    else:
        holder[key] = random.choice(HOSTILE)
    return changed


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in JSON data, as what holds it and its key there."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield data, key
        yield from _places(value)


def damaged_text(text: str, random: Random) -> str:
    """The text with a stretch of it removed, doubled, or replaced by something hostile."""
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice([1, 2, 8]))
    middle = random.choice(
        ["", text[start:end] * 2, str(random.choice(HOSTILE)), random.choice('@?=&:/,;%\0 "'), "You: "]
    )
    return text[:start] + middle + text[end:]


def damage_file(file: Path, random: Random) -> None:
    """Damage a file in place: JSON mostly in its values, everything else in its bytes."""
    data = file.read_bytes()
    if file.suffix == ".json" and random.random() < 0.7:
        file.write_bytes(json_bytes(damaged_json(json.loads(data), random)))
    else:
        file.write_bytes(damaged_bytes(data, random))


def json_bytes(data: Any) -> bytes:
    """As a careless program would write it: NaN and lone surrogates and all."""
    return json.dumps(data, allow_nan=True, ensure_ascii=False).encode("utf-8", "surrogatepass")


def tried(read: Callable[[], object]) -> str:
    """Whether a reader took its input or refused it with one line."""
    try:
        read()
    except LiescopeError as error:
        said(error)
        return "refused"
    return "read"


def said(error: LiescopeError) -> str:
    """What an error says, which is one line without escapes, as a test expects it."""
    words = str(error)
    assert not {*words} & {*ESCAPES, "\n"}, words
    return f"{type(error).__name__}: {words}"
