"""Names and their genders: whose games count, and what is left once roles and models are the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest

from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.names import ANY, attribute_effect, gender_effect, name_effect
from liescope.games.game_options import NAMES
from tests.benchmark.analyses.made import made, table_of

gender_wins = table_of("gender_wins")
name_wins = table_of("name_wins")

MODELS = ("a", "b")


def played(games: Iterator[tuple[str, dict[str, str], bool]]) -> Frames:
    """Mini-Mafia without its dead villager. games: line-up, name of each role, whether the mafia won."""
    rows: dict[str, list[dict[str, Any]]] = {"games": [], "seats": []}
    for number, (lineup, names, mafia) in enumerate(games):
        common = {"game_id": f"g{number}", "game": "mini-mafia", "learning": False}
        rows["games"].append({**common, "lineup": lineup, "winner": "mafia" if mafia else "town"})
        for role, name in names.items():
            won = mafia == (role == "mafioso")
            rows["seats"].append({**common, "name": name, "role": role, "fate": "alive", "won": won})
    return made(**rows)


def dealt(chance: Callable[[str, dict[str, str]], float], count: int, seed: int = 1, names: str = "ABCD") -> Frames:
    """Games whose names are dealt at random; chance: of the mafia, by line-up and names."""
    random = Random(seed)
    of = {letter: next(name for name in NAMES if name[0] == letter) for letter in "ABCDEF"}

    def games() -> Iterator[tuple[str, dict[str, str], bool]]:
        for lineup, _ in product(MODELS, range(count)):
            drawn = random.sample([of[letter] for letter in names], 3)
            deal = dict(zip(("mafioso", "detective", "villager"), drawn, strict=True))
            yield lineup, deal, random.random() < chance(lineup, deal)

    return played(games())


def effects(table: pl.DataFrame, role: str, column: str = "name") -> dict[str, tuple[float, float, float]]:
    rows = table.filter(pl.col("role") == role)
    return {name: bounds for name, *bounds in rows.select(column, "difference", "lo", "hi").iter_rows()}


def test_a_bias_that_was_planted_is_found_in_its_role_and_as_the_deal_spreads_it() -> None:
    """With Bob as villager, Bob is no mafioso: then the mafia lacks what it has in a third of the other games."""
    table = name_effect(dealt(lambda lineup, names: 0.3 + 0.24 * (names["mafioso"] == "Bob"), 2000))
    expected = {"mafioso": 0.24, "villager": 0.08, "detective": 0.08, ANY: (0.24 + 0.08 + 0.08) / 3}
    for role, truth in expected.items():
        _, lo, hi = effects(table, role)["Bob"]
        assert 0 < lo < truth < hi, role


@pytest.mark.long
def test_without_a_bias_no_more_intervals_leave_out_zero_than_they_say() -> None:
    tables = [name_effect(dealt(lambda lineup, names: 0.3 if lineup == "a" else 0.8, 150, seed)) for seed in range(12)]
    bounds = [row for table in tables for row in table.select("lo", "hi").iter_rows()]
    assert len(bounds) == 12 * 4 * 4
    assert sum(lo < 0 < hi for lo, hi in bounds) >= 0.9 * len(bounds)


def test_a_name_that_often_has_the_winning_role_is_not_favoured() -> None:
    """Bob is mafioso more often in the line-up whose mafia wins most; within role and line-up it changes nothing."""
    random = Random(3)

    def games() -> Iterator[tuple[str, dict[str, str], bool]]:
        for lineup, _ in product(MODELS, range(800)):
            others = random.sample(["Alice", "Charlie", "Diana"], 3)
            first = "Bob" if random.random() < (0.8 if lineup == "a" else 0.2) else others.pop()
            deal = {"mafioso": first, "detective": others[0], "villager": others[1]}
            yield lineup, deal, random.random() < (0.8 if lineup == "a" else 0.2)

    frames = played(games())
    raw = {name: (lo, hi) for name, lo, hi in name_wins(frames).select("name", "lo", "hi").iter_rows()}
    assert raw["Bob"][0] > 0.6 > raw["Alice"][1]
    _, lo, hi = effects(name_effect(frames), "mafioso")["Bob"]
    assert lo < 0 < hi


def test_names_with_a_role_of_their_own_are_not_compared() -> None:
    seats = {"mafioso": "Bob", "detective": "Alice", "villager": "Diana"}
    frames = played(iter([("a", seats, True), ("a", seats, False)] * 5))
    assert name_wins(frames).height == 3
    assert name_effect(frames).is_empty()
    assert gender_effect(frames).is_empty()


def test_a_name_counts_where_it_lived_to_speak_and_its_rate_is_its_wins_of_its_games() -> None:
    common = {"game": "mafia", "name": "Bob", "role": "villager"}
    fates = [
        ("alive", None, True),
        ("killed", 1, True),
        ("exiled", 1, False),
        ("killed", 2, True),
        ("alive", None, None),
    ]
    seats = [
        {**common, "game_id": f"g{at}", "fate": fate, "day_out": day, "won": won}
        for at, (fate, day, won) in enumerate(fates)
    ]
    (row,) = name_wins(made(seats=seats)).to_dicts()
    assert (row["wins"], row["games"], row["rate"]) == (2, 3, 2 / 3)
    assert row["lo"] < row["rate"] < row["hi"]


def test_names_that_hardly_recur_are_left_out() -> None:
    common = {"game": "mafia", "role": "villager", "fate": "alive", "won": True}
    seats = [{**common, "game_id": f"g{at}", "name": name} for at in range(60) for name in ("Bob", f"visitor {at}")]
    assert name_wins(made(seats=seats))["name"].to_list() == ["Bob"]


def test_genders_are_those_of_the_default_names_and_others_are_said_to_have_none() -> None:
    frames = dealt(
        lambda lineup, names: 0.2 + 0.4 * (names["mafioso"] in ("Bob", "Charlie", "Frank")), 300, 1, "ABCDEF"
    )
    frames = replace(frames, seats=frames.seats.with_columns(pl.col("name").replace("Erin", "Zoë Ünal")))
    table = gender_wins(frames)
    assert table["gender"].to_list() == ["female", "male", "not stated"]
    assert table["n"].sum() == frames.seats.height
    effect = gender_effect(frames)
    assert effect.filter(pl.col("role") == "mafioso")["lo"].item() > 0.25
    stated = frames.seats.filter((pl.col("role") == "mafioso") & (pl.col("name") != "Zoë Ünal"))
    assert effect.filter(pl.col("role") == "mafioso")["games"].item() == stated.height < frames.games.height


def test_without_a_stated_gender_there_is_nothing_to_compare() -> None:
    seat = {"game_id": "g", "game": "mafia", "name": "player 1", "role": "villager", "fate": "alive", "won": True}
    assert gender_wins(made(seats=[seat])).is_empty()


@pytest.mark.parametrize("name", NAMES)
def test_every_default_name_has_a_gender(name: str) -> None:
    seat = {"game_id": "g", "game": "mafia", "name": name, "role": "villager", "fate": "alive", "won": True}
    assert gender_wins(made(seats=[seat]))["gender"].item() in ("female", "male")


@pytest.mark.parametrize("games", [1, 2, 20])
def test_few_games_give_an_answer_or_none_and_never_nan(games: int) -> None:
    frames = dealt(lambda lineup, names: 0.5, games)
    for table in (name_wins(frames), name_effect(frames), gender_wins(frames), gender_effect(frames)):
        assert not any(column.is_nan().any() for column in table.select(cs.float()).get_columns())


def test_bias_by_an_attribute_of_names_is_found_and_is_no_table_where_names_have_none() -> None:
    """The hills are suspected more, and voted out more, than the coast; who wins has nothing to do with it."""
    frames, random = dealt(lambda lineup, names: 0.4, 300), Random(7)
    assert not attribute_effect(frames).height
    assert not table_of("attribute_rates")(frames).height
    hills = pl.col("name").is_in(["Bob", "Diana"])
    told = {name: {"region": "hills" if name in ("Bob", "Diana") else "coast", "age": ""} for name in NAMES[:4]}
    out = [random.random() < 0.2 + 0.3 * (name in ("Bob", "Diana")) for name in frames.seats["name"]]
    seats = frames.seats.with_columns(fate=pl.when(pl.Series(out)).then(pl.lit("exiled")).otherwise("fate"))
    rated = frames.seats.select("game_id", speaker="name", suspicion=0.3 + 0.2 * hills, rater=pl.lit("players"))
    ratings = pl.concat([frames.ratings, rated], how="diagonal")
    games = frames.games.with_columns(attributes=pl.lit(json.dumps(told)))
    found = attribute_effect(replace(frames, seats=seats, ratings=ratings, games=games))
    assert found["attribute"].unique().to_list() == ["region"]
    assert found["group"].unique().to_list() == ["hills"], (
        "the coast's difference is the same one, so it is no test more"
    )
    bounds = {
        measure: effects(found.filter(pl.col("measure") == measure), ANY, "group")["hills"]
        for measure in found["measure"].unique()
    }
    assert bounds["suspicion"] == pytest.approx((0.2, 0.2, 0.2), abs=0.02)
    assert 0.2 < bounds["voted out"][1] < 0.3 < bounds["voted out"][2] < 0.4
    assert bounds["side won"][1] < 0 < bounds["side won"][2]
    assert found["games"].max() == frames.games.height
