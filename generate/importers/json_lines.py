"""The JSON objects in a JSON Lines file; any other line is rejected with a reason."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from liescope.generate.importers.lines import Line, read_lines
from liescope.generate.importers.protocol import Rejected

DEEPEST = 40
_LARGEST = 1 << 63


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | Rejected]]:
    """Each line that is not blank, with its number. Raises OSError if the file cannot be opened."""
    return objects_of(read_lines(path), path.name)


def objects_of(lines: Iterable[Line], file: str) -> Iterator[tuple[int, dict[str, Any] | Rejected]]:
    """The objects on the lines of a file, as `read_objects` has them."""
    for line in lines:
        if line.problem:
            yield line.number, Rejected(file, line.number, "", line.problem)
            continue
        try:
            entry = json.loads(line.text, parse_constant=_no_number)
            problem = "" if isinstance(entry, dict) else "JSON, but not an object"
            problem = problem or _problem(entry)
        except RecursionError:
            entry, problem = None, f"not JSON: nested deeper than {DEEPEST} levels"
        except ValueError as error:
            entry, problem = None, f"not JSON: {error}"
        yield line.number, Rejected(file, line.number, "", problem) if problem else entry


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _problem(entry: Any) -> str:
    """Why a value cannot be kept as plain data; "" if it can."""
    level = [entry]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            elif isinstance(value, float):
                if not math.isfinite(value):
                    return "holds a number that is too large"
            elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
                return "holds a number that is too large"
        if not below:
            return ""
        level = below
    return f"nested deeper than {DEEPEST} levels"
