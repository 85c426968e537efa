"""Agreement of the background method with the capability model, and of conditions with each other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope.benchmark import published_counts, published_scores
from liescope.benchmark.capability.background_report import between_conditions, correlations, with_capability_model
from liescope.benchmark.capability.z_scores import background_scores, published_ablations


def test_the_papers_correlations_between_ablations_come_back_with_their_uncertainty() -> None:
    # Appendix C: 0.5 ± 0.2 between the default and either ablation, 0.6 ± 0.2 between the ablations.
    found = between_conditions(published_ablations()).filter(measure="Pearson")
    assert found.select("one", "other").rows() == [
        ("default", "short prompt"),
        ("default", "short prompt, 8 rounds"),
        ("short prompt", "short prompt, 8 rounds"),
    ]
    assert found["simulated"].round(1).to_list() == [0.5, 0.5, 0.6]
    assert found["simulated_sd"].round(1).to_list() == [0.2, 0.2, 0.2]
    assert found["models"].to_list() == [9, 9, 9]


def test_the_bundled_ablations_are_the_authors(shared_data: Path) -> None:
    text = (shared_data / "mini_mafia" / "reference.json").read_text(encoding="utf-8")
    names = {"default": "Article", "short prompt": "ShortPrompt", "short prompt, 8 rounds": "ShortPrompt Round8"}
    theirs = {row["Model"]: row for row in json.loads(text)["ablation_deceive"]}
    assert published_ablations().height == 3 * len(theirs)
    for row in published_ablations().to_dicts():
        printed = theirs[row["model"]]
        for ours, name in (("z", "Avg Z"), ("z_sd", "Z Err"), ("score", "exp(z)"), ("score_sd", "exp Err")):
            assert row[ours] == float(printed[f"{names[row['condition']]} {name}"])


def test_both_methods_agree_on_the_published_games() -> None:
    found = with_capability_model(background_scores(published_counts()), published_scores())
    assert found.select("capability", "one").unique(maintain_order=True).rows() == [
        ("deceive", "m"),
        ("detect", "v"),
        ("disclose", "d"),
    ]
    pearson = found.filter(measure="Pearson")
    assert (pearson["r"] > 0.85).all()
    assert (pearson["lo"] > 0.5).all()
    assert (pearson["simulated"] < pearson["r"]).all()
    assert found["free_lo"].null_count() == found.height  # the same games: their chance is shared


def test_a_model_that_one_side_does_not_score_is_left_out_and_two_are_too_few() -> None:
    ours = background_scores(published_counts())
    few = published_scores().head(6)
    assert with_capability_model(ours, few)["models"].to_list() == [6] * 6
    unheard = few.with_columns(v=pl.when(pl.col("model") == few["model"][0]).then(None).otherwise("v"))
    assert with_capability_model(ours, unheard).filter(one="v")["models"].to_list() == [5, 5]
    assert with_capability_model(ours, few.head(2)).is_empty()


def test_a_villagers_offset_is_compared_where_the_fitted_model_has_one() -> None:
    offset = published_scores().with_columns(
        b=-pl.col("v"), b_sd="v_sd", v=pl.lit(None, pl.Float64), v_sd=pl.lit(None, pl.Float64)
    )
    found = with_capability_model(background_scores(published_counts()), offset).filter(measure="Pearson")
    assert found["one"].to_list() == ["m", "d", "b"]
    assert found["r"][2] < -0.9


def test_scores_without_chance_correlate_as_they_are() -> None:
    score, none = np.array([1.0, 2, 3, 5]), np.zeros(4)
    (_, _, r, lo, hi, *simulated), spearman = correlations((score, none), (-(score**2), none), np.asarray, False)
    assert (r, lo, hi) == (pytest.approx(np.corrcoef(score, -(score**2))[0, 1]), pytest.approx(lo), pytest.approx(hi))
    assert simulated == pytest.approx([r, 0, r, r], abs=1e-9)
    assert spearman[2:] == pytest.approx((-1, None, None, -1, 0, -1, -1))


def test_the_correlation_of_endless_games_is_covered_where_plain_simulation_is_too_low() -> None:
    random = np.random.default_rng(3)
    sd = np.full(9, 0.27)
    covered, plain = [], []
    for _ in range(60):
        one = 0.75 * random.normal(size=9)
        other = 0.9 * one + 0.33 * random.normal(size=9)
        truth = np.corrcoef(one, other)[0, 1]
        found = correlations((random.normal(one, sd), sd), (random.normal(other, sd), sd), np.asarray, False)[0]
        mean, spread, lo, hi = found[5:]
        covered.append(lo <= truth <= hi)
        plain.append(abs(truth - mean) <= 1.96 * spread)
    assert np.mean(covered) > 0.9
    assert np.mean(plain) < 0.75
