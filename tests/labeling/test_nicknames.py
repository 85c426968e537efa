"""Players who are called by a colour or a number, as in "Player 2: lime"."""

from __future__ import annotations

import pytest

from liescope.detectors.examples import Example
from liescope.detectors.textualize import TextConfig, textualize
from liescope.detectors.view.candidate import ABOUT, REST, Candidate, pieces
from liescope.detectors.view.transcript import SAID, GameMoment, Transcript, TranscriptTurn
from liescope.labeling.accusing import accused
from liescope.labeling.claims import find_claims
from liescope.labeling.masking import nicknames

NAMES = ("Player 1: red", "Player 2: lime", "Player 3: rose", "Player 4: dark blue")


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
    speaker = NAMES[3 - whom] if whom != 3 else NAMES[0]
    assert accused(text, speaker, NAMES, "mini-mafia") == {NAMES[whom]}


def test_a_claim_about_a_colour_is_about_the_player() -> None:
    (claim,) = find_claims("I investigated lime and lime is the mafioso.", NAMES[0], NAMES, "mini-mafia")[:1]
    assert NAMES[1] in {claim.subject, claim.object}


def test_a_detector_sees_no_colour_and_knows_whom_a_sentence_is_about() -> None:
    text = "Nobody saw lime. It was quiet. That raises red flags."
    shown = textualize(Example("", "g", NAMES[0], "", text, NAMES), TextConfig())
    assert shown == "Nobody saw player1. It was quiet. That raises red flags."
    moment = GameMoment(Transcript("g", NAMES, (TranscriptTurn(SAID, NAMES[0], text),)))
    fields = {piece.field: piece.text for piece in pieces(Candidate(moment, NAMES[1]), 0)}
    assert fields[ABOUT] == "Nobody saw candidate."
    assert "lime" not in fields[REST]


def test_what_two_players_could_be_called_is_nobodys_nickname() -> None:
    assert nicknames(("Player 1: lime", "Player 2: lime", "Player 3: red", "red")) == {
        "Player 1": "Player 1: lime",
        "Player 2": "Player 2: lime",
        "Player 3": "Player 3: red",
    }
    assert nicknames(("Alice", "Bob", "Mary-Ann", "Al 2")) == {}
