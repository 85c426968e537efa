"""Diplomacy's messages come in with their official split, and give the figures that its authors printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from liescope.data_cards.tables.rows import StatementRow
from liescope.games.record import GameRecord
from liescope.generate.importers import read_games
from liescope.labeling.label import NOT_IN_SOURCE, label_game


def dialogue(**changes: Any) -> dict[str, Any]:
    return {
        "game_id": 4,
        "messages": ["I will not attack you.", "Thanks."],
        "speakers": ["italy", "austria"],
        "receivers": ["austria", "italy"],
        "sender_labels": [False, True],
        "receiver_labels": [True, "NOANNOTATION"],
        "absolute_message_index": [10, 30],
        "seasons": ["Fall", "Spring"],
        "years": ["1901", "1902"],
        **changes,
    }


def written(folder: Path, lines: Sequence[dict[str, Any]], name: str = "validation.jsonl") -> Path:
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder / name


def test_dialogues_of_a_game_are_one_record_of_private_messages(tmp_path: Path) -> None:
    other = {"speakers": ["italy"], "receivers": ["france"], "messages": ["Psst."], "seasons": ["Winter"]}
    other |= {"sender_labels": [True], "receiver_labels": [False], "absolute_message_index": [20], "years": ["1901"]}
    (game,) = read_games("diplomacy", written(tmp_path, [dialogue(), dialogue(**other)]))
    assert (game.game_id, game.meta["split"], len(game.seats)) == ("diplomacy-4", "validation", 7)
    first, second, third = label_game(game).statements
    assert [row.text for row in (first, second, third)] == ["I will not attack you.", "Psst.", "Thanks."]
    assert (first.audience, second.audience) == (("austria", "italy"), ("france", "italy"))
    assert ((first.day, first.round), (third.day, third.round)) == ((1, 2), (2, 1))
    assert (first.label_self, first.label_peer, first.label_role) == (True, False, None)
    assert (second.label_self, second.label_peer) == (False, True)
    assert (third.label_self, third.label_peer, third.label_peer_null) == (False, None, NOT_IN_SOURCE)
    assert {row.source for row in (first, second, third)} == {"human"}


def test_the_split_can_be_named(tmp_path: Path) -> None:
    (game,) = read_games("diplomacy", written(tmp_path, [dialogue()], "messages.jsonl"), split="test")
    assert game.meta["split"] == "test"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"speakers": ["italy"]}, "not of one length"),
        ({"speakers": ["italy", "spain"]}, "speakers.1"),
        ({"sender_labels": ["perhaps", True]}, "sender_labels.0"),
        ({"game_id": None}, "game_id"),
    ],
)
def test_a_line_of_another_shape_is_rejected(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    (bad,) = read_games("diplomacy", written(tmp_path, [dialogue(**changes)]))
    assert reason in bad.reason


COUNTED = {"train": (9, 13132, 591), "validation": (1, 1416, 56), "test": (2, 2741, 240)}


def published(folder: Path, split: str) -> list[StatementRow]:
    """The messages of an official split, of which nothing is rejected and nothing is missing."""
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    found = list(read_games("diplomacy", folder / f"{split}.jsonl.gz"))
    games = [game for game in found if isinstance(game, GameRecord)]
    assert [game.meta["split"] for game in games] == [split] * len(found)
    rows = [row for game in games for row in label_game(game).statements]
    assert (len(games), len(rows), sum(bool(row.label_self) for row in rows)) == COUNTED[split]
    assert all(row.label_role is None and len(row.audience) == 2 for row in rows)
    return rows


def test_all_published_messages_of_a_split_are_there(shared_data: Path) -> None:
    published(shared_data / "diplomacy", "validation")


@pytest.mark.long
def test_human_receivers_are_as_good_as_the_authors_print(shared_data: Path) -> None:
    """Of the messages that the receiver annotated: macro F1 58.1 and F1 of lies 22.5 on the official test split;
    over all three splits, Cohen's kappa of sender and receiver is 0.095.
    """
    rows = {split: published(shared_data / "diplomacy", split) for split in COUNTED}
    pairs = {split: [(row.label_self, row.label_peer) for row in rows[split]] for split in COUNTED}
    rated = [pair for pair in pairs["test"] if pair[1] is not None]
    truth, guess = zip(*rated, strict=True)
    assert 100 * f1_score(truth, guess, average="macro") == pytest.approx(58.1, abs=0.2)
    assert 100 * f1_score(truth, guess) == pytest.approx(22.5, abs=0.2)
    everything = [pair for name in COUNTED for pair in pairs[name]]
    both = [pair for pair in everything if None not in pair]
    assert cohen_kappa_score(*zip(*both, strict=True)) == pytest.approx(0.095, abs=0.0005)
    assert len(both) == 15783
