"""The corpora and the tiny models of the detectors' own tests."""

from tests.detectors.conftest import corpus, make_corpus, tiny_encoder, tiny_lm

__all__ = ["corpus", "make_corpus", "tiny_encoder", "tiny_lm"]
