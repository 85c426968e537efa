"""Games to look at: the same from a run and from the corpus built of it, with what detectors say of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import liescope
from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.detectors.evaluation.score_rows import SCORES
from liescope.games.core import EventKind
from liescope.generate.runs.journal import Journal
from liescope.web.view.game_page import shown
from liescope.web.view.game_source import open_games
from liescope.web.view.score_table import games_of_report, read_scores
from tests.web.view.conftest import Played, viewed


@pytest.mark.parametrize("game", ["mini-mafia", "werewolf"])
def test_a_corpus_gives_back_the_games_of_its_run_in_their_order(game: str, played: Callable[[str], Played]) -> None:
    run, corpus = played(game).games, open_games(str(played(game).corpus))
    assert list(corpus.ids) == list(run.ids)
    for known, found in zip(viewed(run), viewed(corpus), strict=True):
        assert found.record == known.record
        assert found.labels == known.labels
        assert [one.tries[0]["raw"] for one in found.calls] == [one.tries[0]["raw"] for one in known.calls]
        assert all(one.prompt for one in known.calls)
        assert {one.origin for one in known.calls} == {"rendered again"}
        assert not any(one.prompt for one in found.calls)
        assert all("in the run" in one.origin for one in found.calls)


def test_what_a_model_thought_is_shown_from_its_run_and_from_a_corpus(mini_mafia: Played, tmp_path: Path) -> None:
    with Journal.open(mini_mafia.run) as journal:
        game = next(iter(journal.records()))
    said = next(event for event in game.events if event.kind is EventKind.STATEMENT)
    data = {**said.data, "private": {"reasoning": "Say <b>nothing</b> of it.", "planted_type": "omission"}}
    events = tuple(replace(event, data=data) if event is said else event for event in game.events)
    with Journal.create(tmp_path / "thinking", {"import": "elsewhere"}) as journal:
        journal.add_record(replace(game, events=events))
    liescope.build([tmp_path / "thinking"], out=tmp_path / "corpus")
    for source in (tmp_path / "thinking", tmp_path / "corpus"):
        (page,) = map(shown, viewed(open_games(str(source))))
        (found,) = (one for part in page["sections"] for one in part["moments"] if one["index"] == said.index)
        assert found["meant"] == [("reasoning", "Say <b>nothing</b> of it.")]


def test_a_path_is_opened_as_what_it_holds(mini_mafia: Played, tmp_path: Path) -> None:
    for path, why in ((tmp_path / "nothing", "does not exist"), (mini_mafia.run.parent, "is a folder of runs")):
        with pytest.raises(UsageError, match=why):
            open_games(str(path))
    with pytest.raises(BadData, match="no run, no corpus and no report"):
        open_games(str(tmp_path))
    for source in (mini_mafia.games, open_games(str(mini_mafia.corpus))):
        first = source.ids[1]
        assert source.find("1") == source.find(first) == first
        with pytest.raises(UnknownName, match="game in"):
            source.find("no-such-game")


def report_of(folder: Path, corpus: str, scores: dict[str, float]) -> Path:
    """A report of one detector and one control."""
    folder.mkdir(parents=True)
    names = ("tfidf", "control:length")
    table = pl.DataFrame(
        [(one, name, "role", score, -1) for name in names for one, score in scores.items()], SCORES, orient="row"
    )
    table.write_parquet(folder / "scores.parquet")
    thresholds = [{"detector": "tfidf", "target": "role", "5pct": 0.9, "macro_f1": 0.3}]
    (folder / "report.json").write_text(json.dumps({"corpus": corpus, "models": {}, "thresholds": thresholds}))
    return folder


def test_a_report_is_shown_with_the_corpus_that_it_names_and_its_mistakes(mini_mafia: Played, tmp_path: Path) -> None:
    game = viewed(mini_mafia.games)[0]
    rows = game.labels.statements
    scores = {row.statement_id: place / 10 for place, row in enumerate(rows)}
    report = report_of(mini_mafia.corpus.parents[1] / "reports" / tmp_path.name, "mini-mafia", scores)
    table = read_scores(report)
    assert Path(games_of_report(report, table.corpus)) == mini_mafia.corpus
    assert [(one.name, one.threshold) for one in table.detectors] == [("tfidf", 0.3)]
    page = shown(game, table)
    said = [one for part in page["sections"] for one in part["moments"] if one["kind"] == "said"]
    wrong = {False: {True: "missed"}, True: {False: "false alarm"}}
    assert [one["scores"] for one in said] == [
        [("tfidf", score, wrong[score > 0.3].get(bool(row.label_role), ""))]
        for row, score in zip(rows, scores.values(), strict=True)
    ]
    assert [len(strip["bars"]) for strip in page["strips"]] == [len(rows)]
    assert [one.name for one in read_scores(report, ["control:length"]).detectors] == ["control:length"]
    with pytest.raises(UnknownName, match="detector"):
        read_scores(report, ["probe"])
    written = liescope.view(report, "0", out=tmp_path / "one.html")
    assert "Scores of tfidf" in written.path.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="liescope view CORPUS --scores"):
        liescope.view(report_of(tmp_path / "lonely", "somewhere-else", scores), out=tmp_path / "two.html")


def test_a_file_of_scores_is_read_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("statement_id,score\na:1,0.75\n")
    assert read_scores(tmp_path / "mine.csv").scores == {"a:1": {"mine": 0.75}}
    for name in ("bad.parquet", "bad.jsonl"):
        (tmp_path / name).write_bytes(b"PAR1")
        with pytest.raises(BadData, match="damaged"):
            read_scores(tmp_path / name)
    (tmp_path / "other.csv").write_text("text\nhello\n")
    with pytest.raises(BadData, match="statement_id and score"):
        read_scores(tmp_path / "other.csv")
