"""What the players of a run were shown and replied: a recorded game, step by step, with the prompt of every ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from liescope.common.errors import BadData
from liescope.common.text import plain
from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.record import GameRecord
from liescope.generate.players.prompts.render import Prompts
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import KeptRequest
from liescope.generate.runs.moment import RENDERED, SENT, can_rebuild, rebuild, templates_of

Message = dict[str, str]
"""One message of a chat: its role ("system", "user" or "assistant") and its content."""
SPEECH = frozenset({AskKind.SPEAK, AskKind.EXPLAINED_VOTE})


@dataclass(frozen=True, slots=True)
class AskShown:
    """One ask, what its seat had seen by then, and the reply; None if the run ended before it came."""

    ask: Ask
    view: Sequence[Event]
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class Step:
    """Simultaneous asks and what their replies led to. The first step of a game has no asks: it is its beginning."""

    asked: tuple[AskShown, ...]
    events: tuple[Event, ...]


def steps(journal: Journal, record: GameRecord) -> Iterator[Step]:
    """A recorded game step by step; only its beginning, with all events, if nobody was asked anything here.

    Raises BadData if this version of the rules makes another game of the recorded replies.
    """
    if not can_rebuild(journal):
        yield Step((), record.events)
        return
    session = rebuild(journal, record.game_id)
    answers = journal.answers(record.game_id)
    yield Step((), tuple(session.events))
    while session.asks:
        asked = tuple(
            AskShown(ask, tuple(session.game.view(ask.seat)), answers.get((ask.step, ask.seat))) for ask in session.asks
        )
        replies = [one.reply for one in asked if one.reply is not None]
        before = len(session.events)
        if len(replies) == len(asked):
            session.send(tuple(replies))
        events = tuple(session.events[before:])
        if [*map(_what, events)] != [*map(_what, record.events[before : before + len(events)])]:
            raise BadData(
                f"{journal.path}: game {plain(record.game_id)} goes another way when it is replayed with this version; "
                "export it with the version that played it"
            )
        yield Step(asked, events)
        if len(replies) < len(asked):
            return


def spoken(journal: Journal, record: GameRecord) -> Iterator[tuple[AskShown, Event]]:
    """The statements of a game, each with the ask that it answers. Reasons of votes are asked for together and heard
    one by one, so a seat's statement answers the last ask for speech that it got.
    """
    waiting: dict[str, AskShown] = {}
    for step in steps(journal, record):
        waiting |= {one.ask.seat: one for one in step.asked if one.ask.kind in SPEECH}
        for event in step.events:
            if event.kind is EventKind.STATEMENT and event.actor in waiting:
                yield waiting.pop(event.actor), event


def _what(event: Event) -> tuple[object, ...]:
    return event.kind, event.actor, event.target, event.text


class Shown:
    """The prompts of a run: as they were sent where the run kept them, else rendered with the run's templates."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def requests(self, ask: Ask) -> list[KeptRequest]:
        """The requests that were made for an ask, in order; none for players that ask no endpoint."""
        return list(self._journal.requests(ask.game, ask.step, ask.seat))

    def messages(self, one: AskShown, requests: Sequence[KeptRequest]) -> tuple[list[Message], str]:
        """The messages of the last of an ask's requests and SENT; or the prompt rendered again and RENDERED."""
        for request in reversed(requests):
            if request.body is not None:
                return messages_of(request), SENT
        return [{"role": "user", "content": self._templates.render(one.ask, one.view).text}], RENDERED

    @cached_property
    def _templates(self) -> Prompts:
        """The run's prompt templates."""
        return templates_of(self._journal, str(self._journal.plan["game"]))


def messages_of(request: KeptRequest) -> list[Message]:
    """The messages of a request that was kept."""
    kept = (request.body or {}).get("messages", ())
    return [{"role": str(one.get("role") or "user"), "content": str(one.get("content") or "")} for one in kept]
