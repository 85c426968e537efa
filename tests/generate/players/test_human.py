"""How long a desk waits for people: those who let their time run out twice in a row are away, until they are back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from liescope.games.core import Ask, AskKind, Phase, Reply
from liescope.generate.players.human import AWAY_AFTER, AskDesk, SeatPatience

WHO = "Blue Otter"
ASK = Ask("g", 0, "Alice", AskKind.VOTE, 1, Phase.VOTING, options=("Bob", "Diana"))
SHORT = SeatPatience(words=0.02, choices=0.02, away=0.01)


def asked(answers: Sequence[bool]) -> list[bool]:
    """Whether a person counts as away after each ask, which they answer or let run out."""

    async def go() -> list[bool]:
        desk, found = AskDesk(SHORT), []
        for answered in answers:
            waiting = asyncio.create_task(desk.ask(WHO, ASK))
            await asyncio.sleep(0)
            if answered:
                assert desk.answer(WHO, Reply(choice="Bob"))
            reply = await waiting
            assert (reply.choice == "Bob") is answered
            assert bool(reply.problem) is not answered
            assert desk.waiting(WHO) is None
            found.append(desk.away(WHO))
        return found

    return asyncio.run(go())


def test_who_misses_asks_in_a_row_is_away() -> None:
    assert asked([False] * 3) == [missed >= AWAY_AFTER for missed in (1, 2, 3)]


@pytest.mark.parametrize("answers", [[False, True, False], [False, True] * 3, [False, False, True, False]])
def test_an_answer_ends_the_row(answers: list[bool]) -> None:
    assert asked(answers)[-1] is False
