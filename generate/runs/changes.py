"""What differs between the plan in a run folder and the one asked for now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from liescope.common.errors import PlanChanged
from liescope.common.text import plain

_SHOWN = 8  # differences
_LONGEST = 60  # characters of a value that is shown in full
_AROUND = 20  # characters shown before the first difference of two longer values
_FOLLOWS = {  # the settings that each derived setting depends on; a change in these explains a change in it
    "cells": ("players", "design", "learning", "options"),
    "learning": ("players", "design"),
    "templates": ("prompts",),
    "origin": ("judged",),
}


def check_unchanged(old: Mapping[str, Any], new: Mapping[str, Any], where: Path) -> None:
    """Raise PlanChanged, naming the differences, if a run folder holds a different plan. Both are plain JSON data.

    A setting derived from others is left out if one of those differs.
    """
    found = list(_differences(old, new))
    changed = {name.partition(".")[0] for name, _, _ in found}
    changes = [
        f"{plain(name)} {' -> '.join(_shown(before, after))}"
        for name, before, after in found
        if changed.isdisjoint(_FOLLOWS.get(name, ()))
    ]
    if changes:
        more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
        options = "option" if len(changes) == 1 else "options"
        raise PlanChanged(
            f"{where} holds a run with another plan (in the folder -> asked for now): "
            f"{'; '.join(changes[:_SHOWN])}{more}. Give the old {options} to go on with it, or another --out for a "
            "new run"
        )


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            yield f"{prefix}{name}", before, after


def _shown(before: Any, after: Any) -> tuple[str, str]:
    """Two values that differ, each shortened for reading, with the difference visible."""
    if isinstance(before, list) and isinstance(after, list) and len(_json(before)) + len(_json(after)) > _LONGEST:
        gone = [item for item in before if item not in after]
        come = [item for item in after if item not in before]
        if gone or come:
            return _some(gone, len(before)), _some(come, len(after))
        if len(before) == len(after):
            place = next(place for place, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])
            one, other = _shown(before[place], after[place])
            return f"{one} as number {place + 1}", other
        return f"{len(before)} of them", f"{len(after)} of them"
    one, other = _json(before), _json(after)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    skipped = max(0, alike - _AROUND) if max(len(one), len(other)) > _LONGEST else 0
    return _window(one, skipped), _window(other, skipped)


def _some(items: list[Any], total: int) -> str:
    """The items that only one of two long lists has."""
    shown = ", ".join(_window(_json(item), 0) for item in items[:2])
    more = f" and {len(items) - 2} more" if len(items) > 2 else ""
    return f"{shown}{more} (of {total})" if items else f"none of it (of {total})"


def _window(text: str, start: int) -> str:
    part = text[start : start + _LONGEST]
    return f"{'…' if start else ''}{part}{'…' if start + _LONGEST < len(text) else ''}"


def _json(value: Any) -> str:
    return plain(json.dumps(value, ensure_ascii=False))
