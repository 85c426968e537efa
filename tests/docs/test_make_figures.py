"""The picture of the results holds what the reports say, each on the model that was held out, and nothing else."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.examples import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("make_figures")


def write_report(folder: Path, held_out: list[str], auroc: float, kind: str = "tfidf") -> None:
    """A report on the detector "mine"; on the held-out model's own games every figure is that much, elsewhere 0.99, and
    pooled 0.5.
    """
    wanted = "test:held-out" if held_out else "test"
    named = {
        "mine": ("auroc_within", "names_mafioso"),
        "control:length": ("auroc_within",),
        "observers:villager_vote": ("names_mafioso",),
    }
    rows = [
        {"detector": who, "metric": metric, "split": split, "value": value, "lo": value - 0.01, "hi": value + 0.01}
        for split, value in {"test": 0.99, wanted: auroc}.items()
        for who, metrics in named.items()
        for metric in metrics
    ] + [{"detector": who, "metric": "auroc", "split": "test", "value": 0.5, "lo": 0.4, "hi": 0.6} for who in named]
    folder.mkdir()
    data = {"hold_out": held_out, "split": "test", "models": {"mine": {"kind": kind}}, "rows": rows}
    (folder / "report.json").write_text(json.dumps(data), encoding="utf-8")


def test_figures_are_those_of_the_held_out_model(script: ModuleType, tmp_path: Path) -> None:
    write_report(tmp_path / "a", [], 0.91)
    write_report(tmp_path / "b", ["Unheard"], 0.62)
    reports = [script.read(path) for path in sorted(tmp_path.glob("*/report.json"))]
    assert [report.figure(None, "auroc_within")[0] for report in reports] == [0.91, 0.62]
    top, bottom = script.picture(reports).axes
    for axes in (top, bottom):
        assert {text.get_text() for text in axes.texts} == {"chance", "0.91", "0.62"}
        assert [label.get_text() for label in axes.get_yticklabels()][1] == "Unheard"


@pytest.mark.usefixtures("drawn")
def test_the_same_reports_give_the_same_file(script: ModuleType, tmp_path: Path) -> None:
    write_report(tmp_path / "a", [], 0.91)
    for name in ("one.svg", "two.svg"):
        script.main(tmp_path, tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in ("one.svg", "two.svg"))
    assert one == two
    assert len(one) < 150_000


def test_reports_that_do_not_belong_together_are_refused(script: ModuleType, tmp_path: Path) -> None:
    write_report(tmp_path / "a", [], 0.91)
    write_report(tmp_path / "b", ["Unheard"], 0.62, kind="embedding")
    with pytest.raises(SystemExit, match="one kind"):
        script.main(tmp_path, tmp_path / "x.svg")
