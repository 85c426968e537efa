"""What a host sets up and the server stores: which game, who holds its seats and by which secret links, what
people agree to, how long the game waits, whose words are still to be withdrawn; and its rounds, each a run.

All of it is one SQLite file that only its owner may read. It belongs to no run, and nothing in it reaches a corpus.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from random import SystemRandom
from typing import Any

from jinja2 import Template
from pydantic import Field, ValidationError

from liescope.common.errors import BadData, PlayerFailed, UnknownName, UsageError
from liescope.common.settings import OptionsModel
from liescope.games.defaults import rules
from liescope.games.game_registry import PAGES, find_game
from liescope.games.record import GameRecord, Status
from liescope.games.withdrawal import NAME
from liescope.generate.players.human import SeatPatience
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.player_registry import files_of
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import seats_plan
from liescope.generate.runs.run_folder import PLAN_FILE
from liescope.generate.runs.run_plan import Plan, Served
from liescope.generate.runs.runner import open_players
from liescope.generate.runs.withdraw import withdraw
from liescope.web import templates

LONGEST = 8000  # characters of a host's text


Paragraphs = tuple[str, ...]  # of a text that people agree to


def read_consent(file: Path) -> Paragraphs:
    """A host's own text: plain paragraphs with empty lines between them. Raises BadData for any other file."""
    try:
        with file.open(encoding="utf-8") as source:
            text = source.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        raise BadData(f"{file} cannot be read as a text: {getattr(error, 'strerror', None) or error}") from None
    paragraphs = tuple(" ".join(part.split()) for part in text.replace("\r\n", "\n").split("\n\n") if part.strip())
    if not paragraphs or len(text) > LONGEST:
        size = f"longer than {LONGEST:,} characters" if paragraphs else "empty"
        raise BadData(f"{file} is {size}; the text that people agree to is a few plain paragraphs")
    return paragraphs


CONSENT = read_consent(Path(__file__).with_name("consent.txt"))

FILLER = "scripted:steady"  # the player of a seat for which no other is named
PERSON = "person"  # who holds a seat until somebody takes it


class Setup(OptionsModel):
    """One game; the fields with a description are those that a host fills in. options: of the game, as `play` takes
    them; seats: by name in the game, PERSON or a player's spec; filler: the spec that takes the seats of people who do
    not come; words, choices, away: seconds to wait for people, as in `SeatPatience`; prompts: of the models; consent:
    the paragraphs that people agree to.
    """

    game: str
    options: dict[str, Any] = Field(default_factory=dict)
    seats: dict[str, str]
    filler: str = Field(default=FILLER, description="Who takes the seat of a person who does not come")
    words: float = Field(default=180.0, ge=5, le=86400, description="Seconds to say something")
    choices: float = Field(default=90.0, ge=5, le=86400, description="Seconds for anything else")
    away: float = Field(
        default=15.0, ge=1, le=86400, description="Seconds for a person who has missed two questions in a row"
    )
    prompts: str = "full"
    consent: Paragraphs = CONSENT

    @property
    def served(self) -> Served:
        """What the rounds' plan records about how people joined them."""
        return Served(consent=self.consent, words=self.words, choices=self.choices, away=self.away)

    def options_with(self, people: Collection[str]) -> dict[str, Any]:
        """The options of a game with people in these seats, whom a scripted first night spares."""
        if "spared" in self.options or all(option.name != "spared" for option in find_game(self.game).options):
            return self.options
        return {**self.options, "spared": [name for name in self.seats if name in people]}

    @property
    def people(self) -> tuple[str, ...]:
        """The seats for people."""
        return tuple(name for name, held in self.seats.items() if held == PERSON)

    @property
    def patience(self) -> SeatPatience:
        return SeatPatience(self.words, self.choices, self.away)


