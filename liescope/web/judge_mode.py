"""Judge mode: people read finished games, statement by statement, and say who deceives and how sure they are. It holds
where they sit, each behind a secret link of its own, and their pages: consent, one question after the other below what
the reader has seen, and the end.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import cast

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData

from liescope.common.errors import UsageError
from liescope.common.model_names import consent_hash
from liescope.common.text import plain
from liescope.games.core import Event, EventKind
from liescope.games.facts import EventData
from liescope.games.judging import OUTSIDE
from liescope.games.narration import counted, listing
from liescope.games.withdrawal import NAME
from liescope.generate.players.human import pseudonym, suggested
from liescope.generate.runs.game_text import event_line
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import PLAN_FILE
from liescope.generate.runs.sitting import PERSON, Assignment, Sitting, SittingQuestion
from liescope.labeling.label import label_game
from liescope.web.event_words import HEADINGS, MEASURED, check_told
from liescope.web.play.table_setup import TO_JUDGE, Paragraphs
from liescope.web.play.tables_file import TablesFile, has_left
from liescope.web.site import Forms, link, page

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
        self,
        assignment: Assignment,
        store: TablesFile,
        judges: int,
        tells: bool = False,
        consent: Paragraphs = TO_JUDGE,
    ) -> None:
        """Takes up the links that the store keeps, and makes new ones until there are as many as judges; their runs lie
        beside the store. Raises UsageError for a number that cannot be, UndeclaredGame for a game whose events the page
        cannot tell.
        """
        if not 1 <= judges <= MOST_JUDGES:
            raise UsageError(f"the number of judges must be 1 to {MOST_JUDGES}, got {judges}")
        for record in assignment.games.values():
            check_told(record)
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
        self._store.agree(secret, name, consent_hash(self.consent))

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

    def show(self, secret: str) -> SittingQuestion | None:
        """The question that waits for an answer; from its first showing on, the time runs."""
        chair = self._chairs[secret]
        question = chair.sitting.question() if chair.sitting else None
        if question is not None and (chair.shown is None or chair.shown[0] != question.number):
            chair.shown = question.number, monotonic()
        return question

    def taken(self, secret: str, question: SittingQuestion) -> float | None:
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
        return Sitting(self.assignment, person, self._place(person), self.consent)

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


COLOURS = 12
_LEFT_OUT = HEADINGS | MEASURED | {EventKind.SUSPICION}


@dataclass(frozen=True, slots=True)
class Seen:
    """heading: a new part of the game begins; speaker: who says the words, "" for what happens; colour: the speaker's,
    from 0; to: who hears private words; secret: only some know it; asked: it is what the question is about.
    """

    words: str
    heading: bool = False
    speaker: str = ""
    colour: int = 0
    to: str = ""
    secret: bool = False
    asked: bool = False


def lines_of(question: SittingQuestion) -> Iterator[Seen]:
    """The lines of all that the reader may know, in order."""
    if question.seat:
        yield Seen(f"You see what {question.seat} sees.", secret=True)
    place = (0, "", 0)
    for event in question.seen:
        line = _line(event, question)
        if line is None:
            continue
        here = (event.day, event.phase.value, event.round)
        if here != place and event.day:
            place = here
            yield Seen(f"Day {event.day}, {event.phase.value}{f', round {event.round}' if event.round else ''}", True)
        yield line


def _line(event: Event, question: SittingQuestion) -> Seen | None:
    data, secret = event.data, event.audience is not None
    match event.kind:
        case EventKind.SETUP:
            return Seen(_table(question, data.get("composition", {})))
        case EventKind.ROLE:
            return Seen(f"The role of {event.actor}: {data.get('role', '')}.", secret=True)
        case EventKind.PARTNERS:
            return Seen(f"They know each other: {', '.join(data.get('names', ()))}.", secret=True)
        case EventKind.STATEMENT:
            speaker = event.actor or ""
            to = ", ".join(name for name in event.audience or () if name != speaker)
            colour = question.names.index(speaker) % COLOURS
            return Seen(plain(event.text), False, speaker, colour, to, secret, event.index == question.ask.about)
        case kind if kind not in _LEFT_OUT:
            known = {name: value for name, value in data.items() if name != "drawn"}
            told = event_line(replace(event, fallback="", data=cast(EventData, known)))
            return None if told is None else Seen(told.plain.strip(), secret=secret)
    return None


def _table(question: SittingQuestion, composition: dict[str, int]) -> str:
    cards = counted(sorted((role, count) for role, count in composition.items() if role))  # not as they sit
    told = f"Players: {', '.join(question.names)}." + (f" Roles in the game: {cards}." if cards else "")
    return told + (f" To win, the {listing(question.deceivers)} must deceive." if question.deceivers else "")


SURE = (50, 60, 70, 80, 90, 100)


def judge_routes(desk: JudgeDesk, forms: Forms) -> APIRouter:
    """The pages below /judge/SECRET."""
    pages = APIRouter(prefix="/judge/{secret}")

    def known(secret: str) -> str:
        if secret not in desk.links:
            raise HTTPException(404, "There is no such link. Check it: it must be complete.")
        return secret

    def back(request: Request, secret: str) -> Response:
        return RedirectResponse(link(request, f"/judge/{secret}"), 303)

    def consent(request: Request, secret: str, problem: str = "", person: str = "") -> HTMLResponse:
        name = person or desk.offered()
        values = {"secret": secret, "token": forms.token(secret), "problem": problem, "person": name}
        outside = desk.assignment.spec.view == OUTSIDE
        status = 400 if problem else 200
        return page(request, "judge/consent.html", status, **values, outside=outside, consent=desk.consent)

    def question(request: Request, secret: str, sitting: Sitting, problem: str = "") -> HTMLResponse:
        asked = desk.show(secret)
        if asked is None:
            right = desk.right(secret) if desk.tells else None
            return page(request, "judge/end.html", secret=secret, right=right, person=sitting.person)
        return page(
            request,
            "judge/question.html",
            400 if problem else 200,
            secret=secret,
            token=forms.token(secret),
            question=asked,
            lines=list(lines_of(asked)),
            answered=sitting.answered,
            total=sitting.total,
            sure=SURE,
            problem=problem,
        )

    @pages.get("")
    async def show(request: Request, secret: str) -> HTMLResponse:
        sitting = desk.sitting(known(secret))
        if desk.left(secret):
            return page(request, "judge/withdraw.html", gone=True)
        return consent(request, secret) if sitting is None else question(request, secret, sitting)

    @pages.get("/withdraw")
    async def ask(request: Request, secret: str) -> HTMLResponse:
        gone = desk.left(known(secret))
        return page(request, "judge/withdraw.html", gone=gone, secret=secret, token=forms.token(secret))

    @pages.post("/withdraw")
    async def withdraw(request: Request, secret: str) -> Response:
        await forms.sent(request, known(secret))
        desk.withdraw(secret)
        return back(request, secret)

    @pages.post("/agree")
    async def agree(request: Request, secret: str) -> Response:
        given = await forms.sent(request, known(secret))
        person = _text(given, "person")
        if desk.left(secret):
            return back(request, secret)
        if not _text(given, "agreed"):
            return consent(request, secret, "Tick the box if you agree; without it, nothing begins.", person)
        try:
            desk.agree(secret, person)
        except UsageError as error:
            return consent(request, secret, str(error), person)
        return back(request, secret)

    @pages.post("/answer")
    async def answer(request: Request, secret: str) -> Response:
        given = await forms.sent(request, known(secret))
        sitting = desk.sitting(secret)
        asked = sitting.question() if sitting else None
        if sitting is None or asked is None or _text(given, "number") != str(asked.number):
            return back(request, secret)  # answered before, as after the back button
        seconds = desk.taken(secret, asked)
        try:
            if asked.about_players:
                shares = {name: _share(given, f"player-{at}") for at, name in enumerate(asked.ask.options)}
                sitting.suspect(shares, seconds)
            else:
                flag = {"deceptive": True, "honest": False}[_text(given, "flag")]
                sitting.say(flag, _sure(given), seconds)
        except (KeyError, ValueError):
            return question(request, secret, sitting, "Answer every part of the question, then send it again.")
        return back(request, secret)

    return pages


def _text(form: FormData, name: str) -> str:
    return str(form.get(name, ""))


def _sure(form: FormData) -> float:
    """How sure the flag is, as a probability. Raises ValueError for what the page does not offer."""
    sure = int(_text(form, "sure"))
    if sure not in SURE:
        raise ValueError(sure)
    return sure / 100


def _share(form: FormData, name: str) -> float:
    share = int(_text(form, name))
    if not 0 <= share <= 100:
        raise ValueError(share)
    return share / 100
