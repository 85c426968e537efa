"""The importer of tables whose rows are statements of games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar

from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.settings import OptionsModel
from liescope.games.game_registry import GAMES
from liescope.generate.importers.column_names import listing
from liescope.generate.importers.importer_protocol import Imported, Labels, Rejected, attempt
from liescope.generate.importers.label_column import LabelColumn
from liescope.generate.importers.receipt import as_value
from liescope.generate.importers.statement_rows import (
    ALSO,
    REQUIRED,
    Row,
    as_text,
    game_of,
    present,
    read_row,
    stated,
)
from liescope.generate.importers.table_importer import RowReader, SourceOptions, TableImporter

MOST_ROWS = 100_000  # of one game
_LABELS = ("label_gold", "label_self", "deceives")


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
    version: ClassVar[int] = 2
    Options: ClassVar[type[OptionsModel]] = JsonlOptions

    def __init__(self, options: JsonlOptions) -> None:
        """Raises UsageError for an unusable renaming or name of the game."""
        super().__init__(options)
        if options.game in GAMES:
            raise UsageError(
                f"--game {options.game}: Liescope plays that game by rules of its own, which games from elsewhere need "
                f"not follow; call it something else, such as {options.game}-imported"
            )
        self.given: JsonlOptions = options
        self._names = _renaming(options.map)

    def game_texts(self) -> Mapping[str, str]:
        return {self.given.game: self.given.about} if self.given.about else {}

    def reader(self, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> RowReader:  # noqa: ARG002
        reader = _StatementReader(self.given, self._names, self.seen)
        reader.used = {ours: theirs for theirs, ours in reader.read_as(tuple(columns)).items()}
        here = reader.used
        if missing := [name for name in REQUIRED if name not in here]:
            lacks = f"it lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
            raise BadData(f"{lacks} and has {listing(columns)}: rename with --map THEIRS={missing[0]}")
        if odd := [theirs for theirs, ours in self._names.items() if ours and theirs not in columns]:
            raise BadData(f"--map names {', '.join(odd)}, which is no column; it has {listing(columns)}")
        return reader


class _StatementReader(RowReader):
    """Reads rows by the columns of the format. names: their columns and ours, where they differ; seen: the values of
    labels, by ours.
    """

    def __init__(self, options: JsonlOptions, names: Mapping[str, str], seen: Mapping[str, set[str]]) -> None:
        self._game, self._deceptive, self._names = options.game, options.deceptive_role, names
        self._labels = {ours: LabelColumn("deceptive", seen=seen[ours]) for ours in _LABELS}
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
        cells = {ours: row[theirs] for theirs, ours in self.read_as(tuple(row)).items()}
        if not present(cells.get("game_id")):
            raise BadData("it names no game: the column game_id is empty")
        for ours, label in self._labels.items():
            label.sees(cells.get(ours))
        text = str(as_text(cells["game_id"]))
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
            told = {ours: cells[theirs] for theirs, ours in self.read_as(tuple(cells)).items()}
            read = {ours: label.of(told.get(ours)) for ours, label in self._labels.items() if stated(told.get(ours))}
            try:
                row, faults = read_row(told | read | {"game_id": game_id})
            except BadData as error:
                bad += 1
                yield Rejected(file, line, game_id, str(error))
            else:
                kept.append(row)
                odd = [ours for ours, deceptive in read.items() if deceptive is None]
                faults |= {ours: f"{ours}: {told[ours]!r} is neither true nor false" for ours in odd}
                if "label_gold" in self.used:
                    labels[as_value(told.get("label_gold")), row.label_gold] += 1
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