def make_setup(
    game: str,
    people: int,
    players: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    **more: Any,
) -> Setup:
    """A game with some people, at seats that are drawn, and players in turn for the others.

    Raises UndeclaredGame for a game that cannot be told to people, UsageError for numbers that do not fit the game,
    UnknownName for a name that does not exist.
    """
    spec = find_game(game).resolve(options or {})
    names = list(spec.seats())
    rules_of(game)  # a game that has none cannot be explained to people
    if not 1 <= people <= len(names):
        raise UsageError(f"{game} has {len(names)} seats in this game; {people} people do not fit")
    others = list(players) or [FILLER]
    drawn = set(SystemRandom().sample(names, people))
    left = iter(range(len(names)))
    seats = {name: PERSON if name in drawn else others[next(left) % len(others)] for name in names}
    return Setup.of({"game": game, "options": dict(options or {}), "seats": seats, **more})


@cache
def rules_of(game: str) -> Template:
    """The template with a game's rules for people. Raises UndeclaredGame for a game that has none."""
    manifest = find_game(game)
    shown = {"manifest": manifest, "told": rules(manifest)}  # for the default page
    return templates().from_string(PAGES[game].read_text(encoding="utf-8"), globals=shown)


async def check_players(setup: Setup) -> None:
    """Raises LiescopeError if one of a game's players cannot be opened: an unknown spec, a missing key or package."""
    specs = sorted({spec for spec in (*setup.seats.values(), setup.filler) if spec != PERSON})
    for spec in specs:
        if spec.partition(":")[0] == "human":
            raise UsageError("people take their seats by links: say how many there are, and give no spec for them")
    context = PlayerContext(log=lambda _: None, game=setup.game, prompts=setup.prompts, files=files_of(specs))
    async with AsyncExitStack() as stack:
        open_players(specs, context, stack)


def same_setup(one: Setup, other: Setup) -> bool:
    """Whether two setups ask for the same game; which seats people hold is drawn, and does not count."""
    held = [sorted(setup.seats.values()) for setup in (one, other)]
    return held[0] == held[1] and one.model_copy(update={"seats": {}}) == other.model_copy(update={"seats": {}})


def new_secret() -> str:
    """A secret of 128 bits for a link."""
    return secrets.token_urlsafe(16)


def folder_of(base: Path, game: str, round: int) -> Path:
    """The folder of a game. round: its number, from 1."""
    return base / (game if round == 1 else f"{game}-{round}")


def folders(base: Path, game: str, rounds: int) -> list[Path]:
    """The folders of all games so far that have begun."""
    found = [folder_of(base, game, round) for round in range(1, rounds + 1)]
    return [folder for folder in found if (folder / PLAN_FILE).exists()]


def new_plan(setup: Setup, people: Mapping[str, str | None]) -> Plan:
    """The plan of another game. people: the pseudonym of whoever holds a seat; the filler takes the seats of others."""
    held = {
        name: spec if spec != PERSON else f"human:{person}" if (person := people.get(name)) else setup.filler
        for name, spec in setup.seats.items()
    }
    options = setup.options_with([name for name, spec in held.items() if spec.startswith("human:")])
    return seats_plan(setup.game, options, held, secrets.randbits(62), setup.prompts, setup.served)


def plan_of(run: Path) -> Plan | None:
    """The plan of a game that has begun, None before. Raises BadData for a damaged run."""
    if not (run / PLAN_FILE).exists():
        return None
    with Journal.open(run) as journal:
        return Plan.parse(journal.plan, run)


def record_of(run: Path) -> GameRecord | None:
    """The game of a run once it has ended. Raises BadData for a damaged run."""
    with Journal.open(run) as journal:
        return next(iter(journal.records()), None)


def failed(run: Path) -> PlayerFailed | None:
    """Why the game of a run failed, if it did: a player could not answer, which may be tried again."""
    record = record_of(run)
    return PlayerFailed(record.failure) if record is not None and record.status is Status.FAILED else None


FILE = "tables.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS server (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tables (
    id TEXT PRIMARY KEY, setup TEXT NOT NULL, state TEXT NOT NULL, round INTEGER NOT NULL, note TEXT NOT NULL,
    made TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS seats (
    table_id TEXT NOT NULL, name TEXT NOT NULL, secret TEXT NOT NULL UNIQUE, pseudonym TEXT, consent TEXT,
    consented TEXT, leaving INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (table_id, name));
