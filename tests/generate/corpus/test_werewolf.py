"""A corpus of Werewolf, alone or beside Mafia: ballots, spoken reasons, exiles, lessons, and who judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from liescope.games.core import AskKind, Assessment, Reply
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.session import drive, start
from liescope.generate.corpus.build import pack
from liescope.generate.corpus.read import check, read
from liescope.labeling.label import label_game
from liescope.labeling.lesson_tags import tag
from tests.generate.corpus.games import play, stream, wolves


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("werewolf") / "both"
    pack(stream([*map(play, range(6)), *map(wolves, range(12))]), folder)
    return folder


def judged(game: Any) -> Any:
    """The game with a judge that takes every statement for a fabrication."""
    session = start(lambda: RatedGame(game, RatingSpec(lessons=True), "a judge"))
    said = Assessment(True, "fabrication", 0.9, 1.0, "sure")
    form = Reply(form={"order": ("2",)})
    drive(session, lambda ask, view: form if ask.kind is AskKind.TAG_LESSON else Reply(assessment=said))
    return session.game.record()


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


def test_a_judged_game_has_the_judges_labels_and_says_so(tmp_path: Path) -> None:
    game = judged(wolves(1))
    labelled, before = label_game(game), label_game(wolves(1))
    assert all(row.label_self and row.label_peer in (True, None) for row in labelled.statements)
    assert {row.observer_model for row in labelled.ratings} == {"a judge"}
    assert [row.label_claim for row in labelled.statements] == [row.label_claim for row in before.statements]
    assert not all(row.label_self for row in before.statements)
    facts = pack(stream([game]), tmp_path / "judged")
    assert facts.judges == {"a judge": 1}
    assert "a judge: 1" in (tmp_path / "judged" / "README.md").read_text("utf-8")


def test_the_card_tells_the_rules_of_the_games_that_are_there(corpus: Path) -> None:
    card = (corpus / "README.md").read_text("utf-8")
    assert "A jester wins alone" in card
    assert "### `lessons`" in card
    pack(stream([play(number) for number in range(6)]), corpus.with_name("mafia"))
    card = (corpus.with_name("mafia") / "README.md").read_text("utf-8")
    assert "jester wins" not in card
    assert "### `lessons`" not in card
