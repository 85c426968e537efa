"""After a statement, the speaker reports on it and every other living player rates it, all simultaneously."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import fields
from random import Random
from typing import Any

from liescope.games.core import Ask, AskKind, Asks, Assessment, Event, EventKind, Game, Phase, Replies, Reply

START, WEIGHT = 0.5, 0.7  # of suspicions (Triadic Werewolf paper, section 3, after the WOLF engine)
_FIELDS = tuple(field.name for field in fields(Assessment))


def assess(game: Game, event: Event) -> Generator[Asks, Replies, None]:
    """Ask the speaker for a self-report and all other living players for a rating, and log each so that only its author
    sees it. Silences are not assessed, nor are statements outside the configured share.

    An unusable reply is logged with `fallback` set and no assessment; it never counts as "honest".
    """
    if not game.table.assess or event.kind is not EventKind.STATEMENT:
        return
    if not sampled(game.game_id, event.index, game.table.assess_share):
        return
    asks = assessment_asks(game, event, game.others(event.actor or ""))
    replies = yield game.batch(asks)
    for ask, reply in zip(asks, replies, strict=True):
        game.log(**assessment(ask, reply, event))


def sampled(game_id: str, index: int, share: float) -> bool:
    """Whether a statement belongs to the share that is assessed. It is drawn from the statement's position, not
    from the game's random generator, so assessing changes nothing else in the game.
    """
    return share >= 1 or Random(f"{game_id}:{index}").random() < share


def assessment_asks(game: Game, statement: Event, peers: Sequence[str]) -> list[Ask]:
    """The asks about one statement: its speaker's first, then its peers'."""
    place: dict[str, Any] = {"phase": statement.phase, "round": statement.round, "about": statement.index}
    asks = [game.ask(statement.actor or "", AskKind.SELF_ASSESSMENT, **place)]
    return asks + [game.ask(peer, AskKind.PEER_ASSESSMENT, **place) for peer in peers]


def assessment(ask: Ask, reply: Reply, statement: Event) -> dict[str, Any]:
    """The fields of the event for a reply, for `Game.log`."""
    usable = reply.assessment is not None and not reply.problem
    said = {name: getattr(reply.assessment, name) for name in _FIELDS} if usable else {}
    return {
        "kind": EventKind.SELF_REPORT if ask.kind is AskKind.SELF_ASSESSMENT else EventKind.RATING,
        "phase": ask.phase,
        "round": ask.round,
        "actor": ask.seat,
        "target": statement.actor,
        "about": ask.about,
        "audience": (ask.seat,),
        "fallback": "" if usable else reply.problem or "no assessment in the reply",
        "data": {**({"assessment": said} if usable else {}), **notes(reply)},
    }


def remind(game: Game, phase: Phase) -> None:
    """Show every living player its running suspicion of each other living player, if the options say so."""
    if not game.table.show_suspicion:
        return
    running = running_suspicion(game.events)
    for name in game.alive:
        shown = {other: round(running.get((name, other), START), 2) for other in game.others(name)}
        game.log(EventKind.SUSPICION, phase, actor=name, audience=(name,), data={"suspicion": shown})


def running_suspicion(events: Sequence[Event]) -> dict[tuple[str, str], float]:
    """The smoothed suspicion of each (observer, speaker) after these events; pairs without a rating are left out."""
    running: dict[tuple[str, str], float] = {}
    for event in events:
        rating = event.data.get("assessment", {}).get("suspicion") if event.kind is EventKind.RATING else None
        if rating is not None:
            pair = event.actor or "", event.target or ""
            running[pair] = smooth(running.get(pair, START), rating)
    return running


def smooth(old: float, rating: float) -> float:
    """An observer's suspicion of a speaker after one more rating, by exponential smoothing. Inputs and result are in
    [0, 1]; raises ValueError otherwise.
    """
    if not (0.0 <= old <= 1.0 and 0.0 <= rating <= 1.0):
        raise ValueError(f"suspicion and ratings lie between 0 and 1; got {old!r} and {rating!r}")
    return WEIGHT * rating + (1 - WEIGHT) * old


def notes(reply: Reply) -> dict[str, Any]:
    """The leniencies needed to read the reply, as event data."""
    return {"notes": list(reply.notes)} if reply.notes else {}
