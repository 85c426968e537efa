"""A causal language model from a folder or the Hub: safetensors alone, none of its code."""

from __future__ import annotations

import json
import warnings
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from liescope.common.errors import BadData, MissingExtra, PlayerFailed, UsageError
from liescope.common.reading import Reading, check_folder
from liescope.common.sentence_encoder import transformer_folder
from liescope.common.settings import OptionsModel
from liescope.games.core import ASSESSMENTS, FORMS, AskKind
from liescope.generate.players.parsing.choice import split_reasoning
from liescope.generate.players.player_registry import SeatOptions, read_options

_SPEECH = frozenset({AskKind.SPEAK, AskKind.EXPLAINED_VOTE})
_TOKENS_OF_A_CHOICE, _TOKENS_OF_A_SPEECH, _TOKENS_OF_A_FORM = 96, 256, 1024
_TOKENS_OF_THOUGHT = 2048
_SHOWN = ("lora", "think", "reasoning_effort", "top_k", "seed")  # in tables, beside the options of every seat


def _listed(given: object) -> object:
    return given.split(",") if isinstance(given, str) else given


Layers = Annotated[tuple[int, ...], BeforeValidator(_listed)]


class LocalOptions(OptionsModel):
    """The options of a spec string that only local players have."""

    revision: str = Field(default="", description="the version of a model from the Hub: a branch, tag or commit")
    device: str = Field(default="auto", pattern=r"^(auto|cpu|mps|cuda(:\d{1,3})?)$", description="where it runs")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="auto", description="auto is float32 on a CPU, and elsewhere what the weights were saved in"
    )
    attention: Literal["auto", "eager", "sdpa", "flash_attention_2", "flex_attention"] = Field(
        default="auto", description="how attention is computed"
    )
    compile: bool = Field(default=False, description="compile the model with torch.compile")
    lora: str = Field(default="", description="the folder of a LoRA adapter, merged into the weights")
    top_k: int | None = Field(default=None, ge=0, description="keep this many of the likeliest tokens; 0 keeps all")
    seed: int = Field(default=0, ge=0, le=2**63, description="of what is drawn, beside the run's own seed")
    think: bool | None = Field(default=None, description="whether it reasons first, if its chat template lets one say")
    reasoning_effort: Literal["", "low", "medium", "high"] = Field(
        default="", description="how much it reasons, if its chat template lets one say"
    )
    batch: int | None = Field(default=None, ge=1, description="most asks of one batch (CPU 16, elsewhere 64)")
    batch_tokens: int | None = Field(default=None, ge=1, description="most tokens of one batch (CPU 16384, else 65536)")
    prefixes: float | None = Field(
        default=None, ge=0, description="GiB for prompts already read (CPU 1, else a quarter of what is free); 0 is off"
    )
    states: Layers = Field(default=(), description="layers whose hidden states are kept, such as 12,20")
    states_to: str = Field(default="", description="the folder for them")


@dataclass(frozen=True, slots=True)
class LocalSpec:
    """A parsed spec string. name: a folder or Hub id; seat: how it is asked; its temperature and top_p left out are
    those that the model's makers advise (generation_config.json), like top_k.
    """

    name: str
    options: LocalOptions = field(default_factory=LocalOptions)
    seat: SeatOptions = field(default_factory=SeatOptions)

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
        given = {name: getattr(self.options, name) for name in _SHOWN if name in self.options.model_fields_set}
        own = [f"{name}={Path(value).name if name == 'lora' else value}" for name, value in given.items()]
        return [*own, *self.seat.shown]

    def most_tokens(self, kind: AskKind, thinks: bool) -> int:
        """Tokens of a reply at most. thinks: whether reasoning may come first."""
        if most := self.seat.at(kind).get("max_tokens"):
            return int(most)
        if kind in ASSESSMENTS | FORMS:
            most = _TOKENS_OF_A_FORM
        else:
            most = _TOKENS_OF_A_SPEECH if kind in _SPEECH else _TOKENS_OF_A_CHOICE
        return most + _TOKENS_OF_THOUGHT * thinks


