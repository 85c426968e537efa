"""Judging the games of a run after they have ended: the job behind `liescope label`.

The judged games go into a separate run folder, with the ids, seats and models of the original games; the original run
is only read. If it gains more games, the same command judges those too: a judged game keeps its place in the run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.games.core import Game, Outcome
from liescope.games.judging import JudgeSpec, Judging
from liescope.games.record import GameRecord, Status
from liescope.games.session import Session
from liescope.generate.players.prompts.render import hash_templates
from liescope.generate.players.protocol import Player
from liescope.generate.players.registry import files_of
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.shards.absorb import Piece
from liescope.generate.runs.terms import TERMS, handed_on

KEY = "judged"  # the key that only a plan of this kind has
READ = "read"  # and this one, where people read the games


@dataclass(frozen=True, slots=True)
class JudgedGame:
    """One game to judge. number: its place in the run it was played in."""

    number: int
    game_id: str


class JudgingJob:
    """The judging of every game of a run that was played to the end.

    Raises UsageError for a run without such games, for one that holds judged games, and for a spec that asks for
    nothing; BadData for a run that cannot be read.
    """

    def __init__(
        self,
        source: Path,
        judge: str,
        spec: JudgeSpec,
        prompts: str = "full",
        files: Mapping[str, str] | None = None,
    ) -> None:
        if not (spec.rates or spec.claims):
            raise UsageError("there is nothing to ask the judge: give --share above 0, --roles or --lessons")
        if not 0 <= spec.share <= 1:
            raise UsageError("--share is a share of the statements, from 0 to 1")
        self.players: tuple[str, ...] = (judge,)
        self._source = source
        self._judge = judge
        self._spec = spec
        self._files = files_of([judge]) if files is None else dict(files)
        with Journal.open(source) as journal:
            if KEY in journal.plan:
                raise UsageError(f"{source} holds judged games; give the run {journal.plan[KEY]} that they come from")
            self._games = {number: JudgedGame(number, game_id) for number, game_id in journal.done()}
            if not self._games:
                raise UsageError(f"{source} holds no finished game to judge")
            self._played = journal.plan
            self._kept = handed_on(journal.plan)
            self._origin = sha256(json.dumps(journal.plan, sort_keys=True).encode()).hexdigest()[:16]
            self.game = journal.record(next(iter(self._games.values())).game_id).game
        self.use_prompts(prompts)

    def described(self) -> dict[str, Any]:
        """What makes this job again, with the games that `supplies` gives, as plain JSON data."""
        spec = asdict(self._spec)
        return {"played": self._played, "judge": self._judge, "spec": spec, "files": self._files}

    def supplies(self, numbers: Iterable[int]) -> Piece:
        """The games to judge at some places of the run."""
        with Journal.open(self._source, checked=True) as journal:
            return journal.games_at(numbers)

    def use_prompts(self, prompts: str) -> None:
        """The set of prompts, or the folder, that the judge's questions come from."""
        self._templates = hash_templates(prompts, self.game)

    def __len__(self) -> int:
        return len(self._games)

    def plan(self) -> dict[str, Any]:
        return {
            KEY: self._source.resolve().name,
            "origin": self._origin,
            "game": self.game,
            "judge": self._judge,
            "asked": {name: value for name, value in asdict(self._spec).items() if value or name != "claims"},
            "templates": self._templates,
            **({"files": self._files} if self._files else {}),
            **self._kept,
        }

    def check(self, plan: Mapping[str, Any], where: Path) -> None:
        if KEY not in plan:
            raise BadData(f"{where} holds games that were played, not judged; choose another --out")
        if TERMS not in plan:  # begun before judged runs kept the terms of the words: it goes on as it is
            self._kept = {}

    def chains(self, ended: Set[str]) -> Iterator[Sequence[JudgedGame]]:
        for planned in self._games.values():
            if planned.game_id not in ended:
                yield (planned,)

    def draw(self, game_id: str) -> str:
        return game_id

    def origin(self, game_id: str) -> str:  # noqa: ARG002
        return ""

    def specs(self, planned: JudgedGame) -> Collection[str]:  # noqa: ARG002
        return self.players

    def planned(self, number: int) -> JudgedGame:
        if number not in self._games:  # a worker's run grows while it judges
            with Journal.open(self._source, checked=True) as journal:
                self._games = {place: JudgedGame(place, game_id) for place, game_id in journal.done()}
        return self._games[number]

    def kept(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def begin(self, planned: JudgedGame, players: Mapping[str, Player]) -> Session:
        with Journal.open(self._source, checked=True) as journal:
            return Session(Judging(journal.record(planned.game_id), self._spec, players[self._judge].model))

    def seats(self, planned: JudgedGame, game: Game) -> Mapping[str, str]:  # noqa: ARG002
        return dict.fromkeys(game.names, self._judge)

    async def end(
        self,
        planned: JudgedGame,  # noqa: ARG002
        game: Game,
        outcome: Outcome | None,  # noqa: ARG002
        players: Mapping[str, Player],  # noqa: ARG002
        failure: str,
    ) -> GameRecord:
        assert isinstance(game, Judging)
        record = game.record()
        return replace(record, status=Status.FAILED, failure=failure) if failure else record
