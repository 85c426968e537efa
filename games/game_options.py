"""The options shared by all games: players, seating, and how statements are assessed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field

from liescope.common.errors import UsageError
from liescope.common.settings import Option, OptionsModel
from liescope.common.text import look_alikes, look_of, plain

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin", "Frank", "Grace", "Henry", "Ivy", "Jack", "Kate", "Liam")

MOST = 10**6  # the largest value of a numeric option


def _names(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    return tuple(map(str.strip, given.split(","))) if given.strip() else ()


LATER = Option(later=True)
Names = Annotated[tuple[str, ...], BeforeValidator(_names), Option(typed=str)]
"""Names; typed, they are one text, separated by commas."""


def check_names(names: Sequence[str]) -> None:
    """Raises UsageError for an empty name, and for two that look alike."""
    if not all(map(look_of, names)):
        raise UsageError("a player's name is empty; give each player a name of at least one letter")
    if alike := look_alikes(names):
        one, other = (plain(name) for name in alike)
        raise UsageError(
            f"player names must look different, but {one} and {other} are alike (case, alphabet and marks that "
            "nobody sees do not count); rename one of them"
        )


class GameSpec(OptionsModel, ABC):
    """How a game is set up. A field with a description is an option of `play`; an excluded one is set for each game of
    a run, and so is not part of the plan.

    names: one for each player; empty uses the first of the stock names. roles: fixed roles in the order of names;
    empty deals them at random. message_limit: the longest message in characters, None for no limit. assess: after each
    statement its speaker reports on it and every other living player rates it. assess_share: the share of statements
    that are assessed.
    """

    names: Names = Field(default=(), description="Names, separated by commas, or a CSV with the column name.")
    roles: tuple[str, ...] = Field(default=(), exclude=True)
    message_limit: Annotated[int | None, BeforeValidator(lambda given: given or None)] = Field(
        default=200, ge=0, description="Longest message in characters; 0 for no limit."
    )
    assess: bool = Field(default=False, description="Have each statement assessed by its speaker and the others.")
    assess_share: Annotated[float, LATER] = Field(
        default=1.0, gt=0, le=1, description="Share of the statements to assess."
    )

    def replaced(self, **changed: Any) -> Self:
        """The spec with other values. Raises UsageError, UnknownName."""
        return self.of({**dict(self), **changed})

    def planned(self) -> dict[str, Any]:
        """What a plan records: everything that is not set for each game; later options only if used."""
        plain = self.model_dump(mode="json")
        return {name: value for name, value in plain.items() if not self._left_out(name)}

    def _left_out(self, name: str) -> bool:
        field = type(self).model_fields[name]
        return LATER in field.metadata and getattr(self, name) == field.default

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
        for name, value in self:
            if isinstance(value, int) and value > MOST:
                raise UsageError(f"--{name.replace('_', '-')} may be at most {MOST:,}")
        players, names = sum(counts.values()) - self.undealt(), self.seats()
        if len(names) != players:
            file = ", as only play draws names from a file" if names[-1].endswith(".csv") else ""
            raise UsageError(f"{players} players need {players} names, but {len(names)} are given{file}")
        check_names(names)
        if self.roles and sorted(self.roles) != sorted(self.deck()):
            raise UsageError(f"the fixed roles {', '.join(self.roles)} do not match the cards {counts}")
        if self.assess_share < 1 and not self.assess:
            raise UsageError("--assess-share needs assessments; add --assess")


class BallotSpec(GameSpec):
    """How a game with ballots is set up.

    show_suspicion: players see their own running suspicions before they vote, so that the effect of measuring on play
    can be measured too. second_order: before each ballot every living player says whom each other one suspects most.
    """

    show_suspicion: Annotated[bool, LATER] = Field(
        default=False, description="Show voters their own running suspicions."
    )
    second_order: Annotated[bool, LATER] = Field(
        default=False, description="Ask all before each vote whom each other player suspects most."
    )

    def check(self) -> None:
        """Raises UsageError if no game can be played with these options."""
        super().check()
        if self.show_suspicion and not self.assess:
            raise UsageError("--show-suspicion needs assessments; add --assess")
