"""The corpus: labelled games as Parquet files for `datasets.load_dataset(folder, config)`, with a dataset card."""

from liescope.generate.corpus.build import CorpusResult, build, pack
from liescope.generate.corpus.corpus_facts import CorpusFacts
from liescope.generate.corpus.open import as_corpus, in_memory
from liescope.generate.corpus.publish import Published, publish
from liescope.generate.corpus.read import (
    Corpus,
    CorpusInMemory,
    check,
    collected,
    corpus_folder,
    is_corpus,
    licences_of,
    read,
    read_facts,
    split_of,
)

__all__ = [
    "Corpus",
    "CorpusFacts",
    "CorpusInMemory",
    "CorpusResult",
    "Published",
    "as_corpus",
    "build",
    "check",
    "collected",
    "corpus_folder",
    "in_memory",
    "is_corpus",
    "licences_of",
    "pack",
    "publish",
    "read",
    "read_facts",
    "split_of",
]
