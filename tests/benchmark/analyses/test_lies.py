"""What a statement moved, counted by hand; lies against honest statements: planted shifts are found, and what lies
merely go with is not taken for theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from random import Random

import polars as pl
import pytest

from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.lies import LABELS, lies_and_suspicion, lies_and_votes, moves, of_kinds
from tests.benchmark.analyses.made import column_wise, made


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
    counted = of(lies_and_votes(hand), "label_claim", "deceptive", measure="vote")
    assert [counted[name] for name in ("lies", "honest", "after_lies")] == [1, 1, 1.0]  # of Ann: the partner knows


def test_every_rating_of_a_game_is_one_shift_by_the_rule_of_suspicion(frames: Frames) -> None:
    known = frames.ratings.drop_nulls("suspicion")
    keys = ["game_id", "rater", "statement_id", "observer"]
    both = moves(frames).filter(of="speaker").drop_nulls("shift").join(known, on=keys)
    assert both.height == known.height
    expected = 0.7 * (both["suspicion"] - both["before"])
    assert (both["shift"] - expected).abs().max() < 1e-9


def test_labels_stay_apart(hand: Frames) -> None:
    kinds = of_kinds(moves(hand).with_columns(self_type=pl.lit("omission"), label_self=pl.lit(False)))
    found = {key: set(part.select("kind", "lie").iter_rows()) for (key,), part in kinds.group_by("label")}
    assert found == {
        "label_claim": {("honest", False), ("deceptive", True)},
        "label_self": {("honest", False)},
        "self_type": {("omission", True)},
    }
    assert set(found) < set(LABELS)


TRUTH = -0.15
OBSERVERS = ("Ann", "Ben", "Cleo")


def games(count: int, shift: Callable[[bool, int, Random], float], seed: int = 1) -> Frames:
    """Games in which Wolf and Vic make three statements each, rated by three others. Both lie now and then, Wolf and
    late statements more often. shift: of suspicion, by whether it is a lie and the place in the day.
    """
    random = Random(seed)
    tables: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    for number in range(count):
        game = {"game_id": f"g{number}"}
        tables["games"].append(game)
        names, roles = ["Wolf", "Vic", *OBSERVERS], ["werewolf", *["villager"] * 4]
        models = {"model": [f"model of {name}" for name in names], "deceives": [True, False, False, False, False]}
        tables["seats"] += column_wise(**game, name=names, role=roles, team=roles, **models)
        for speaker, role in (("Wolf", "werewolf"), ("Vic", "villager")):
            running = dict.fromkeys(OBSERVERS, 0.5)
            for third in range(3):
                lie = random.random() < 0.15 + 0.2 * third + (0.2 if role == "werewolf" else 0)
                place = 2 * third + (role == "villager") + 1
                facts = {**game, "statement_id": f"g{number}:{place}", "speaker": speaker, "speaker_role": role}
                said = {"label_self": lie, "self_type": "omission" if lie else "none"}
                labels = {**said, "label_role": role == "werewolf"}
                when = {"phase": "discussion", "position": place, "place": place, "statements_of_day": 6, "text": ""}
                tables["statements"].append({**facts, **labels, **when})
                for observer in OBSERVERS:
                    running[observer] += shift(lie, third, random) + random.gauss(0, 0.03)
                    rating = {"observer": observer, "suspicion": 0.5, "running_suspicion": running[observer]}
                    tables["ratings"].append({**facts, **rating})
                if third == 2:
                    targets = [speaker if random.random() < 0.3 + 0.4 * lie else "Zoe" for _ in OBSERVERS]
                    tables["votes"] += column_wise(**game, voter=[*OBSERVERS], target=targets, ballot=1)
    return made(**tables)


def of(table: pl.DataFrame, label: str, kind: str, **more: object) -> dict[str, object]:
    keys = {"label": label, "kind": kind, "by": "all", "of": "speaker", **more}
    return table.row(
        by_predicate=pl.all_horizontal([pl.col(name) == value for name, value in keys.items()]), named=True
    )


def test_a_planted_shift_is_found() -> None:
    found = of(lies_and_suspicion(games(60, lambda lie, *_: TRUTH * lie)), "label_self", "deceptive")
    assert found["difference"] == pytest.approx(TRUTH, abs=0.01)
    assert found["lo"] < TRUTH < found["hi"] < 0
    assert found["matched_lo"] < TRUTH < found["matched_hi"] < 0


def test_what_lies_go_with_is_not_taken_for_what_they_do() -> None:
    """Late statements raise suspicion and are more often lies; the lies themselves do nothing."""
    found = of(lies_and_suspicion(games(60, lambda _, third, __: 0.1 * third)), "label_self", "deceptive")
    assert found["lo"] > 0
    assert found["matched_lo"] < 0 < found["matched_hi"]
    assert abs(found["matched"]) < 0.01


def test_a_type_is_compared_with_honest_statements_by_the_same_label() -> None:
    table = lies_and_suspicion(games(30, lambda lie, *_: TRUTH * lie))
    assert of(table, "self_type", "omission")["difference"] == pytest.approx(TRUTH, abs=0.02)
    assert table.filter(label="self_type", kind="deceptive").is_empty()  # label_self says that
    assert abs(of(table, "label_role", "deceptive")["difference"]) < abs(TRUTH) / 2


def test_votes_after_lies_and_the_models_of_speakers_and_observers() -> None:
    table = lies_and_votes(games(120, lambda *_: 0.0))
    last = of(table, "label_self", "deceptive", measure="vote")
    assert 0 < last["lo"] < last["hi"]
    models = table.filter(label="label_self", measure="vote", of="speaker")
    assert set(models.filter(by="speaker")["model"]) == {"model of Wolf", "model of Vic"}
    assert set(models.filter(by="observer")["model"]) == {f"model of {name}" for name in OBSERVERS}


def test_few_games_have_a_difference_and_no_interval() -> None:
    found = of(lies_and_suspicion(games(3, lambda lie, *_: TRUTH * lie)), "label_self", "deceptive")
    assert found["difference"] == pytest.approx(TRUTH, abs=0.05)
    assert (found["lo"], found["hi"], found["matched_lo"]) == (None, None, None)
