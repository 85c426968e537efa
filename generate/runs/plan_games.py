"""Plans made from options: who plays which role against whom and how often, or who holds which seat.

A cell is a choice of a player for every role. The background design measures one player at a time: it plays one role
while a single background player fills the others (Mini-Mafia paper, Appendix B); the full design crosses all players
with all roles (I³ for three roles); self-play fills every role with the same player; the factorial design is self-play
crossed with the jester's learning, off and on (Triadic Werewolf paper, section 4). Where all seats have one role, they
take the place of roles.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.parts import Part
from liescope.common.reading import Reading, read_text
from liescope.common.settings import Option, OptionsModel, Several
from liescope.common.text import plain
from liescope.games.game_options import GameSpec, check_names
from liescope.games.game_registry import PROMPTS, find_game
from liescope.games.playable import PlayableGame, roles_in_play
from liescope.generate.players.player_registry import NamedText, files_of, player_names
from liescope.generate.players.prompts.render import OWN, Templates, read_templates
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import JournalReader
from liescope.generate.runs.run_folder import LESSONS, PLAN_FILE, SPARED
from liescope.generate.runs.run_plan import NAME, TABLE, Cell, Plan, Served, lessons_in

DESIGNS = ("background", "full", "self", "factorial")
SEATINGS = ("balanced", "shuffled", "fixed")


def designed(design: str, roles: Sequence[str], players: Sequence[str], backgrounds: Sequence[str] = ()) -> list[Cell]:
    """The distinct cells of a design, in a fixed order; cells that coincide (self-play in each role) count once.

    backgrounds: for the background design, who fills the other roles; all players if none is given. Raises UsageError
    for backgrounds given with a design that does not use them.
    """
    if backgrounds and design != "background":
        raise UsageError(f"the design {design!r} has no backgrounds; leave --background out or use --design background")
    if design == "full":
        found = list(product(players, repeat=len(roles)))
    elif design in ("self", "factorial"):
        found = [(player,) * len(roles) for player in players]
    else:
        found = [
            tuple(target if place == role else background for place in range(len(roles)))
            for role in range(len(roles))
            for target in players
            for background in backgrounds or players
        ]
    return list(dict.fromkeys(found))


def of_seats(drawn: Sequence[Cell]) -> list[Cell]:
    """The cells of a game of one role, a player for each seat, without those that players meet in as they take turns
    over the seats of another; a single player stands once, for all seats.
    """
    turned = (min(cell[at:] + cell[:at] for at in range(len(cell))) for cell in drawn)
    return list(dict.fromkeys(cell if len(set(cell)) > 1 else cell[:1] for cell in turned))


def seated(chosen: Sequence[str], roles: Sequence[str], rest: str) -> Cell:
    """One cell from ROLE=SPEC for some roles; rest: who plays the others. Raises UsageError, UnknownName."""
    players: dict[str, str] = {}
    for words in chosen:
        role, _, spec = words.partition("=")
        if not spec:
            raise UsageError(f"--seat takes ROLE=PLAYER, as in mafioso=openai:gpt-4.1-mini; got {words!r}")
        if role not in roles:
            raise UnknownName("role", role, roles)
        if role in players:
            raise UsageError(f"--seat names the {role} twice; a role has one player in a cell")
        players[role] = spec
    return tuple(players.get(role, rest) for role in roles)


def _read_csv(file: Path, what: str) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and lines of a CSV file. Raises BadData."""
    with Reading(f"the list of {what} in {file}", "name another file"):
        reader = csv.DictReader(StringIO(read_text(file, encoding="utf-8-sig", given=True), newline=""))
        columns = reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
        return columns, list(reader)


