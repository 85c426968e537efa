"""Labels: the column that holds them, and what each value says. No text has one by default."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from liescope.common.errors import BadData
from liescope.generate.importers.column_names import named
from liescope.generate.importers.jsonl_importer import SHOWN, SourceOptions
from liescope.generate.importers.statement_rows import present, stated

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

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
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
    that mean so, if the user gave them; values: those there are, of which the other of two is the opposite of the one
    that is named. Raises BadData for a value that is named as both.
    """

    def __init__(
        self, name: str, deceptive: Collection[str] = (), honest: Collection[str] = (), values: Iterable[Any] = ()
    ) -> None:
        self.name = name
        lies, truths = {word_of(value) for value in deceptive}, {word_of(value) for value in honest}
        if both := lies & truths:
            raise BadData(f"{both.pop()} cannot be both --deceptive and --honest")
        there = {word_of(value) for value in values if present(value)}
        other = there - lies - truths
        if len(there) == 2 and len(other) == 1:
            lies, truths = lies or (other if truths else lies), truths or (other if lies else truths)
        self._lies, self._truths, self._read = lies, truths, name.casefold()
        self._rated = any(map(_NUMBER.fullmatch, there - {"0", "1"}))  # ratings of 1 to 5, say: 1 is no yes there
        self.assumed = False  # whether the meaning of 0 and 1 had to be

    def of(self, value: Any) -> bool | None:
        """Whether a value means deceptive; None for an empty cell and a value that nothing says the meaning of."""
        if not present(value):
            return None
        word = word_of(value)
        if word in self._lies | self._truths:
            return word in self._lies
        if word in _LIES | _TRUTHS:
            return word in _LIES
        if self._rated and word in ("0", "1"):
            return None
        plain = self._read in LIES_BY_NAME | TRUTHS_BY_NAME
        if word in YES | _NO and (plain or (word in ("0", "1") and not self._lies | self._truths)):
            self.assumed |= not plain
            return (word in YES) != (self._read in TRUTHS_BY_NAME)
        return None

    def note(self, columns: Sequence[str]) -> str:
        """What was assumed about the values, or which columns may hold them."""
        if not self.name:
            return f"no column is known to hold a label: name one with --label ({', '.join(columns[:SHOWN])})"
        return f"{self.name}: 1 counts as deceptive, 0 as honest; if not so, --deceptive 0" if self.assumed else ""


def label_of(row: Mapping[str, Any], name: str) -> bool | None:
    """Whether the column of that name says deceptive; None for an empty cell. Raises BadData if there is no such
    column, and for an ambiguous value.
    """
    found = LabelColumn(named(list(row), name, _LABELS, "label")).of(row[name])
    if found is None and present(row[name]):
        raise BadData(f"{name} is {word_of(row[name])[:40]!r}, which may mean either")
    return found


def plain_label(row: Mapping[str, Any]) -> bool | None:
    """The label that a row states by itself, through a telling column name or in words; None if it states none, or
    two.
    """
    by_name = [name for name in row if str(name).casefold() in LIES_BY_NAME | TRUTHS_BY_NAME]
    by_words = [name for name in row if str(name).casefold() in _LABELS and word_of(row[name]) in _LIES | _TRUTHS]
    found = {LabelColumn(name).of(row[name]) for name in (*by_name, *by_words)} - {None}
    return found.pop() if len(found) == 1 else None


def label_column(options: OwnOptions, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> LabelColumn:
    """The column of labels. Raises BadData where there are several, or its values are unclear."""
    name = named(columns, options.label, _LABELS, "label", needed=False)
    if not name:
        plain = [one for one in columns if _says_plainly([row.get(one) for row in rows])]
        name = plain[0] if len(plain) == 1 else ""
    values = [row[name] for row in rows if present(row.get(name))] if name else []
    label = LabelColumn(name, options.deceptive, options.honest, values)
    there = dict.fromkeys(map(word_of, values))
    for option, given in (("deceptive", options.deceptive), ("honest", options.honest)):
        if there and given and not there.keys() & {word_of(value) for value in given}:
            raise BadData(f"no row of {name} has a value that --{option} names; it has {_shown(values)}")
    if len(there) > SHOWN and not options.deceptive + options.honest and all(map(_NUMBER.fullmatch, there)):
        low, high = min(there, key=float), max(there, key=float)
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
