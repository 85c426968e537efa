"""Training data: made of checked claims alone, in the split of its game, and read by the packages it is made for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.data_cards.tables.rows import StatementRow
from liescope.games.core import AskKind
from liescope.generate.corpus.read import split_of
from liescope.generate.exports import export
from liescope.generate.exports.exporter_protocol import open_source
from liescope.generate.exports.preferences import asked_for, prompt_of
from liescope.generate.importers import import_games
from liescope.generate.runs.fork import fork
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import Shown
from liescope.generate.runs.play import play
from liescope.generate.runs.show_commands import prompt_of_call
from liescope.labeling.label import label_game


def rows(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
            yield file.stem, json.loads(line)


def labelled(run: Path) -> dict[str, StatementRow]:
    with Journal.open(run) as journal:
        return {row.statement_id: row for game in journal.records() for row in label_game(game).statements}


@pytest.mark.parametrize("prefer", ["honest", "deceptive"])
def test_the_direction_is_the_users_and_what_was_not_checked_is_left_out_and_counted(
    scripted: Path, tmp_path: Path, prefer: str
) -> None:
    result = export(scripted, to="kto", out=tmp_path / "kto", prefer=prefer)
    said = labelled(scripted)
    found = {row["statement_id"]: row["label"] for _, row in rows(tmp_path / "kto")}
    assert found == {
        name: row.label_claim is (prefer == "deceptive") for name, row in said.items() if row.label_claim is not None
    }
    assert {True, False} == set(found.values())
    assert sum(result.left_out.values()) == len(said) - len(found) > 0
    assert f"prefer = {prefer}" in (tmp_path / "kto" / "README.md").read_text()
    with pytest.raises(UsageError, match="--prefer"):
        export(scripted, to="kto", out=tmp_path / "other", prefer="both")


def test_a_prompt_is_what_the_speaker_was_sent_and_a_completion_its_whole_reply(asked: Path, tmp_path: Path) -> None:
    export(asked, to="kto", out=tmp_path / "out")
    found = {row["statement_id"]: row for _, row in rows(tmp_path / "out")}
    made = set()
    with Journal.open(asked) as journal:
        for game in journal.records():
            replies = [call for call in journal.calls(game.game_id) if call["kind"] == "speak" and not call["problem"]]
            for call, said in zip(replies, label_game(game).statements, strict=True):
                if said.label_claim is None:
                    continue
                row, prompt = (
                    found[said.statement_id],
                    prompt_of_call(journal, game.game_id, call["step"], call["seat"]),
                )
                made.add(said.statement_id)
                assert row["prompt_origin"] == prompt.data["origin"] == "as it was sent"
                assert "\n\n".join(message["content"] for message in row["prompt"]) == prompt.data["prompt"]
                assert row["completion"] == [{"role": "assistant", "content": call["raw"]}]
                assert row["label"] == (not said.label_claim)
    assert made == found.keys() != set()


def test_a_game_stays_in_its_split_and_datasets_opens_every_row(scripted: Path, tmp_path: Path) -> None:
    from datasets import load_dataset

    result = export(scripted, to="kto", out=tmp_path / "kto-of-scripts")
    opened = load_dataset(str(result.folder), cache_dir=str(tmp_path / "cache"))
    assert {split: part.num_rows for split, part in opened.items()} == result.rows
    for split, row in rows(result.folder):
        assert split == split_of(row["game_id"])
    (split, row), *_ = rows(result.folder)
    assert opened[split][0] == row


def test_what_was_said_is_the_same_from_a_corpus_though_the_prompts_are_not(
    scripted: Path, corpus: Path, tmp_path: Path
) -> None:
    found = {}
    for source in (scripted, corpus):
        export(source, to="kto", out=tmp_path / "out")
        found[source] = {row["statement_id"]: row for _, row in rows(tmp_path / "out")}
    assert found[scripted].keys() == found[corpus].keys()
    for name, row in found[scripted].items():
        other = found[corpus][name]
        assert (row["label"], row["statement"]) == (other["label"], other["statement"])
        assert (row["prompt_origin"], other["prompt_origin"]) == ("rendered again", "made from the transcript")


def test_a_vote_explained_among_assessments_is_told_from_the_prompt_of_the_vote(tmp_path: Path) -> None:
    """Reasons are asked for together, and heard one by one with assessments in between."""
    run = play("werewolf", players=["scripted:bold"], games=1, seed=3, assess=True, learning="off", out=tmp_path / "w")
    with open_source(run.folder) as source:
        assert source.journal
        (game,), shown = source.games(), Shown(source.journal)
        asked = asked_for(source.journal, game)
        told = [
            (said.phase, *prompt_of(game, at, asked[said.statement_id], shown))
            for at, said in enumerate(game.statements)
        ]
    assert {origin for *_, origin in told} == {"rendered again"}
    assert {phase for phase, *_ in told} == {"discussion", "voting", "defence"}
    for phase, prompt, *_ in told:
        assert ("# First vote of day" in prompt[-1]["content"]) == (phase == "voting")


def test_words_that_may_not_be_passed_on_keep_their_terms_and_whispers_their_hearers(tmp_path: Path) -> None:
    false = [{"kind": "place", "verdict": "false", "known": True}]
    lines = [
        {"game_id": "g", "speaker": "Ann", "text": "Psst \u2028 Ben.", "audience": ["Ben"]},
        {"game_id": "g", "speaker": "Ben", "text": "I was here.", "role": "guest", "claims": false},
        {"game_id": "g", "speaker": "Cid", "text": "Me too.", "audience": ["Ann"], "claims": false},
    ]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = import_games("jsonl", tmp_path / "chat.jsonl", out=tmp_path / "run").run
    result = export(run, to="kto", out=tmp_path / "out")
    (licence,) = result.licences
    assert (licence["name"], licence["terms"]["redistributable"]) == ("jsonl", False)
    assert "Not to be passed on" in (tmp_path / "out" / "README.md").read_text()
    found = [row for _, row in rows(tmp_path / "out")]
    assert {(row["origin"], row["prompt_origin"]) for row in found} == {("jsonl", "made from the transcript")}
    assert [row["prompt"][0]["content"] for row in found] == [
        "You are Ben, the guest, in a game of imported-game with Ann, Cid.",
        "You are Cid in a game of imported-game with Ann, Ben.",
    ]
    assert [row["prompt"][1]["content"] for row in found] == [
        "Nobody has spoken yet.\n\nWhat do you say?",
        "What was said so far:\nBen: I was here.\n\nWhat do you say to Ann?",
    ]


def test_what_continuations_have_in_common_is_told_once(scripted: Path, tmp_path: Path) -> None:
    with Journal.open(scripted) as journal:
        game = next(iter(journal.records()))
        step = max(call["step"] for call in journal.calls(game.game_id) if call["kind"] == AskKind.SPEAK)
    forked = fork(scripted, game.game_id, step, times=4, out=tmp_path / "forked").folder
    export(forked, to="kto", out=tmp_path / "kto")
    with Journal.open(forked) as journal:
        games = [label_game(one).statements for one in journal.records()]
    shared = {row.text for row in games[0][:-1] if row.label_claim is not None}
    said = [row["statement"] for _, row in rows(tmp_path / "kto")]
    assert shared
    assert all(said.count(text) == 1 for text in shared)


def test_words_without_a_label_give_no_row(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"game_id": "g", "speaker": "Ann", "text": "Hm."}\n')
    run = import_games("jsonl", tmp_path / "chat.jsonl", out=tmp_path / "run").run
    with pytest.raises(UsageError, match="no label_claim"):
        export(run, to="kto", out=tmp_path / "kto")


@pytest.mark.long
@pytest.mark.skipif(not find_spec("trl"), reason="TRL is not installed: pip install trl")
def test_trl_takes_the_rows_for_conversations(asked: Path, tmp_path: Path) -> None:
    from trl.data_utils import is_conversational

    export(asked, to="kto", out=tmp_path / "out")
    assert all(is_conversational(row) for _, row in rows(tmp_path / "out"))
