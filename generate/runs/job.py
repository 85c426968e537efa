"""The work of a runner: the games that a plan lists, how each begins, and the record of each when it ends.

A lesson book holds what one model learned in one cell, without near duplicates: a lesson is left out if it repeats one
of its kind in the book: with names masked, the cosine similarity of their sentence embeddings is at least NEAR. The
book also notes how many lessons each game began with, so that a resumed or retried game begins with the same ones.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liescope.common.reading import Reading, read_bytes
from liescope.common.sentence_encoder import load_encoder
from liescope.games.core import EventKind, Game, Lesson, LessonKind, Outcome
from liescope.games.facts import ForkMeta, LessonMeta
from liescope.games.game_registry import find_game
from liescope.games.record import GameRecord, record
from liescope.games.session import Session
from liescope.generate.players.player_protocol import Activity, Player
from liescope.generate.players.prompts.render import Templates
from liescope.generate.runs.moment import FILE, ForkPlan, Moment
from liescope.generate.runs.plan_games import templates_for
from liescope.generate.runs.run_folder import LESSONS
from liescope.generate.runs.run_plan import Cell, Plan, PlannedGame, RunPlan, lessons_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
        """The game at its first ask. players: by spec."""

    async def end(
        self, planned: PlannedGame, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        """The record of a game that ended or failed. players: by seat."""
        who = {name: (player.model, player.source) for name, player in players.items()}
        meta = await self.meta(planned, game, failure)
        if attributes := self.plan.attributes(game.names):
            meta["attributes"] = attributes
        return record(game, outcome, who, self.plan.label(planned), failure, meta)

    def ended(self, game: GameRecord) -> None:  # noqa: B027
        """A game is in the journal, done or failed."""

    async def meta(self, planned: PlannedGame, game: Game, failure: str) -> dict[str, Any]:
        """What the record of a game keeps besides its events."""
        raise NotImplementedError


MOST_ASIDE = 10_000  # chains held ready; they have not begun and hold only their plan
_QUEUE = 0.1  # so large a share of the allowed requests waits in line, so that no slot stays empty


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
        self.gone: set[str] = set()  # hosts that were given up: games that need one are not begun

    @property
    def empty(self) -> bool:
        """Whether no chain is under way."""
        return not any(self._under_way.values())

    def look(self) -> None:
        """Note that the hosts' figures now include the chains given out so far."""
        self._starting.clear()

    def next(self) -> tuple[Sequence[PlannedGame], frozenset[str]] | None:
        """A chain that may begin, with the hosts that it needs; None if there is none now."""
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
    """Each game is played by the players of its cell; in learning cells they know the lessons of earlier games. out:
    the run's folder. Raises MissingExtra if learning needs a package that is missing.
    """

    plan: Plan

    def __init__(self, plan: Plan, out: Path, templates: Templates | None = None) -> None:
        super().__init__(plan, templates or templates_for(plan.prompts, plan.game, out))
        self._learner = find_game(plan.game).learner
        self._out = out
        self._books: dict[Cell, LessonBook] = {}
        self._similarity = open_similarity() if any(plan.learning) else None

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
            # In a thread: embedding takes long enough to stall every other game.
            meta["lessons"] = await asyncio.to_thread(self._book(planned).add, planned.game_id, planned.turn, proposed)
        return meta

    def _book(self, planned: PlannedGame) -> LessonBook:
        if planned.cell not in self._books:
            assert self._similarity is not None
            model = planned.cell[self.plan.roles.index(self._learner)]
            digest = sha256(" | ".join(planned.cell).encode()).hexdigest()[:6]
            name = f"{re.sub(r'[^A-Za-z0-9.-]+', '-', model).strip('-')[:60]}-{digest}.jsonl"
            self._books[planned.cell] = LessonBook(
                self._out / LESSONS / name, self._similarity, self.plan.known_names, self.plan.taught
            )
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
        return self.moment.continued(self.plan, planned)

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


# Lessons

_WORDS_TOO = frozenset({"will", "may", "mark", "bill", "rob", "sue", "grant", "drew", "chase", "pat"})
_SEVERAL = re.compile(r"\banother player((?:, another player)*),? (?:and|or) another player\b")


def without_names(text: str, names: Iterable[str], own: str | None = None) -> str:
    """The text with the author's own name as "me" and every other player's as "another player". A name that is also a
    word ("Will") stays at the beginning of a sentence.
    """
    for name in sorted(names, key=len, reverse=True):
        said = "me" if name == own else "another player"
        found = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        text = found.sub(partial(_unnamed, name=name, said=said), text)
    return _SEVERAL.sub("other players", text)


