"""Lets a run be used as a corpus: whatever accepts a corpus accepts a run too, with equal results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from liescope.data_cards.tables import TABLES
from liescope.generate.corpus.build import build
from liescope.generate.corpus.read import Source, corpus_folder
from liescope.generate.runs.run_folder import PLAN_FILE


@contextmanager
def as_corpus(source: Source) -> Iterator[Path]:
    """The folder of a corpus. A run is labelled and packaged as `build` does, in a folder that is deleted at the end
    of the block; a corpus on the Hub ("USER/NAME") is a copy in the Hub's cache.
    """
    run = Path(source)
    if not (run / PLAN_FILE).is_file():
        yield corpus_folder(source, *TABLES)
        return
    with TemporaryDirectory() as scratch:
        yield build(run, out=Path(scratch) / "corpus").folder
