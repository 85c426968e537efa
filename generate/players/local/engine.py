"""A model in memory with its batches, shared by all players of a run that differ only in how they draw."""

from __future__ import annotations

import asyncio
from typing import Any

from liescope.generate.players.local.batching import Batcher
from liescope.generate.players.local.loading import load
from liescope.generate.players.local.spec import LocalOptions, LocalSpec
from liescope.generate.players.local.writing import Writer
from liescope.generate.players.protocol import PlayerContext

_OWN = ("revision", "device", "dtype", "attention", "lora", "compile", "batch", "batch_tokens", "prefixes")
_ROWS, _ROWS_ON_CPU = 64, 16
_TOKENS, _TOKENS_ON_CPU = 2**16, 2**14
_GIB = 2**30
_OF_FREE = 0.25


class Engine:
    """One model; made by `Engine.of`. Each player closes it once, and the last one frees it."""

    def __init__(self, spec: LocalSpec, context: PlayerContext) -> None:
        self._spec, self._context = spec, context
        self._users = 0
        self._loading = asyncio.Lock()
        self._batcher: Batcher | None = None

    @classmethod
    def of(cls, spec: LocalSpec, context: PlayerContext) -> Engine:
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
            self._context.shared.drop(Engine, _key(self._spec))
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
