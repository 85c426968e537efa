"""Games to look at: the same from a run, from the corpus built of it, and while they are played."""

from __future__ import annotations

import json
import shutil
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
from liescope.web.view.game_sources import CorpusSource, RunSource, open_source
from liescope.web.view.page_parts import Said
from liescope.web.view.score_table import read_scores
from tests.web.view.conftest import Played


def ids_of(run: Path) -> list[str]:
    with Journal.open(run) as journal:
        return journal.game_ids()


@pytest.mark.parametrize("game", ["mini_mafia", "werewolf"])
def test_a_corpus_gives_back_the_games_of_its_run(game: str, request: pytest.FixtureRequest) -> None:
    both: Played = request.getfixturevalue(game)
    run, corpus = RunSource(both.run), CorpusSource(both.corpus)
    for game_id in ids_of(both.run):
        known, found = run.game(game_id), corpus.game(game_id)
        assert found.record == known.record
        assert found.labels == known.labels
        assert [call["raw"] for call in found.calls] == [call["raw"] for call in known.calls]


def test_a_corpus_lists_its_games_in_the_order_of_their_run_whatever_their_splits(mini_mafia: Played) -> None:
    assert list(CorpusSource(mini_mafia.corpus).listed().values()) == ids_of(mini_mafia.run)


def test_what_a_model_thought_is_shown_from_its_run_and_from_a_corpus(tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=1, out=tmp_path / "run")
    (game_id,) = ids_of(tmp_path / "run")
    with Journal.open(tmp_path / "run") as journal:
        game = journal.record(game_id)
    said = next(event for event in game.events if event.kind is EventKind.STATEMENT)
    data = {**said.data, "private": {"reasoning": "Say <b>nothing</b> of it.", "planted_type": "omission"}}
    events = tuple(replace(event, data=data) if event is said else event for event in game.events)
    with Journal.create(tmp_path / "thinking", {"import": "elsewhere"}) as journal:
        journal.add_record(replace(game, events=events))
    liescope.build([tmp_path / "thinking"], out=tmp_path / "corpus")
    for source in (RunSource(tmp_path / "thinking"), CorpusSource(tmp_path / "corpus")):
        moments = [moment for part in shown(source.game(game_id)).sections for moment in part.moments]
        (found,) = (moment for moment in moments if isinstance(moment, Said) and moment.index == said.index)
        assert dict(found.meant) == {"reasoning": "Say <b>nothing</b> of it."}


def test_a_game_under_way_is_seen_up_to_where_it_is(mini_mafia: Played, tmp_path: Path) -> None:
    run = shutil.copytree(mini_mafia.run, tmp_path / "run")
    source, game_id = RunSource(run), ids_of(run)[3]
    whole = source.game(game_id)
    with Journal.open(run, write=True) as journal:
        journal._base.execute("DELETE FROM games WHERE game_id = ?", (game_id,))
        journal._base.execute("DELETE FROM replies WHERE game_id = ? AND step > 9", (game_id,))
        journal._base.commit()
    part = source.game(game_id)
    assert part.under_way
    assert part.record.outcome is None
    assert 0 < len(part.labels.statements) < len(whole.labels.statements)
    assert part.record.events == whole.record.events[: len(part.record.events)]
    assert [(seat.model, seat.source) for seat in part.record.seats] == [
        (seat.model, seat.source) for seat in whole.record.seats
    ]
    assert [game for game, _ in source.begun()] == [game_id]
    assert source.find(game_id[:-1] + game_id[-1]) == game_id


def test_the_prompt_of_a_call_is_shown_for_a_run_and_not_for_a_corpus(mini_mafia: Played) -> None:
    game_id = ids_of(mini_mafia.run)[0]
    viewed = RunSource(mini_mafia.run).game(game_id)
    assert viewed.has_prompts
    call = viewed.calls[-1]
    assert call["seat"] in RunSource(mini_mafia.run).prompt(game_id, call["step"], call["seat"]).text
    with pytest.raises(UsageError, match="holds replies and no prompts"):
        CorpusSource(mini_mafia.corpus).prompt(game_id, 0, "Alice")


def test_a_path_is_opened_as_what_it_holds(mini_mafia: Played, tmp_path: Path) -> None:
    assert open_source(mini_mafia.run).source.kind == "run"
    assert open_source(mini_mafia.corpus).source.kind == "corpus"
    with pytest.raises(UsageError, match="does not exist"):
        open_source(tmp_path / "nothing")
    with pytest.raises(BadData, match="no run, no corpus and no report"):
        open_source(tmp_path)
    with pytest.raises(UnknownName, match="game in"):
        open_source(mini_mafia.corpus).source.find("no-such-game")
    first = ids_of(mini_mafia.run)[1]
    for source in (open_source(mini_mafia.run).source, open_source(mini_mafia.corpus).source):
        assert source.find("1") == source.find(first) == first


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


def test_a_report_is_shown_with_the_corpus_that_it_names(mini_mafia: Played, tmp_path: Path) -> None:
    game_id = ids_of(mini_mafia.run)[0]
    said = RunSource(mini_mafia.run).game(game_id).labels.statements
    scores = {row.statement_id: place / 10 for place, row in enumerate(said)}
    report = report_of(mini_mafia.corpus.parents[1] / "reports" / tmp_path.name, "mini-mafia", scores)
    opened = open_source(report)
    assert opened.source.kind == "corpus"
    assert opened.scores is not None
    assert [(one.name, one.threshold) for one in opened.scores.detectors] == [("tfidf", 0.3)]
    assert opened.scores.of_game(game_id) == {key: {"tfidf": score} for key, score in scores.items()}
    assert opened.scores.of_game("another") == {}
    laid = open_source(mini_mafia.run, report, ["control:length"])
    assert laid.scores is not None
    assert set(laid.scores.of_game(game_id)[said[0].statement_id]) == {"control:length"}
    with pytest.raises(UnknownName, match="detector"):
        open_source(mini_mafia.run, report, ["probe"])
    lonely = report_of(tmp_path / "lonely", "somewhere-else", scores)
    with pytest.raises(UsageError, match="liescope view CORPUS --scores"):
        open_source(lonely)


def test_a_file_of_scores_is_read_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("statement_id,score\na:1,0.75\n")
    assert read_scores(tmp_path / "mine.csv").of_game("a") == {"a:1": {"mine": 0.75}}
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadData, match="damaged"):
        read_scores(tmp_path / "bad.parquet")
    (tmp_path / "other.csv").write_text("text\nhello\n")
    with pytest.raises(BadData, match="statement_id and score"):
        read_scores(tmp_path / "other.csv")