def read_spec(argument: str) -> LocalSpec:
    """Read `PATH_OR_HUB_ID[?option=value&…]`. Raises UsageError, UnknownName."""
    name, _, query = argument.partition("?")
    if not name:
        raise UsageError("a local player needs a model, a folder or a Hub id, as in local:models/llama")
    seat, own = read_options(query, tuple(LocalOptions.model_fields))
    options = LocalOptions.of("a local player", own)
    if bool(options.states) != bool(options.states_to):
        raise UsageError("states (layers) and states_to (a folder) go together; give both or neither")
    return LocalSpec(name.rstrip("/") or name, options, seat)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the tokens of one reply are drawn. temperature 0 takes the likeliest; top_k 0 and top_p 1 leave none out;
    key: of its random numbers, from `random_key`.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    key: tuple[int, int] = (0, 0)


_CHOICES = "give the Hub id of a causal language model that you can reach, or its folder"
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<turn|>", "<|end|>", "<|return|>", "<|user|>")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model and its tokenizer, ready to write. ends: the tokens that end a reply; pad: the token for empty places;
    context: tokens of prompt and reply together at most; compiled: by torch.compile; advised: how its makers draw.
    """

    tokenizer: Any
    model: Any
    ends: tuple[int, ...]
    pad: int
    context: int
    compiled: bool
    advised: Sampling

    @property
    def layers(self) -> int:
        return int(self.model.config.get_text_config().num_hidden_layers)


def load(spec: LocalSpec) -> Loaded:
    """The model of a spec. Raises UsageError if there is no such model or device, BadData if it is more than data or
    cannot be read, MissingExtra.
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtra((error.name or "transformers").partition(".")[0], "train") from error
    options = spec.options
    device = _device(options.device)
    folder = transformer_folder(spec.name, "language model", _CHOICES, options.revision)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    shared = {"trust_remote_code": False, "local_files_only": True}
    attention = {} if options.attention == "auto" else {"attn_implementation": options.attention}
    with Reading(f"the language model {str(folder)!r}", _CHOICES):
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **shared)
        model, news = AutoModelForCausalLM.from_pretrained(
            str(folder),
            use_safetensors=True,
            output_loading_info=True,
            dtype=_dtype(options, device),
            **attention,
            **shared,
        )
        if news["missing_keys"]:
            raise ValueError(f"the weights {', '.join(sorted(news['missing_keys']))[:100]} are missing")
    if options.lora:
        model = _with_adapter(model, Path(options.lora))
    model = model.eval().requires_grad_(False).to(device)
    advised = model.generation_config
    ends = _ends(tokenizer, advised)
    model.generation_config = GenerationConfig()
    if options.compile:
        model.compile(dynamic=True)
    own = model.config.get_text_config()
    return Loaded(
        tokenizer,
        model,
        ends,
        pad=next((at for at in (tokenizer.pad_token_id, *ends) if at is not None), 0),
        context=int(getattr(own, "max_position_embeddings", None) or 2**20),
        compiled=options.compile,
        advised=_advised(advised),
    )


