"""The site: no broken link, a search that finds, settings, figures and pages that are what the code and reports say."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from liescope import cli
from tests.docs.examples import ROOT, blocks, commands

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.long
@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("csv", "guides/own-data.html"),
        ("notebook", "examples.html"),
        ("own data", "guides/own-data.html"),
        ("trust", "guides/trust.html"),
        ("glossary", "glossary.html"),
    ],
)
def test_search_finds_a_heading_with_every_word_that_is_asked_for(asked: str, page: str, site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    headings = [(entry["location"].split("#")[0], _words(entry["title"])) for entry in index["docs"]]
    assert page in {where for where, words in headings if all(_has(word, words) for word in asked.split())}


def _words(title: str) -> list[str]:
    return re.findall(r"\w+", title.lower())


def _has(word: str, words: list[str]) -> bool:
    """As the search does: a word also stands for its plural, of which it is the beginning."""
    return any(each.startswith(word) for each in words)


def test_every_page_of_the_menu_but_results_is_reached_from_the_first_page() -> None:
    first = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    guides = [f"guides/{path.name}" for path in (ROOT / "docs" / "guides").glob("*.md")]
    assert [
        name for name in (*guides, "glossary.md", "examples.md", "labels.md", "commands.md") if name not in first
    ] == []


def test_the_page_is_made_of_the_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    script = importlib.import_module("make_settings")
    assert script.FILE.read_text(encoding="utf-8") == script.page(), "python docs/make_settings.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("make_figures")


def write_report(folder: Path, held_out: list[str], auroc: float, kind: str = "tfidf") -> None:
    """A report on the detector "mine"; on the held-out model's own games every figure is that much, elsewhere 0.99, and
    pooled 0.5.
    """
    units = {"auroc_within": "model", "names_mafioso": "mafioso"}
    named = {
        "mine": ("auroc_within", "names_mafioso"),
        "control:length": ("auroc_within",),
        "observers:villager_vote": ("names_mafioso",),
    }
    rows = [
        {"scorer": who, "metric": metric, "where": split, "value": value, "lo": value - 0.01, "hi": value + 0.01}
        for who, metrics in named.items()
        for metric in metrics
        for split, value in {
            "test": 0.99,
            **{"test" if not held_out else f"test:{units[metric]}={held_out[0]}": auroc},
        }.items()
    ] + [{"scorer": who, "metric": "auroc", "where": "test", "value": 0.5, "lo": 0.4, "hi": 0.6} for who in named]
    folder.mkdir()
    data = {"hold_out": held_out, "split": "test", "models": {"mine": {"kind": kind}}, "figures": rows}
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


PAGE = ROOT / "docs" / "guides" / "trust.md"
_FIGURE = re.compile(r"(-?\d\.\d\d) \((-?\d\.\d\d) to (-?\d\.\d\d)\)")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_figure_with_an_interval_is_one_of_the_report(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with gzip.open(shared_data / "chat_lies" / "transcripts.jsonl.gz") as packed:
        (tmp_path / "transcripts.jsonl").write_bytes(packed.read())
    shown = next(block for block in blocks(PAGE) if "transcripts.jsonl" in block.text)
    for words in commands(shown):
        assert cli.main(words[1:]) == 0
    report = json.loads((tmp_path / "reports" / "chats" / "report.json").read_text(encoding="utf-8"))
    found = {
        tuple(f"{row[end] + 0.0:.2f}".replace("-0.00", "0.00") for end in ("value", "lo", "hi"))
        for row in report["figures"]
        if row["value"] is not None and row["lo"] is not None
    }
    found |= {match.groups() for match in _FIGURE.finditer(_two_decimals(json.dumps(report["notes"])))}
    told = [match.groups() for match in _FIGURE.finditer(PAGE.read_text(encoding="utf-8"))]
    assert len(told) > 20
    assert [figure for figure in told if figure not in found] == []


def _two_decimals(text: str) -> str:
    return re.sub(r"\d\.\d\d\d", lambda match: f"{float(match[0]):.2f}", text)
