"""The whole audit: nothing to say about a clean corpus, one table and sentences about another, as files and a page."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import liescope
from liescope import cli
from liescope.common.errors import UnknownName, UsageError
from liescope.common.report.contents import terminal
from liescope.detectors.study.audit import AuditResult
from liescope.detectors.study.audit_checks import SHORTCUTS
from liescope.detectors.study.controls import K_OF_N, LENGTH
from liescope.detectors.study.figures import FIGURES, NOTABLE, PLAIN, SERIOUS, SEVERITIES
from liescope.detectors.study.scores import CONTROL
from tests.detectors.audit.conftest import FILLER, Plant, Rows, each, longer


@pytest.fixture(scope="module")
def audited(plant: Plant) -> AuditResult:
    """Of a corpus in which lies are longer."""
    return liescope.audit(plant(each(longer), games=100).folder)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_clean_corpus_raises_no_alarm(seed: int, plant: Plant) -> None:
    result = liescope.audit(plant(seed=seed).folder, seed=seed)
    assert [found.words for found in result.alarms] == []
    # Who deceives is drawn for each player, so that their number differs between games: said, and no alarm.
    (known,) = [found for found in result.findings[1:] if found.rests_on[0].scorer == CONTROL + K_OF_N]
    assert "may know nothing within one" in known.words


def test_the_findings_come_worst_first_and_rest_on_rows(audited: AuditResult) -> None:
    order = [list(SEVERITIES).index(found.severity) for found in audited.findings]
    assert order == sorted(order)
    assert audited.alarms[0].rests_on[0].scorer == CONTROL + LENGTH
    # A detector that does as well need not have learned the same.
    assert audited.alarms[0].words.endswith("may have learned nothing more.")
    assert {row for found in audited.findings for row in found.rests_on} <= set(audited.rows)
    told = audited.to_json()
    assert {tuple(row) for row in told["figures"]} == {tuple(FIGURES)}
    assert all(row in told["figures"] for found in told["findings"] for row in found["rests_on"])
    figures = audited.metrics.filter(pl.col("scorer") == CONTROL + LENGTH)
    assert figures["where"].to_list() == ["out-of-fold", "test"]
    assert figures.select((pl.col("lo") <= pl.col("value")) & (pl.col("value") <= pl.col("hi"))).to_series().all()
    assert figures["prevalence"].null_count() == 0


@pytest.mark.long
@pytest.mark.parametrize("change", [lambda _: None, each(longer)])
def test_no_first_sentence_contradicts_another_finding_or_a_figure(
    change: Callable[[Rows], None], plant: Plant
) -> None:
    result = liescope.audit(plant(change, games=60).folder, split="out-of-fold")
    first = result.findings[0]
    assert result.told.findings[0].endswith(first.words)
    assert str(result).splitlines()[0] == f"{first.severity}: {first.words}"
    assert first.words.startswith("No alarm") == (not result.alarms) == (first.severity == PLAIN)
    if not result.alarms:
        blind = [row for row in result.rows if row.where == "out-of-fold" and row.scorer.partition(":")[2] in SHORTCUTS]
        assert first.rests_on == (max(blind, key=lambda row: row.value),)


def test_texts_are_said_to_be_texts_of_groups_and_never_games(tmp_path: Path) -> None:
    texts = [f"{'and so on ' * (number % 7)}{'abcdefgh'[number % 8]} is said {number % 5}" for number in range(120)]
    labels = [number % 7 > 3 for number in range(120)]
    for groups in (None, [f"author {number // 4}" for number in range(120)]):
        result = liescope.audit(texts, labels, groups=groups)
        page = result.told
        said = "\n".join([*terminal(page), page.meta, *(section.caption for section in page.sections)])
        assert "reaches AUROC" in said
        assert not re.search(r"\bgames?\b|\bstatements?\b", said)


def test_too_few_texts_are_refused_as_texts() -> None:
    with pytest.raises(UsageError, match="1 text is deceptive, and 2 are needed"):
        liescope.audit(["It was late.", "It was early.", "It was noon."], [True, False, False])


def test_the_command_prints_a_table_and_sentences_in_80_columns(
    plant: Plant, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["audit", str(plant(each(longer), games=40).folder), "--split", "train-test"]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "knows only length reaches AUROC" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80


def test_a_test_split_of_few_games_is_not_scored(plant: Plant) -> None:
    folder = plant(games=24).folder
    scored = [row for row in liescope.audit(folder).rows if row.scorer == CONTROL + LENGTH]
    assert [row.where for row in scored] == ["out-of-fold"]
    with pytest.raises(UsageError, match="5 games or more"):
        liescope.audit(folder, split="train-test")


@pytest.mark.long
def test_of_many_statements_whole_games_are_drawn_and_it_says_how_many(plant: Plant) -> None:
    folder = plant(each(longer), games=60).folder
    every = liescope.audit(folder, split="out-of-fold")
    drawn = liescope.audit(folder, split="out-of-fold", most=every.statements // 2)
    assert not any("drawn" in note for note in every.notes)
    size = pl.scan_parquet(folder / "statements" / "*.parquet").group_by("game_id").len().collect()["len"]
    room = every.statements // 2 - drawn.statements
    assert 0 <= room <= size.max()  # what is left has no room for another game
    assert f"{drawn.statements} of {every.statements} statements are audited, those of {drawn.games}" in drawn.notes[0]
    assert drawn.alarms[0].rests_on[0].scorer == CONTROL + LENGTH
    again = liescope.audit(folder, split="out-of-fold", most=every.statements // 2)
    other = liescope.audit(folder, split="out-of-fold", most=every.statements // 2, seed=1)
    assert (again.rows == drawn.rows, other.rows == drawn.rows) == (True, False)


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


def test_a_task_of_one_class_is_found_as_what_the_task_alone_reaches() -> None:
    draw = random.Random(7)
    lies = [number % 3 == 0 or draw.random() < 0.4 for number in range(150)]
    rows = [
        {"text": " ".join(draw.choices(FILLER, k=9)), "deceptive": lie, "task": f"task {number % 3}"}
        for number, lie in enumerate(lies)
    ]
    (worst, *_) = liescope.audit(rows, split="out-of-fold").findings
    assert worst.severity in (NOTABLE, SERIOUS)
    assert "knows only the task" in worst.words
