"""Who plays which role against whom, and under which name: designs, lists of cells, balanced seating.

A cell is a choice of a player for every role. The background design measures one player at a time: it plays one role
while a single background player fills the others (Mini-Mafia paper, Appendix B); the full design crosses all players
with all roles (I³ for three roles); self-play fills every role with the same player; the factorial design is self-play
crossed with the jester's learning, off and on (Triadic Werewolf paper, section 4).
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import product
from math import gcd
from pathlib import Path
from random import Random

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.reading import read_text

Cell = tuple[str, ...]  # the player's spec for each role, in the game's order of roles
GAMES = "games"  # the column of a list of cells that says how many to play of each
MOST_LISTED = 1_000_000
DESIGNS = ("background", "full", "self", "factorial")
SEATINGS = ("balanced", "shuffled", "fixed")


def cells(design: str, roles: Sequence[str], players: Sequence[str], backgrounds: Sequence[str] = ()) -> list[Cell]:
    """The distinct cells of a design, in a fixed order; cells that coincide (self-play in each role) count once.

    backgrounds: for the background design, who fills the other roles; all players if none is given. Raises UnknownName
    for an unknown design, UsageError for backgrounds given with a design that does not use them.
    """
    if design not in DESIGNS:
        raise UnknownName("design", design, DESIGNS)
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
            raise UsageError(f"--seat names the {role} twice; a role has one player in a table")
        players[role] = spec
    return tuple(players.get(role, rest) for role in roles)


def cross_learning(drawn: Sequence[Cell], learning: Sequence[bool]) -> tuple[list[Cell], list[bool]]:
    """Each cell once for each level of learning: the cells, and whether the learner of each learns."""
    return [cell for cell in drawn for _ in learning], [level for _ in drawn for level in learning]


def read_cells(file: Path, roles: Sequence[str]) -> tuple[list[Cell], int | None]:
    """The cells of a CSV file with one column for each role, in any order, and how many games to play of each.

    With a further column games, each cell is listed as often as its games hold the greatest number that divides
    those of all cells, which is the number to play; without it, each cell is listed once and the number is None.

    Raises BadData for a file that cannot be read, has no cells, lacks a column or leaves a field empty, and UnknownName
    for a column that is neither a role of the game nor games.
    """
    try:
        reader = csv.DictReader(StringIO(read_text(file, encoding="utf-8-sig", given=True), newline=""))
        columns = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = columns
        rows = list(reader)
    except (OSError, csv.Error) as error:
        raise BadData(f"{file} cannot be read as a list of cells: {error}") from error
    for column in columns:
        if column not in (*roles, GAMES):
            raise UnknownName(f"column of {file}", column, [*roles, GAMES])
    if missing := [role for role in roles if role not in columns]:
        raise BadData(f"{file} lacks the columns {', '.join(missing)}; it needs {','.join(roles)}")
    found: Counter[Cell] = Counter()
    for number, row in enumerate(rows, start=2):
        cell = tuple((row[role] or "").strip() for role in roles)
        if None in row or not all(cell):
            raise BadData(f"{file}, line {number}: a cell needs one player for each of {','.join(roles)}")
        found[cell] += _games(row[GAMES], f"{file}, line {number}") if GAMES in columns else 1
    if not found:
        raise BadData(f"{file} lists no cells; add lines of {','.join(roles)}")
    if GAMES not in columns:
        return list(found), None
    if found.total() > MOST_LISTED:
        raise BadData(f"{file} lists {found.total():,} games; a list of cells holds at most {MOST_LISTED:,}")
    share = gcd(*found.values())
    return [cell for cell, games in found.items() for _ in range(games // share)], share


def _games(text: str | None, where: str) -> int:
    words = (text or "").strip()
    if not (words.isascii() and words.isdigit() and len(words) < 9 and int(words) >= 1):
        raise BadData(f"{where}: games is {words!r}; it must be a whole number, one or more")
    return int(words)


def played_by(cells: Sequence[Cell], players: Sequence[str]) -> list[Cell]:
    """The cells with a player in the place of each name that has one; players: "NAME=SPEC", for names of the cells.

    Raises UsageError for a player of no name, or two players of one.
    """
    names = {name for cell in cells for name in cell}
    specs: dict[str, str] = {}
    for words in players:
        name = max((name for name in names if words.startswith(f"{name}=")), key=len, default="")
        if not name or name in specs:
            raise UsageError(
                f"with --cells, --player takes NAME=PLAYER, once for a name in the file, as in "
                f"GPT-5=openai:gpt-5; got {words!r}"
            )
        specs[name] = words.removeprefix(f"{name}=")
    return [tuple(specs.get(name, name) for name in cell) for cell in cells]


def seating(deck: Sequence[str], names: Sequence[str], random: Random) -> Iterator[tuple[list[str], list[str]]]:
    """A block of as many games as there are cards, in which every name holds every card of the deck exactly once.

    Yields (names in table order, the cards: one for each name, then those that no one holds). Within a block the table
    order stays the same, so that roles are balanced over places as well; it and the arrangement of the roles are
    redrawn for each block. The games of a block are ordered so that the first few are as balanced as possible, however
    many are played. The speaking order is drawn by the game itself, round by round.
    """
    table = random.sample(list(names), len(names))
    cards = random.sample(list(deck), len(deck))
    turns = [cards[turn:] + cards[:turn] for turn in random.sample(range(len(cards)), len(cards))]
    held: Counter[tuple[int, str]] = Counter()
    while turns:
        turn = min(turns, key=lambda roles: sum(held[place, role] for place, role in enumerate(roles)))
        turns.remove(turn)
        held.update(enumerate(turn))
        yield table, turn
