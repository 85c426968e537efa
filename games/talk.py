"""Discussion in rounds, and how the reply to a turn becomes a statement or a silence."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from liescope.games.assessing import assess, notes
from liescope.games.core import Ask, AskKind, Asks, EventKind, Game, Phase, Replies, Reply


def discuss(game: Game, rounds: int) -> Generator[Asks, Replies, None]:
    """Rounds of discussion: in each, all living players speak once, in a fresh random order."""
    for number in range(1, rounds + 1):
        for speaker in game.random.sample(game.alive, len(game.alive)):
            limit = game.table.message_limit
            ask = game.ask(speaker, AskKind.SPEAK, Phase.DISCUSSION, number, rounds=rounds, limit=limit)
            (reply,) = yield game.batch([ask])
            event = game.log(**speech(ask, reply))
            yield from assess(game, event)


def speech(ask: Ask, reply: Reply) -> dict[str, Any]:
    """The event for the reply to a turn, as arguments for `Game.log`: a statement or a silence.

    A text longer than the ask's limit is cut and ends in "…"; `data["cut"]` holds its full length in
    characters. An unusable reply is a silence with `fallback` set; an empty text is a deliberate silence.
    """
    facts: dict[str, Any] = {"phase": ask.phase, "round": ask.round, "actor": ask.seat}
    text = (reply.text or "").strip()
    if reply.problem or reply.text is None:
        why = reply.problem or "no text in the reply"
        return {**facts, "kind": EventKind.SILENCE, "fallback": why, "data": notes(reply)}
    if not text:
        return {**facts, "kind": EventKind.SILENCE, "data": notes(reply)}
    data = notes(reply)
    if ask.limit is not None and len(text) > ask.limit:
        data["cut"] = len(text)
        text = text[: max(ask.limit - 1, 0)].rstrip() + "…"
    if reply.private:
        data["private"] = dict(reply.private)
    return {**facts, "kind": EventKind.STATEMENT, "text": text, "data": data}
