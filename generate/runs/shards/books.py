"""Lesson books on their way between a run and its workers. A book only grows, so the longer copy is the newer one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from liescope.generate.runs.folder import write_whole
from liescope.generate.runs.playing import LESSONS


def read_books(run: Path) -> dict[str, str]:
    """The whole lines of every book in a run's folder, by file name."""
    return {
        file.name: file.read_bytes().rpartition(b"\n")[0].decode() + "\n"
        for file in sorted((run / LESSONS).glob("*.jsonl"))
        if b"\n" in file.read_bytes()
    }


def keep_books(run: Path, books: Mapping[str, str]) -> None:
    """Replace the books in a run's folder that are shorter."""
    for name, text in books.items():
        file = run / LESSONS / Path(name).name
        if not file.exists() or file.stat().st_size < len(text.encode()):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, text)
