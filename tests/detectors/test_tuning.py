"""Tuning an encoder on pairs: across games only, towards the label, the same each time, and kept with the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.sentence_encoder import LOCAL, encoder_folder
from liescope.detectors.detector import silent
from liescope.detectors.detector_registry import load_parts, make
from liescope.detectors.examples import Labelled, labelled, read_statements
from liescope.detectors.kinds.game_embedding import own_words
from liescope.detectors.kinds.whole_game import lesson
from liescope.detectors.sentence_body import BodyOptions, SentenceEncoder, draw_pairs, sentence_encoder, tuned
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.transcript import read_transcripts
from tests.detectors.conftest import sentence


def said(games: int, seed: int) -> tuple[list[str], NDArray[np.bool_], NDArray[np.str_]]:
    """Statements of games; those that are deceptive have words of their own."""
    rng = Random(seed)
    labels = [place % 2 == 0 for _ in range(games) for place in range(4)]
    texts = [sentence(rng, lies, ["speaker"], 1.0) for lies in labels]
    return texts, np.array(labels), np.repeat(np.arange(games), 4).astype(np.str_)


def test_pairs_are_across_games_and_half_of_them_of_one_label() -> None:
    _, y, groups = said(3, 0)
    first, second = draw_pairs(y, groups, 400, 7)
    assert (groups[first] != groups[second]).all()
    equal = y[first] == y[second]
    assert equal.sum() == y[first][equal].sum() * 2 == 200
    assert all(np.array_equal(a, b) for a, b in zip(draw_pairs(y, groups, 400, 7), (first, second), strict=True))
    assert not np.array_equal(draw_pairs(y, groups, 400, 8)[0], first)


def test_one_game_of_a_label_has_no_pairs() -> None:
    _, y, groups = said(2, 0)
    with pytest.raises(UsageError, match="--tune-pairs"):
        draw_pairs(y & (groups == "0"), groups, 10, 0)


def apart(encoder: SentenceEncoder) -> float:
    """How much more alike statements of one label are than statements of two, on games that nothing learned from."""
    texts, y, _ = said(40, 99)
    vectors = encoder.embed(texts, 64)
    vectors = vectors - vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    alike, same = vectors @ vectors.T, y[:, None] == y
    return float(alike[same & ~np.eye(len(y), dtype=bool)].mean() - alike[~same].mean())


def test_statements_of_one_label_come_closer_in_games_it_has_not_seen(tiny_encoder: Path) -> None:
    options = BodyOptions(encoder=str(tiny_encoder), tune_pairs=960)
    before = sentence_encoder(encoder_folder(str(tiny_encoder)))
    texts, y, groups = said(30, 1)
    first, again = (tuned(texts, y, groups, options, silent, rate=1e-2) for _ in range(2))
    assert apart(first) > apart(before) + 0.15
    assert np.allclose(first.embed(texts, 64), again.embed(texts, 64), rtol=0, atol=1e-4)
    assert np.allclose(before.embed(texts, 64), sentence_encoder(tiny_encoder).embed(texts, 64), rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def data(corpus: Path) -> Labelled:
    return labelled(read_statements(corpus, ["train"]), "role", 0, read_transcripts(corpus))


@pytest.mark.parametrize("moments", [0, 2])
def test_a_game_that_counts_for_five_is_drawn_five_times_as_often(data: Labelled, moments: int) -> None:
    heavy = data.groups[0]
    rows = np.flatnonzero(np.isin(data.groups, np.unique(data.groups)[:4]) | (data.groups == heavy))
    once = [data.examples[row] for row in rows]
    copies = [replace(e, game_id=f"{e.game_id}#{n}") for n in range(1, 5) for e in once if e.game_id == heavy]
    every, y = [*once, *copies], np.array([*data.y[rows], *np.tile(data.y[data.groups == heavy], 4)])
    plain = Counter(own_words(lesson(once, data.y[rows], moments), 0)[2].tolist())
    weighed = Counter(own_words(lesson(every, y, moments), 0)[2].tolist())
    assert weighed == {game: count * (5 if game == heavy else 1) for game, count in plain.items()}


@pytest.mark.parametrize("kind", ["embedding", "game-embedding"])
def test_a_tuned_detector_keeps_its_encoder(kind: str, data: Labelled, tiny_encoder: Path, tmp_path: Path) -> None:
    options = {"encoder": str(tiny_encoder)}
    plain = make(kind, TextConfig(), options).fit(data.examples, data.y, data.groups)
    detector = make(kind, TextConfig(), options | {"tune_pairs": 32}).fit(data.examples, data.y, data.groups)
    assert isinstance(detector.options, BodyOptions)
    assert detector.options.encoder == LOCAL
    score = detector.predict_proba(data.examples[:20])
    assert not np.allclose(score, plain.predict_proba(data.examples[:20]), atol=1e-5)
    detector.save(tmp_path)
    again = load_parts(kind, tmp_path, detector.text, detector.options.model_dump())
    assert np.allclose(again.predict_proba(data.examples[:20]), score, atol=1e-6)
