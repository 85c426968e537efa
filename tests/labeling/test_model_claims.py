"""A model's claim stands only if it quotes the statement and speaks of what is in the game."""

from __future__ import annotations

import pytest

from liescope.games.core import Event, EventKind
from liescope.games.facts import ClaimData
from liescope.labeling.ledger import claim_rows
from liescope.labeling.model_claims import standing

TEXT = "I am the  detective. Bob is the mafioso, and I will vote for him. I checked Bob."


def found(play, **claim: str | None) -> object:
    game = play(says={"Alice": TEXT})
    said = next(event for event in game.events if event.text == TEXT)
    whole = ClaimData(kind="role", subject="Alice", object="detective", polarity="affirmed", quote="I am the detective")
    kept = standing(said, [whole | ClaimData(**claim)], game)  # type: ignore[typeddict-item]
    return (kept[0].kind, kept[0].subject, kept[0].value) if kept else None


@pytest.mark.parametrize(
    ("claim", "result"),
    [
        ({}, ("role", "Alice", "detective")),
        ({"quote": '"I am the\ndetective."'}, ("role", "Alice", "detective")),
        ({"quote": "I'm the detective"}, None),
        ({"quote": ""}, None),
        ({"quote": None}, None),
        ({"subject": "alice"}, ("role", "Alice", "detective")),
        ({"subject": "Alicia"}, None),
        ({"subject": None}, None),
        ({"object": "wizard"}, None),
        ({"kind": "guilt", "subject": "Bob", "object": "guilty", "quote": "Bob"}, ("guilt", "Bob", "mafia")),
        ({"kind": "mood"}, None),
        ({"object": "not mafia"}, ("role", "Alice", "town")),
        ({"object": "mafia"}, ("role", "Alice", "mafioso")),
        ({"object": "mafioso", "polarity": "denied"}, ("role", "Alice", "town")),
        ({"kind": "guilt", "subject": "Bob", "object": "mafioso", "quote": "Bob is"}, ("guilt", "Bob", "mafia")),
        ({"kind": "role", "subject": "Bob", "object": "mafia", "quote": "Bob is"}, ("guilt", "Bob", "mafia")),
        ({"kind": "innocence", "subject": "Bob", "object": "innocent", "quote": "Bob"}, ("innocence", "Bob", "town")),
        ({"kind": "investigation", "subject": "Bob", "object": "", "quote": "Bob"}, ("investigation", "Bob", "")),
        ({"kind": "guilt", "subject": "Bob", "object": "", "quote": "Bob"}, None),
        ({"kind": "guilt", "object": "mafia"}, None),
        ({"kind": "vote", "object": "bob", "quote": "vote for him"}, ("vote", "Alice", "Bob")),
        ({"kind": "vote", "subject": "Bob", "object": "Alice", "quote": "vote"}, None),
        ({"kind": "protection", "subject": "Bob", "object": "", "quote": "Bob"}, None),  # nobody protects here
    ],
)
def test_what_stands_is_put_as_the_rules_would_put_it(play, claim, result) -> None:
    assert found(play, **claim) == result


def test_a_models_claims_have_their_own_origin_and_leave_the_labels_alone(play) -> None:
    game = play(says={"Alice": TEXT})
    said = next(event for event in game.events if event.text == TEXT)
    claims = [
        ClaimData(kind="role", subject="Alice", object="detective", polarity="affirmed", quote="I am the detective"),
        ClaimData(kind="role", subject="Alice", object="detective", polarity="affirmed", quote="I am the detective"),
        ClaimData(kind="guilt", subject="Charlie", object="mafia", polarity="affirmed", quote="Bob is the mafioso"),
    ]
    assert len(standing(said, claims, game)) == 2  # the second repeats the first
    facts = {"judge": "wise", "claims": claims}
    event = Event(len(game.events), EventKind.CLAIMS_FOUND, 1, said.phase, actor="Alice", about=said.index, data=facts)
    asked = type(game)(**{name: getattr(game, name) for name in game.__slots__} | {"events": (*game.events, event)})
    rows = claim_rows(asked)
    assert [row for row in rows if row.origin == "rules"] == list(claim_rows(game))
    mine = {row.normal: row.claim_class for row in rows if row.origin == "model:wise"}
    assert mine == {"role(Alice)=detective": "lie", "guilt(Charlie)=mafia": "lie"}
