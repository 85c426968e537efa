"""`liescope.label`: the games of a run rated after they were played, by a rater or the speakers themselves.

Rated games go into a run of their own, with the ids, seats and models of the original games; the original run is only
read. If it gains more games, the same command rates those too: a rated game keeps its place in the run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.parts import Part
from liescope.common.settings import Option, OptionsModel, takes
from liescope.games.core import Game, Outcome
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import GameRecord, Status
from liescope.games.session import Session
from liescope.generate.players.player_protocol import Player
from liescope.generate.players.player_registry import files_of, memory_of
from liescope.generate.players.prompts.render import Templates
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Job
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import beginning
from liescope.generate.runs.plan_games import Prompts, templates_for
from liescope.generate.runs.play import RunResult, run_job
from liescope.generate.runs.run_folder import PART, RunConfig, folder_beside, handed_on
from liescope.generate.runs.run_plan import OUTSIDE, Plan, PlannedGame, RatingPlan, short_hash
from liescope.labeling.beliefs import claims_made


class RatingJob(Job):
    """The rating of every game of a run that was played to the end. source: that run."""

    plan: RatingPlan

    def __init__(self, plan: RatingPlan, templates: Templates, source: Path) -> None:
        super().__init__(plan, templates)
        self._source = source
        with Journal.open(source, checked=True) as journal:
            self._games = dict(journal.done())
            if plan.part and PART not in journal.plan:  # a part's games already are a share
                share = Part.read(plan.part).share(journal.planned() or max(self._games, default=0) + 1)
                self._games = {number: game_id for number, game_id in self._games.items() if number in share}

    @classmethod
    def of(
        cls,
        source: Path,
        judge: str,
        spec: RatingSpec,
        prompts: str = "full",
        out: Path | None = None,
        part: str | None = None,
    ) -> RatingJob:
        """The rating of a run into a folder, which may hold its beginning. judge: who rates, "" where speakers are
        asked about what they believe; part: rate only this share of the run.

        Raises UsageError for a run without finished games, for one that holds rated games, for a part of a part, and
        for a spec that asks for nothing; BadData for a run that cannot be read.
        """
        if not (spec.rates or spec.claims or spec.beliefs):
            raise UsageError("there is nothing to ask the rater: give --share above 0, --roles or --lessons")
        with Journal.open(source) as journal:
            if RatingPlan.KEY in journal.plan:
                raise UsageError(
                    f"{source} holds rated games; give the run {journal.plan[RatingPlan.KEY]} that they come from"
                )
            if part and PART in journal.plan:
                raise UsageError(f"{source} is part {journal.plan[PART]} of a run; label it as it is, without --part")
            done = journal.done()
            if not done:
                raise UsageError(f"{source} holds no finished game to rate")
            game = journal.record(done[0][1]).game
            templates = templates_for(prompts, game, out)
            speakers = _speakers(journal) if spec.beliefs else ()
            plan = RatingPlan(
                judged=journal.name,
                origin=short_hash(journal.plan),
                game=game,
                judge=judge,
                asked=spec,
                speakers=speakers,
                prompts=templates.name,
                templates=templates.hash,
                files=files_of(speakers or [judge]),
                part=str(Part.read(part)) if part else journal.plan.get(PART, ""),
                **handed_on(journal.plan),
            )
        return cls(plan, templates, source)

    def __len__(self) -> int:
        return len(self._games)

    def chains(self, ended: Set[str]) -> Iterator[Sequence[PlannedGame]]:
        return ((PlannedGame(number, game_id),) for number, game_id in self._games.items() if game_id not in ended)

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:
        with Journal.open(self._source, checked=True) as journal:
            frozen = journal.record(planned.game_id)
            asked = _asked(journal, frozen) if self.plan.asked.beliefs else {}
        if not self.plan.asked.beliefs:
            return Session(RatedGame(frozen, self.plan.asked, players[self.plan.judge].model))
        made = {at: claims for at, claims in claims_made(frozen).items() if frozen.events[at].actor in asked}
        return Session(RatedGame(frozen, self.plan.asked, "", made))

    def seats(self, planned: PlannedGame, game: Game) -> Mapping[str, str]:
        if not self.plan.asked.beliefs:
            return super().seats(planned, game)
        assert isinstance(game, RatedGame)
        with Journal.open(self._source, checked=True) as journal:
            return _asked(journal, game.frozen)

    async def end(
        self, planned: PlannedGame, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        del planned, outcome, players  # a rated game keeps those of the original
        assert isinstance(game, RatedGame)
        record = game.record()
        return replace(record, status=Status.FAILED, failure=failure) if failure else record


def _speakers(journal: Journal) -> tuple[str, ...]:
    """The players of a run that can be asked what they believe. Raises UsageError if there are none."""
    if Plan.KEY not in journal.plan:
        raise UsageError(f"{journal.path} holds no games that were played here from their start; nobody can be asked")
    found = tuple(spec for spec in Plan.parse(journal.plan, journal.path).specs if not spec.startswith(OUTSIDE))
    if not found:
        raise UsageError(f"only people or agents play in {journal.path}, and these are not asked what they believe")
    return found


def _asked(journal: Journal, game: GameRecord) -> dict[str, str]:
    """The specs of the seats of a game whose players can be asked."""
    made = beginning(journal, game.game_id)
    specs = made.plan.seats(made.planned, {seat.name: seat.role for seat in game.seats})
    return {name: spec for name, spec in specs.items() if not spec.startswith(OUTSIDE)}


class RatingSettings(OptionsModel):
    """What is rated, with which questions."""

    share: float = Field(default=1.0, ge=0, le=1, description="Share of the statements to rate, 0 for none.")
    roles: bool = Field(default=False, description="Name everybody's role, from each seat that lived to the end.")
    lessons: bool = Field(default=False, description="Tag the lessons that jesters drew.")
    beliefs: bool = Field(
        default=False,
        description="Ask the speakers themselves, afresh, whether they believe the claims that they made.",
    )
    prompts: Prompts = "full"
    part: Annotated[str | None, Option(metavar="K/N")] = Field(
        default=None, description="Ask only about the K-th of N shares of the games."
    )


class LabelSettings(RatingSettings, Limits):
    """What `label` takes."""


@takes(LabelSettings)
def label(
    run: str | os.PathLike[str],
    judge: str | None = None,
    *,
    claims_by: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> RunResult:
    """Rate a run's finished games: a rater takes each seat in turn and sees what the seat saw at that moment. Or have a
    model list the claims in their statements, seeing nothing but the statement and the names. Or ask the players
    themselves (`beliefs`), from what each knew before a statement, whether they believe the claims that they made.

    The rated games become a separate run; the run they come from is only read.

    Parameters
    ----------
    run : str or path
        The folder of the run.
    judge : str, optional
        Who rates: a player's spec string.
    claims_by : str, optional
        Instead of a rater, the model that lists claims, "openai:MODEL".
    out : str or path, optional
        The folder of the rated games, by default RUN-by-JUDGE, RUN-claims-by-MODEL or RUN-beliefs.
    progress : bool
        Show a live display on standard error.
    **settings

    Returns
    -------
    RunResult
        The run of the rated games.

    Raises
    ------
    UsageError
        For a run without finished games, and if the rater is asked for nothing.
    PlanChanged
        If the folder holds a different run.
    """
    source, own = Path(run), LabelSettings.of(settings)
    folder, asked, spec = rating_of(source, judge, claims_by, out, own)
    job = RatingJob.of(source, asked, spec, own.prompts, folder, own.part)
    options = {"run": source, "judge": judge, "claims_by": claims_by, **own.model_dump()}
    about = {"run": str(folder), "game": job.plan.game, "judged": str(source), "judge": asked}
    return run_job(job, folder, own, about, RunConfig("label", options), progress)


def rating_of(
    source: Path,
    judge: str | None,
    claims_by: str | None,
    out: str | os.PathLike[str] | None,
    settings: RatingSettings,
) -> tuple[Path, str, RatingSpec]:
    """The folder of the rated games, who is asked, and for what. Raises UsageError for options that do not fit."""
    if [judge is not None, claims_by is not None, settings.beliefs].count(True) != 1:
        raise UsageError(
            "give exactly one of --judge (rate the games), --claims-by (have a model list their claims) and --beliefs "
            "(ask the speakers what they believe)"
        )
    if claims_by is not None and not claims_by.startswith("openai:"):
        raise UsageError(f"--claims-by must be a chat model such as openai:gpt-4.1-mini, got {claims_by!r}")
    if judge and (memory := memory_of(judge)) is not None and memory.summed:
        raise UsageError("a rater writes no summaries; give it memory=last:K, or none")
    rated = RatingSpec(settings.share, settings.roles, settings.lessons)
    spec = rated if judge else RatingSpec(0.0, claims=claims_by is not None, beliefs=settings.beliefs)
    asked = judge or claims_by or ""
    rater = re.sub(r"[^A-Za-z0-9.]+", "-", asked.partition("@")[0]).strip("-")  # without the address of an endpoint
    link = "beliefs" if spec.beliefs else "claims-by" if spec.claims else "by"
    return folder_beside(source, out, link, rater), asked, spec
