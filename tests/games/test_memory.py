"""A seat with summaries writes them for its own eyes, in time, and is told them in place of what it forgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from liescope.games.core import Ask, AskKind, Event, EventKind, Game, Reply
from liescope.games.game_registry import find_game
from liescope.games.memory import LONGEST_SUMMARY, Memory
from liescope.games.script.persona import PROFILES
from liescope.games.session import Session, drive, replay
from liescope.generate.players.prompts.render import load_prompts
from liescope.generate.players.scripted import ScriptedPlayer

MEMORY = Memory(3, summed=True)
SECRET = "Between us: note number"


def made(name: str, summing: bool = True, assess: bool = False) -> Game:
    played = find_game(name)
    game = played.make(played.spec.replaced(assess=assess), 5, "g")
    game.summaries = dict.fromkeys(game.names[:2] if summing else (), MEMORY)
    return game


def noting(name: str, asked: list[tuple[Ask, Sequence[Event]]], wrong: bool = False):
    script, written = ScriptedPlayer("bold", PROFILES["bold"], name), []

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        asked.append((ask, tuple(view)))
        if ask.kind is not AskKind.SUMMARY:
            return script.say(
                replace(ask, step=ask.day), [event for event in view if event.kind is not EventKind.SUMMARY]
            )
        written.append(ask)
        return Reply(problem="?") if wrong else Reply(text=f"{SECRET} {len(written)}. {'So it was. ' * 400}")

    return answer


def told(events: Sequence[Event]) -> list[tuple[object, ...]]:
    return [(e.kind, e.actor, e.target, e.text) for e in events if e.kind is not EventKind.SUMMARY]


@pytest.mark.parametrize("name", ["mini-mafia", "werewolf", "one-night-werewolf", "cheat", "deal", "two-truths"])
def test_summaries_change_nothing_else_are_seen_by_their_seat_alone_and_come_back_in_a_replay(name: str) -> None:
    asked: list[tuple[Ask, Sequence[Event]]] = []
    session, plain = Session(made(name)), Session(made(name, summing=False))
    replies = drive(session, noting(name, asked))
    drive(plain, noting(name, []))
    assert told(session.events) == told(plain.events)
    written = [event for event in session.events if event.kind is EventKind.SUMMARY]
    assert {event.audience for event in written} == {(seat,) for seat in session.game.names[:2]}
    assert all(len(event.text) <= LONGEST_SUMMARY < event.data["cut"] for event in written)
    assert [ask.step for ask, _ in asked] == sorted(ask.step for ask, _ in asked)
    assert replay(lambda: made(name), replies).events == session.events
    for ask, view in asked:
        assert all(event.actor == ask.seat for event in view if event.kind is EventKind.SUMMARY)


@pytest.mark.parametrize("name", ["mini-mafia", "werewolf"])
def test_a_seat_is_told_its_last_summary_and_never_twice_its_window(name: str) -> None:
    asked: list[tuple[Ask, Sequence[Event]]] = []
    drive(Session(made(name)), noting(name, asked))
    prompts, summing = load_prompts("full", name), made(name).names[:2]
    counts = set()
    for ask, view in asked:
        text = prompts.render(ask, view, MEMORY).text
        written = [event for event in view if event.kind is EventKind.SUMMARY]
        notes = [f"{SECRET} {number}." for number in range(1, 50) if f"{SECRET} {number}." in text]
        assert notes == [" ".join(event.text.split()[:5]) for event in written[-1:]]
        if ask.seat in summing and ask.kind is not AskKind.SUMMARY:
            events, gone = MEMORY.counted(view)
            counts.add(len(events) - gone)
        assert SECRET not in prompts.render(ask, view).text, "a seat that remembers all needs no summary"
    assert {MEMORY.last, 2 * MEMORY.last - 1} <= counts <= set(range(2 * MEMORY.last))


def test_measuring_moves_no_summary() -> None:
    """With assessments every summary is written after the same statements and votes as without."""
    before = []
    for assess in (False, True):
        session = Session(made("mini-mafia", assess=assess))
        drive(session, noting("mini-mafia", []))
        measured = (EventKind.SELF_REPORT, EventKind.RATING)
        before.append([(event.kind, event.actor) for event in session.events if event.kind not in measured])
    assert before[0] == before[1]


def test_a_summary_that_cannot_be_used_is_asked_for_again_and_nothing_is_forgotten() -> None:
    asked: list[tuple[Ask, Sequence[Event]]] = []
    session = Session(made("mini-mafia"))
    drive(session, noting("mini-mafia", asked, wrong=True))
    written = [event for event in session.events if event.kind is EventKind.SUMMARY]
    assert all(event.fallback == "?" and not event.text for event in written)
    last, view = asked[-1]
    assert last.kind is AskKind.VOTE
    assert MEMORY.counted(view)[1] == 0
    mine = [ask.kind for ask, _ in asked if ask.seat == session.game.names[0]]
    first = mine.index(AskKind.SUMMARY)
    assert mine[first::2] == [AskKind.SUMMARY] * len(mine[first::2]), "before each ask from then on"
