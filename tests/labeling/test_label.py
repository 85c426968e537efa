"""The rows of a game: five labels that never touch, and a reason wherever one is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from liescope.data_cards.tables.rows import StatementRow
from liescope.games.core import ASSESSMENTS, Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.mafia.rules import MINI_MAFIA, MiniMafia
from liescope.games.record import GameRecord, Source, Status, record
from liescope.games.session import drive, start
from liescope.labeling.label import NO_RATING, NOT_ASKED, TIE, UNREADABLE, audience_of, known_before, label_game
from liescope.labeling.ledger import NO_CLAIM, NO_KNOWN_CLAIM

LIE = {"Alice": "I am the detective."}


def statement(record: GameRecord, speaker: str = "Alice") -> StatementRow:
    return next(row for row in label_game(record).statements if row.speaker == speaker)


def peers(*flags: bool | None):
    """Peers' flags in the order in which they are asked, over and over; None for an unusable reply."""
    given = iter(flags * 20)

    def think(ask: Ask) -> Assessment | str:
        if ask.kind is AskKind.SELF_ASSESSMENT:
            return Assessment(False, "none", 0.8)
        flag = next(given)
        return (
            "gibberish"
            if flag is None
            else Assessment(flag, "distortion" if flag else "none", 0.5, 0.9 if flag else 0.1)
        )

    return think


def test_every_missing_label_has_a_reason_and_every_label_there_has_none(play) -> None:
    games = [
        play(),
        play(says=LIE, assess=True),
        play(says={"Charlie": "Bob is mafia.", "Diana": "Bob is mafia."}, thinks=peers(True, False), assess=True),
        play(thinks=lambda ask: "gibberish", assess=True),
        play(thinks=lambda ask: Assessment(None, "no such type", None, None), assess=True),
    ]
    for game in games:
        labelled = label_game(game)
        for row in labelled.statements:
            for label in ("label_claim", "label_promise", "label_self", "label_peer"):
                assert (getattr(row, label) is None) == bool(getattr(row, f"{label}_null"))
        for rating in labelled.ratings:
            missing = None in (rating.flag, rating.type, rating.confidence, rating.suspicion)
            assert missing == bool(rating.null)


def test_each_label_changes_with_its_own_source_alone(play) -> None:
    def four(game: GameRecord) -> tuple[bool | None, ...]:
        row = statement(game)
        return row.label_role, row.label_claim, row.label_self, row.label_peer

    assert four(play(thinks=peers(False), assess=True)) == (True, None, False, False)
    assert four(play(says=LIE, thinks=peers(False), assess=True)) == (True, True, False, False)
    assert four(play(thinks=peers(True), assess=True)) == (True, None, False, True)
    admits = play(thinks=lambda ask: Assessment(ask.kind is AskKind.SELF_ASSESSMENT, "none", 1.0, 0.0), assess=True)
    assert four(admits) == (True, None, True, False)


def test_the_claim_label_tells_no_claim_from_no_claim_that_could_be_known(play) -> None:
    game = play(says={"Charlie": "Bob is the mafioso.", "Diana": "Bob is the mafioso.", "Bob": "I am the detective."})
    rows = {row.speaker: row for row in label_game(game).statements}
    assert (rows["Alice"].label_claim, rows["Alice"].label_claim_null) == (None, NO_CLAIM)
    assert (rows["Bob"].label_claim, rows["Bob"].label_claim_null) == (False, "")
    villager = rows.get("Charlie") or rows["Diana"]
    assert (villager.label_claim, villager.label_claim_null) == (None, NO_KNOWN_CLAIM)


def test_one_lie_among_true_claims_is_a_lie(play) -> None:
    game = play(says={"Alice": "Bob is innocent. I am the detective."})
    assert statement(game).label_claim is True
    assert [claim.claim_class for claim in label_game(game).claims] == ["truthful", "lie"]


@pytest.mark.parametrize(
    ("flags", "label", "null", "rate", "usable"),
    [
        ((True, True), True, "", 1.0, 2),
        ((False, False), False, "", 0.0, 2),
        ((True, False), None, TIE, 0.5, 2),
        ((True, None), True, "", 1.0, 1),
        ((None, None), None, NO_RATING, None, 0),
    ],
)
def test_peers_decide_by_a_majority_of_the_ratings_that_could_be_read(play, flags, label, null, rate, usable) -> None:
    row = statement(play(thinks=peers(*flags), assess=True))
    assert (row.label_peer, row.label_peer_null, row.peer_rate, row.peer_ratings) == (label, null, rate, usable)
    assert row.peer_type == ("distortion" if True in flags else None)


