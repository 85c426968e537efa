"""Asks of many games gathered into batches: while one is written in a thread, the next one gathers."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from liescope.common.errors import LiescopeError, PlayerFailed
from liescope.generate.players.local.loading import LocalOptions, LocalSpec, load
from liescope.generate.players.local.writing import PromptRow, Writer, Written
from liescope.generate.players.player_protocol import Halt, PlayerContext

_SETTLE = 0.003  # seconds without a new ask after which a batch begins
_LONGER = 256  # tokens that a prompt of a batch may have more than twice the shortest


@dataclass(slots=True, eq=False)
class _Waiting:
    row: PromptRow
    reply: asyncio.Future[Written]


class Batcher:
    """Gives each ask to the writer together with others that wait. most_rows, most_tokens: of one batch, with what is
    written; a batch that is too large for the memory is halved, and so are all later ones. It belongs to the event loop
    of its first ask.
    """

    def __init__(self, writer: Writer, most_rows: int, most_tokens: int, halt: Halt, retries: Counter[str]) -> None:
        self.most_rows, self.most_tokens = most_rows, most_tokens
        self.writer = writer
        self._halt = halt
        self._retries = retries
        self._waiting: list[_Waiting] = []
        self._work: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "local-model")

    async def write(self, row: PromptRow) -> Written:
        """The reply to one ask. Raises PlayerFailed if the model cannot write it, and the halt's reason if the run ends
        before its turn.
        """
        self._halt.check()
        mine = _Waiting(row, asyncio.get_running_loop().create_future())
        self._waiting.append(mine)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._run())
            self._work.add_done_callback(self._ended)
        return await mine.reply

    def close(self) -> None:
        """Frees what is held; a batch under way is waited for."""
        self._thread.shutdown()
        self.writer.prefixes.clear()

    async def _run(self) -> None:
        while self._waiting:
            await self._settle()
            if self._halt.error is not None:
                self._end(self._waiting, self._halt.error)
                return
            self._waiting = [one for one in self._waiting if not one.reply.done()]  # an ask may be cancelled
            if not self._waiting:
                return
            batch = self._next()
            try:
                replies = await asyncio.get_running_loop().run_in_executor(
                    self._thread, self._write, [one.row for one in batch]
                )
            except Exception as error:  # noqa: BLE001 - whatever a model raises is its players' failure
                self._end(batch, error)
                continue
            if replies is None:
                self._smaller(batch)
                continue
            self._waiting = [one for one in self._waiting if one not in batch]
            for one, reply in zip(batch, replies, strict=True):
                if not one.reply.done():
                    one.reply.set_result(reply)

    def _ended(self, work: asyncio.Task[None]) -> None:
        """Whatever ended the work early reaches those who wait."""
        if not work.cancelled() and isinstance(error := work.exception(), Exception):
            self._end(self._waiting, error)

    async def _settle(self) -> None:
        """Wait until no more asks come at once."""
        seen = -1
        while seen < len(self._waiting) < self.most_rows:
            seen = len(self._waiting)
            await asyncio.sleep(_SETTLE)

    def _next(self) -> list[_Waiting]:
        """The batch of the ask that has waited longest: with it those most like it in kind and length."""
        first, *others = self._waiting
        unread = {one: self.writer.unread(one.row) for one in self._waiting}

        def likeness(one: _Waiting) -> tuple[bool, int]:
            return one.row.most != first.row.most, abs(unread[one] - unread[first])

        batch = [first]
        for one in sorted(others, key=likeness):
            lengths = unread[first], unread[one]
            alike = max(lengths) <= 2 * min(lengths) + _LONGER
            width = _width([*batch, one])  # a row goes on, unread, while others are written
            fits = width <= self.writer.loaded.context and width * (len(batch) + 1) <= self.most_tokens
            if alike and fits and len(batch) < self.most_rows:
                batch.append(one)
        return batch

    def _write(self, rows: Sequence[PromptRow]) -> list[Written] | None:
        """The replies, or None if the memory is too small for so many."""
        import torch

        try:
            return self.writer.write(rows)
        except torch.OutOfMemoryError:
            pass  # what the failed batch held is free only after this block
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None

    def _smaller(self, batch: Sequence[_Waiting]) -> None:
        """Take back a batch that was too large, and make the next ones smaller; one ask alone gets all the memory."""
        if len(batch) > 1:
            self.most_tokens = _width(batch) * len(batch) // 2
            self._retries["out of memory, batches halved"] += 1
        elif self.writer.prefixes.size:
            self.writer.prefixes.clear()
            self._retries["out of memory, prompts read again"] += 1
        else:
            tokens = f"{len(batch[0].row.ids):,} tokens"
            self._end(batch, PlayerFailed(f"the model ran out of memory with one prompt of {tokens} alone"))

    def _end(self, batch: Sequence[_Waiting], error: Exception) -> None:
        """These asks get no reply."""
        if not isinstance(error, LiescopeError):
            why = " ".join(str(error).split())[:200] or type(error).__name__
            error = PlayerFailed(f"the model failed: {why}")
        for one in batch:
            if not one.reply.done():
                one.reply.set_exception(error)
        self._waiting = [one for one in self._waiting if one not in batch]


def _width(batch: Sequence[_Waiting]) -> int:
    """Tokens of each row of a batch, padding and reply included."""
    return max(len(one.row.ids) for one in batch) + max(one.row.most for one in batch)


_OWN = ("revision", "device", "dtype", "attention", "lora", "compile", "batch", "batch_tokens", "prefixes")
_ROWS, _ROWS_ON_CPU = 64, 16
_TOKENS, _TOKENS_ON_CPU = 2**16, 2**14
_GIB = 2**30
_OF_FREE = 0.25


class ModelEngine:
    """One model; made by `ModelEngine.of`. Each player closes it once, and the last one frees it."""

    def __init__(self, spec: LocalSpec, context: PlayerContext) -> None:
        self._spec, self._context = spec, context
        self._users = 0
        self._loading = asyncio.Lock()
        self._batcher: Batcher | None = None

    @classmethod
    def of(cls, spec: LocalSpec, context: PlayerContext) -> ModelEngine:
        """The run's engine for these weights. Nothing is loaded yet."""
        engine = context.shared.once(cls, lambda: cls(spec, context), _key(spec))
        engine._users += 1
        return engine

    async def ready(self) -> Batcher:
        """Its batcher; the model is loaded when it is first asked for. Raises as `load`."""
        async with self._loading:
            if self._batcher is None:
                self._batcher = await asyncio.to_thread(self._opened)
        return self._batcher

    def close(self) -> None:
        self._users -= 1
        if self._users == 0:
            self._context.shared.drop(ModelEngine, _key(self._spec))
            if self._batcher is not None:
                self._batcher.close()

    def _opened(self) -> Batcher:
        options = self._spec.options
        loaded = load(self._spec)
        cpu = loaded.model.device.type == "cpu"
        return Batcher(
            Writer(loaded, _bytes_for_prefixes(options, loaded.model.device)),
            options.batch or (_ROWS_ON_CPU if cpu else _ROWS),
            options.batch_tokens or (_TOKENS_ON_CPU if cpu else _TOKENS),
            self._context.halt,
            self._context.activity.at(self._spec.host).retries,
        )


def _key(spec: LocalSpec) -> tuple[object, ...]:
    return (spec.name, *(getattr(spec.options, name) for name in _OWN))


def _bytes_for_prefixes(options: LocalOptions, device: Any) -> int:
    import torch

    if options.prefixes is not None:
        return int(options.prefixes * _GIB)
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0] * _OF_FREE)
    return _GIB
