"""The parts of runs, found among folders of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from liescope.common.errors import UsageError
from liescope.common.parts import Part
from liescope.generate.runs.run_folder import PART, plan_changes, read_head
from liescope.generate.runs.run_plan import hash_of

_NAMED = 5  # missing parts


def joined(runs: Iterable[Path], partial: bool) -> list[Path | Sequence[Path]]:
    """The runs in their order, with the parts of one run together where the first of them stands. partial: some may be
    missing.

    Raises UsageError for a part that comes twice, for parts of different plans or divisions, and for a missing part.
    """
    found: list[Path | Sequence[Path]] = []
    wholes: dict[str, tuple[Mapping[str, Any], dict[Part, Path]]] = {}
    for run in runs:
        plan: Mapping[str, Any] = read_head(run)["plan"]
        if PART not in plan:
            found.append(run)
            continue
        part, key = Part.read(plan[PART]), hash_of(plan)
        _, parts = wholes.setdefault(key, (plan, {}))
        for other, path in parts.items():
            if other == part or other.of != part.of:
                why = "leave one out" if other == part else "join the parts of one division"
                raise UsageError(f"{path} is part {other} of a run, and {run} is part {part} of the same; {why}")
        parts[part] = run
    for key, (plan, parts) in wholes.items():
        others = [whole for other, whole in wholes.items() if other != key]
        _check_complete(plan, parts, others, partial)
        found.append([parts[part] for part in sorted(parts)])
    return found


def _check_complete(
    plan: Mapping[str, Any],
    parts: Mapping[Part, Path],
    others: Sequence[tuple[Mapping[str, Any], Mapping[Part, Path]]],
    partial: bool,
) -> None:
    (of,), path = {part.of for part in parts}, next(iter(parts.values()))
    missing = [f"{number}/{of}" for number in range(1, of + 1) if Part(number, of) not in parts]
    if missing and others:
        other, there = others[0]
        changes = "; ".join(plan_changes(plan, {**other, PART: plan[PART]}))
        raise UsageError(
            f"{path} and {next(iter(there.values()))} are parts of different plans ({changes}), and {missing[0]} of "
            "the first is missing; build each plan from its own parts"
        )
    if missing and not partial:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise UsageError(
            f"{path} is a part of a run of which {', '.join(missing[:_NAMED])}{more} are not here; give all parts, or "
            "add --partial to build without them"
        )
