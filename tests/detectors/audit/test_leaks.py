"""What leaks between splits, who is missing, what goes together: planted, it is found and named."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import numpy as np
import pytest

from liescope.common.statistics import CHANGE
from liescope.detectors.study.audit_checks import copies, division, missing, scorers, units_of
from liescope.detectors.study.audited import Examined
from liescope.detectors.study.figures import GAIN, NOTABLE, PLAIN, SERIOUS, Jackknifed, graded
from liescope.detectors.study.scores import CONTROL
from liescope.generate.corpus.read import silent_turns
from tests.detectors.audit.conftest import Plant, Row, Rows


def alarms(part: Examined) -> list[str]:
    return [found.words for found in part.findings if found.severity != PLAIN]


def repeated(change: Callable[[str], str], share: float) -> Callable[[Rows], None]:
    """Test statements become, with this probability, changed copies of statements of train with the same label."""

    def planted(rows: Rows) -> None:
        draw = random.Random(3)
        train: dict[bool, list[str]] = {True: [], False: []}
        for row in rows["statements"]:
            if row["split"] == "train":
                train[row["label_role"]].append(row["text"])
        for row in rows["statements"]:
            if row["split"] == "test" and draw.random() < share:
                row["text"] = change(draw.choice(train[row["label_role"]]))

    return planted


@pytest.mark.parametrize("change", [str.upper, lambda text: f"{text[:-1]}"])
def test_statements_that_repeat_what_was_learned_from_are_found_word_for_word_and_nearly(
    change: Callable[[str], str], plant: Plant
) -> None:
    planted = plant(repeated(change, 0.3))
    (found,) = copies(planted.data).findings
    assert found.severity in (NOTABLE, SERIOUS)
    alike, exact = (int(share) for share in re.findall(r"(\d+)%", found.words))
    of_test = 100 * (planted.data.texts["split"] == "test").mean()
    assert 0.2 * of_test < alike < 0.8 * of_test  # theirs and those that they copy
    assert (exact > 0.2 * of_test) == (change is str.upper)


def test_copies_that_a_detector_has_learned_lift_its_figure(plant: Plant) -> None:
    def by_heart(rows: Rows) -> None:
        draw = random.Random(4)
        letters = "abcdefghijklmnopqrstuvwxyz"
        for row in rows["statements"]:
            row["text"] = " ".join("".join(draw.choices(letters, k=4)) for _ in range(8))
        for row in rows["statements"]:
            row["text"] = f"{row['text']} {row['text']}"
        repeated(str, 0.5)(rows)

    (found,) = copies(plant(by_heart).data).findings
    assert found.severity == SERIOUS
    assert found.rests_on[0].lo < 0.5 < found.rests_on[0].hi


def test_a_game_under_a_second_id_is_found_and_named(plant: Plant) -> None:
    said: dict[str, list[Row]] = {}

    def twice(rows: Rows) -> None:
        for row in rows["statements"]:
            said.setdefault(row["game_id"], []).append(row)
        train = next(game for game in said.values() if game[0]["split"] == "train")
        test = next(game for game in said.values() if game[0]["split"] == "test")
        for row, other in zip(test, train, strict=True):
            row["text"] = other["text"]

    words, _ = alarms(copies(plant(twice).data))
    test = next(name for name, game in said.items() if game[0]["split"] == "test")
    assert test in words
    assert "under another id" in words


def test_players_with_stock_phrases_repeat_no_game(plant: Plant) -> None:
    def of_phrases(rows: Rows) -> None:
        draw = random.Random(8)
        stock = [" ".join(draw.choices("abcdefghijklmnop", k=7)) for _ in range(6)]
        for row in rows["statements"]:
            row["text"] = draw.choice(stock)

    found = alarms(copies(plant(of_phrases).data))
    assert found
    assert not [words for words in found if "under another id" in words]


@pytest.mark.parametrize("unit", ["batch", "prompt_version", "run"])
def test_what_belongs_to_a_batch_a_prompt_or_a_run_is_lost_when_it_is_held_out(unit: str, plant: Plant) -> None:
    def its_own_words(rows: Rows) -> None:
        of: dict[str, int] = {}
        for number, game in enumerate(rows["games"]):
            of[game["game_id"]] = number % 6
            if unit != "batch":
                game[unit] = f"{unit}-{number % 6}"
        for row in rows["statements"]:
            side = row["label_role"] == (of[row["game_id"]] % 2 == 0)
            row["text"] = row["text"].split(" ", 1)[1] + f" {'xyzuvw'[of[row['game_id']]]}{'abc'[side]}"
        if unit == "batch":
            for table in rows.values():
                for row in table:
                    row["game_id"] = f"batch-{of[row['game_id']]}_game_{row['game_id'][-5:]}"
                    if "statement_id" in row:
                        row["statement_id"] = row["game_id"] + row["statement_id"]

    planted = plant(its_own_words)
    assert units_of(planted.data) == [unit]
    (words,) = [one for one in alarms(division(planted.data)) if one.startswith("With whole")]
    assert f"that part belongs to the {unit.replace('_', ' ')}" in words


def test_runs_that_are_the_label_are_said_to_leave_nothing_to_learn_from(plant: Plant) -> None:
    def split_by_label(rows: Rows) -> None:
        lying = {game["game_id"]: number % 2 == 0 for number, game in enumerate(rows["games"])}
        for game in rows["games"]:
            game["run"] = "lies" if lying[game["game_id"]] else "truths"
        for row in rows["statements"]:
            row["label_role"] = lying[row["game_id"]]

    found, *_ = division(plant(split_by_label, games=40).data).findings
    assert (found.severity, found.words) == (
        NOTABLE,
        "Whole runs cannot be held out: what is left then has labels of one class alone.",
    )


def test_labels_texts_and_turns_that_are_missing_for_one_model_or_role_are_found(plant: Plant) -> None:
    def gone(rows: Rows) -> None:
        draw = random.Random(6)
        silent: dict[str, int] = {}
        kept = []
        for row in rows["statements"]:
            ours = row["speaker_model"] == "model-a"
            row["label_claim"] = None if draw.random() < (0.7 if ours else 0.1) else row["label_claim"]
            row["text"] = "\\" if draw.random() < (0.0 if ours else 0.3) else row["text"]
            if row["label_role"] and draw.random() < 0.4 and row["position"] not in (1, 4):
                silent[row["game_id"]] = silent.get(row["game_id"], 0) + 1
            else:
                kept.append(row)
        rows["statements"] = kept
        for game in rows["games"]:
            game["silences"] = silent.get(game["game_id"], 0)

    planted = plant(gone, target="claim")
    found = alarms(missing(planted.data))
    for words, said in zip(found, ("no claim label", "a lost text", "silence instead of a statement"), strict=True):
        assert said in words
    assert "same share for every model" in found[0]
    assert "model-a" in found[0]
    assert "same share for every role" in found[2]
    turns = silent_turns(planted.data.spoken, planted.data.games)
    assert turns["silent"].sum() == planted.data.games["silences"].sum()


def test_silences_are_not_told_where_they_cannot_be_known(plant: Plant) -> None:
    def bidding(rows: Rows) -> None:
        for row in rows["statements"]:
            row["round"] = row["position"]

    assert silent_turns(*((data := plant(bidding, games=60).data).spoken, data.games)).is_empty()


def test_a_role_that_goes_with_a_name_a_model_or_a_place_is_found_as_what_these_alone_reach(plant: Plant) -> None:
    def tied(rows: Rows) -> None:
        for row in rows["statements"]:
            row["speaker"] = "Diana" if row["label_role"] else "Bob"
            row["speaker_model"] = "model-a" if row["label_role"] else "model-b"
            row["position"] = 1 + row["label_role"]

    found = {one.rests_on[0].scorer: one.severity for one in scorers(plant(tied).data).findings}
    assert {found[f"{CONTROL}{name}"] for name in ("name", "model_identity", "position")} == {SERIOUS}


def test_a_gain_that_few_games_decide_is_no_leak() -> None:
    values = np.full(21, 0.125)
    values[1:3] += 0.01, -0.01  # of twenty games two move it at all
    gain = Jackknifed(values, 400, 20, span=CHANGE)
    lo = gain.figure("words", "role", "by statement", "auroc_difference").lo
    assert lo is not None
    assert lo < 0
    assert graded(gain.certain, GAIN) == PLAIN
