"""How a table is declared: a frozen dataclass whose fields say what they mean.

    @dataclass(frozen=True, slots=True)
    class VoteRow:
        game_id: Annotated[str, Meaning("the game")]
        fallback: Annotated[str, Meaning("why the rules drew the vote, empty if the player chose it")]

A field's type is the column's type: str, bool, int, float, a tuple of texts, or a tuple of rows of another such class.
`| None` means that the column can be null. Schemas, cards and docs are generated from `CorpusTable`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from liescope.common.text import GAME

TEXT, BOOLEAN, INTEGER, NUMBER, RECORDS = "text", "boolean", "integer", "number", "records"
SPLITS = ("train", "validation", "test")
_TYPES = {str: TEXT, bool: BOOLEAN, int: INTEGER, float: NUMBER}


@dataclass(frozen=True, slots=True)
class Meaning:
    """The annotation of a field. meaning: one sentence; null: when the value is null; reason: the column that says why
    it is null; classes: the names of its classes, for columns that serve as labels (of a boolean: false, true);
    elsewhere: the sentence for records that are not games, "" if it is the same, None for a column that only games use.
    In each, {unit} stands for what a record is called.
    """

    meaning: str
    null: str = ""
    reason: str = ""
    classes: tuple[str, ...] = ()
    elsewhere: str | None = ""


@dataclass(frozen=True, slots=True)
class CorpusColumn:
    """A declared column. type: text, boolean, integer, number or records; repeated: a list of these; fields: those of
    a record; nullable: the value can be null; the rest as in `Meaning`.
    """

    name: str
    type: str
    meaning: str
    repeated: bool = False
    nullable: bool = False
    null: str = ""
    reason: str = ""
    classes: tuple[str, ...] = ()
    elsewhere: str | None = ""
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
        if unit != GAME and self.elsewhere is None:
            return ""
        said = self.meaning if unit == GAME else self.elsewhere or self.meaning
        null = f"with the reason in `{self.reason}`" if self.reason else self.null
        return f"{said}; null {null}".removesuffix("; null ").replace("{unit}", unit)


@dataclass(frozen=True, slots=True)
class CorpusTable:
    """A table of the corpus: a config of the dataset. row: the class of its rows; meaning: what a row is, with {unit}
    as in `Meaning`.
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


def fields_of(row: type) -> tuple[CorpusColumn, ...]:
    """The columns that a row class declares. Raises TypeError for a field without a `Meaning` or of another type."""
    hints = get_type_hints(row, include_extras=True)
    found = tuple(_field(row, name, hint) for name, hint in hints.items())
    names = {column.name for column in found}
    for column in found:
        if column.reason and column.reason not in names:
            raise TypeError(f"{row.__name__}.{column.name} names the reason {column.reason!r}, which is no column")
    return found


def _field(row: type, name: str, hint: Any) -> CorpusColumn:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"{row.__name__}.{name} has no Meaning")
    kind, *notes = get_args(hint)
    said = next((note for note in notes if isinstance(note, Meaning)), None)
    if said is None:
        raise TypeError(f"{row.__name__}.{name} has no Meaning")
    nullable = get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)
    if nullable:
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    if nullable != bool(said.null or said.reason):
        raise TypeError(f"{row.__name__}.{name}: a column that can be null says when, and no other does")
    repeated = get_origin(kind) is tuple
    if repeated:
        kind = get_args(kind)[0]
    inner = fields_of(kind) if isinstance(kind, type) and is_dataclass(kind) else ()
    if not inner and kind not in _TYPES:
        raise TypeError(f"{row.__name__}.{name} has the type {kind}, which no column has")
    type_ = RECORDS if inner else _TYPES[kind]
    return CorpusColumn(
        name, type_, said.meaning, repeated, nullable, said.null, said.reason, said.classes, said.elsewhere, inner
    )


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
GAME_ID = Meaning("the {unit}; unique in the corpus, the key that joins configs")
GAME_NAME = Meaning("the name of the game's rules", elsewhere="what the {unit} is: text, chat or a log's format")
STATEMENT_ID = Meaning("the statement: game_id, a colon, the index of its event in the {unit}")
DAY = Meaning("the day of the game, from 1", elsewhere=None)
SPEAKER_ROLE = Meaning(
    "the speaker's hidden role (in a conversation: system, user, assistant or tool), empty where it is not known"
)
