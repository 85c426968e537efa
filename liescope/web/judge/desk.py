"""Where judges sit: a secret link for each, and what each has answered, kept in one folder."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData, UsageError
from liescope.generate.players.human import pseudonym
from liescope.generate.runs.sitting import Assignment, Question, Sitting
from liescope.labeling.label import label_game

LINKS_FILE = "links.json"
MOST_JUDGES = 1000


class _Link(BaseModel):
    model_config = ConfigDict(extra="forbid")

    secret: str = Field(min_length=22, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    person: str = ""


class _Links(BaseModel):
    model_config = ConfigDict(extra="forbid")

    links: list[_Link] = Field(max_length=MOST_JUDGES)


@dataclass(slots=True)
class _Chair:
    """One judge's place. person: the pseudonym, "" before the judge has agreed; shown: the number of the question on
    the page, and when it was first shown.
    """

    person: str = ""
    sitting: Sitting | None = None
    shown: tuple[int, float] | None = None


class Desk:
    """The judges of one assignment. tells: whether a judge learns at the end how often it was right."""

    def __init__(self, assignment: Assignment, folder: Path, judges: int, tells: bool = False) -> None:
        """Takes up the links that the folder holds and makes new ones until there are as many as judges.

        Raises UsageError for a number that cannot be, BadData for a folder whose links cannot be read.
        """
        if not 1 <= judges <= MOST_JUDGES:
            raise UsageError(f"the number of judges is from 1 to {MOST_JUDGES}, not {judges}")
        self.assignment = assignment
        self.tells = tells
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._chairs = {link.secret: _Chair(link.person) for link in self._kept()}
        while len(self._chairs) < judges:
            self._chairs[secrets.token_urlsafe(16)] = _Chair()
        self._keep()
        for chair in self._chairs.values():
            if chair.person:
                self._sit(chair)

    @property
    def links(self) -> Mapping[str, str]:
        """The secret of each link, and its judge's pseudonym, "" where nobody has agreed yet."""
        return {secret: chair.person for secret, chair in self._chairs.items()}

    def sitting(self, secret: str) -> Sitting | None:
        """The sitting of a link, None before its judge has agreed. Raises KeyError for a secret that is none."""
        return self._chairs[secret].sitting

    def agree(self, secret: str, person: str) -> None:
        """Begin a judge's sitting. Raises UsageError for a pseudonym that cannot be used."""
        chair = self._chairs[secret]
        if chair.person:
            return
        name = pseudonym(person)
        if self._place(name).exists():
            raise UsageError("this pseudonym is taken; choose another")
        chair.person = name
        self._sit(chair)
        self._keep()

    def show(self, secret: str) -> Question | None:
        """The question that waits for an answer; from its first showing on, the time runs."""
        chair = self._chairs[secret]
        question = chair.sitting.question() if chair.sitting else None
        if question is not None and (chair.shown is None or chair.shown[0] != question.number):
            chair.shown = question.number, monotonic()
        return question

    def taken(self, secret: str) -> float | None:
        """Seconds since the waiting question was first shown, None if that was before the server started."""
        shown = self._chairs[secret].shown
        return None if shown is None else round(monotonic() - shown[1], 3)

    def right(self, secret: str) -> tuple[int, int]:
        """How many of a judge's flags say of a statement what the speaker's role or own report says, and of how many
        that is known.
        """
        sitting = self._chairs[secret].sitting
        found = []
        for record in sitting.records() if sitting else ():
            truth = {row.statement_id: row.label_role for row in label_game(record).statements}
            flags = [(row.flag, truth[row.statement_id]) for row in label_game(record).ratings]
            found += [flag == lies for flag, lies in flags if flag is not None and lies is not None]
        return sum(found), len(found)

    def close(self) -> None:
        for chair in self._chairs.values():
            if chair.sitting:
                chair.sitting.close()

    def _sit(self, chair: _Chair) -> None:
        chair.sitting = Sitting(self.assignment, chair.person, self._place(chair.person))

    def _place(self, person: str) -> Path:
        slug = re.sub(r"\W+", "-", person.casefold()).strip("-")
        return self._folder / f"{self.assignment.run.resolve().name}-by-{slug}"

    def _kept(self) -> list[_Link]:
        file = self._folder / LINKS_FILE
        if not file.exists():
            return []
        try:
            return _Links.model_validate_json(file.read_bytes()).links
        except (ValidationError, OSError) as error:
            raise BadData(f"{file} cannot be read; restore it, or choose another folder for the answers") from error

    def _keep(self) -> None:
        """Write the links, for this user alone."""
        file = self._folder / LINKS_FILE
        draft = file.with_suffix(".tmp")
        links = [{"secret": secret, "person": chair.person} for secret, chair in self._chairs.items()]
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            json.dump({"links": links}, out, indent=1)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(file)
