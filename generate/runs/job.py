"""The work of a runner: the games that a plan lists, how each begins, and the record of each when it ends.

Rated games go into a run of their own, with the ids, seats and models of the original games; the original run is only
read. If it gains more games, the same command rates those too: a rated game keeps its place in the run.
"""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from liescope.common.errors import UsageError
from liescope.common.parts import Part
from liescope.games.core import EventKind, Game, Lesson, LessonKind, Outcome
from liescope.games.facts import ForkMeta
from liescope.games.game_registry import find_game
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import GameRecord, Status, record
from liescope.games.session import Session
from liescope.generate.players.player_protocol import Activity, Player
from liescope.generate.players.player_registry import files_of
from liescope.generate.players.prompts import Templates
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.lesson_book import LessonBook, open_similarity, without_names
from liescope.generate.runs.moment import FILE, ForkPlan, Moment, beginning
from liescope.generate.runs.plan_games import templates_for
from liescope.generate.runs.run_folder import PART, handed_on
from liescope.generate.runs.run_plan import PEOPLE, Cell, Plan, PlannedGame, RatingPlan, RunPlan, short_hash
from liescope.labeling.beliefs import claims_made

LESSONS = "lessons"  # the folder of the lesson books in a run's folder


class Job(ABC):
    """A plan at work. templates: of the prompts that the run begins with."""

    def __init__(self, plan: RunPlan, templates: Templates) -> None:
        self.plan = plan
        self.templates = templates

    def __len__(self) -> int:
        return len(self.plan)

    def chains(self, ended: Set[str]) -> Iterator[Sequence[PlannedGame]]:
        """The games that have not ended; games in a chain run one after the other, chains run in parallel."""
        return self.plan.chains(ended)

    def seats(self, planned: PlannedGame, game: Game) -> Mapping[str, str]:
        """The player's spec in each seat that may be asked."""
        return self.plan.seats(planned, game.roles)

    def kept(self) -> Mapping[str, Mapping[str, str]]:
        """Texts besides templates that the journal keeps, by hash and name."""
        return {}

    @abstractmethod
    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:
        """The game at the first ask that is to be answered. players: by spec."""

    async def end(
        self, planned: PlannedGame, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        """The record of a game that ended or failed. players: by seat."""
        who = {name: (player.model, player.source) for name, player in players.items()}
        meta = await self.meta(planned, game, failure)
        return record(game, outcome, who, self.plan.label(planned), failure, meta)

    async def meta(self, planned: PlannedGame, game: Game, failure: str) -> dict[str, Any]:
        """What the record of a game keeps besides its events."""
        raise NotImplementedError


MOST_ASIDE = 10_000  # chains that stand aside; they are not begun and hold only their plan
_QUEUE = 0.1  # of the requests that may be under way: those that wait, so that none of the room stays empty


class Scheduler:
    """The chains of a job, given out one at a time.

    hosts: of a game, "" for one that needs none; known: all of them; activity: of the hosts; most: chains under way at
    once for each host.
    """

    def __init__(
        self,
        chains: Iterator[Sequence[PlannedGame]],
        hosts: Callable[[PlannedGame], Iterable[str]],
        known: Collection[str],
        activity: Activity,
        most: int,
    ) -> None:
        self._chains = chains
        self._hosts = hosts
        self._known = known
        self._activity = activity
        self._most = most
        self._aside: dict[frozenset[str], deque[Sequence[PlannedGame]]] = {}
        self._under_way: Counter[str] = Counter()  # chains by host
        self._starting: Counter[str] = Counter()  # chains given out since the last look at the hosts' figures
        self._left = True
        self.gone: set[str] = set()  # hosts that were given up: no game that needs one is begun

    @property
    def empty(self) -> bool:
        """Whether no chain is under way."""
        return not any(self._under_way.values())

    def look(self) -> None:
        """The hosts' figures show by now what was given out before."""
        self._starting.clear()

    def next(self) -> tuple[Sequence[PlannedGame], frozenset[str]] | None:
        """A chain that may begin, and the hosts that it needs; None if there is none now."""
        for hosts, waiting in self._aside.items():
            if waiting and all(map(self._room, hosts)):
                return self._begin(waiting.popleft(), hosts)
        while self._left and sum(map(len, self._aside.values())) < MOST_ASIDE and any(map(self._room, self._known)):
            chain = next(self._chains, None)
            if chain is None:
                self._left = False
                break
            hosts = frozenset(self._hosts(chain[0]))
            hosts = hosts - {""} or hosts
            if all(map(self._room, hosts)):
                return self._begin(chain, hosts)
            self._aside.setdefault(hosts, deque()).append(chain)
        return None

    def ended(self, hosts: frozenset[str]) -> None:
        """A chain with these hosts ended."""
        self._under_way.subtract(hosts)

    def _begin(
        self, chain: Sequence[PlannedGame], hosts: frozenset[str]
    ) -> tuple[Sequence[PlannedGame], frozenset[str]]:
        self._under_way.update(hosts)
        self._starting.update(hosts)
        return chain, hosts

    def _room(self, host: str) -> bool:
        """Whether a game that needs the host may begin. A host that is down gets one game, which finds out when it is
        back.
        """
        games = self._under_way[host]
        if games == 0 or not host:
            return host not in self.gone and games < self._most
        known = self._activity.at(host)
        if host in self.gone or known.paused or games >= self._most:
            return False
        busy = known.under_way + known.queued + self._starting[host]
        return known.limit is None or busy < known.limit * (1 + _QUEUE) + 1


class Playing(Job):
    """Each game is played by the players of its cell; in learning cells they know the lessons of earlier games.

    out: the run's folder; first: play only so many games, those with the lowest numbers. Raises MissingExtra if
    learning needs a package that is missing.
    """

    plan: Plan

    def __init__(self, plan: Plan, out: Path, templates: Templates | None = None, first: int | None = None) -> None:
        super().__init__(plan, templates or templates_for(plan.prompts, plan.game, out))
        self._learner = find_game(plan.game).learner
        self._end = plan.numbers[first] if first is not None and first < len(plan) else plan.numbers[-1] + 1
        self._out = out
        self._books: dict[Cell, LessonBook] = {}
        self._similarity = open_similarity() if any(plan.learning) else None

    def chains(self, ended: Set[str]) -> Iterator[Sequence[PlannedGame]]:
        for chain in self.plan.chains(ended):  # by the number of their first game
            opening = [game for game in chain if game.number < self._end]
            if not opening:
                return
            yield opening

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:  # noqa: ARG002
        lessons = self._book(planned).begin(planned.game_id) if planned.learning else ()
        return Session(self.plan.make(planned, lessons))

    async def meta(self, planned: PlannedGame, game: Game, failure: str) -> dict[str, Any]:
        meta: dict[str, Any] = {"turn": planned.turn, "seating": self.plan.seating}
        if self._learner in self.plan.roles:
            meta["learning"] = planned.learning
        if planned.learning and not failure:
            proposed = [
                Lesson(LessonKind(event.data["kind"]), without_names(event.text, game.names, event.actor))
                for event in game.events
                if event.kind is EventKind.LESSON
            ]
            # Embedding takes long enough to keep every other game waiting.
            judged = await asyncio.to_thread(self._book(planned).add, planned.game_id, planned.turn, proposed)
            meta["lessons"] = [
                {"kind": one.lesson.kind.value, "text": one.lesson.text, "kept": one.kept, "nearest": one.nearest}
                for one in judged
            ]
        return meta

    def _book(self, planned: PlannedGame) -> LessonBook:
        if planned.cell not in self._books:
            assert self._similarity is not None
            model = planned.cell[self.plan.roles.index(self._learner)]
            digest = sha256(" | ".join(planned.cell).encode()).hexdigest()[:6]
            name = f"{re.sub(r'[^A-Za-z0-9.-]+', '-', model).strip('-')[:60]}-{digest}.jsonl"
            self._books[planned.cell] = LessonBook(self._out / LESSONS / name, self._similarity, self.plan.spec.seats())
        return self._books[planned.cell]


class Forking(Job):
    """Playing the continuations of a moment."""

    plan: ForkPlan

    def __init__(self, plan: ForkPlan, moment: Moment, templates: Templates) -> None:
        super().__init__(plan, templates)
        self.moment = moment
        self._events = len(moment.session().events)

    def kept(self) -> Mapping[str, Mapping[str, str]]:
        return {self.moment.hash: {FILE: self.moment.text}}

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:  # noqa: ARG002
        return self.moment.continued(planned)

    async def meta(self, planned: PlannedGame, game: Game, failure: str) -> dict[str, Any]:  # noqa: ARG002
        plan = self.plan
        fork = ForkMeta(
            run=plan.fork,
            game=plan.of,
            step=plan.step,
            root=plan.root,
            seat=plan.seat,
            group=plan.label(planned),
            number=planned.turn,
            events=self._events,
        )
        if plan.people:
            fork["people"] = plan.people
        learning = {"learning": True} if planned.learning else {}
        return {"turn": planned.turn, "seating": plan.seating, "fork": fork, **learning}


class RatingJob(Job):
    """The rating of every game of a run that was played to the end. source: that run."""

    plan: RatingPlan

    def __init__(self, plan: RatingPlan, templates: Templates, source: Path) -> None:
        super().__init__(plan, templates)
        self._source = source
        with Journal.open(source, checked=True) as journal:
            self._games = dict(journal.done())
            if plan.part and PART not in journal.plan:  # the games of a part are a share already
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
        del planned, outcome, players  # a rated game keeps those that it was played with
        assert isinstance(game, RatedGame)
        record = game.record()
        return replace(record, status=Status.FAILED, failure=failure) if failure else record


def _speakers(journal: Journal) -> tuple[str, ...]:
    """The players of a run that can be asked what they believe. Raises UsageError if there are none."""
    if Plan.KEY not in journal.plan:
        raise UsageError(f"{journal.path} holds no games that were played here from their start; nobody can be asked")
    found = tuple(spec for spec in Plan.parse(journal.plan, journal.path).specs if not spec.startswith(PEOPLE))
    if not found:
        raise UsageError(f"only people play in {journal.path}, and these are not asked what they believe")
    return found


def _asked(journal: Journal, game: GameRecord) -> dict[str, str]:
    """The specs of the seats of a game whose players can be asked."""
    made = beginning(journal, game.game_id)
    specs = made.plan.seats(made.planned, {seat.name: seat.role for seat in game.seats})
    return {name: spec for name, spec in specs.items() if not spec.startswith(PEOPLE)}
