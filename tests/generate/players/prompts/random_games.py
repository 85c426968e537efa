"""Random games with every prompt that is rendered in them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count

from liescope.games import (
    Ask,
    AskKind,
    Assessment,
    Event,
    Game,
    Lesson,
    LessonKind,
    Mafia,
    MafiaSpec,
    Reply,
    Werewolf,
    WerewolfSpec,
    drive,
    start,
)
from liescope.games.core import ASSESSMENTS, CHOICES
from liescope.games.game_registry import PROMPTS
from liescope.generate.players.prompts.render import Prompt, Prompts, load_prompts

SHORT = WerewolfSpec(debate_turns=2, defence_turns=1)
LESSONS = (Lesson(LessonKind.TO_DO, "OWN lesson one"), Lesson(LessonKind.WINNING_TACTIC, "OWN lesson two"))
TABLES: tuple[WerewolfSpec | MafiaSpec, ...] = (
    SHORT,
    SHORT.replaced(villagers=7, jesters=0),
    SHORT.replaced(seers=1, learning=True, lessons=LESSONS),
    SHORT.replaced(villagers=3, werewolves=3, doctors=2, seers=1, assess=True, assess_share=0.3, show_suspicion=True),
    SHORT.replaced(villagers=2, werewolves=1, debate_turns=1, assess=True, learning=True),
    MafiaSpec(mafiosos=2, detectives=1, villagers=3, rounds=1, assess=True),
)
MAFIAS = (5, 11, 17, 23, 29, 35)  # the seeds of games of Mafia, with its sets of prompts in turn


@dataclass(frozen=True)
class Shown:
    """A prompt with the events that its seat may know, by the rules and not by the view."""

    game: Game
    ask: Ask
    prompt: Prompt


@cache
def prompts(game: str, where: str = "full") -> Prompts:
    return load_prompts(where, game)


def table(seed: int) -> Game:
    spec = TABLES[seed % len(TABLES)]
    return Werewolf(spec, seed, f"g{seed}") if isinstance(spec, WerewolfSpec) else Mafia(spec, seed, f"g{seed}")


def play(seed: int) -> Iterator[Shown]:
    """A random game with every prompt that is rendered in it. Whatever a seat keeps to itself is marked SECRET."""
    rng, marks = random.Random(seed), count()
    found: list[Shown] = []
    sets = PROMPTS[table(seed).name].sets
    where = prompts(table(seed).name, sets[seed // len(TABLES) % len(sets)])

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        found.append(Shown(session.game, ask, where.render(ask, view)))
        mark = f"SECRET {next(marks)} of {ask.seat}"
        kept = {"raw": mark, "private": {"reasoning": mark, "planted_type": mark}, "notes": (mark,)}
        if rng.random() < 0.1:
            return Reply(problem=mark, **kept)
        if ask.kind in ASSESSMENTS:
            return Reply(assessment=Assessment(rng.random() < 0.5, "omission", 0.123, 0.789, mark), **kept)
        if ask.kind is AskKind.REFLECTION:
            return Reply(form={"to_do": (mark,)}, **kept)
        choice = rng.choice(ask.options) if ask.kind in CHOICES else None
        return Reply(choice=choice, text=f"Well, I wonder about {rng.choice(session.game.names)}.", **kept)

    session = start(lambda: table(seed))
    drive(session, answer)
    yield from found
