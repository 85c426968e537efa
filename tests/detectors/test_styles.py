"""Styles change how a statement is said and not what it says; training and reports use them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from liescope.detectors.examples import Example
from liescope.detectors.probing.styles import STYLES, doubled, in_style, styled
from liescope.detectors.text_form import TextConfig, textualize
from liescope.detectors.view.transcript import SAID, VOTED, GameMoment, Transcript, TranscriptTurn

NAMES = ("Will", "Annabelle", "A", "Ok")
TEXTS = (
    "I'm not the werewolf, and Annabelle can't be one! On day 12 we found 3 votes against Will, never 4.",
    'Ok and A didn\'t trust anyone; yeah, nobody was certain because the detective said "no".',
    "No.",
    "The only thing that isn't true is what Annabelle told you about yesterday's vote of 7 to 5.",
)
KEPT = ("not", "never", "no", "only", "12", "3", "4", "7", "5", "Will", "Annabelle", "A", "Ok")
FRAMED = ("formal", "slang", "foreign frame", "wordy", "Markdown")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("style", STYLES)
def test_names_numbers_and_negations_stay_and_nothing_is_negated_or_hedged(style: str) -> None:
    for seed in range(20):
        for text in TEXTS:
            found = styled(text, style, NAMES, seed)
            assert found != text or style in ("typos", "terse")
            spelled = words(found.replace("n't", " not").replace("N'T", " not").replace("cannot", "can not").casefold())
            plain = words(text.replace("n't", " not").casefold())
            for word in map(str.casefold, KEPT):
                # "a" as an article may go, or come in a frame
                assert spelled.count(word) == plain.count(word) or word in ("a", "ok"), (word, found)
            assert not {"maybe", "perhaps", "probably", "think", "honestly", "truly"} & {*spelled} - {*plain}


def test_a_name_that_is_also_an_article_or_a_casual_word_stays() -> None:
    assert styled("A trusts the doctor.", "terse", NAMES) == "A trusts doctor"
    assert "Ok and A" in styled(TEXTS[1], "formal", NAMES)
    assert not re.search(r"\bOk\b", styled("Ok, I vote.", "formal"))
    for seed in range(40):
        assert "Annabelle" in styled("Annabelle Annabelle", "typos", NAMES, seed)


@pytest.mark.parametrize("style", STYLES)
def test_a_style_shows_is_the_same_again_and_depends_on_its_seed_alone(style: str) -> None:
    text = " ".join(TEXTS)
    found = [styled(text, style, NAMES, seed) for seed in range(12)]
    assert found == [styled(text, style, NAMES, seed) for seed in range(12)]
    assert text not in found or style in FRAMED
    assert (len({*found}) > 1) == (style not in ("terse", "capitals"))
    assert styled("", style) == ""


def test_a_statement_in_a_style_keeps_its_context_and_a_game_is_in_that_style_as_far_as_it_is_said() -> None:
    turns = (TranscriptTurn(SAID, "Will", TEXTS[0], key="1"), TranscriptTurn(VOTED, "Will", target="A"))
    game = Transcript("g", NAMES, (*turns, TranscriptTurn(SAID, "A", TEXTS[1], key="2")))
    one = Example("2", "g", "A", "m", TEXTS[1], NAMES, (("Will", TEXTS[0]),), seen=GameMoment(game, 3))
    found, other = in_style([one, one], "capitals")
    assert (found.text, found.context) == (TEXTS[1].upper()[:-1] + "!!", one.context)
    assert found.seen
    assert found.seen.upto == 3
    assert found.seen.transcript is other.seen.transcript  # type: ignore[union-attr]
    said = [turn.text for turn in found.seen.transcript.turns]
    assert said == [styled(TEXTS[0], "capitals", NAMES), "", found.text]
    assert "player" in textualize(found, TextConfig())  # names are found in capitals too


def test_doubling_adds_each_statement_once_in_another_style_with_its_label_and_group() -> None:
    examples = [Example(f"{at}", "g", "Will", "m", f"{TEXTS[0]} {at}", NAMES) for at in range(60)]
    y, groups = np.arange(60) % 3 == 0, np.array([f"{at // 6}" for at in range(60)])
    more, labels, of = doubled(examples, y, groups, seed=3)
    assert more[:60] == examples
    assert [one.statement_id for one in more[60:]] == [one.statement_id for one in examples]
    assert np.array_equal(labels, np.r_[y, y])
    assert np.array_equal(of, np.r_[groups, groups])
    drawn = {
        name
        for name in STYLES
        for one, new in zip(examples, more[60:], strict=True)
        if styled(one.text, name, NAMES, 3) == new.text
    }
    assert drawn == {*STYLES}