def _unnamed(match: re.Match[str], name: str, said: str) -> str:
    before = match.string[: match.start()].rstrip(" \"'“‘(*")
    begins = not before or before[-1] in ".!?\n"
    if begins and name.lower() in _WORDS_TOO:
        return match.group()
    return said[:1].upper() + said[1:] if begins else said


NEAR = 0.8
Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]  # (n,) texts to (n, width) vectors of length 1


class LessonBook:
    """A book in a file, which is created with its first line. Only one process, and one game at a time, writes to it.
    names: the players' names, which are masked when lessons are compared; taught: lessons from elsewhere, before all
    others and not in the file.

    Raises BadData if the file holds something else. A truncated last line is removed.
    """

    def __init__(self, path: Path, embed: Embed, names: Sequence[str] = (), taught: tuple[Lesson, ...] = ()) -> None:
        self._path = path
        self._embed = embed
        self._names, self._taught = tuple(names), taught
        self._kept: list[tuple[str, Lesson]] = []  # with the game that proposed it
        self._begun: dict[str, int] = {}
        if path.exists():
            self._read()

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """All lessons, the oldest first."""
        return (*self._taught, *(lesson for _, lesson in self._kept))

    def begin(self, game_id: str) -> tuple[Lesson, ...]:
        """The lessons that a game begins with; the same ones on every call."""
        if game_id not in self._begun:
            self._begun[game_id] = len(self._kept)
            self._append([{"game": game_id, "begins_with": len(self._kept)}])
        return self.lessons[: len(self._taught) + self._begun[game_id]]

    def add(self, game_id: str, turn: int, proposed: Sequence[Lesson]) -> list[LessonMeta]:
        """Keep what is new in a game's proposals; adding the same ones again changes nothing."""
        place = next((n for n, (game, _) in enumerate(self._kept) if game == game_id), len(self._kept))
        judged = self._judge(self.lessons[: len(self._taught) + place], proposed)
        written = [lesson for game, lesson in self._kept if game == game_id]
        new = [one for one, found in zip(proposed, judged, strict=True) if found["kept"] and one not in written]
        self._kept += [(game_id, lesson) for lesson in new]
        self._append(
            [{"game": game_id, "turn": turn, "kind": lesson.kind.value, "text": lesson.text} for lesson in new]
        )
        return judged

    def _judge(self, known: Sequence[Lesson], proposed: Sequence[Lesson]) -> list[LessonMeta]:
        if not proposed:
            return []
        texts = [without_names(lesson.text, self._names) for lesson in (*known, *proposed)]
        vectors = self._embed(texts)
        book = [(lesson.kind, vector) for lesson, vector in zip(known, vectors, strict=False)]
        judged = []
        for lesson, vector in zip(proposed, vectors[len(known) :], strict=True):
            nearest = max((float(kept @ vector) for kind, kept in book if kind is lesson.kind), default=None)
            new = nearest is None or nearest < NEAR
            if new:
                book.append((lesson.kind, vector))
            near = None if nearest is None else round(nearest, 4)
            judged.append(LessonMeta(kind=lesson.kind.value, text=lesson.text, kept=new, nearest=near))
        return judged

    def _append(self, lines: Sequence[dict[str, Any]]) -> None:
        if not lines:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as out:
            out.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
            out.flush()
            os.fsync(out.fileno())

    def _read(self) -> None:
        text = read_bytes(self._path)
        whole, _, torn = text.rpartition(b"\n")
        if torn:  # a process was killed while writing; the game concerned will add its lessons again
            with self._path.open("r+b") as file:
                file.truncate(len(whole) + 1 if whole else 0)
        with Reading(f"the lessons in {self._path}", "restore it from a copy"):
            self._kept = lessons_in(whole.decode())
            lines = [line for line in map(json.loads, whole.splitlines()) if "begins_with" in line]
            self._begun = {line["game"]: line["begins_with"] for line in lines}


@lru_cache(maxsize=1)
def open_similarity() -> Embed:
    """Embeddings by the bundled sentence encoder. Raises MissingExtra if it is not installed."""
    import numpy as np

    model = load_encoder()

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = model.encode(
            list(texts), convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False, precision="float32"
        )
        return np.asarray(vectors, dtype=np.float32)

    return embed
