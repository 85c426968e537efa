"""Lies against honest statements: planted shifts are found, and what lies merely go with is not taken for theirs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import polars as pl
import pytest

from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.lies import lies_and_suspicion, lies_and_votes
from tests.benchmark.analyses.made import made, table_of

suspicion_shifts = table_of("suspicion_shifts")

TRUTH = -0.15
OBSERVERS = ("Ann", "Ben", "Cleo")


def games(count: int, shift: Callable[[bool, int, Random], float], seed: int = 1) -> Frames:
    """Games in which Wolf and Vic make three statements each, rated by three others. Both lie now and then, Wolf and
    late statements more often. shift: of suspicion, by whether it is a lie and the place in the day.
    """
    random = Random(seed)
    tables: dict[str, list[dict[str, object]]] = {
        "games": [],
        "seats": [],
        "statements": [],
        "ratings": [],
        "votes": [],
    }
    for number in range(count):
        game = {"game_id": f"g{number}"}
        tables["games"].append(game)
        tables["seats"] += [
            {
                **game,
                "name": name,
                "role": role,
                "team": role,
                "deceives": role == "werewolf",
                "model": f"model of {name}",
            }
            for name, role in (("Wolf", "werewolf"), *((name, "villager") for name in ("Vic", *OBSERVERS)))
        ]
        for speaker, role in (("Wolf", "werewolf"), ("Vic", "villager")):
            running = dict.fromkeys(OBSERVERS, 0.5)
            for third in range(3):
                lie = random.random() < 0.15 + 0.2 * third + (0.2 if role == "werewolf" else 0)
                place = 2 * third + (role == "villager") + 1
                facts = {**game, "statement_id": f"g{number}:{place}", "speaker": speaker, "speaker_role": role}
                labels = {
                    "label_self": lie,
                    "self_type": "omission" if lie else "none",
                    "label_role": role == "werewolf",
                }
                when = {"phase": "discussion", "position": place, "place": place, "statements_of_day": 6, "text": ""}
                tables["statements"].append({**facts, **labels, **when})
                for observer in OBSERVERS:
                    running[observer] += shift(lie, third, random) + random.gauss(0, 0.03)
                    rating = {"observer": observer, "suspicion": 0.5, "running_suspicion": running[observer]}
                    tables["ratings"].append({**facts, **rating})
                if third == 2:
                    tables["votes"] += [
                        {
                            **game,
                            "voter": observer,
                            "target": speaker if random.random() < 0.3 + 0.4 * lie else "Zoe",
                            "ballot": 1,
                        }
                        for observer in OBSERVERS
                    ]
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


def test_the_mean_shift_of_a_kind_is_told_by_the_role_that_is_moved() -> None:
    table = suspicion_shifts(games(30, lambda lie, *_: TRUTH * lie)).filter(label="label_self")
    for model in ("model of Wolf", "model of Vic"):
        means = dict(table.filter(model=model).select("kind", "mean").iter_rows())
        assert means["deceptive"] == pytest.approx(TRUTH, abs=0.02)
        assert means["honest"] == pytest.approx(0, abs=0.02)
