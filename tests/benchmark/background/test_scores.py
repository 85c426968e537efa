"""Scores against backgrounds: the published figures, from the published counts, by the paper's equations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope.benchmark import published_counts, published_scores
from liescope.benchmark.background.scores import _scores, background_scores, win_rate
from liescope.benchmark.counting.counts import SCHEMA
from liescope.common.errors import UsageError


def test_published_z_scores_and_scores_come_back(shared_data: Path) -> None:
    text = (shared_data / "mini_mafia" / "reference.json").read_text(encoding="utf-8")
    published = json.loads(text)["background"]
    for row in background_scores(published_counts()).to_dicts():
        name = row["capability"].capitalize()
        theirs = published["z_scores"][row["model"]]
        assert row["z"] == pytest.approx(theirs[f"{name}_Z"], abs=3e-4)
        assert row["z_sd"] == pytest.approx(theirs[f"{name}_Z_Error"], abs=3e-4)
        assert row["score"] == pytest.approx(published["exp_scores"][row["model"]][name], rel=1e-3)
        assert row["score_sd"] == pytest.approx(published["exp_scores"][row["model"]][f"{name}_Error"], rel=2e-3)
        assert row["backgrounds"] == 5


def test_it_ranks_models_as_the_capability_model_does() -> None:
    ours = background_scores(published_counts())
    scores = published_scores().sort("model")
    for capability, name, least in (("deceive", "m", 0.75), ("detect", "v", 0.75), ("disclose", "d", 0.75)):
        z = ours.filter(capability=capability).sort("model")["z"]
        assert np.corrcoef(z.rank(), scores[name].rank())[0, 1] > least, capability


def test_z_scores_average_to_zero_over_models() -> None:
    means = background_scores(published_counts()).group_by("capability").agg(pl.col("z").mean())
    assert np.allclose(means["z"], 0, atol=1e-12)


def test_a_win_rate_without_wins_is_small_and_not_zero() -> None:
    mean, sd = win_rate(np.array([0, 50]), np.array([100, 100]))
    assert mean == pytest.approx([1 / 102, 0.5])
    assert sd == pytest.approx([np.sqrt(101 / 102 / 102 / 103), np.sqrt(0.25 / 103)])


def test_a_design_with_a_hole_is_refused() -> None:
    with pytest.raises(UsageError, match="49 of 10 x 5 combinations"):
        background_scores(published_counts().slice(1))
    with pytest.raises(UsageError, match="same win rate"):
        background_scores(published_counts().with_columns(mafia_wins=pl.lit(40)))


def test_z_scores_by_hand() -> None:
    # Two models as mafioso against two backgrounds: Laplace's rates are 1/12 and 7/12, their mean 1/3, their sample
    # standard deviation (ddof 1) sqrt(2) / 4, so z is -1/sqrt(2) and 1/sqrt(2).
    rows = [(i, j, k, 6 if i == "b" else 0, 10) for i in "ab" for j in "ab" for k in "ab"]
    table = _scores("deceive", pl.DataFrame(rows, SCHEMA, orient="row"))
    assert dict(table.select("model", "z").iter_rows()) == pytest.approx({"a": -(0.5**0.5), "b": 0.5**0.5})
    one = np.sqrt(1 / 12 * 11 / 12 / 13) / (np.sqrt(2) / 4)
    assert table.filter(model="a")["z_sd"].item() == pytest.approx(one / np.sqrt(2))