def sees_all(model: Any) -> bool:
    """Whether each of its layers attends to every token before, so that its cache is their keys and values."""
    from transformers.cache_utils import DynamicCache, DynamicLayer

    layers = DynamicCache(config=model.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


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


def _advised(makers: Any) -> Sampling:
    """How the model's makers draw, by its generation_config.json. Their penalties for repeating are left out: they
    would count the tokens of the prompt.
    """
    given = {name: getattr(makers, name) for name in ("temperature", "top_p", "top_k")} if makers.do_sample else {}
    return Sampling(**{name: value for name, value in given.items() if value is not None})


def _ends(tokenizer: Any, advised: Any) -> tuple[int, ...]:
    """The tokens that end a reply: those that the model's makers name, and the ends of a chat's turn that it knows."""
    named = advised.eos_token_id
    known = tokenizer.get_added_vocab()
    ends = [*(named if isinstance(named, list) else [named]), tokenizer.eos_token_id]
    ends += [known[sign] for sign in _TURN_ENDS if sign in known]
    return tuple(dict.fromkeys(end for end in ends if end is not None))


def _with_adapter(model: Any, folder: Path) -> Any:
    """The model with a LoRA adapter merged into its weights."""
    try:
        from peft import PeftModel
    except ImportError as error:
        raise MissingExtra("peft", "lora") from error
    if not (folder / "adapter_model.safetensors").is_file():
        raise UsageError(f"{folder} holds no LoRA adapter in safetensors (adapter_model.safetensors); name its folder")
    with Reading(f"the adapter {str(folder)!r}", "give the folder of a LoRA adapter of this model"):
        check_folder(folder)
        settings = json.loads((folder / "adapter_config.json").read_bytes())
        if settings.get("peft_type") != "LORA":
            raise BadData(f"{folder} is an adapter of another kind ({settings.get('peft_type')}); give a LoRA adapter")
        with warnings.catch_warnings(action="ignore"):  # what a library says to the makers of another
            return PeftModel.from_pretrained(model, str(folder)).merge_and_unload()


_THINKING = ("<think>", "enable_thinking", "<|channel|>", "reasoning_effort")  # in templates of models that reason


def prompt_ids(loaded: Loaded, messages: Sequence[Mapping[str, str]], options: LocalOptions) -> NDArray[np.int64]:
    """The tokens of a prompt. Raises PlayerFailed if the template does not take these messages."""
    tokenizer = loaded.tokenizer
    if not tokenizer.chat_template:
        text = "\n\n".join(message["content"] for message in messages)
        return np.array(tokenizer(text)["input_ids"], dtype=np.int64)
    try:
        text = tokenizer.apply_chat_template(
            list(map(dict, messages)), tokenize=False, add_generation_prompt=True, **_switches(options)
        )
    except Exception as error:
        raise PlayerFailed(f"the model's chat template fails: {' '.join(str(error).split())[:200]}") from error
    return np.array(tokenizer(text, add_special_tokens=False)["input_ids"], dtype=np.int64)


def thinks(loaded: Loaded, options: LocalOptions) -> bool:
    """Whether replies may begin with reasoning."""
    if options.think is not None:
        return options.think
    return any(sign in str(loaded.tokenizer.chat_template or "") for sign in _THINKING)


def reply_text(loaded: Loaded, ids: NDArray[np.int64]) -> str:
    """The text of a reply, with the signs that set reasoning apart."""
    found: str = loaded.tokenizer.decode(ids.tolist(), skip_special_tokens=False)
    return found


def answer_at(loaded: Loaded, ids: NDArray[np.int64]) -> int:
    """The place of the first token after the reasoning that a reply begins with, `len(ids)` if nothing follows it."""
    text = reply_text(loaded, ids)
    split = split_reasoning(text)
    start = text.rfind(split.answer) if split.answer else len(text) * bool(split.reasoning)
    return (
        bisect_right(range(len(ids)), start, key=lambda end: len(reply_text(loaded, ids[: end + 1])))
        if start > 0
        else 0
    )


def _switches(options: LocalOptions) -> dict[str, Any]:
    """What is said to the template, under the names that makers of models use."""
    think = {} if options.think is None else {"enable_thinking": options.think, "thinking": options.think}
    return think | ({"reasoning_effort": options.reasoning_effort} if options.reasoning_effort else {})


_GIB = 2**30
_OF_FREE = 0.25


def bytes_for_prefixes(options: LocalOptions, device: Any) -> int:
    """How much of the memory may hold prompts that were already read."""
    import torch

    if options.prefixes is not None:
        return int(options.prefixes * _GIB)
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0] * _OF_FREE)
    return _GIB
