"""The plan of a run: its games, their players and the seed. The same plan always gives the same games.

Everything that changes a game is in the plan. What does not (how many games at once, budgets, timeouts, prices) is
left out, so that a run can be resumed with other limits. A run plays games from their start (`Plan`), goes on from a
moment of a recorded game (`ForkPlan`) or rates games that have ended (`RatingPlan`); to the runner each is a `RunPlan`.
"""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData, LiescopeError
from liescope.common.reading import fault
from liescope.common.text import plain
from liescope.games.core import Game, Lesson, LessonKind
from liescope.games.game_options import GameSpec
from liescope.games.game_registry import find_game
from liescope.games.playable import roles_in_play
from liescope.games.rated_game import RatingSpec
from liescope.generate.players.player_registry import summaries_of
from liescope.generate.runs.journal_reader import number_in
from liescope.generate.runs.run_folder import PART, PLAN_FILE, numbers_of

Cell = tuple[str, ...]  # the player's spec for each role, in the game's order of roles


def seating(deck: Sequence[str], names: Sequence[str], random: Random) -> Iterator[tuple[list[str], list[str]]]:
    """A block of as many games as there are cards, in which every name holds every card of the deck exactly once.

    Yields (names as they sit, the cards: one for each name, then those that no one holds). Within a block the seating
    order stays the same, so that roles are balanced over places as well; it and the arrangement of roles are redrawn
    for each block. The games of a block are ordered so that the first few are as balanced as possible, however many are
    played. The speaking order is drawn by the game itself, round by round.
    """
    order = random.sample(list(names), len(names))
    cards = random.sample(list(deck), len(deck))
    turns = [cards[turn:] + cards[:turn] for turn in random.sample(range(len(cards)), len(cards))]
    held: Counter[tuple[int, str]] = Counter()
    while turns:
        turn = min(turns, key=lambda roles: sum(held[place, role] for place, role in enumerate(roles)))
        turns.remove(turn)
        held.update(enumerate(turn))
        yield order, turn


PEOPLE = "human:"  # the beginning of the specs of people
OUTSIDE = (PEOPLE, "agent:")  # of everybody who is asked only while their game is live
NAME = "name"  # the column of a file of names that holds them
TABLE = "table"  # the design, and the one cell, of a game whose seats are held


class Group(BaseModel):
    """One intervention at a moment. player: the spec that plays the seat from there on; say: what the seat says at
    that moment, None if its player decides; label: in words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    player: str
    say: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One game of a plan. number: its place in the run, from 0; turn: its number in its cell or group, from 0.

    Of a game that is played from its start: seats: its names as they sit; roles: their roles, empty if the game
    deals them; learning: whether the learner of the cell learns from game to game. Of a continuation: its group.
    """

    number: int
    game_id: str
    cell: Cell = ()
    turn: int = 0
    seed: int = 0
    seats: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    learning: bool = False
    group: Group | None = None


