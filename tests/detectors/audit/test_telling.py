"""A word, a character or a form that alone tells lies from truths is named with its counts; chance is not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import liescope
from liescope.detectors.study.audited import read_audited
from liescope.detectors.study.controls import deal_to_other_games
from liescope.detectors.study.figures import NOTABLE, PLAIN, SERIOUS
from liescope.detectors.study.scores import CONTROL
from liescope.detectors.study.telling import exact, passing, telling
from liescope.detectors.study.tokens import tokens_of
from tests.detectors.audit.conftest import Plant, Row, Rows, each


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
        (lambda text: text.replace(" ", " whole whole whole ", 1), 'the words "whole whole whole"'),
        (lambda text: f"{text[:3]}\u200b{text[3:]}", "the character U+200B ZERO WIDTH SPACE"),
        (lambda text: text.replace(" ", "\u00a0", 1), "the character U+00A0 NO-BREAK SPACE"),
        (lambda text: text.replace(" ", "  ", 1), "the characters U+0020 SPACE, U+0020 SPACE"),
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
    worst = [one for one in telling(data).findings if one.severity == SERIOUS]
    (said,) = (one.words for one in worst if one.rests_on[0].scorer == CONTROL + name)
    lies = int(data.y.sum())
    assert re.search(rf"in {lies:,} of {lies:,} deceptive and \d+ of [\d,]+ honest statements", said)


def test_a_mark_on_some_lies_is_named_too_and_a_rare_odd_character_is_an_alarm(plant: Plant) -> None:
    planted = plant(on_lies(lambda text: f"{text}\u200d", share=0.2))
    (found,) = [one for one in telling(planted.data).findings if "ZERO WIDTH JOINER" in one.words]
    assert found.severity in (NOTABLE, SERIOUS)
    assert "AUROC 0." in found.words


def test_words_that_tell_by_meaning_are_described_and_no_alarm(plant: Plant) -> None:
    (found,) = telling(plant().data).findings
    assert found.severity == PLAIN
    assert any(f'"{word}"' in found.words for word in ("lime", "rust", "dome", "gate", "clay", "path"))
    assert "leak" not in found.words


def test_random_labels_of_real_statements_name_nothing(shared_data: Path, tmp_path: Path) -> None:
    liescope.import_games("avalon-nlu", shared_data / "avalon_nlu" / "games.jsonl.gz", out=tmp_path / "run")
    liescope.build(tmp_path / "run", out=tmp_path / "corpus")
    data = read_audited(tmp_path / "corpus", "role", "out-of-fold")
    y_real, groups = data.y[data.known], data.groups[data.known]
    presence, tokens = tokens_of(data.labelled["text"].to_list())
    assert len(tokens) > 5000
    draw = np.random.default_rng(0)
    seats = list(zip(groups, data.labelled["speaker"], strict=True))
    for number in range(16):
        side = {seat: draw.random() < 0.3 for seat in dict.fromkeys(seats)}
        of_players = np.array([side[seat] for seat in seats])
        for y in (deal_to_other_games(y_real, groups, number), of_players, draw.permutation(y_real)):
            assert passing(presence, y, groups, number).tolist() == []


def test_the_exact_test_errs_as_seldom_as_it_says() -> None:
    """Of many data sets in which nothing tells, one in a thousand names something at most."""
    draw = np.random.default_rng(1)
    erring = 0
    for _ in range(200):
        common = draw.beta(0.3, 3, size=300)
        lies, others = draw.binomial(40, common), draw.binomial(60, common)
        erring += bool(exact(lies, 40, others, 60).any())
    assert erring <= 2
    marked = exact(np.array([40, 3, 20]), 40, np.array([0, 4, 31]), 60)
    assert marked.tolist() == [True, False, False]
