"""A deal: what words claim of the item and of prices, who learns what, what a deal is worth, and planted lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.deal.rules import BELIEVE, DOUBT, KEEP, NO_OFFER, Deal, DealSpec
from liescope.games.deal.script import answer as scripted
from liescope.games.deal.sheet import FACTS, Sheet
from liescope.games.record import Source, record
from liescope.games.script.persona import Persona, Skills, chance
from liescope.games.session import Session, drive, start
from liescope.games.shared_rules import Contest, doubted
from liescope.labeling.claims import find_claims
from liescope.labeling.label import label_game

WORN = {"battery": "dead", "scratches": "some", "age": "4"}
VALUES = {"Ann": 30, "Ben": 80, "Cid": 60}
SHEET = Sheet("kettle", WORN, "Ann", VALUES, [("Ben", 40)])


@pytest.mark.parametrize(
    ("speaker", "text", "claims"),
    [
        ("Ann", "Its battery is fine and it was never scratched!", ["battery works false", "scratches none false"]),
        ("Ann", "The battery is not great; it is four years old.", ["battery dead true", "age 4 true"]),
        ("Ann", "No dents, but the battery doesn't last.", ["scratches none false", "battery dead true"]),
        ("Ann", "Is the battery dead? If it works, fine.", []),
        ("Ann", "You said that the battery is weak.", []),
        ("Ann", 'Ben told us "the battery is dead". It works.', []),
        ("Ann", "Brand-new, Ben.", ["age 0 false"]),
        ("Ann", "Ben offered me 40, and others offered 70.", ["offer 40 true", "offer 70 false"]),
        ("Ann", "I was offered 55 online.", ["offer 55 unverifiable"]),
        ("Ann", "I cannot go below 50.", ["value at least 50 false"]),
        ("Ann", "My lowest price is 20.", ["value at least 20 true"]),
        ("Ann", "This is worth 90.", ["value 90 unverifiable"]),
        ("Ben", "A perfect one is worth 80 to me.", ["value 80 true"]),
        ("Ben", "Sorry Ann, I can't pay more than 45.", ["value at most 45 false"]),
        ("Ben", "My budget is 85, I offer 60.", ["value at most 85 true"]),
        ("Cid", "I think Ben can pay more than 70.", ["value at least 70 true unknown"]),
        ("Cid", "I bet its battery is dead.", ["battery dead true unknown"]),
        ("Cid", "Let us talk about 60.", []),
    ],
)
def test_words_claim_what_the_sheet_can_check(speaker: str, text: str, claims: list[str]) -> None:
    found = SHEET.claims(text, speaker)
    sure = {True: "", False: " unknown"}
    told = [
        f"{claim['kind']} {claim['object']} {claim['verdict']}"
        + ("" if claim["verdict"] == "unverifiable" else sure[bool(claim["known"])])
        for claim in found
    ]
    assert told == claims
    assert all(text[claim["start"] or 0 : claim["end"]].strip() for claim in found)


def play(says: str, choices: Mapping[str, Sequence[str]], days: int = 1) -> Session:
    """A deal of which Alice is the seller, who alone says something. choices: by seat, in their order."""
    spec = DealSpec(days=days, roles=("seller", "buyer", "buyer"))
    left = {seat: list(made) for seat, made in choices.items()}

    def answer(ask: Ask, _view: Sequence[Event]) -> Reply:
        if ask.kind is AskKind.SPEAK:
            return Reply(text=says if ask.seat == "Alice" else "Hm.")
        return Reply(choice=left[ask.seat].pop(0))

    session = start(lambda: Deal(spec, 4, "deal"))
    drive(session, answer)
    assert not [event for event in session.events if event.fallback]
    return session


SILENT = {"Bob": [NO_OFFER], "Charlie": [NO_OFFER]}


def test_buyers_judge_a_statement_about_the_condition_alone_and_in_secret() -> None:
    assert not [event for event in play("Good day.", SILENT).events if event.about is not None]
    session = play("The battery works.", {"Bob": [DOUBT, NO_OFFER], "Charlie": [BELIEVE, NO_OFFER]})
    (said,) = (event.index for event in session.events if event.text == "The battery works.")
    judged = [event for event in session.events if event.about == said]
    assert [(event.actor, event.audience, event.data["doubts"]) for event in judged] == [
        ("Bob", ("Bob",), True),
        ("Charlie", ("Charlie",), False),
    ]
    seats = dict.fromkeys(session.game.names, ("planted", Source.SCRIPTED))
    contests = list(doubted(record(session.game, session.outcome, seats)))
    assert contests == [Contest("Alice", "Bob", False), Contest("Alice", "Charlie", True)]  # its battery is dead


def test_offers_are_for_the_seller_and_stay_true_of_the_days_after() -> None:
    made = {"Alice": [KEEP, "sell to Bob for 30"], "Bob": ["40", "30"], "Charlie": [NO_OFFER, "90"]}
    session = play("I have an offer of 40.", made, days=2)
    told = [event for event in session.events if event.kind is EventKind.ACT and event.text.startswith("Offers")]
    assert [(event.text, event.audience) for event in told] == [
        ("Offers: Bob 40.", ("Alice",)),
        ("Offers: Bob 30, Charlie 90.", ("Alice",)),
    ]
    claims = [claim for event in session.events for claim in event.data.get("claims", ())]
    assert [claim["verdict"] for claim in claims] == ["false", "true"]


@pytest.mark.parametrize("price", [10, 20, 30, 40, 60, 100])
def test_the_surplus_is_shared_by_the_price_and_whoever_has_more_wins(price: int) -> None:
    session = play("Hm.", {"Alice": [f"sell to Charlie for {price}"], "Bob": [NO_OFFER], "Charlie": [str(price)]})
    sheet = Deal(DealSpec(roles=("seller", "buyer", "buyer")), 4, "deal").sheet
    (shares,) = (dict(event.data)["surplus"] for event in session.events if "surplus" in event.data)
    mine, theirs = price - sheet.values["Alice"], sheet.worth("Charlie") - price
    assert shares == {"Alice": mine, "Bob": 0, "Charlie": pytest.approx(theirs)}
    assert session.outcome is not None
    assert session.outcome.winners == (("Alice",) if mine > theirs else ("Charlie",))


def test_without_a_deal_nobody_wins() -> None:
    for session in (play("Hm.", SILENT), play("Hm.", {"Alice": [KEEP], "Bob": ["50"], "Charlie": ["50"]})):
        assert session.outcome is not None
        assert (session.outcome.winner, session.outcome.winners) == ("nobody", ())


def test_what_the_item_is_worth_falls_with_each_fault() -> None:
    def worth(**changed: str) -> float:
        return Sheet("kettle", {**{fact: values[0] for fact, values in FACTS.items()}, **changed}, "Ann", VALUES).worth(
            "Ben"
        )

    assert worth() > worth(age="3") > worth(scratches="some") > worth(battery="dead") > SHEET.worth("Ben") > 0


@pytest.mark.parametrize("m", [-1.0, 0.4])
def test_the_planted_rate_of_lies_is_the_rate_of_false_claims(m: float) -> None:
    who = Persona("planted", Skills(m=m, d=0.5, v=1.0, j=0.0), find_claims)
    lies = []
    for number in range(150):
        session = start(lambda number=number: Deal(DealSpec(), number, f"deal-{number}"))
        drive(session, lambda ask, view: scripted(who, ask, view))
        seats = dict.fromkeys(session.game.names, ("planted", Source.SCRIPTED))
        rows = label_game(record(session.game, session.outcome, seats)).statements
        assert all(row.label_claim in (None, row.planted_type != "none") for row in rows)
        lies += [row.label_claim for row in rows if row.label_claim is not None]
    assert len(lies) > 400
    assert abs(sum(lies) / len(lies) - chance(m)) < 3.5 * (0.25 / len(lies)) ** 0.5
