"""What importers of tables share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator

from liescope.common.errors import BadData
from liescope.common.settings import OptionsModel
from liescope.data_cards.licences import OPEN, Terms
from liescope.generate.importers.importer_protocol import Imported, Importer, Rejected
from liescope.generate.importers.receipt import Receipt
from liescope.generate.importers.tables import TOO_MANY, Spool, dataset_of, identity, read_rows
from liescope.generate.importers.text_files import Rows

MOST_TABLE_ROWS = 1_000_000  # of one file or dataset, unless the user allows more
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
        """The key that a game's rows share; None for a row that is a game by itself. It is asked of every row before
        any game is made. Raises BadData for a row that cannot be used.
        """

    @abstractmethod
    def games(self, file: str, key: str | None, rows: Iterable[tuple[int, Any]]) -> Iterator[Imported | Rejected]:
        """The game of these rows, and rejections for whatever cannot be read."""


class TableImporter(Importer):
    """Reads games from the rows of a table: a file, a dataset, or rows in memory. receipt: what became of the rows;
    given: the options; seen: by the column of a label, its values in the table, as far as it was read.
    """

    Options: ClassVar[type[OptionsModel]] = SourceOptions

    def __init__(self, options: SourceOptions) -> None:
        super().__init__(options)
        self.given = options
        self.receipt, self.seen = Receipt(), defaultdict[str, set[str]](set)

    def terms(self) -> Terms:
        """The licence as the user states it; without a statement, nothing is allowed."""
        told, name = self.given, self.given.licence.strip().lower()
        words = f"Licence {told.licence.strip()}." if name in OPEN else f"{told.licence.strip().rstrip('.')}."
        return Terms(
            told.origin.strip() or self.origin,
            words if name else self.licence,
            name if name in OPEN else "",
            name in OPEN if told.redistributable is None else told.redistributable,
            told.means.strip(),
            tuple(dict.fromkeys(told.language)),
        )

    def identity(self, source: Path) -> Mapping[str, str]:
        return identity(source)

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        return self.games(source.name, self.rows(source))

    def rows(self, source: Path) -> Rows:
        """The rows of a source. Raises OSError if it cannot be opened, BadData for a file of too many rows, before
        the work begins: reading them takes a fiftieth of it.
        """
        most, names = self.given.most_rows, self.given.names()
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
        self.seen.clear()
        head: list[tuple[int, Any]] = []
        problem = ""
        for most in (_HEAD, None):  # what the first rows leave open, the others may settle
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
            if on_disc and number >= self.given.most_rows:
                why = TOO_MANY.format(name="it", most=number) + "; the rest is left out"
                spool.add(None, line, Rejected(name, line, "", why))
                break
            if isinstance(row, Rejected):
                spool.add(None, line, row)
                continue
            for late in [] if row.keys() <= known.keys() else [one for one in row if one not in known]:
                known[late] = None
                again -= 1
                if again >= 0:
                    with suppress(BadData):
                        reader, columns = self.reader([*columns, late], [*told, row]), [*columns, late]
                self.receipt.reads(known, reader.used)
            try:
                spool.add(reader.key(row), line, row)
            except BadData as error:
                spool.add(None, line, Rejected(name, line, "", str(error)))
        for found in spool.games():
            yield from [found] if isinstance(found, Rejected) else reader.games(name, *found)
