"""The reader of published games. A format declares the shapes of its lines, which lines make a game, and what each line
means; the rest is here.
"""

from __future__ import annotations

import json
import tarfile
import zipfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from io import BytesIO
from pathlib import Path, PurePath, PurePosixPath
from types import GenericAlias
from typing import IO, Annotated, Any, ClassVar

from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError, create_model

from liescope.common.errors import BadData
from liescope.common.reading import fault, open_regular, read_bytes, regular
from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.facts import GameMeta
from liescope.games.record import GameRecord, Seat, Status
from liescope.generate.importers.importer_protocol import Imported, Importer, Rejected, attempt
from liescope.generate.importers.text_files import (
    DAMAGED,
    GZIP,
    Rows,
    lines_of,
    objects_of,
    read_objects,
    unpacked,
)

UNFINISHED = "the published log ends before the game does"
NO_WINNER = "the source does not say who won"
PERSON = "human"
MOST_PLAYERS = 100
LARGEST_FILE = 64 << 20  # bytes of one file of a folder or archive; a published game's takes a megabyte
LARGEST_ARCHIVE = 1 << 28  # bytes, unpacked; the largest published one has 20 MB

# The shapes of lines

Number = Annotated[int, Field(ge=0, le=10**6)]
Words = Annotated[str, Field(max_length=100_000)]


def shape(**fields: Any) -> Any:
    """The shape of a JSON object, whose other fields are not read. Each field is a type, a pair of a type and what
    holds where the field is missing, or `at` another place.
    """
    pairs: Any = {name: given if isinstance(given, tuple) else (given, ...) for name, given in fields.items()}
    return create_model("Shape", __config__=ConfigDict(frozen=True, strict=True), **pairs)


def at(path: str, kind: Any, missing: Any = ...) -> tuple[Any, Any]:
    """A field that stands elsewhere. path: the names of the objects around it and its own, with dots between."""
    return kind, Field(missing, validation_alias=AliasPath(*path.split(".")))


def by_key(kind: Any) -> Any:
    """An object with such a value under each key."""
    return GenericAlias(dict, (str, kind))  # mypy rejects dict[str, kind] with a type known only at run time


def list_of(kind: Any) -> Any:
    """A list of such values."""
    return GenericAlias(list, (kind,))


