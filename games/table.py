"""The options that every game has: who sits at the table, and how their statements are assessed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from liescope.common.errors import UsageError

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin", "Frank", "Grace", "Henry", "Ivy", "Jack", "Kate", "Liam")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec(ABC):
    """names: as many as there are roles, empty for the first of the stock names. roles: fixed roles in the order of
    names, empty to draw them. message_limit: characters kept of a message, None for no limit. assess: after a statement
    its speaker reports on it and every other living player rates it. assess_share: the share of statements that this
    is done for, drawn for each one. show_suspicion: before voting, a player is shown its own running suspicions, so
    that the effect of measuring on play can itself be measured.
    """

    names: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    message_limit: int | None = 200
    assess: bool = False
    assess_share: float = 1.0
    show_suspicion: bool = False

    @abstractmethod
    def composition(self) -> dict[str, int]:
        """How many players hold each role, roles that nobody holds included."""

    def seats(self) -> tuple[str, ...]:
        """The names in play."""
        return self.names or NAMES[: sum(self.composition().values())]

    def deck(self) -> list[str]:
        """The roles to deal, one for each player."""
        return [role for role, count in self.composition().items() for _ in range(count)]

    def check(self) -> None:
        """Raises UsageError for a table that cannot be played."""
        counts = self.composition()
        if min(counts.values()) < 0:
            raise UsageError(f"no count of players may be negative: {counts}")
        count, names = sum(counts.values()), self.seats()
        if len(names) != count:
            raise UsageError(f"{count} roles need {count} names; {len(names)} are given")
        if len({name.casefold() for name in names}) != count or not all(name.strip() for name in names):
            raise UsageError("every player needs a name of its own (upper and lower case count as the same)")
        if self.roles and sorted(self.roles) != sorted(self.deck()):
            raise UsageError(f"the fixed roles {', '.join(self.roles)} do not match the table {counts}")
        if self.message_limit is not None and self.message_limit < 1:
            raise UsageError("message_limit must be at least 1 character, or none")
        if not 0 < self.assess_share <= 1:
            raise UsageError("the share of statements that are assessed lies above 0 and at most at 1")
        if not self.assess and (self.assess_share < 1 or self.show_suspicion):
            raise UsageError("a share of assessed statements, and suspicions to show, need assessments: add --assess")
