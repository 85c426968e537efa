"""The runner: plays the games of a job, many at once on one event loop, and keeps every reply the moment it arrives.

A game is a function of its seed and its replies, so to resume after any stop, it replays the recorded replies at no
cost and asks only for the missing ones, even in a half-answered batch.

A game fails only when a player cannot answer one of its asks. Failed games are retried once before the run ends. A
measurement that cannot be obtained does not make a game fail: the rating becomes a null with the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from liescope.common.errors import (
    BadData,
    BudgetSpent,
    EndpointSilent,
    LiescopeError,
    PlayerFailed,
    RunPaused,
    UsageError,
)
from liescope.games.core import MEASURED, Ask, Event, Reply
from liescope.games.facts import GameMeta
from liescope.games.record import GameRecord, Source, Status
from liescope.games.session import Session
from liescope.generate.players.player_protocol import (
    CUT_PROMPT,
    PREFLIGHT,
    VIA_CACHE,
    Attempt,
    EndpointFacts,
    Halt,
    Player,
    PlayerContext,
    Shared,
    waits_for,
)
from liescope.generate.players.player_registry import open_player
from liescope.generate.players.reply_cache import ReplyCache
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Job, Scheduler
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import NO_ANSWER
from liescope.generate.runs.run_folder import PLAN_FILE, check_unchanged
from liescope.generate.runs.run_plan import PlannedGame, RatingPlan
from liescope.generate.runs.run_progress import RunProgress

# unusable replies of a model that may stop the run: if no other came, and if some did
FIRST_USELESS, MOST_USELESS = 8, 16
FRUITLESS = 20  # failures in a row after which the run stops, so that the cause can be found
_SHOW_EVERY = 0.1  # seconds between progress updates if something has changed
_SHOW_ANYWAY = 0.5  # and if nothing has changed
_LOOK_EVERY = 0.05  # seconds between two looks at whether an endpoint has room for another game

Answers = dict[tuple[int, str], Reply]
Watch = Callable[[RunProgress], None]


async def run(
    job: Job,
    out: Path | None,
    limits: Limits | None = None,
    retry_failed: bool = False,
    watch: Watch | None = None,
    halt: Halt | None = None,
    shared: Shared | None = None,
) -> RunProgress:
    """Do a job in a run folder, or resume the run in it. out: None keeps nothing; watch: called from time to time with
    the progress; halt: ends the run early when set; requests under way still finish and are kept. shared: what the
    players share with this caller.

    Nothing is written before every player is open and, if there is anything left to do, prepared. Raises PlanChanged if
    the folder holds a different plan, UsageError for a player that cannot be opened or a folder that cannot be written
    to, EndpointRefused or EndpointSilent for a player that cannot be prepared, BadData for a damaged journal. Anything
    that pauses the run later (RunPaused), or an unbroken series of failures, ends it early: `RunProgress.stop` says
    which.
    """
    limits, halt = limits or Limits(), halt or Halt()
    progress = RunProgress(planned=len(job), rated=isinstance(job.plan, RatingPlan))
    async with AsyncExitStack() as stack:
        journal: Journal | None = None
        attempts, found = list[Attempt](), list[EndpointFacts]()  # events from before the journal exists
        if out is not None and (out / PLAN_FILE).exists():
            journal = stack.enter_context(Journal.open(out, write=True))
            type(job.plan).parse(journal.plan, out)
            check_unchanged(journal.plan, job.plan.to_json(), out)
            progress.tokens, progress.cost = journal.spent()

        def keep(attempt: Attempt) -> None:
            progress.tokens += attempt.tokens
            progress.from_cache += attempt.via == VIA_CACHE and attempt.game != PREFLIGHT
            progress.cost += attempt.cost or 0.0
            if attempt.host:
                progress.activity.at(attempt.host).count(attempt)
            attempts.append(attempt) if journal is None else journal.log_attempt(attempt)

        context = PlayerContext(
            limits=limits,
            log=keep,
            game=job.plan.game,
            prompts=job.templates,
            spent_tokens=progress.tokens,
            spent_cost=progress.cost,
            facts=() if journal is None else journal.endpoint_facts(),
            learn=lambda facts: found.append(facts) if journal is None else journal.record_endpoint(facts),
            halt=halt,
            activity=progress.activity,
            cache=None if limits.cache is None else stack.enter_context(ReplyCache(limits.cache)),
            draw=job.plan.draw,
            files=job.plan.files,
            shared=shared or Shared(),
        )
        players = open_players(job.plan.specs, context, stack)
        ended = set[str]() if journal is None or retry_failed else set(journal.game_ids())
        if limits.preflight and any(True for _ in job.chains(ended)):
            await prepare(list(players.values()))
        if journal is None:
            plan = job.plan.to_json()
            journal = stack.enter_context(Journal.in_memory(plan) if out is None else Journal.create(out, plan))
        for attempt in attempts:
            journal.log_attempt(attempt)
        for facts in found:
            journal.record_endpoint(facts)
        for digest, texts in {job.plan.templates: job.templates.sources, **job.kept()}.items():
            journal.keep_templates(digest, texts)
        if retry_failed:
            journal.forget_failed()
        show = (lambda: None) if watch is None else partial(watch, progress)
        await _Run(job, journal, players, progress, halt, show, limits).run()
        progress.endpoints = journal.endpoint_facts()
    return progress


@dataclass
class _Run:
    """The work of one process on a run. players: by spec; show: called when the progress has changed."""

    job: Job
    journal: Journal
    players: Mapping[str, Player]
    progress: RunProgress
    halt: Halt
    show: Callable[[], None]
    limits: Limits

    def __post_init__(self) -> None:
        self.begun = self.journal.begun()
        self.failed: dict[str, GameRecord] = {}  # by game, since this process began
        self.failed_row = 0  # failed games since the last one played to the end
        self.unrated_row = 0  # measurements in a row that could not be obtained
        self.replies, self.useless = map(Counter[str], self.journal.uses())
        self.shown_at = 0.0
        self.hosts = set(map(waits_for, self.players.values()))
        self.scheduler: Scheduler
        self.changed = asyncio.Event()  # a chain ended
        self.silent: EndpointSilent | None = None  # the first endpoint that was given up

    async def run(self) -> None:
        for game in self.journal.records():
            self.progress.add(game)
        self.progress.before = self.progress.done + self.progress.failed
        self.show()
        ticker = asyncio.create_task(self._keep_showing())
        try:
            await self._play_all()
            if self.failed and self.progress.stop is None:
                self._take_up_failed()
                await self._play_all()
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            ticker.cancel()
            self.show()

    async def _keep_showing(self) -> None:
        """Keep showing the progress while no replies come in."""
        while True:
            await asyncio.sleep(_SHOW_ANYWAY)
            self.show()

    async def _play_all(self) -> None:
        """Play every unfinished chain, as far as its endpoints answer."""
        activity = self.progress.activity
        chains, most = (
            self.job.chains(set(self.journal.game_ids())),
            self.limits.concurrency * max(len(activity.hosts), 1),
        )
        scheduler = self.scheduler = Scheduler(chains, self._hosts, self.hosts, activity, most)
        async with asyncio.TaskGroup() as group:
            while self.progress.stop is None:
                scheduler.look()
                while (begun := scheduler.next()) is not None:
                    group.create_task(self._play_chain(*begun))
                if scheduler.empty:
                    break
                self.changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_EVERY if activity.hosts else None):
                        await self.changed.wait()
        if self.silent is not None:
            self._stop(self.silent)

    def _hosts(self, planned: PlannedGame) -> Iterator[str]:
        return (waits_for(self.players[spec]) for spec in self.job.plan.specs_of(planned))

    def _take_up_failed(self) -> None:
        """Resume failed games from their last reply: the cause of the failure may be gone."""
        self.journal.forget_failed(self.failed)
        for game in self.failed.values():
            self.progress.take_back(game)
        self.begun = self.journal.begun()
        self.failed.clear()
        self.failed_row = 0

    async def _play_chain(self, chain: Sequence[PlannedGame], hosts: frozenset[str]) -> None:
        """Play the games of a chain one after the other, until the last or the run's stop."""
        try:
            for planned in chain:
                if self.progress.stop is not None:
                    return
                self.progress.playing += 1
                try:
                    self.halt.check()
                    game = await self._game(planned)
                finally:
                    self.progress.playing -= 1
                self.journal.add_record(game, planned.number)
                self._ended(game)
                await asyncio.sleep(0)  # instant players would otherwise never let anything else run
        except EndpointSilent as error:
            self._silence(error)
        except RunPaused as error:
            self._stop(error)
        finally:
            self.scheduler.ended(hosts)
            self.changed.set()

    def _silence(self, error: EndpointSilent) -> None:
        """An endpoint was given up: games that do not need it continue, then the run stops."""
        self.silent = self.silent or error
        self.scheduler.gone.add(error.host)
        if self.scheduler.gone >= self.hosts:
            self._stop(self.silent)

    def _stop(self, error: LiescopeError) -> None:
        """End the run: requests under way finish, waiting ones are not sent."""
        if self.progress.stop is None:
            self.progress.stop = error
        self.halt.set(error if isinstance(error, RunPaused) else RunPaused(str(error)))

    def _ended(self, game: GameRecord) -> None:
        self.progress.add(game)
        self.job.ended(game)
        if game.status is Status.FAILED:
            self.failed[game.game_id] = game
            self.failed_row += 1
        else:
            self.failed_row = 0
        if self.failed_row >= FRUITLESS:
            self._stop(
                UsageError(
                    f"{self.failed_row} games in a row failed, the last because of {game.failure}; fix the cause and "
                    "run the same command again with --retry-failed"
                )
            )
        self._show_soon()

    async def _game(self, planned: PlannedGame) -> GameRecord:
        session = self.job.begin(planned, self.players)
        game = session.game
        seats = {name: self.players[spec] for name, spec in self.job.seats(planned, game).items()}
        answers = self.journal.answers(planned.game_id) if planned.game_id in self.begun else {}
        failure, cut, useful = "", set[str](), defaultdict[str, list[bool]](list)
        try:
            while session.asks:
                asks, replies = session.asks, await self._batch(session, seats, answers)
                for ask, reply in zip(asks, replies, strict=True):
                    if ask.kind not in MEASURED and seats[ask.seat].source is Source.MODEL:
                        useful[ask.seat].append(not reply.problem)
                    cut |= {seats[ask.seat].model} if CUT_PROMPT in reply.notes else set()
                session.send(replies)
        except PlayerFailed as error:
            failure = str(error)
        if answers:
            raise self._unknown_replies(planned.game_id)
        ended = await self.job.end(planned, game, session.outcome, seats, failure)
        silent = {seat: len(known) for seat, known in useful.items() if len(known) > 1 and not any(known)}
        found: dict[str, Any] = ({"silent": silent} if silent else {}) | ({"cut_prompts": sorted(cut)} if cut else {})
        return replace(ended, meta=cast(GameMeta, {**ended.meta, **found})) if found else ended

    async def _batch(self, session: Session, seats: Mapping[str, Player], answers: Answers) -> tuple[Reply, ...]:
        """The replies to the waiting asks: recorded ones first, the others requested together."""
        asks = session.asks
        replies: list[Reply | None] = [answers.pop((ask.step, ask.seat), None) for ask in asks]
        missing = [place for place, reply in enumerate(replies) if reply is None]
        if missing:
            if answers:
                raise self._unknown_replies(asks[0].game)
            self.halt.check()
            waiting = (
                self._answer(seats[asks[place].seat], asks[place], session.game.view(asks[place].seat), place)
                for place in missing
            )
            asked = [seats[asks[place].seat] for place in missing]
            # A script never waits, so there is nothing to gain from asking it concurrently.
            if len(missing) == 1 or all(player.source is Source.SCRIPTED for player in asked):
                fresh: Sequence[Reply] = [await one for one in waiting]
            else:
                fresh = _all_or_first_error(await asyncio.gather(*waiting, return_exceptions=True))
            for place, reply in zip(missing, fresh, strict=True):
                replies[place] = reply
        return tuple(reply for reply in replies if reply is not None)

    async def _answer(self, player: Player, ask: Ask, view: Sequence[Event], place: int) -> Reply:
        """One reply, written to the journal before anything else sees it."""
        had = True
        try:
            reply = await _asked(player, ask, view)
        except PlayerFailed as error:
            had = False
            if ask.kind not in MEASURED:
                self.journal.log_failure(ask, player.model)
                raise PlayerFailed(f"{player.model}: {error}") from error
            reply = self._unrated(player, error)
        else:
            self.unrated_row = 0 if ask.kind in MEASURED else self.unrated_row
        self.journal.log_reply(ask, player.model, reply, place)
        self.progress.calls += 1
        if had and player.source is Source.MODEL:
            self._check_use(player.model, reply)
        self._show_soon()
        return reply

    def _check_use(self, model: str, reply: Reply) -> None:
        """Stop the run if too many replies of a model are of no use, whatever they were asked for."""
        self.replies[model] += 1
        self.useless[model] += bool(reply.problem)
        useless, replies = self.useless[model], self.replies[model]
        enough = useless >= (FIRST_USELESS if useless == replies else MOST_USELESS)
        if reply.problem and enough and useless > self.limits.max_fallbacks * replies:
            self._stop(
                RunPaused(
                    f"{useless} of {replies} replies of {model} could not be used (the last: "
                    f"{reply.problem}); `liescope show RUN 0 --calls` shows them: mend that, or go on with "
                    "--max-fallbacks 1"
                )
            )

    def _unrated(self, player: Player, error: PlayerFailed) -> Reply:
        """The substitute for a measurement that could not be obtained: a null with the reason."""
        self.progress.unrated += 1
        self.unrated_row += 1
        if self.unrated_row >= FRUITLESS:
            self._stop(
                UsageError(
                    f"{self.unrated_row} assessments in a row could not be had from {player.model}, the last because "
                    f"of {error}; fix the cause and run the same command again"
                )
            )
        return Reply(problem=f"{NO_ANSWER}{error}")

    def _show_soon(self) -> None:
        now = time.monotonic()
        if now - self.shown_at >= _SHOW_EVERY:
            self.shown_at = now
            self.show()

    def _unknown_replies(self, game_id: str) -> BadData:
        return BadData(
            f"{self.journal.path} holds replies of game {game_id} that the rules do not ask for: another version of "
            f"Liescope began it ({self.journal.versions.get('liescope', 'unknown')}); go on with that, or start anew"
        )


