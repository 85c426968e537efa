"""A model's claim stands only if it quotes the statement and speaks of what is in the game."""

from __future__ import annotations

import pytest

from liescope.games.core import Event, EventKind
from liescope.games.facts import ClaimData
from liescope.labeling.ledger import claim_rows
from liescope.labeling.model_claims import NO_MEANING, NO_PLAYER, NO_QUOTE, REPEATED, claim_agreement, standing

TEXT = "I am the  detective. Bob is the mafioso, and I will vote for him. I checked Bob."


def found(play, **claim: str | None) -> object:
    game = play(says={"Alice": TEXT})
    said = next(event for event in game.events if event.text == TEXT)
    whole = ClaimData(kind="role", subject="Alice", object="detective", polarity="affirmed", quote="I am the detective")
    kept, lost = standing(said, [whole | ClaimData(**claim)], game)  # type: ignore[typeddict-item]
    return (kept[0].kind, kept[0].subject, kept[0].value) if kept else lost[0]


@pytest.mark.parametrize(
    ("claim", "result"),
    [
        ({}, ("role", "Alice", "detective")),
        ({"quote": '"I am the\ndetective."'}, ("role", "Alice", "detective")),
        ({"quote": "I'm the detective"}, NO_QUOTE),
        ({"quote": ""}, NO_QUOTE),
        ({"quote": None}, NO_QUOTE),
        ({"subject": "alice"}, ("role", "Alice", "detective")),
        ({"subject": "Alicia"}, NO_PLAYER),
        ({"subject": None}, NO_PLAYER),
        ({"object": "wizard"}, NO_MEANING),
        ({"kind": "guilt", "subject": "Bob", "object": "guilty", "quote": "Bob"}, ("guilt", "Bob", "mafia")),
        ({"kind": "mood"}, NO_MEANING),
        ({"object": "not mafia"}, ("role", "Alice", "town")),
        ({"object": "mafia"}, ("role", "Alice", "mafioso")),
        ({"object": "mafioso", "polarity": "denied"}, ("role", "Alice", "town")),
        ({"kind": "guilt", "subject": "Bob", "object": "mafioso", "quote": "Bob is"}, ("guilt", "Bob", "mafia")),
        ({"kind": "role", "subject": "Bob", "object": "mafia", "quote": "Bob is"}, ("guilt", "Bob", "mafia")),
        ({"kind": "innocence", "subject": "Bob", "object": "innocent", "quote": "Bob"}, ("innocence", "Bob", "town")),
        ({"kind": "investigation", "subject": "Bob", "object": "", "quote": "Bob"}, ("investigation", "Bob", "")),
        ({"kind": "guilt", "subject": "Bob", "object": "", "quote": "Bob"}, NO_MEANING),
        ({"kind": "guilt", "object": "mafia"}, NO_PLAYER),
        ({"kind": "vote", "object": "bob", "quote": "vote for him"}, ("vote", "Alice", "Bob")),
        ({"kind": "vote", "subject": "Bob", "object": "Alice", "quote": "vote"}, NO_PLAYER),
        ({"kind": "protection", "subject": "Bob", "object": "", "quote": "Bob"}, NO_MEANING),  # nobody protects here
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
    assert standing(said, claims, game)[1] == [REPEATED]
    facts = {"judge": "wise", "claims": claims}
    event = Event(len(game.events), EventKind.CLAIMS_FOUND, 1, said.phase, actor="Alice", about=said.index, data=facts)
    asked = type(game)(**{name: getattr(game, name) for name in game.__slots__} | {"events": (*game.events, event)})
    rows = claim_rows(asked)
    assert [row for row in rows if row.origin == "rules"] == list(claim_rows(game))
    mine = {row.normal: row.claim_class for row in rows if row.origin == "model:wise"}
    assert mine == {"role(Alice)=detective": "lie", "guilt(Charlie)=mafia": "lie"}
    by_kind = {row.kind: row for row in claim_agreement(rows, [f"g:{said.index}"], "rules", "model:wise")}
    assert (by_kind["role"].precision, by_kind["role"].recall) == (1.0, 1.0)
    assert (by_kind[""].both, by_kind[""].second) == (1, 2)
    assert by_kind["guilt"].precision == 0.0
