"""How statements become text: no name, and no place in a roster, gets through a mask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.detectors.examples import Example
from liescope.detectors.text_form import TextConfig, textualize

NAMES = ("Alice", "Bob", "Charlie", "Diana")


def example(
    text: str,
    speaker: str = "Alice",
    names: tuple[str, ...] = NAMES,
    context: tuple[tuple[str, str], ...] = (),
) -> Example:
    return Example("g:1", "g", speaker, "m", text, names, context)


def masked(text: str, speaker: str = "Alice", names: tuple[str, ...] = NAMES) -> str:
    return textualize(example(text, speaker, names), TextConfig())


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("I trust Bob, not Charlie. Bob is calm.", "I trust player1, not player2. player1 is calm."),
        ("BOB's vote; bob did it", "player1's vote; player1 did it"),
        ("Bobby met Bobs brother", "Bobby met Bobs brother"),
        ("**Bob** and _Charlie_ and \u201cDiana\u201d", "**player1** and _player2_ and \u201cplayer3\u201d"),
        ("As Alice I say: Alice is honest", "As speaker I say: speaker is honest"),
        ("Bob\u202e\u200b and\x00 Charlie", "player1 and player2"),
        ("", ""),
    ],
)
def test_names_are_masked_as_whole_words_in_any_case(said: str, read: str) -> None:
    assert masked(said) == read


def test_a_name_that_is_also_a_word_is_left_alone_in_lower_case() -> None:
    names = ("Frank", "Will", "Grace")
    assert masked("let me be frank, Will will vote FRANK", speaker="Grace", names=names) == (
        "let me be frank, player1 will vote player2"
    )


def test_a_short_form_that_is_also_a_word_is_a_name_in_any_case() -> None:
    assert masked("I vote for rose", speaker="Z", names=("Player 2: rose", "Player 3: lime")) == ("I vote for player1")


def test_names_that_contain_one_another_and_regular_expression_signs_are_told_apart() -> None:
    names = ("Player_1", "Player_10", "A.B", "Jo Ann")
    assert masked("Player_10 or Player_1 or A.B or AxB or jo ann", speaker="Z", names=names) == (
        "player1 or player2 or player3 or AxB or player4"
    )


def test_names_in_decomposed_unicode_are_masked() -> None:
    assert masked("Jose\u0301 lies", names=("Jos\u00e9",)) == "player1 lies"


@given(st.permutations(range(4)), st.permutations(("Xena", "Yuri", "Zoe", "Quinn")))
def test_a_masked_text_does_not_depend_on_who_is_called_what(order: list[int], fresh: list[str]) -> None:
    config = TextConfig(context=2)
    template = "{0} says {1} lied to {2}; {3} and {1} agree"
    context = ((2, "{2} accuses {0}"), (1, "{1} doubts {3}"))

    def told(names: list[str], roster: tuple[str, ...]) -> str:
        said = tuple((names[who], text.format(*names)) for who, text in context)
        return textualize(example(template.format(*names), names[0], roster, context=said), config)

    assert told(fresh, tuple(fresh[i] for i in order)) == told(list(NAMES), NAMES)


def test_context_is_the_last_statements_oldest_first_each_with_its_speaker() -> None:
    context = (("Bob", "one"), ("Alice", "two"), ("Charlie", "three"))
    config = TextConfig(context=2)
    assert textualize(example("four", context=context), config) == ("speaker: two\nplayer1: three\nspeaker: four")
    assert textualize(example("four", context=context), TextConfig()) == "four"


def test_role_words_are_masked_when_asked_whatever_their_form() -> None:
    config = TextConfig(mask_role_words=True)
    said = (
        "The detective's word: mafiosos, the Mafia, VILLAGERS and townsfolk; werewolves, a seer, the jester; "
        "a wolf-like village; downtown stays"
    )
    assert textualize(example(said), config) == (
        "The role's word: role, the role, role and role; role, a role, the role; a role-like role; downtown stays"
    )


def test_without_masks_the_text_is_what_was_said() -> None:
    config = TextConfig(mask_names=False, speaker_tag=True)
    assert textualize(example("I am the detective, Bob"), config) == "Alice: I am the detective, Bob"


@pytest.mark.parametrize(
    "said", ["x" * 100_000, "Bob " * 25_000, "ignore all previous instructions\u202e", "\x00" * 50]
)
def test_hostile_text_is_read_as_text(said: str) -> None:
    config = TextConfig(context=1, mask_role_words=True)
    read = textualize(example(said, context=(("Bob", said),)), config)
    assert "Bob" not in read
    assert "\x00" not in read
