"""What a statement moved: counted by hand, and against every rating of random games."""

from __future__ import annotations

import polars as pl
import pytest

from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.lies import LABELS, moves, of_kinds
from tests.benchmark.analyses.made import made


def at_table(game: str = "g") -> list[dict[str, object]]:
    """A wolf, its partner and two villagers."""
    wolves = {"role": "werewolf", "team": "werewolves", "deceives": True}
    others = {"role": "villager", "team": "villagers", "deceives": False}
    names = {"Wolf": wolves, "Partner": wolves, "Ann": others, "Ben": others}
    return [{"game_id": game, "name": name, **facts} for name, facts in names.items()]


def said(key: str, speaker: str, place: int, phase: str = "discussion", **more: object) -> dict[str, object]:
    about = {"speaker": speaker, "phase": phase, "place": place, "position": place, "statements_of_day": 3}
    return {"game_id": "g", "statement_id": key, "text": "Well.", **about, **more}


def rated(key: str, speaker: str, observer: str, suspicion: float, running: float) -> dict[str, object]:
    facts = {"observer": observer, "suspicion": suspicion, "running_suspicion": running}
    return {"game_id": "g", "statement_id": key, "speaker": speaker, **facts}


def voted(voter: str, target: str, ballot: int = 1, drawn: bool = False) -> dict[str, object]:
    return {"game_id": "g", "voter": voter, "target": target, "ballot": ballot, "drawn": drawn}


@pytest.fixture
def hand() -> Frames:
    """The wolf speaks twice and accuses Ben the second time, Ben speaks between the ballots."""
    return made(
        games=[{"game_id": "g"}],
        seats=at_table(),
        statements=[
            said("one", "Wolf", 1, label_claim=False),
            said("two", "Wolf", 2, text="I am sure that Ben is a werewolf.", label_claim=True),
            said("three", "Ben", 3, "defence"),
        ],
        ratings=[
            rated("one", "Wolf", "Ann", 0.0, 0.15),
            rated("two", "Wolf", "Ann", 1.0, 0.745),
            rated("three", "Ben", "Ann", 1.0, 0.85),
        ],
        votes=[
            *(voted("Ann", "Wolf"), voted("Partner", "Ben"), voted("Ben", "Wolf", drawn=True)),
            *(voted("Ann", "Ben", 2), voted("Partner", "Ben", 2)),
        ],
    )


def row(found: pl.DataFrame, key: str, observer: str, about: str) -> dict[str, object]:
    return found.row(
        by_predicate=(pl.col("statement_id") == key) & (pl.col("observer") == observer) & (pl.col("about") == about),
        named=True,
    )


def test_suspicion_of_the_speaker_is_taken_from_rating_to_rating(hand: Frames) -> None:
    found = moves(hand)
    first, second = (row(found, key, "Ann", "Wolf") for key in ("one", "two"))
    assert (first["before"], first["after"], second["before"]) == (0.5, 0.15, 0.15)
    assert second["shift"] == pytest.approx(0.595)


def test_whom_it_accuses_is_followed_to_the_next_rating_of_its_own_words(hand: Frames) -> None:
    accused = row(moves(hand), "two", "Ann", "Ben")
    assert (accused["of"], accused["before"], accused["after"]) == ("accused", 0.5, 0.85)
    assert set(moves(hand).filter(of="accused")["statement_id"]) == {"two"}
    assert "Ben" not in set(moves(hand).filter(about="Ben")["observer"])


def test_the_next_vote_of_the_day_counts_and_between_ballots_its_change(hand: Frames) -> None:
    found = moves(hand)
    before, between = row(found, "one", "Ann", "Wolf"), row(found, "three", "Ann", "Ben")
    assert (before["vote"], before["vote_change"]) == (True, None)
    assert (between["vote_before"], between["vote"], between["vote_change"]) == (False, True, 1.0)
    assert row(found, "three", "Partner", "Ben")["vote_change"] == 0.0


def test_a_vote_that_the_rules_drew_is_no_vote_and_partners_are_marked(hand: Frames) -> None:
    found = moves(hand)
    assert found.filter(statement_id="one", observer="Ben").is_empty()
    assert set(found.filter("allied").select("speaker", "observer").iter_rows()) == {("Wolf", "Partner")}


def test_every_rating_of_a_game_is_one_shift_by_the_rule_of_suspicion(frames: Frames) -> None:
    known = frames.ratings.drop_nulls("suspicion")
    keys = ["game_id", "rater", "statement_id", "observer"]
    both = moves(frames).filter(of="speaker").drop_nulls("shift").join(known, on=keys)
    assert both.height == known.height
    expected = 0.7 * (both["suspicion"] - both["before"])
    assert (both["shift"] - expected).abs().max() < 1e-9


def test_every_vote_is_once_beside_each_statement_before_it(frames: Frames) -> None:
    """Of one rater, the votes for a speaker beside its last statement of a discussion are the votes for it."""
    found = moves(frames).filter(phase="discussion", of="speaker", rater="players").drop_nulls("vote")
    last = found.sort("position").unique(["game_id", "day", "speaker", "observer"], keep="last")
    counted = {key: sum(part["vote"]) for key, part in last.group_by("game_id", "day", "speaker")}
    votes = frames.votes.filter(~pl.col("drawn") & (pl.col("ballot") == 1))
    got = {key: part.height for key, part in votes.group_by("game_id", "day", "target")}
    assert counted
    assert all(got.get(key, 0) == count for key, count in counted.items())


def test_labels_stay_apart(hand: Frames) -> None:
    kinds = of_kinds(moves(hand).with_columns(self_type=pl.lit("omission"), label_self=pl.lit(False)))
    found = {key: set(part.select("kind", "lie").iter_rows()) for (key,), part in kinds.group_by("label")}
    assert found == {
        "label_claim": {("honest", False), ("deceptive", True)},
        "label_self": {("honest", False)},
        "self_type": {("omission", True)},
    }
    assert set(found) < set(LABELS)
