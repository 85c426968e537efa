"""The plan of a run: its games, their players and the seed. The same plan always gives the same games.

Everything that changes a game is in the plan. What does not (how many games at once, budgets, timeouts, prices) is
left out, so that a run can be resumed with other limits. A game's id consists of the plan's hash and its number; its
seed depends on the plan's seed, the cell and its number in the cell.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData, LiescopeError, UnknownName, UsageError
from liescope.common.text import plain
from liescope.games.core import Game
from liescope.games.lessons import Lesson
from liescope.games.playable import roles_in_play
from liescope.games.registry import find_game
from liescope.games.table import TableSpec, planned_options
from liescope.generate.players.paced import Pacing
from liescope.generate.players.prompts.families import FAMILIES
from liescope.generate.players.prompts.render import hash_templates
from liescope.generate.players.registry import files_of
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.recordings import Dealt, recorded_games
from liescope.generate.runs.tournament import SEATINGS, Cell, seating

MOST_GAMES = 10**9
TABLE = "table"  # the design, and the one cell, of a table whose seats are held
SEEDS = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One game of a plan. turn: its number in its cell, from 0; seats: its names in table order; roles: their roles,
    empty if the game deals them; learning: whether the learner of the cell learns from game to game.
    """

    number: int
    game_id: str
    cell: Cell
    turn: int
    seed: int
    seats: tuple[str, ...]
    roles: tuple[str, ...]
    learning: bool = False


