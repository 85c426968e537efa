"""Games to label: one of four players in which every seat says and thinks what a test wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from liescope.games.core import Ask, AskKind, Assessment, Event, Reply
from liescope.games.mafia.rules import MafiaSpec, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start

NAMES = ("Alice", "Bob", "Charlie", "Diana")
ROLES = ("mafioso", "detective", "villager", "villager")
Play = Callable[..., GameRecord]


@pytest.fixture
def play() -> Play:
    """play(says, thinks, votes) -> the record of a Mini-Mafia game: Alice mafioso, Bob detective, the others villagers.

    says: name to text (a name left out says "Hello."); thinks: (ask kind, author) to an assessment or a problem;
    votes: name to choice, or "" for an unusable reply.
    """

    def run(
        says: Mapping[str, str] | None = None,
        thinks: Callable[[Ask], Assessment | str] | None = None,
        votes: Mapping[str, str] | None = None,
        **spec: object,
    ) -> GameRecord:
        def answer(ask: Ask, view: Sequence[Event]) -> Reply:
            if ask.kind is AskKind.SPEAK:
                return Reply(text=(says or {}).get(ask.seat, "Hello."), private={"planted_type": "Omission"})
            if ask.kind is AskKind.VOTE:
                choice = (votes or {}).get(ask.seat, ask.options[0])
                return Reply(choice=choice) if choice else Reply(problem="no name in the reply")
            thought = thinks(ask) if thinks else Assessment(False, "none", 0.9, 0.2)
            return Reply(problem=thought) if isinstance(thought, str) else Reply(assessment=thought)

        table = {"rounds": 1, "scripted_night": True, "days": 1, "roles": ROLES, "message_limit": None, **spec}
        game = MiniMafia(MafiaSpec(mafiosos=1, detectives=1, villagers=2, names=NAMES, **table), seed=5, game_id="g")
        session = start(lambda: game)
        drive(session, answer)
        return record(game, session.outcome, dict.fromkeys(NAMES, ("a model", Source.MODEL)))

    return run
