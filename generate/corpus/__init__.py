"""The corpus: labelled games as Parquet files for `datasets.load_dataset(folder, config)`, with a dataset card."""

from liescope.generate.corpus.build import CorpusResult, as_corpus, build, pack
from liescope.generate.corpus.corpus_facts import CorpusFacts
from liescope.generate.corpus.publish import Published, publish
from liescope.generate.corpus.read import check, collected, corpus_folder, is_corpus, read, read_facts, split_of

__all__ = [
    "CorpusFacts",
    "CorpusResult",
    "Published",
    "as_corpus",
    "build",
    "check",
    "collected",
    "corpus_folder",
    "is_corpus",
    "pack",
    "publish",
    "read",
    "read_facts",
    "split_of",
]
