"""Whole games that stay as they are: asks, replies and events, one JSON object a line, in tests/golden/*.jsonl.

A change of the rules that changes a game shows here event by event. Where it is meant, write the games anew with

    python -m tests.golden.test_golden

and read the difference before committing it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from liescope.games.cheat.rules import Cheat, CheatSpec
from liescope.games.core import ASSESSMENTS, FORMS, Ask, AskKind, Assessment, Event, EventKind, Game, Replies, Reply
from liescope.games.deal.rules import Deal, DealSpec
from liescope.games.mafia.rules import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from liescope.games.one_night.rules import OneNightSpec, OneNightWerewolf
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import GameRecord, Source, event_to_json, record, reply_from_json, reply_to_json
from liescope.games.session import Session, drive, start
from liescope.games.two_truths.rules import TwoTruths, TwoTruthsSpec
from liescope.games.werewolf.rules import Werewolf, WerewolfSpec
from tests.golden.by_hand import DAYS_RUN_OUT, JESTER_EXILED, VILLAGERS_SAVED, WEREWOLVES_AT_PARITY, Hand

FOLDER = Path(__file__).parent
HANDS: dict[str, Hand] = {
    "werewolf_jester_exiled": JESTER_EXILED,
    "werewolf_werewolves_at_parity": WEREWOLVES_AT_PARITY,
    "werewolf_villagers_saved": VILLAGERS_SAVED,
    "werewolf_days_run_out": DAYS_RUN_OUT,
}
WITH_A_SEER = WerewolfSpec(villagers=3, seers=1, debate_turns=3, defence_turns=2, assess=True, show_suspicion=True)

TWO_DOCTORS = WerewolfSpec(villagers=2, doctors=2, werewolves=1, jesters=0, debate_turns=1, defence_turns=1, days=3)
LONE = 3  # a seed that puts one of the werewolves in the centre


def by_hand(hand: Hand) -> GameRecord:
    """The record of a game that is played by hand."""
    session = start(hand.make)
    drive(session, hand.answer)
    return record(session.game, session.outcome, dict.fromkeys(session.game.names, ("hand", Source.HUMAN)))


GAMES: dict[str, Callable[[], Game]] = {
    "mini_mafia": lambda: MiniMafia(MINI_MAFIA, 3, "golden"),
    "mini_mafia_tie": lambda: MiniMafia(MINI_MAFIA, 4, "golden"),
    "mini_mafia_assessed": lambda: MiniMafia(MINI_MAFIA.replaced(assess=True), 2, "golden"),
    "mini_mafia_discovered": lambda: MiniMafia(
        MINI_MAFIA.replaced(mutual_discovery=True, reveal_dead=True), 6, "golden"
    ),
    "mafia": lambda: Mafia(MafiaSpec(mafiosos=2, detectives=1, villagers=4, message_limit=60), 2, "golden"),
    "mini_mafia_second_order": lambda: MiniMafia(MINI_MAFIA.replaced(second_order=True), 2, "golden"),
    "mafia_two_days": lambda: Mafia(MafiaSpec(mafiosos=1, detectives=2, villagers=5, rounds=1, days=2), 5, "golden"),
    "werewolf_with_a_seer": lambda: Werewolf(WITH_A_SEER, 8, "golden"),
    "werewolf_two_doctors": lambda: Werewolf(TWO_DOCTORS, 0, "golden"),
    "one_night": lambda: OneNightWerewolf(OneNightSpec(assess=True, rounds=1), 0, "golden"),
    "one_night_lone_werewolf": lambda: OneNightWerewolf(OneNightSpec(rounds=1), LONE, "golden"),
    "deal": lambda: Deal(DealSpec(assess=True), 4, "golden"),
    "two_truths": lambda: TwoTruths(TwoTruthsSpec(turns=2), 4, "golden"),
    "cheat": lambda: Cheat(CheatSpec(turns=6, ranks=6), 4, "golden"),
    "werewolf_judged": lambda: RatedGame(by_hand(JESTER_EXILED), RatingSpec(roles=True, lessons=True), "a judge"),
    **{name: hand.make for name, hand in HANDS.items()},
}


def player(seed: int) -> Callable[[Ask, Sequence[Event]], Reply]:
    """Random play with a silence, an overlong message and an unusable reply now and then."""
    random = Random(seed)

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        if random.random() < 0.15:
            return Reply(problem="the reply could not be read", raw="…")
        if ask.kind is AskKind.SPEAK:
            who = random.choice([event.actor or "nobody" for event in view if event.actor] or ["nobody"])
            words = [f"I do not trust {who}.", "", f"{who} was quiet. " * 20, f'"{who}" said it:\nnot me']
            return Reply(text=random.choice(words), private={"planted_type": random.choice(["none", "omission"])})
        if ask.kind in ASSESSMENTS:
            rating = Assessment(random.random() < 0.5, "omission", random.random(), random.random(), "a feeling")
            return Reply(assessment=rating, notes=("a reasoning block came first",))
        if ask.kind is AskKind.TAG_LESSON:
            return Reply(form={"categories": ("aggression",), "order": ("2",)})
        if ask.kind is AskKind.SECOND_ORDER:
            return Reply(form={name: (random.choice([ask.seat, *ask.options]),) for name in ask.options})
        if ask.kind in FORMS:
            return Reply(form={name: (random.choice(["villager", "werewolf"]),) for name in ask.options})
        text = "I go by what I heard." if ask.kind is AskKind.EXPLAINED_VOTE else None
        return Reply(choice=random.choice(ask.options), text=text)

    return answer


def lines(session: Session, replies: Sequence[Replies]) -> Iterator[dict[str, Any]]:
    """A game being played with these replies, as the lines of its file."""
    told = 0
    for batch in (*replies, ()):
        for event in session.events[told:]:
            yield {"event": event_to_json(event)}
        told = len(session.events)
        for ask, reply in zip(session.asks, batch, strict=True):
            yield {"ask": asdict(ask), "reply": reply_to_json(reply)}
        if batch:
            session.send(batch)
    yield {"outcome": None if session.outcome is None else asdict(session.outcome)}


def recorded(file: list[dict[str, Any]]) -> list[Replies]:
    """The batches of replies in a game's file."""
    batches: dict[int, list[Reply]] = {}
    for line in file:
        if "ask" in line:
            batches.setdefault(line["ask"]["step"], []).append(reply_from_json(line["reply"]))
    return [tuple(batch) for batch in batches.values()]