class RunPlan(BaseModel):
    """The base of all plans. game: its name; templates: hash of the prompt files; files: the texts of the files that
    the specs name; part: the share of the games that this run plays, as K/N, "" for all: everything else is as in the
    whole plan; names: those that each game draws its own from, with their attributes; empty if they are fixed. KEY: a
    key that only plans of this kind have; GAMES: what they plan, in words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    KEY: ClassVar[str]
    GAMES: ClassVar[str]

    game: str
    templates: str
    files: dict[str, str] = Field(default_factory=dict)
    part: str = ""
    names: tuple[dict[str, str], ...] = ()

    def attributes(self, seats: Sequence[str]) -> dict[str, dict[str, str]]:
        """What is known of the names in play, by name and attribute; empty for fixed names."""
        told = {row[NAME]: {key: value for key, value in row.items() if key != NAME} for row in self.names}
        return {name: told[name] for name in seats if told.get(name)}

    @classmethod
    def parse(cls, data: Mapping[str, Any], where: Path) -> Self:
        """The plan in a run folder. Raises BadData if it is not one of this kind."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            why = plain(fault(error))
            raise BadData(f"{where} does not hold a plan of {cls.GAMES} ({why}); choose another --out") from None

    def to_json(self) -> dict[str, Any]:
        """The plan as plain JSON data, defaults left out."""
        data = self.model_dump(mode="json")
        for name, field in type(self).model_fields.items():
            if not field.is_required() and getattr(self, name) == field.get_default(call_default_factory=True):
                del data[name]
        return data

    @cached_property
    def hash(self) -> str:
        """A hash of everything in the whole plan, 64 hexadecimal digits."""
        return hash_of(self.to_json())

    @property
    @abstractmethod
    def specs(self) -> tuple[str, ...]:
        """Every spec that the games need, once."""

    @property
    @abstractmethod
    def numbers(self) -> Sequence[int]:
        """The numbers of the games that are played here, in order."""

    def __len__(self) -> int:
        return len(self.numbers)

    @abstractmethod
    def planned(self, number: int) -> PlannedGame:
        """The game with this number, from 0."""

    @abstractmethod
    def seats(self, planned: PlannedGame, roles: Mapping[str, str]) -> dict[str, str]:
        """The player's spec in each seat of a game. roles: the role of each seat."""

    def specs_of(self, planned: PlannedGame) -> tuple[str, ...]:  # noqa: ARG002
        """The players that a game needs."""
        return self.specs

    def label(self, planned: PlannedGame) -> str:  # noqa: ARG002
        """The name of a game's cell or group."""
        return ""

    def game_id(self, number: int) -> str:
        return f"{self.hash[:8]}-{number:06d}"

    def schedule(self, ended: Set[str] = frozenset()) -> Iterator[PlannedGame]:
        """The games in order of play, without those that have ended. Cells take turns, so that a run stopped early has
        games from every cell.
        """
        return (self.planned(number) for number in self.numbers if self.game_id(number) not in ended)

    def chains(self, ended: Set[str] = frozenset()) -> Iterator[tuple[PlannedGame, ...]]:
        """The games that have not ended, in chains whose games must be played in sequence."""
        return ((planned,) for planned in self.schedule(ended))

    def draw(self, game_id: str) -> str:
        """A key that separates a game's draws from those of the plan's other games; unchanged in a plan with more
        games.
        """
        return game_id


