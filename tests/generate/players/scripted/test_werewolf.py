"""Scripted players at Werewolf: every reply is usable, skills have their signs, and only the view counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from liescope.games.core import AskKind, EventKind, Lesson, LessonKind
from liescope.games.script.hearing import read
from liescope.games.taxonomy import DeceptionType
from liescope.games.werewolf.rules import TRIADIC

Play = Callable[..., Any]
Wins = Callable[..., Counter[str]]


@pytest.fixture(scope="module")
def assessed(play: Play) -> list[Any]:
    """Eight triadic games with every statement assessed."""
    spec = TRIADIC.replaced(learning=True)
    return [play(seed, spec=spec, assess=True) for seed in range(8)]


@pytest.fixture(scope="module")
def plain(play: Play) -> list[Any]:
    """Twenty-five triadic games between steady players, without assessments."""
    return [play(seed, spec=TRIADIC) for seed in range(18)]


def test_assessments_and_lessons_change_nothing_in_play(play: Play) -> None:
    """The same statements and votes with and without: learning is lost on a player that ignores lessons."""
    table = TRIADIC.replaced(lessons=(Lesson(LessonKind.TO_DO, "Vote like a werewolf."),), learning=True)
    for seed in range(2):
        games = play(seed, spec=TRIADIC).game, play(seed, spec=table, assess=True).game
        one, other = ([replace(e, index=0, about=None) for e in game.events if e.audience is None] for game in games)
        assert one == other


@pytest.mark.long
def test_every_faction_wins_at_default_skills(wins: Wins) -> None:
    won = wins(40)
    for faction in ("villagers", "werewolves", "jester"):
        assert 0.12 < won[faction] / 40 < 0.65, won
    assert won["nobody"] == 0


@pytest.mark.long
def test_a_jester_that_plays_suspicious_wins_more(wins: Wins) -> None:
    rates = [wins(24, jester=f"steady?j={j}")["jester"] for j in (0, 2)]
    assert rates[0] + 7 < rates[1]


@pytest.mark.long
def test_a_better_liar_wins_more_for_the_werewolves(wins: Wins) -> None:
    rates = [wins(20, werewolf=f"steady?m={m}", jester="steady?j=0")["werewolves"] for m in (-1.5, 1.5)]
    assert rates[0] + 5 < rates[1]


def test_village_votes_find_werewolves_more_often_than_chance_does(plain: list[Any]) -> None:
    found = expected = total = 0.0
    for played in plain:
        for ask, _, reply in played.views:
            if ask.kind is AskKind.EXPLAINED_VOTE and played.game.roles[ask.seat] == "villager":
                wolves = {name for name in ask.options if played.game.roles[name] == "werewolf"}
                found += reply.choice in wolves
                expected += len(wolves) / len(ask.options)
                total += 1
    assert found / total > expected / total + 0.1


def test_werewolves_agree_on_a_victim(plain: list[Any]) -> None:
    at_once = after_all = nights = 0
    for played in plain:
        firsts: dict[int, list[str]] = {}
        for event in played.game.events:
            if event.kind is EventKind.PROPOSAL and event.round == 1:
                firsts.setdefault(event.day, []).append(event.target)
            elif event.kind is EventKind.KILL and len(firsts[event.day]) == 2:
                nights += 1
                at_once += len(set(firsts[event.day])) == 1
                after_all += len(set(event.data["proposals"])) == 1
    assert at_once < 0.6 * nights
    assert after_all > 0.85 * nights


def test_those_accused_since_they_last_spoke_bid_more(plain: list[Any]) -> None:
    bids: dict[bool, list[int]] = {True: [], False: []}
    for played in plain:
        for ask, view, reply in played.views:
            if ask.kind is AskKind.BID:
                recent = [event for event in view if event.kind is EventKind.STATEMENT][-3:]
                mine = max((place for place, event in enumerate(recent, 1) if event.actor == ask.seat), default=0)
                accused = any(ask.seat in dict(read(event.text, played.game.names).accused) for event in recent[mine:])
                bids[accused].append(int(reply.choice))
    mean = {accused: sum(found) / len(found) for accused, found in bids.items()}
    assert mean[True] > mean[False] + 1
    assert set(bids[True] + bids[False]) >= set(range(9))


def flagged(games: list[Any], kind: EventKind) -> float:
    """The share of the assessments of that kind that see a deception."""
    found = [e.data["assessment"]["deceptive"] for played in games for e in played.game.events if e.kind is kind]
    return sum(found) / len(found)


@pytest.mark.parametrize("phases", [("discussion", "defence"), ("voting",)])
def test_speakers_know_what_they_meant_even_as_the_reason_of_a_vote(assessed: list[Any], phases: tuple[str]) -> None:
    right = [
        played.game.events[event.about].data["private"]["planted_type"] == event.data["assessment"]["type"]
        for played in assessed
        for event in played.game.events
        if event.kind is EventKind.SELF_REPORT and event.phase in phases
    ]
    assert 0.75 < sum(right) / len(right) < 0.99


def test_suspicion_is_how_a_speaker_seems_even_to_werewolves_who_know_better(assessed: list[Any]) -> None:
    """A werewolf's suspicion of its partner is what the villagers' is, not its certainty of who is a werewolf."""
    suspicions: dict[bool, list[float]] = {True: [], False: []}
    for played in assessed:
        wolves = {seat.name for seat in played.record.by_role("werewolf")}
        for event in played.game.events:
            if event.kind is EventKind.RATING and event.target in wolves:
                suspicions[event.actor in wolves].append(event.data["assessment"]["suspicion"])
    partners, others = (sum(values) / len(values) for values in suspicions.values())
    assert abs(partners - others) < 0.12


@pytest.mark.long
def test_a_planted_bias_opens_a_gap_between_observers_and_speakers(play: Play) -> None:
    def gap(b: float) -> float:
        players = dict.fromkeys(("villager", "werewolf", "doctor", "jester"), f"steady?b={b}")
        games = [play(seed, spec=TRIADIC, assess=True, **players) for seed in range(4)]
        return flagged(games, EventKind.RATING) - flagged(games, EventKind.SELF_REPORT)

    low, none, high = gap(-1.5), gap(0), gap(1.5)
    assert low + 0.08 < none < high - 0.12


def test_statements_vary_and_are_written_out(plain: list[Any]) -> None:
    said = [e for played in plain for e in played.game.events if e.kind is EventKind.STATEMENT]
    assert len({event.text for event in said}) > 0.97 * len(said)
    assert not [event.text for event in said if re.search(r"[{}<>]|  |\.\.|,\.", event.text)]
    assert max(len(event.text) for event in said) <= 220
    assert not [event.text for event in said if re.search(rf"\b{event.actor}\b", event.text)]
    types = Counter(event.data["private"]["planted_type"] for event in said)
    assert set(types) == {kind.value for kind in DeceptionType}


def test_a_jester_writes_lessons_of_its_game_or_none(play: Play) -> None:
    drawn = []
    for seed in range(20):
        played = play(seed, spec=TRIADIC.replaced(learning=True, debate_turns=2))
        form = played.views[-1][2].form
        assert set(form) <= {kind.value for kind in LessonKind}
        texts = [text for texts in form.values() for text in texts]
        assert not [text for text in texts if re.search(r"[{}]", text)]
        drawn.append(texts)
    assert [] in drawn
    assert len({text for texts in drawn for text in texts}) >= 10
