"""The encoder itself: read from a folder, with a new head, with or without LoRA, on the device there is; and its
options.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from liescope.common.errors import MissingExtra, UsageError
from liescope.detectors.protocol import DetectorOptions


def read_body(
    folder: Path, classes: Sequence[str] | None = None, attention: str = ""
) -> tuple[Any, Any, frozenset[str]]:
    """(tokenizer, classifier, its modules that are new) from a folder that was checked. classes: the names of its
    outputs, for a new head; None for one that was saved, of which no weight may be missing (ValueError). attention: the
    implementation, "" for the usual one; ValueError or ImportError for one that it does not have.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    shared = {"trust_remote_code": False, "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(str(folder), **shared)
    settings: dict[str, Any] = {"attn_implementation": attention} if attention else {}
    if classes is not None:
        settings |= {"id2label": dict(enumerate(classes)), "label2id": {name: at for at, name in enumerate(classes)}}
    model, news = AutoModelForSequenceClassification.from_pretrained(
        str(folder), use_safetensors=True, dtype=torch.float32, output_loading_info=True, **shared, **settings
    )
    missing = news["missing_keys"]
    if classes is None and missing:
        raise ValueError(f"the weights {', '.join(sorted(missing))[:100]} are missing")
    return tokenizer, model, frozenset(key.rpartition(".")[0] for key in missing)


def limit(tokenizer: Any, model: Any, wanted: int) -> int:
    """The tokens that a text may have: as wanted, or as few as the model or its tokenizer takes."""
    positions = getattr(model.config, "max_position_embeddings", None) or wanted
    return min(wanted, int(positions), int(tokenizer.model_max_length))


def with_lora(model: Any, rank: int, new: frozenset[str]) -> Any:
    """The model with low-rank updates beside every linear layer, which alone are learned, and its new modules whole
    (Hu and others 2022). Raises MissingExtra.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise MissingExtra("peft", "lora") from error
    config = LoraConfig(
        r=rank, lora_alpha=2 * rank, target_modules="all-linear", modules_to_save=sorted(new), task_type="SEQ_CLS"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft reads a name that transformers gave up
        return get_peft_model(model, config)


def recompute_activations(model: Any) -> None:
    """Keep no activations for the way back, but compute them again. Raises UsageError for a model that cannot."""
    if not model.supports_gradient_checkpointing:
        raise UsageError(f"a {model.config.model_type} encoder cannot recompute activations; leave --checkpointing out")
    enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
    enable({"use_reentrant": False})


def device() -> Any:
    """The GPU, if there is one."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class FineTuningOptions(DetectorOptions):
    """encoder: "" for the bundled all-MiniLM-L6-v2. checkpoints and report_to are of this machine and this run, so they
    are not saved.
    """

    encoder: str = Field(default="", description="a Hub id or a folder instead of the bundled all-MiniLM-L6-v2")
    epochs: float = Field(default=3.0, gt=0, description="passes over the training statements")
    lr: float = Field(default=5e-5, gt=0, description="peak learning rate")
    max_steps: int = Field(default=0, ge=0, description="stop after this many steps, 0 for no limit")
    held_out: float = Field(
        default=0.1,
        ge=0,
        lt=1,
        description="share of the games kept aside to choose the number of steps, before all are learned from; 0 for "
        "no choice",
    )
    patience: int = Field(
        default=2,
        ge=0,
        description="choose after this many epochs that are no better on games kept aside, 0 for after the last",
    )
    scheduler: str = Field(
        default="linear", description="how the learning rate falls, by its name in transformers, as in cosine"
    )
    warmup: float = Field(default=0.1, ge=0, description="steps until the peak, below 1 a share of all")
    weight_decay: float = Field(default=0.01, ge=0, description="of AdamW")
    accumulate: int = Field(default=1, ge=1, description="batches whose gradients are added up for one step")
    checkpointing: bool = Field(default=False, description="less memory for more time: compute activations twice")
    attention: str = Field(
        default="", description="attention of the encoder while it learns, as in eager, sdpa, flash_attention_2"
    )
    compile: bool = Field(default=False, description="learn with torch.compile")
    lora: int = Field(default=0, ge=0, description="rank of the LoRA updates, 0 to change every weight")
    deterministic: bool = Field(
        default=False, description="the same weights bit for bit from the same seed, on one machine"
    )
    checkpoints: str = Field(
        default="", exclude=True, description="a folder for checkpoints, from which a training that was ended goes on"
    )
    report_to: str = Field(
        default="", exclude=True, description="what transformers reports the training to, as in tensorboard"
    )
