"""The eight types are read however they are spelled, and nothing else is read as one of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.games.shared_rules import START, smooth
from liescope.games.taxonomy import DeceptionType, parse_type


@pytest.mark.parametrize("kind", DeceptionType)
def test_a_type_is_read_in_any_spelling(kind: DeceptionType) -> None:
    words = kind.value.split("_")
    for text in (kind.value, " ".join(words).title(), "-".join(words).upper(), f' "{"  ".join(words)}". '):
        assert parse_type(text) is kind


@pytest.mark.parametrize(
    "text", [None, "", "null", "unknown", "omission or distortion", "nonesuch", "none " * 50, "🤥"]
)
def test_what_names_no_type_is_unread_and_never_none(text: str | None) -> None:
    assert parse_type(text) is None


@given(st.text())
def test_any_text_is_a_type_or_unread(text: str) -> None:
    assert parse_type(text) in {None, *DeceptionType}


@given(st.lists(st.floats(0, 1), max_size=30))
def test_suspicion_stays_between_0_and_1_and_moves_toward_each_rating(ratings: list[float]) -> None:
    now = START
    for rating in ratings:
        before, now = now, smooth(now, rating)
        assert 0 <= now <= 1
        assert abs(now - rating) <= abs(before - rating) + 1e-12


def test_suspicion_follows_the_papers_rule() -> None:
    assert smooth(0.5, 1.0) == pytest.approx(0.85)
    assert smooth(0.85, 0.0) == pytest.approx(0.255)


@pytest.mark.parametrize("rating", [-0.1, 1.1, float("nan")])
def test_a_rating_outside_the_scale_is_refused(rating: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        smooth(0.5, rating)
