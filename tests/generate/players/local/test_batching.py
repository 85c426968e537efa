"""Asks that wait are written together; too large a batch is halved, and trouble reaches the asks that it concerns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from liescope.common.errors import Interrupted, PlayerFailed
from liescope.generate.players.local import local_player
from liescope.generate.players.local.loading import Generated, Loaded, PromptRow, read_spec, write
from liescope.generate.players.local.local_player import Batcher
from liescope.generate.players.player_protocol import PlayerContext
from tests.generate.players.local.conftest import Rows, together

Write = Callable[[Loaded, Sequence[PromptRow]], list[Generated]]


def batcher(loaded: Loaded, most: int = 64) -> Batcher:
    made = Batcher(read_spec("m"), PlayerContext(lambda _: None, "mafia"))
    made._loaded, made.most = loaded, most
    return made


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Write | int], list[int]]:
    """sizes(room): the rows of each batch as they come; more than `room` are too many for the memory."""

    def made(how: Write | int = 1000) -> list[int]:
        import torch

        found: list[int] = []

        def kept(loaded: Loaded, rows: Sequence[PromptRow]) -> list[Generated]:
            found.append(len(rows))
            if not isinstance(how, int):
                return how(loaded, rows)
            if len(rows) > how:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
            return write(loaded, rows)

        monkeypatch.setattr(local_player, "write", kept)
        return found

    return made


@pytest.fixture(scope="module")
def many(loaded: Loaded, rows: Rows) -> list[PromptRow]:
    """Twelve asks."""
    return [row for step in rows(loaded, games=3) for row in step][:12]


@pytest.fixture(scope="module")
def alone(loaded: Loaded, many: list[PromptRow]) -> list[list[int]]:
    """What is written to each of them by itself."""
    return [write(loaded, [row])[0].ids.tolist() for row in many]


@pytest.mark.long
@pytest.mark.parametrize(("most", "room", "expected"), [(64, 1000, [12]), (5, 1000, [5, 5, 2]), (64, 4, [12, 6, 3])])
def test_what_waits_is_one_batch_within_its_bounds_and_each_ask_gets_its_own_reply(
    loaded, many, alone, sizes, most: int, room: int, expected: list[int]
) -> None:
    found, made = sizes(room), batcher(loaded, most)
    replies = together(*map(made.write, many))
    assert found[:3] == expected
    halved = sum(made._context.activity.at("local:m").retries.values())
    assert (halved, max(found[2:], default=0) <= 5) == (2 * (room == 4), True)
    assert [one.ids.tolist() for one in replies] == alone


def test_the_next_batch_gathers_while_one_is_written(loaded, rows, sizes) -> None:
    found, made = sizes(1000), batcher(loaded)
    first, second = rows(loaded, games=4)[:2]

    async def games() -> None:
        async def game(number: int) -> None:
            await made.write(first[number])
            await made.write(second[number])

        await asyncio.gather(*map(game, range(len(first))))

    asyncio.run(games())
    assert found == [len(first), len(second)]


def test_no_row_of_a_batch_is_pushed_past_what_the_model_reads(loaded, many, sizes) -> None:
    """A model with an embedding for each place has none for more."""
    found = sizes(1000)
    long, short, shorter = many[:3]
    asks = [replace(long, most=1), *(replace(row, ids=row.ids[:50], most=2) for row in (short, shorter))]
    together(*map(batcher(replace(loaded, context=len(long.ids) + 1)).write, asks))
    assert sorted(found) == [1, 2]


def test_one_ask_too_large_for_the_memory_fails_alone(loaded, rows, sizes) -> None:
    sizes(0)
    (failed,) = together(batcher(loaded).write(rows(loaded)[0][0]))
    assert isinstance(failed, PlayerFailed)
    assert "out of memory" in str(failed)


def test_an_error_of_the_model_is_its_players_failure_in_one_line(loaded, rows, sizes) -> None:
    def broken(loaded: Loaded, rows: Sequence[PromptRow]) -> list[Generated]:
        raise RuntimeError("device-side assert triggered\nmore")

    sizes(broken)
    found = together(*map(batcher(loaded).write, rows(loaded)[0]))
    assert {type(one) for one in found} == {PlayerFailed}
    assert str(found[0]) == "the model failed: device-side assert triggered more"


def test_when_the_run_ends_a_batch_finishes_and_what_waits_is_told(loaded, rows, sizes) -> None:
    made, asks = batcher(loaded, 2), rows(loaded)[0]

    def stopping(loaded: Loaded, rows: Sequence[PromptRow]) -> list[Generated]:
        made._context.halt.error = Interrupted("stopped")
        return write(loaded, rows)

    sizes(stopping)
    found = together(*map(made.write, asks))
    assert [type(one) for one in found] == [Generated, Generated, Interrupted]
    with pytest.raises(Interrupted):
        asyncio.run(made.write(asks[0]))