class Served(BaseModel):
    """How people got their seats. consent: the paragraphs of the text that they agreed to; words, choices, away:
    for how many seconds the game waited for words, for anything else, and for people who were away.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    consent: tuple[str, ...] = Field(min_length=1)
    words: float
    choices: float
    away: float


class Plan(RunPlan):
    """Games played from their start. options: the game's resolved options; cells: the player's spec for each role, or
    for each seat where all have one role; games: the number in each cell; seating: how roles are dealt
    (`planning.SEATINGS`); learning: for each cell, whether its learner learns, empty if none does; lessons: the file
    of lessons that every learner begins with, "" for none; held: in a game
    whose seats are taken before roles are dealt, the spec of the player in each seat, else empty; served: how its
    people joined; ids: the beginning of its games' ids,
    where a withdrawal changed the plan's hash.
    """

    KEY = "cells"
    GAMES = "played games"

    options: dict[str, Any]
    players: tuple[str, ...]
    design: str
    cells: tuple[Cell, ...] = Field(min_length=1)
    games: int = Field(ge=1)
    seed: int
    seating: str
    prompts: str
    learning: tuple[bool, ...] = ()
    lessons: str = ""
    held: dict[str, str] = Field(default_factory=dict)
    served: Served | None = None
    ids: str = ""

    @classmethod
    def parse(cls, data: Mapping[str, Any], where: Path) -> Self:
        """The plan in a run folder. Raises BadData if it is not a plan of games to play, for example that of imported
        games, or if its options make no valid game.
        """
        plan = super().parse(data, where)
        try:
            plan.spec.check()
            plan.taught  # noqa: B018 - LookupError without the file, ValueError for one that holds no lessons
            hash(plan.spec)  # TypeError for an unhashable value, such as a list where a text belongs
            json.dumps(data, allow_nan=False)  # ValueError for NaN, which JSON lacks
        except (LiescopeError, TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
            why = f"makes no game ({plain(str(error))})"
            raise BadData(f"{where} holds a plan that {why}; restore {PLAN_FILE}") from None
        if plan.held and set(plan.held) != set(plan.spec.seats()):
            fault = "whose seats are not those of its game"
        elif len({row.get(NAME) for row in plan.names} - {None, ""}) < (len(plan.spec.seats()) if plan.names else 0):
            fault = "whose names do not fill the seats of its game"
        elif any(len(cell) not in plan.sizes for cell in plan.cells) or len(plan.learning) not in (0, len(plan.cells)):
            fault = "whose cells do not fit its game"
        else:
            return plan
        raise BadData(f"{where} holds a plan {fault}; restore {PLAN_FILE} from a copy")

    @cached_property
    def spec(self) -> GameSpec:
        """The game before roles are dealt."""
        return find_game(self.game).spec.replaced(**self.options)

    @cached_property
    def taught(self) -> tuple[Lesson, ...]:
        """The lessons that every learner begins with."""
        return tuple(lesson for _, lesson in lessons_in(self.files[self.lessons])) if self.lessons else ()

    @property
    def known_names(self) -> tuple[str, ...]:
        """All names that its games may use."""
        return tuple(row[NAME] for row in self.names) or self.spec.seats()

    @property
    def roles(self) -> tuple[str, ...]:
        return roles_in_play(self.spec)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many players a cell may name: one for each role, or for each seat where all have one role."""
        return (len(self.roles),) if len(self.roles) > 1 else (1, len(self.spec.seats()))

    @property
    def specs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.held.values() or (spec for cell in self.cells for spec in cell)))

    @cached_property
    def numbers(self) -> Sequence[int]:
        return numbers_of(len(self.cells), self.games, self.part, whole=bool(self.learning))

    def specs_of(self, planned: PlannedGame) -> tuple[str, ...]:
        return self.specs if self.held else planned.cell

    def seats(self, planned: PlannedGame, roles: Mapping[str, str]) -> dict[str, str]:
        if self.held:
            return {name: self.held[name] for name in roles}
        cell = planned.cell
        if len(self.roles) == 1:
            return {name: cell[(place + planned.turn) % len(cell)] for place, name in enumerate(roles)}
        of = dict(zip(self.roles, cell, strict=True))
        return {name: of[role] for name, role in roles.items()}

    def label(self, planned: PlannedGame) -> str:
        if self.held:
            return TABLE
        cell = " | ".join(planned.cell)
        return f"{cell} | learning {'on' if planned.learning else 'off'}" if self.learning else cell

    def chains(self, ended: Set[str] = frozenset()) -> Iterator[tuple[PlannedGame, ...]]:
        """The games that have not ended, in chains whose games must be played in sequence. The games of a learning cell
        form one chain; every other game is a chain by itself.
        """
        if not self.learning:
            return super().chains(ended)
        found: dict[int, list[PlannedGame]] = {}
        for planned in self.schedule(ended):
            place = planned.number % len(self.cells)
            found.setdefault(place if planned.learning else -planned.number - 1, []).append(planned)
        return iter(map(tuple, found.values()))

    def game_id(self, number: int) -> str:
        return f"{self.ids or self.hash[:8]}-{number:06d}"

    def planned(self, number: int) -> PlannedGame:
        turn, place = divmod(number, len(self.cells))
        seats, roles = self._seated(place, turn)
        learning = self.learning_in(place)
        return PlannedGame(
            number, self.game_id(number), self.cells[place], turn, self._seed(number), seats, roles, learning
        )

    def learning_in(self, place: int) -> bool:
        """Whether the learner of the cell at this place learns."""
        return bool(self.learning) and self.learning[place]

    def draw(self, game_id: str) -> str:
        """Differs also between cells with the same players."""
        number = number_in(game_id) or 0
        learns, before = self._twins[number % len(self.cells)]
        return f"{self._seed(number)} {learns} {before}"

    def make(self, game: PlannedGame, lessons: tuple[Lesson, ...] = ()) -> Game:
        """The game, ready to start. lessons: what the learner of a learning cell knows."""
        learning: dict[str, Any] = {"learning": True, "lessons": lessons} if game.learning else {}
        if self.taught and not game.learning:
            learning = {"lessons": self.taught}
        spec = self.spec.replaced(names=game.seats, roles=game.roles, **learning)
        made = find_game(self.game).make(spec, game.seed, game.game_id)
        made.summaries = summaries_of(self.seats(game, made.roles))
        return made

    def _seed(self, number: int) -> int:
        turn, place = divmod(number, len(self.cells))
        return drawn(self.seed, *self._drawn_for(place), turn)

    @cached_property
    def _twins(self) -> tuple[tuple[bool, int], ...]:
        """For each cell: whether its learner learns, and how many such cells with the same players come before it."""
        before: Counter[tuple[Cell, bool]] = Counter()
        found = []
        for place, cell in enumerate(self.cells):
            learns = self.learning_in(place)
            found.append((learns, before[cell, learns]))
            before[cell, learns] += 1
        return tuple(found)

    def _drawn_for(self, place: int) -> tuple[str, ...]:
        """A key that separates a cell's draws from those of others: its players, and its number among equal cells
        unless it is the first.
        """
        _, before = self._twins[place]
        return (*self.cells[place], str(before)) if before else self.cells[place]

    def _seated(self, place: int, turn: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        cell = self._drawn_for(place)
        if self.seating == "balanced":
            block, place = divmod(turn, len(self.spec.deck()))
            return _block(self.spec, self._names(cell, block), drawn(self.seed, *cell, "seats", block))[place]
        names = self._names(cell, turn)
        if self.seating == "fixed":
            return names, tuple(self.spec.deck())
        return tuple(Random(drawn(self.seed, *cell, "seats", turn)).sample(names, len(names))), ()

    def _names(self, cell: Cell, block: int) -> tuple[str, ...]:
        """The names of a block of games: the next ones of a shuffled circle of all names, which is shuffled anew once
        each name has been drawn equally often.
        """
        seats, every = self.spec.seats(), self.known_names
        if not self.names:
            return seats
        circle, at = divmod(block, len(every) // math.gcd(len(every), len(seats)))
        order = Random(drawn(self.seed, *cell, "names", circle)).sample(every, len(every))
        return tuple(order[(at * len(seats) + place) % len(every)] for place in range(len(seats)))


def lessons_in(book: str) -> list[tuple[str, Lesson]]:
    """The lessons in the text of a lesson book, each with the game that proposed it. Raises ValueError, TypeError or
    KeyError if it is no book.
    """
    lines = [line for line in map(json.loads, book.splitlines()) if "begins_with" not in line]
    return [(line.get("game", ""), Lesson(LessonKind(line["kind"]), line["text"])) for line in lines]


@lru_cache(maxsize=4096)
def _block(spec: GameSpec, names: tuple[str, ...], seed: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(tuple(order), tuple(roles)) for order, roles in seating(spec.deck(), names, Random(seed))]


def drawn(*given: object) -> int:
    """A number below 2**48 that depends only on what is given."""
    return int.from_bytes(sha256(json.dumps([*map(str, given)]).encode()).digest()[:6], "big")


def hash_of(plan: Mapping[str, Any]) -> str:
    """A hash of a plan as plain JSON data, 64 hexadecimal digits; the parts of a plan have that of the whole."""
    whole = {name: value for name, value in plan.items() if name != PART}
    return sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def short_hash(plan: Mapping[str, Any]) -> str:
    """The hash that a run made from another keeps of its plan: 16 hexadecimal digits."""
    return hash_of(plan)[:16]


class RatingPlan(RunPlan):
    """Recorded games that are rated. judged: the run's name; origin: a hash of its plan; judge: who rates;
    speakers: instead of a rater, the players who are asked about their own statements; asked: for what.
    """

    KEY = "judged"
    GAMES = "rated games"

    judged: str
    origin: str
    judge: str
    asked: RatingSpec
    speakers: tuple[str, ...] = ()
    prompts: str = ""
    templates: str = ""
    terms: dict[str, Any] = Field(default_factory=dict)
    game_texts: dict[str, str] = Field(default_factory=dict)

    @property
    def specs(self) -> tuple[str, ...]:
        return self.speakers or (self.judge,)

    @property
    def numbers(self) -> Sequence[int]:
        return ()  # the rated run knows its games

    def planned(self, number: int) -> PlannedGame:
        raise IndexError(number)

    def seats(self, planned: PlannedGame, roles: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        return dict.fromkeys(roles, self.judge)
