"""A causal language model from a folder or the Hub (safetensors alone, none of its code), and how it writes.

One batch of prompts in, one reply for each out: a single `generate` call, padded on the left. A token is drawn by one
number between 0 and 1 that depends only on the seed, the ask and the place in the reply: it picks the token at which
the cumulative probability, likeliest first, reaches it. So a reply does not depend on the rest of its batch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import MissingExtra, PlayerFailed, UsageError
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import check_name, read_transformer, transformer_folder
from liescope.games.core import ASSESSMENTS, FORMS, SPEECH, AskKind
from liescope.generate.players.kept_states import StatesOptions
from liescope.generate.players.parsing.choice import split_reasoning

_TOKENS_OF_A_CHOICE, _TOKENS_OF_A_SPEECH, _TOKENS_OF_A_FORM, _TOKENS_OF_THOUGHT = 96, 256, 1024, 2048
_SHOWN = ("think", "reasoning_effort", "top_k", "seed")  # shown in tables, beside the options of every seat
CHOICES = "give the Hub id of a causal language model that you can reach, or its folder"
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<turn|>", "<|end|>", "<|return|>", "<|user|>")
_THINKING = ("<think>", "enable_thinking", "<|channel|>", "reasoning_effort")  # in templates of models that reason


class LocalOptions(StatesOptions):
    """The options of a spec string that only local players have."""

    revision: str = Field(default="", description="the version of a model from the Hub: a branch, tag or commit")
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d{1,3})?)$", description="where it runs")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="auto", description="auto is float32 on a CPU, and elsewhere what the weights were saved in"
    )
    top_k: int | None = Field(default=None, ge=0, description="keep this many of the likeliest tokens; 0 keeps all")
    seed: int = Field(default=0, ge=0, le=2**63, description="seed of the tokens that are drawn, beside the run's own")
    think: bool | None = Field(default=None, description="whether it reasons first, if its chat template lets one say")
    reasoning_effort: Literal["", "low", "medium", "high"] = Field(
        default="", description="how much it reasons, if its chat template lets one say"
    )
    batch: int | None = Field(default=None, ge=1, description="most asks of one batch (CPU 16, elsewhere 64)")


@dataclass(frozen=True, slots=True)
class LocalSpec:
    """A parsed spec string. name: a folder or Hub id; options: temperature, top_p and top_k left out are those that the
    model's makers advise (generation_config.json).
    """

    name: str
    options: LocalOptions = field(default_factory=LocalOptions)

    @property
    def model(self) -> str:
        """The model's own name: the Hub id, or the last part of the folder."""
        return Path(self.name).resolve().name if Path(self.name).is_dir() else self.name

    @property
    def host(self) -> str:
        """What other players call the host: here, the model itself."""
        return f"local:{self.model.rpartition('/')[2]}"

    @property
    def shown(self) -> list[str]:
        """The part of it that belongs to the name in tables: every setting that changes the answers."""
        given = [name for name in _SHOWN if name in self.options.model_fields_set]
        return [*(f"{name}={getattr(self.options, name)}" for name in given), *self.options.shown]

    def most_tokens(self, kind: AskKind, thinks: bool) -> int:
        """Tokens of a reply at most. thinks: whether reasoning may come first."""
        if most := self.options.at(kind).get("max_tokens"):
            return int(most)
        form = kind in ASSESSMENTS | FORMS
        text = kind in SPEECH | {AskKind.SUMMARY}
        most = _TOKENS_OF_A_FORM if form else _TOKENS_OF_A_SPEECH if text else _TOKENS_OF_A_CHOICE
        return most + _TOKENS_OF_THOUGHT * thinks


