"""The plan of continuations: which moment of which game goes on, who plays from there, and how often."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData
from liescope.generate.runs.folder import PLAN_FILE

KEY = "fork"  # the key that only a plan of this kind has


class Group(BaseModel):
    """One intervention at the moment. player: the spec that plays the seat from there on; say: what the seat says at
    that moment, None if its player decides; label: in words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    player: str
    say: str | None = None


@dataclass(frozen=True, slots=True)
class Continuation:
    """One planned continuation. number: its place in the run; turn: its number in its group, from 0; seed: of its
    random draws, the same for the same turn of every group.
    """

    number: int
    game_id: str
    group: Group
    turn: int
    seed: int


class ForkPlan(BaseModel):
    """fork: the run's name; origin: a hash of its plan; of: the recorded game; root: the game played from its start
    that it goes back to; step: where it is continued; moment: the hash of the `Moment`; game: the name of the game;
    seat: who is played anew; groups; others: the specs of the other seats; times: continuations in each group; options,
    prompts, seating, templates: as in `Plan`; learning: whether the learner learns; files: the texts of files that
    specs name; people: who had spoken from a seat before the moment, by seat, where that was a person.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fork: str
    origin: str
    of: str
    root: str
    step: int = Field(ge=0)
    moment: str
    game: str
    seat: str
    groups: tuple[Group, ...] = Field(min_length=1)
    others: dict[str, str]
    times: int = Field(ge=1, le=1_000_000)
    seed: int
    options: dict[str, Any]
    prompts: str
    seating: str
    templates: str
    learning: bool = False
    files: dict[str, str] = Field(default_factory=dict)
    terms: dict[str, Any] = Field(default_factory=dict)
    game_texts: dict[str, str] = Field(default_factory=dict)
    people: dict[str, str] = Field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True) | {"groups": [g.model_dump() for g in self.groups]}

    @cached_property
    def hash(self) -> str:
        """A hash of everything in the plan, 64 hexadecimal digits."""
        return sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.groups) * self.times

    @property
    def players(self) -> tuple[str, ...]:
        """Every spec that the continuations need, once."""
        return tuple(dict.fromkeys([*(group.player for group in self.groups), *self.others.values()]))

    def planned(self, number: int) -> Continuation:
        """The continuation with this number, from 0. Groups take turns: a run stopped early has some of each."""
        turn, place = divmod(number, len(self.groups))
        parts = json.dumps([self.seed, self.root, self.of, self.step, turn]).encode()
        seed = int.from_bytes(sha256(parts).digest()[:6], "big")
        return Continuation(number, f"{self.hash[:8]}-{number:06d}", self.groups[place], turn, seed)

    def seats(self, group: Group) -> dict[str, str]:
        """The spec of each seat in a group."""
        return {self.seat: group.player, **self.others}


def read_fork_plan(data: Mapping[str, Any], where: Path) -> ForkPlan:
    """The plan in a run folder. Raises BadData if it is not one of continuations."""
    try:
        plan = ForkPlan.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        why = f"{place}: {first['msg']}"
        raise BadData(f"{where} holds no plan of continuations ({why}); restore {PLAN_FILE}") from None
    return plan
