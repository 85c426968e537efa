"""Players that are a language model in this process, and the hidden states of their replies.

    local:models/llama                                  a folder in Hugging Face format, safetensors
    local:Qwen/Qwen3-0.6B?think=false&temperature=0.7   a model from the Hub

The asks of all games that run at once are gathered into batches (`Batcher`): while one batch is generated in a thread,
the next one gathers. A reply depends on the seed, the ask and its prompt, not on the batch. Options: `SeatOptions` and
`loading.LocalOptions`.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from liescope.common.errors import LiescopeError, PlayerFailed, UsageError
from liescope.games.core import Ask, Event, Reply
from liescope.games.game_registry import PROMPTS
from liescope.games.record import Source
from liescope.generate.players.kept_states import keep_states
from liescope.generate.players.local.loading import (
    Generated,
    Loaded,
    LocalSpec,
    PromptRow,
    check_model,
    load,
    random_key,
    read_spec,
    write,
)
from liescope.generate.players.openai.completion import Completion, reply_of
from liescope.generate.players.parsing.choice import storable
from liescope.generate.players.player_protocol import Attempt, PlayerContext
from liescope.generate.players.player_registry import NamedText, joined
from liescope.generate.players.prompts.render import Prompts, load_prompts
from liescope.generate.players.run_limits import TokenUsage

_SETTLE = 0.003  # a batch begins after so many seconds without a new ask
_LONGER = 256  # a prompt may exceed twice the shortest of its batch by so many tokens
_ROWS, _ROWS_ON_CPU = 64, 16
_WEIGHTS = ("revision", "device", "dtype", "batch")  # options that make a different model under one name


@dataclass(slots=True, eq=False)
class _Waiting:
    row: PromptRow
    reply: asyncio.Future[Generated]


class Batcher:
    """One model, made by `Batcher.of`, which writes each ask together with others that wait. most: asks of one batch;
    halved, for good, when a batch does not fit into memory. It belongs to the event loop of its first ask. Each player
    closes it once, and the last one frees it.
    """

    def __init__(self, spec: LocalSpec, context: PlayerContext) -> None:
        self.most = spec.options.batch or _ROWS
        self._spec, self._context = spec, context
        self._users = 0
        self._loading = asyncio.Lock()
        self._loaded: Loaded | None = None
        self._waiting: list[_Waiting] = []
        self._work: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "local-model")

    @classmethod
    def of(cls, spec: LocalSpec, context: PlayerContext) -> Batcher:
        """The run's batcher for these weights. Nothing is loaded yet."""
        found = context.shared.once(cls, lambda: cls(spec, context), _key(spec))
        found._users += 1
        return found

    async def model(self) -> Loaded:
        """The model, loaded when it is first asked for. Raises as `load`."""
        async with self._loading:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(load, self._spec)
                if self._loaded.model.device.type == "cpu":
                    self.most = self._spec.options.batch or _ROWS_ON_CPU
        return self._loaded

    async def write(self, row: PromptRow) -> Generated:
        """The reply to one ask. Raises PlayerFailed if the model cannot write it, and the halt's reason if the run ends
        before its turn.
        """
        loaded = await self.model()
        self._context.halt.check()
        mine = _Waiting(row, asyncio.get_running_loop().create_future())
        self._waiting.append(mine)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._run(loaded))
        return await mine.reply

    def close(self) -> None:
        """Wait for the batch under way, and free the model with the last player."""
        self._users -= 1
        if self._users == 0:
            self._context.shared.drop(Batcher, _key(self._spec))
            self._thread.shutdown()

    async def _run(self, loaded: Loaded) -> None:
        while self._waiting:
            seen = -1
            while seen < len(self._waiting) < self.most:  # until no more asks come at once
                seen = len(self._waiting)
                await asyncio.sleep(_SETTLE)
            if (halted := self._context.halt.error) is not None:
                self._end(self._waiting, halted)
                return
            batch = self._next(loaded.context)
            work = partial(self._write, loaded, [one.row for one in batch])
            try:
                replies = await asyncio.get_running_loop().run_in_executor(self._thread, work)
            except Exception as error:  # noqa: BLE001 - whatever a model raises is its players' failure
                self._end(batch, error)
            else:
                for one, reply in zip(batch, replies, strict=False):  # none: they did not fit into memory
                    if not one.reply.done():  # an ask may be cancelled
                        one.reply.set_result(reply)
            self._waiting = [one for one in self._waiting if not one.reply.done()]

    def _next(self, context: int) -> list[_Waiting]:
        """The batch of the ask that has waited longest, with those most like it in kind and length."""
        first, *others = self._waiting
        length = len(first.row.ids)

        def unlike(one: _Waiting) -> tuple[bool, int]:
            return one.row.most != first.row.most, abs(len(one.row.ids) - length)

        batch = [first]
        for one in sorted(others, key=unlike)[: self.most - 1]:
            rows = [other.row for other in (*batch, one)]
            width = max(len(row.ids) for row in rows) + max(row.most for row in rows)  # others may have longer replies
            alike = max(length, len(one.row.ids)) <= 2 * min(length, len(one.row.ids)) + _LONGER
            if alike and width <= context:
                batch.append(one)
        return batch

    def _write(self, loaded: Loaded, rows: Sequence[PromptRow]) -> list[Generated]:
        """The replies; none if memory is too small for so many, and the next batches will be smaller."""
        import torch

        try:
            return write(loaded, rows)
        except torch.OutOfMemoryError:
            pass  # the exception holds the failed batch's memory until this block ends
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if len(rows) == 1:
            raise PlayerFailed(f"the model ran out of memory with one prompt of {len(rows[0].ids):,} tokens alone")
        self.most = len(rows) // 2
        self._context.activity.at(self._spec.host).retries["out of memory, batches halved"] += 1
        return []

    def _end(self, batch: Sequence[_Waiting], error: Exception) -> None:
        """Fail these asks."""
        if not isinstance(error, LiescopeError):
            why = " ".join(str(error).split())[:200] or type(error).__name__
            error = PlayerFailed(f"the model failed: {why}")
        for one in batch:
            if not one.reply.done():
                one.reply.set_exception(error)


