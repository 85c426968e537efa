"""The lesson book: what is new is kept, what was said before is not, and a game is always told the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from liescope.common.errors import BadData
from liescope.games.lessons import Lesson, LessonKind
from liescope.generate.runs.lesson_book import NEAR, LessonBook, open_similarity


def lesson(text: str, kind: LessonKind = LessonKind.TO_DO) -> Lesson:
    return Lesson(kind, text)


@pytest.fixture
def book(tmp_path: Path) -> LessonBook:
    return LessonBook(tmp_path / "lessons" / "a.jsonl", open_similarity())


def again(book: LessonBook) -> LessonBook:
    return LessonBook(book._path, open_similarity())


KEPT = "Cast your vote against a player whom everyone trusts."
PARAPHRASES = (
    "Cast your vote against a player that everyone trusts.",
    "Vote against a player whom everyone trusts.",
    "Put your vote on a player everybody trusts.",
)
OTHERS = (
    "Stay silent when somebody accuses you.",
    "Ask many questions early in the day.",
    "Claim to be the doctor and then take it back.",
    "Do not plead to be exiled.",
)


@pytest.mark.parametrize("text", PARAPHRASES)
def test_a_lesson_that_says_the_same_in_other_words_is_left_out(book: LessonBook, text: str) -> None:
    book.add("g0", 0, [lesson(KEPT)])
    (proposal,) = book.add("g1", 1, [lesson(text, LessonKind.WINNING_TACTIC)])
    assert not proposal.kept
    assert proposal.nearest is not None
    assert proposal.nearest >= NEAR
    assert [kept.text for kept in book.lessons] == [KEPT]


def test_lessons_that_say_something_else_are_kept_in_the_order_in_which_they_came(book: LessonBook) -> None:
    for turn, text in enumerate((KEPT, *OTHERS)):
        assert [proposal.kept for proposal in book.add(f"g{turn}", turn, [lesson(text)])] == [True]
    assert [kept.text for kept in book.lessons] == [KEPT, *OTHERS]


def test_of_two_that_say_the_same_in_one_game_the_first_is_kept(book: LessonBook) -> None:
    judged = book.add("g0", 0, [lesson(KEPT), lesson(PARAPHRASES[0]), lesson(OTHERS[0])])
    assert [proposal.kept for proposal in judged] == [True, False, True]


def test_a_game_begins_with_the_same_lessons_whenever_it_is_asked(book: LessonBook) -> None:
    book.add("g0", 0, [lesson(KEPT)])
    assert [one.text for one in book.begin("g1")] == [KEPT]
    book.add("g2", 2, [lesson(OTHERS[0])])
    assert [one.text for one in book.begin("g1")] == [KEPT]
    assert [one.text for one in again(book).begin("g1")] == [KEPT]
    assert [one.text for one in again(book).begin("g3")] == [KEPT, OTHERS[0]]


def test_adding_a_games_lessons_twice_adds_them_once(book: LessonBook) -> None:
    proposed = [lesson(KEPT), lesson(OTHERS[0])]
    first = book.add("g0", 0, proposed)
    assert book.add("g0", 0, proposed) == first
    assert again(book).add("g0", 0, proposed) == first
    assert [kept.text for kept in again(book).lessons] == [KEPT, OTHERS[0]]


@pytest.mark.parametrize("cut", [1, 10, 60, 110, 160])
def test_a_book_that_was_cut_off_while_it_was_written_is_made_whole_by_the_same_game(
    book: LessonBook, cut: int
) -> None:
    book.begin("g0")
    proposed = [lesson(text) for text in (KEPT, *OTHERS[:2])]
    first = book.add("g0", 0, proposed)
    whole = book._path.read_bytes()
    book._path.write_bytes(whole[:-cut])
    torn = again(book)
    assert torn.begin("g0") == ()
    assert torn.add("g0", 0, proposed) == first
    assert book._path.read_bytes() == whole


def test_a_file_that_is_no_book_is_named(book: LessonBook) -> None:
    book._path.parent.mkdir()
    book._path.write_text('{"kind": "mood"}\n')
    with pytest.raises(BadData, match=r"a\.jsonl is no book of lessons"):
        again(book)
