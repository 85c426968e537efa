"""Who heard a statement, and what they had heard before it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

Heard = tuple[frozenset[str], T]
"""What was said, after those who heard it; an empty set stands for everyone at the table."""


def audience_of(heard_by: Collection[str] | None, names: Collection[str]) -> tuple[str, ...]:
    """An audience as the table of statements has it: sorted names, empty if it is everyone at the table."""
    if heard_by is None or set(names) <= set(heard_by):
        return ()
    return tuple(sorted(heard_by))


def known_before(said: Sequence[Heard[T]], audience: frozenset[str], most: int | None = None) -> tuple[T, ...]:
    """What all who hear a statement have heard before it, oldest first: what was said to everyone, and what was said to
    a group that contains this audience.

    said: the earlier statements in order; audience: empty for everyone at the table; most: keep only the last ones.
    """
    known = (what for heard, what in reversed(said) if not heard or (audience and audience <= heard))
    return tuple(islice(known, most))[::-1]
