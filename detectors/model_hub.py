"""A model on the Hub as a folder."""

from __future__ import annotations

import os
from pathlib import Path

from liescope.detectors.model_file import MODEL_FILE, read_model_file
from liescope.detectors.sentence_body import PART
from liescope.generate.corpus.hub import download, hub_repo


def model_folder(source: str | os.PathLike[str]) -> Path:
    """The folder of a model; for one on the Hub ("USER/NAME"), a copy of its files in the Hub's cache.

    Raises BadData if there is neither, MissingExtra, UsageError.
    """
    folder = Path(source)
    if folder.exists() or (repo := hub_repo(source, "model")) is None:
        return folder
    file = read_model_file(download(repo, [MODEL_FILE], "model"))
    return download(repo, [MODEL_FILE, *map(path_on_hub, file.files)], "model")


def path_on_hub(name: str) -> str:
    """Where a file of a model folder is in its repository: those of its own encoder are at the root."""
    return name.removeprefix(f"{PART}/")
