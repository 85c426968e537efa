"""Statements from anywhere, one row each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationError

from liescope.common.errors import UsageError
from liescope.common.model_options import OptionsModel
from liescope.data_cards.licences import OPEN, Terms
from liescope.games.registry import GAMES
from liescope.generate.importers.jsonl.columns import ALSO, NEEDED, REQUIRED, Row, fault, present, read_row
from liescope.generate.importers.jsonl.game import game_of
from liescope.generate.importers.jsonl.sources import Rows, identity, read_rows
from liescope.generate.importers.jsonl.spool import Spool
from liescope.generate.importers.protocol import Imported, Importer, Rejected, attempt

MOST_ROWS = 100_000  # of one game
_HEAD = 20  # rows that show which columns a source has
_SHOWN = 12  # columns in a message


class JsonlOptions(OptionsModel):
    """How to read a source's columns, and what to call its game."""

    map: list[str] = Field(
        default=[], description="Read a column under another name: THEIRS=OURS; THEIRS= leaves it out."
    )
    game: str = Field(default="imported-game", min_length=1, description="What the game is called.")
    about: str = Field(default="", description="A sentence on the game for the dataset card.")
    origin: str = Field(default="", description="Who published the statements, and where.")
    licence: str = Field(default="", description="Their licence: an id such as mit or cc-by-4.0, or a sentence.")
    redistributable: bool | None = Field(
        default=None, description="Whether that licence lets anyone pass them on; known for the usual ids."
    )
    deceptive_role: list[str] = Field(
        default=[], description="A role that aims to deceive, where the rows name roles only; may be repeated."
    )


