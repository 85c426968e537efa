"""A whole game through a sentence encoder: what the view adds to it, and what is left out of a long statement."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from liescope.common.errors import BadData
from liescope.common.sentence_encoder import LOCAL
from liescope.detectors.detector_registry import load_parts
from liescope.detectors.examples import Labelled, examples_of
from liescope.detectors.kinds import game_embedding
from liescope.detectors.kinds.game_embedding import GameEmbeddingDetector
from liescope.detectors.view.transcript import SAID, GameMoment, Transcript, TranscriptTurn
from tests.detectors.conftest import TELLS
from tests.detectors.test_whole_game import NAMES, fitted, habit, labelled, planted


def test_a_habit_towards_others_is_seen_through_the_claims(tiny_encoder: Path) -> None:
    train, test = planted(2)
    whole = fitted("game-embedding", train, encoder=str(tiny_encoder))
    assert roc_auc_score(test.y, after_the_game(whole, test.examples)) > 0.9
    words = fitted("game-embedding", train, encoder=str(tiny_encoder), fields="own")
    assert abs(roc_auc_score(test.y, after_the_game(words, test.examples)) - 0.5) < 0.1


def test_scores_do_not_depend_on_how_many_are_asked_for_at_once(
    tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, test = planted(2)
    whole = fitted("game-embedding", train, encoder=str(tiny_encoder), moments=0)
    before = whole.predict_proba(test.examples)
    monkeypatch.setattr(game_embedding, "_AT_ONCE", 7)
    assert np.allclose(whole.predict_proba(test.examples), before)
    assert whole.predict_game(Transcript("mute", NAMES, (), "mini-mafia", 2)).statements == {}


def echoed(games: int, seed: int) -> Labelled:
    """Nobody's own words tell anything: others speak of one who deceives in other words."""
    rng, found = Random(seed), []
    for number in range(games):
        lying = rng.choice(NAMES)
        turns = []
        for speaker in rng.sample(NAMES, 5):
            named = rng.choice([name for name in NAMES if name != speaker])
            words = " ".join(rng.choice(TELLS[named == lying]) for _ in range(3))
            turns.append(TranscriptTurn(SAID, speaker, f"{words} {named}.", key=f"{number}:{len(turns)}"))
        found.append((Transcript(f"{number}", NAMES, tuple(turns), "mini-mafia", 1), {lying}))
    return labelled(found)


def test_words_of_others_about_a_candidate_are_a_field_of_their_own(tiny_encoder: Path) -> None:
    train, test = echoed(120, 1), echoed(60, 2)

    def auroc(fields: str) -> float:
        detector = fitted("game-embedding", train, encoder=str(tiny_encoder), fields=fields, strength=20.0)
        return float(roc_auc_score(test.y, after_the_game(detector, test.examples)))

    assert auroc("about") > 0.75
    assert auroc("about") > auroc("own") + 0.15


def test_what_was_left_out_of_long_statements_is_said(tiny_encoder: Path) -> None:
    train, _ = planted(1)
    assert not fitted("game-embedding", train, encoder=str(tiny_encoder), moments=0).notes
    long = replace(train.examples[0].seen.transcript.turns[0], text="look at this " * 100)  # type: ignore[union-attr]
    game, lying = habit(0, Random(0), 1)
    other = Transcript("0", NAMES, (replace(long, key="0:0"), *game.turns[1:]), game.rules, 1)
    more = [(one, one.speaker in lying) for one in examples_of(GameMoment(other), 0).values()]
    examples = (*(one for one, _ in more), *train.examples[10:])
    y = np.array([*(lies for _, lies in more), *train.y[10:]])
    data = Labelled(examples, y, np.array([one.game_id for one in examples]), 0)
    (note,) = fitted("game-embedding", data, encoder=str(tiny_encoder), moments=0).notes
    assert "64 tokens" in note
    assert "parts of statements" in note


def test_a_saved_detector_brings_its_own_encoder_and_is_refused_when_its_claims_are_changed(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    train, test = planted(2)
    whole = fitted("game-embedding", train, encoder=str(tiny_encoder), moments=0)
    assert isinstance(whole, GameEmbeddingDetector)
    assert whole.options.encoder == LOCAL
    whole.save(tmp_path)
    loaded = load_parts("game-embedding", tmp_path, whole.text, whole.options.model_dump())
    assert np.allclose(after_the_game(loaded, test.examples), whole.predict_whole(test.examples), rtol=0, atol=1e-6)
    claims = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    for odd in ([*claims, "more"], [claims[0], *claims[:-1]], {"a": 1}, [1] * len(claims)):
        (tmp_path / "claims.json").write_text(json.dumps(odd), encoding="utf-8")
        with pytest.raises(BadData, match=str(tmp_path)):
            load_parts("game-embedding", tmp_path, whole.text, whole.options.model_dump())
