"""What a scorer that knows only one thing about a statement can reach: planted, it is found and named."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from liescope.detectors.study import controls
from liescope.detectors.study.audit_checks import known, scorers, shuffled
from liescope.detectors.study.checks import dealt, lets_through, reached
from liescope.detectors.study.controls import (
    K_OF_N,
    OPENINGS,
    OTHERS,
    ROLE_ORACLE,
    WORDS,
    WORDS_NAMED,
    WORDS_WITHOUT_ROLES,
    word_probe,
)
from liescope.detectors.study.figures import NOTABLE, PLAIN, SERIOUS, Finding
from liescope.detectors.study.scores import CONTROL
from tests.detectors.audit.conftest import Plant, Planted, Row, Rows, each, longer, words


def about(planted: Planted) -> dict[str, Finding]:
    """What is said of scorers, by the scorer that it is about."""
    return {found.rests_on[0].scorer.removeprefix(CONTROL): found for found in scorers(planted.data).findings}


def early(row: Row, draw: random.Random) -> None:
    row["label_role"] = draw.random() < (0.7 if row["position"] in (1, 4) else 0.2)


def in_the_first_round(row: Row, draw: random.Random) -> None:
    row["label_role"] = draw.random() < (0.7 if row["round"] == 1 else 0.2)


def in_private(row: Row, draw: random.Random) -> None:
    row["audience"] = ["Alice", "Bob"] if draw.random() < 0.5 else []
    row["label_role"] = draw.random() < (0.7 if row["audience"] else 0.2)


def of_one_model(row: Row, draw: random.Random) -> None:
    row["label_role"] = draw.random() < (0.7 if row["speaker_model"] == "model-a" else 0.2)


def of_one_name(row: Row, draw: random.Random) -> None:
    row["label_role"] = draw.random() < (0.8 if row["speaker"] == "Alice" else 0.3)


def under_one_condition(rows: Rows) -> None:
    draw, rounds = random.Random(1), {}
    for number, game in enumerate(rows["games"]):
        game["condition"] = rounds[game["game_id"]] = "rounds=8" if number % 2 else ""
    for row in rows["statements"]:
        row["label_role"] = draw.random() < (0.7 if rounds[row["game_id"]] else 0.2)


def accused_before(rows: Rows) -> None:
    for before, row in zip(rows["statements"], rows["statements"][1:], strict=False):
        if row["label_role"] and row["game_id"] == before["game_id"] and row["speaker"] != before["speaker"]:
            before["text"] += f" accuse {row['speaker']}"


def lies_follow_roles(row: Row, draw: random.Random) -> None:
    row["label_claim"] = row["label_role"] if draw.random() < 0.9 else not row["label_role"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "change", "target"),
    [
        ("length", each(longer), "role"),
        ("position", each(early), "role"),
        ("round", each(in_the_first_round), "role"),
        ("audience", each(in_private), "role"),
        ("model_identity", each(of_one_model), "role"),
        ("name", each(of_one_name), "role"),
        ("game", under_one_condition, "role"),
        (OTHERS, accused_before, "role"),
        (ROLE_ORACLE, each(lies_follow_roles), "claim"),
    ],
)
def test_a_planted_shortcut_is_found_and_named(
    name: str, change: Callable[[Rows], None], target: str, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controls, "READINGS", ())
    found = about(plant(change, target))[name]
    assert found.severity in (NOTABLE, SERIOUS)
    assert "AUROC 0." in found.words


def named(row: Row, _draw: random.Random) -> None:
    row["text"] += " Diana" if row["label_role"] else " Bob"


def role_words(row: Row, draw: random.Random) -> None:
    row["text"] += " town" if row["label_role"] and draw.random() < 0.8 else " detective"


def begun(row: Row, draw: random.Random) -> None:
    first = "Honestly speaking friends" if row["label_role"] else "Well listen here"
    row["text"] = f"{first} {words(draw, row['label_role'], tell=0)}"


@pytest.mark.parametrize(
    ("name", "change"), [(WORDS_NAMED, named), (WORDS_WITHOUT_ROLES, role_words), (OPENINGS, begun)]
)
def test_words_that_give_the_role_away_are_named(
    name: str, change: Callable[[Row, random.Random], None], plant: Plant
) -> None:
    found = about(plant(each(change)))
    of_words = (WORDS, WORDS_NAMED, WORDS_WITHOUT_ROLES, OPENINGS)
    assert [one for one in of_words if one in found and found[one].severity != PLAIN] == [name]


def test_words_find_nothing_in_labels_that_were_dealt_to_other_games(plant: Plant) -> None:
    part = shuffled(plant().data)
    assert [found.severity for found in part.findings] == [PLAIN]
    assert part.figures[0].value == pytest.approx(0.5, abs=0.03)


def test_nothing_is_said_of_shuffles_where_few_games_have_lies(plant: Plant) -> None:
    def rare(rows: Rows) -> None:
        liars = sorted({row["game_id"] for row in rows["statements"]})[:2]
        for row in rows["statements"]:
            row["label_role"] = row["game_id"] in liars

    assert not shuffled(plant(rare, games=12).data).findings


def test_a_protocol_that_leaks_finds_shuffled_labels(plant: Plant) -> None:
    def a_word_a_game(rows: Rows) -> None:
        lies: dict[str, bool] = {}
        draw = random.Random(2)
        for row in rows["statements"]:
            row["label_role"] = lies.setdefault(row["game_id"], draw.random() < 0.5)
            row["text"] = f"{row['game_id'].replace('-', '')} {row['text']}"

    data = plant(a_word_a_game).data
    probe, known = word_probe(data.texts["text"].to_list(), 0), data.known
    by_statement = replace(data.held_out(data.texts["statement_id"].to_numpy().astype(np.str_)), groups=data.groups)
    assert lets_through([reached(dealt(by_statement, known, seed), known, probe) for seed in range(10)])
    assert not lets_through([reached(dealt(data.by_game, known, seed), known, probe) for seed in range(10)])


def test_what_is_known_between_games_is_said_of_players_for_the_role_and_of_statements_for_other_targets(
    plant: Plant,
) -> None:
    def lies_in_some_games(rows: Rows) -> None:
        lying = {game["game_id"]: number % 2 == 0 for number, game in enumerate(rows["games"])}
        draw = random.Random(7)
        for row in rows["statements"]:
            row["label_claim"] = draw.random() < (0.8 if lying[row["game_id"]] else 0.2)

    found = about(plant(lies_in_some_games, "claim", games=60))[K_OF_N]
    assert "knows only what share of a game's labelled statements is deceptive" in found.words
    assert found.severity == PLAIN


def test_texts_that_stand_alone_have_no_share_of_lies_to_know(plant: Plant) -> None:
    def one_a_game(rows: Rows) -> None:
        rows["statements"] = [row for row in rows["statements"] if row["position"] == 1]
        for row in rows["statements"]:
            row["label_claim"] = row["label_role"]

    assert K_OF_N not in known(plant(one_a_game, "claim", games=60).data)