async def _asked(player: Player, ask: Ask, view: Sequence[Event]) -> Reply:
    """The player's reply. An error in a player, perhaps a user's own code, fails its game, not the run."""
    try:
        return await player.answer(ask, view)
    except LiescopeError:
        raise
    except Exception as error:
        words = PlayerFailed(" ".join(str(error).split()))  # hides keys, which a cut would make hard to find
        raise PlayerFailed(f"it raised {type(error).__name__}: {str(words)[:200]}") from error


def _all_or_first_error(results: Sequence[Reply | BaseException]) -> list[Reply]:
    """The replies of a batch once all have ended, or the most serious error: PlayerFailed only if there is no other."""
    errors = [result for result in results if isinstance(result, BaseException)]
    for error in sorted(errors, key=lambda error: isinstance(error, PlayerFailed)):
        raise error  # the first, if there is any
    return [result for result in results if isinstance(result, Reply)]


def open_players(specs: Sequence[str], context: PlayerContext, stack: AsyncExitStack) -> dict[str, Player]:
    players: dict[str, Player] = {}
    for spec in specs:
        player = open_player(spec, context)
        stack.push_async_callback(player.close)
        for other, known in players.items():
            if known.model == player.model:
                raise UsageError(
                    f"the players {other} and {spec} would both be called {player.model!r}, so games could not be "
                    "distinguished; leave one out"
                )
        players[spec] = player
    return players


async def prepare(players: Sequence[Player]) -> None:
    """Prepare all players at once. Raises the first error, unless the budget is spent, which ends the run later."""
    errors = await asyncio.gather(*(player.prepare() for player in players), return_exceptions=True)
    for error in errors:
        if error is not None and not isinstance(error, BudgetSpent):
            raise error
