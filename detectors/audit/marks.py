"""Labels that people marked as right or wrong: the file that `liescope view --marks` writes, one line a mark.

Marks that were made blind and those made with the labels in sight are never counted together. The statements are those
that somebody chose to mark, often the most doubtful ones, so no share here is that of the corpus.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.agreement import agreement
from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text
from liescope.common.statistics import LEVEL, wilson
from liescope.detectors.audit import audit_findings as f
from liescope.detectors.audit.audit_findings import AuditRow, Figure, Finding, graded
from liescope.detectors.audit.bench import share_of

RIGHT, WRONG, UNSURE = "right", "wrong", "unsure"
MARKS = (RIGHT, WRONG, UNSURE)
_LONGEST = 100_000  # characters of a line


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody thinks of one label of one statement. label: role, claim, promise, self, peer, or
    "detector:NAME"; value: the label's, or the detector's score; mark: one of MARKS; when: UTC, ISO 8601; blind: the
    labels were hidden, and the mark says whether what was answered is what the label says; pass_number: 1 for the first
    time that this person goes through the statements.
    """

    statement_id: str
    label: str
    value: bool | float
    mark: str
    note: str
    who: str
    when: str
    blind: bool
    pass_number: int

    @property
    def game_id(self) -> str:
        return self.statement_id.rpartition(":")[0]

    @property
    def session(self) -> tuple[str, int]:
        """Who marked, and in which pass."""
        return self.who, self.pass_number

    def line(self) -> str:
        """The mark as a line of the file."""
        return json.dumps(asdict(self), ensure_ascii=True) + "\n"


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    statement_id: str = Field(pattern=r"^.+:\d+$", max_length=1000)
    label: str = Field(min_length=1, max_length=200)
    value: bool | float
    mark: str = Field(pattern="^(right|wrong|unsure)$")
    note: str
    who: str = Field(min_length=1)
    when: str
    blind: bool
    pass_number: int = Field(ge=1)


def read_marks(path: Path) -> tuple[Mark, ...]:
    """The marks of a file, in order. A last line without an end is left out: whoever wrote it was cut off, and was told
    nothing of success. Raises UsageError if there is no such file, BadData for a line that is no mark.
    """
    try:
        text = read_text(path, given=True)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{path} cannot be read ({why}); `liescope view --marks` writes files of marks") from None
    return tuple(_mark(line, f"{path}, line {number}") for number, line in enumerate(_whole(text), 1) if line.strip())


def _whole(text: str) -> Iterable[str]:
    return text.split("\n")[:-1]


def _mark(line: str, where: str) -> Mark:
    try:
        if len(line) > _LONGEST:
            raise ValueError("the line is too long")
        data: Any = json.loads(line)
        return Mark(**_Line.model_validate(data).model_dump())
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, wrong["loc"])) or "the line"
        raise BadData(f"{where} is no mark: {place}: {wrong['msg']}; restore the file from a copy") from None
    except (ValueError, RecursionError) as error:
        raise BadData(f"{where} is no mark ({error}); restore the file from a copy") from None


