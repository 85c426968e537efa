"""The ratings as a part of a report: complete on the paper's games, and a clear word where games are few."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from liescope.benchmark import published_counts
from liescope.benchmark.capability.backend import Settings
from liescope.benchmark.capability.counts import PLAYERS, SCHEMA
from liescope.benchmark.capability.model import laplace
from liescope.benchmark.capability.posterior import Diagnostics, Posterior
from liescope.benchmark.capability.variants import DEFAULT, PAPER, Variant, variant
from liescope.benchmark.ratings.nash import by_fit
from liescope.benchmark.ratings.ratings_report import TABLES, part
from liescope.common.report.contents import Report, by_condition
from liescope.common.report.html import page_html


def approximated(cells: pl.DataFrame, model: Variant) -> Posterior:
    """A posterior in milliseconds: normal draws around the most probable scores."""
    found = laplace(cells, offset=model.offset, dispersion=0.02 * model.dispersed)
    rho = {"rho": np.full((1, 1000, 1), 0.02)} if model.dispersed else {}
    diagnostics = Diagnostics(1.0, 1000, 1000, 1.0, 0, 1000, 1, 0.0)
    return Posterior(cells, found.names, {**found.draws, **rho}, diagnostics, Settings(), "normal", model)


@pytest.fixture(scope="module")
def published() -> Report:
    cells = published_counts()
    return part(cells, approximated(cells, DEFAULT))


def holds_numbers_only(found: Report) -> bool:
    """Whether every table is free of NaN and infinities."""
    numbers = (table.select(pl.col(pl.Float64)) for table in found.tables.values())
    return all(np.isfinite(table.drop_nulls().to_numpy()).all() for table in numbers)


def test_the_papers_games_are_rated_by_every_method(published: Report) -> None:
    assert not published.missing
    assert tuple(published.tables) == TABLES
    assert holds_numbers_only(published)
    methods = published.tables["rank_by_method"]
    assert methods.columns[2:] == ["capability model", "Bradley-Terry", "Nash averaging", "background z"]
    for role in PLAYERS:
        part = methods.filter(role=role)
        assert all(sorted(part[name]) == list(range(1, 11)) for name in methods.columns[2:])
    assert methods.filter(role="mafioso", model="DeepSeek V3.1").row(0)[2:] == (1, 1, 1, 1)
    assert methods.filter(role="detective", model="Llama 3.1 8B Instruct").row(0)[2:] == (10, 10, 10, 10)
    # v is how much a villager responds; the others rate how often the town wins with it.
    assert methods.filter(role="villager", model="Grok 3 Mini").row(0)[3:] == (1, 1, 1)
    assert (published.tables["tau"].filter(pl.col("role") != "villager")["tau"] > 0.5).all()


@pytest.mark.parametrize(
    ("table", "value", "lo", "hi"),
    [
        ("ratings", "rating", "lo", "hi"),
        ("nash", "rating", "lo", "hi"),
        ("ahead", "difference", "lo", "hi"),
        ("ranks", "rank", "lo", "hi"),
        ("tau", "tau", "lo", "hi"),
    ],
)
def test_every_number_lies_in_its_interval(published: Report, table: str, value: str, lo: str, hi: str) -> None:
    numbers = published.tables[table].select(value, lo, hi)
    assert numbers.null_count().sum_horizontal().item() == 0
    assert numbers.select(pl.col(value).is_between(pl.col(lo) - 1e-9, pl.col(hi) + 1e-9)).to_series().mean() > 0.95


def test_the_page_shows_every_section_and_names_its_files(published: Report) -> None:
    html = page_html(Report("Ratings", ("found",), sections=published.sections))
    assert [section.name for section in published.sections] == [
        "ratings",
        "nash",
        "ahead-m",
        "ahead-d",
        "ahead-v",
        "methods",
        "conflicts",
    ]
    for section in published.sections:
        assert section.title in html
        assert section.file.removesuffix(".csv") in published.tables


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "these games have none"),
        ([("a", "a", "a", 3, 10)], "these games have one"),
        ([("a", "b", "b", 10, 10), ("b", "a", "a", 7, 7)], "one side won every game"),
    ],
)
def test_games_that_rate_nobody_say_why(rows: list[tuple[str, str, str, int, int]], reason: str) -> None:
    found = part(pl.DataFrame(rows, SCHEMA, orient="row"))
    assert not found.sections
    assert not found.tables
    assert list(found.missing) == [
        "Bradley-Terry ratings",
        "Nash averaging",
        "Who is ahead of whom",
        "Ranks by each method",
    ]
    assert all(reason in text for text in found.missing.values())


def test_twenty_single_games_are_rated_with_wide_intervals_and_their_limits() -> None:
    names = list(product("abc", repeat=3))[:20]
    rows = [(*name, int(at % 3 == 0 or name[0] == "b"), 1) for at, name in enumerate(names)]
    found = part(pl.DataFrame(rows, SCHEMA, orient="row"))
    assert holds_numbers_only(found)
    ratings = found.tables["ratings"]
    assert (ratings["hi"] - ratings["lo"]).min() > 200
    assert "cannot tell how far combinations" in " ".join(found.sections[0].paragraphs)
    assert "b as the mafioso" in " ".join(found.notes)
    assert "no fit of the capability model" in found.missing["Who is ahead of whom"]
    assert any("background z" in title for title in found.missing)


def test_win_rates_not_seen_are_those_of_the_fit_where_it_lets_combinations_depart_from_it() -> None:
    cells = published_counts()
    expected = by_fit(approximated(cells, DEFAULT))
    assert expected is not None
    assert expected.names["mafioso"] == expected.names["villager"]
    seen = {name: at for at, name in enumerate(expected.names["mafioso"])}
    observed = [row["mafia_wins"] / row["games"] for row in cells.to_dicts()]
    mean = expected.chances.mean(axis=0)
    predicted = [mean[tuple(seen[row[role]] for role in PLAYERS)] for row in cells.to_dicts()]
    assert np.corrcoef(observed, predicted)[0, 1] > 0.9
    assert by_fit(approximated(cells, PAPER)) is None
    assert by_fit(approximated(cells, variant("offset+dispersion+last"))) is None


def test_models_that_never_met_the_same_others_are_named_a_guess() -> None:
    alone = pl.DataFrame([("a", "a", "a", 3, 10), ("b", "b", "b", 6, 10)], SCHEMA, orient="row")
    assert "told by no game" in part(alone).notes[0]


def test_a_role_that_one_model_held_is_not_compared() -> None:
    rows = [("a", "a", "c", 8, 10), ("b", "a", "c", 2, 10), ("a", "b", "c", 5, 10)]
    found = part(pl.DataFrame(rows, SCHEMA, orient="row"))
    assert "villager" not in found.tables["ratings"]["role"].to_list()
    assert "villager" not in found.tables["rank_by_method"]["role"].to_list()
    assert found.tables["nash"].filter(role="villager").select("model", "share").rows() == [("c", 1.0)]


def test_conditions_stand_beside_each_other(published: Report) -> None:
    nobody = part(pl.DataFrame(schema=SCHEMA))
    assert by_condition({"": published}) is published
    both = by_condition({"two rounds": published, "eight rounds": nobody})
    assert [section.name for section in both.sections] == [f"{section.name}-1" for section in published.sections]
    assert both.sections[0].title == "Bradley-Terry ratings: two rounds"
    assert both.tables["nash"]["condition"].unique().to_list() == ["two rounds"]
    assert both.missing["Nash averaging: eight rounds"].endswith("have none")