@pytest.mark.parametrize("name", GAMES)
def test_the_game_is_played_as_it_was(name: str) -> None:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    golden = [json.loads(line) for line in text.splitlines()]
    now = lines(start(GAMES[name]), recorded(golden))
    for number, (was, is_) in enumerate(zip(golden, now, strict=True), 1):
        assert json.loads(json.dumps(is_)) == was, f"line {number} of {name}.jsonl"


def test_every_file_is_a_game_that_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == GAMES.keys()


def test_together_the_games_show_every_kind_of_event() -> None:
    kinds, flags = set(), set()
    for path in FOLDER.glob("*.jsonl"):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            event = line.get("event", {"kind": None})
            kinds.add(event["kind"])
            flags |= event.get("data", {}).keys() | ({"fallback"} if event.get("fallback") else set())
    elsewhere = {EventKind.CLAIMS_FOUND, EventKind.BELIEFS, EventKind.SUMMARY}  # of models asked
    assert {*EventKind} - elsewhere <= kinds
    assert {"fallback", "tied", "cut", "private", "notes"} <= flags


def regenerate() -> None:
    """Write every game's file anew."""
    for name, make in GAMES.items():
        replies = drive(start(make), HANDS[name].answer if name in HANDS else player(7))
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines(start(make), replies))
        (FOLDER / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(f"{name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    regenerate()