def _key(spec: LocalSpec) -> tuple[object, ...]:
    return (spec.name, *(getattr(spec.options, name) for name in _WEIGHTS))


class LocalPlayer:
    """A model in this process. One object answers for every game and seat of its spec."""

    source = Source.MODEL

    def __init__(self, spec: LocalSpec, persona: NamedText | None, prompts: Prompts, context: PlayerContext) -> None:
        named = [] if persona is None else [f"persona={persona.label}"]
        self.model = joined(spec.model, [*named, *spec.shown])
        self._spec, self._persona, self._prompts, self._context = spec, persona, prompts, context
        self._batcher = Batcher.of(spec, context)

    async def prepare(self) -> None:
        """Load the model. Raises UsageError if there is no such model, device or layer, BadData if the model is more
        than data, MissingExtra.
        """
        layers = (await self._batcher.model()).layers
        if wrong := [layer for layer in self._spec.options.states if not 1 <= layer <= layers]:
            raise UsageError(f"{self._spec.name} has the layers 1 to {layers}; states cannot name {wrong[0]}")

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Raises PlayerFailed if this ask cannot be answered, RunPaused if the run has to stop for now."""
        loaded, options = await self._batcher.model(), self._spec.options
        messages = [{"role": "user", "content": self._prompts.render(ask, view, options.remembers).text}]
        if self._persona is not None:
            messages.insert(0, {"role": "system", "content": self._persona.filled(ask, view)})
        row = self._row(loaded, ask, messages)
        self._context.budget.check()
        activity, began = self._context.activity.at(self._spec.host), time.perf_counter()
        activity.under_way += 1
        try:
            written = await self._batcher.write(row)
        finally:
            activity.under_way -= 1
        usage = TokenUsage(len(row.ids), None, len(written.ids) + written.ended)
        text, finish = storable(loaded.text(written.ids)), "stop" if written.ended else "length"
        completion = Completion(text, finish=finish, usage=usage, served_model=self._spec.name)
        self._context.budget.spend(usage, None, (0, 0))
        self._context.log(
            Attempt(
                *(ask.game, ask.step, ask.seat, 1, completion.content, completion.problem),
                prompt_tokens=usage.prompt,
                completion_tokens=usage.completion,
                latency_ms=(time.perf_counter() - began) * 1000,
                request=self._request(messages, row),
                served_model=completion.served_model,
                host=self._spec.host,
            )
        )
        if options.states:
            kept, answer = Path(options.states_to), loaded.answer_at(written.ids)
            keep_states(kept, ask, options.states, written.ids, written.states, answer, self._spec.model)
        return reply_of(ask, completion)

    async def close(self) -> None:
        self._batcher.close()

    def _row(self, loaded: Loaded, ask: Ask, messages: Sequence[Mapping[str, str]]) -> PromptRow:
        options = self._spec.options
        ids = loaded.prompt_ids(messages, options)
        most = min(self._spec.most_tokens(ask.kind, loaded.thinks(options)), loaded.context - len(ids))
        if most < 1:
            raise PlayerFailed(f"the prompt has {len(ids):,} tokens, and the model takes {loaded.context:,} at most")
        asked = {"temperature": PROMPTS[self._context.game].temperature, "top_k": options.top_k}
        given: dict[str, Any] = {**asked, **self._spec.options.at(ask.kind), "max_tokens": None}
        key = random_key(options.seed, self._context.draw(ask.game), ask.step, ask.seat)
        sampling = replace(loaded.advised, key=key, **{n: value for n, value in given.items() if value is not None})
        return PromptRow(ids, most, sampling, options.states)

    def _request(self, messages: Sequence[Mapping[str, str]], row: PromptRow) -> dict[str, Any]:
        """What was asked of the model, for the journal."""
        drawn = {name: getattr(row.sampling, name) for name in ("temperature", "top_p", "top_k")}
        options = self._spec.options
        given = options.model_dump(exclude_unset=True, include={"revision", "think", "reasoning_effort"})
        fields = {**given, **drawn, "seed": options.seed, "max_tokens": row.most}
        return {"model": self._spec.name, "messages": list(messages), **fields}


def open_local(argument: str, context: PlayerContext) -> LocalPlayer:
    """The player of a spec string without its "local:"; `prepare` loads its model.

    Raises UsageError for a spec that cannot be parsed, a folder without a model or templates that do not work, BadData
    for a persona or a model's settings that cannot be read.
    """
    spec, prompts = read_spec(argument), load_prompts(context.prompts, context.game)
    check_model(spec)
    return LocalPlayer(spec, NamedText.of(spec.options.persona, context.files), prompts, context)
