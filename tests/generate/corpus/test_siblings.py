"""Games that share a beginning stay together: in splits, with models held out, and in the folds of a training."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liescope
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.common.errors import UsageError
from liescope.detectors.examples import labelled, read_statements
from liescope.detectors.folds import fold_of
from liescope.games.facts import ForkMeta
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.generate.corpus.read import siblings_of, split_game, split_of
from liescope.generate.runs.journal import Journal

FAMILY = pl.col("siblings").fill_null(pl.col("game_id"))


def game(game_id: str, model: str, root: str = "") -> GameRecord:
    fork = ForkMeta(run="r", game=root, step=3, root=root, seat="Ann", group="x", number=0, events=4)
    seat = Seat("Ann", "villager", "town", False, model, Source.MODEL)
    return GameRecord(game_id, "mafia", 1, "", (seat,), (), Status.DONE, meta={"fork": fork} if root else {})


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=4), st.lists(st.sampled_from("abc"), min_size=1, max_size=5), max_size=8
    ),
    st.sets(st.sampled_from("abc")),
)
def test_no_split_parts_a_family_whoever_is_held_out(families: dict[str, list[str]], hold_out: set[str]) -> None:
    games = [
        game(root if number == 0 else f"{root}/{number}", model, root if number else "")
        for root, models in families.items()
        for number, model in enumerate(models)
    ]
    away = {siblings_of(one) for one in games if one.seats[0].model in hold_out}
    splits = {root: {split_game(one, hold_out, away) for one in games if siblings_of(one) == root} for root in families}
    for root, models in families.items():
        expected = "test" if hold_out & set(models) else split_of(root)
        assert splits[root] == {expected}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A run, continuations of four of its games, and continuations of these."""
    folder = tmp_path_factory.mktemp("families")
    first = folder / "first"
    liescope.play("mini-mafia", players=["scripted:bold"], games=12, out=first, assess=True)
    found = [first]
    for number in range(4):
        found.append(folder / f"fork-{number}")
        liescope.fork(first, str(number), 2, players=["scripted:novice"], times=4, out=found[-1])
    found.append(folder / "again")
    liescope.fork(found[1], "0", 4, players=["scripted:steady"], times=4, out=found[-1])
    return found


@pytest.mark.parametrize("hold_out", [(), ("scripted:novice",)])
def test_a_corpus_keeps_families_together(runs: list[Path], hold_out: tuple[str, ...], tmp_path: Path) -> None:
    games = liescope.build(runs, out=tmp_path / "c", hold_out_models=hold_out).games
    families = games.group_by(FAMILY).agg(pl.col("split").n_unique(), pl.len())
    assert families["split"].to_list() == [1] * 12
    assert sorted(families["len"]) == [1] * 8 + [5] * 3 + [9]
    forked = games.filter(pl.col("siblings").is_not_null())
    assert set(forked["fork_step"]) == {2, 4}
    assert set(forked["fork_group"]) == {"scripted:novice", "scripted:steady"}
    for model in hold_out:
        seats = games.filter(pl.col("seats").list.eval(pl.element().struct.field("model") == model).list.any())
        assert set(seats["split"]) == {"test"}


def test_folds_keep_families_together(runs: list[Path], tmp_path: Path) -> None:
    corpus = liescope.build(runs, out=tmp_path / "c").folder
    statements = read_statements(corpus)
    data = labelled(statements, "role", 0)
    fold = fold_of(data.y, data.groups, 3, 0)
    family = dict(liescope.read(corpus, "games").select("game_id", FAMILY).collect().iter_rows())
    placed: dict[str, set[int]] = {}
    for example, number in zip(data.examples, fold, strict=True):
        placed.setdefault(family[example.game_id], set()).add(int(number))
    assert data.games == len(placed) == 12
    assert {len(folds) for folds in placed.values()} == {1}


def test_a_judged_continuation_is_still_one(runs: list[Path], tmp_path: Path) -> None:
    judged = liescope.label(runs[1], "scripted:bold", share=0.2, out=tmp_path / "judged").folder
    with Journal.open(runs[0]) as journal:
        origin = journal.game_ids()[0]
    with Journal.open(judged) as journal:
        assert [siblings_of(record) for record in journal.records()] == [origin] * 4


def test_the_capability_model_counts_no_game_that_shares_a_beginning(runs: list[Path]) -> None:
    counts = load_conditions(runs[:2], pool=True)[""]
    assert int(counts.cells["games"].sum()) == 12
    assert counts.excluded == {"they go on from a recorded game or play it again": 4}
    with pytest.raises(UsageError, match="no game can be counted: 4 because they go on from a recorded game"):
        load_conditions(runs[1:2], pool=True)
    assert any("go on from recorded games or play them again" in note for note in liescope.analyse(runs[:2]).notes)
