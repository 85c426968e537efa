"""The runner: does a work, many games at once on one event loop, and keeps every reply the moment it is there.

A game is a function of its seed and its replies, so going on after a stop of any kind means playing the recorded
replies again, for free, and asking only for those that are missing, in a half-answered batch too.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic

from liescope.common.errors import BadData, BudgetSpent, LiescopeError, PlayerFailed, UsageError
from liescope.games.core import Ask, Event, EventKind, Phase, Reply
from liescope.games.record import GameRecord, Source, Status
from liescope.games.session import Session
from liescope.generate.players.prompts.render import template_sources
from liescope.generate.players.protocol import Attempt, Player, PlayerContext, Price
from liescope.generate.players.registry import open_player
from liescope.generate.runs.changes import check_unchanged
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.job import G, Job
from liescope.generate.runs.journal import Journal, KindSpent
from liescope.generate.runs.plan import Plan
from liescope.generate.runs.playing import Playing

FRUITLESS = 20  # so many failed games in a row, and the run stops to have the cause mended
_TELL_EVERY = 0.1  # seconds between two looks at the tally

Answers = dict[tuple[int, str], Reply]


@dataclass(frozen=True, slots=True)
class Limits:
    """What may differ each time a run goes on.

    concurrency: games, and requests of all players together, under way at once; timeout: seconds for one request;
    budgets count all that the run ever spent; prices: by model name; prompts: where the plan's templates lie, "full",
    "minimal" or a folder.
    """

    concurrency: int = 16
    timeout: float = 120.0
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Mapping[str, Price] | None = None
    prompts: str = "full"


@dataclass(slots=True)
class RunProgress:
    """How a run stands. done, failed, winners, failures (by reason), fallbacks (by model), tokens and cost are of the
    whole run; before: the games that had ended earlier; calls: replies of this sitting. kinds: what each kind of ask
    took in the whole run, there at the end. stop: why it ended too soon.
    """

    planned: int
    done: int = 0
    failed: int = 0
    before: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    winners: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    kinds: list[KindSpent] = field(default_factory=list)
    stop: LiescopeError | None = None

    def add(self, game: GameRecord) -> None:
        """Count a game that ended."""
        if game.status is Status.DONE and game.outcome is not None:
            self.done += 1
            self.winners[game.outcome.winner] += 1
        else:
            self.failed += 1
            self.failures[game.failure] += 1
        self.fallbacks.update(_replaced(game))


def _replaced(game: GameRecord) -> Counter[str]:
    """By model, how many replies were unusable: of the players, or of the judge where the game was judged. An explained
    vote is one reply, though it becomes a vote and a silence.
    """
    models = {seat.name: seat.model for seat in game.seats}
    judged = "judge" in game.meta
    replies = {
        (event.actor, event.day, event.phase, event.round, event.about, _as_vote(event)): event.data.get("judge")
        for event in game.events
        if event.fallback and event.actor and ("judge" in event.data) == judged
    }
    return Counter(judge or models[actor] for (actor, *_), judge in replies.items())


def _as_vote(event: Event) -> EventKind:
    return EventKind.VOTE if event.phase is Phase.VOTING and event.kind is EventKind.SILENCE else event.kind


async def play(
    plan: Plan,
    out: Path,
    limits: Limits | None = None,
    retry_failed: bool = False,
    watch: Callable[[RunProgress], None] | None = None,
) -> RunProgress:
    """Play a plan into a run folder, or go on with the run that is there; as `run`."""
    return await run(Playing(plan, out), out, limits, retry_failed, watch)


async def run(
    work: Job[G],
    out: Path,
    limits: Limits | None = None,
    retry_failed: bool = False,
    watch: Callable[[RunProgress], None] | None = None,
) -> RunProgress:
    """Do a work in a run folder, or go on with what is there. watch: called now and then with the tally.

    Nothing is written before every player is open. Raises PlanChanged where the folder holds another plan, UsageError
    for a player that cannot be opened or a folder that cannot be written, BadData for a damaged journal. A spent budget
    and an unbroken row of failures end the run early: `RunProgress.stop` says which.
    """
    limits = limits or Limits()
    tally = RunProgress(len(work))
    async with AsyncExitStack() as stack:
        journal: Journal | None = None
        if (out / PLAN_FILE).exists():
            journal = stack.enter_context(Journal.open(out, write=True))
            work.check(journal.plan, out)
            check_unchanged(journal.plan, work.plan(), out)
            tally.tokens, tally.cost = journal.spent()

        def log(attempt: Attempt) -> None:
            tally.tokens += (attempt.prompt_tokens or 0) + (attempt.completion_tokens or 0)
            tally.cost += attempt.cost or 0.0
            if journal is not None:
                journal.log_attempt(attempt)

        players = _open_players(work.players, _table(work.game, limits, tally, log), stack)
        if journal is None:
            journal = stack.enter_context(Journal.create(out, work.plan()))
        journal.keep_templates(work.plan()["templates"], template_sources(limits.prompts, work.game))
        if retry_failed:
            journal.forget_failed()
        await _Run(work, journal, players, tally, watch).run(limits.concurrency)
        tally.kinds = journal.spent_by_kind()
    return tally


def _table(game: str, limits: Limits, tally: RunProgress, log: Callable[[Attempt], None]) -> PlayerContext:
    return PlayerContext(
        log=log,
        game=game,
        prompts=limits.prompts,
        concurrency=limits.concurrency,
        timeout=limits.timeout,
        prices=dict(limits.prices or {}),
        max_tokens=limits.max_tokens,
        max_cost=limits.max_cost,
        spent_tokens=tally.tokens,
        spent_cost=tally.cost,
    )


def _open_players(specs: Sequence[str], table: PlayerContext, stack: AsyncExitStack) -> dict[str, Player]:
    players: dict[str, Player] = {}
    for spec in specs:
        player = open_player(spec, table)
        stack.push_async_callback(player.close)
        for other, known in players.items():
            if known.model == player.model:
                raise UsageError(
                    f"the players {other} and {spec} would both be called {player.model!r}, and their games could not "
                    "be told apart; leave one out"
                )
        players[spec] = player
    return players


class _Stopped(Exception):
    """The run is ending; the game is left as it stands, to go on another time."""


class _Run(Generic[G]):
    """One process's work on a run."""

    def __init__(
        self,
        work: Job[G],
        journal: Journal,
        players: Mapping[str, Player],
        tally: RunProgress,
        watch: Callable[[RunProgress], None] | None,
    ) -> None:
        self.work = work
        self.journal = journal
        self.players = players
        self.tally = tally
        self._watch = watch
        self.begun = journal.begun()
        self.row = 0  # failed games since the last one that was played to its end
        self.told = 0.0

    async def run(self, concurrency: int) -> None:
        for game in self.journal.records():
            self.tally.add(game)
        self.tally.before = self.tally.done + self.tally.failed
        chains = self.work.chains(set(self.journal.game_ids()))
        self._show()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    group.create_task(self._work(chains))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self._show()

    async def _work(self, chains: Iterator[Sequence[G]]) -> None:
        """Play chain after chain until none is left or the run stops."""
        while self.tally.stop is None and (chain := next(chains, None)) is not None:
            for planned in chain:
                try:
                    game = await self._game(planned)
                except _Stopped:
                    return
                except BudgetSpent as error:
                    self.tally.stop = error
                    return
                self.journal.add_record(game, planned.number)
                self._ended(game)
                await asyncio.sleep(0)  # players that answer at once would never let anything else run
                if self.tally.stop is not None:
                    return

    def _ended(self, game: GameRecord) -> None:
        self.tally.add(game)
        self.row = self.row + 1 if game.status is Status.FAILED else 0
        if self.row >= FRUITLESS and self.tally.stop is None:
            self.tally.stop = UsageError(
                f"{self.row} games in a row failed, the last because of {game.failure}; mend the cause and run the "
                "same command again with --retry-failed"
            )
        self._tell()

    async def _game(self, planned: G) -> GameRecord:
        game = self.work.begin(planned, self.players)
        seats = {name: self.players[spec] for name, spec in self.work.seats(planned, game).items()}
        answers = self.journal.answers(planned.game_id) if planned.game_id in self.begun else {}
        session = Session(game)
        failure = ""
        try:
            while session.asks:
                session.send(await self._batch(session, seats, answers))
        except PlayerFailed as error:
            failure = str(error)
        if answers:
            raise self._unknown_replies(planned.game_id)
        return await self.work.end(planned, game, session.outcome, seats, failure)

    async def _batch(self, session: Session, seats: Mapping[str, Player], answers: Answers) -> tuple[Reply, ...]:
        """The replies to the waiting asks: recorded ones first, the others asked for together."""
        asks = session.asks
        replies: list[Reply | None] = [answers.pop((ask.step, ask.seat), None) for ask in asks]
        missing = [place for place, reply in enumerate(replies) if reply is None]
        if missing:
            if answers:
                raise self._unknown_replies(asks[0].game)
            if self.tally.stop is not None:
                raise _Stopped
            waiting = (
                self._answer(seats[asks[place].seat], asks[place], session.game.view(asks[place].seat), place)
                for place in missing
            )
            if len(missing) == 1 or all(seats[asks[place].seat].source is Source.SCRIPTED for place in missing):
                fresh: Sequence[Reply] = [await one for one in waiting]
            else:
                fresh = _all_or_first_error(await asyncio.gather(*waiting, return_exceptions=True))
            for place, reply in zip(missing, fresh, strict=True):
                replies[place] = reply
        return tuple(reply for reply in replies if reply is not None)

    async def _answer(self, player: Player, ask: Ask, view: Sequence[Event], place: int) -> Reply:
        """One reply, in the journal before anybody else hears of it."""
        try:
            reply = await player.answer(ask, view)
        except PlayerFailed as error:
            self.journal.log_failure(ask, player.model)
            raise PlayerFailed(f"{player.model}: {error}") from error
        self.journal.log_reply(ask, player.model, reply, place)
        self.tally.calls += 1
        self._tell()
        return reply

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self.told >= _TELL_EVERY:
            self.told = now
            self._show()

    def _show(self) -> None:
        if self._watch is not None:
            self._watch(self.tally)

    def _unknown_replies(self, game_id: str) -> BadData:
        return BadData(
            f"{self.journal.path} holds replies of game {game_id} that the rules do not ask for: another version of "
            f"Liescope began it ({self.journal.versions.get('liescope', 'unknown')}); go on with that, or start anew"
        )


def _all_or_first_error(results: Sequence[Reply | BaseException]) -> list[Reply]:
    """The replies; or, once all of a batch have ended, the error that weighs most: anything before PlayerFailed."""
    errors = [result for result in results if isinstance(result, BaseException)]
    for error in sorted(errors, key=lambda error: isinstance(error, PlayerFailed)):
        raise error
    return [result for result in results if isinstance(result, Reply)]