"""


class State(StrEnum):
    """Where a game is. PAUSED: its run stopped for a reason that its note says, and can go on; CLOSED: by
    the host, for good.
    """

    LOBBY = "lobby"
    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class SeatKept:
    """One seat for a person. pseudonym: of whoever took it, None before; leaving: whether their words are still to be
    withdrawn.
    """

    name: str
    secret: str
    pseudonym: str | None
    leaving: bool


@dataclass(frozen=True, slots=True)
class GameKept:
    """One hosted game. round: the number of the one that is played, from 1."""

    id: str
    setup: Setup
    state: State
    round: int
    note: str


class ServerFile:
    """The file of games in a folder, made if it is missing. Raises UsageError for one that cannot be opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if (folder / PLAN_FILE).is_file():
            raise UsageError(f"{folder} is a run, and hosted games need a folder of their own; choose another --out")
        file = folder / FILE
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # runs in it hold the roles of games under way
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
            self._base = sqlite3.connect(file, isolation_level=None)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            self._base.execute("PRAGMA secure_delete = ON")  # withdrawn names leave no trace in free pages
            self._base.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{file} cannot be opened ({error}); choose another --out") from error

    def close(self) -> None:
        self._base.close()

    def secret(self, name: str) -> str:
        """A secret of the server itself, made when it is first asked for."""
        self._base.execute("INSERT OR IGNORE INTO server VALUES (?, ?)", (name, new_secret()))
        return str(self._one("SELECT value FROM server WHERE name = ?", name)[0])

    def add(self, setup: Setup) -> str:
        """Keep a new game, with a secret for each seat that a person may take; returns its id."""
        (count,) = self._one("SELECT count(*) FROM tables")
        game = f"table-{count + 1}"
        while (self.folder / game).exists():
            count += 1
            game = f"table-{count + 1}"
        seats = [(game, name, new_secret()) for name in setup.people]
        self._base.execute("BEGIN")
        self._base.execute(
            "INSERT INTO tables VALUES (?, ?, ?, 1, '', ?)", (game, setup.model_dump_json(), State.LOBBY, now())
        )
        self._base.executemany("INSERT INTO seats (table_id, name, secret) VALUES (?, ?, ?)", seats)
        self._base.execute("COMMIT")
        return game

    def games(self) -> Iterator[GameKept]:
        """Every hosted game, oldest first. Raises BadData for one that cannot be read."""
        rows = self._all("SELECT id, setup, state, round, note FROM tables ORDER BY made, id")
        for game, setup, state, number, note in rows:
            try:
                yield GameKept(game, Setup.model_validate_json(setup), State(state), number, note)
            except (ValidationError, ValueError) as error:
                raise BadData(f"{self.folder / FILE} holds what is no hosted game ({game}: {error})") from None

    def seats(self, game: str) -> list[SeatKept]:
        """The seats for people in a game."""
        rows = self._all("SELECT name, secret, pseudonym, leaving FROM seats WHERE table_id = ?", game)
        return [SeatKept(name, secret, pseudonym, bool(leaving)) for name, secret, pseudonym, leaving in rows]

    def put_seat(self, game: str, name: str, **values: str | bool | None) -> SeatKept:
        """Update a seat, by column of the file. The old values stay neither in the file nor in its log."""
        columns = ", ".join(f"{column} = ?" for column in values)
        self._base.execute(
            f"UPDATE seats SET {columns} WHERE (table_id, name) = (?, ?)", (*values.values(), game, name)
        )
        self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return next(seat for seat in self.seats(game) if seat.name == name)

    def put(self, game: str, state: State, round: int, note: str = "") -> None:
        """Update the state of a game."""
        self._base.execute("UPDATE tables SET state = ?, round = ?, note = ? WHERE id = ?", (state, round, note, game))

    def _one(self, query: str, *values: object) -> tuple[Any, ...]:
        return next(iter(self._all(query, *values)))

    def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(self._base.execute(query, values)) as found:
            return found.fetchall()


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def has_left(person: str | None) -> bool:
    """Whether a name stands for somebody who withdrew."""
    return person is not None and person.startswith(NAME)


def withdraw_from(runs: Sequence[Path], person: str) -> str:
    """Take a person's words out of runs; returns their name from now on. Raises as `withdraw`."""
    become = person if has_left(person) else f"{NAME}1"
    for run in runs:
        with suppress(UnknownName):  # a game that the person did not play
            become = withdraw(run, person).name
    return become
