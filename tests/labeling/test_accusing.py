"""Whom a statement accuses: forms that models use in Mini-Mafia, said by Charlie to Alice, Bob and Diana."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from liescope.detectors.examples import Example
from liescope.detectors.text_form import TextConfig, textualize
from liescope.detectors.view.candidate import ABOUT, REST, Candidate, pieces
from liescope.detectors.view.transcript import SAID, GameMoment, Transcript, TranscriptTurn
from liescope.labeling.accusing import accused
from liescope.labeling.claims import find_claims
from liescope.labeling.masking import nicknames

NAMES = ("Alice", "Bob", "Charlie", "Diana")
ROWS = (Path(__file__).parent / "accusing_sentences.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", [json.loads(row) for row in ROWS], ids=lambda row: row["text"])
def test_facts_opinions_suspicions_and_calls_for_a_vote_accuse_others_and_no_question_condition_denial_or_quote(
    row: dict[str, Any],
) -> None:
    assert accused(row["text"], "Charlie", NAMES, "mini-mafia") == set(row["accuses"])


def test_the_words_for_the_guilty_are_those_of_the_game() -> None:
    wolf = "Bob is a werewolf."
    assert accused(wolf, "Charlie", NAMES, "werewolf") == {"Bob"}
    assert accused(wolf, "Charlie", NAMES, "mini-mafia") == set()
    assert accused("Bob is not a werewolf, Alice is.", "Charlie", NAMES, "werewolf") == set()


COLOURS = ("Player 1: red", "Player 2: lime", "Player 3: rose", "Player 4: dark blue")


@pytest.mark.parametrize(
    ("text", "whom"),
    [
        ("I think lime is the mafioso.", 1),
        ("We should vote for Lime.", 1),
        ("player 2 seems suspicious.", 1),
        ("I don't trust rose.", 2),
        ("dark blue is lying.", 3),
        ("red is very suspicious.", 0),
        ("I think Player 2: lime is the mafioso.", 1),
    ],
)
def test_a_player_is_accused_by_colour_or_number(text: str, whom: int) -> None:
    speaker = COLOURS[3 - whom] if whom != 3 else COLOURS[0]
    assert accused(text, speaker, COLOURS, "mini-mafia") == {COLOURS[whom]}


def test_a_claim_about_a_colour_is_about_the_player() -> None:
    (claim,) = find_claims("I investigated lime and lime is the mafioso.", COLOURS[0], COLOURS, "mini-mafia")[:1]
    assert COLOURS[1] in {claim.subject, claim.object}


def test_a_detector_sees_no_colour_and_knows_whom_a_sentence_is_about() -> None:
    text = "Nobody saw lime. It was quiet. That raises red flags."
    shown = textualize(Example("", "g", COLOURS[0], "", text, COLOURS), TextConfig())
    assert shown == "Nobody saw player1. It was quiet. That raises red flags."
    moment = GameMoment(Transcript("g", COLOURS, (TranscriptTurn(SAID, COLOURS[0], text),)))
    fields = dict(pieces(Candidate(moment, COLOURS[1]), 0))
    assert fields[ABOUT] == "Nobody saw candidate."
    assert "lime" not in fields[REST]


def test_what_two_players_could_be_called_is_nobodys_nickname() -> None:
    assert nicknames(("Player 1: lime", "Player 2: lime", "Player 3: red", "red")) == {
        "Player 1": "Player 1: lime",
        "Player 2": "Player 2: lime",
        "Player 3": "Player 3: red",
    }
    assert nicknames(("Alice", "Bob", "Mary-Ann", "Al 2")) == {}
