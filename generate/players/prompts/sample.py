"""Whole games with all their questions, for trying out templates before a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from liescope.games.core import ASSESSMENTS, CHOICES, FORMS, Ask, AskKind, Assessment, Event, Reply
from liescope.games.judging import JudgeSpec, Judging
from liescope.games.record import Source, record
from liescope.games.registry import find_game
from liescope.games.session import Session, drive

STATEMENT = 'I say "100%": {{ name }} — ein Lügner? 嘘つき! ' * 3
_LESSON = "Stay vague."


def sample_asks(game: str, seeds: Sequence[int] = (1, 2)) -> Iterator[tuple[Ask, Sequence[Event]]]:
    """Every ask of some games played at random, and of a judge afterwards, each with its seat's view."""
    played = find_game(game)
    for seed in seeds:
        rng, found = Random(seed), list[tuple[Ask, Sequence[Event]]]()

        def answer(
            ask: Ask,
            view: Sequence[Event],
            rng: Random = rng,
            found: list[tuple[Ask, Sequence[Event]]] = found,
        ) -> Reply:
            found.append((ask, tuple(view)))
            return _reply(ask, rng)

        options: dict[str, Any] = {"learning": True} if played.learner else {}
        limit = None if seed % 2 else played.spec.message_limit
        spec = replace(played.spec, assess=True, message_limit=limit, **options)
        session = Session(played.make(spec, seed, f"sample-{seed}"))
        drive(session, answer)
        seats = dict.fromkeys(session.game.names, ("sample", Source.SCRIPTED))
        log = record(session.game, session.outcome, seats)
        drive(Session(Judging(log, JudgeSpec(0.1, roles=True, lessons=True), "judge")), answer)
        yield from found


def _reply(ask: Ask, rng: Random) -> Reply:
    if ask.kind in ASSESSMENTS:
        return Reply(assessment=Assessment(True, "omission", 0.5, 0.5, "so"))
    if ask.kind is AskKind.REFLECTION:
        return Reply(form={"to_do": (_LESSON,)})
    if ask.kind in FORMS:
        return Reply(problem="not needed")
    return Reply(choice=rng.choice(ask.options) if ask.kind in CHOICES else None, text=STATEMENT)
