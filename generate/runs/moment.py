"""A moment of a recorded game, complete in itself, and the plan of its continuations: from it the game goes on, without
the run that it comes from.

A game is a function of its options, its seed and the replies, so a moment is these: how the game was made, every reply
before the moment, and where an earlier continuation began (with an id and random draws of its own). A run of
continuations keeps it in its journal, as one text under the hash that its plan names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData, LiescopeError
from liescope.common.text import plain
from liescope.games.checks import NotARecord, check_reply
from liescope.games.core import Lesson, LessonKind, Reply
from liescope.games.record import reply_from_json, reply_to_json
from liescope.games.registry import find_game
from liescope.games.session import Session, branch
from liescope.generate.runs.journal_reader import number_in
from liescope.generate.runs.plan import Group, PlannedGame, RunPlan

FILE = "moment.json"
MOST_CONTINUATIONS = 1_000_000  # of each group


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a game became one of its own: before the replies of this step."""

    step: int
    game_id: str
    seed: int


class _Made(BaseModel):
    """How a game was made. lessons: (kind, text) of what its learner knew."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: str
    game_id: str
    seed: int
    options: dict[str, Any]
    names: tuple[str, ...]
    roles: tuple[str, ...]
    learning: bool = False
    lessons: tuple[tuple[str, str], ...] = ()


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid")

    made: _Made
    replies: list[list[dict[str, Any]]]
    branches: list[Branch]


@dataclass(frozen=True)
class Moment:
    """made: how the game was made; replies: the batches before the moment; branches: by earlier continuations."""

    made: _Made
    replies: tuple[tuple[Reply, ...], ...]
    branches: tuple[Branch, ...] = ()

    @property
    def step(self) -> int:
        """The step that comes next."""
        return len(self.replies)

    def session(self) -> Session:
        """The game at this moment, replayed at no cost. Raises BadData if the replies do not fit the rules."""
        made = self.made
        try:
            game = find_game(made.game)
            spec = replace(game.restore(made.options), names=made.names, roles=made.roles)
            if made.learning or made.lessons:
                lessons = tuple(Lesson(LessonKind(kind), text) for kind, text in made.lessons)
                learned: dict[str, Any] = {"learning": made.learning, "lessons": lessons}
                spec = replace(spec, **learned)
            session = Session(game.make(spec, made.seed, made.game_id))
            for step, batch in enumerate(self.replies):
                self._branch(session, step)
                session.send(batch)
            self._branch(session, self.step)
        except (LiescopeError, TypeError, ValueError, KeyError, AttributeError) as error:
            raise BadData(f"the recorded moment makes no game ({plain(str(error))}); restore its run") from None
        return session

    def then(self, replies: tuple[tuple[Reply, ...], ...], branches: tuple[Branch, ...] = ()) -> Moment:
        """A later moment of a continuation of this one."""
        return Moment(self.made, (*self.replies, *replies), (*self.branches, *branches))

    def _branch(self, session: Session, step: int) -> None:
        for one in self.branches:
            if one.step == step:
                branch(session, one.game_id, one.seed)

    @cached_property
    def text(self) -> str:
        """As JSON, for the journal of a run."""
        data = {
            "made": self.made.model_dump(mode="json"),
            "replies": [[reply_to_json(reply) for reply in batch] for batch in self.replies],
            "branches": [asdict(one) for one in self.branches],
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    @property
    def hash(self) -> str:
        """16 hexadecimal digits."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def made(game: str, game_id: str, seed: int, options: Mapping[str, Any], **dealt: Any) -> Moment:
    """The beginning of a game. dealt: its names, roles, learning and lessons."""
    return Moment(_Made(game=game, game_id=game_id, seed=seed, options=dict(options), **dealt), ())


def read_moment(text: str, where: object) -> Moment:
    """The moment in a text of a journal. Raises BadData if it is none."""
    try:
        written = _Written.model_validate_json(text)
        replies = tuple(tuple(map(reply_from_json, batch)) for batch in written.replies)
        for batch in replies:
            for reply in batch:
                check_reply(reply)
    except (ValidationError, NotARecord, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        line = " ".join(plain(str(error)).split())[:160]
        raise BadData(f"{where} holds no moment of a recorded game ({line}); restore the run from a copy") from None
    return Moment(written.made, replies, tuple(written.branches))


class ForkPlan(RunPlan):
    """Continuations of a moment. fork: the run's name; origin: a hash of its plan; of: the recorded game; root: the
    game played from its start that it goes back to; step: where it is continued; moment: the hash of the `Moment`;
    seat: who is played anew; groups; others: the specs of the other seats; times: continuations in each group; options,
    prompts, seating: as in `Plan`; learning: whether the learner learns; people: who had spoken from a seat before the
    moment, by seat, where that was a person.
    """

    KEY = "fork"
    GAMES = "continuations"

    fork: str
    origin: str
    of: str
    root: str
    step: int = Field(ge=0)
    moment: str
    seat: str
    groups: tuple[Group, ...] = Field(min_length=1)
    others: dict[str, str]
    times: int = Field(ge=1, le=MOST_CONTINUATIONS)
    seed: int
    options: dict[str, Any]
    prompts: str
    seating: str
    learning: bool = False
    terms: dict[str, Any] = Field(default_factory=dict)
    game_texts: dict[str, str] = Field(default_factory=dict)
    people: dict[str, str] = Field(default_factory=dict)

    @property
    def specs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(group.player for group in self.groups), *self.others.values()]))

    def __len__(self) -> int:
        return len(self.groups) * self.times

    def planned(self, number: int) -> PlannedGame:
        """The continuation with this number, from 0. Those of one turn draw the same in every group; groups take turns,
        so that a run stopped early has some of each.
        """
        turn, place = divmod(number, len(self.groups))
        parts = json.dumps([self.seed, self.root, self.of, self.step, turn]).encode()
        seed = int.from_bytes(sha256(parts).digest()[:6], "big")
        return PlannedGame(number, self.game_id(number), turn=turn, seed=seed, group=self.groups[place])

    def seats(self, planned: PlannedGame, roles: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        return self.cast(planned)

    def cast(self, planned: PlannedGame) -> dict[str, str]:
        """The spec of each seat in a continuation."""
        assert planned.group is not None
        return {self.seat: planned.group.player, **self.others}

    def specs_of(self, planned: PlannedGame) -> tuple[str, ...]:
        return tuple(self.cast(planned).values())

    def label(self, planned: PlannedGame) -> str:
        assert planned.group is not None
        return planned.group.label

    def draw(self, game_id: str) -> str:
        """Groups share seeds, and must not share answers."""
        planned = self.planned(number_in(game_id) or 0)
        return f"{planned.seed} {planned.group}"

    def goes_back_to(self, game_id: str) -> str:  # noqa: ARG002
        return self.root
