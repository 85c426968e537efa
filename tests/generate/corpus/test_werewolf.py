"""A corpus of Werewolf, alone or beside Mafia: ballots, spoken reasons, exiles, lessons, and who judged."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from liescope.generate.corpus.read import check, read
from liescope.labeling.lesson_tags import tag
from tests.generate.corpus.games import pack, play, stream, wolves


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("werewolf") / "both"
    pack(stream([*map(play, range(6)), *map(wolves, range(12))]), folder)
    return folder


def test_every_day_has_a_first_ballot_and_a_revote_and_mafia_has_one(corpus: Path) -> None:
    games = read(corpus, "games").select("game_id", "game").collect()
    votes = read(corpus, "votes").collect().join(games, on="game_id")
    days = votes.group_by("game", "game_id", "day").agg(pl.col("ballot").unique().sort())
    ballots = {game: set(map(tuple, part["ballot"])) for (game,), part in days.group_by("game")}
    assert ballots == {"mini-mafia": {(1,)}, "werewolf": {(1, 2)}}


def test_each_lesson_that_was_proposed_is_a_row_with_its_tags(corpus: Path) -> None:
    rows = read(corpus, "lessons").collect()
    proposed = [lesson for number in range(12) for lesson in wolves(number).meta["lessons"]]
    assert rows.height == len(proposed) > 12
    assert sorted(rows["text"]) == sorted(lesson["text"] for lesson in proposed)
    for row in rows.iter_rows(named=True):
        tags = tag(row["text"])
        assert (tuple(row["categories"]), row["order"]) == (tags.categories, tags.order)
    assert set(rows["kept"]) == {True, False}
    check(corpus)


def test_a_judged_game_says_so_on_its_card(tmp_path: Path) -> None:
    assert pack(stream([wolves(1, judged=True)]), tmp_path / "judged").judges == {"a judge": 1}
    assert "a judge: 1" in (tmp_path / "judged" / "README.md").read_text("utf-8")


def test_the_card_tells_the_rules_of_the_games_that_are_there(corpus: Path) -> None:
    card = (corpus / "README.md").read_text("utf-8")
    assert "A jester wins alone" in card
    assert "### `lessons`" in card
    pack(stream([play(number) for number in range(6)]), corpus.with_name("mafia"))
    card = (corpus.with_name("mafia") / "README.md").read_text("utf-8")
    assert "jester wins" not in card
    assert "### `lessons`" not in card
