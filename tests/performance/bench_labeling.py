"""How fast statements are read for claims and games are labelled.

python tests/performance/bench_labeling.py
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from liescope.games.core import Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.mafia import MINI_MAFIA, MiniMafia
from liescope.games.record import Source, record
from liescope.games.session import drive, start
from liescope.labeling.claims import find_claims
from liescope.labeling.label import label_game

NAMES = ("Alice", "Bob", "Charlie", "Diana")
TEXTS = (
    "I'm the detective and I investigated {a} last night. {a} is the mafioso. We need to vote them out to win.",
    "Let's stay calm and observe everyone's behavior carefully. We need to figure out who to trust.",
    "{a}, if you're the detective, why did you investigate {b} instead of me? That seems like an odd choice.",
    "I am not the mafioso. {a}'s accusation is baseless, and {b} is simply following without any question.",
    "I trust {a}'s investigation. {b} is mafia. I'm voting for {b}, and so should everyone who wants to win.",
)
STATEMENTS = 20_000
GAMES = 2_000


def _text(number: int) -> str:
    a, b = NAMES[number % 4], NAMES[(number + 1 + number // 4 % 3) % 4]
    return f"{TEXTS[number % len(TEXTS)].format(a=a, b=b)} ({number})"


def _answer(ask: Ask, view: Sequence[Event]) -> Reply:
    if ask.kind is AskKind.SPEAK:
        return Reply(text=_text(len(view)))
    if ask.options:
        return Reply(choice=ask.options[0])
    return Reply(assessment=Assessment(True, "omission", 0.5, 0.5, "because"))


def bench_labeling() -> None:
    texts = [_text(number) for number in range(STATEMENTS)]
    began = time.perf_counter()
    found = sum(len(find_claims(text, NAMES[number % 4], NAMES, "mini-mafia")) for number, text in enumerate(texts))
    seconds = time.perf_counter() - began
    print(
        f"claims: {STATEMENTS / seconds:,.0f} statements/s, {1e6 * seconds / STATEMENTS:.0f} µs each, {found:,} claims"
    )
    for assess in (False, True):
        game = MiniMafia(replace(MINI_MAFIA, assess=assess), seed=1, game_id="g")
        session = start(lambda game=game: game)
        drive(session, _answer)
        played = record(game, session.outcome, dict.fromkeys(NAMES, ("a model", Source.SCRIPTED)))
        games = []
        for number in range(GAMES):  # every text is new, so that no cached claims help
            events = tuple(
                replace(event, text=f"{event.text} {number}") if event.kind is EventKind.STATEMENT else event
                for event in played.events
            )
            games.append(replace(played, events=events))
        began = time.perf_counter()
        rows = sum(len(label_game(game).statements) for game in games)
        seconds = time.perf_counter() - began
        kind = "assessed" if assess else "plain"
        print(f"label_game, {kind}: {GAMES / seconds:,.0f} games/s, {rows / seconds:,.0f} statements/s")


if __name__ == "__main__":
    bench_labeling()
