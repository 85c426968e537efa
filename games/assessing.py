"""After a statement: the speaker reports on it and every other living player rates it, all at once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import fields
from typing import Any

from games.core import Ask, AskKind, Asks, Assessment, Event, EventKind, Game, Replies, Reply

_FIELDS = tuple(field.name for field in fields(Assessment))


def assess(game: Game, statement: Event, peers: tuple[str, ...]) -> Generator[Asks, Replies, None]:
    """Ask the speaker for a self-report and the peers for a rating, and log each where only its author sees it.

    An unusable reply is logged with `fallback` set and no assessment: it is never read as "honest".
    """
    speaker = statement.actor or ""
    place: dict[str, Any] = {"phase": statement.phase, "round": statement.round, "about": statement.index}
    asks = [game.ask(speaker, AskKind.SELF_ASSESSMENT, **place)]
    asks += [game.ask(peer, AskKind.PEER_ASSESSMENT, **place) for peer in peers]
    replies = yield game.batch(asks)
    for ask, reply in zip(asks, replies, strict=True):
        _log(game, ask, reply, speaker)


def _log(game: Game, ask: Ask, reply: Reply, speaker: str) -> None:
    kind = EventKind.SELF_REPORT if ask.kind is AskKind.SELF_ASSESSMENT else EventKind.RATING
    usable = reply.assessment is not None and not reply.problem
    game.log(
        kind,
        ask.phase,
        ask.round,
        actor=ask.seat,
        target=speaker,
        about=ask.about,
        audience=(ask.seat,),
        fallback="" if usable else reply.problem or "no assessment in the reply",
        data={
            **(
                {"assessment": {name: getattr(reply.assessment, name) for name in _FIELDS}}
                if usable and reply.assessment
                else {}
            ),
            **notes(reply),
        },
    )


def notes(reply: Reply) -> dict[str, Any]:
    """The leniencies that reading the reply needed, as an event's data."""
    return {"notes": list(reply.notes)} if reply.notes else {}