def read_as(kind: type[BaseModel], data: Any) -> Any:
    """Data of this shape. Raises BadData if it has another."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise BadData(fault(error)) from error


# The lines that make a game


@dataclass(frozen=True, slots=True)
class Logged:
    """What a source holds of a game. file, line: where it stands, for a rejection; entries: what was read, in order;
    beside: what a second file of the game holds; split: the official one, "" if there is none.
    """

    file: str
    line: int
    game_id: str
    entries: list[Any]
    beside: list[Any] = field(default_factory=list)
    split: str = ""


LoggedGames = Iterator[Logged | Rejected]


def game_lines(
    source: Path,
    read: Callable[[Mapping[str, Any]], tuple[str, list[Any]]],
    split: str = "",
    rows: Callable[[Path], Rows] = read_objects,
) -> LoggedGames:
    """The lines of a file, each by itself. read: makes of a line its game's id and the entries; raises BadData; rows:
    where else they come from.

    Raises OSError if the file cannot be opened.
    """
    for line, entry in rows(source):
        if isinstance(entry, Rejected):
            yield entry
            continue
        try:
            game_id, entries = read(entry)
        except BadData as error:
            yield Rejected(source.name, line, str(entry.get("game_id", ""))[:40], str(error))
        else:
            yield Logged(source.name, line, game_id, entries, split=split)


def joined(found: LoggedGames) -> LoggedGames:
    """What was found, with everything of one game joined at the place of its first line."""
    games: dict[str, Logged] = {}
    for logged in found:
        if isinstance(logged, Rejected):
            yield logged
        elif logged.game_id in games:
            games[logged.game_id].entries.extend(logged.entries)
        else:
            games[logged.game_id] = logged
    yield from games.values()


def files_in(source: Path, names: Collection[str]) -> Iterator[tuple[PurePath, bytes]]:
    """The files of these names or patterns in a folder or an archive (.zip, .tar, .tar.gz), with their paths there, or
    the one that the source itself is; nothing is unpacked on disk.

    Raises BadData if an archive is damaged, too large or none, or if a file is too large; OSError if the source cannot
    be opened.
    """
    if source.is_dir():
        for path in sorted(path for name in names for path in source.resolve().rglob(name)):
            if path.is_file() and not path.is_symlink():
                yield path, read_bytes(path, LARGEST_FILE)
        return
    regular(source)  # a missing file is not a damaged archive
    if any(fnmatchcase(source.name, name) for name in names):
        yield PurePath(source.name), read_bytes(source, LARGEST_FILE)
        return
    try:
        for inside, size, content in _packed(source):
            if any(fnmatchcase(inside.name, name) for name in names):
                if size > LARGEST_FILE:
                    raise BadData(f"{inside.name} takes {size:,} bytes; at most {LARGEST_FILE:,} are read")
                yield inside, content()
    except (tarfile.TarError, *DAMAGED, OSError, ValueError, OverflowError, RuntimeError) as error:  # or a password
        raise BadData(f"{source.name} cannot be read as a tar or zip archive: {error}") from error


def _packed(source: Path) -> Iterator[tuple[PurePath, int, Callable[[], bytes]]]:
    """The files in an archive: the path, the size and how to read it."""
    with open_regular(source) as file:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as packed:
                for each in packed.infolist():
                    if not each.is_dir() and not each.filename.startswith("__MACOSX/"):
                        yield PurePosixPath(each.filename), each.file_size, partial(packed.read, each)
            return
    with _archive(source) as whole, tarfile.open(fileobj=whole, mode="r:") as tar:
        for member in tar:
            if member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and (content := tar.extractfile(member)):
                yield PurePosixPath(member.name), member.size, content.read


def _archive(source: Path) -> IO[bytes]:
    file = open_regular(source)
    if file.read(len(GZIP)) == GZIP:
        file.close()
        return BytesIO(b"".join(unpacked(source, LARGEST_ARCHIVE)))
    file.seek(0)  # an uncompressed archive may be of any size; it is read file by file
    return file


Read = tuple[str, Callable[[Mapping[str, Any]], Any]]
"""The name of a file, and how to read a line of it."""


def game_files(source: Path, name: str, read: Callable[[Any], tuple[str, list[Any]]]) -> LoggedGames:
    """The games in files of this name or pattern, one JSON object each: a file, or those in a folder or archive. read:
    makes of an object its game's id and the entries; raises BadData.

    Raises OSError if the source cannot be opened.
    """
    place = 0
    try:
        for place, (path, content) in enumerate(files_in(source, (name,)), 1):
            try:
                game_id, entries = read(json.loads(content))
            except (BadData, ValueError, RecursionError) as error:
                why = str(error) if isinstance(error, BadData) else f"not JSON: {str(error)[:200]}"
                yield Rejected(path.name, place, "", why)
            else:
                yield Logged(path.name, place, game_id, entries)
    except BadData as error:
        yield Rejected(source.name, 0, "", str(error))
    else:
        if not place:
            yield Rejected(source.name, 0, "", f"there is no {name} in it")


def game_folders(source: Path, log: Read, beside: Read) -> LoggedGames:
    """The games in a folder or archive, a folder each, with a log and perhaps a file beside it. A line of the log that
    cannot be read makes the game unreadable; one beside it is left out.

    Raises OSError if the source cannot be opened.
    """
    folders: dict[PurePath, dict[str, bytes]] = {}
    try:
        for path, content in files_in(source, (log[0], beside[0])):
            folders.setdefault(path.parent, {})[path.name] = content
    except BadData as error:
        yield Rejected(source.name, 0, "", str(error))
        return
    games = [folder for folder in sorted(folders) if log[0] in folders[folder]]
    if not games:
        yield Rejected(source.name, 0, "", f"there is no {log[0]} in it")
    for place, folder in enumerate(games, 1):
        game_id = f"{folder.parent.name or 'unknown'}/{folder.name}"
        entries, more = ([*_read(one, game_id, folders[folder].get(one[0], b""))] for one in (log, beside))
        yield from (entry for entry in more if isinstance(entry, Rejected))
        if wrong := next((entry for entry in entries if isinstance(entry, Rejected)), None):
            yield replace(wrong, line=place, reason=f"line {wrong.line}: {wrong.reason}")
        else:
            told = [entry for entry in more if not isinstance(entry, Rejected)]
            yield Logged(f"{game_id}/{log[0]}", place, game_id, entries, told)


def _read(one: Read, game_id: str, content: bytes) -> Iterator[Any]:
    name, read = one
    for line, entry in objects_of(lines_of([content]), f"{game_id}/{name}"):
        try:
            yield replace(entry, game_id=game_id) if isinstance(entry, Rejected) else read(entry)
        except BadData as error:
            yield Rejected(f"{game_id}/{name}", line, game_id, str(error))


# What the lines mean in the game


class GameWriter(ABC):
    """Writes the record of a game. A format says by `write` what its entries mean.

    Players go by the source's keys for them. Events take the day, phase and round that stand when they are logged.
    ballots: who voted to exile whom; None for nobody.
    """

    def __init__(self, game: str, logged: Logged) -> None:
        self.game, self.game_id, self.cell = game, logged.game_id, ""
        self.seats: dict[str, Seat] = {}
        self.events: list[Event] = []
        self.day, self.phase, self.round = 0, Phase.SETUP, 0
        self.ballots: dict[str, str | None] = {}
        self.outcome: Outcome | None = None
        self.meta = GameMeta(split=logged.split) if logged.split else GameMeta()

    @abstractmethod
    def write(self, logged: Logged) -> None:
        """Write down what the log says. Raises BadData if that cannot be."""

    def seat(self, key: str) -> Seat:
        """The seat of a player. Raises BadData for an unknown one."""
        if key not in self.seats:
            raise BadData(f"player {key[:60]!r} is not in the game")
        return self.seats[key]

    def deal(self, told: bool = True) -> None:
        """Tell everyone who plays, and each one its role. told: everyone knows how many have each role. Raises BadData
        for an impossible number of players.
        """
        if not 2 <= len(self.seats) <= MOST_PLAYERS:
            raise BadData(f"the game has {len(self.seats)} players; a game of 2 to {MOST_PLAYERS} can be read")
        held = Counter(seat.role for seat in self.seats.values() if told)
        self.log(
            EventKind.SETUP,
            data={"names": [seat.name for seat in self.seats.values()], "composition": dict(sorted(held.items()))},
        )  # sorted, to hide the seating
        for key, seat in self.seats.items():
            self.log(EventKind.ROLE, key, heard=[key], data={"role": seat.role})

    def meet(self) -> list[str]:
        """Tell those who deceive who they are; returns their keys."""
        pack = [key for key, seat in self.seats.items() if seat.deceives]
        self.log(EventKind.PARTNERS, heard=pack, data={"names": [self.seat(key).name for key in pack]})
        return pack

    def log(
        self,
        kind: EventKind,
        actor: str | None = None,
        target: str | None = None,
        heard: Iterable[str] | None = None,
        **facts: Any,
    ) -> int:
        """Write an event; returns its index. heard: who knows of it, everyone if None."""
        index = len(self.events)
        who, whom = (None if key is None else self.seat(key).name for key in (actor, target))
        audience = None if heard is None else tuple(self.seat(key).name for key in heard)
        self.events.append(Event(index, kind, self.day, self.phase, self.round, who, whom, audience=audience, **facts))
        return index

    def say(self, speaker: str, text: str, heard: Iterable[str] | None = None, data: Any = None) -> int | None:
        """A statement, whose index is returned; without words, a silence."""
        if not text.strip():
            self.log(EventKind.SILENCE, speaker, heard=heard)
            return None
        return self.log(EventKind.STATEMENT, speaker, heard=heard, text=text, data=data or {})

    def vote(self, voter: str, target: str | None, heard: Iterable[str] | None = None, **facts: Any) -> None:
        """A vote to exile somebody, or nobody."""
        self.ballots[voter] = target
        if target is None:
            self.log(EventKind.ACT, voter, heard=heard, text="votes for nobody", **facts)
        else:
            self.log(EventKind.VOTE, voter, target, heard, **facts)

    def exile(self, target: str | None, **told: Any) -> None:
        """The vote exiles somebody, or nobody. It takes more votes than anybody else, or than nobody, got. told: a
        role or team that everybody then learns.
        """
        counts = Counter(self.ballots.values())
        votes = counts.pop(target, 0) if target is not None else 0
        needed = 1 + max(counts.values(), default=0)
        if target is not None and votes:
            needed = min(needed, votes)  # a tie may be broken by lot
        if target is None:
            self.log(EventKind.NO_EXILE, data={"needed": needed})
        else:
            self.log(EventKind.EXILE, target=target, data={"votes": votes, "needed": needed, **told})

    def end(self, winner: str, reason: str, days: int) -> None:
        """The game is over. winner: a team."""
        self.phase = Phase.END
        self.log(EventKind.END, data={"winner": winner})
        won = tuple(seat.name for seat in self.seats.values() if seat.team == winner)
        self.outcome = Outcome(winner, won, reason, days)

    @classmethod
    def record_of(cls, game: str, logged: Logged) -> GameRecord:
        """The record of what was logged. Raises BadData if it makes none."""
        writer = cls(game, logged)
        writer.write(logged)
        return writer.record()

    def record(self) -> GameRecord:
        """The record so far; failed if the game has no end."""
        status, failure = (Status.DONE, "") if self.outcome else (Status.FAILED, UNFINISHED)
        seats, events = tuple(self.seats.values()), tuple(self.events)
        return GameRecord(
            self.game_id, self.game, None, self.cell, seats, events, status, self.outcome, failure, self.meta
        )


class GameFormat(Importer):
    """A declared format. game: what the game is called; about: what a dataset card says of it; Writer: says
    what the entries mean.
    """

    game: ClassVar[str]
    about: ClassVar[str]
    Writer: ClassVar[type[GameWriter]]

    def game_texts(self) -> Mapping[str, str]:
        return {self.game: self.about}

    @abstractmethod
    def logged(self, source: Path) -> LoggedGames:
        """The games of a source. Raises OSError if it cannot be opened."""

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        for logged in self.logged(source):
            if isinstance(logged, Rejected):
                yield logged
            else:
                make = partial(self.Writer.record_of, self.game, logged)
                yield attempt(logged.file, logged.line, logged.game_id, make)
