"""The effects of names, last speakers and seats, and the rates of slips, wherever a fit is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.capability import effects as module
from liescope.benchmark.capability.counts import PLAYERS
from liescope.benchmark.capability.effects import effects, slip_rates
from liescope.benchmark.capability.fit_report import fit_lines, fit_page, tables
from liescope.benchmark.capability.posterior import Posterior, Slips
from liescope.benchmark.capability.sentences import reading
from liescope.benchmark.capability.variants import variant
from liescope.benchmark.fitting import FitResult, _result
from liescope.common.report.files import page_html
from liescope.common.report.plain_text import markdown
from tests.benchmark.test_findings import fitted

NAMES = ("alpha", "beta", "gamma")
PLANTED = {"Alice": 0.4, "Bob": 0.0, "Diana": -0.4}


def shown(terms: str, levels: Mapping[str, tuple[str, ...]]) -> FitResult:
    """A fit whose shifts have these levels, the first of them far above the others."""
    (part,) = fitted(NAMES, (0.6, 0.0, -0.6), 0.3)
    random = np.random.default_rng(1)
    posterior = replace(
        part.posterior,
        variant=variant(f"offset+dispersion{terms}"),
        names={**part.posterior.names, **levels},
        rows=pl.concat(
            part.posterior.rows.with_columns(pl.lit(of[at % len(of)]).alias(term) for term, of in levels.items())
            for at in range(max(map(len, levels.values()), default=1))
        ),
        draws={
            **part.posterior.draws,
            **{
                term: np.linspace(0.4, -0.4, len(of)) * (len(of) > 1) + 0.05 * random.normal(size=(4, 500, len(of)))
                for term, of in levels.items()
            },
        },
    )
    return _result((replace(part, posterior=posterior),), "keep", {})


def with_slips(posterior: Posterior) -> Posterior:
    random = np.random.default_rng(2)
    votes = {f"{role}_{kind}": pl.lit(7, pl.Int64) for role in PLAYERS for kind in ("votes", "drawn")}
    drawn = {(role, name): random.beta(2, 30, 2000) for role in PLAYERS for name in NAMES}
    slip = {(role, name): random.beta(4, 30, 2000) for role in PLAYERS[:2] for name in NAMES}
    return replace(posterior, rows=posterior.rows.with_columns(**votes), slips=Slips(slip, drawn))


def test_planted_effects_stand_in_the_table_the_page_the_markdown_the_json_and_the_terminal() -> None:
    result = shown("+name", {"name": tuple(PLANTED)})
    (posterior,) = (part.posterior for part in result.fits)
    table = effects(posterior)
    assert table["effect"].to_list() == pytest.approx(list(PLANTED.values()), abs=0.02)
    assert (table["effect_lo"] < table["effect"]).all()
    assert (table["effect"] < table["effect_hi"]).all()
    assert table["points"].to_list() == pytest.approx([9.9, 0, -9.9], abs=0.5)
    number = f"{table['effect'][0]:.2f} ({table['effect_lo'][0]:.2f}"
    html = page_html(fit_page(result))
    for text in (html, markdown(fit_page(result)), "\n".join(fit_lines(result))):
        assert number in text
    assert "The mafia wins most with a mafioso called Alice" in html
    assert "effects.csv" in html
    assert tables(result)["effects"].equals(table)
    assert json.loads(json.dumps(result.to_json()))["effects"] == table.to_dicts()
    assert max(len(line) for line in "\n".join(fit_lines(result)).splitlines()) <= 80


def test_a_term_with_one_level_has_a_sentence_and_no_number() -> None:
    result = shown("+last", {"last": ("",)})
    assert effects(result.fits[0].posterior).is_empty()
    assert "cannot be told" in markdown(fit_page(result))
    assert "effects" not in result.to_json()


def test_slips_of_votes_have_their_rates_wherever_the_fit_is_shown() -> None:
    plain = shown("+votes", {})
    posterior = with_slips(plain.fits[0].posterior)
    result = _result((replace(plain.fits[0], posterior=posterior),), "keep", {})
    table = slip_rates(posterior)
    assert table.select("role", "model").rows() == [(role, name) for role in PLAYERS for name in NAMES]
    assert table.filter(role="villager")["slip"].null_count() == 3
    assert table["votes"].to_list() == [14 * 9] * 9
    assert (table["drawn_lo"] < table["drawn_hi"]).all()
    html = page_html(fit_page(result))
    assert "Slips and drawn votes" in html
    assert f"{table['drawn'][0]:.3f} ({table['drawn_lo'][0]:.3f}" in markdown(fit_page(result))
    assert any("share of votes" in line for line in fit_lines(result))
    assert len(result.to_json()["slips"]) == 9


def test_a_model_without_such_terms_shows_none() -> None:
    result = shown("", {})
    assert result.parts == ()
    assert not {"effects", "slips"} & set(result.to_json())
    assert module.to_json(result.fits[0].posterior) == {}


@pytest.mark.parametrize(("columns", "says"), [("mdv", "it votes at random."), ("mdvb", "by its b alone"), ("mdb", "")])
def test_what_v_near_0_means_depends_on_whether_villagers_lean(columns: str, says: str) -> None:
    words = " ".join(reading(pl.DataFrame({name: [0.5] for name in columns})))
    assert says in words
    assert ("v near 0" in words) is ("v" in columns)
    assert ("it votes at random." in words) is (columns == "mdv")


@pytest.mark.parametrize(("terms", "narrow"), [("+last", True), ("", False)])
def test_scores_beside_a_shift_come_with_the_word_that_their_intervals_are_too_narrow(terms: str, narrow: bool) -> None:
    result = shown(terms, {"last": PLAYERS} if terms else {})
    for words in (
        page_html(fit_page(result)),
        markdown(fit_page(result)),
        " ".join(" ".join(fit_lines(result)).split()),
    ):
        assert ("The intervals of scores are too narrow" in words) is narrow
