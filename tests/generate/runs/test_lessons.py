"""The lesson book: what is new is kept, what was said before is not, and a game is always told the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from liescope.common.errors import BadData
from liescope.games.core import Lesson, LessonKind
from liescope.generate.runs.job import NEAR, LessonBook, open_similarity, without_names


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
    (proposal,) = book.add("g1", 1, [lesson(text)])
    assert not proposal["kept"]
    assert proposal["nearest"] >= NEAR
    assert [kept.text for kept in book.lessons] == [KEPT]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Press players like Bob early and openly.", "Press players like Charlie early and openly."),
        ("Stay silent for a turn when Bob accuses me.", "Stay silent for a turn when Dee accuses me."),
        ("Do not accuse the doctor early.", "Never accuse the doctor early."),
        ("Don't plead for your life.", "Do not plead for your life."),
        (
            "A shaky denial turned 4 votes into an exile on day 2.",
            "A shaky denial turned 5 votes into an exile on day 3.",
        ),
    ],
)
def test_a_repeat_that_differs_in_a_name_or_a_number_or_in_how_it_denies_is_left_out(
    tmp_path: Path, one: str, other: str
) -> None:
    book = LessonBook(tmp_path / "a.jsonl", open_similarity(), ("Bob", "Charlie", "Dee"))
    assert [proposal["kept"] for proposal in book.add("g0", 0, [lesson(one), lesson(other)])] == [True, False]


def test_lessons_are_compared_within_their_kind_alone(book: LessonBook) -> None:
    (do,) = book.add("g0", 0, [lesson(KEPT)])
    (avoid,) = book.add("g1", 1, [lesson(KEPT, LessonKind.TO_AVOID)])
    assert (do["kept"], do["nearest"], avoid["kept"], avoid["nearest"]) == (True, None, True, None)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Press players like Bob early.", "Press players like another player early."),
        ("Bob's charge was weak.", "Another player's charge was weak."),
        ("Accuse Bob and Charlie at once.", "Accuse other players at once."),
        ("They voted for Amy too soon.", "They voted for me too soon."),
        ("Bobby is no name here, and bob neither.", "Bobby is no name here, and bob neither."),
        ("Do not joke; Bob warned the others.", "Do not joke; another player warned the others."),
        ("Will the others vote? Ask Will.", "Will the others vote? Ask another player."),
    ],
)
def test_names_are_taken_out_of_a_lesson(text: str, stored: str) -> None:
    assert without_names(text, ("Amy", "Bob", "Charlie", "Will"), "Amy") == stored


def test_a_book_of_before_opens_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    old = [
        {"game": "g0", "begins_with": 0},
        {"game": "g0", "turn": 0, "kind": "to_do", "text": "Press players like Bob early and openly."},
        {"game": "g0", "turn": 0, "kind": "to_do", "text": "Press players like Charlie early and openly."},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in old))
    book = LessonBook(path, open_similarity(), ("Bob", "Charlie", "Dee"))
    assert [one.text for one in book.begin("g1")] == [line["text"] for line in old[1:]]
    assert [
        p["kept"] for p in book.add("g1", 1, [lesson("Press players like Dee early and openly."), lesson(KEPT)])
    ] == [
        False,
        True,
    ]
    assert path.read_text().startswith("".join(f"{json.dumps(line)}\n" for line in old))


def test_lessons_that_say_something_else_are_kept_in_the_order_in_which_they_came(book: LessonBook) -> None:
    for turn, text in enumerate((KEPT, *OTHERS)):
        assert [proposal["kept"] for proposal in book.add(f"g{turn}", turn, [lesson(text)])] == [True]
    assert [kept.text for kept in book.lessons] == [KEPT, *OTHERS]


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
    with pytest.raises(BadData, match=r"a\.jsonl cannot be read"):
        again(book)
