"""The corpus: labelled games as Parquet that `datasets.load_dataset(folder, config)` opens, with its card."""

from liescope.generate.corpus.build import build, pack
from liescope.generate.corpus.facts import CorpusFacts
from liescope.generate.corpus.read import check, read, read_facts
from liescope.generate.corpus.splits import split_of

__all__ = ["CorpusFacts", "build", "check", "pack", "read", "read_facts", "split_of"]
