"""A word, a character or a form that alone tells lies from truths is named with its counts; chance is not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from liescope.detectors.study import audit_checks, controls
from liescope.detectors.study.audit_checks import scorers
from liescope.detectors.study.controls import BEST_MARK, BEST_WORD
from liescope.detectors.study.figures import NOTABLE, PLAIN, SERIOUS
from liescope.detectors.study.scores import CONTROL
from tests.detectors.audit.conftest import Plant, Row, Rows, each


@pytest.fixture(autouse=True)
def _tokens_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all controls only those of one word and one mark."""
    monkeypatch.setattr(audit_checks, "SHORTCUTS", {})
    monkeypatch.setattr(controls, "READINGS", (BEST_WORD, BEST_MARK))


def on_lies(change: Callable[[str], str], share: float = 1.0) -> Callable[[Rows], None]:
    """Every lie, or a share of them, is changed."""

    def changed(row: Row, draw: random.Random) -> None:
        if row["label_role"] and draw.random() < share:
            row["text"] = change(row["text"])

    return each(changed)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda text: f"{text} zanzibar", 'the word "zanzibar"'),
        (lambda text: text.replace(" ", " whole whole whole ", 1), 'the word "whole"'),
        (lambda text: f"{text[:3]}\u200b{text[3:]}", "the character U+200B ZERO WIDTH SPACE"),
        (lambda text: text.replace(" ", "\u00a0", 1), "the character U+00A0 NO-BREAK SPACE"),
        (lambda text: text.replace(" ", "  ", 1), "white space twice in a row"),
        (lambda text: f"{text} ", "ending in white space"),
        (lambda text: text.replace("e", "\u0435", 1), 'the character "\u0435" (U+0435 CYRILLIC SMALL LETTER IE)'),
        (lambda text: f"{text}!", 'the character "!"'),
        (str.upper, "capitals in place of small letters"),
        (lambda text: text.replace(" ", "zqx ", 1), 'the character "x"'),
    ],
)
def test_what_stands_on_every_lie_is_serious_and_named_with_its_counts(
    change: Callable[[str], str], name: str, plant: Plant
) -> None:
    data = plant(on_lies(change), games=60).data
    worst = [one.words for one in scorers(data).findings if one.severity in (NOTABLE, SERIOUS)]
    (said,) = (words for words in worst if words[1:].startswith(f"{name[1:]} alone"))
    lies = int(data.y.sum())
    assert re.search(rf"in {lies:,} of {lies:,} deceptive and \d+ of [\d,]+ honest statements", said)


def test_a_mark_on_some_lies_is_named_too_and_a_rare_odd_character_is_an_alarm(plant: Plant) -> None:
    planted = plant(on_lies(lambda text: f"{text}\u200d", share=0.2))
    (found,) = [one for one in scorers(planted.data).findings if "ZERO WIDTH JOINER" in one.words]
    assert found.severity in (NOTABLE, SERIOUS)
    assert "AUROC 0." in found.words


def test_words_that_tell_by_meaning_are_described_and_no_alarm(plant: Plant) -> None:
    (found,) = [one for one in scorers(plant().data).findings if one.rests_on[0].scorer == CONTROL + BEST_WORD]
    assert found.severity == PLAIN
    assert any(f'"{word}"' in found.words for word in ("lime", "rust", "dome", "gate", "clay", "path"))
    assert "leak" not in found.words


def test_labels_that_mean_nothing_name_no_word_and_no_mark(plant: Plant) -> None:
    """Chosen where it is not judged, the best of hundreds has no luck left."""
    for seed in range(3):
        data = plant(each(lambda row, draw: row.update(label_role=draw.random() < 0.4)), seed=seed, games=60).data
        told = [
            one
            for one in scorers(data).findings
            if one.rests_on[0].scorer in (CONTROL + BEST_WORD, CONTROL + BEST_MARK)
        ]
        assert {one.severity for one in told} <= {PLAIN}
