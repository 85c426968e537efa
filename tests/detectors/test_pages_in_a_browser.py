"""The pages of the study and of fit in a real browser: they fit a phone, and their figures can be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import liescope
from liescope.benchmark import fitting
from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.forms import PLAYERS
from liescope.benchmark.capability.model import Variant, code_rows
from liescope.benchmark.capability.posterior import Diagnostics, Posterior
from tests.common.browser import Seen, look
from tests.common.without_figures import drawn_figures
from tests.detectors.conftest import Corpus

MODELS = ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", '<script>alert("x")</script> $\\no_such{formula$', "x" * 90)
CHEAP = {"words": 1, "strength": 4.0}  # nothing to choose
PAGES = ("audit", "bench", "evaluate", "fit", "transfer")


def guessed(cells: pl.DataFrame, settings: SamplerOptions, variant: Variant) -> Posterior:
    """In the place of a sampler: draws around nothing."""
    names, _ = code_rows(cells, variant)
    random = np.random.default_rng(1)
    draws = {name: random.normal(size=(2, 50, len(models))) for name, models in names.items()}
    draws["rho"] = np.full((2, 50, 1), 0.02)
    diagnostics = Diagnostics(1.0, 900, 900, 1.0, 0, 50, 2, 1.0)
    sds = {name: np.full((2, 50), 2.0) for name in names}
    return Posterior(cells, names, draws, diagnostics, settings, variant, sds=sds)


def fitted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [(i, j, k, 40, 100) for i in MODELS for j in MODELS for k in MODELS]
    columns = [*PLAYERS, "mafia_wins", "games"]
    pl.DataFrame(cells, columns, orient="row").write_csv(folder / "counts.csv")
    monkeypatch.setattr(fitting, "sample_posterior", guessed)
    liescope.fit(folder / "counts.csv", out=folder / "fit")


@pytest.fixture(scope="module")
def seen(make_corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    folder = tmp_path_factory.mktemp("pages")
    corpus = make_corpus(games=60, models=MODELS)
    liescope.train("tfidf", corpus, out=folder / "model", folds=0)
    with drawn_figures(), pytest.MonkeyPatch.context() as monkeypatch:
        fitted(folder, monkeypatch)
        liescope.audit(corpus, out=folder / "audit")
        liescope.transfer(corpus, by="model", context=0, out=folder / "transfer", **CHEAP)
        liescope.evaluate(folder / "model", corpus, observers=True, out=folder / "evaluate")
        (folder / "suite.toml").write_text(f'[[data]]\nname = "games"\nfile = "{corpus}"\nsplit = "test"\n')
        liescope.bench(folder / "model", suite=folder / "suite.toml", leave_out=[], out=folder / "bench")
    pages = {name: (folder / name / "report.html").read_text(encoding="utf-8") for name in PAGES}
    return look(pages, tmp_path_factory.mktemp("browser"))


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_and_nothing_in_its_figures_is_small_cut_off_or_covered(
    seen: dict[str, Seen], name: str
) -> None:
    assert seen[name].figures or name in ("audit", "transfer")  # which have tables alone
    assert seen[name].width <= 390
    assert seen[name].unreadable == ()
