"""The background method as a part of a report: sections, tables, and clear words where there is nothing to show."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from liescope.benchmark import published_counts, published_scores
from liescope.benchmark.capability.backend import Settings
from liescope.benchmark.capability.background_report import part_of_conditions
from liescope.benchmark.capability.counts import PLAYERS
from liescope.benchmark.capability.posterior import Diagnostics, Posterior
from liescope.benchmark.capability.z_scores import DESIGN
from liescope.common.report.contents import Report
from liescope.common.report.files import page_html

RATES = [f"background-rates-{name}" for name in DESIGN]
ABLATION = "discussion rounds 8"


def few() -> pl.DataFrame:
    """Four of the published models, against two of them."""
    models = ["DeepSeek V3.1", "GPT-4.1 Mini", "GPT-5 Mini", "Grok 3 Mini"]
    kept = published_counts().filter(pl.all_horizontal(pl.col(PLAYERS).is_in(models)))
    return kept.filter(pl.sum_horizontal(pl.col(PLAYERS).is_in(["DeepSeek V3.1", "Grok 3 Mini"])) >= 2)


def names(found: Report) -> list[str]:
    return [section.name for section in found.sections]


def fitted(cells: pl.DataFrame) -> Posterior:
    """A sample around the published scores of these models."""
    random = np.random.default_rng(0)
    names, draws = {}, {}
    for name, role in zip("mdv", PLAYERS, strict=True):
        known = published_scores().filter(pl.col("model").is_in(cells[role].implode())).sort("model")
        names[name] = tuple(known["model"])
        draws[name] = random.normal(known[name], known[f"{name}_sd"], size=(2, 200, known.height))
    return Posterior(cells, names, draws, Diagnostics(1, 400, 400, 1, 0, 200, 2, 1), Settings(), "nutpie")


def html(found: Report) -> str:
    return page_html(Report("Background", (), sections=found.sections))


def test_games_of_every_background_give_every_figure_of_the_method() -> None:
    found = part_of_conditions({"": few()}, {"": fitted(few())})
    assert names(found) == ["background", "background-agreement", *RATES]
    assert not found.missing
    assert all("<svg" in section.figure for section in found.sections)
    assert {name: table.height for name, table in found.tables.items()} == {
        "background": 12,
        "background_rates": 24,
        "background_agreement": 6,
    }
    page = html(found)
    assert re.search(r"To deceive, m and z correlate by [-0-9.]+ \([-0-9.]+ to [-0-9.]+\), their ranks by", page)
    assert not re.search(r">(nan|None)<", page)


def test_several_conditions_stand_beside_each_other_with_their_correlation() -> None:
    half = few().with_columns(pl.col("mafia_wins", "games") // 2)
    hole = (pl.col("detective") == "GPT-4.1 Mini") & (pl.col("mafioso") == "Grok 3 Mini")
    found = part_of_conditions({"": few(), ABLATION: half.filter(~hole)}, {})
    assert names(found) == ["background", "background-conditions", *RATES]
    assert found.tables["background"]["condition"].unique(maintain_order=True).to_list() == ["", ABLATION]
    between = found.tables["background_conditions"].filter(measure="Pearson")
    assert between.select("capability", "models").rows() == [("deceive", 4), ("detect", 4), ("disclose", 3)]
    assert (between["r"] > 0.9).all()
    page = html(found)
    assert f"To deceive, settings not stated and {ABLATION} correlate by" in page
    assert f"{ABLATION}: To disclose, not every model met every background. Left out: the model GPT-4.1 Mini." in page


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="no games"),
        pytest.param([("a", "a", "a", 3, 20)], id="one model"),
        pytest.param([("a", "b", "c", 3, 20), ("b", "c", "a", 4, 20)], id="no background"),
    ],
)
def test_what_these_games_cannot_show_is_said(rows: list[tuple[str, str, str, int, int]]) -> None:
    cells = pl.DataFrame(rows, published_counts().schema, orient="row")
    found = part_of_conditions({"": cells}, {})
    assert list(found.missing) == [
        f"Scores against backgrounds, to {name}" for name in ("deceive", "detect", "disclose")
    ]
    assert all("no two models met the same background" in why for why in found.missing.values())
    assert "background" not in found.tables
    assert names(found) == (RATES if rows == [("a", "a", "a", 3, 20)] else [])
    html(found)


def test_two_models_have_scores_and_no_correlation() -> None:
    models = ["DeepSeek V3.1", "Grok 3 Mini"]
    pair = published_counts().filter(pl.all_horizontal(pl.col(PLAYERS).is_in(models)))
    found = part_of_conditions({"": pair, ABLATION: pair}, {"": fitted(pair)})
    assert found.tables["background"].height == 12
    assert [why.split(" of ")[0] for why in found.missing.values()] == [
        "fewer than 3 models have scores",
        "no two conditions have scores",
    ]


def test_twenty_games_are_enough_for_a_page_with_wide_intervals() -> None:
    rows = [(i, b, b, (n + m) % 3, 3) for n, i in enumerate("abc") for m, b in enumerate("ab")]
    found = part_of_conditions({"": pl.DataFrame(rows, published_counts().schema, orient="row")}, {})
    scores = found.tables["background"]
    assert scores["capability"].unique().to_list() == ["deceive"]
    assert ((scores["z_hi"] - scores["z_lo"]) > 1).all()
    assert set(found.missing) == {"Scores against backgrounds, to detect", "Scores against backgrounds, to disclose"}
    html(found)


def test_many_models_are_a_table_without_a_figure() -> None:
    rows = [(f"model {n:02}", "b", "b", n, 60) for n in range(30)]
    found = part_of_conditions({"": pl.DataFrame(rows, published_counts().schema, orient="row")}, {})
    assert names(found)[0] == "background"
    assert not any(section.figure for section in found.sections[:1])
    assert found.tables["background"].height == 30
