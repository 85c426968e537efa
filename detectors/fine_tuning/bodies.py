"""The encoder itself: read from a folder, with a new head, with or without LoRA, on the device there is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liescope.common.errors import MissingExtra, UsageError


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