def last_of_each(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """The last mark of each label in each session: people change their minds."""
    return tuple({(m.session, m.blind, m.statement_id, m.label): m for m in marks}.values())


CHECK = "marks"
_SEEN = {True: "blind", False: "labels in sight"}


def marked(
    marks: Sequence[Mark], statements: pl.DataFrame, draws: int, seed: int
) -> tuple[list[AuditRow], list[Finding]]:
    """Rows and sentences about the marks of these statements (column statement_id). Raises UsageError if none of them
    is marked.
    """
    there = set(statements["statement_id"])
    kept = [mark for mark in last_of_each(marks) if mark.statement_id in there]
    if not kept:
        raise UsageError("none of the marks is of a statement of this corpus; give the corpus or run that was marked")
    rows: list[AuditRow] = []
    found: list[Finding] = []
    for blind, words in _SEEN.items():
        mine = [mark for mark in kept if mark.blind == blind]
        for label in sorted({mark.label for mark in mine}):
            of_label = [mark for mark in mine if mark.label == label]
            more, sentences = _of_label(of_label, f"{label}, {words}", draws, seed)
            rows += more
            found += sentences
        more, sentences = _kappas(mine, words)
        rows += more
        found += sentences
    if left := len({mark.statement_id for mark in marks}) - len({mark.statement_id for mark in kept}):
        found.append(Finding(CHECK, "left out", f.PLAIN, f"{left:,} marked statements are not in this corpus."))
    return rows, found


def _of_label(marks: Sequence[Mark], name: str, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """The share judged wrong, over all who marked and for each, and the share left open."""
    table = pl.DataFrame({"game_id": [m.game_id for m in marks], "mark": [m.mark for m in marks]})
    sure = table.filter(pl.col("mark") != UNSURE)
    unsure = share_of(table, (table["mark"] == UNSURE).to_numpy(), draws, seed)
    rows = [unsure.row(CHECK, f"{name}: unsure", "", "share")]
    if sure.is_empty():
        return rows, []
    wrong = share_of(sure, (sure["mark"] == WRONG).to_numpy(), draws, seed)
    rows.insert(0, _row(wrong, f"{name}: wrong"))
    people = sorted({mark.who for mark in marks})
    for who in people if len(people) > 1 else ():
        mine = [mark for mark in marks if mark.who == who and mark.mark != UNSURE]
        if mine:
            own = pl.DataFrame({"game_id": [m.game_id for m in mine]})
            judged = np.array([m.mark == WRONG for m in mine])
            rows.append(_row(share_of(own, judged, draws, seed), f"{name}: wrong, says {who}"))
    row = rows[0]
    between = "" if row.lo is None or row.hi is None else f" ({row.lo:.0%} to {row.hi:.0%})"
    words = (
        f"Of {sure.height:,} marks of {name}, {wrong.value:.0%}{between} say that the label is wrong; "
        f"{table.height - sure.height:,} more are unsure. Somebody chose the statements: it is no share of the corpus."
    )
    severity = f.NOTABLE if graded(wrong.certain, f.MARGIN, f.LARGE_SHARE) != f.PLAIN else f.PLAIN
    return rows, [Finding(CHECK, f"{name}: wrong", severity, words)]


def _row(share: Figure, name: str) -> AuditRow:
    """The share with its interval over games; where all marks say the same, which resampling cannot doubt, Wilson's
    over as many games.
    """
    row = share.row(CHECK, name, "", "share")
    if row.value not in (0.0, 1.0):
        return row
    low, high = wilson(row.value * share.games, share.games, LEVEL)
    return AuditRow(CHECK, name, "", "share", row.value, low, high, row.statements, row.games)


def _kappas(marks: Sequence[Mark], words: str) -> tuple[list[AuditRow], list[Finding]]:
    """Cohen's kappa between every two sessions (two people, or two passes of one) that marked the same labels."""
    sessions: dict[tuple[str, int], dict[tuple[str, str], Mark]] = defaultdict(dict)
    for mark in marks:
        if mark.mark != UNSURE:
            sessions[mark.session][mark.statement_id, mark.label] = mark
    rows: list[AuditRow] = []
    told: list[Finding] = []
    for one, other in combinations(sorted(sessions), 2):
        both = sorted(sessions[one].keys() & sessions[other].keys())
        if not both:
            continue
        found = agreement(*([sessions[session][key].mark for key in both] for session in (one, other)))
        games = len({sessions[one][key].game_id for key in both})
        name = f"{_named(one)} and {_named(other)}, {words}"
        rows.append(AuditRow(CHECK, name, "", "kappa", found.kappa, None, None, found.pairs, games))
        rows.append(AuditRow(CHECK, name, "", "agreement", found.raw, None, None, found.pairs, games))
        kappa = "kappa is not defined" if found.kappa is None else f"Cohen's kappa {found.kappa:.2f}"
        said = (
            f"{name}: {kappa}, {found.raw:.0%} alike, over {found.pairs:,} labels marked by both, in {games:,} games."
        )
        told.append(Finding(CHECK, name, f.PLAIN, said))
    return rows, told


def _named(session: tuple[str, int]) -> str:
    who, number = session
    return f"{who} (pass {number})"
