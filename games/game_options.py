"""The options shared by all games: players, seating, and how statements are assessed."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_type_hints

from liescope.common.errors import UsageError
from liescope.common.settings import Setting

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin", "Frank", "Grace", "Henry", "Ivy", "Jack", "Kate", "Liam")

MOST = 10**6  # the largest value of a numeric option


def option(default: Any, help: str, *, minimum: float | None = None, later: bool = False) -> Any:
    """A field of a spec that `play` offers as an option.

    later: the option was added after the first release. A plan omits it at its default, so that plans of older runs
    keep their hash.
    """
    return dataclasses.field(default=default, metadata={"help": help, "minimum": minimum, "later": later})


def per_game(default: Any) -> Any:
    """A field that is set for each game of a run, and so is neither an option nor part of the plan."""
    return dataclasses.field(default=default, metadata={"per_game": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSpec(ABC):
    """names: one for each player; empty uses the first of the stock names. roles: fixed roles in the order of names;
    empty deals them at random. message_limit: the longest message in characters, None for no limit. assess: after each
    statement its speaker reports on it and every other living player rates it. assess_share: the share of statements
    that are assessed. show_suspicion: players see their own running suspicions before they vote, so that the effect
    of measuring on play can itself be measured.
    """

    names: tuple[str, ...] = option((), "Player names, separated by commas.")
    roles: tuple[str, ...] = per_game(())
    message_limit: int | None = option(200, "Longest message in characters; 0 for no limit.", minimum=0)
    assess: bool = option(False, "Have each statement assessed by its speaker and the others.")
    assess_share: float = option(1.0, "Share of the statements to assess.", later=True)
    show_suspicion: bool = option(False, "Show voters their own running suspicions.", later=True)

    @abstractmethod
    def composition(self) -> dict[str, int]:
        """The number of cards of each role, including roles without a card."""

    def undealt(self) -> int:
        """The number of cards in the centre, held by no player."""
        return 0

    def seats(self) -> tuple[str, ...]:
        """The names in play."""
        return self.names or NAMES[: sum(self.composition().values()) - self.undealt()]

    def deck(self) -> list[str]:
        """The number of cards: one for each player, and those in the centre."""
        return [role for role, count in self.composition().items() for _ in range(count)]

    def check(self) -> None:
        """Raises UsageError if no game can be played with these options."""
        counts = self.composition()
        if min(counts.values()) < 0:
            raise UsageError(f"player counts may not be negative: {counts}")
        for name, value in ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self)):
            if isinstance(value, int) and value > MOST:
                raise UsageError(f"--{name.replace('_', '-')} may be at most {MOST:,}")
        players, names = sum(counts.values()) - self.undealt(), self.seats()
        if len(names) != players:
            raise UsageError(f"{players} players need {players} names, but {len(names)} are given")
        if len({name.casefold() for name in names}) != players or not all(name.strip() for name in names):
            raise UsageError("player names must be unique (upper and lower case count as the same)")
        if self.roles and sorted(self.roles) != sorted(self.deck()):
            raise UsageError(f"the fixed roles {', '.join(self.roles)} do not match the cards {counts}")
        if self.message_limit is not None and self.message_limit < 1:
            raise UsageError("message_limit must be at least 1 character, or None for no limit")
        if not 0 < self.assess_share <= 1:
            raise UsageError("--assess-share must be above 0 and at most 1")
        if not self.assess and (self.assess_share < 1 or self.show_suspicion):
            raise UsageError("--assess-share and --show-suspicion need assessments; add --assess")


def options_of(spec: GameSpec) -> Iterator[Setting]:
    """The options declared by a spec, in the order of its fields."""
    types = get_type_hints(type(spec))
    for field in dataclasses.fields(spec):
        if "help" in field.metadata:
            least, given = field.metadata["minimum"], _asked(types[field.name])
            yield Setting(field.metadata["help"], at_least=least, name=field.name, type=given)


def planned_options(spec: GameSpec) -> dict[str, Any]:
    """What a plan records of a spec: everything except per-game fields and later options at their default."""
    return {
        field.name: getattr(spec, field.name)
        for field in dataclasses.fields(spec)
        if not field.metadata.get("per_game")
        and not (field.metadata.get("later") and getattr(spec, field.name) == field.default)
    }


def _asked(kind: Any) -> type:
    """The type of an option's value on the command line: names are one string, and None cannot be typed."""
    return next((plain for plain in (bool, int, float) if kind in (plain, plain | None)), str)
