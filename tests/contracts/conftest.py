"""The corpora and the tiny encoder of the detectors' own tests."""

from tests.detectors.conftest import corpus, make_corpus, tiny_encoder

__all__ = ["corpus", "make_corpus", "tiny_encoder"]
