"""A judge's answer as a probability: label tokens as tokenizers cut them, confidences as models write them."""

from __future__ import annotations

from math import log
from pathlib import Path

import pytest

from liescope.common.errors import BadData
from liescope.detectors.judge.prompt import DEFAULT, label_probability, read_prompt, stated_probability

SIDES = read_prompt().sides


def place(*pairs: tuple[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple((token, log(share)) for token, share in pairs)


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("Yes", "No"),
        (" Yes", " No"),
        ("yes", "no"),
        ("Y", "N"),
        ("▁Yes", "▁No"),
        ("ĠYES", "ĠNO"),
        ("Dece", "Hon"),
        ("Deceptive", "Honest"),
        ("**Yes", "**No"),
        ("Yes.", "No."),
    ],
)
def test_a_label_token_is_known_however_it_is_cut(yes: str, no: str) -> None:
    assert label_probability([place((yes, 0.6), (no, 0.2), ("Maybe", 0.2))], SIDES) == pytest.approx(0.75)
    assert label_probability([place((no, 0.6), (yes, 0.2))], SIDES) == pytest.approx(0.25)


def test_all_spellings_of_a_label_add_up() -> None:
    spellings = place(("Yes", 0.3), ("yes", 0.2), (" Y", 0.1), ("No", 0.2))
    assert label_probability([spellings], SIDES) == pytest.approx(0.75)


def test_marks_before_the_label_are_passed_over_and_other_words_are_not() -> None:
    label = place(("Yes", 0.8), ("No", 0.2))
    assert label_probability([place(("\n", 0.9), ("Yes", 0.1)), place(("**", 1.0)), label], SIDES) == pytest.approx(0.8)
    assert label_probability([place(("The", 0.9), ("Yes", 0.1)), label], SIDES) is None
    assert label_probability([], SIDES) is None


def test_a_side_that_is_not_listed_is_less_likely_than_all_that_are_and_keeps_the_order() -> None:
    surer, less_sure = (label_probability([place(("Yes", 1 - 2 * e), ("Hm", e))], SIDES) for e in (0.001, 0.01))
    assert 0.9 < less_sure < surer < 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.8", 0.8),
        (".8", 0.8),
        ("**0.8**", 0.8),
        ("80%", 0.8),
        ("80 percent", 0.8),
        ("8/10", 0.8),
        ("80/100", 0.8),
        ("8 out of 10", 0.8),
        ("0,8", 0.8),
        ("1", 1.0),
        ("0", 0.0),
        ("Probability: 0.8", 0.8),
        ("There are 2 claims. The probability is 0.8.", 0.8),
        ("Confidence: high", 0.8),
        ("confidence = very low", 0.05),
        ("No. Confidence: high", 0.2),
        ("Yes, confidence: 90%", 0.9),
        ("Not deceptive. Confidence: 90%", 0.1),
        ('{"probability": 0.8}', 0.8),
        ('```json\n{"probability": "80%"}\n```', 0.8),
        ('```\n{"deceptive": false, "confidence": 0.9}\n```', 0.1),
        ('I think so.\n{"answer": "Yes", "confidence": "high"}', 0.8),
        ("<think>Perhaps 0.3 or 0.4.</think>0.8", 0.8),
        ("80", None),
        ("I cannot judge this.", None),
        ("Between 0.2 and 0.4", None),
        ('{"probability": 7}', None),
        ('{"probability": 0.', None),
        ("Probability: 0.", None),
        ("The probability is 10.", None),
        ("Probability: 0.0", 0.0),
        ("<think>Let me see, 0.1 perhaps", None),
        ("", None),
    ],
)
def test_a_stated_confidence_is_read_as_models_write_it(text: str, value: float | None) -> None:
    assert stated_probability(text, SIDES) == (None if value is None else pytest.approx(value))


def test_a_statement_cannot_fill_in_the_prompt() -> None:
    prompt = read_prompt()
    asked = prompt.about_statement("{question} {answer} I am honest.", "claim")
    (text,) = asked.labels
    assert "{question} {answer} I am honest." in text
    assert "contain a lie" in text
    assert "Yes or No" in text
    assert "from 0 (certainly No) to 1" in asked.number


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{statement}", "", "lacks {statement}"),
        ("claim =", "claims =", "lacks question.claim"),
        ('"No", ', '"yes", ', "cannot mean both"),
        ("prompt =", "prompt", "cannot be read .*line 4"),
        ("[answer]", "extra = 1\n[answer]", "question.extra"),
    ],
)
def test_a_prompt_of_ones_own_says_what_is_wrong_with_it(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "prompt.toml"
    path.write_text(DEFAULT.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(BadData, match=said):
        read_prompt(path)
