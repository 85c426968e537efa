"""A run, a corpus folder and a corpus on the Hub open as the same tables."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from liescope.common.errors import BadData
from liescope.data_cards.tables import TABLES, polars_schema
from liescope.games.record import GameRecord
from liescope.generate.corpus.build import build
from liescope.generate.corpus.open import GAME_TABLES, as_corpus, open_games
from liescope.generate.corpus.read import licences_of, read
from tests.generate.corpus.games import fail, pack, play, stream, wolves

MakeRun = Callable[[str, Iterable[GameRecord]], Path]


@pytest.fixture(scope="module")
def games() -> list[GameRecord]:
    """Games of both kinds, one of them failed, some judged, one with half a surrogate pair in its words."""
    games = [play(number) for number in range(12)]
    games[3] = fail(games[3], "the endpoint went away")
    games[4] = play(4, said="so \ud83d it is")
    return [*games, *(wolves(number, judged=number % 2 == 0) for number in range(4))]


@pytest.fixture
def run(make_run: MakeRun, games: list[GameRecord]) -> Path:
    return make_run("one", games)


@pytest.fixture(scope="module")
def whole(games: list[GameRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "corpus"
    pack(stream(games), folder, heads={"run": ({"game": "mini-mafia"}, {})})
    return folder


@pytest.fixture
def corpus(whole: Path, tmp_path: Path) -> Path:
    """Of these games; a copy that a test may spoil."""
    return Path(shutil.copytree(whole, tmp_path / "corpus"))


def test_a_run_and_its_corpus_open_as_equal_tables_and_those_alone_that_were_asked_for(
    run: Path, tmp_path: Path
) -> None:
    build(run, out=tmp_path / "corpus")
    played, packed = open_games(run), open_games(tmp_path / "corpus")
    assert played.runs == packed.runs
    assert set(played.tables) == set(packed.tables) == set(GAME_TABLES)
    for name, table in played.tables.items():
        assert table.equals(packed.tables[name]), name
        assert table.height, name
        assert dict(table.schema) == {key: kind for key, kind in polars_schema(name).items() if key != "split"}
    for source in (run, tmp_path / "corpus"):
        some = open_games(source, ["votes"]).tables
        assert list(some) == ["games", "votes"]  # games always
        assert some["votes"].equals(played.tables["votes"])


def rewritten(corpus: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Path:
    """The corpus with its games changed by somebody who knows to put the right SHA-256 into corpus.json."""
    facts = json.loads((corpus / "corpus.json").read_text("utf-8"))
    for file in facts["files"]:
        if file["config"] == "games":
            path = corpus / file["path"]
            schema = pq.read_schema(path)
            pq.write_table(change(pl.read_parquet(path)).to_arrow().cast(schema), path)
            file["sha256"] = sha256(path.read_bytes()).hexdigest()
    (corpus / "corpus.json").write_text(json.dumps(facts), encoding="utf-8")
    return corpus


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (pl.lit("{", pl.String).alias("settings"), "settings of a game cannot be read"),
        (pl.lit("[1]", pl.String).alias("settings"), "not an object of strings"),
        (pl.lit("won", pl.String).alias("status"), "'won' is not a valid status of a game"),
        (pl.lit(None, pl.String).alias("game_id"), "column game_id of games has nulls"),
        (pl.lit("same", pl.String).alias("game_id"), "twice"),
    ],
)
def test_a_corpus_that_was_forged_is_one_line(change: pl.Expr, told: str, corpus: Path) -> None:
    with pytest.raises(BadData, match=told):
        open_games(rewritten(corpus, lambda games: games.with_columns(change)))


@pytest.mark.parametrize("runs", [None, {}, [1], [{"name": "x"}], [{"name": "x", "plan": [], "versions": {}}]])
def test_runs_that_corpus_json_does_not_list_are_one_line(runs: object, corpus: Path) -> None:
    path = corpus / "corpus.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "runs": runs}), encoding="utf-8")
    with pytest.raises(BadData, match=r"corpus\.json cannot be read \(runs"):
        open_games(corpus)


def test_a_run_is_read_as_its_corpus_and_leaves_nothing_behind(
    make_run: Callable[[str, Iterable[GameRecord]], Path], tmp_path: Path
) -> None:
    run = make_run("one", [play(number) for number in range(6)])
    built = build(run, out=tmp_path / "built").folder
    before = sorted(tmp_path.rglob("*"))
    made = as_corpus(run)
    for name in TABLES.keys() - {"calls"}:
        assert read(made, name).collect().equals(read(built, name).collect()), name
    assert json.loads(json.dumps(licences_of(made))) == licences_of(built)
    assert sorted(tmp_path.rglob("*")) == before
    assert as_corpus(built) == built


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="is not a corpus"):
        read(as_corpus(tmp_path), "games")