def read_names(file: Path, seats: int) -> tuple[dict[str, str], ...]:
    """The names of a CSV file with the column name, and any others as their attributes; empty cells say nothing.

    Raises BadData for a file that cannot be read or has no such column, UsageError for names that look alike, fewer of
    them than seats, and an attribute that is the same for all.
    """
    columns, lines = _read_csv(file, "names")
    if NAME not in columns or len(set(filter(None, columns))) < len(columns):
        found = plain(", ".join(columns)) or "none"
        raise BadData(f"{file} needs a column called name, and columns of different names; it has {found}")
    if any(None in (*line, *line.values()) for line in lines):
        raise BadData(f"{file} has a line with more or fewer cells than columns ({', '.join(columns)}); mend it")
    rows = tuple({column: line[column].strip() for column in columns} for line in lines)
    if len(rows) < seats:
        raise UsageError(f"{file} has {len(rows)} names, but a game seats {seats} players; add names")
    check_names([row[NAME] for row in rows])
    for column in columns:
        if len(values := {row[column] for row in rows} - {""}) < 2:
            only = plain(values.pop()) if values else "no value"
            raise UsageError(
                f"the attribute {plain(column)} of {file} has {only} for every name, so nothing can be compared; give "
                "it a second value, or leave the column out"
            )
    return rows


def read_cells(file: Path, roles: Sequence[str]) -> list[Cell]:
    """The cells of a CSV file with one column for each role, in any order; a line that stands twice counts twice.

    Raises BadData for a file that cannot be read, has no cells, lacks a column or leaves a field empty, and UnknownName
    for a column that is no role of the game.
    """
    columns, rows = _read_csv(file, "cells")
    for column in columns:
        if column not in roles:
            raise UnknownName(f"column of {file}", column, roles)
    if missing := [role for role in roles if role not in columns]:
        raise BadData(f"{file} lacks the columns {', '.join(missing)}; it needs {','.join(roles)}")
    found = []
    for number, row in enumerate(rows, start=2):
        cell = tuple((row[role] or "").strip() for role in roles)
        if None in row or not all(cell):
            raise BadData(f"{file}, line {number}: a cell needs one player for each of {','.join(roles)}")
        found.append(cell)
    if not found:
        raise BadData(f"{file} lists no cells; add lines of {','.join(roles)}")
    return found


DEFAULT_PLAYER = "scripted:steady"
LISTED, SEATED = "list", "seats"  # names for the designs of a file of cells and of a cell given role by role
MOST_GAMES = 10**9


Prompts = Annotated[str, Field(description="The name of a set of prompts, or a folder of templates.")]


class PlanSettings(OptionsModel):
    """Which games are played, by whom."""

    players: Annotated[Several, Option(flag="--player", shown=DEFAULT_PLAYER, choices=player_names)] = Field(
        default=(),
        description="A player; may be repeated: scripted:bold, openai:MODEL[@URL], local:MODEL.",
    )
    games: int = Field(default=10, ge=1, description="Games in each cell.")
    seed: int = Field(default=0, description="Seed of everything that is drawn.")
    design: Annotated[str | None, Option(shown="the game's own", choices=DESIGNS, closed=True)] = Field(
        default=None,
        description="background: one role by a player, the others by a background; full: every combination; self: "
        "each player alone; factorial: self, with learning off and on.",
    )
    background: Annotated[Several, Option(shown="every player", choices=player_names)] = Field(
        default=(), description="A background player; may be repeated."
    )
    cells: Path | None = Field(
        default=None,
        description="A CSV of cells instead of a design: one column for each role.",
    )
    seats: Annotated[Several, Option(flag="--seat", metavar="ROLE=PLAYER")] = Field(
        default=(),
        description="Who plays a role, instead of a design: one cell; may be repeated, for other roles.",
    )
    learning: Annotated[str | None, Option(shown="off", choices=("off", "on", "off,on"), closed=True)] = Field(
        default=None, description="Whether the jester learns from game to game: off, on or off,on."
    )
    lessons: Annotated[Path | None, Option(metavar="RUN|FILE")] = Field(
        default=None, description="The jester begins every game with the lessons of another run, or of a lesson book."
    )
    prompts: Prompts = "full"
    roles: Annotated[str, Option(choices=SEATINGS, closed=True)] = Field(
        default="balanced", description="balanced over names and places, shuffled in each game, or fixed."
    )
    part: Annotated[str | None, Option(metavar="K/N")] = Field(
        default=None, description="Play only the K-th of N shares of the plan."
    )


