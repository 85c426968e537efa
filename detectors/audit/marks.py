"""Labels that people marked as right or wrong: the file that `liescope view --marks` writes, one line a mark."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text

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
