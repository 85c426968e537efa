"""Importers of tables: what they share, and the one whose rows are statements of games."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationError, field_validator

from liescope.common.errors import BadData, UsageError
from liescope.common.settings import OptionsModel
from liescope.data_cards.licences import OPEN, Terms
from liescope.games.game_registry import GAMES
from liescope.generate.importers.importer_protocol import Imported, Importer, Labels, Rejected, attempt
from liescope.generate.importers.receipt import Receipt, as_value
from liescope.generate.importers.statement_rows import ALSO, NEEDED, REQUIRED, Row, fault, game_of, present, read_row
from liescope.generate.importers.tables import TOO_MANY, Spool, dataset_of, identity, read_rows
from liescope.generate.importers.text_files import Rows

MOST_ROWS = 100_000  # of one game
MOST_TABLE_ROWS = 1_000_000  # of one file or dataset, unless the user allows more
SHOWN = 12  # columns in a message
_HEAD = 500  # rows read to learn a source's columns and what is in them
_AGAIN = 30  # columns that are learned where rows after those have others
_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


class Header(OptionsModel):
    """What the columns are called where a file does not say."""

    columns: str = Field(
        default="",
        description="The names of the columns, with commas between them, where the first line of a file is a row.",
    )

    def names(self) -> list[str]:
        """The names, none where the file has them."""
        return [name.strip() for name in self.columns.split(",") if name.strip()]


class SourceOptions(Header):
    """Whose words they are, what may be done with them, and what their label means."""

    about: str = Field(default="", description="A sentence for the dataset card on what these are.")
    means: str = Field(
        default="", description="What the source's label (label_gold) says and who decided, for the dataset card."
    )
    origin: str = Field(default="", description="Who published the statements, and where.")
    licence: str = Field(default="", description="Their licence: an id such as mit or cc-by-4.0, or a sentence.")
    redistributable: bool | None = Field(
        default=None, description="Whether that licence lets anyone pass them on; known for the usual ids."
    )
    language: list[str] = Field(
        default=[], description="A language of the words, as a code such as en or pt-BR; may be repeated."
    )

    most_rows: int = Field(
        default=MOST_TABLE_ROWS, ge=1, description="A file or dataset of more rows is refused: a bound on the time."
    )

    @field_validator("language")
    @classmethod
    def _is_a_code(cls, given: list[str]) -> list[str]:
        for one in given:
            if not _CODE.fullmatch(one):
                raise ValueError(f"{one!r} is no code of a language; give one such as en, de or pt-BR")
        return given


class RowReader(ABC):
    """Makes games of the rows of one table, whose columns it knows. used: by what they hold, the columns it reads."""

    used: Mapping[str, str] = {}

    @abstractmethod
    def key(self, row: Mapping[str, Any]) -> str | None:
        """The key that a game's rows share; None for a row that is a game by itself. Raises BadData for a row
        that cannot be used.
        """

    @abstractmethod
    def games(self, file: str, key: str | None, rows: Iterable[tuple[int, Any]]) -> Iterator[Imported | Rejected]:
        """The game of these rows, and rejections for whatever cannot be read."""


class TableImporter(Importer):
    """Reads games from the rows of a table: a file, a dataset, or rows in memory. receipt: what became of the rows;
    whole: its columns can be understood only by all rows.
    """

    Options: ClassVar[type[OptionsModel]] = SourceOptions
    whole = False

    def __init__(self, options: OptionsModel) -> None:
        super().__init__(options)
        self.receipt = Receipt()

    def terms(self) -> Terms:
        """The licence as the user states it; without a statement, nothing is allowed."""
        assert isinstance(self.options, SourceOptions)
        told, name = self.options, self.options.licence.strip().lower()
        words = f"Licence {told.licence.strip()}." if name in OPEN else f"{told.licence.strip().rstrip('.')}."
        return Terms(
            told.origin.strip() or self.origin,
            words if name else self.licence,
            name if name in OPEN else "",
            name in OPEN if told.redistributable is None else told.redistributable,
            told.means.strip(),
            tuple(dict.fromkeys(told.language)),
        )

    @property
    def bound(self) -> int:
        """How many rows a file or dataset may have."""
        assert isinstance(self.options, SourceOptions)
        return self.options.most_rows

    def identity(self, source: Path) -> Mapping[str, str]:
        return identity(source)

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        return self.games(source.name, self.rows(source))

    def rows(self, source: Path) -> Rows:
        """The rows of a source. Raises OSError if it cannot be opened, BadData for a file of too many rows, before
        the work begins: reading them takes a fiftieth of it.
        """
        assert isinstance(self.options, SourceOptions)
        most, names = self.bound, self.options.names()
        if dataset_of(source) is None and any(True for _ in islice(read_rows(source, (), most, names), most, None)):
            raise BadData(TOO_MANY.format(name=source.name, most=most))
        return read_rows(source, (), most, names)

    @abstractmethod
    def reader(self, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> RowReader:
        """The reader of a table with these columns. head: its first rows. Raises BadData if they cannot be read."""

    def apart(self, name: str, rows: Rows) -> Rows:  # noqa: ARG002
        """The rows of a table, each with one thing in it. name: of the table, for rejections."""
        return rows

    def games(self, name: str, rows: Rows, on_disc: bool = True) -> Iterator[Imported | Rejected]:
        """Every game of a table, in the order in which each first occurs. name: of the table, for rejections; on_disc:
        rows may wait on disk for the others of their game, and are bounded.
        """
        rows = self.apart(name, self.receipt.counted(rows))
        head: list[tuple[int, Any]] = []
        problem = ""
        for most in (None if self.whole else _HEAD, None):  # what the first rows leave open, the others may settle
            head += islice(rows, most)
            told = [row for _, row in head if not isinstance(row, Rejected)]
            columns = list(dict.fromkeys(chain.from_iterable(told)))
            try:
                reader = self.reader(columns, told)
                break
            except BadData as error:
                problem = str(error)
        else:
            yield from (row for _, row in head if isinstance(row, Rejected))
            if columns:
                yield Rejected(name, 0, "", problem, len(told))
            return
        self.receipt.reads(columns, reader.used)
        spool, again, known = Spool(on_disc), _AGAIN, dict.fromkeys(columns)
        for number, (line, row) in enumerate(chain(head, rows)):
            if on_disc and number >= self.bound:
                yield Rejected(name, line, "", TOO_MANY.format(name="it", most=number) + "; the rest is left out")
                break
            if isinstance(row, Rejected):
                yield row
                continue
            for late in [] if row.keys() <= known.keys() else [one for one in row if one not in known]:
                known[late] = None
                again -= 1
                if again >= 0:
                    with suppress(BadData):
                        reader, columns = self.reader([*columns, late], [*told, row]), [*columns, late]
                self.receipt.reads(known, reader.used)
            try:
                key = reader.key(row)
            except BadData as error:
                yield Rejected(name, line, "", str(error))
                continue
            if key is None:
                yield from reader.games(name, None, [(line, row)])
            else:
                spool.add(key, line, row)
        for key, mine in spool.games():
            yield from reader.games(name, key, mine)


class JsonlOptions(SourceOptions):
    """How to read a source's columns, and what to call its game."""

    map: list[str] = Field(
        default=[], description="Read a column under another name: THEIRS=OURS; THEIRS= leaves it out."
    )
    game: str = Field(default="imported-game", min_length=1, description="What the game is called.")
    deceptive_role: list[str] = Field(
        default=[], description="A role that aims to deceive, where the rows name roles only; may be repeated."
    )


