"""How a table is declared: a frozen dataclass, whose fields' meanings stand in columns.toml.

    @dataclass(frozen=True, slots=True)
    class VoteRow:
        game_id: str
        suspicion_rank: float | None

A field's type is the column's type: str, bool, int, float, a tuple of texts, or a tuple of rows of another such class.
`| None` means that the column can be null. Schemas, cards and docs are generated from `CorpusTable`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from liescope.common.text import GAME

TEXT, BOOLEAN, INTEGER, NUMBER, RECORDS = "text", "boolean", "integer", "number", "records"
SPLITS = ("train", "validation", "test")
_TYPES = {str: TEXT, bool: BOOLEAN, int: INTEGER, float: NUMBER}
HONESTY = ("honest", "deceptive")  # the classes of every label: false, true
DECEPTION_TYPES = (
    "none",
    "omission",
    "distortion",
    "fabrication",
    "misdirection",
    "sycophancy",
    "strategic_deception",
    "persuasive_manipulation",
)
_CLASSES = {"honesty": HONESTY, "types": DECEPTION_TYPES}
Meanings = Mapping[str, Mapping[str, Any]]
MEANINGS: Meanings = tomllib.loads(Path(__file__).with_name("columns.toml").read_text("utf-8"))
"""What the columns mean, by the class of their row; `every`: of columns that many rows have."""


@dataclass(frozen=True, slots=True)
class CorpusColumn:
    """A declared column. type: text, boolean, integer, number or records; repeated: a list of these; fields: those of
    a record; nullable: the value can be null; null: when; reason: the column that says why; classes: the names of its
    classes, of columns that serve as labels (of a boolean: false, true); elsewhere: the meaning for records that are
    not games, "" if it is the same; only_games: only games use it. In words, {unit} is what a record is called.
    """

    name: str
    type: str
    meaning: str
    repeated: bool = False
    nullable: bool = False
    null: str = ""
    reason: str = ""
    classes: tuple[str, ...] = ()
    elsewhere: str = ""
    only_games: bool = False
    fields: tuple[CorpusColumn, ...] = ()

    @property
    def type_words(self) -> str:
        """The type in words: "text", "list of records"."""
        return f"list of {self.type}" if self.repeated else self.type

    def stored(self, values: Iterable[Any]) -> list[Any]:
        """Values as stored in Parquet files, classes as numbers. Raises KeyError for an unknown class."""
        if not self.classes:
            return list(values)
        numbers: dict[Any, int | None] = {name: at for at, name in enumerate(self.classes)}
        numbers |= {None: None, False: 0, True: 1}
        return [numbers[value] for value in values]

    def words(self, unit: str = GAME) -> str:
        """The meaning, with when or why the value is null, for records called so (see `record_unit`); "" for a column
        that only games use.
        """
        if unit != GAME and self.only_games:
            return ""
        said = self.meaning if unit == GAME else self.elsewhere or self.meaning
        null = f"with the reason in `{self.reason}`" if self.reason else self.null
        return f"{said}; null {null}".removesuffix("; null ").replace("{unit}", unit)


@dataclass(frozen=True, slots=True)
class CorpusTable:
    """A table of the corpus: a config of the dataset. row: the class of its rows; meaning: what a row is, with {unit}
    as in columns.
    """

    name: str
    row: type
    meaning: str
    fields: tuple[CorpusColumn, ...] = field(init=False)

    def __post_init__(self) -> None:
        split = CorpusColumn("split", TEXT, "train, validation or test; the same for all rows of a {unit}")
        object.__setattr__(self, "fields", (*fields_of(self.row), split))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order; `split` is the last."""
        return tuple(column.name for column in self.fields)

    def words(self, unit: str = GAME) -> str:
        """What a row is, for records called so (see `record_unit`)."""
        return self.meaning.replace("{unit}", unit)


def fields_of(row: type, meanings: Meanings = MEANINGS) -> tuple[CorpusColumn, ...]:
    """The columns that a row class declares. Raises TypeError for a field without a meaning or of another type, and for
    the meaning of no field.
    """
    hints, told = get_type_hints(row), meanings.get(row.__name__, {})
    found = tuple(_field(row, name, hint, meanings) for name, hint in hints.items())
    lost = {*told, *(column.reason for column in found)} - {"", *hints}
    if lost:
        raise TypeError(f"{row.__name__} has no column {min(lost)}, which is told of")
    return found


def _field(row: type, name: str, kind: Any, meanings: Meanings) -> CorpusColumn:
    said = meanings.get(row.__name__, {}).get(name) or meanings.get("every", {}).get(name)
    if said is None:
        raise TypeError(f"{row.__name__}.{name} has no meaning")
    told: dict[str, Any] = {"meaning": said} if isinstance(said, str) else dict(said)
    told["classes"] = _CLASSES[told["classes"]] if "classes" in told else ()
    nullable = get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)
    if nullable:
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    if nullable != bool({"null", "reason"} & told.keys()):
        raise TypeError(f"{row.__name__}.{name}: a column that can be null says when, and no other does")
    repeated = get_origin(kind) is tuple
    if repeated:
        kind = get_args(kind)[0]
    inner = fields_of(kind, meanings) if is_dataclass(kind) and isinstance(kind, type) else ()
    if not inner and kind not in _TYPES:
        raise TypeError(f"{row.__name__}.{name} has the type {kind}, which no column has")
    return CorpusColumn(
        name, RECORDS if inner else _TYPES[kind], repeated=repeated, nullable=nullable, fields=inner, **told
    )
