"""Players that are a language model in this process, and the hidden states of their replies.

    local:models/llama                                  a folder in Hugging Face format, safetensors
    local:Qwen/Qwen3-0.6B?think=false&temperature=0.7   a model from the Hub

The asks of all games that run at once are written in batches (`batching`, `writing`); a reply depends on the seed, the
ask and its prompt, not on the batch. Options: `SeatOptions` and `loading.LocalOptions`.

States are kept in a folder for probes: one safetensors file for each reply, in a folder for each game, with `states`
(tokens, layers, width) in float16, `tokens` (their ids), and as metadata what was asked of whom and where the answer
begins, after any reasoning. A statement of a corpus and the states at its words have game_id, speaker, day, phase and
round in common.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import BadData, PlayerFailed, UsageError
from liescope.common.reading import Reading
from liescope.games.core import Ask, Event, Reply
from liescope.games.record import Source
from liescope.games.registry import PROMPTS
from liescope.generate.players.local.batching import ModelEngine
from liescope.generate.players.local.loading import (
    Loaded,
    LocalSpec,
    answer_at,
    prompt_ids,
    read_spec,
    reply_text,
    thinks,
)
from liescope.generate.players.local.writing import PromptRow, random_key
from liescope.generate.players.openai.accounts import Budget
from liescope.generate.players.openai.completion import Completion, TokenUsage, reply_of
from liescope.generate.players.parsing.choice import storable
from liescope.generate.players.player_protocol import Attempt, PlayerContext
from liescope.generate.players.player_registry import NamedText, file_text, joined
from liescope.generate.players.prompts import Prompts, load_prompts

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
