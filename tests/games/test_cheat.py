"""Cheat: what may be laid, whom a call costs the pile, what words claim, and what scripted players are planted with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from liescope.common.errors import UsageError
from liescope.games.cheat.rules import CALL, PASS, Cheat, CheatSpec, lays
from liescope.games.cheat.script import CAUTION
from liescope.games.cheat.words import cards, claims, read_cards
from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord, Source, record
from liescope.games.script.persona import PROFILES, chance
from liescope.games.script.tone import UNSURE
from liescope.games.session import drive, start
from liescope.games.shared_rules import Contest
from liescope.generate.players.scripted import ScriptedPlayer
from liescope.labeling.label import label_game

ALICE, BOB, CHARLIE = "Alice", "Bob", "Charlie"


def played(answer: Callable[[Ask, Sequence[Event]], Reply], seed: int = 1, **options: int) -> GameRecord:
    session = start(lambda: Cheat(CheatSpec(**options), seed, f"cheat-{seed}"))
    drive(session, answer)
    return record(session.game, session.outcome, dict.fromkeys(session.game.names, ("m", Source.MODEL)))


def first_turn(lie: bool, says: str, callers: Sequence[str]) -> GameRecord:
    """A game of one turn, in which Alice lays the first or the last of her moves: aces are due."""

    def answer(ask: Ask, _: Sequence[Event]) -> Reply:
        if ask.kind is AskKind.SPEAK:
            return Reply(text=says)
        if CALL in ask.options:
            return Reply(choice=CALL if ask.seat in callers else PASS)
        honest = [move for move in ask.options if read_cards(move).keys() == {"ace"}]
        return Reply(choice=next(move for move in ask.options if (move not in honest) == lie))

    return played(answer, turns=1)


def counts(game: GameRecord) -> dict[str, int]:
    """How many cards everybody was left with."""
    hands: dict[str, int] = {}
    for event in game.events:
        if "hand" in event.data:
            hands[event.target] = sum(event.data["hand"].values())
        hands[ALICE] = hands.get(ALICE, 0) - event.data.get("laid", 0)
    return hands


@pytest.mark.parametrize(
    ("lie", "callers", "grown"),
    [(True, [], ""), (False, [], ""), (True, [CHARLIE], ""), (False, [CHARLIE], CHARLIE), (False, [CHARLIE, BOB], BOB)],
)
@pytest.mark.parametrize("says", ["One ace.", "Three kings!", "Good evening."])
def test_the_cards_decide_a_call_and_the_next_caller_pays(lie: bool, callers: list[str], grown: str, says: str) -> None:
    game = first_turn(lie, says, callers)
    laid = next(event.data["laid"] for event in game.events if "laid" in event.data)
    wanted = {ALICE: 6 if lie and callers else 6 - laid, BOB: 6, CHARLIE: 6}
    assert counts(game) == {name: number + laid * (name == grown) for name, number in wanted.items()}


def test_calls_judge_the_statement_and_a_silence_leaves_nothing_to_judge() -> None:
    game = first_turn(True, "An ace.", [BOB])
    said = next(event for event in game.events if event.kind is EventKind.STATEMENT)
    assert [(claim["object"], claim["verdict"], claim["known"]) for claim in said.data["claims"]] == [
        ("1 ace", "false", True)
    ]
    contests = GAMES["cheat"].contests
    assert [*contests(game)] == [Contest(ALICE, BOB, fooled=False), Contest(ALICE, CHARLIE, fooled=True)]
    assert [*contests(first_turn(False, "An ace.", [BOB]))] == []
    silent = first_turn(True, "", [BOB])
    assert [event.about for event in silent.events if "doubts" in event.data] == []
    drawn = [replace(event, fallback="unreadable") if "doubts" in event.data else event for event in game.events]
    assert [*contests(replace(game, events=tuple(drawn)))] == []


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("Two kings.", "2 kings"),
        ("I lay 2 kings and a ten, friends", "2 kings and 1 ten"),
        ("one ACE!", "1 ace"),
        ("These are kings", "kings"),
        ("I have no aces, just three queens", "3 queens"),
        ("four of the 10s", "4 tens"),
        ("two lovely sixes", "2 sixes"),
        ("Kings are due, so I lay two kings", "2 kings"),
        ("I lay two cards; a place, a face", ""),
        ("I'm not laying kings", ""),
    ],
)
def test_words_claim_ranks_and_numbers(text: str, claimed: str) -> None:
    assert [claim["object"] for claim in claims(text, ALICE, Counter(king=2), 0)] == [claimed] * bool(claimed)


def test_a_claim_is_true_if_it_names_all_that_was_laid_and_no_more() -> None:
    def verdict(text: str, **laid: int) -> str:
        (claim,) = claims(text, ALICE, Counter(laid), 7)
        assert claim["evidence"] == [7]
        return claim["verdict"]

    assert (
        verdict("two kings", king=2) == verdict("kings", king=2) == verdict("2 kings, 1 ten", king=2, ten=1) == "true"
    )
    assert {verdict("two kings", king=1), verdict("kings", king=1, ten=1), verdict("a ten", king=1)} == {"false"}


def test_one_to_four_cards_are_laid_of_the_rank_that_is_due_and_one_other() -> None:
    hand = Counter(ace=5, king=2, ten=1)
    moves = lays(hand, "king")
    assert len({cards(lay) for lay in moves}) == len(moves) == 2 + (4 + 3 + 2) + (1 + 1 + 1)
    for lay in moves:
        assert 1 <= lay.total() <= 4
        assert lay <= hand
        assert len(lay.keys() - {"king"}) <= 1
        assert read_cards(cards(lay)) == lay


def test_no_card_is_lost_and_whoever_has_none_wins() -> None:
    for seed in range(6):
        player = ScriptedPlayer("scripted:bold", PROFILES["bold"], "cheat")
        game = played(player.say, seed, ranks=3, suits=3, turns=30, size=4)
        told = [event.text.partition("Cards: ")[2] for event in game.events if "Cards: " in event.text]
        assert {sum(map(int, re.findall(r"\d+", line))) for line in told} == {8}
        assert len(game.outcome.winners) == 1 or len(told) == 30


def test_hands_and_the_cards_of_a_move_are_seen_by_their_seat_alone() -> None:
    game = played(ScriptedPlayer("scripted:bold", PROFILES["bold"], "cheat").say)
    hands = [event for event in game.events if "hand" in event.data]
    moves = [event for event in game.events if event.kind is EventKind.CHOICE and event.about is None]
    assert len(moves) == len({event.day for event in moves}) == game.outcome.days
    assert all(event.audience == (event.target or event.actor,) for event in (*hands, *moves))


def test_too_small_a_pack_is_refused() -> None:
    with pytest.raises(UsageError, match="2 ranks of 1 cards are too few for 4 players"):
        GAMES["cheat"].resolve({"ranks": 2, "suits": 1, "size": 4})


@pytest.mark.long
@pytest.mark.parametrize(("m", "v"), [(-1.0, 0.2), (0.6, 1.5)])
def test_planted_rates_of_lies_and_calls_are_found_again(m: float, v: float) -> None:
    """Lies where the seat could have told the truth, by label_claim; calls where the caller could not know better, by
    the tone of what was said.
    """
    skills = PROFILES["steady"].model_copy(update={"m": m, "v": v})
    player, lied, called = ScriptedPlayer("planted", skills, "cheat"), [], {True: [], False: []}
    for seed in range(200):
        game = played(player.say, seed)
        labels = {row.statement_id: row.label_claim for row in label_game(game).statements}
        hands: dict[str, dict[str, int]] = {}
        known: dict[str, object] = {}
        for event in game.events:
            known |= {name: value for name, value in event.data.items() if name in ("due", "laid")}
            if "hand" in event.data:
                hands[event.target] = event.data["hand"]
            elif event.kind is EventKind.STATEMENT:
                unsure = event.text.lower().startswith(UNSURE)
                if hands[event.actor].get(known["due"]):
                    lied.append(labels[f"{game.game_id}:{event.index}"])
            elif "doubts" in event.data and hands[event.actor].get(known["due"], 0) + known["laid"] <= 4:
                called[unsure].append(event.data["doubts"])
    assert sum(lied) / len(lied) == pytest.approx(chance(m), abs=0.05)
    for unsure, calls in called.items():
        assert sum(calls) / len(calls) == pytest.approx(chance(CAUTION + (2 if unsure else -2) * v), abs=0.05)