class Served(BaseModel):
    """How people came to a table. consent: the paragraphs of the text that they agreed to; words, choices, away: for
    how many seconds the table waited for words, for anything else, and for people who were away; pacing: of the answers
    of programs, None if they came as fast as they could.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    consent: tuple[str, ...] = Field(min_length=1)
    words: float
    choices: float
    away: float
    pacing: Pacing | None = None


class Plan(BaseModel):
    """What a run plays. options: the game's resolved options; cells: the player's spec for each role; games: the number
    in each cell; seating: how roles are dealt (`tournament.SEATINGS`); templates: hash of the prompt files; learning:
    for each cell, whether its learner learns, empty if none does; files: the texts of the files that the specs name;
    recorded: the games that are played again, the same in every cell, empty if the games are new; held: at a table
    whose seats are taken before roles are dealt, the spec of the player in each seat, else empty; served: how its
    people came to it; ids: what the ids of
    its games begin with if that is not its hash, because people withdrew from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: str
    options: dict[str, Any]
    players: tuple[str, ...]
    design: str
    cells: tuple[Cell, ...] = Field(min_length=1)
    games: int = Field(ge=1)
    seed: int
    seating: str
    prompts: str
    templates: str
    learning: tuple[bool, ...] = ()
    files: dict[str, str] = Field(default_factory=dict)
    recorded: tuple[Dealt, ...] = ()
    held: dict[str, str] = Field(default_factory=dict)
    served: Served | None = None
    ids: str = ""

    def to_json(self) -> dict[str, Any]:
        """The plan as plain JSON data. Newer fields are left out at their default, so older plans keep their hash."""
        data = self.model_dump(mode="json")
        if not any(self.learning):
            del data["learning"]
        for name in ("files", "recorded", "held", "served", "ids"):
            if not data[name]:
                del data[name]
        return data

    @cached_property
    def hash(self) -> str:
        """A hash of everything in the plan, 64 hexadecimal digits."""
        return sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    @cached_property
    def spec(self) -> TableSpec:
        """The table before roles are dealt."""
        return find_game(self.game).restore(self.options)

    @property
    def roles(self) -> tuple[str, ...]:
        return roles_in_play(self.spec)

    def __len__(self) -> int:
        return self.games * len(self.cells)

    def schedule(self, ended: Set[str] = frozenset()) -> Iterator[PlannedGame]:
        """The games in order of play, without those that have ended. Cells take turns, so that a run stopped early has
        games from every cell.
        """
        return (self.planned(number) for number in range(len(self)) if self.game_id(number) not in ended)

    def specs(self, planned: PlannedGame) -> tuple[str, ...]:
        """The players that a game needs."""
        return tuple(self.held.values()) if self.held else planned.cell

    def seats(self, planned: PlannedGame, roles: Mapping[str, str]) -> dict[str, str]:
        """The player's spec in each seat of a game. roles: the role of each seat."""
        if self.held:
            return {name: self.held[name] for name in roles}
        cell = dict(zip(self.roles, planned.cell, strict=True))
        return {name: cell[role] for name, role in roles.items()}

    def chains(self, ended: Set[str] = frozenset()) -> Iterator[tuple[PlannedGame, ...]]:
        """The games that have not ended, in chains whose games must be played in sequence. The games of a learning cell
        form one chain; every other game is a chain by itself.
        """
        for planned in self.schedule(ended):
            if not planned.learning:
                yield (planned,)
            elif planned.turn == 0 or not any(
                self.game_id(turn * len(self.cells) + planned.number % len(self.cells)) not in ended
                for turn in range(planned.turn)
            ):
                rest = (self.planned(number) for number in range(planned.number, len(self), len(self.cells)))
                yield tuple(game for game in rest if game.game_id not in ended)

    def game_id(self, number: int) -> str:
        return f"{self.ids or self.hash[:8]}-{number:06d}"

    def planned(self, number: int) -> PlannedGame:
        """The game with this number, from 0."""
        turn, place = divmod(number, len(self.cells))
        cell, dealt = self.cells[place], self.dealt(number)
        seats, roles = (dealt.seats, dealt.roles) if dealt else self._seated(place, turn)
        seed = dealt.seed if dealt else self.seed_of(number)
        learning = self.learning_in(place)
        return PlannedGame(number, self.game_id(number), cell, turn, seed, seats, roles, learning)

    def dealt(self, number: int) -> Dealt | None:
        """The recorded game that the game with this number plays again."""
        return self.recorded[number // len(self.cells)] if self.recorded else None

    def seed_of(self, number: int) -> int:
        """The seed of the game with this number."""
        turn, place = divmod(number, len(self.cells))
        return _draw(self.seed, *self._drawn_for(place), turn)

    def draw(self, number: int) -> str:
        """What tells the draws of the game with this number from those of others, also of a cell with the same players:
        the same in a plan with more games.
        """
        learns, before = self._twins[number % len(self.cells)]
        return f"{self.seed_of(number)} {learns} {before}"

    @cached_property
    def _twins(self) -> tuple[tuple[bool, int], ...]:
        """For each cell: whether its learner learns, and how many such cells with the same players come before it."""
        kinds = [(cell, self.learning_in(place)) for place, cell in enumerate(self.cells)]
        before: Counter[tuple[Cell, bool]] = Counter()
        found = []
        for kind in kinds:
            found.append((kind[1], before[kind]))
            before[kind] += 1
        return tuple(found)

    def learning_in(self, place: int) -> bool:
        """Whether the learner of the cell at this place learns."""
        return bool(self.learning) and self.learning[place]

    def make(self, game: PlannedGame, lessons: tuple[Lesson, ...] = ()) -> Game:
        """The game, ready to start. lessons: what the learner of a learning cell knows."""
        learning: dict[str, Any] = {"learning": True, "lessons": lessons} if game.learning else {}
        spec = replace(self.spec, names=game.seats, roles=game.roles, **learning)
        return find_game(self.game).make(spec, game.seed, game.game_id)

    def _drawn_for(self, place: int) -> tuple[str, ...]:
        """What tells the draws of a cell from those of others: its players, and its number among equal cells if it is
        not the first of them.
        """
        _, before = self._twins[place]
        return (*self.cells[place], str(before)) if before else self.cells[place]

    def _seated(self, place: int, turn: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        names, cell = self.spec.seats(), self._drawn_for(place)
        if self.seating == "balanced":
            block, place = divmod(turn, len(self.spec.deck()))
            return _block(self.spec, _draw(self.seed, *cell, "seats", block))[place]
        if self.seating == "fixed":
            return names, tuple(self.spec.deck())
        return tuple(Random(_draw(self.seed, *cell, "seats", turn)).sample(names, len(names))), ()


@lru_cache(maxsize=4096)
def _block(spec: TableSpec, seed: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(tuple(names), tuple(roles)) for names, roles in seating(spec.deck(), spec.seats(), Random(seed))]


def _draw(*parts: object) -> int:
    """A number below 2**48 that depends only on the parts."""
    return int.from_bytes(sha256(json.dumps([str(part) for part in parts]).encode()).digest()[:6], "big")


def make_plan(
    game: str,
    options: Mapping[str, Any],
    players: Sequence[str],
    design: str,
    cells: Sequence[Cell],
    games: int,
    seed: int,
    seating: str = "balanced",
    prompts: str = "full",
    learning: Sequence[bool] = (),
) -> Plan:
    """A fully resolved plan. learning: for each cell, whether its learner learns; empty if none does.

    Raises UsageError for options that do not make a valid game, UnknownName for a name that does not exist.
    """
    played = find_game(game)
    spec = played.resolve(options)
    if seating not in SEATINGS:
        raise UnknownName("way to deal roles", seating, SEATINGS)
    if games < 1:
        raise UsageError("a cell needs at least one game")
    if games * len(cells) > MOST_GAMES:
        raise UsageError(f"a run holds at most {MOST_GAMES:,} games; this plan has {games * len(cells):,}")
    if seed not in SEEDS:
        raise UsageError(f"--seed must lie between {SEEDS[0]} and {SEEDS[-1]}")
    if any(learning) and played.learner not in roles_in_play(spec):
        who = f"only the {played.learner} learns, and this table has none" if played.learner else "nobody learns in it"
        raise UsageError(f"--learning does not fit {game}: {who}; leave it out")
    resolved = json.loads(json.dumps(planned_options(replace(spec, names=spec.seats()))))
    specs = dict.fromkeys([*players, *(spec for cell in cells if design != TABLE for spec in cell)])
    recorded = recorded_games(specs, game, resolved, games)
    if recorded and any(learning):
        raise UsageError("recorded games cannot be played again with learning; leave --learning out")
    return Plan(
        game=game,
        options=resolved,
        players=tuple(players),
        design=design,
        cells=tuple(cells),
        games=games,
        seed=seed,
        seating=seating,
        prompts=set_name(prompts, game),
        templates=hash_templates(prompts, game),
        learning=tuple(learning) if any(learning) else (),
        files=files_of(specs),
        recorded=recorded,
    )


def table_plan(
    game: str,
    options: Mapping[str, Any],
    held: Mapping[str, str],
    seed: int,
    prompts: str = "full",
    served: Served | None = None,
) -> Plan:
    """The plan of one game at a table whose seats are held before roles are dealt, as people do. held: the spec of the
    player in each seat; served: how its people came to it.

    Raises UsageError for options that make no valid game, UnknownName for a name that does not exist.
    """
    cell = (TABLE,) * len(roles_in_play(find_game(game).resolve(options)))
    plan = make_plan(game, options, tuple(held.values()), TABLE, [cell], 1, seed, "shuffled", prompts)
    if set(held) != set(plan.spec.seats()):
        raise UsageError(f"this table has the seats {', '.join(plan.spec.seats())}; each needs a player")
    return plan.model_copy(update={"held": dict(held), "files": files_of(held.values()), "served": served})


def set_name(prompts: str, game: str) -> str:
    """The name of a set without its version, "own" for a folder."""
    name = prompts.partition("@")[0]
    return name if name in FAMILIES[game].sets else "own"


def read_plan(data: Mapping[str, Any], where: Path) -> Plan:
    """The plan in a run folder. Raises BadData if it is not a plan of games to play, for example that of imported
    games, or if its options make no valid table.
    """
    try:
        plan = Plan.model_validate(data)
        plan.spec.check()
        hash(plan.spec)
        json.dumps(data, allow_nan=False)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadData(
            f"{where} does not hold a plan of played games ({place}: {first['msg']}); choose another --out"
        ) from None
    except (LiescopeError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise BadData(f"{where} holds a plan that makes no table ({plain(str(error))}); restore {PLAN_FILE}") from None
    if plan.held and set(plan.held) != set(plan.spec.seats()):
        raise BadData(f"{where} holds a plan whose seats are not those of its table; restore {PLAN_FILE} from a copy")
    if plan.recorded and len(plan.recorded) != plan.games:
        raise BadData(f"{where} holds a plan that plays other games again than it counts; restore {PLAN_FILE}")
    if any(len(cell) != len(plan.roles) for cell in plan.cells) or len(plan.learning) not in (0, len(plan.cells)):
        raise BadData(f"{where} holds a plan whose cells do not fit its table; restore {PLAN_FILE} from a copy")
    return plan
