"""What differs between the plan in a run folder and the one asked for now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from liescope.common.errors import PlanChanged

_SHOWN = 8


def check_unchanged(old: Mapping[str, Any], new: Mapping[str, Any], where: Path) -> None:
    """Raises PlanChanged, naming the differences, where a run folder holds another plan. Both are plain JSON data."""
    changes = [f"{name} {_short(before)} -> {_short(after)}" for name, before, after in _differences(old, new)]
    if changes:
        more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
        raise PlanChanged(
            f"{where} holds a run with another plan (in the folder -> asked for now): "
            f"{'; '.join(changes[:_SHOWN])}{more}. Give the old options to go on with it, or another --out for a new "
            "run"
        )


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            yield f"{prefix}{name}", before, after


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 4:
        return f"({len(value)} of them, {sha256(json.dumps(value).encode()).hexdigest()[:6]})"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"
