"""What a scorer that knows only one thing about a statement can reach: planted, it is found and named."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from liescope.detectors.audit.audit_findings import NOTABLE, PLAIN, SERIOUS, Figure
from liescope.detectors.audit.probes import (
    MASKED,
    NAMED,
    OPENINGS,
    ROLES_MASKED,
    about_words,
    shortcut,
    shuffled,
    table_probes,
    texts_of,
    word_probe,
)
from tests.detectors.audit.conftest import Plant, Planted, Row, Rows, each, longer, words


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


@pytest.mark.parametrize(
    ("name", "change", "target"),
    [
        ("length", each(longer), "role"),
        ("position", each(early), "role"),
        ("round", each(in_the_first_round), "role"),
        ("audience", each(in_private), "role"),
        ("model", each(of_one_model), "role"),
        ("name", each(of_one_name), "role"),
        ("game", under_one_condition, "role"),
        ("others' words", accused_before, "role"),
        ("role oracle", each(lies_follow_roles), "claim"),
    ],
)
def test_a_planted_shortcut_is_found_and_named(
    name: str, change: Callable[[Rows], None], target: str, plant: Plant
) -> None:
    planted = plant(change, target)
    probes = table_probes(planted.data)
    if name not in probes:
        probes[name] = word_probe(dict(texts_of(planted.bench.data.examples))[name], 0)
    (found,) = shortcut(name, planted.bench.grouped(probes[name], planted.bench.folds))
    assert found.name == name
    assert found.severity in (NOTABLE, SERIOUS)
    assert "AUROC 0." in found.sentence


def reached(planted: Planted) -> dict[str, Figure]:
    texts = dict(texts_of(planted.bench.data.examples))
    wanted = {name: word_probe(texts[name], 0) for name in (NAMED, MASKED, ROLES_MASKED, OPENINGS)}
    return {name: planted.bench.grouped(probe, planted.bench.folds) for name, probe in wanted.items()}


def named(row: Row, _draw: random.Random) -> None:
    row["text"] += " Diana" if row["label_role"] else " Bob"


def role_words(row: Row, draw: random.Random) -> None:
    row["text"] += " town" if row["label_role"] and draw.random() < 0.8 else " detective"


def begun(row: Row, draw: random.Random) -> None:
    first = "Honestly speaking friends" if row["label_role"] else "Well listen here"
    row["text"] = f"{first} {words(draw, row['label_role'], tell=0)}"


@pytest.mark.parametrize(("name", "change"), [(NAMED, named), (ROLES_MASKED, role_words), (OPENINGS, begun)])
def test_words_that_give_the_role_away_are_named(
    name: str, change: Callable[[Row, random.Random], None], plant: Plant
) -> None:
    alarms = [found for found in about_words(reached(plant(each(change)))) if found.severity != PLAIN]
    assert [found.name for found in alarms] == [name]


def test_real_labels_lie_above_all_shuffles_of_them_and_meaningless_ones_among_them(plant: Plant) -> None:
    def dull(row: Row, draw: random.Random) -> None:
        row["text"] = words(draw, row["label_role"], tell=0)

    for change, where in ((lambda _: None, "above all 20"), (each(dull), "of the 20")):
        planted = plant(change)
        probe = word_probe(dict(texts_of(planted.bench.data.examples))[MASKED], 0)
        (found,) = shuffled(planted.bench, probe, 20)[1]
        assert where in found.sentence
        assert found.severity == PLAIN


def test_shuffles_that_deal_every_lie_to_one_half_are_left_out(plant: Plant) -> None:
    def rare(rows: Rows) -> None:
        liars = sorted({row["game_id"] for row in rows["statements"]})[:2]
        for row in rows["statements"]:
            row["label_role"] = row["game_id"] in liars

    planted = plant(rare, games=12)
    (real, row), (found,) = shuffled(planted.bench, lambda _, score, y: np.linspace(0, 1, len(score)), 20)
    assert None not in (real.value, row.value)
    assert 0 < int(row.name.split()[0]) < 20
    assert found.sentence.startswith(row.name)


def test_a_protocol_that_leaks_finds_shuffled_labels(plant: Plant) -> None:
    def a_word_a_game(rows: Rows) -> None:
        lies: dict[str, bool] = {}
        draw = random.Random(2)
        for row in rows["statements"]:
            row["label_role"] = lies.setdefault(row["game_id"], draw.random() < 0.5)
            row["text"] = f"{row['game_id'].replace('-', '')} {row['text']}"

    planted = plant(a_word_a_game)
    bench = planted.bench
    bench.fold = np.arange(len(bench.fold)) % bench.folds  # by statement, as no fold of the audit is
    probe = word_probe([example.text for example in bench.data.examples], 0)
    (found,) = shuffled(bench, probe, 20)[1]
    assert found.severity == SERIOUS
    assert "protocol itself leaks" in found.sentence


def test_what_is_known_between_games_is_said_of_players_for_the_role_and_of_statements_for_other_targets(
    plant: Plant,
) -> None:
    def lies_in_some_games(rows: Rows) -> None:
        lying = {game["game_id"]: number % 2 == 0 for number, game in enumerate(rows["games"])}
        draw = random.Random(7)
        for row in rows["statements"]:
            row["label_claim"] = draw.random() < (0.8 if lying[row["game_id"]] else 0.2)

    planted = plant(lies_in_some_games, "claim", games=60)
    name = "share in the game"
    (found,) = shortcut(name, planted.bench.grouped(table_probes(planted.data)[name], planted.bench.folds))
    assert found.sentence.startswith("Knowing what share of a game's labelled statements is deceptive")
    assert found.severity == PLAIN
    assert name not in table_probes(plant(games=40).data)
