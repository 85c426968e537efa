"""Judging the games of a run after they have ended: the job behind `liescope label`.

The judged games go into a separate run folder, with the ids, seats and models of the original games; the original run
is only read. If it gains more games, the same command judges those too: a judged game keeps its place in the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from liescope.common.errors import UsageError
from liescope.games.core import Game, Outcome
from liescope.games.judging import JudgeSpec, Judging, ReaderSpec
from liescope.games.record import GameRecord, Status
from liescope.games.session import Session
from liescope.generate.players.prompts import Templates
from liescope.generate.players.protocol import Player
from liescope.generate.players.registry import files_of
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.job import Job
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan import PlannedGame, RunPlan, short_hash
from liescope.generate.runs.planning import templates_for
from liescope.generate.runs.tables import Piece
from liescope.generate.runs.terms import handed_on


class JudgePlan(RunPlan):
    """Recorded games that a judge, or people, judge. judged: the run's name; origin: a hash of its plan; judge: who
    judges; asked: for what; read: what people see, None for a judge in every seat; games: those that people read;
    consent: what they agreed to.
    """

    KEY = "judged"
    GAMES = "judged games"

    judged: str
    origin: str
    judge: str
    asked: JudgeSpec
    prompts: str = ""
    templates: str = ""
    terms: dict[str, Any] = Field(default_factory=dict)
    game_texts: dict[str, str] = Field(default_factory=dict)
    read: ReaderSpec | None = None
    games: tuple[str, ...] = ()
    consent: tuple[str, ...] = ()

    @property
    def specs(self) -> tuple[str, ...]:
        return (self.judge,)

    def __len__(self) -> int:
        return len(self.games)

    def planned(self, number: int) -> PlannedGame:
        return PlannedGame(number, self.games[number])

    def seats(self, planned: PlannedGame, roles: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        return dict.fromkeys(roles, self.judge)


class JudgingJob(Job):
    """The judging of every game of a run that was played to the end. source: that run."""

    plan: JudgePlan

    def __init__(self, plan: JudgePlan, templates: Templates, source: Path) -> None:
        super().__init__(plan, templates)
        self._source = source
        self._games: dict[int, str] = {}
        self._look()

    @classmethod
    def of(
        cls, source: Path, judge: str, spec: JudgeSpec, prompts: str = "full", out: Path | None = None
    ) -> JudgingJob:
        """The judging of a run into a folder, which may hold its beginning.

        Raises UsageError for a run without finished games, for one that holds judged games, and for a spec that asks
        for nothing; BadData for a run that cannot be read.
        """
        if not (spec.rates or spec.claims):
            raise UsageError("there is nothing to ask the judge: give --share above 0, --roles or --lessons")
        with Journal.open(source) as journal:
            if JudgePlan.KEY in journal.plan:
                raise UsageError(
                    f"{source} holds judged games; give the run {journal.plan[JudgePlan.KEY]} that they come from"
                )
            done = journal.done()
            if not done:
                raise UsageError(f"{source} holds no finished game to judge")
            game = journal.record(done[0][1]).game
            templates = templates_for(prompts, game, out)
            plan = JudgePlan(
                judged=source.resolve().name,
                origin=short_hash(journal.plan),
                game=game,
                judge=judge,
                asked=spec,
                prompts=templates.name,
                templates=templates.hash,
                files=files_of([judge]),
                **handed_on(journal.plan),
            )
        return cls(plan, templates, source)

    def __len__(self) -> int:
        return len(self._games)

    def planned(self, number: int) -> PlannedGame:
        if number not in self._games:  # a worker's run grows while it judges
            self._look()
        return PlannedGame(number, self._games[number])

    def all_chains(self, ended: Set[str]) -> Iterator[Sequence[PlannedGame]]:
        return ((self.planned(number),) for number, game_id in self._games.items() if game_id not in ended)

    def described(self) -> dict[str, Any]:
        with Journal.open(self._source, checked=True) as journal:
            return {"played": journal.plan}

    def supplies(self, numbers: Iterable[int]) -> list[Piece]:
        with Journal.open(self._source, checked=True) as journal:
            return [journal.games_at(numbers)]

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:
        with Journal.open(self._source, checked=True) as journal:
            frozen = journal.record(planned.game_id)
        return Session(Judging(frozen, self.plan.asked, players[self.plan.judge].model))

    async def end(
        self,
        planned: PlannedGame,  # noqa: ARG002
        game: Game,
        outcome: Outcome | None,  # noqa: ARG002
        players: Mapping[str, Player],  # noqa: ARG002
        failure: str,
    ) -> GameRecord:
        assert isinstance(game, Judging)
        record = game.record()
        return replace(record, status=Status.FAILED, failure=failure) if failure else record

    def _look(self) -> None:
        """Find the games that were played to the end."""
        if (self._source / PLAN_FILE).exists():
            with Journal.open(self._source, checked=True) as journal:
                self._games = dict(journal.done())
