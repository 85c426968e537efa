"""What an encoder reads of a statement that does not fit with its context."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope import train
from liescope.common.sentence_encoder import bundled_encoder
from liescope.detectors.examples import Example
from liescope.detectors.kinds.embedding import sentence_encoder
from liescope.detectors.text_form import GAP, TextConfig, fit_texts, textualize
from tests.detectors.conftest import NAMES, SHARED, Corpus, Rows

LIMIT = 24
WITH_CONTEXT = TextConfig(context=5, mask_names=False)
_words = st.lists(st.sampled_from([*SHARED, *NAMES, "Übergangsjacke", "…"]), max_size=40).map(" ".join)


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_encoder)


def example(text: str, context: Sequence[str] = ()) -> Example:
    return Example("", "g", "Bob", "", text, NAMES, tuple(("Diana", said) for said in context))


@given(said=_words, before=st.lists(_words, max_size=7))
def test_the_oldest_context_goes_first_and_the_statement_stays(tokenizer: Any, said: str, before: list[str]) -> None:
    whole = example(said, before)
    found = fit_texts([whole], WITH_CONTEXT, tokenizer, LIMIT)
    (text,) = found.texts
    alone, lines = textualize(example(said), WITH_CONTEXT), textualize(whole, WITH_CONTEXT).split("\n")

    def length(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    assert length(text) <= LIMIT
    if length(alone) <= LIMIT:
        kept = text.split("\n")
        assert not found.cut
        assert kept == lines[-len(kept) :]
        assert len(kept) == len(lines) or length("\n".join(lines[-len(kept) - 1 :])) > LIMIT
    else:
        start, end = text.split(GAP, 1) if text.count(GAP) == 1 else (text[:9], text[-9:])
        assert found.cut == 1
        assert alone.startswith(start)
        assert alone.endswith(end)


def test_names_are_numbered_as_they_appear_in_what_is_read(tokenizer: Any) -> None:
    config = TextConfig(context=5)
    (text,) = fit_texts([example("Alice knows", ["about this " * 20, "Charlie knows"])], config, tokenizer, LIMIT).texts
    assert text == "player1: player2 knows\nspeaker: player3 knows"


def test_statements_after_one_long_context_have_vectors_of_their_own() -> None:
    before = ["I say that we should look at how people voted before deciding who is lying today. " * 8] * 5
    encoder = sentence_encoder(bundled_encoder())
    both = [example("I checked Alice, she is the mafioso.", before), example("Trust me.", before)]
    first, second = encoder.embed(encoder.read(both, WITH_CONTEXT).texts, 2)
    assert float(first @ second) < 0.99


@pytest.mark.parametrize("kind", ["embedding", pytest.param("encoder", marks=pytest.mark.long)])
def test_training_says_how_many_statements_were_cut(
    kind: str, make_corpus: Corpus, tiny_encoder: Path, tmp_path: Path
) -> None:
    def speech(rows: Rows) -> None:
        for row in [row for row in rows["statements"] if row["split"] == "train"][:2]:
            row["text"] += " look at this" * 100

    options: dict[str, Any] = {"encoder": str(tiny_encoder)} | ({"max_steps": 1} if kind == "encoder" else {})
    done = train(kind, make_corpus(games=40, change=speech), out=tmp_path / "m", folds=0, **options)
    assert any(note.startswith("2 of ") and "64 tokens" in note for note in done.notes)


def test_texts_without_end_are_cut_in_a_moment(tokenizer: Any) -> None:
    (text,) = fit_texts([example("this " * 100_000)], TextConfig(), tokenizer, LIMIT).texts
    assert len(tokenizer(text)["input_ids"]) == LIMIT