def plan_games(
    game: PlayableGame, settings: PlanSettings, options: Mapping[str, Any], prompts: str | Templates
) -> Plan:
    """The plan that settings of `play` make. options: the game's own; prompts: a set, a folder, or what was read of it.

    Raises UsageError for settings that do not fit together.
    """
    players: Sequence[str] = settings.players
    design = settings.design
    background, seats = settings.background, settings.seats
    names: tuple[dict[str, str], ...] = ()
    if str(given := options.get("names", "")).lower().endswith(".csv"):
        options = {**options, "names": ()}
        if options.get(SPARED):
            raise UsageError(f"--spared needs names that every game has; leave it out, or name players without {given}")
        names = read_names(Path(str(given)), len(game.resolve(options).seats()))
        options["names"] = tuple(row[NAME] for row in names[: len(game.resolve(options).seats())])
    spec = game.resolve(options)
    held = roles_in_play(spec)
    if settings.cells is not None:
        if players or background or design or seats:
            raise UsageError(
                "a file of cells says who plays what; leave --player, --background, --design and --seat out"
            )
        design, drawn = LISTED, read_cells(settings.cells, held)
        players = [spec for cell in drawn for spec in cell]
    elif seats:
        if background or design or len(players) > 1:
            raise UsageError("--seat makes one cell: give one --player for the other roles, no --design, --background")
        drawn = [seated(seats, held, players[0] if players else DEFAULT_PLAYER)]
        design, players = SEATED, drawn[0]
    else:
        design, players = design or game.design, players or [DEFAULT_PLAYER]
        alone = len(held) == 1
        drawn = designed(design, held * len(spec.seats()) if alone else held, once(players), once(background))
        drawn = of_seats(drawn) if alone else drawn
    levels = _levels(settings.learning, design)
    cells, learns = [cell for cell in drawn for _ in levels], levels * len(drawn)
    plan = make_plan(
        game.name, options, once(players), design, cells, settings.games, settings.seed, settings.roles, prompts, learns
    )
    part = str(Part.read(settings.part)) if settings.part else ""
    plan = plan.model_copy(update={"part": part, "names": names})
    if settings.lessons is not None:
        check_learner(game, spec, "--lessons")
        book = read_lessons(settings.lessons)
        plan = plan.model_copy(update={"lessons": book.label, "files": {**plan.files, book.label: book.text}})
    if not plan.numbers:
        raise UsageError(
            f"--part {plan.part} has no game of this plan; make fewer (with learning, parts are of whole cells)"
        )
    return plan


def _levels(learning: str | None, design: str) -> list[bool]:
    """The levels of learning that were asked for. The factorial design uses both by default."""
    levels = [word == "on" for word in (learning or ("off,on" if design == "factorial" else "off")).split(",")]
    if any(levels) and design not in ("self", "factorial"):
        raise UsageError(f"--learning needs the design self or factorial; the design here is {design}")
    return levels


def once(specs: Sequence[str]) -> list[str]:
    """The distinct ones, in order."""
    return list(dict.fromkeys(specs))


def make_plan(
    game: str,
    options: Mapping[str, Any],
    players: Sequence[str],
    design: str,
    cells: Sequence[Cell],
    games: int,
    seed: int,
    seating: str = "balanced",
    prompts: str | Templates = "full",
    learning: Sequence[bool] = (),
) -> Plan:
    """A fully resolved plan. learning: for each cell, whether its learner learns; empty if none does.

    Raises UsageError for options that do not make a valid game, UnknownName for a name that does not exist.
    """
    played = find_game(game)
    spec = played.resolve(options)
    if games * len(cells) > MOST_GAMES:
        raise UsageError(f"a run holds at most {MOST_GAMES:,} games; this plan has {games * len(cells):,}")
    if any(learning):
        check_learner(played, spec, "--learning")
    resolved = spec.replaced(names=spec.seats()).planned()
    specs = dict.fromkeys([*players, *(spec for cell in cells if design != TABLE for spec in cell)])
    templates = prompts if isinstance(prompts, Templates) else read_templates(prompts, game)
    return Plan(
        game=game,
        options=resolved,
        players=tuple(players),
        design=design,
        cells=tuple(cells),
        games=games,
        seed=seed,
        seating=seating,
        prompts=templates.name,
        templates=templates.hash,
        learning=tuple(learning) if any(learning) else (),
        files=files_of(specs),
    )


