"""The pages of the queue of doubtful labels, and the form that marks them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.audit.marks import MARKS, UNSURE, Mark
from liescope.web.security import Forms
from liescope.web.site import link, page
from liescope.web.view.doubts import InContext, in_context, most_doubtful, next_unmarked, queue_length
from liescope.web.view.facts import LABELS, OPINIONS
from liescope.web.view.game_routes import game_address
from liescope.web.view.index import Index
from liescope.web.view.marking import LONGEST_NOTE, NO, NO_FILE, YES, MarkFile, judged, now

_PAGE = "doubts"
_ANSWERS = (YES, NO, UNSURE)


@dataclass(frozen=True, slots=True)
class Going:
    """How somebody goes through the queue. place: in it, from 1; opinions: whose disagreement ranks it; who: the
    marker, by the name that the marks carry; blind: labels are hidden; number: of the pass.
    """

    place: int = 1
    opinions: tuple[str, ...] = ()
    who: str = ""
    blind: bool = False
    number: int = 1

    def address(self, request: Request, place: int) -> str:
        """The page of another place."""
        given = [("of", one) for one in self.opinions] + [("who", self.who), ("pass", str(self.number))]
        given += [("blind", "yes")] if self.blind else []
        return link(request, f"/doubts?{urlencode([*given, ('place', str(place))])}")


def doubt_routes(index: Index, marks: MarkFile | None) -> APIRouter:
    """The queue. marks: where marks are written; without it, it can only be looked at."""
    router = APIRouter()
    forms = Forms(secrets.token_bytes(32))
    scores = index.opened.scores
    detectors = scores.detectors if scores else ()
    offered = OPINIONS if detectors else LABELS

    @router.get("/doubts", response_class=HTMLResponse)
    def doubts(request: Request) -> HTMLResponse:
        going = _going(request.query_params.multi_items(), offered)
        total = queue_length(index.store, going.opinions)
        going = replace(going, place=min(going.place, max(total, 1)))
        found = most_doubtful(index.store, going.opinions, going.place, 1)
        shown = _shown(found[0].statement_id) if found else None
        mine = marks.of_session(going.who, going.number) if marks and going.who else ()
        here = {mark.label: mark for mark in mine if found and mark.statement_id == found[0].statement_id}
        values: dict[str, Any] = {
            "going": going,
            "total": total,
            "doubtful": found[0] if found else None,
            "shown": shown,
            "offered": offered,
            "source": index.opened.source,
            "progress": index.progress(),
            "marks": marks,
            "no_file": NO_FILE,
            "answers": _ANSWERS if going.blind else MARKS,
            "here": here,
            "done": len({mark.statement_id for mark in mine}),
            "token": forms.token(_PAGE),
            "to_place": lambda place: going.address(request, place),
            "to_game": lambda row: f"{game_address(request, row.game_id)}#s{row.statement_id.rpartition(':')[2]}",
        }
        return page(request, "doubts.html", **values)

    @router.post("/doubts")
    def mark(request: Request, given: Annotated[list[tuple[str, str]], Depends(_sent)]) -> Response:
        fields = dict(given)
        forms.check(_PAGE, fields.get("token", ""))
        if marks is None:
            raise UsageError(NO_FILE)
        going = _going(given, offered)
        statement_id = fields.get("statement", "")
        made = _marks(_shown(statement_id), going, fields)
        if made:
            marks.add(made)
        done = {mark.statement_id for mark in marks.of_session(going.who, going.number)}
        place = next_unmarked(index.store, going.opinions, going.place + 1, done) or going.place
        return RedirectResponse(going.address(request, place), 303)

    def _shown(statement_id: str) -> InContext:
        game = index.opened.game(statement_id.rpartition(":")[0])
        return in_context(game, statement_id, detectors)

    return router


async def _sent(request: Request) -> list[tuple[str, str]]:
    """The fields of a form."""
    async with request.form(max_files=0) as sent:
        return [(name, str(value)) for name, value in sent.multi_items()]


def _going(given: Sequence[tuple[str, str]], offered: Sequence[str]) -> Going:
    """How the queue is gone through, by an address or a form. Raises UnknownName for an opinion."""
    fields = dict(given)
    chosen = tuple(dict.fromkeys(value for name, value in given if name == "of"))
    for one in chosen:
        if one not in offered:
            raise UnknownName("opinion", one, offered)
    return Going(
        _number(fields.get("place", "")),
        chosen or tuple(offered),
        fields.get("who", "").strip()[:80],
        fields.get("blind") == "yes",
        _number(fields.get("pass", "")),
    )


def _marks(shown: InContext, going: Going, fields: Mapping[str, str]) -> tuple[Mark, ...]:
    """The marks of a form. Raises UsageError for an answer that is not offered, or no name."""
    if not going.who:
        raise UsageError("marks carry a name; give one (a pseudonym will do) above the statement")
    note, when = fields.get("note", "").strip()[:LONGEST_NOTE], now()
    offered = _ANSWERS if going.blind else MARKS
    made = []
    for label in shown.labels:
        answer = fields.get(f"mark-{label.key}", "")
        if answer and answer not in offered:
            raise UsageError(f"a label is marked {' or '.join(offered)}, not {answer[:40]!r}")
        if answer:
            mark = judged(label.says, answer) if going.blind else answer
            of = (shown.row.statement_id, label.key, label.value, mark)
            made.append(Mark(*of, note, going.who, when, going.blind, going.number))
    return tuple(made)


def _number(words: str) -> int:
    return int(words) if words.isascii() and words.isdigit() and len(words) < 10 and int(words) > 0 else 1
