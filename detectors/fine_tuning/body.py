"""The network that learns: an encoder or a decoder of the Hub with a new head, whole or by low-rank updates beside it.

With LoRA the base is read in the precision of the card, or in 4 or 8 bits, and only the updates and the head are saved.
The base is named, and found again; that it is the same one is seen by what it makes of a fixed sentence.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from liescope.common.errors import BadData, MissingExtra, UsageError
from liescope.common.sentence_encoder import read_transformer
from liescope.common.statistics import Floats
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.precision import SENTENCE, check_sign, keep_sign

ADAPTER = "adapter"
"""The folder of the updates within a model's."""
_WEIGHTS = "adapter_model.safetensors"


def read_body(
    folder: Path, classes: Sequence[str] | None = None, attention: str = "", dtype: Any = None, bits: int = 0
) -> tuple[Any, Any, frozenset[str]]:
    """(tokenizer, classifier, its modules that are new) from a folder that has been checked. classes: the names of its
    outputs, for a new head; None for a saved one, which must have every weight (ValueError). attention: the
    implementation, "" for the usual one; ValueError or ImportError for one that it does not have. dtype: of its
    weights, None for float32; bits: 4 or 8 to quantise them.
    """
    import torch

    # By default transformers keeps the dtype of the file, and half precision is too coarse for small steps.
    settings: dict[str, Any] = {"dtype": dtype or torch.float32}
    if attention:
        settings["attn_implementation"] = attention
    if classes is not None:
        settings |= {"id2label": dict(enumerate(classes)), "label2id": {name: at for at, name in enumerate(classes)}}
    if bits:
        settings |= _quantised(folder, bits, settings["dtype"])
    tokenizer, model, missing = read_transformer(
        "AutoModelForSequenceClassification", folder, classes is None, **settings
    )
    if tokenizer.pad_token is None:  # of a decoder such as GPT-2, Llama or Qwen: what ends a text pads it
        if tokenizer.eos_token is None:
            raise ValueError("its tokenizer has no token for padding and none that ends a text")
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "right"  # to the left, places would shift, and with them what GPT-2 makes of each word
    if model.config.pad_token_id is None:  # by which the classifier finds the last word
        model.config.pad_token_id = tokenizer.pad_token_id
    if getattr(model.config, "use_cache", False):
        model.config.use_cache = False  # keys and values are for generating
    return tokenizer, model, frozenset(key.rpartition(".")[0] for key in missing)


def check_can_quantise() -> None:
    """Raises UsageError where weights cannot be read in 4 or 8 bits."""
    import torch

    if not torch.cuda.is_available():
        raise UsageError("weights in 4 or 8 bits need a GPU, and there is none; leave --quantize out")
    if not find_spec("bitsandbytes"):
        raise UsageError("weights in 4 or 8 bits need another package: pip install bitsandbytes")


def _quantised(folder: Path, bits: int, dtype: Any) -> dict[str, Any]:
    """Settings for weights in 4 bits (NF4, Dettmers and others 2023) or 8, but for the head."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification, BitsAndBytesConfig

    config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    with torch.device("meta"):
        model = AutoModelForSequenceClassification.from_config(config)
    heads = [name for name, _ in model.named_children() if name != model.base_model_prefix]
    how = BitsAndBytesConfig(
        load_in_4bit=bits == 4,
        load_in_8bit=bits == 8,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=dtype,
        llm_int8_skip_modules=heads,
    )
    return {"quantization_config": how, "device_map": {"": torch.cuda.current_device()}}


def limit(tokenizer: Any, model: Any, wanted: int) -> int:
    """The most tokens of a text: as wanted, or fewer if the model or its tokenizer takes fewer."""
    positions = getattr(model.config, "max_position_embeddings", None) or wanted
    return min(wanted, int(positions), int(tokenizer.model_max_length))


def with_lora(model: Any, rank: int, new: frozenset[str]) -> Any:
    """The model with low-rank updates beside every linear layer, which alone are learned, in float32, and its new
    modules whole (Hu and others 2022). Raises MissingExtra.
    """
    try:
        from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
    except ImportError as error:
        raise MissingExtra("peft", "lora") from error
    config = LoraConfig(
        r=rank, lora_alpha=2 * rank, target_modules="all-linear", modules_to_save=sorted(new), task_type="SEQ_CLS"
    )
    if getattr(model, "is_quantized", False):
        model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft reads an attribute that transformers has dropped
        made = get_peft_model(model, config)
    for weight in made.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()
    return made


def save_adapter(folder: Path, model: Any, tokenizer: Any, name: str) -> None:
    """Write the updates of a model `with_lora` and its new modules, as peft and safetensors do, and what the base makes
    of a fixed sentence. name: of the base on the Hub, "" for one that is not there.
    """
    model.peft_config["default"].base_model_name_or_path = name
    model.save_pretrained(folder, save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)
    if not name:
        (folder / "adapter_config.json").unlink()  # for others who look the base up
    with model.disable_adapter():
        keep_sign(folder, _sign(model.get_base_model(), tokenizer))


def load_adapter(folder: Path, model: Any, tokenizer: Any, rank: int, new: frozenset[str], base: str) -> Any:
    """The base with the updates that `save_adapter` wrote; of their settings only the rank is used. base: its name, for
    the BadData of another one. Raises BadData, MissingExtra.
    """
    from safetensors.torch import load_file

    check_sign(folder, _sign(model, tokenizer), base)
    made = with_lora(model, rank, new)
    from peft import get_peft_model_state_dict, set_peft_model_state_dict

    weights, own = load_file(folder / _WEIGHTS), get_peft_model_state_dict(made, save_embedding_layers=False)
    if {key: one.shape for key, one in weights.items()} != {key: one.shape for key, one in own.items()}:
        raise BadData(f"{folder / _WEIGHTS} holds the weights of another model; {TRAIN_AGAIN}")
    set_peft_model_state_dict(made, weights)
    return made


def _sign(model: Any, tokenizer: Any) -> Floats:
    """(width,) of length 1: what the network below the head makes of `SENTENCE`, on average over its tokens."""
    import torch

    read = tokenizer(SENTENCE, return_tensors="pt", return_token_type_ids=False).to(model.device)
    with torch.inference_mode():
        state = getattr(model, model.base_model_prefix)(**read)[0].float().mean(dim=(0, 1))
    return np.asarray((state / state.norm()).cpu().numpy())
