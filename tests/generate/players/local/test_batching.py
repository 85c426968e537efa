"""Asks that wait are written together; too large a batch is halved, and trouble reaches the asks that it concerns."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from liescope.common.errors import Interrupted, PlayerFailed
from liescope.generate.players.local.loading import Loaded
from liescope.generate.players.local.local_player import Batcher
from liescope.generate.players.local.writing import PromptRow, Writer, Written
from liescope.generate.players.player_protocol import Halt
from tests.generate.players.local.conftest import Rows, together


class Narrow(Writer):
    """Runs out of memory when asked to write more than `room` rows; keeps the sizes of its batches."""

    room = 1000

    def write(self, rows: Sequence[PromptRow]) -> list[Written]:
        import torch

        self.sizes = [*getattr(self, "sizes", []), len(rows)]
        if len(rows) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
        return super().write(rows)


class Broken(Writer):
    def write(self, rows: Sequence[PromptRow]) -> list[Written]:
        raise RuntimeError("device-side assert triggered\nmore")


def many(loaded: Loaded, rows: Rows) -> list[PromptRow]:
    """Twelve asks."""
    return [row for step in rows(loaded, games=3) for row in step][:12]


def batcher(writer: Writer, rows: int = 64, halt: Halt | None = None) -> Batcher:
    return Batcher(writer, rows, 2**20, halt or Halt(), Counter())


def test_what_waits_is_one_batch_and_each_ask_gets_its_own_reply(loaded, rows) -> None:
    writer = Narrow(loaded, 0)
    step = many(loaded, rows)
    found = together(*map(batcher(writer).write, step))
    assert writer.sizes == [len(step)]
    alone = [Writer(loaded, 0).write([row])[0] for row in step]
    assert [one.ids.tolist() for one in found] == [one.ids.tolist() for one in alone]


def test_the_next_batch_gathers_while_one_is_written(loaded, rows) -> None:
    writer = Narrow(loaded, 0)
    made = batcher(writer)
    first, second = rows(loaded, games=4)[:2]

    async def games() -> None:
        async def game(number: int) -> None:
            await made.write(first[number])
            await made.write(second[number])

        await asyncio.gather(*map(game, range(len(first))))

    asyncio.run(games())
    assert writer.sizes == [len(first), len(second)]


def test_a_batch_holds_no_more_rows_and_tokens_than_it_may(loaded, rows) -> None:
    writer = Narrow(loaded, 0)
    step = many(loaded, rows)
    together(*map(batcher(writer, rows=5).write, step))
    assert writer.sizes == [5, 5, 2]
    longest = max(len(row.ids) + row.most for row in step)
    narrow = Batcher(few := Narrow(loaded, 0), 64, 3 * longest, Halt(), Counter())
    together(*map(narrow.write, step))
    assert max(few.sizes) == 3


def test_no_row_of_a_batch_is_pushed_past_what_the_model_reads(loaded, rows) -> None:
    """A model with an embedding for each place has none for more."""
    long, short, shorter = many(loaded, rows)[:3]
    context = len(long.ids) + 1
    rows_of = [replace(long, most=1), *(replace(row, ids=row.ids[:50], most=2) for row in (short, shorter))]
    writer = Narrow(replace(loaded, context=context), 0)
    together(*map(batcher(writer).write, rows_of))
    assert sorted(writer.sizes) == [1, 2]


def test_out_of_memory_halves_the_batches_and_the_replies_are_the_same(loaded, rows) -> None:
    writer = Narrow(loaded, 0)
    writer.room = 4
    step = many(loaded, rows)
    made = batcher(writer)
    found = together(*map(made.write, step))
    assert writer.sizes[:3] == [12, 6, 3]
    assert max(writer.sizes[3:]) <= 3
    assert sum(made._retries.values()) == 2
    alone = [Writer(loaded, 0).write([row])[0] for row in step]
    assert [one.ids.tolist() for one in found] == [one.ids.tolist() for one in alone]


def test_one_ask_too_large_for_the_memory_fails_alone(loaded, rows) -> None:
    writer = Narrow(loaded, 2**30)
    step = rows(loaded)[0]
    writer.write(step)
    writer.room = 0
    made = batcher(writer)
    (failed,) = together(made.write(step[0]))
    assert isinstance(failed, PlayerFailed)
    assert "out of memory" in str(failed)
    assert writer.prefixes.size == 0  # what was held for later was given up first
    assert writer.sizes[1:] == [1, 1]


def test_an_error_of_the_model_is_its_players_failure_in_one_line(loaded, rows) -> None:
    found = together(*map(batcher(Broken(loaded, 0)).write, rows(loaded)[0]))
    assert {type(one) for one in found} == {PlayerFailed}
    assert str(found[0]) == "the model failed: device-side assert triggered more"


def test_nobody_waits_for_ever_when_batches_cannot_be_made(loaded, rows) -> None:
    class Lost(Writer):
        def unread(self, row: PromptRow) -> int:
            raise KeyError("lost")

    found = together(*map(batcher(Lost(loaded, 0)).write, rows(loaded)[0]))
    assert {type(one) for one in found} == {PlayerFailed}


def test_when_the_run_ends_a_batch_finishes_and_what_waits_is_told(loaded, rows) -> None:
    halt = Halt()

    class Stopping(Narrow):
        def write(self, rows: Sequence[PromptRow]) -> list[Written]:
            halt.error = Interrupted("stopped")
            return super().write(rows)

    step = rows(loaded)[0]
    found = together(*map(batcher(Stopping(loaded, 0), rows=2, halt=halt).write, step))
    assert [type(one) for one in found] == [Written, Written, Interrupted]
    with pytest.raises(Interrupted):
        asyncio.run(batcher(Writer(loaded, 0), halt=halt).write(step[0]))