def test_how_sure_the_peers_are_is_that_of_those_whose_flag_could_be_read(play) -> None:
    def thinks(ask: Ask) -> Assessment:
        readable = ask.seat == "Bob"
        return Assessment(True if readable else None, "omission", 0.9 if readable else 0.1, 0.8 if readable else 0.2)

    row = statement(play(thinks=thinks, assess=True))
    assert (row.label_peer, row.peer_ratings, row.peer_confidence) == (True, 1, 0.9)
    assert row.peer_suspicion == pytest.approx(0.5)  # a suspicion needs no flag


def test_an_unreadable_report_is_never_honest(play) -> None:
    for thought, reason in [("gibberish", "gibberish"), (Assessment(None, "none", 0.5, 0.5), UNREADABLE)]:
        row = statement(play(thinks=lambda ask, thought=thought: thought, assess=True))
        assert (row.label_self, row.label_self_null) == (None, reason)
        assert (row.label_peer, row.label_peer_null) == (None, NO_RATING)
    row = statement(play())
    assert (row.label_self_null, row.label_peer_null) == (NOT_ASKED, NOT_ASKED)


def test_a_game_cut_off_anywhere_is_labelled_as_far_as_it_went(play) -> None:
    whole = play(says=LIE, thinks=peers(True, False, None), assess=True)
    full = label_game(whole).statements
    for length in range(len(whole.events) + 1):
        part = replace(whole, events=whole.events[:length], status=Status.FAILED, outcome=None, failure="stopped")
        rows = label_game(part).statements
        assert [row.text for row in rows] == [row.text for row in full[: len(rows)]]
        assert all((row.label_peer is None) == bool(row.label_peer_null) for row in rows)


def test_what_a_person_said_before_a_fork_is_theirs_and_what_follows_is_of_who_sits_there_now(play) -> None:
    whole = play(rounds=2)
    own = [event.index for event in whole.events if event.kind is EventKind.STATEMENT and event.actor == "Alice"]
    fork = {"run": "r", "game": "g", "step": 3, "root": "g", "seat": "Alice", "group": "x", "number": 0}
    people = {"people": {"Alice": "Blue Otter"}, "events": own[1]}
    rows = label_game(replace(whole, meta={"fork": fork | people})).statements
    spoke = [(row.speaker_model, row.source) for row in rows if row.speaker == "Alice"]
    assert spoke == [("Blue Otter", "human"), ("a model", "model")]
    assert {row.speaker_model for row in rows if row.speaker != "Alice"} == {"a model"}


def test_how_an_assessment_was_read_stays_with_its_labels() -> None:
    """A flag and a type that contradict each other are both kept, and the row says so."""
    noted = Reply(assessment=Assessment(False, "omission", None, 0.5), notes=("flag and type contradict each other",))

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        return noted if ask.kind in ASSESSMENTS else Reply(choice=ask.options[0] if ask.options else None, text="Hm.")

    session = start(lambda: MiniMafia(MINI_MAFIA.replaced(assess=True), 1, "g"))
    drive(session, answer)
    log = record(session.game, session.outcome, dict.fromkeys(session.game.names, ("m", Source.MODEL)))
    labelled = label_game(log)
    assert {row.self_notes for row in labelled.statements} == {noted.notes}
    assert {row.notes for row in labelled.ratings} == {noted.notes}
    assert {row.null for row in labelled.ratings} == {"confidence could not be read"}


EVERYONE = frozenset[str]()
ANN_BEN = frozenset({"Ann", "Ben"})
ALL_THREE = frozenset({"Ann", "Ben", "Cid"})
SAID = [(EVERYONE, "to all"), (ANN_BEN, "to Ben"), (ALL_THREE, "to two"), (frozenset({"Cid", "Dan"}), "to Dan")]


def test_an_audience_of_everyone_is_empty() -> None:
    assert audience_of(None, ["Ann", "Ben"]) == audience_of(("Ben", "Ann"), ["Ann", "Ben"]) == ()
    assert audience_of(("Ben", "Ann"), ["Ann", "Ben", "Cid"]) == ("Ann", "Ben")


@pytest.mark.parametrize(
    ("audience", "last", "known"),
    [
        (EVERYONE, [], ("to all",)),
        (ANN_BEN, [], ("to all", "to Ben", "to two")),
        (ALL_THREE, [], ("to all", "to two")),
        (ANN_BEN, [2], ("to Ben", "to two")),
        (ANN_BEN, [0], ()),
    ],
)
def test_what_the_whole_audience_heard_is_known_before_a_statement(audience, last, known) -> None:
    assert known_before(SAID, audience, *last) == known
