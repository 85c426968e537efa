"""A model added to a published fit: the old models keep their zero and their unit."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.capability.counts import SCHEMA, Counts
from liescope.benchmark.capability.extend import COUNTS, EXTENDED, SCORES, anchored, part, read_report
from liescope.benchmark.capability.model import Laplace, laplace
from liescope.common.errors import BadData, UsageError

OLD = ("a", "b", "c", "d")
SKILLS = {  # m and v of e are far from the others', and move both means
    "a": (0.6, 0.9, 1.5),
    "b": (0.1, 0.2, 0.9),
    "c": (-0.2, 0.7, 1.2),
    "d": (-0.5, -0.3, 0.4),
    "e": (1.5, 1.2, 3.0),
}


def played(models: tuple[str, ...], games: int) -> pl.DataFrame:
    """Every combination, with as many wins as the planted scores make most likely."""
    rows = []
    for i, j, k in product(models, repeat=3):
        chance = 1 / (1 + np.exp(-SKILLS[k][2] * (SKILLS[i][0] - SKILLS[j][1])))
        rows.append((i, j, k, round(games * chance), games))
    return pl.DataFrame(rows, SCHEMA, orient="row")


def scored(fit: Laplace) -> pl.DataFrame:
    """What `results.scores` gives, as far as it is read here."""
    columns = {}
    for name in ("m", "d", "v"):
        draws = fit.draws[name][0]
        lo, hi = np.quantile(draws, (0.025, 0.975), axis=0)
        columns |= {name: draws.mean(axis=0), f"{name}_lo": lo, f"{name}_hi": hi}
    return pl.DataFrame({"model": fit.names["m"], **columns})


@pytest.fixture
def old(tmp_path: Path) -> Path:
    counts = played(OLD, 400)
    folder = tmp_path / "old"
    folder.mkdir()
    counts.with_columns(observed=0.5).write_csv(folder / COUNTS)
    scored(laplace(counts)).write_csv(folder / SCORES)
    return folder


@pytest.mark.parametrize("offset", [False, True])
def test_no_logit_changes_and_the_reference_has_mean_m_0_v_1_b_0(offset: bool) -> None:
    counts = played(tuple(SKILLS), 30)
    fit = laplace(counts, offset=offset, draws=100)
    moved = anchored(fit, {"m": ("a", "c"), "v": ("b", "c", "e")})
    assert np.allclose(moved.logits(counts), fit.logits(counts))
    assert np.allclose(moved.draws["m"][..., [0, 2]].mean(axis=-1), 0)
    assert np.allclose(moved.draws["v"][..., [1, 2, 4]].mean(axis=-1), 1)
    if offset:
        assert np.allclose(moved.draws["b"][..., [1, 2, 4]].mean(axis=-1), 0)


def test_without_a_v_the_offset_of_main_effects_is_shifted_alone() -> None:
    fit = laplace(played(tuple(SKILLS), 30), offset=True, draws=50)
    draws = {name: fit.draws[name] for name in ("m", "d", "b")}
    moved = anchored(replace(fit, draws=draws), {"m": ("a", "b"), "v": ("c",)}).draws
    every = ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 1, 0, 2, 4])
    one, other = (of["m"][..., every[0]] - of["d"][..., every[1]] + of["b"][..., every[2]] for of in (draws, moved))
    assert np.allclose(one, other)
    assert np.allclose(moved["m"][..., :2].mean(axis=-1), 0)
    assert np.allclose(moved["b"][..., 2], 0)


def test_on_the_scale_of_all_its_models_a_fit_stays_as_it_is() -> None:
    fit = laplace(played(OLD, 50), offset=True, draws=20)
    same = anchored(fit, {"m": OLD, "v": OLD})
    assert all(np.allclose(same.draws[name], fit.draws[name]) for name in fit.draws)


def test_published_scores_stay_where_they_are_when_a_model_is_added(old: Path) -> None:
    report = read_report(old)
    both = laplace(played(tuple(SKILLS), 400))
    kept, new = (scored(fit).filter(pl.col("model") != "e") for fit in (both, anchored(both, report.reference)))
    for name, close in (("m", 0.05), ("d", 0.05), ("v", 0.1)):
        assert np.abs(new[name] - report.scores[name]).max() < close
        assert np.abs(kept[name] - report.scores[name]).max() > 4 * close  # what would happen otherwise


@pytest.mark.usefixtures("drawn")
def test_the_part_names_what_is_new_and_what_moved(old: Path) -> None:
    report = read_report(old)
    scores = scored(anchored(laplace(played(tuple(SKILLS), 400)), report.reference))
    found = part(report, scores)
    assert "Added: e." in found.notes[0]
    assert found.notes[1].startswith("0 of 12 old scores")
    table = found.tables["extended"]
    assert table.height == 12
    assert table["sets_scale"].all()
    (section,) = found.sections
    for text in ("old report", "with the new games"):
        assert text in section.figure
    elsewhere = pl.when(pl.col("model") == "b").then(pl.col("m") + 1).otherwise("m")
    words = part(report, scores.with_columns(m=elsewhere)).notes[1]
    assert words.startswith("1 of 12 old scores are now outside their old 95% interval: m of b, ")


def test_a_report_that_was_itself_extended_hands_on_the_scale_of_the_first(old: Path, tmp_path: Path) -> None:
    first = read_report(old)
    counts = played(tuple(SKILLS), 400)
    scores = scored(anchored(laplace(counts), first.reference))
    second = tmp_path / "second"
    second.mkdir()
    counts.write_csv(second / COUNTS)
    scores.write_csv(second / SCORES)
    part(first, scores).tables["extended"].write_csv(second / EXTENDED)
    assert read_report(second).reference == first.reference == {"m": OLD, "v": OLD}
    assert read_report(second).scores.height == 5


def test_what_is_no_report_to_go_on_from_is_refused(old: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no counts.csv; --extend takes the folder"):
        read_report(tmp_path)
    scores = pl.read_csv(old / SCORES)
    scores.with_columns(condition=pl.lit("rounds=2")).write_csv(old / SCORES)
    with pytest.raises(UsageError, match="several conditions"):
        read_report(old)
    scores.drop("v_lo").write_csv(old / SCORES)
    with pytest.raises(BadData, match="lacks the column v_lo"):
        read_report(old)
    scores.with_columns(model="model" + pl.col("model")).write_csv(old / SCORES)
    with pytest.raises(BadData, match="not of the same models"):
        read_report(old)
    (old / SCORES).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadData, match=SCORES):
        read_report(old)


def test_new_games_join_the_old_if_they_are_of_one_condition_and_leave_none_out(old: Path) -> None:
    report = read_report(old)
    new = Counts(played(("a", "e"), 10), played(("a", "e"), 10))
    (both,) = report.joined({"": new}, without=["x"]).values()
    assert both.cells["games"].sum() == 4**3 * 400 + 2**3 * 10
    with pytest.raises(UsageError, match="2 conditions"):
        report.joined({"one": new, "two": new})
    with pytest.raises(UsageError, match="--without cannot take out"):
        report.joined({"": new}, without=["b"])


def test_old_models_that_give_no_zero_or_unit_are_named() -> None:
    fit = laplace(played(OLD, 100).filter(pl.col("mafioso") != "d"))
    with pytest.raises(UsageError, match="d sets the scale of the old report and has no m"):
        anchored(fit, {"m": OLD, "v": OLD})
    deaf = replace(fit, draws={**fit.draws, "v": fit.draws["v"] - fit.draws["v"][..., :1]})
    with pytest.raises(UsageError, match="gives no unit"):
        anchored(deaf, {"m": ("a", "b"), "v": ("a",)})
