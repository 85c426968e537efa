"""The receipt of an import: what became of the rows, the columns and each value of the label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

from liescope.common.text import brief, number_of, plain
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.importers.importer_protocol import Labels
from liescope.generate.importers.statement_rows import present
from liescope.generate.importers.text_files import Rows

_SHOWN, _FEW, _WIDTH, _VALUE = 8, 3, 80, 32
_MEANS = {True: "deceptive", False: "honest", None: "no label"}


@dataclass
class Receipt:
    """What became of what a source holds. what: the unit of the source; rows: how many were read; made: how many more
    came of those that hold several texts; kept: in records; left_out: by reason; texts: statements in the records;
    groups: hashes of those that these belong to; languages: as far as stated; used: by what it holds, the
    column; ignored: columns of no use; labels: of what was kept.
    """

    what: str = "row"
    rows: int = 0
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    groups: set[int] = field(default_factory=set)
    languages: tuple[str, ...] = ()
    used: dict[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    labels: Labels = field(default_factory=Counter)
    made: int = 0

    @property
    def missing(self) -> int:
        """Rows that are neither kept nor left out for a reason: none, if nothing is wrong here."""
        return self.rows + self.made - self.kept - self.left_out.total()

    @property
    def lacks(self) -> str:
        """The class that no text has where there are labels: "deceptive" or "honest"; "" if there are both, or none."""
        classes = {deceptive for _, deceptive in self.labels} - {None}
        return ("honest" if True in classes else "deceptive") if len(classes) == 1 else ""

    def counted(self, rows: Rows) -> Rows:
        """The same rows, counted as they pass."""
        for row in rows:
            self.rows += 1
            yield row

    def reads(self, columns: Iterable[str], used: Mapping[str, str]) -> None:
        """Note which columns of a table are read."""
        self.used |= used
        self.ignored = tuple(one for one in dict.fromkeys((*self.ignored, *columns)) if one not in self.used.values())

    def keeps(self, game: GameRecord, rows: int, labels: Labels | None) -> None:
        """Count a record. rows: that it was made of; labels: of these; None where the source's own are not at hand."""
        said = [event for event in game.events if event.kind is EventKind.STATEMENT]
        golds = [event.data["gold"] for event in said if "gold" in event.data]
        self.kept += rows
        self.texts += len(said)
        self.groups.add(hash(game.meta.get("family", game.game_id)))
        self.labels.update(labels or Counter((str(gold), gold) for gold in golds))

    def __str__(self) -> str:
        """In words, for an 80-column terminal."""
        lost = "".join(f"; {rows:,} left out: {brief(why, _WIDTH)}" for why, rows in self.left_out.most_common(_FEW))
        made = f" with {self.rows + self.made:,} texts" if self.made else ""
        lines = [f"{number_of(self.rows, self.what)}{made} read, {self.kept:,} kept{lost}"]
        if self.used:
            used = ", ".join(name if name == what else f"{name} ({what})" for what, name in self.used.items())
            lines.append(f"columns: {used}{'; not read: ' * bool(self.ignored)}{', '.join(self.ignored)}")
        for (value, deceptive), rows in self.labels.most_common(_SHOWN):
            lines.append(f"  {brief(value, _VALUE) or '(empty)':{_VALUE}} {rows:>9,}  {_MEANS[deceptive]}")
        if (more := len(self.labels) - _SHOWN) > 0:
            lines.append(f"  and {more} other values")
        if self.labels:
            lies, truths, none = (sum(n for (_, one), n in self.labels.items() if one is kind) for kind in _MEANS)
            lines.append(f"labels: {lies:,} deceptive, {truths:,} honest, {none:,} without")
        lines.append(f"groups: {len(self.groups):,}; languages: {', '.join(self.languages) or 'none stated'}")
        lacks = [f"no {self.what} is {self.lacks}: detectors need both"] if self.used and self.lacks else []
        return "\n".join(fill(plain(line), _WIDTH, subsequent_indent="  ") for line in [*lines, *lacks])

    @property
    def read_as(self) -> str:
        """What the most frequent values of the label were read as, in a sentence; "" without any."""
        values = self.labels.most_common(_SHOWN)
        return ", ".join(
            f"{plain(value) or '(empty)'} was read as {_MEANS[one]} ({rows:,})" for (value, one), rows in values
        )

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "rows": self.rows,
            "made": self.made,
            "kept": self.kept,
            "left_out": dict(self.left_out.most_common()),
            "texts": self.texts,
            "groups": len(self.groups),
            "languages": list(self.languages),
            "columns": {"used": self.used, "ignored": list(self.ignored)},
            "labels": [
                {"value": value, "read_as": "none" if one is None else _MEANS[one], "rows": rows}
                for (value, one), rows in self.labels.most_common()
            ],
        }


def as_value(cell: Any) -> str:
    """A cell as the receipt shows it, "" for an empty one."""
    return str(cell)[:40] if present(cell) else ""