def check_learner(game: PlayableGame, spec: GameSpec, flag: str) -> None:
    """Raises UsageError if nobody learns in a game."""
    if game.learner not in roles_in_play(spec):
        who = f"only the {game.learner} learns, and this game has none" if game.learner else "nobody learns in it"
        raise UsageError(f"{flag} does not fit {game.name}: {who}; leave it out")


def read_lessons(source: Path) -> NamedText:
    """The lessons in a run or in one lesson book, without what else the book says of their games. Raises UsageError for
    a run that has none or several books, BadData for a file that holds none.
    """
    books = sorted((source / LESSONS).glob("*.jsonl")) if source.is_dir() else [source]
    if len(books) != 1:
        several = f"holds the lessons of several models; name one: {', '.join(map(str, books))}"
        raise UsageError(f"{source} {several if books else 'holds no lessons; play it with --learning on'}")
    with Reading(f"the lessons in {books[0]}", f"name a run, or a file in its {LESSONS}"):
        lessons = [lesson for _, lesson in lessons_in(read_text(books[0], given=True))]
    if not lessons:
        raise BadData(f"{books[0]} holds no lessons; name another run or book")
    lines = (json.dumps({"kind": one.kind.value, "text": one.text}) for one in lessons)
    return NamedText(str(books[0]), "".join(f"{line}\n" for line in lines))


def seats_plan(
    game: str,
    options: Mapping[str, Any],
    held: Mapping[str, str],
    seed: int,
    prompts: str | Templates = "full",
    served: Served | None = None,
) -> Plan:
    """The plan of one game whose seats are taken before roles are dealt, as by people. held: the spec of the player in
    each seat; served: how its people joined.

    Raises UsageError for options that make no valid game, UnknownName for a name that does not exist.
    """
    cell = (TABLE,) * len(roles_in_play(find_game(game).resolve(options)))
    plan = make_plan(game, options, tuple(held.values()), TABLE, [cell], 1, seed, "shuffled", prompts)
    if set(held) != set(plan.spec.seats()):
        raise UsageError(f"this game has the seats {', '.join(plan.spec.seats())}; each needs a player")
    return plan.model_copy(update={"held": dict(held), "files": files_of(held.values()), "served": served})


def stored_templates(journal: JournalReader) -> Templates:
    """The templates that a run began with. Raises BadData if its journal does not hold them."""
    digest, name = str(journal.plan.get("templates", "")), str(journal.plan.get("prompts", OWN))
    found = Templates(name, journal.templates(digest), journal.path)
    if not found.sources or found.hash != digest:
        raise BadData(
            f"{journal.path} does not hold the prompt templates that it began with ({plain(digest)}); "
            "restore it from a copy"
        )
    return found


def templates_for(prompts: str, game: str, out: Path | None) -> Templates:
    """The templates for a run in this folder: those asked for or, if the run in the folder began with the set of that
    name (or with a folder that is gone), those that it began with. Raises UsageError for prompts that do not exist.
    """
    if out is not None and (out / PLAN_FILE).exists():
        begun_with = prompts if prompts in PROMPTS[game].sets or Path(prompts).is_dir() else OWN
        with Journal.open(out) as journal:
            kept = journal.templates(str(journal.plan.get("templates")))
            if kept and journal.plan.get("prompts") == begun_with:  # a run killed at its start has none yet
                return stored_templates(journal)
    return read_templates(prompts, game)
