"""What a local player's spec string says: which model, where it runs and how it writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from liescope.common.errors import UsageError
from liescope.common.model_options import OptionsModel
from liescope.games.core import ASSESSMENTS, FORMS, AskKind
from liescope.generate.players.registry import SeatOptions, read_options

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