class JsonlImporter(TableImporter):
    """One row a statement: JSON lines, a JSON array, CSV, Parquet, or a dataset in a folder or on the Hub."""

    format: ClassVar[str] = "jsonl"
    reads: ClassVar[str] = (
        "a table with a statement in each row: .jsonl, .json, .csv, .parquet, a dataset's folder, USER/NAME[:CONFIG]"
    )
    origin: ClassVar[str] = "a table of statements"
    licence: ClassVar[str] = "None is stated: not to be redistributed."
    Options: ClassVar[type[OptionsModel]] = JsonlOptions

    def __init__(self, options: JsonlOptions) -> None:
        """Raises UsageError for an unusable renaming or name of the game."""
        super().__init__(options)
        if options.game in GAMES:
            raise UsageError(
                f"--game {options.game}: Liescope plays that game by rules of its own, which games from elsewhere need "
                f"not follow; call it something else, such as {options.game}-imported"
            )
        self._given, self._names = options, _renaming(options.map)

    def game_texts(self) -> Mapping[str, str]:
        return {self._given.game: self._given.about} if self._given.about else {}

    def reader(self, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> RowReader:  # noqa: ARG002
        reader = _StatementReader(self._given, self._names)
        reader.used = {ours: theirs for theirs, ours in reader.read_as(tuple(columns)).items()}
        here = reader.used
        shown = f"{', '.join(columns[:SHOWN])}{' …' if len(columns) > SHOWN else ''}"
        if missing := [name for name in REQUIRED if name not in here]:
            lacks = f"it lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
            raise BadData(f"{lacks} and has {shown}: rename with --map THEIRS={missing[0]}")
        if odd := [theirs for theirs, ours in self._names.items() if ours and theirs not in columns]:
            raise BadData(f"--map names {', '.join(odd)}, which is no column; it has {shown}")
        return reader


class _StatementReader(RowReader):
    """Reads rows by the columns of the format. names: their columns and ours, where they differ."""

    def __init__(self, options: JsonlOptions, names: Mapping[str, str]) -> None:
        self._game, self._deceptive, self._names = options.game, options.deceptive_role, names
        self.read_as = cache(self._matched)

    def _matched(self, columns: tuple[str, ...]) -> dict[str, str]:
        """The columns that are read, each with its name in the format."""
        given = {theirs: ours for theirs, ours in self._names.items() if theirs in columns and ours}
        own = [name for name in columns if name in Row.model_fields and name not in self._names]
        own = [name for name in own if name not in self._names.values()]
        also = {name: ALSO[name] for name in columns if name in ALSO and name not in self._names}
        taken = {*own, *given.values()}
        return {
            **{theirs: ours for theirs, ours in also.items() if ours not in taken},
            **{name: name for name in own},
            **given,
        }

    def key(self, row: Mapping[str, Any]) -> str:
        value = next((row[theirs] for theirs, ours in self.read_as(tuple(row)).items() if ours == "game_id"), None)
        if not present(value):
            raise BadData("it names no game: the column game_id is empty")
        text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
        # a prefix, because other sources number their games too
        return f"{self._game}-{text}" if text.isdecimal() else text

    def games(self, file: str, key: str | None, rows: Iterable[tuple[int, Any]]) -> Iterator[Imported | Rejected]:
        first, kept, bad = 0, list[Row](), 0
        left_out, reasons, labels, game_id = Counter[str](), dict[str, str](), Labels(), str(key)
        for line, cells in rows:
            first = first or line
            if len(kept) >= MOST_ROWS:
                lost = len(kept) + 1 + sum(1 for _ in rows)
                yield Rejected(file, first, game_id, f"a game of more than {MOST_ROWS:,} statements", lost)
                return
            read_as = self.read_as(tuple(cells))
            try:
                row, faults = read_row({ours: cells[theirs] for theirs, ours in read_as.items()} | {"game_id": game_id})
            except ValidationError as error:
                bad += 1
                wrong = [fault(each) for each in error.errors() if each["loc"][0] in NEEDED]
                yield Rejected(file, line, game_id, wrong[0])
            else:
                kept.append(row)
                if gold := self.used.get("label_gold"):
                    labels[as_value(cells.get(gold)), row.label_gold] += 1
                left_out.update(faults.keys())
                reasons = faults | reasons
        if not kept:
            return
        notes = [f"{bad} of its rows could not be read"] if bad else []
        notes += [f"cells of {name} could not be read and are left out ({why})" for name, why in reasons.items()]
        make = partial(game_of, game_id, self._game, kept, self._deceptive, notes, left_out)
        yield attempt(file, first, game_id, make, len(kept), labels)


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
