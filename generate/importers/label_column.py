"""Labels: the column that holds them, and what each value says. No text has one by default."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from liescope.common.errors import BadData
from liescope.generate.importers.column_names import SHOWN, listing, named
from liescope.generate.importers.statement_rows import present, stated
from liescope.generate.importers.table_importer import SourceOptions

LIES_BY_NAME = frozenset(
    ("deceptive", "is_deceptive", "deception", "lie", "is_lie", "lied", "lying", "is_lying", "dishonest", "label_gold")
)
TRUTHS_BY_NAME = frozenset(
    ("honest", "is_honest", "honesty", "truthful", "is_truthful", "truth", "is_truth", "true", "is_true")
)
_LABELS = LIES_BY_NAME | TRUTHS_BY_NAME | {"label", "labels", "target", "class", "gold", "y"}
_LIES = frozenset(("deceptive", "deception", "lie", "lying", "lied", "dishonest", "deceitful", "untruthful"))
_TRUTHS = frozenset(("honest", "truth", "truthful", "not deceptive", "non-deceptive", "nondeceptive", "sincere"))
YES = frozenset(("1", "true", "t", "yes", "y"))
_NO = frozenset(("0", "false", "f", "no", "n"))

_NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?")
_MOST_SEEN = 1000  # values
_WHOLE = re.compile(r"^(-?\d+)\.0+$")


class OwnOptions(SourceOptions):
    """Where the label stands, what it means, and what was thought."""

    label: str = Field(default="", description="The column with the label, where its name does not tell.")
    deceptive: list[str] = Field(
        default=[], description="A value of the label that means deceptive, where it does not tell; may be repeated."
    )
    honest: list[str] = Field(
        default=[],
        description="A value of the label that means honest; may be repeated. Of two values, naming one is enough.",
    )
    reasoning: str = Field(
        default="", description="The column with what was thought before, where its name does not tell."
    )


class LabelColumn:
    """A column of labels and how its values are read. name: "" where a source has none; deceptive, honest: the values
    that mean so, if the user gave them; seen: the values that it has, which others may know too. Raises BadData for a
    value that is named as both.

    What a value means depends on all that were seen: beside other numbers, as in ratings of 1 to 5, 1 is no yes and 0
    no no; the other of two values is the opposite of the one that is named.
    """

    def __init__(
        self, name: str, deceptive: Collection[str] = (), honest: Collection[str] = (), seen: set[str] | None = None
    ) -> None:
        self.name, self._read = name, name.casefold()
        self._lies, self._truths = ({word_of(value) for value in given} for given in (deceptive, honest))
        if both := self._lies & self._truths:
            raise BadData(f"{both.pop()} cannot be both --deceptive and --honest")
        self._seen = set() if seen is None else seen
        self.assumed = False  # whether the meaning of 0 and 1 had to be

    def sees(self, *values: Any) -> None:
        """Take note of values that the column has."""
        for value in values:
            if stated(value) and len(self._seen) < _MOST_SEEN:
                self._seen.add(word_of(value))

    @property
    def rated(self) -> bool:
        """Whether it has other numbers than 0 and 1."""
        return any(map(_NUMBER.fullmatch, self._seen - {"0", "1"}))

    def of(self, value: Any) -> bool | None:
        """Whether a value means deceptive; None for an empty cell and a value that nothing says the meaning of."""
        if not stated(value):
            return None
        word, given = word_of(value), self._lies | self._truths
        if word in given:
            return word in self._lies
        if len(self._seen) == 2 and word in self._seen and given & self._seen and not (self._lies and self._truths):
            return not self._lies
        if word in _LIES | _TRUTHS:
            return word in _LIES
        plain = self._read in LIES_BY_NAME | TRUTHS_BY_NAME
        if word not in YES | _NO or not (plain or (word in ("0", "1") and not given)):
            return None
        if word in ("0", "1") and self.rated:
            return None
        self.assumed |= not plain
        return (word in YES) != (self._read in TRUTHS_BY_NAME)

    def note(self, columns: Sequence[str]) -> str:
        """What was assumed about the values, or which columns may hold them."""
        if not self.name:
            return f"no column is known to hold a label: name one with --label ({listing(columns)})"
        if self.assumed and self.rated:
            return f"{self.name}: 0 and 1 are no labels beside other numbers; --deceptive names the lies"
        return f"{self.name}: 1 counts as deceptive, 0 as honest; if not so, --deceptive 0" if self.assumed else ""


class RowLabels:
    """The labels of rows that come one by one. name: the column; without it, one by whose name or words a row states it
    by itself.
    """

    def __init__(self, name: str = "") -> None:
        self._name, self._known = name, dict[str, LabelColumn]()

    def of(self, row: Mapping[str, Any]) -> bool | None:
        """Whether a row says deceptive; None where it says nothing, or both. Raises BadData if there is no column of
        the name, and for a value in it that may mean either.
        """
        name = self._name and named(list(row), self._name, _LABELS, "label")
        names = [name] if name else [one for one in row if _states(str(one).casefold(), row[one])]
        found = {self._told(one, row[one]) for one in names} - {None}
        if name and not found and present(row[name]):
            raise BadData(f"{name} is {str(row[name])[:40]!r}, which may mean either")
        return found.pop() if len(found) == 1 else None

    def _told(self, name: str, value: Any) -> bool | None:
        label = self._known.setdefault(name, LabelColumn(name))
        label.sees(value)
        return label.of(value)


def _states(name: str, value: Any) -> bool:
    return name in LIES_BY_NAME | TRUTHS_BY_NAME or (name in _LABELS and word_of(value) in _LIES | _TRUTHS)


def label_column(
    options: OwnOptions, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], seen: Mapping[str, set[str]]
) -> LabelColumn:
    """The column of labels. rows: the first ones; seen: by column, the values of labels. Raises BadData where there are
    several, or its values are unclear.
    """
    name = named(columns, options.label, _LABELS, "label", needed=False)
    if not name:
        plain = [one for one in columns if _says_plainly([row.get(one) for row in rows])]
        name = plain[0] if len(plain) == 1 else ""
    values = [row[name] for row in rows if present(row.get(name))] if name else []
    label = LabelColumn(name, options.deceptive, options.honest, seen[name])
    label.sees(*values)
    there = dict.fromkeys(map(word_of, values))
    for option, given in (("deceptive", options.deceptive), ("honest", options.honest)):
        if there and given and not there.keys() & {word_of(value) for value in given}:
            raise BadData(f"no row of {name} has a value that --{option} names; it has {_shown(values)}")
    if len(there) > SHOWN and not options.deceptive + options.honest and all(map(_NUMBER.fullmatch, there)):
        low, *_, high = sorted(there, key=lambda number: float(number.replace(",", ".")))
        raise BadData(
            f"{name} holds {len(there)} different numbers from {low} to {high}, and a label has classes: make two of "
            "them first, or name another column with --label"
        )
    if there and all(label.of(value) is None for value in values):
        raise BadData(
            f"{name} is {str(values[0])[:40]!r}, which may mean either; say which values are lies with "
            f"--deceptive; it has {_shown(values)}"
        )
    return label


def _says_plainly(values: Sequence[Any]) -> bool:
    """Whether every non-empty cell says in words whether it is a lie, and both answers occur."""
    words = {word_of(value) for value in values if stated(value)}
    return words <= _LIES | _TRUTHS and bool(words & _LIES) and bool(words & _TRUTHS)


def _shown(values: Iterable[Any]) -> str:
    """The most frequent values."""
    counts = Counter(str(value)[:40] for value in values).most_common()
    return ", ".join(value for value, _ in counts[:SHOWN]) + (" …" if len(counts) > SHOWN else "")


def word_of(value: Any) -> str:
    """A cell as a word, by which it is compared: 1.0 is 1, as a number and as a text."""
    return _WHOLE.sub(r"\1", str(value).strip()).casefold()
