"""Discussion in rounds or by bidding, and how the reply to a turn becomes a statement or a silence.

Bidding: who speaks next is decided by bids of 0 to 10 that all living players but the last speaker make simultaneously
(Triadic Werewolf paper, section 3.1, after Werewolf Arena and WOLF). The highest bid gets the floor; among equal bids,
players named in the last turn go first, then chance decides. An unreadable bid counts as 0. If nobody bids more than 0,
the discussion ends.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Any

from liescope.games.assessing import assess, notes
from liescope.games.core import Ask, AskKind, Asks, Event, EventKind, Game, Phase, Replies, Reply

BIDS = tuple(str(bid) for bid in range(11))


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


def talk(game: Game, phase: Phase, turns: int, first: Sequence[str] = ()) -> Generator[Asks, Replies, None]:
    """Talk for at most `turns` turns. first: players who get a turn each before bidding starts, while turns last."""
    last: Event | None = None
    for turn in range(1, turns + 1):
        if turn <= len(first):
            speaker: str | None = first[turn - 1]
        else:
            speaker = yield from _floor(game, phase, turn, turns, last)
        if speaker is None:
            return
        last = yield from _turn(game, speaker, phase, turn, turns)


def mentioned(text: str, names: Sequence[str]) -> set[str]:
    """The names that occur in a text as whole words, as the game spells them or in capitals: "to be frank" does not
    name Frank.
    """
    spelled = {spelling: name for name in names for spelling in (name, name.upper())}
    return {spelled[found] for found in _pattern(tuple(spelled)).findall(text)}


def _turn(game: Game, speaker: str, phase: Phase, turn: int, turns: int) -> Generator[Asks, Replies, Event]:
    ask = game.ask(speaker, AskKind.SPEAK, phase, turn, rounds=turns, limit=game.table.message_limit)
    (reply,) = yield game.batch([ask])
    event = game.log(**speech(ask, reply))
    yield from assess(game, event)
    return event


def _floor(game: Game, phase: Phase, turn: int, turns: int, last: Event | None) -> Generator[Asks, Replies, str | None]:
    """Take bids; returns who may speak, None if nobody wants to."""
    bidders = game.others(last.actor or "") if last else tuple(game.alive)
    asks = [game.ask(name, AskKind.BID, phase, turn, rounds=turns, options=BIDS) for name in bidders]
    replies = yield game.batch(asks)
    bids: dict[str, int] = {}
    for ask, reply in zip(asks, replies, strict=True):
        readable = not reply.problem and reply.choice in BIDS
        bids[ask.seat] = int(reply.choice or 0) if readable else 0
        game.log(
            EventKind.BID,
            phase,
            turn,
            actor=ask.seat,
            audience=(ask.seat,),
            fallback="" if readable else reply.problem or f"{reply.choice!r} is no bid from 0 to 10",
            data={"bid": bids[ask.seat], **notes(reply)},
        )
    highest = max(bids.values(), default=0)
    if highest == 0:
        return None
    top = [name for name, bid in bids.items() if bid == highest]
    named = mentioned(last.text, top) if last else set()
    top = [name for name in top if name in named] or top
    return top[0] if len(top) == 1 else game.random.choice(top)


@lru_cache(maxsize=4096)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
