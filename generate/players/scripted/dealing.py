"""The roles a player names when asked for every player's role: no more of each than the table holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class Dealing:
    """Roles given to names one after the other. counts: how many of each role are left to give."""

    def __init__(self, counts: Mapping[str, int], own: str, names: Sequence[str]) -> None:
        self._left = {**counts, own: counts.get(own, 0) - 1}
        self._names = names
        self._given: dict[str, str] = {}

    def give(self, role: str, names: Iterable[str]) -> None:
        """Give the role to the first names without one, as long as any of the role are left."""
        for name in names:
            if name in self._names and name not in self._given and self._left.get(role, 0) > 0:
                self._given[name] = role
                self._left[role] -= 1

    def form(self, rest: str) -> dict[str, tuple[str, ...]]:
        """The role of each name, `rest` for those without one."""
        return {name: (self._given.get(name, rest),) for name in self._names}
