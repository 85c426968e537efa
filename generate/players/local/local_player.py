"""Players that are a language model in this process, and the hidden states of their replies.

    local:models/llama                                  a folder in Hugging Face format, safetensors
    local:Qwen/Qwen3-0.6B?think=false&temperature=0.7   a model from the Hub

The asks of all games that run at once are gathered into batches (`Batcher`): while one is written in a thread, the next
one gathers. A reply depends on the seed, the ask and its prompt, not on the batch. Options: `SeatOptions` and
`loading.LocalOptions`.

States are kept in a folder for probes: one safetensors file for each reply, in a folder for each game, with `states`
(tokens, layers, width) in float16, `tokens` (their ids), and as metadata what was asked of whom and where the answer
begins, after any reasoning. A statement of a corpus and the states at its words have game_id, speaker, day, phase and
round in common.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import BadData, LiescopeError, PlayerFailed, UsageError
from liescope.common.reading import Reading
from liescope.games.core import Ask, Event, Reply
from liescope.games.game_registry import PROMPTS
from liescope.games.record import Source
from liescope.generate.players.local.loading import (
    Loaded,
    LocalSpec,
    answer_at,
    bytes_for_prefixes,
    load,
    prompt_ids,
    read_spec,
    reply_text,
    thinks,
)
from liescope.generate.players.local.writing import PromptRow, Writer, Written, random_key
from liescope.generate.players.openai.accounts import Budget
from liescope.generate.players.openai.completion import Completion, TokenUsage, reply_of
from liescope.generate.players.parsing.choice import storable
from liescope.generate.players.player_protocol import Attempt, Halt, PlayerContext
from liescope.generate.players.player_registry import NamedText, file_text, joined
from liescope.generate.players.prompts import Prompts, load_prompts

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
            Writer(loaded, bytes_for_prefixes(options, loaded.model.device)),
            options.batch or (_ROWS_ON_CPU if cpu else _ROWS),
            options.batch_tokens or (_TOKENS_ON_CPU if cpu else _TOKENS),
            self._context.halt,
            self._context.activity.at(self._spec.host).retries,
        )


def _key(spec: LocalSpec) -> tuple[object, ...]:
    return (spec.name, *(getattr(spec.options, name) for name in _OWN))


_FORMAT = "1"
_TEXTS, _NUMBERS = ("game_id", "speaker", "kind", "phase"), ("step", "day", "round", "answer")


@dataclass(frozen=True, slots=True, eq=False)
class KeptStates:
    """One reply. kind, phase: values of `AskKind` and `Phase`; answer: the place of the first token after reasoning;
    tokens: (tokens,) their ids; layers: their numbers, from 1; states: (tokens, layers, width) float16.
    """

    game_id: str
    speaker: str
    kind: str
    phase: str
    step: int
    day: int
    round: int
    answer: int
    layers: tuple[int, ...]
    tokens: NDArray[np.int64]
    states: NDArray[np.float16]

    @property
    def mean(self) -> NDArray[np.float32]:
        """(layers, width): the average over the tokens of the answer, as the probe reads a statement."""
        found: NDArray[np.float32] = self.states[self.answer :].astype(np.float32).mean(0)
        return found


def keep_states(
    folder: Path,
    ask: Ask,
    layers: Sequence[int],
    tokens: NDArray[np.int64],
    states: NDArray[np.float16],
    answer: int = 0,
) -> None:
    """Write the states of one reply, if it holds an answer. Raises UsageError if the folder cannot be written to."""
    from safetensors.numpy import save

    if answer >= len(tokens):
        return
    facts = {
        "format": _FORMAT,
        "game_id": ask.game,
        "speaker": ask.seat,
        "kind": ask.kind.value,
        "phase": ask.phase.value,
        "step": str(ask.step),
        "day": str(ask.day),
        "round": str(ask.round),
        "answer": str(answer),
        "layers": json.dumps(list(layers)),
    }
    path = folder / _safe(ask.game) / f"{ask.step:06}-{_safe(ask.seat)}.safetensors"
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(save({"states": np.ascontiguousarray(states), "tokens": np.array(tokens)}, facts))
        unfinished.replace(path)
    except OSError as error:
        raise UsageError(
            f"{path.parent} cannot be written ({error.strerror or error}); name another states_to"
        ) from error


def read_states(folder: str | os.PathLike[str]) -> Iterator[KeptStates]:
    """The replies whose states a folder keeps, game by game and step by step. Raises BadData for a damaged file,
    MissingExtra.
    """
    from safetensors import safe_open

    for path in sorted(Path(folder).glob("*/*.safetensors")):
        with Reading(path, "delete it"), safe_open(path, "numpy") as kept:
            facts = kept.metadata() or {}
            asked: dict[str, Any] = {name: facts[name] for name in _TEXTS}
            asked |= {name: int(facts[name]) for name in _NUMBERS}
            layers = tuple(map(int, json.loads(facts["layers"])))
            tokens, states = kept.get_tensor("tokens"), kept.get_tensor("states")
            shaped = states.ndim == 3 and states.shape[:2] == (len(tokens), len(layers))
            if states.dtype != np.float16 or not shaped or not 0 <= asked["answer"] < len(tokens):
                raise BadData(f"{path} does not hold what its metadata says; delete it")
        yield KeptStates(**asked, layers=layers, tokens=tokens, states=states)


def _safe(name: str) -> str:
    """A name as that of a file."""
    return quote(name, safe="").replace(".", "%2E")


class LocalPlayer:
    """A model in this process. One object answers for every game and seat of its spec."""

    source = Source.MODEL

    def __init__(self, spec: LocalSpec, persona: NamedText | None, prompts: Prompts, context: PlayerContext) -> None:
        named = [] if persona is None else [f"persona={persona.label}"]
        self.model = joined(spec.model, [*named, *spec.shown])
        self._spec, self._persona, self._prompts = spec, persona, prompts
        self._context = context
        self._budget = context.shared.once(Budget, lambda: Budget(context))
        self._engine = ModelEngine.of(spec, context)
        self._temperature = PROMPTS[context.game].temperature

    def __repr__(self) -> str:
        return f"LocalPlayer({self.model!r})"

    async def prepare(self) -> None:
        """Load the model. Raises UsageError if there is no such model, device or layer, BadData if the model is more
        than data, MissingExtra.
        """
        layers = (await self._engine.ready()).writer.loaded.layers
        if wrong := [layer for layer in self._spec.options.states if not 1 <= layer <= layers]:
            raise UsageError(f"{self._spec.name} has the layers 1 to {layers}; states cannot name {wrong[0]}")

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Raises PlayerFailed if this ask cannot be answered, RunPaused if the run has to stop for now."""
        batcher = await self._engine.ready()
        loaded, messages = batcher.writer.loaded, self._messages(ask, view)
        row = self._row(loaded, ask, messages)
        self._budget.check()
        activity, began = self._context.activity.at(self._spec.host), time.perf_counter()
        activity.under_way += 1
        try:
            written = await batcher.write(row)
        finally:
            activity.under_way -= 1
        latency = (time.perf_counter() - began) * 1000
        completion = Completion(
            content=storable(reply_text(loaded, written.ids)),
            finish="stop" if written.ended else "length",
            usage=TokenUsage(len(row.ids), written.reused, len(written.ids) + written.ended),
            served_model=self._spec.name,
        )
        self._budget.spend(completion.usage, None, (0, 0))
        self._context.log(self._attempt(ask, self._request(messages, row), completion, latency))
        if written.states is not None:
            options, answer = self._spec.options, answer_at(loaded, written.ids)
            keep_states(Path(options.states_to), ask, options.states, written.ids, written.states, answer)
        return reply_of(ask, completion)

    async def close(self) -> None:
        self._engine.close()

    def _messages(self, ask: Ask, view: Sequence[Event]) -> list[dict[str, str]]:
        prompt = {"role": "user", "content": self._prompts.render(ask, view).text}
        return (
            [prompt]
            if self._persona is None
            else [{"role": "system", "content": self._persona.filled(ask, view)}, prompt]
        )

    def _row(self, loaded: Loaded, ask: Ask, messages: Sequence[Mapping[str, str]]) -> PromptRow:
        options = self._spec.options
        ids = prompt_ids(loaded, messages, options)
        most = min(self._spec.most_tokens(ask.kind, thinks(loaded, options)), loaded.context - len(ids))
        if most < 1:
            raise PlayerFailed(f"the prompt has {len(ids):,} tokens, and the model takes {loaded.context:,} at most")
        asked = {"temperature": self._temperature, "top_k": options.top_k}
        given: dict[str, Any] = {**asked, **self._spec.seat.at(ask.kind), "max_tokens": None}
        key = random_key(options.seed, self._context.draw(ask.game), ask.step, ask.seat)
        sampling = replace(loaded.advised, key=key, **{n: value for n, value in given.items() if value is not None})
        return PromptRow((ask.game, ask.seat), ids, most, sampling, options.states)

    def _request(self, messages: Sequence[Mapping[str, str]], row: PromptRow) -> dict[str, Any]:
        """What was asked of the model, for the journal."""
        drawn = {name: getattr(row.sampling, name) for name in ("temperature", "top_p", "top_k")}
        options = self._spec.options
        given = options.model_dump(exclude_unset=True, include={"revision", "lora", "think", "reasoning_effort"})
        fields = {**given, **drawn, "seed": options.seed, "max_tokens": row.most}
        return {"model": self._spec.name, "messages": list(messages), **fields}

    def _attempt(self, ask: Ask, request: Mapping[str, Any], completion: Completion, latency: float) -> Attempt:
        return Attempt(
            game=ask.game,
            step=ask.step,
            seat=ask.seat,
            attempt=1,
            raw=completion.content,
            problem=completion.problem,
            prompt_tokens=completion.usage.prompt,
            cached_tokens=completion.usage.cached,
            completion_tokens=completion.usage.completion,
            latency_ms=latency,
            request=request,
            served_model=completion.served_model,
            host=self._spec.host,
        )


def open_local(argument: str, context: PlayerContext) -> LocalPlayer:
    """The player of a spec string without its "local:"; `prepare` loads its model.

    Raises UsageError for a spec that cannot be parsed or templates that do not work, BadData for a persona that cannot
    be read.
    """
    spec = read_spec(argument)
    prompts = load_prompts(context.prompts, context.game)
    name = spec.seat.persona
    persona = NamedText(name, file_text(name, context.files)) if name else None
    return LocalPlayer(spec, persona, prompts, context)
