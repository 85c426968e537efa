"""The folder of a report, written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path

from liescope.common.disguises import disguised, looks
from liescope.common.errors import UsageError
from liescope.common.folders import replacing
from liescope.common.leaks import secrets_of


def check_report_folder(out: Path, overwrite: bool = False) -> None:
    """Raises UsageError if the folder is a file, or if it holds anything that is not to be replaced; a check before
    long work.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give a folder for the report")
    if not overwrite and out.is_dir() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; add --overwrite to replace a report there, or choose another --out")


def refuse_secrets(texts: Mapping[str, str]) -> None:
    """Raises UsageError if one of the texts, by the names of their files, holds a secret of this machine."""
    secrets = secrets_of(os.environ)
    for name, text in texts.items():
        found = looks(text)
        for variable, value in secrets.items():
            if disguised(value).within(found):
                raise UsageError(f"{name} would hold the value of {variable}; remove it from the runs' plans and texts")


@contextmanager
def report_folder(out: Path, files: Set[str]) -> Iterator[Path]:
    """An empty folder to write a report to, which takes the place of `out` at the end of the block. files: the names
    that such a report can hold; a folder with any other name in it is not replaced.

    Raises UsageError if `out` holds something else or cannot be written.
    """

    def replaceable(folder: Path) -> bool:
        return all(item.name in files for item in folder.iterdir())

    check_report_folder(out, overwrite=True)
    try:
        with replacing(out, "report", replaceable) as folder:
            yield folder
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{out} cannot be written ({why}); make room for it or choose another --out") from error
