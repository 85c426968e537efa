"""Each model has one colour: on every page, in every order, and one that can be seen."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from liescope.benchmark.capability.count_sources import published_scores
from liescope.common.colours import MODELS, model_colours, text_on

NAMES = st.lists(st.text(max_size=20), max_size=20, unique=True)


@settings(max_examples=30)
@given(NAMES)
def test_a_model_has_the_same_colour_in_every_order(names: list[str]) -> None:
    shuffled = sorted(names, reverse=True)
    assert model_colours(names) == model_colours(shuffled)
    assert list(model_colours(names)) == names


@given(NAMES)
def test_models_of_one_page_differ_as_long_as_there_are_colours(names: list[str]) -> None:
    assert len(set(model_colours(names).values())) == min(len(names), len(MODELS))


def test_the_models_of_the_paper_keep_their_colours_whichever_of_them_are_on_a_page() -> None:
    models = published_scores()["model"].to_list()
    everywhere = model_colours(models)
    assert all(model_colours([name]) == {name: everywhere[name]} for name in models)
    assert len(set(everywhere.values())) == len(models) == 10


def _luminance(colour: tuple[float, ...]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_every_colour_stands_out_from_paper() -> None:
    for code in MODELS:
        rgb = tuple(int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))
        assert 1.05 / (_luminance(rgb) + 0.05) >= 3


@given(st.tuples(*[st.floats(0, 1)] * 3))
def test_text_has_the_contrast_that_print_needs_on_any_colour(colour: tuple[float, float, float]) -> None:
    light, dark = sorted([_luminance(colour), {"#ffffff": 1.0, "#000000": 0.0}[text_on(colour)]], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5
