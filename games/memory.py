"""What a seat remembers: all, its last events, or these and its own summary of what came before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from liescope.games.core import MEASURED, Ask, AskKind, Event, EventKind, Game, Outcome, Phase, Play
from liescope.games.shared_rules import speech

LONGEST_SUMMARY = 2000  # characters
_NOT_TOLD = frozenset({EventKind.BID, EventKind.SELF_REPORT, EventKind.RATING, EventKind.SUSPICION}) | {
    *(EventKind.SECOND_ORDER, EventKind.SUMMARY)
}


@dataclass(frozen=True, slots=True)
class Memory:
    """last: how many events are told word for word; summed: before a seat is asked with twice as many to remember, it
    writes a summary of all but the last.
    """

    last: int
    summed: bool = False

    def of(self, view: Sequence[Event], about: int | None = None) -> Sequence[Event]:
        """The setup and what is told of a view, and what an ask is about; the whole view if nothing is forgotten."""
        told, gone = self.counted(view)
        if not gone:
            return view
        return [e for e in view if e.phase is Phase.SETUP or e.index >= told[gone] or e.index == about]

    def counted(self, view: Sequence[Event]) -> tuple[list[int], int]:
        """The indices of the events after the setup, and how many of them are forgotten. Bids and what is asked to
        measure do not count, so that measuring changes no memory.
        """
        told = [event.index for event in view if event.phase is not Phase.SETUP and event.kind not in _NOT_TOLD]
        until = len(told)
        if self.summed:
            written = summary(view)
            until = 0 if written is None else sum(index < written.index for index in told)
        return told, max(until - self.last, 0)


def summary(view: Sequence[Event]) -> Event | None:
    """The last summary that the seat of a view wrote."""
    return next((event for event in reversed(view) if event.kind is EventKind.SUMMARY and event.text), None)


def with_summaries(game: Game) -> Play:
    """The game, in which each seat of `game.summaries` writes its summaries, for its own eyes alone. An unusable one is
    asked for again with the seat's next ask; until then nothing is forgotten.
    """
    play = game.play()
    try:
        asks = next(play)
        while True:
            if due := [ask for ask in asks if _due(game, ask)]:
                first = tuple(
                    Ask(game.game_id, ask.step, ask.seat, AskKind.SUMMARY, ask.day, ask.phase, limit=LONGEST_SUMMARY)
                    for ask in due
                )
                for ask, reply in zip(first, (yield first), strict=True):
                    game.log(**speech(ask, reply) | {"kind": EventKind.SUMMARY, "audience": (ask.seat,)})
                game.step += 1
                asks = tuple(replace(ask, game=game.game_id, step=ask.step + 1) for ask in asks)
            asks = play.send((yield asks))
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def _due(game: Game, ask: Ask) -> bool:
    memory = None if ask.kind in MEASURED else game.summaries.get(ask.seat)
    if memory is None:
        return False
    told, gone = memory.counted(game.view(ask.seat))
    return len(told) - gone >= 2 * memory.last