def read_spec(argument: str) -> LocalSpec:
    """Read `PATH_OR_HUB_ID[?option=value&…]`. Raises UsageError, UnknownName."""
    name, _, query = argument.partition("?")
    if not name:
        raise UsageError("a local player needs a model, a folder or a Hub id, as in local:models/llama")
    options = LocalOptions.read(query, f"local:{name}")
    return LocalSpec(name.rstrip("/") or name, options)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the tokens of one reply are drawn. temperature 0 takes the likeliest; top_k 0 and top_p 1 leave none out;
    key: for its random numbers, from `random_key`.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    key: int = 0


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model and its tokenizer, ready to write. ends: the tokens that end a reply; pad: the token for empty places;
    context: tokens of prompt and reply together at most; advised: the makers' sampling settings, but for repetition
    penalties, which would count the prompt's tokens.
    """

    tokenizer: Any
    model: Any
    ends: tuple[int, ...]
    pad: int
    context: int
    advised: Sampling

    @property
    def layers(self) -> int:
        return int(self.model.config.get_text_config().num_hidden_layers)

    def prompt_ids(self, messages: Sequence[Mapping[str, str]], options: LocalOptions) -> NDArray[np.int64]:
        """The tokens of a prompt. Raises PlayerFailed if the template does not take these messages."""
        if not self.tokenizer.chat_template:
            text = "\n\n".join(message["content"] for message in messages)
            return np.array(self.tokenizer(text)["input_ids"], dtype=np.int64)
        think, effort = options.think, options.reasoning_effort
        given: dict[str, Any] = {} if think is None else {"enable_thinking": think, "thinking": think}
        given |= {"reasoning_effort": effort} if effort else {}
        chat = list(map(dict, messages))
        try:
            text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, **given)
        except Exception as error:
            raise PlayerFailed(f"the model's chat template fails: {' '.join(str(error).split())[:200]}") from error
        return np.array(self.tokenizer(text, add_special_tokens=False)["input_ids"], dtype=np.int64)

    def thinks(self, options: LocalOptions) -> bool:
        """Whether replies may begin with reasoning."""
        if options.think is not None:
            return options.think
        return any(sign in str(self.tokenizer.chat_template or "") for sign in _THINKING)

    def text(self, ids: NDArray[np.int64]) -> str:
        """The text of a reply, with the markers that set reasoning apart."""
        return str(self.tokenizer.decode(ids.tolist(), skip_special_tokens=False))

    def answer_at(self, ids: NDArray[np.int64]) -> int:
        """The index of the first token after a leading block of reasoning, `len(ids)` if nothing follows."""
        text = self.text(ids)
        split = split_reasoning(text)
        start = text.rfind(split.answer) if split.answer else len(text) * bool(split.reasoning)
        if start <= 0:
            return 0
        return bisect_right(range(len(ids)), start, key=lambda end: len(self.text(ids[: end + 1])))


def check_model(spec: LocalSpec) -> None:
    """Raises UsageError or BadData at once for a spec whose folder holds no model that can be loaded."""
    check_name(spec.name, "language model", CHOICES)


def load(spec: LocalSpec) -> Loaded:
    """The model of a spec. Raises UsageError if there is no such model or device, BadData if it is more than data or
    cannot be read, MissingExtra.
    """
    try:
        from transformers import GenerationConfig
    except ImportError as error:
        raise MissingExtra((error.name or "transformers").partition(".")[0], "train") from error
    device = _device(spec.options.device)
    dtype = _dtype(spec.options, device)
    folder = transformer_folder(spec.name, "language model", CHOICES, spec.options.revision)
    with Reading(f"the language model {str(folder)!r}", CHOICES):
        tokenizer, model, _ = read_transformer("AutoModelForCausalLM", folder, dtype=dtype)
    model = model.eval().requires_grad_(False).to(device)
    makers, model.generation_config = model.generation_config, GenerationConfig()
    known, named = tokenizer.get_added_vocab(), makers.eos_token_id
    ends = [*(named if isinstance(named, list) else [named]), tokenizer.eos_token_id, *map(known.get, _TURN_ENDS)]
    ends = list(dict.fromkeys(end for end in ends if end is not None))
    advised = {name: getattr(makers, name) for name in ("temperature", "top_p", "top_k")} if makers.do_sample else {}
    return Loaded(
        tokenizer,
        model,
        tuple(ends),
        pad=next((at for at in (tokenizer.pad_token_id, *ends) if at is not None), 0),
        context=int(getattr(model.config.get_text_config(), "max_position_embeddings", None) or 2**20),
        advised=Sampling(**{name: value for name, value in advised.items() if value is not None}),
    )


def _device(name: str) -> Any:
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    device = torch.device(name)
    here = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}[device.type]
    if (device.index or 0) >= here:
        raise UsageError(f"this machine has no device {name}; leave device out, or name one that it has")
    return device


def _dtype(options: LocalOptions, device: Any) -> Any:
    import torch

    if options.dtype == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    return getattr(torch, options.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class PromptRow:
    """One ask. ids: the prompt's tokens; most: tokens of the reply; layers: whose hidden states are wanted."""

    ids: NDArray[np.int64]
    most: int
    sampling: Sampling
    layers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """A reply. ids: its tokens without the one that ends it; ended: False if it was cut off; states: (tokens, layers,
    width) float16 hidden states at its tokens.
    """

    ids: NDArray[np.int64]
    ended: bool
    states: NDArray[np.float16] | None = None


def random_key(seed: int, game: str, step: int, seat: str) -> int:
    """The key of an ask's random numbers, 64 bits."""
    return int.from_bytes(sha256("\0".join((f"{seed}", game, f"{step}", seat)).encode("utf-8", "replace")).digest()[:8])


