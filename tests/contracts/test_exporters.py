"""What every exporter promises. A new one joins by standing in the registry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from liescope.common.errors import BadData, UsageError
from liescope.generate.corpus.build import build
from liescope.generate.exports import EXPORTERS, Exporter, export
from liescope.generate.exports.commands import app
from liescope.generate.runs.play import play

every_exporter = pytest.mark.parametrize("exporter", EXPORTERS.values(), ids=EXPORTERS.keys())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six games by scripts."""
    folder = tmp_path_factory.mktemp("export") / "run"
    return play("mini-mafia", players=["scripted:bold"], games=6, seed=2, out=folder).folder


@every_exporter
def test_an_exporter_says_what_it_writes_and_what_that_does_not_say(exporter: type[Exporter]) -> None:
    assert EXPORTERS[exporter.format] is exporter
    assert exporter.format == exporter.format.lower()
    assert exporter.__doc__
    assert exporter.writes.strip()
    for words in (exporter.about, exporter.limits):
        assert words.endswith(".")


@every_exporter
def test_every_option_is_described_has_a_default_and_is_on_the_command(exporter: type[Exporter]) -> None:
    taken = {option for parameter in typer.main.get_command(app).params for option in parameter.opts}
    for name, field in exporter.Options.model_fields.items():
        assert field.description
        assert not field.is_required()
        assert f"--{name.replace('_', '-')}" in taken
    with pytest.raises(UsageError, match=r"unknown option of .* '--colour'"):
        exporter.Options.of({"colour": "red"}, exporter.format)


@every_exporter
def test_a_source_that_is_neither_run_nor_corpus_leaves_nothing_behind(
    exporter: type[Exporter], tmp_path: Path
) -> None:
    with pytest.raises(BadData):
        export(tmp_path / "nowhere", to=exporter.format, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@every_exporter
def test_an_export_says_whose_words_it_holds_and_replaces_only_an_export(
    exporter: type[Exporter], run: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="is not a Liescope export"):
        export(run, to=exporter.format, out=tmp_path / "mine")
    for _ in range(2):
        export(run, to=exporter.format, out=tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "export.json").read_text())
    card = (tmp_path / "out" / "README.md").read_text()
    assert facts["licences"][0]["terms"]["licence_id"] == "apache-2.0"
    assert "Apache-2.0" in card
    assert exporter.limits in card
    assert facts["games"] == 6


@every_exporter
def test_a_corpus_gives_what_its_run_gives_or_is_refused(exporter: type[Exporter], run: Path, tmp_path: Path) -> None:
    corpus = build(run, out=tmp_path / "corpus").folder
    if exporter.needs_run:
        with pytest.raises(BadData, match="needs the folder of a run"):
            export(corpus, to=exporter.format, out=tmp_path / "out")
        return
    of_corpus = export(corpus, to=exporter.format, out=tmp_path / "corpus-out")
    of_run = export(run, to=exporter.format, out=tmp_path / "run-out")
    assert (of_corpus.games, dict(of_corpus.rows)) == (of_run.games, dict(of_run.rows))
