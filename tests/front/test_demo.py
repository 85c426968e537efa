"""The demo: every step of the main job, offline, from one command."""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from liescope import cli
from liescope.detectors import detector_registry
from liescope.generate.corpus.read import read

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo")
    assert cli.main(["demo", "--out", str(out), "--games", "2"]) == 0
    return out


def test_it_leaves_a_run_a_corpus_two_detectors_and_two_reports(made: Path) -> None:
    models = ("models/duo", "models/embedding")
    for name in (
        "run/run.json",
        *(f"{one}/README.md" for one in ("corpus", *models)),
        "reports/capability/report.html",
    ):
        assert (made / name).stat().st_size > 0, name
    assert read(made / "corpus", "statements").collect()["source"].unique().to_list() == ["scripted"]


def test_its_detectors_stand_beside_controls_and_beside_the_players(made: Path) -> None:
    rows = json.loads((made / "reports/detectors/report.json").read_text(encoding="utf-8"))["figures"]
    scorers = {row["scorer"] for row in rows}
    assert {"duo", "embedding", "control:length", "control:shuffled", "observers:villager_vote"} <= scorers


def test_the_capabilities_come_from_the_same_games(made: Path) -> None:
    models = json.loads((made / "reports/capability/capability.json").read_text(encoding="utf-8"))["models"]
    assert {model["model"] for model in models} == {"scripted:novice", "scripted:steady", "scripted:bold"}
    deceives = {model["model"]: model["m"]["mean"] for model in models}
    assert deceives["scripted:bold"] > deceives["scripted:novice"]


@pytest.mark.long
def test_on_a_base_install_it_names_what_it_left_out_and_ends_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def installed(name: str) -> str:
        if name in ("torch", "sentence-transformers"):
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(detector_registry, "version_of", installed)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.chdir(tmp_path)  # whose name may be of any length
    assert cli.main(["demo", "--out", "demo", "--games", "2"]) == 0
    said = capsys.readouterr().out
    left_out = [line for line in said.splitlines() if line.startswith("Left out: ")]
    assert len(left_out) == 2
    assert "train 'embedding'" in left_out[0]
    assert "fit" in left_out[1]
    assert "[train]" in said
    assert "[bayes]" in said
    assert [line.split()[0] for line in said.splitlines()[-2:]] == ["Open", "Next"]
    assert [line for line in said.splitlines() if len(line) > 80] == []
    assert not (tmp_path / "demo/models/embedding").exists()
    assert (tmp_path / "demo/reports/detectors/report.md").exists()
