"""Pairs: two replies of one seat to the same prompt, of which one is a lie, from forked games."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.games.core import AskKind
from liescope.generate.corpus.read import split_of
from liescope.generate.exports import export
from liescope.generate.runs.fork import fork
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from liescope.labeling.label import label_game
from tests.generate.exports.test_rows import rows
from tests.generate.players.openai.stub import Answer, Request, Stub, says


def answer(_: Request, number: int) -> Answer:
    """A claim to be the detective, or of one's own guilt, in words that differ each time."""
    claim = "I am the detective." if number % 2 else "I am the mafioso."
    return says(f'"{claim} That is reason {number}."')


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Eight continuations of the moment at which a mafioso speaks last, by a model that confesses or lies."""
    folder, stub = tmp_path_factory.mktemp("forked"), Stub(answer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-stand-in-0123456789")
        run = play("mini-mafia", players=[f"openai:tiny@{stub.url}"], games=1, seed=5, out=folder / "run").folder
        with Journal.open(run) as journal:
            (game,) = journal.records()
            (mafioso,) = game.by_role("mafioso")
            step = max(
                call["step"]
                for call in journal.calls(game.game_id)
                if (call["seat"], call["kind"]) == (mafioso.name, AskKind.SPEAK)
            )
        yield fork(run, game.game_id, step, times=8, out=folder / "forked").folder
    stub.close()


@pytest.mark.parametrize("prefer", ["honest", "deceptive"])
def test_a_pair_is_two_replies_to_one_prompt_of_which_one_is_a_lie(forked: Path, tmp_path: Path, prefer: str) -> None:
    result = export(forked, to="preference", out=tmp_path / "pairs", prefer=prefer)
    found = list(rows(tmp_path / "pairs"))
    assert sum(result.rows.values()) == len(found) > 0
    with Journal.open(forked) as journal:
        games = list(journal.records())
        step = games[0].meta["fork"]["step"]
        lies = {row.statement_id: row.label_claim for game in games for row in label_game(game).statements}
        for split, row in found:
            assert split == split_of(games[0].meta["fork"]["root"])
            assert [lies[row["chosen_id"]], lies[row["rejected_id"]]] == [prefer == "deceptive", prefer == "honest"]
            for kind in ("chosen", "rejected"):
                (request,) = journal.requests(row[f"{kind}_id"].rpartition(":")[0], step, row["speaker"])
                assert row["prompt"] == request.body["messages"]
    used = [row[name] for _, row in found for name in ("chosen_id", "rejected_id")]
    assert len(used) == len(set(used))


def test_what_continuations_have_in_common_is_told_once(forked: Path, tmp_path: Path) -> None:
    export(forked, to="kto", out=tmp_path / "kto")
    said = [row["statement"] for _, row in rows(tmp_path / "kto")]
    assert len(said) == len(set(said))
    with Journal.open(forked) as journal:
        (first, second, *_) = (label_game(game).statements for game in journal.records())
    assert first[0].text == second[0].text
    assert said.count(first[0].text) == 1


def test_ordinary_games_give_no_pairs_and_are_told_where_pairs_come_from(scripted: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="liescope fork"):
        export(scripted, to="preference", out=tmp_path / "pairs")
    assert not (tmp_path / "pairs").exists()


@pytest.mark.long
@pytest.mark.skipif(not find_spec("trl"), reason="TRL is not installed: pip install trl")
def test_trl_takes_the_pairs_and_unpairs_them(forked: Path, tmp_path: Path) -> None:
    from datasets import Dataset
    from trl.data_utils import is_conversational, unpair_preference_dataset

    export(forked, to="preference", out=tmp_path / "pairs")
    found: list[dict[str, Any]] = [row for _, row in rows(tmp_path / "pairs")]
    assert all(is_conversational(row) for row in found)
    few = [{name: row[name] for name in ("prompt", "chosen", "rejected")} for row in found]
    unpaired = unpair_preference_dataset(Dataset.from_list(few))
    assert sorted(unpaired["label"]) == [False] * len(few) + [True] * len(few)
    assert json.dumps(unpaired[0]["prompt"]) == json.dumps(found[0]["prompt"])
