"""A stub endpoint, and the asks of a real game."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest

from liescope.games import (
    Ask,
    AskKind,
    Event,
    EventKind,
    Game,
    Mafia,
    MafiaSpec,
    Reply,
    Source,
    Werewolf,
    WerewolfSpec,
    drive,
    record,
    start,
)
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.generate.players.openai import pace
from liescope.generate.players.openai.openai_player import OpenAIPlayer, open_openai
from liescope.generate.players.player_protocol import Attempt, EndpointFacts, PlayerContext
from liescope.generate.players.run_limits import Limits
from tests.generate.players.openai import stub

Asked = dict[AskKind, tuple[Ask, tuple[Event, ...]]]


@pytest.fixture(scope="session")
def stubs() -> ModuleType:
    """The module with Stub, Answer, says and fails."""
    return stub


@pytest.fixture
def serve(stubs: ModuleType) -> Iterator[Callable[..., Any]]:
    """Start a stub: with a script, or with answers given in order, the last one from then on."""
    running: list[Any] = []

    def start_stub(*answers: Any) -> Any:
        first = answers[0]
        script = first if callable(first) else lambda request, number: answers[min(number, len(answers) - 1)]
        running.append(stubs.Stub(script))
        return running[-1]

    yield start_stub
    for each in running:
        each.close()


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.FIRST_WAIT", 0.001)
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.005)
    for name in ("FIRST_PROBE", "LONGEST_PROBE"):
        monkeypatch.setattr(pace, name, 0.005)


@pytest.fixture(scope="session")
def asked() -> Asked:
    """One ask of every kind of Mafia with its seat's view, from a real game."""
    return _asked(lambda: Mafia(MafiaSpec(mafiosos=1, detectives=1, villagers=3, assess=True), 0, "g"))


@pytest.fixture(scope="session")
def asked_by_werewolf() -> Asked:
    """One ask of every kind of Werewolf and of its judges."""
    spec = WerewolfSpec(seers=1, debate_turns=2, defence_turns=2, assess=True, learning=True)
    found = _asked(lambda: Werewolf(spec, 0, "g"))
    session = start(lambda: Werewolf(spec, 0, "g"))
    drive(session, lambda ask, view: _said(ask))
    log = record(session.game, session.outcome, dict.fromkeys(session.game.names, ("m", Source.MODEL)))
    made = {next(event.index for event in log.events if event.kind is EventKind.STATEMENT): ("role(Alice)=villager",)}
    spec = RatingSpec(share=0, roles=True, lessons=True, claims=True, beliefs=True)
    return found | _asked(lambda: RatedGame(log, spec, "judge", made))


def _asked(make: Callable[[], Game]) -> Asked:
    session = start(make)
    found: Asked = {}
    while session.asks:
        for ask in session.asks:
            found.setdefault(ask.kind, (ask, session.game.view(ask.seat)))
        session.send(tuple(map(_said, session.asks)))
    return found


def _said(ask: Ask) -> Reply:
    if ask.kind is AskKind.BID:
        return Reply(choice="5")
    return Reply(text="I am a villager.", form={"to_do": ("Wait.",)} if ask.kind is AskKind.REFLECTION else None)


class Desk:
    """A player with what it logged."""

    def __init__(self, argument: str, **options: Any) -> None:
        self.attempts: list[Attempt] = []
        self.learned: list[EndpointFacts] = []
        limits = {name: options.pop(name) for name in Limits.model_fields if name in options}
        self.context = PlayerContext(
            log=self.attempts.append,
            game=options.pop("game", "mafia"),
            limits=Limits(**limits),
            learn=self.learned.append,
            **options,
        )
        self.player: OpenAIPlayer = open_openai(argument, self.context)

    def ask(self, *asks: tuple[Ask, Sequence[Event]], together: bool = False) -> list[Reply]:
        """Ask one after the other, or all together, on a loop of its own; then close."""

        async def run() -> list[Reply]:
            try:
                if together:
                    return await asyncio.gather(*(self.player.answer(ask, view) for ask, view in asks))
                return [await self.player.answer(ask, view) for ask, view in asks]
            finally:
                await self.player.close()

        return asyncio.run(run())


@pytest.fixture(scope="session")
def desk() -> type[Desk]:
    return Desk
