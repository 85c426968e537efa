"""A causal language model from a folder or the Hub (safetensors alone, none of its code), and its chat template."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from liescope.common.errors import MissingExtra, PlayerFailed, UsageError
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import read_transformer, transformer_folder
from liescope.games.core import ASSESSMENTS, FORMS, AskKind
from liescope.generate.players.parsing.choice import split_reasoning
from liescope.generate.players.player_registry import SeatOptions

_SPEECH = frozenset({AskKind.SPEAK, AskKind.EXPLAINED_VOTE})
_TOKENS_OF_A_CHOICE, _TOKENS_OF_A_SPEECH, _TOKENS_OF_A_FORM, _TOKENS_OF_THOUGHT = 96, 256, 1024, 2048
_SHOWN = ("think", "reasoning_effort", "top_k", "seed")  # in tables, beside the options of every seat
_CHOICES = "give the Hub id of a causal language model that you can reach, or its folder"
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<turn|>", "<|end|>", "<|return|>", "<|user|>")
_THINKING = ("<think>", "enable_thinking", "<|channel|>", "reasoning_effort")  # in templates of models that reason


def _listed(given: object) -> object:
    return given.split(",") if isinstance(given, str) else given


class LocalOptions(SeatOptions):
    """The options of a spec string that only local players have."""

    revision: str = Field(default="", description="the version of a model from the Hub: a branch, tag or commit")
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d{1,3})?)$", description="where it runs")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="auto", description="auto is float32 on a CPU, and elsewhere what the weights were saved in"
    )
    top_k: int | None = Field(default=None, ge=0, description="keep this many of the likeliest tokens; 0 keeps all")
    seed: int = Field(default=0, ge=0, le=2**63, description="of what is drawn, beside the run's own seed")
    think: bool | None = Field(default=None, description="whether it reasons first, if its chat template lets one say")
    reasoning_effort: Literal["", "low", "medium", "high"] = Field(
        default="", description="how much it reasons, if its chat template lets one say"
    )
    batch: int | None = Field(default=None, ge=1, description="most asks of one batch (CPU 16, elsewhere 64)")
    states: Annotated[tuple[int, ...], BeforeValidator(_listed)] = Field(
        default=(), description="layers whose hidden states are kept, such as 12,20"
    )
    states_to: str = Field(default="", description="the folder for them")


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
        """What stands for the model where other players have a host."""
        return f"local:{self.model.rpartition('/')[2]}"

    @property
    def shown(self) -> list[str]:
        """What of it belongs to the name in tables: whatever was set that changes the answers."""
        given = [name for name in _SHOWN if name in self.options.model_fields_set]
        return [*(f"{name}={getattr(self.options, name)}" for name in given), *self.options.shown]

    def most_tokens(self, kind: AskKind, thinks: bool) -> int:
        """Tokens of a reply at most. thinks: whether reasoning may come first."""
        if most := self.options.at(kind).get("max_tokens"):
            return int(most)
        form = kind in ASSESSMENTS | FORMS
        most = _TOKENS_OF_A_FORM if form else _TOKENS_OF_A_SPEECH if kind in _SPEECH else _TOKENS_OF_A_CHOICE
        return most + _TOKENS_OF_THOUGHT * thinks


def read_spec(argument: str) -> LocalSpec:
    """Read `PATH_OR_HUB_ID[?option=value&…]`. Raises UsageError, UnknownName."""
    name, _, query = argument.partition("?")
    if not name:
        raise UsageError("a local player needs a model, a folder or a Hub id, as in local:models/llama")
    options = LocalOptions.read(query, f"local:{name}")
    if bool(options.states) != bool(options.states_to):
        raise UsageError("states (layers) and states_to (a folder) go together; give both or neither")
    return LocalSpec(name.rstrip("/") or name, options)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the tokens of one reply are drawn. temperature 0 takes the likeliest; top_k 0 and top_p 1 leave none out;
    key: of its random numbers, from `random_key`.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    key: int = 0


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model and its tokenizer, ready to write. ends: the tokens that end a reply; pad: the token for empty places;
    context: tokens of prompt and reply together at most; advised: how its makers draw, without their penalties for
    repeating, which would count the tokens of the prompt.
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
        """The text of a reply, with the signs that set reasoning apart."""
        return str(self.tokenizer.decode(ids.tolist(), skip_special_tokens=False))

    def answer_at(self, ids: NDArray[np.int64]) -> int:
        """The place of the first token after the reasoning that a reply begins with, `len(ids)` if nothing follows."""
        text = self.text(ids)
        split = split_reasoning(text)
        start = text.rfind(split.answer) if split.answer else len(text) * bool(split.reasoning)
        if start <= 0:
            return 0
        return bisect_right(range(len(ids)), start, key=lambda end: len(self.text(ids[: end + 1])))


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
    folder = transformer_folder(spec.name, "language model", _CHOICES, spec.options.revision)
    with Reading(f"the language model {str(folder)!r}", _CHOICES):
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
