"""The whole audit: nothing to say about a clean corpus, one table and sentences about another, as files and a page."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import liescope
from liescope import cli
from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.audit.audit_findings import SEVERITIES, AuditResult
from tests.detectors.audit.conftest import Plant, Rows, each, longer


@pytest.fixture(scope="module")
def audited(plant: Plant) -> AuditResult:
    """Of a corpus in which lies are longer."""
    return liescope.audit(plant(each(longer), games=100).folder, draws=50)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_clean_corpus_raises_no_alarm(seed: int, plant: Plant) -> None:
    result = liescope.audit(plant(seed=seed).folder, draws=200, seed=seed)
    assert [found.sentence for found in result.alarms] == []
    assert any("above all 20" in found.sentence for found in result.findings)
    # Who deceives is drawn for each player, so that their number differs between games: said, and no alarm.
    (known,) = [found for found in result.findings if found.name == "k_of_n"]
    assert "may know nothing within one" in known.sentence


def test_the_findings_come_worst_first_and_rest_on_rows(audited: AuditResult) -> None:
    order = [list(SEVERITIES).index(found.severity) for found in audited.findings]
    assert order == sorted(order)
    assert audited.alarms[0].name == "length"
    # A detector that does as well need not have learned the same.
    assert audited.alarms[0].sentence.endswith("may have learned nothing more.")
    figures = audited.table.filter(pl.col("check") == "probe")
    assert set(figures["scheme"]) == {"out-of-fold", "train-test"}
    assert figures.select((pl.col("lo") <= pl.col("value")) & (pl.col("value") <= pl.col("hi"))).to_series().all()
    assert figures["prevalence"].null_count() == 0


def test_the_command_prints_a_table_and_sentences_in_80_columns(
    plant: Plant, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["audit", str(plant(each(longer), games=40).folder), "--draws", "20", "--split", "train-test"]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "Length alone reaches" in said
    assert max(map(len, said.splitlines())) <= 80


def test_a_test_split_of_few_games_is_not_scored(plant: Plant) -> None:
    folder = plant(games=24).folder
    assert {row.scheme for row in liescope.audit(folder, draws=20).rows} == {"out-of-fold", ""}
    with pytest.raises(UsageError, match="5 games or more"):
        liescope.audit(folder, draws=20, split="train-test")


def test_a_wrong_request_is_refused_before_anything_is_read(plant: Plant, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="claim"):
        liescope.audit("nowhere", target="lies")
    with pytest.raises(UnknownName, match="train-test"):
        liescope.audit("nowhere", split="random")
    (tmp_path / "mine").touch()
    with pytest.raises(UsageError, match="not a report"):
        liescope.audit("nowhere", out=tmp_path)

    def honest(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_role"] = False

    with pytest.raises(UsageError, match="honest"):
        plant(honest, games=40)
