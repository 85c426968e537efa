"""Playing a plan: each game by the players of its cell, and in learning cells each with the lessons of those before."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from hashlib import sha256
from pathlib import Path
from typing import Any

from games.core import EventKind, Game, Outcome
from games.lessons import Lesson, LessonKind
from games.record import GameRecord, record
from games.werewolf import JESTER
from generate.lessons import LessonBook, Proposal, open_similarity
from generate.plan import Plan, PlannedGame, read_plan
from generate.players.protocol import Player
from generate.tournament import Cell

LESSONS = "lessons"  # the folder of the lesson books in a run's folder


class Playing:
    """The work of a plan in a run folder. Raises MissingExtra where learning needs a package that is not here."""

    def __init__(self, plan: Plan, out: Path) -> None:
        self.game = plan.game
        self.players = tuple(dict.fromkeys(spec for cell in plan.cells for spec in cell))
        self._plan = plan
        self._out = out
        self._books: dict[Cell, LessonBook] = {}
        self._similarity = open_similarity() if any(plan.learning) else None

    def __len__(self) -> int:
        return len(self._plan)

    def plan(self) -> dict[str, Any]:
        return self._plan.to_json()

    def check(self, plan: Mapping[str, Any], where: Path) -> None:
        read_plan(plan, where)

    def strands(self, ended: Set[str]) -> Iterator[Sequence[PlannedGame]]:
        return self._plan.strands(ended)

    def begin(self, piece: PlannedGame, players: Mapping[str, Player]) -> Game:  # noqa: ARG002
        lessons = self._book(piece).begin(piece.game_id) if piece.learning else ()
        return self._plan.make(piece, lessons)

    def seats(self, piece: PlannedGame, game: Game) -> Mapping[str, str]:
        cell = dict(zip(self._plan.roles, piece.cell, strict=True))
        return {name: cell[role] for name, role in game.roles.items()}

    async def end(
        self, piece: PlannedGame, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        meta: dict[str, Any] = {"turn": piece.turn, "seating": self._plan.seating}
        if JESTER in self._plan.roles:
            meta["learning"] = piece.learning
        if piece.learning and not failure:
            proposed = [
                Lesson(LessonKind(event.data["kind"]), event.text)
                for event in game.events
                if event.kind is EventKind.LESSON
            ]
            judged = await asyncio.to_thread(self._book(piece).add, piece.game_id, piece.turn, proposed)
            meta["lessons"] = [_plain(proposal) for proposal in judged]
        who = {name: (player.model, player.source) for name, player in players.items()}
        return record(game, outcome, who, self._label(piece), failure, meta)

    def _label(self, piece: PlannedGame) -> str:
        """The name of a game's cell."""
        cell = " | ".join(piece.cell)
        return f"{cell} | learning {'on' if piece.learning else 'off'}" if self._plan.learning else cell

    def _book(self, piece: PlannedGame) -> LessonBook:
        if piece.cell not in self._books:
            assert self._similarity is not None
            model = piece.cell[self._plan.roles.index(JESTER)]
            digest = sha256(" | ".join(piece.cell).encode()).hexdigest()[:6]
            name = f"{re.sub(r'[^A-Za-z0-9.-]+', '-', model).strip('-')[:60]}-{digest}.jsonl"
            self._books[piece.cell] = LessonBook(self._out / LESSONS / name, self._similarity)
        return self._books[piece.cell]


def _plain(proposal: Proposal) -> dict[str, Any]:
    return {
        "kind": proposal.lesson.kind.value,
        "text": proposal.lesson.text,
        "kept": proposal.kept,
        "nearest": proposal.nearest,
    }
