"""A probe learns from the states that players kept while they spoke, and scores by them where they are at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from liescope import evaluate, score, train
from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import labelled, place_of, read_statements
from liescope.detectors.probing.language_model import Passage, language_model
from liescope.detectors.view.transcript import read_transcripts
from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.kept_states import keep_states, states_said
from tests.detectors.planted_model import HEARD, make_planted

Keep = Callable[..., Path]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_planted(tmp_path_factory.mktemp("planted") / "model")


@pytest.fixture(scope="module")
def corpus(make_corpus: Any) -> Path:
    """Games whose words tell nothing."""
    return make_corpus(games=60, tell=0.0, models=tuple("abcd"))


@pytest.fixture(scope="module")
def keep(corpus: Path, planted: Path) -> Keep:
    """keep(folder): the states of every statement, after a prompt that tells the speaker's role; the first token of a
    reply is one of reasoning.
    """
    model = language_model(str(planted))
    rows = list(read_statements(corpus).iter_rows(named=True))
    said = [Passage((("user", HEARD[row["label_role"]]),), row["text"]) for row in rows]
    states = model.states(said, (1, 2), 256)

    def kept(folder: Path, games: float = 1.0, layers: tuple[int, ...] = (1, 2), **more: Any) -> Path:
        some = set(sorted({row["game_id"] for row in rows})[:: round(1 / games)])
        for step, (row, own) in enumerate(zip(rows, states, strict=True)):
            if row["game_id"] in some:
                where = row["day"], Phase(row["phase"]), row["round"]
                ask = Ask(row["game_id"], step, row["speaker"], AskKind.SPEAK, *where)
                two = np.stack([np.zeros_like(own), own])[:, : len(layers)]
                keep_states(folder, ask, layers, [5, 6], two, 1, **more)
        return folder

    return kept


def test_what_players_knew_as_they_spoke_is_learned_and_found_in_new_games(
    corpus: Path, planted: Path, keep: Keep, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    keep(run / "my states")
    (run / "run.toml").write_text(f'player = ["local:m?states=1,2&states_to={run}/my states&think=false"]')
    own: dict[str, Any] = {"model": str(planted), "strength": 1.0, "folds": 2}
    text = train("probe", corpus, out=tmp_path / "text", **own)
    auroc = {row.where: row.value for row in text.rows if row.metric == "auroc" and row.against is None}
    assert max(auroc.values()) < 0.7
    for how in ("tokens", "last"):
        made = train("probe", corpus, out=tmp_path / how, states=str(run), read=how, **own)
        auroc = {row.where: row.value for row in made.rows if row.metric == "auroc" and row.against is None}
        assert min(auroc.values()) > 0.99
        assert made.file.options["states"] == "kept by players"
        assert not any("text" in note or "left" in note for note in made.notes)
    tests = read_statements(corpus, ["test"])
    by_states = score(tmp_path / "last", tests, states=str(run / "my states"))
    assert roc_auc_score(tests["label_role"], by_states["score"]) > 0.99
    assert roc_auc_score(tests["label_role"], score(tmp_path / "last", tests)["score"]) < 0.7
    tests.select("statement_id", "text", "speaker", "game_id", "names", "day", "phase", "round").write_ndjson(
        tmp_path / "rows.jsonl"
    )
    rows = pl.read_ndjson(tmp_path / "rows.jsonl")
    assert score(tmp_path / "last", rows, states=str(run / "my states"))["score"].equals(by_states["score"])
    told = evaluate(tmp_path / "last", corpus, split="test", states=str(run)).rows
    assert max(row.value or 0 for row in told if row.metric == "auroc" and row.scorer == "last") > 0.99
    cards = [(tmp_path / name / "README.md").read_text() for name in ("last", "text")]
    assert ["states that players kept as they spoke" in card for card in cards] == [True, False]


def test_each_statement_has_its_own_states(make_corpus: Any, tmp_path: Path) -> None:
    corpus = make_corpus(games=6)
    data = labelled(statements := read_statements(corpus), "role", 0, read_transcripts(corpus))
    for step, row in enumerate(statements.iter_rows(named=True)):
        where = row["day"], Phase(row["phase"]), row["round"]
        for kind in (AskKind.SPEAK, AskKind.VOTE):
            ask = Ask(row["game_id"], 2 * step + (kind is AskKind.VOTE), row["speaker"], kind, *where)
            over = np.array([0, 0, 2, 4])[:, None, None]  # by token, the first two of reasoning
            states = np.full((4, 1, 2), step if kind is AskKind.SPEAK else -1.0) + over
            keep_states(tmp_path, ask, (1,), [1, 2, 3, 4], states, 2)
    rows = {key: step for step, key in enumerate(statements["statement_id"])}
    for last, more in ((False, 3), (True, 4)):
        _, kept = states_said(str(tmp_path), "any", last)
        found = [kept[place][0, 0] - more for one in data.examples if (place := place_of(one))]
        assert found == [rows[one.statement_id] for one in data.examples]


def test_statements_without_kept_states_are_counted_and_not_learned_from(
    corpus: Path, planted: Path, keep: Keep, tmp_path: Path
) -> None:
    half = keep(tmp_path / "half", games=0.5)
    made = train(
        "probe", corpus, out=tmp_path / "model", states=str(half), model=str(planted), strength=1.0, layer=2, folds=0
    )
    learned = read_statements(corpus, ["train"]).filter(pl.col("label_role").is_not_null())
    kept = {json.loads(path.parent.name.join('""')) for path in half.glob("*/*")}
    without = learned.filter(~pl.col("game_id").is_in(list(kept))).height
    assert 0 < without < learned.height
    assert any(f"{without:,} of {learned.height:,} statements have no kept states" in note for note in made.notes)
    assert any("were scored by their text" in note for note in made.notes)


def test_states_that_are_of_no_use_are_refused_with_what_to_do(
    corpus: Path, planted: Path, keep: Keep, tmp_path: Path
) -> None:
    def fit(states: Path, **more: Any) -> None:
        given = {"model": str(planted), "folds": 0, **more}
        train("probe", corpus, out=tmp_path / "model", states=str(states), **given)

    (tmp_path / "none").mkdir()
    with pytest.raises(UsageError, match="keeps no states of anything said"):
        fit(tmp_path / "none")
    with pytest.raises(UsageError, match="no folder"):
        fit(tmp_path / "missing")
    kept, first = keep(tmp_path / "kept"), keep(tmp_path / "first", layers=(1,))
    with pytest.raises(UsageError, match=r"keeps the layers 1; --layer 2"):
        fit(first, layer=2)
    for odd in ({"read": "answer"}, {"view": "both"}):
        with pytest.raises(UsageError, match="--read tokens or last alone"):
            fit(kept, **odd)
    keep(first, games=0.5)
    with pytest.raises(BadData, match="different layers"):
        fit(first)
    with pytest.raises(UsageError, match=r"kept states are not of .*model"):
        fit(keep(tmp_path / "deep", layers=(3, 4)))
    keep(tmp_path / "both", model="a")
    keep(tmp_path / "both", games=0.5, model="b")
    with pytest.raises(UsageError, match="keeps states of a, b, not of model"):
        fit(tmp_path / "both")
    train("probe", corpus, out=tmp_path / "plain", model=str(planted), folds=0, layer=1)
    with pytest.raises(UsageError, match="did not learn from states that players kept"):
        score(tmp_path / "plain", ["A word."], states=str(kept))
