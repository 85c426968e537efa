"""Playing a plan: each game is played by the players of its cell; in learning cells they know the lessons of earlier
games.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from hashlib import sha256
from pathlib import Path
from typing import Any

from liescope.games.core import EventKind, Game, Outcome
from liescope.games.lessons import Lesson, LessonKind
from liescope.games.record import GameRecord, record
from liescope.games.registry import find_game
from liescope.games.session import Session
from liescope.generate.players.protocol import Player, named
from liescope.generate.runs.lesson_book import LessonBook, Proposal, open_similarity
from liescope.generate.runs.lesson_matching import without_names
from liescope.generate.runs.plan import TABLE, Plan, PlannedGame, read_plan
from liescope.generate.runs.tournament import Cell

LESSONS = "lessons"  # the folder of the lesson books in a run's folder


class Playing:
    """The job of playing a plan into a run folder. first: play only so many games, those with the lowest numbers.

    Raises MissingExtra if learning needs a package that is missing.
    """

    def __init__(self, plan: Plan, out: Path, first: int | None = None) -> None:
        self.game = plan.game
        self._learner = find_game(plan.game).learner
        self.players = tuple(dict.fromkeys(plan.held.values() or (spec for cell in plan.cells for spec in cell)))
        self._plan = plan
        self._first = first
        self._out = out
        self._books: dict[Cell, LessonBook] = {}
        self._similarity = open_similarity() if any(plan.learning) else None

    def __len__(self) -> int:
        return len(self._plan)

    def plan(self) -> dict[str, Any]:
        return self._plan.to_json()

    def check(self, plan: Mapping[str, Any], where: Path) -> None:
        read_plan(plan, where)

    def chains(self, ended: Set[str]) -> Iterator[Sequence[PlannedGame]]:
        for chain in self._plan.chains(ended):  # by the number of their first game
            opening = chain if self._first is None else tuple(game for game in chain if game.number < self._first)
            if not opening:
                return
            yield opening

    def draw(self, game_id: str) -> str:
        return self._plan.draw(int(game_id.rpartition("-")[2]))

    def origin(self, game_id: str) -> str:
        dealt = self._plan.dealt(int(game_id.rpartition("-")[2]))
        return dealt.game if dealt else ""

    def specs(self, planned: PlannedGame) -> Collection[str]:
        return self._plan.specs(planned)

    def planned(self, number: int) -> PlannedGame:
        return self._plan.planned(number)

    def kept(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:  # noqa: ARG002
        lessons = self._book(planned).begin(planned.game_id) if planned.learning else ()
        return Session(self._plan.make(planned, lessons))

    def seats(self, planned: PlannedGame, game: Game) -> Mapping[str, str]:
        return self._plan.seats(planned, game.roles)

    async def end(
        self, planned: PlannedGame, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        meta: dict[str, Any] = {"turn": planned.turn, "seating": self._plan.seating}
        if dealt := self._plan.dealt(planned.number):
            meta["replayed"] = dealt.root
        if self._learner in self._plan.roles:
            meta["learning"] = planned.learning
        if planned.learning and not failure:
            proposed = [
                Lesson(LessonKind(event.data["kind"]), without_names(event.text, game.names, event.actor))
                for event in game.events
                if event.kind is EventKind.LESSON
            ]
            judged = await asyncio.to_thread(self._book(planned).add, planned.game_id, planned.turn, proposed)
            meta["lessons"] = [_plain(proposal) for proposal in judged]
        who = {name: named(player, planned.game_id, name) for name, player in players.items()}
        return record(game, outcome, who, self._label(planned), failure, meta)

    def _label(self, planned: PlannedGame) -> str:
        """The name of a game's cell."""
        if self._plan.held:
            return TABLE
        cell = " | ".join(planned.cell)
        return f"{cell} | learning {'on' if planned.learning else 'off'}" if self._plan.learning else cell

    def _book(self, planned: PlannedGame) -> LessonBook:
        if planned.cell not in self._books:
            assert self._similarity is not None
            model = planned.cell[self._plan.roles.index(self._learner)]
            digest = sha256(" | ".join(planned.cell).encode()).hexdigest()[:6]
            name = f"{re.sub(r'[^A-Za-z0-9.-]+', '-', model).strip('-')[:60]}-{digest}.jsonl"
            self._books[planned.cell] = LessonBook(
                self._out / LESSONS / name, self._similarity, self._plan.spec.seats()
            )
        return self._books[planned.cell]


def _plain(proposal: Proposal) -> dict[str, Any]:
    return {
        "kind": proposal.lesson.kind.value,
        "text": proposal.lesson.text,
        "kept": proposal.kept,
        "nearest": proposal.nearest,
    }