class JsonlImporter(Importer):
    """One row a statement: JSON lines, a JSON array, CSV, Parquet, or a dataset in a folder or on the Hub."""

    format: ClassVar[str] = "jsonl"
    reads: ClassVar[str] = "a row a statement: .jsonl, .json, .csv, .parquet, a dataset's folder, USER/NAME[:CONFIG]"
    origin: ClassVar[str] = "a table of statements"
    licence: ClassVar[str] = "None is stated: not to be redistributed."
    Options: ClassVar[type[OptionsModel]] = JsonlOptions

    def __init__(self, options: JsonlOptions) -> None:
        """Raises UsageError for a renaming or a name of the game that cannot be used."""
        super().__init__(options)
        if options.game in GAMES:
            raise UsageError(
                f"--game {options.game}: Liescope plays that game by rules of its own, which games from elsewhere need "
                f"not follow; call it something else, such as {options.game}-imported"
            )
        self._terms = _terms(options)
        self._game = options.game
        self._about = options.about
        self._deceptive = frozenset(options.deceptive_role)
        self._names = _renaming(options.map)
        self._known: dict[tuple[str, ...], dict[str, str]] = {}

    def terms(self) -> Terms:
        return self._terms

    def game_texts(self) -> Mapping[str, str]:
        return {self._game: self._about} if self._about else {}

    def identity(self, source: Path) -> Mapping[str, str]:
        return identity(source)

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        rows = read_rows(source)
        head = list(islice(rows, _HEAD))
        columns = dict.fromkeys(name for _, row in head if not isinstance(row, Rejected) for name in row)
        if problem := self._lacks(columns):
            yield from (row for _, row in head if isinstance(row, Rejected))
            yield Rejected(source.name, 1, "", problem)
            return
        spool = Spool()
        try:
            yield from self._gather(source.name, chain(head, rows), spool)
            for game_id, mine in spool.games():
                yield from self._game_of(source.name, game_id, mine)
        finally:
            spool.close()

    def _lacks(self, columns: Mapping[str, Any]) -> str:
        """What is wrong with a source of these columns; "" if nothing is."""
        if not columns:
            return ""
        here = self._read_as(columns)
        shown = f"{', '.join(list(map(str, columns))[:_SHOWN])}{' …' if len(columns) > _SHOWN else ''}"
        if missing := [name for name in REQUIRED if name not in here.values()]:
            lacks = f"it lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
            return f"{lacks} and has {shown}: rename with --map THEIRS={missing[0]}"
        if odd := [theirs for theirs, ours in self._names.items() if ours and theirs not in columns]:
            return f"--map names {', '.join(odd)}, which is no column; it has {shown}"
        return ""

    def _read_as(self, columns: Iterable[str]) -> dict[str, str]:
        """The columns that are read, each with the name in the format."""
        columns = tuple(columns)
        if columns not in self._known:
            self._known[columns] = self._matched(columns)
        return self._known[columns]

    def _matched(self, columns: tuple[str, ...]) -> dict[str, str]:
        own = {name: name for name in columns if name in Row.model_fields and name not in self._names}
        own = {theirs: ours for theirs, ours in own.items() if ours not in self._names.values()}
        given = {theirs: ours for theirs, ours in self._names.items() if theirs in columns and ours}
        taken = {*own.values(), *given.values()}
        also = {name: ALSO[name] for name in columns if name in ALSO and name not in self._names}
        return {**{theirs: ours for theirs, ours in also.items() if ours not in taken}, **own, **given}

    def _gather(self, file: str, rows: Rows, spool: Spool) -> Iterator[Rejected]:
        for line, row in rows:
            if isinstance(row, Rejected):
                yield row
                continue
            read_as = self._read_as(row)
            ours = {name: row[theirs] for theirs, name in read_as.items()}
            if not present(ours.get("game_id")):
                yield Rejected(file, line, "", "it names no game: the column game_id is empty")
                continue
            unread = [name for name, value in row.items() if name not in read_as and present(value)]
            game_id = _id(ours["game_id"], self._game)
            spool.add(game_id, line, {**ours, "game_id": game_id, _UNREAD: unread})

    def _game_of(
        self, file: str, game_id: str, rows: Iterator[tuple[int, dict[str, Any]]]
    ) -> Iterator[Imported | Rejected]:
        first, kept, unread, bad = 0, list[Row](), dict[str, None](), 0
        left_out, reasons = Counter[str](), dict[str, str]()
        for line, cells in rows:
            first = first or line
            unread |= dict.fromkeys(cells.pop(_UNREAD))
            if len(kept) >= MOST_ROWS:
                yield Rejected(file, first, game_id, f"a game of more than {MOST_ROWS:,} statements")
                return
            try:
                row, faults = read_row(cells)
            except ValidationError as error:
                bad += 1
                wrong = [fault(each) for each in error.errors() if each["loc"][0] in NEEDED]
                yield Rejected(file, line, game_id, wrong[0])
            else:
                kept.append(row)
                left_out.update(faults.keys())
                reasons = faults | reasons
        if not kept:
            return
        names = [name for name in unread if name not in self._names]
        notes = [f"columns that are not read: {', '.join(names)}"] if names else []
        notes += [f"{bad} of its rows could not be read"] if bad else []
        notes += [f"cells of {name} could not be read and are left out ({why})" for name, why in reasons.items()]
        make = partial(game_of, game_id, self._game, kept, self._deceptive, notes, left_out)
        yield attempt(file, first, game_id, make)


_UNREAD = "\0unread"


def _terms(options: JsonlOptions) -> Terms:
    """What the user says about the licence; nothing said is nothing allowed."""
    words, name = options.licence.strip(), options.licence.strip().lower()
    known = name in OPEN
    sentence = f"Licence {words}." if known else f"{words.rstrip('.')}." if words else JsonlImporter.licence
    shared = known if options.redistributable is None else options.redistributable
    return Terms(options.origin.strip() or JsonlImporter.origin, sentence, name if known else "", shared)


def _renaming(pairs: list[str]) -> dict[str, str]:
    """Their columns and ours, "" for one to leave out. Raises UsageError."""
    names: dict[str, str] = {}
    for pair in pairs:
        theirs, sign, ours = (part.strip() for part in pair.partition("="))
        if not sign or not theirs:
            raise UsageError(f"--map {pair}: write the source's column, =, and the format's, as in --map message=text")
        if ours and ours not in Row.model_fields:
            raise UsageError(f"--map {pair}: the format has no column {ours}; it has {', '.join(Row.model_fields)}")
        if theirs in names or (ours and ours in names.values()):
            raise UsageError(f"--map {pair}: a column is renamed twice")
        names[theirs] = ours
    return names


def _id(value: Any, game: str) -> str:
    """A game's id; a bare number gets the game's name in front, since other sources number their games too."""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    return f"{game}-{text}" if text.isdecimal() else text