class Draw:
    """Draws the next token of every row; a logits processor for `generate` without sampling. width: of the prompts;
    most: tokens of a reply.
    """

    def __init__(self, rows: Sequence[Sampling], width: int, most: int, device: Any) -> None:
        import torch

        def column(values: Sequence[float]) -> Any:
            return torch.tensor([[value] for value in values], device=device)

        self._width = width
        luck = np.array([np.random.default_rng(row.key).random(most) for row in rows])
        self._luck = torch.tensor(luck, device=device, dtype=torch.float32)
        self._temperature = column([row.temperature or 1.0 for row in rows])
        self._top_p = column([row.top_p for row in rows])
        self._top_k = column([1 if row.temperature == 0 else row.top_k or np.inf for row in rows])

    def __call__(self, ids: Any, scores: Any) -> Any:
        """(rows, vocabulary) scores that leave only the drawn token of each row."""
        import torch

        chances, tokens = (scores.float() / self._temperature).softmax(1).sort(dim=1, descending=True, stable=True)
        rank = torch.arange(chances.shape[1], device=chances.device)
        left_out = (rank >= self._top_k) | (chances.cumsum(1) - chances >= self._top_p)
        reached = chances.masked_fill(left_out, 0.0).cumsum(1)
        place = ids.shape[1] - self._width
        cut = self._luck[:, place : place + 1] * reached[:, -1:]
        drawn = tokens.gather(1, (reached <= cut).sum(1, keepdim=True))
        return torch.full_like(scores, -torch.inf).scatter_(1, drawn, 0.0)


def write(loaded: Loaded, rows: Sequence[PromptRow]) -> list[Generated]:
    """The replies of one batch. Raises torch.OutOfMemoryError, and whatever else the model raises."""
    import torch
    from transformers import GenerationConfig

    model, most = loaded.model, max(row.most for row in rows)
    ids, mask = _padded(loaded, [row.ids for row in rows])
    width = ids.shape[1]
    limits = torch.tensor([row.most for row in rows], device=model.device)
    ends = list(loaded.ends) or None
    with torch.inference_mode():
        written = model.generate(
            ids,
            attention_mask=mask,
            generation_config=GenerationConfig(
                max_new_tokens=most, do_sample=False, eos_token_id=ends, pad_token_id=loaded.pad
            ),
            logits_processor=[Draw([row.sampling for row in rows], width, most, model.device)],
            stopping_criteria=[lambda ids, _scores, **_: ids.shape[1] - width >= limits],
        )
        replies = written[:, width:].cpu().numpy()
        return [_written(loaded, row, tokens[: row.most]) for row, tokens in zip(rows, replies, strict=True)]


def following(loaded: Loaded, prompts: Sequence[NDArray[np.int64]]) -> Any:
    """(prompts, vocabulary) float32 logits of the token after each prompt, a tensor. Raises as `write`."""
    import torch
    from transformers import GenerationConfig

    ids, mask = _padded(loaded, prompts)
    wanted = GenerationConfig(
        max_new_tokens=1, do_sample=False, output_logits=True, return_dict_in_generate=True, pad_token_id=loaded.pad
    )
    with torch.inference_mode():
        return loaded.model.generate(ids, attention_mask=mask, generation_config=wanted).logits[0].float()


def _padded(loaded: Loaded, prompts: Sequence[NDArray[np.int64]]) -> tuple[Any, Any]:
    """(ids, mask): (prompts, longest), on the model's device; padding stands on the left."""
    import torch

    width = max(map(len, prompts))
    ids = np.full((len(prompts), width), loaded.pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    for at, prompt in enumerate(prompts):
        ids[at, width - len(prompt) :] = prompt
        mask[at, width - len(prompt) :] = 1
    device = loaded.model.device
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def _written(loaded: Loaded, row: PromptRow, tokens: NDArray[np.int64]) -> Generated:
    """The reply in the tokens written, up to the one that ends it; the states wanted of it take one more pass."""
    import torch

    ends = np.flatnonzero(np.isin(tokens, loaded.ends))
    reply = tokens[: ends[0]] if len(ends) else tokens
    if not row.layers:
        return Generated(reply, bool(len(ends)))
    model, limit = loaded.model, torch.finfo(torch.float16).max
    ids = torch.from_numpy(np.concatenate([row.ids, reply]))[None].to(model.device)
    hidden = model.base_model(input_ids=ids, output_hidden_states=True, use_cache=False).hidden_states
    kept = torch.stack([hidden[layer][0, len(row.ids) :].float().cpu() for layer in row.layers], dim=1)
    return Generated(reply, bool(len(ends)), kept.clamp(-limit, limit).half().numpy())
