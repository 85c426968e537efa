"""A run that is killed goes on; what has not changed is not fitted again; the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from liescope import cli
from liescope.common.errors import UsageError
from liescope.detectors.progress import remaining
from liescope.detectors.study.transfer import transfer
from liescope.detectors.study.transfer_result import TransferResult
from tests.detectors.conftest import Rows
from tests.detectors.transfer.conftest import Planted, reverse
from tests.detectors.transfer.recording import RecordingDetector


def test_a_killed_run_goes_on_and_only_what_depends_on_a_change_or_was_damaged_is_fitted_again(
    planted: Planted, tmp_path: Path, recording: type[RecordingDetector], monkeypatch: pytest.MonkeyPatch
) -> None:
    north, south, east = planted("north"), planted("south", ("bo",)), planted("east", ("cy",))
    out, settings = (
        tmp_path / "report",
        {"by": "corpus", "detector": "recording", "protocols": "left out", "context": 0},
    )

    def fits_of(*corpora: Path, **more: Any) -> tuple[TransferResult, list[frozenset[str]]]:
        recording.seen.clear()
        return transfer(corpora, **{"smoothing": 1.0, **settings, **more}), recording.fits()

    whole, needed = fits_of(north, south, east)
    assert len(needed) == len(set(needed)) == 3
    monkeypatch.setattr(recording, "patience", 2)
    with pytest.raises(KeyboardInterrupt):
        fits_of(north, south, east, out=out)
    assert len(list((out / "fits").glob("*.parquet"))) == 2

    monkeypatch.setattr(recording, "patience", -1)
    again, rest = fits_of(north, south, east, out=out)
    assert rest == needed[2:]
    assert again.metrics.equals(whole.metrics)
    assert again.choices.drop("cpu_seconds").equals(whole.choices.drop("cpu_seconds"))

    kept = set((out / "fits").iterdir())
    _, anew = fits_of(north, south, east, out=out, smoothing=2.0)
    assert anew == needed
    damaged = min(set((out / "fits").iterdir()) - kept)
    damaged.write_bytes(damaged.read_bytes()[:50])
    _, anew = fits_of(north, south, east, out=out, smoothing=2.0)
    assert len(anew) == 1
    _, anew = fits_of(north, planted("south", ("bo",), change=reverse), east, out=out)
    assert [any(key.startswith("south") for key in ids) for ids in anew] == [True, True]


def test_a_folder_with_something_else_is_refused_before_anything_is_fitted(planted: Planted, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="is not a report of transfer"):
        transfer([planted("north")], by="model", out=tmp_path)


def test_the_command_prints_in_80_columns_and_its_report_shows_what_is_known_online_and_afterwards(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpora = [str(planted("north")), str(planted("south", ("bo",), change=reverse))]
    out = tmp_path / "report"
    settings = ["--by", "corpus", "--by", "model", "--context", "0", "--strength", "1"]
    assert cli.main(["transfer", *corpora, *settings, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert max(len(line) for line in said.splitlines() if str(tmp_path) not in line) <= 80
    assert "What else was found" in said
    assert "control: length" in said
    assert "has an AUROC of statements within games of 0." in " ".join(said.split())
    words = (out / "report.md").read_text(encoding="utf-8")
    assert "| AUROC within games |" in words.partition("## Every figure")[2]
    assert "| scorer | mean | worst | the worst | mean while it is played |" in words


def test_a_report_without_any_figure_says_why(
    planted: Planted, tmp_path: Path, recording: type[RecordingDetector]
) -> None:
    def honest(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_role"] = False

    corpora = [planted(name, games=4, change=honest) for name in ("north", "south")]
    transfer(corpora, by="corpus", detector=recording.kind, out=tmp_path / "report")
    assert recording.seen == []
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "No corpus could be tested by a detector trained on another" in page
    assert "<svg" not in page.split("<h2")[0]
    assert "north: all 24 statements are honest" in page


def test_the_rest_is_estimated_from_the_pace_so_far() -> None:
    assert remaining(120.0, 100, 400) == "about 6 min left"
    assert remaining(120.0, 400, 400) == remaining(5.0, 0, 400) == ""
