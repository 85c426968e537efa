"""What is said of a fit: who is the best, how much uncertainty is left, effects of names and seats, and slips."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.counts import Counts
from liescope.benchmark.capability.effects import tables
from liescope.benchmark.capability.fit_report import fit_lines, fit_page
from liescope.benchmark.capability.forms import PLAYERS
from liescope.benchmark.capability.model import PAPER, variant
from liescope.benchmark.capability.posterior import Diagnostics, Posterior
from liescope.benchmark.capability.results import goodness, uncertainty_left
from liescope.benchmark.capability.sentences import findings, left_sentence
from liescope.benchmark.fitting import ConditionFit, FitResult, result_of
from liescope.common.report.contents import markdown
from liescope.common.report.files import page_html

Draws = dict[str, np.ndarray]
EACH = 250  # draws of a chain


@cache
def fitted(
    names: tuple[str, ...], means: tuple[float, ...], sd: float, games: int = 80, rho: float = 0.01
) -> tuple[ConditionFit, ...]:
    """A fit whose scores lie around these means, the same in each role; every combination was played."""
    random = np.random.default_rng(0)
    count = len(names)
    draws: Draws = {name: np.array(means) + sd * random.normal(size=(4, EACH, count)) for name in "mdvb"}
    draws["rho"] = np.full((4, EACH, 1), rho)
    cells = pl.DataFrame([(i, j, k) for i in names for j in names for k in names], [*PLAYERS], orient="row")
    each = max(1, games // cells.height)
    cells = cells.with_columns(mafia_wins=pl.lit(each // 2, pl.Int64), games=pl.lit(each, pl.Int64))
    every = {**dict.fromkeys("mdvb", names), "rho": ("every combination",)}
    posterior = Posterior(
        cells,
        every,
        draws,
        Diagnostics(1.0, 1000, 1000, 1.0, 0, EACH, 4, 1.0),
        SamplerOptions(draws=EACH, tune=EACH),
        variant("offset+dispersion"),
        sds={name: np.full((4, EACH), 2.0) for name in "mdvb"},
    )
    return (ConditionFit("", Counts(cells), posterior, goodness(posterior)),)


def test_two_equal_players_have_no_winner_and_the_page_says_how_likely_each_is() -> None:
    for sentence in findings(fitted(("alpha", "beta"), (0.1, 0.0), 0.5)):
        assert sentence.startswith("These games do not settle who")
        assert "alpha 5" in sentence
        assert "beta 4" in sentence
        assert "seems" not in sentence


def test_of_ten_the_first_is_not_named_while_others_are_in_the_running() -> None:
    names = tuple(f"model {n}" for n in range(10))
    (deceives, *_) = findings(fitted(names, (0.9, 0.6, 0.5, 0.4, -3.0, -3, -3, -3, -3, -3), 0.5))
    assert deceives.startswith("These games do not settle who deceives best")
    assert all(f"model {n} " in deceives for n in range(4))
    assert "model 4" not in deceives


@pytest.mark.parametrize(("z", "settled"), [(1.0, False), (1.5, False), (1.8, True), (3.0, True)])
def test_a_best_is_named_from_95_percent_of_the_draws_on(z: float, settled: bool) -> None:
    """One of two is ahead in 84, 93, 96 and 99.9% of the draws."""
    (deceives, *_) = findings(fitted(("alpha", "beta"), (z * np.sqrt(2), 0.0), 1.0))
    assert deceives.startswith("alpha deceives best") is settled
    assert deceives.startswith("These games do not settle") is not settled


def test_how_many_games_would_settle_it_follows_the_gap() -> None:
    """A gap of one standard deviation needs 1.645 squared times the games: 1.7 times as many more."""
    (deceives, *_) = findings(fitted(("alpha", "beta"), (np.sqrt(2), 0.0), 1.0, games=8000, rho=0.0))
    told = re.search(r"about ([\d,]+) more games like these should", deceives)
    assert int(told[1].replace(",", "")) == pytest.approx(13_700, rel=0.3)
    (tied, *_) = findings(fitted(("alpha", "beta"), (0.01, 0.0), 1.0, games=8000, rho=0.0))
    assert "even 20 times as many games like these would not" in tied
    (scattered, *_) = findings(fitted(("alpha", "beta"), (np.sqrt(2), 0.0), 1.0, games=8000, rho=0.05))
    assert "even 20 times as many games like these would not" in scattered


def test_nobody_is_named_by_scores_that_the_games_do_not_tell() -> None:
    (part,) = fitted(("alpha", "beta"), (3.0, 0.0), 1.0)
    sds = {name: np.full((4, EACH), 1.0) for name in "mdvb"}
    for sentence in findings([replace(part, posterior=replace(part.posterior, sds=sds))]):
        assert sentence.startswith("These games do not tell who")
        assert "alpha" not in sentence


@pytest.mark.parametrize(("p", "doubted"), [(0.001, True), (0.5, False)])
def test_a_best_by_a_model_that_does_not_fit_is_named_with_that_word(p: float, doubted: bool) -> None:
    (part,) = fitted(("alpha", "beta"), (3.0, 0.0), 0.5)
    for sentence in findings([replace(part, goodness=replace(part.goodness, p=p))]):
        assert sentence.startswith("alpha")
        assert ("does not fit these games" in sentence) is doubted


def test_one_player_is_the_best_of_nobody() -> None:
    for sentence in findings(fitted(("alpha",), (0.0,), 0.1)):
        assert "best" not in sentence
        assert "most" not in sentence
        assert "alpha alone" in sentence


EIGHT = tuple("abcdefgh")
APART = tuple(float(at) for at in range(8))


def shown(sd: float, apart: float) -> FitResult:
    """A fit whose scores are known to within sd, of eight players who lie apart by so much."""
    return result_of(fitted(EIGHT, tuple(apart * at for at in APART), sd), "keep", {})


@pytest.mark.parametrize(("apart", "share"), [(10.0, 0.0), (1.0, 0.14), (0.2, 0.81), (0.0, 1.0)])
def test_the_share_that_is_left_is_that_of_the_posterior_variance(apart: float, share: float) -> None:
    """Eight players at equal distances have a variance of 5.25 of these; that of the differences is 7/8."""
    (fit,) = shown(1.0, apart).fits
    assert uncertainty_left(fit.posterior) == pytest.approx(dict.fromkeys("mdvb", share), abs=0.02)


@pytest.mark.parametrize(("apart", "warns"), [(1.0, False), (0.3, True)])
def test_every_page_says_how_much_is_left_and_warns_where_it_is_much(apart: float, warns: bool) -> None:
    result = shown(1.0, apart)
    said = " ".join(" ".join(fit_lines(result)).split())
    for words in (page_html(fit_page(result)), markdown(fit_page(result)), said):
        assert "is uncertainty that these games leave" in words
        assert "players may lie further apart than their scores" in words
        assert ("THESE GAMES TELL LITTLE" in words) is warns
    assert set(result.to_json()["left"]) == set("mdvb")


def test_scores_of_a_model_whose_widths_are_given_are_not_said_to_be_drawn_together() -> None:
    """Two simulated data sets of ten models on five backgrounds had slopes of 0.99 to 1.28 of m and d on the truth."""
    (fit,) = shown(1.0, 1.0).fits
    assert "drawn together" in left_sentence(fit.posterior)
    words = left_sentence(replace(fit.posterior, variant=PAPER))
    assert words.endswith("not at all.")


def test_scores_that_games_or_a_single_player_do_not_tell_leave_nothing_to_tell() -> None:
    assert "These games do not tell m" in page_html(fit_page(shown(5.0, 1.0)))
    (part,) = fitted(("a",), (0.0,), 0.1)
    assert uncertainty_left(part.posterior) == {}
    assert left_sentence(part.posterior) == ""


THREE = ("alpha", "beta", "gamma")
PLANTED = {"Alice": 0.4, "Bob": 0.0, "Diana": -0.4}


def with_terms(term: str, levels: Mapping[str, tuple[str, ...]]) -> FitResult:
    """A fit whose shifts have these levels, the first of them far above the others."""
    (part,) = fitted(THREE, (0.6, 0.0, -0.6), 0.3)
    random = np.random.default_rng(1)
    posterior = replace(
        part.posterior,
        variant=variant("offset+dispersion", [term] if term else ()),
        names={**part.posterior.names, **levels},
        sds={**part.posterior.sds, **dict.fromkeys(levels, np.full((4, EACH), 0.5))},
        rows=pl.concat(
            part.posterior.rows.with_columns(pl.lit(of[at % len(of)]).alias(term) for term, of in levels.items())
            for at in range(max(map(len, levels.values()), default=1))
        ),
        draws={
            **part.posterior.draws,
            **{
                term: np.linspace(0.4, -0.4, len(of)) * (len(of) > 1) + 0.05 * random.normal(size=(4, EACH, len(of)))
                for term, of in levels.items()
            },
        },
    )
    return result_of((replace(part, posterior=posterior),), "keep", {})


def with_slips(posterior: Posterior) -> Posterior:
    votes = {f"{role}_{kind}": pl.lit(7, pl.Int64) for role in PLAYERS for kind in ("votes", "drawn", "slips")}
    return replace(posterior, rows=posterior.rows.with_columns(**votes))


def test_planted_effects_stand_in_the_table_the_page_the_markdown_the_json_and_the_terminal() -> None:
    result = with_terms("name", {"name": tuple(PLANTED)})
    (posterior,) = (part.posterior for part in result.fits)
    table = tables({"": posterior})["effects"]
    assert table["effect"].to_list() == pytest.approx(list(PLANTED.values()), abs=0.02)
    assert (table["effect_lo"] < table["effect"]).all()
    assert (table["effect"] < table["effect_hi"]).all()
    assert table["points"].to_list() == pytest.approx([9.9, 0, -9.9], abs=0.5)
    number = f"{table['effect'][0]:.2f} ({table['effect_lo'][0]:.2f}"
    html = page_html(fit_page(result))
    for text in (html, markdown(fit_page(result)), "\n".join(fit_lines(result))):
        assert number in text
    assert "effects.csv" in html
    assert fit_page(result).tables["effects"].equals(table)
    assert json.loads(json.dumps(result.to_json()))["effects"] == table.to_dicts()
    assert max(len(line) for line in "\n".join(fit_lines(result)).splitlines()) <= 80


def test_effects_are_corrected_for_all_rows_of_their_table_and_a_constant_one_is_not_counted() -> None:
    (one,) = with_terms("name", {"name": tuple(PLANTED)}).fits
    names = {"": one.posterior, "rounds 8": one.posterior}
    alone, both = (tables({name: names[name] for name in some})["effects"] for some in ([""], [*names]))
    least = 2 / (4 * EACH + 1)  # no draw on the other side
    assert alone["p"].to_list() == pytest.approx([least, 1, least], abs=0.05)
    assert alone["p_holm"][0] == pytest.approx(3 * least)
    assert both.filter(condition="rounds 8")["p_holm"][0] == pytest.approx(6 * least)
    assert (both["p_holm"] >= both["p"]).all()
    (single,) = with_terms("name", {"name": ("Alice",)}).fits
    still = replace(single.posterior, draws={**single.posterior.draws, "name": np.zeros((4, EACH, 1))})
    assert tables({"": still})["effects"].select("p", "p_holm").row(0) == (None, None)


def test_slips_of_votes_have_their_rates_wherever_the_fit_is_shown() -> None:
    (part,) = fitted(THREE, (0.6, 0.0, -0.6), 0.3)
    posterior = with_slips(replace(part.posterior, variant=variant("offset+dispersion", ["slips"])))
    result = result_of((replace(part, posterior=posterior),), "keep", {})
    table = tables({"": posterior})["slips"]
    assert table.select("role", "model").rows() == [(role, name) for role in PLAYERS for name in THREE]
    assert table.filter(role="villager")["slip"].null_count() == 3
    assert table["votes"].to_list() == [14 * 9] * 9
    assert (table["drawn_lo"] < table["drawn_hi"]).all()
    html = page_html(fit_page(result))
    assert "Slips and drawn votes" in html
    assert f"{table['drawn'][0]:.3f} ({table['drawn_lo'][0]:.3f}" in markdown(fit_page(result))
    assert "Slips and drawn votes" in list(fit_lines(result))
    assert len(result.to_json()["slips"]) == 9


def test_a_model_without_such_terms_shows_none() -> None:
    result = with_terms("", {})
    assert not {"effects", "slips"} & set(result.to_json())
    assert tables({"": result.fits[0].posterior}) == {}


@pytest.mark.parametrize(("term", "narrow"), [("last", True), ("", False)])
def test_scores_beside_a_shift_come_with_the_word_that_their_intervals_are_too_narrow(term: str, narrow: bool) -> None:
    result = with_terms(term, {"last": PLAYERS} if term else {})
    for words in (
        page_html(fit_page(result)),
        markdown(fit_page(result)),
        " ".join(" ".join(fit_lines(result)).split()),
    ):
        assert ("The intervals of scores are too narrow" in words) is narrow
