"""Where judges sit: what each has answered, behind a secret link of its own."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from liescope.common.errors import UsageError
from liescope.games.withdrawal import NAME
from liescope.generate.players.human import pseudonym, suggested
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.sitting import PERSON, Assignment, Question, Sitting
from liescope.labeling.label import label_game
from liescope.web.play.consent import TO_JUDGE, Consent
from liescope.web.play.leaving import has_left
from liescope.web.play.store import TablesFile

MOST_JUDGES = 100  # each with a run that is open


@dataclass(slots=True)
class _Chair:
    """One judge's place. person: the pseudonym, "" before the judge has agreed; shown: the number of the question on
    the page, and when it was first shown.
    """

    person: str = ""
    sitting: Sitting | None = None
    shown: tuple[int, float] | None = None


class JudgeDesk:
    """The judges of one assignment. tells: whether a judge learns at the end how often it was right; consent: what
    people agree to before they begin.
    """

    def __init__(
        self, assignment: Assignment, store: TablesFile, judges: int, tells: bool = False, consent: Consent = TO_JUDGE
    ) -> None:
        """Takes up the links that the store keeps, and makes new ones until there are as many as judges; their runs lie
        beside the store. Raises UsageError for a number that cannot be.
        """
        if not 1 <= judges <= MOST_JUDGES:
            raise UsageError(f"the number of judges is from 1 to {MOST_JUDGES}, not {judges}")
        self.assignment = assignment
        self.tells = tells
        self.consent = consent
        self._store = store
        self._chairs = {secret: _Chair(person or "") for secret, person in store.judges(judges).items()}
        for chair in self._chairs.values():
            if chair.person and not has_left(chair.person):
                chair.sitting = self._sit(chair.person)

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
        chair.sitting = self._sit(name)
        chair.person = name
        self._store.agree(secret, name, self.consent.hash)

    def offered(self) -> str:
        """A pseudonym that is nobody's here yet, no player's of the games either."""
        players = {seat.model for record in self.assignment.games.values() for seat in record.seats}
        return suggested({*self.links.values(), *players})

    def left(self, secret: str) -> bool:
        """Whether a link's judge has had the answers deleted. Raises KeyError for a secret that is none."""
        return has_left(self._chairs[secret].person)

    def withdraw(self, secret: str) -> None:
        """Delete all answers of a link's judge, to whatever run, and the pseudonym; the link leads nowhere afterwards.
        A judge who has not agreed has nothing to delete.
        """
        chair = self._chairs[secret]
        if chair.sitting is None:
            return
        chair.sitting.close()
        chair.sitting = None
        for folder in list(self._runs_of(chair.person)):
            shutil.rmtree(folder)
        chair.person = f"{NAME}1"
        self._store.judge_left(secret, chair.person)

    def show(self, secret: str) -> Question | None:
        """The question that waits for an answer; from its first showing on, the time runs."""
        chair = self._chairs[secret]
        question = chair.sitting.question() if chair.sitting else None
        if question is not None and (chair.shown is None or chair.shown[0] != question.number):
            chair.shown = question.number, monotonic()
        return question

    def taken(self, secret: str, question: Question) -> float | None:
        """Seconds since a question was first shown, None if that was before the server started, or never."""
        shown = self._chairs[secret].shown
        return None if shown is None or shown[0] != question.number else round(monotonic() - shown[1], 3)

    def right(self, secret: str) -> tuple[int, int]:
        """How many of a judge's flags fit the role of the speaker, and of how many that is known."""
        sitting = self._chairs[secret].sitting
        found = []
        for record in sitting.records() if sitting else ():
            labels = label_game(record)
            truth = {row.statement_id: row.label_role for row in labels.statements}
            flags = [(row.flag, truth[row.statement_id]) for row in labels.ratings]
            found += [flag == lies for flag, lies in flags if flag is not None and lies is not None]
        return sum(found), len(found)

    def close(self) -> None:
        """Let go of every run, and of the store."""
        self._store.close()
        for chair in self._chairs.values():
            if chair.sitting:
                chair.sitting.close()

    def _sit(self, person: str) -> Sitting:
        return Sitting(self.assignment, person, self._place(person), self.consent.paragraphs)

    def _place(self, person: str) -> Path:
        return self._store.folder / f"{self.assignment.run.resolve().name}-by-{_slug(person)}"

    def _runs_of(self, person: str) -> Iterator[Path]:
        for folder in self._store.folder.glob(f"*-by-{_slug(person)}"):
            if (folder / PLAN_FILE).is_file():
                with Journal.open(folder) as journal:
                    plan = journal.plan
                if plan.get("judge") == PERSON + person:
                    yield folder


def _slug(person: str) -> str:
    return re.sub(r"\W+", "-", person.casefold()).strip("-")
