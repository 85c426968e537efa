"""Options far outside any use are one line on standard error, and leave no run folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from liescope import cli

HUGE = "1" + "0" * 22


@pytest.mark.parametrize(
    "words",
    [
        ["--seed", HUGE],
        ["--seed", f"-{HUGE}"],
        ["--games", HUGE],
        ["--games", "9" * 12],
        ["--concurrency", HUGE],
        ["--timeout", "nan"],
        ["--days", HUGE],
        ["--message-limit", HUGE],
        ["--villagers", "1000000000"],
        ["--names", ",,,"],
        ["--assess", "--assess-share", "nan"],
        ["--player", "scripted:bold?m=1e308"],
        ["--player", "scripted:bold?d=-1e300"],
        ["--player", "scripted:bold?v=inf"],
    ],
    ids=" ".join,
)
def test_an_extreme_option_is_one_line(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert cli.main(["play", "mafia", *words, "--out", str(run)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert not run.exists()
