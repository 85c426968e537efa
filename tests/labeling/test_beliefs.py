"""What speakers believe of their claims: from their own view, never from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

import liescope
from liescope.games.core import BELIEVED, BELIEVED_FALSE, BELIEVED_TRUE, CANNOT_KNOW, Ask, Event, EventKind, Reply
from liescope.games.narration import quoted
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import GameRecord
from liescope.games.session import Session, drive
from liescope.games.vocabulary import FoundClaim
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.prompts.render import load_prompts
from liescope.generate.runs.journal import Journal
from liescope.labeling.beliefs import NO_KNOWLEDGE, believed, claims_made
from liescope.labeling.label import label_game
from liescope.labeling.ledger import LIE, MISTAKE, PROMISED, RULES, TRUTHFUL, claim_rows


@pytest.fixture(scope="module", params=["mini-mafia", "werewolf", "one-night-werewolf"])
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[GameRecord]:
    """Scripted games whose players were asked."""
    run = tmp_path_factory.mktemp("runs") / "first"
    liescope.play(request.param, players=["scripted:steady", "scripted:bold"], games=12, out=run)
    found = liescope.label(run, beliefs=True)
    with Journal.open(found.folder) as journal:
        return list(journal.records())


def test_liars_know_better_and_honest_players_believe_what_they_say(asked: list[GameRecord]) -> None:
    """The class of a claim is computed from the log, the belief from the seat's view alone: they agree."""
    met = dict.fromkeys((LIE, TRUTHFUL), 0)
    for game in asked:
        told = {event.about: event.data["beliefs"] for event in game.events if event.kind is EventKind.BELIEFS}
        for row in claim_rows(game):
            if row.origin == RULES and row.kind not in PROMISED:
                (belief,) = told[int(row.statement_id.rpartition(":")[2])][row.normal]
                assert belief in BELIEVED
                if row.claim_class == LIE:
                    assert belief == BELIEVED_FALSE, row
                elif row.claim_class == MISTAKE or (row.claim_class == TRUTHFUL and row.known):
                    assert belief == BELIEVED_TRUE, row
                met[row.claim_class] = met.get(row.claim_class, 0) + 1
    assert met[TRUTHFUL] > 0


def test_the_label_is_made_of_beliefs_alone(asked: list[GameRecord]) -> None:
    for game in asked:
        told = {event.about: event for event in game.events if event.kind is EventKind.BELIEFS}
        for row in label_game(game).statements:
            event = told.get(int(row.statement_id.rpartition(":")[2]))
            verdicts = {one for each in event.data["beliefs"].values() for one in each} if event else set()
            expected = True if BELIEVED_FALSE in verdicts else False if BELIEVED_TRUE in verdicts else None
            assert row.label_belief is expected
            assert bool(row.label_belief_null) is (expected is None)
            if verdicts == {CANNOT_KNOW}:
                assert row.label_belief_null == NO_KNOWLEDGE


def test_one_who_repeats_a_lie_in_good_faith_believes_it(play) -> None:
    """Of a claim that it cannot check a player takes another's word, though it is false."""
    game = play(says={"Alice": "Bob is the mafioso."})
    villager = next(seat.name for seat in game.seats if seat.role == "villager")
    said = next(event for event in game.events if event.text == "Bob is the mafioso.")
    claim = FoundClaim("guilt", "Bob", "mafia", False, 0, 0)

    def belief(seat: str, until: int) -> str:
        view = [event for event in game.events[:until] if event.seen_by(seat) and (event is said or not event.text)]
        return believed(claim, seat, game.game, view)

    before, after = said.index, said.index + 1
    assert (belief(villager, before), belief(villager, after)) == (CANNOT_KNOW, BELIEVED_TRUE)
    assert belief("Bob", after) == BELIEVED_FALSE


def test_a_claim_is_read_back_from_its_normal_form_and_put_as_a_sentence() -> None:
    for normal, sentence in {
        "role(Ann)=detective": "The role of Ann is detective.",
        "not role(Ann)=seer": "The role of Ann is not seer.",
        "guilt(Bob)=mafia": "Bob is one of the mafia.",
        "not innocence(Bob)=town": "Bob is not one of the town.",
        "investigation(Cy)=mafia": "Di investigated Cy and found: mafia.",
        "investigation(Cy)": "Di investigated Cy.",
        "protection(Cy)": "Di protected Cy.",
    }.items():
        claim = FoundClaim.of(normal)
        assert claim.normal == normal
        assert claim.sentence("Di") == sentence
    with pytest.raises(ValueError, match="is no claim"):
        FoundClaim.of("nonsense")


def test_the_question_holds_what_the_seat_knew_and_not_the_statement_that_it_is_about(asked: list[GameRecord]) -> None:
    game = next(one for one in asked if claims_made(one))
    prompts, seen = load_prompts("full", game.game), list[str]()

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        seen.append(prompts.render(ask, view).text)
        return read_reply(ask, seen[-1].splitlines()[-1])  # as SmolLM2-135M does: the example, copied

    frozen = replace(game, events=tuple(event for event in game.events if event.kind is not EventKind.BELIEFS))
    made = claims_made(frozen)
    replies = drive(Session(RatedGame(frozen, RatingSpec(0.0, beliefs=True), "", made)), answer)
    assert len(seen) == len(made)
    assert all(reply.problem for batch in replies for reply in batch)
    for text, (index, claims) in zip(seen, made.items(), strict=True):
        said = frozen.events[index]
        assert quoted(said.text) not in text.rpartition("# What you take to be true")[0] or said.text in [
            event.text for event in frozen.events[:index]
        ]
        for number, claim in enumerate(claims, 1):
            assert f"{number}. {FoundClaim.of(claim).sentence(said.actor or '')}" in text
        assert f"You are {said.actor}, the {frozen.seat(said.actor or '').role}" in text
