"""The ledger: every claim is classed by what the log says, what its speaker saw, and what it had heard."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from liescope.data_cards.tables.rows import ClaimRow
from liescope.games.core import Event, EventKind
from liescope.games.facts import ClaimData
from liescope.games.record import GameRecord
from liescope.games.vocabulary import FoundClaim, Promise
from liescope.labeling.label import label_game
from liescope.labeling.ledger import NO_CLAIM, NO_PROMISE, NO_SETTLED_PROMISE, check_promise, claim_rows
from liescope.labeling.model_claims import standing

# Alice is the mafioso, Bob the detective; Charlie or Diana dies.


def made_by(game: GameRecord, *speakers: str) -> list[ClaimRow]:
    return [row for row in claim_rows(game) if row.speaker in speakers]


def villager_after(play, first: str, then: str) -> list[ClaimRow]:
    """The claims of the villager, who speaks last in the second round, after Bob said `first` in the first."""
    game = play(says={"Bob": first, "Charlie": then, "Diana": then}, rounds=2)
    rows = made_by(game, "Charlie", "Diana")
    return rows[-1:]


@pytest.mark.parametrize(
    ("heard", "words", "standing"),
    [
        ("Alice is the mafioso.", "Alice is the mafioso.", "truthful"),
        ("I investigated Alice and she is the mafioso.", "Alice is the mafioso.", "truthful"),
        ("Hello.", "Alice is the mafioso.", "unsupported"),
        ("Alice is innocent.", "Alice is innocent.", "mistake"),
        ("I am a villager.", "Bob is innocent.", "truthful"),  # a villager is of the town
        ("I am innocent.", "Bob is a villager.", "unsupported"),  # but not all of the town are villagers
        ("I am the mafioso.", "Bob is the mafioso.", "mistake"),
        ("Alice is the mafioso.", "Alice is innocent.", "unsupported"),
        ("I think Alice is the mafioso.", "Alice is the mafioso.", "unsupported"),
    ],
)
def test_a_claim_that_could_not_be_known_rests_on_what_was_heard(play, heard, words, standing) -> None:
    (row,) = villager_after(play, heard, words)
    assert row.claim_class == standing
    sources = [event.index for event in play(says={"Bob": heard}, rounds=2).events if event.text == heard]
    assert bool({*row.evidence} & {*sources}) == (standing in ("mistake", "truthful"))


def test_nobody_believes_on_its_own_word_or_on_what_it_did_not_hear(play) -> None:
    game = play(says={"Charlie": "Alice is the mafioso.", "Diana": "Alice is the mafioso."}, rounds=2)
    assert {row.claim_class for row in claim_rows(game)} == {"unsupported"}
    told = play(says=dict.fromkeys(["Bob", "Charlie", "Diana"], "Alice is the mafioso."), rounds=2)
    apart = [
        replace(event, audience=("Alice", "Bob"))
        if event.kind is EventKind.STATEMENT and event.actor == "Bob"
        else event
        for event in told.events
    ]
    alone = made_by(replace(told, events=tuple(apart)), "Charlie", "Diana")
    assert {row.claim_class for row in alone} == {"unsupported"}


def test_the_evidence_of_a_verdict_are_the_events_that_prove_it(play) -> None:
    words = {"Alice": "I'm the detective. I investigated Bob.", "Bob": "I investigated Alice and she is the mafioso."}
    game = play(says=words)
    kinds = {row.normal: [game.events[index].kind.value for index in row.evidence] for row in claim_rows(game)}
    assert kinds == {
        "role(Alice)=detective": ["role"],
        "investigation(Bob)": ["role"],  # whoever is no detective investigates nobody
        "investigation(Alice)=mafia": ["investigation", "role"],
    }
    for row in claim_rows(game):
        said = game.events[int(row.statement_id.rpartition(":")[2])]
        assert row.quote == said.text[row.start : row.end]


@pytest.mark.parametrize(
    ("words", "votes", "kept"),
    [
        ("I will vote for Bob.", {"Alice": "Bob"}, True),
        ("I'm voting with Bob.", {"Alice": "Bob", "Bob": "Alice"}, False),
        ("I'm voting with Charlie.", {"Alice": "Bob", "Charlie": "Bob"}, True),
        ("My vote goes to whoever stays silent.", {}, None),
        ("I will vote for Bob.", {"Alice": ""}, None),
        ("I'm voting with Bob.", {"Alice": "Bob", "Bob": ""}, None),
    ],
)
def test_a_promise_has_a_label_of_its_own(play, words, votes, kept) -> None:
    game = play(says={"Alice": words}, votes=votes)
    (row,) = made_by(game, "Alice")
    assert (row.kept, row.claim_class) == (kept, "undecidable")
    said = next(said for said in label_game(game).statements if said.speaker == "Alice")
    assert said.label_promise == (None if kept is None else not kept)
    assert said.label_promise_null == ("" if kept is not None else NO_SETTLED_PROMISE)
    assert said.label_claim is None


def test_one_broken_promise_among_kept_ones_is_broken(play) -> None:
    says = {"Alice": "I will vote for Bob. I will vote for myself.", "Bob": "Hm."}
    rows = {row.speaker: row for row in label_game(play(says=says, votes={"Alice": "Bob"})).statements}
    assert rows["Alice"].label_promise is True
    assert (rows["Bob"].label_promise, rows["Bob"].label_promise_null) == (None, NO_PROMISE)
    assert rows["Bob"].label_claim_null == NO_CLAIM


@pytest.mark.parametrize(
    ("day", "target", "verdict"), [(2, "Bob", "true"), (2, "Diana", "false"), (3, "Bob", "unverifiable")]
)
def test_a_promise_may_be_of_any_act(play, day, target, verdict) -> None:
    """Here of protecting somebody in the night that follows."""
    game = play(says={"Alice": "I will protect Bob tonight."})
    said = next(event for event in game.events if event.actor == "Alice" and event.kind is EventKind.STATEMENT)
    act = replace(said, index=len(game.events), kind=EventKind.PROTECTION, day=day, target=target, text="")
    words = re.compile("i will protect (?P<target>\\w+)")
    promise = Promise("protect", EventKind.PROTECTION, words, "protect", days=1)
    claim = FoundClaim("protect", "Alice", "Bob", False, 0, 18)
    checked = check_promise(promise, claim, said, replace(game, events=(*game.events, act)))
    assert checked.verdict == verdict
    assert checked.evidence == (() if verdict == "unverifiable" else (act.index,))


def imported(play, *claims: dict[str, object]) -> list[ClaimRow]:
    """A game that Liescope cannot play, in which each statement brings the same claims."""
    game = play()
    events = tuple(
        replace(event, data={"claims": list(claims)}) if event.kind is EventKind.STATEMENT else event
        for event in game.events
    )
    return list(claim_rows(replace(game, game="elsewhere", events=events)))


@pytest.mark.parametrize(
    ("verdict", "known", "standing"),
    [
        ("false", True, "lie"),
        ("true", True, "truthful"),
        ("false", None, "undecidable"),
        ("true", None, "undecidable"),
        ("unverifiable", True, "undecidable"),
        (None, None, "undecidable"),
        ("false", False, "unsupported"),
    ],
)
def test_an_imported_claim_is_a_lie_only_where_the_speaker_is_said_to_have_known(
    play, verdict, known, standing
) -> None:
    claim = {"kind": "sighting", "subject": "Alice", "object": "Bob", "verdict": verdict, "known": known}
    first, *others = imported(play, claim)
    assert (first.origin, first.normal) == ("import:liescope", "sighting(Alice)=Bob")
    assert (first.claim_class, first.start, first.quote) == (standing, None, "")
    believed = "mistake" if standing == "unsupported" else standing
    assert {row.claim_class for row in others} == {believed}


def test_labels_come_from_the_claims_of_one_origin(play) -> None:
    game = play(says={"Alice": "I am a villager."})
    lie = {"kind": "sighting", "subject": "Bob", "verdict": "false", "known": True, "start": 0, "end": 5}
    events = tuple(
        replace(event, data={"claims": [lie]}) if event.kind is EventKind.STATEMENT else event for event in game.events
    )
    ours, theirs = (label_game(replace(game, game=name, events=events)) for name in ("mini-mafia", "elsewhere"))
    assert {row.origin for row in ours.claims} == {"rules", "import:liescope"}
    assert {row.speaker: row.label_claim for row in ours.statements if row.label_claim is not None} == {"Alice": True}
    assert all(row.label_claim for row in theirs.statements)
    assert {row.quote for row in theirs.claims} == {"I am ", "Hello"}


# Claims that a model lists


TEXT = "I am the  detective. Bob is the mafioso, and I will vote for him. I checked Bob."


def model_says(play, **claim: str | None) -> object:
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
    assert model_says(play, **claim) == result


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
