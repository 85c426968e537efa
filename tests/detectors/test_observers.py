"""The votes as a detector: the exact posterior, habits that were planted, tables of any size, and no votes at all."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import Example, examples_of
from liescope.detectors.kinds.observers import (
    CountedGame,
    CountedVote,
    Habits,
    ObserversDetector,
    ObserversOptions,
    counted_of,
    posterior_of,
)
from liescope.detectors.text_form import TextConfig
from liescope.detectors.training import train
from liescope.detectors.view.transcript import EXILED, KILLED, SAID, VOTED, GameMoment, Transcript, TranscriptTurn
from tests.detectors.conftest import after_the_game

HABITS = Habits(deceptive=-1.5, honest=0.8, killed=-3.0, exiled=-2.0, prevalence=0.3, trust=0.7)


def a_vote(voter: str, target: str, day: int = 1) -> TranscriptTurn:
    return TranscriptTurn(VOTED, voter, target=target, day=day)


def a_game(
    turns: Sequence[TranscriptTurn], names: str = "ABCDE", deceivers: int | None = 1, key: str = "g"
) -> Transcript:
    return Transcript(key, tuple(names), tuple(turns), "", deceivers)


def by_hand(table: CountedGame, habits: Habits) -> list[float]:
    """The posterior as the formula says it, set by set."""
    sizes = range(table.seats + 1) if table.deceivers is None else [table.deceivers]
    total, found = 0.0, [0.0] * table.seats
    for chosen in (set(one) for size in sizes for one in combinations(range(table.seats), size)):
        left = habits.killed * len(chosen & set(table.killed)) + habits.exiled * len(chosen & set(table.exiled))
        chance = math.exp(left)
        if table.deceivers is None:
            chance *= (habits.prevalence / (1 - habits.prevalence)) ** len(chosen)
        for vote in table.votes:
            b = habits.deceptive if vote.voter in chosen else habits.honest
            weights = {at: math.exp(b * (at in chosen)) for at in vote.candidates}
            chance *= (weights[vote.target] / sum(weights.values())) ** habits.trust
        total += chance
        for at in chosen:
            found[at] += chance
    return [one / total for one in found]


def a_counted_game(draw: random.Random, seats: int, deceivers: int | None) -> CountedGame:
    alive = draw.sample(range(seats), seats - 1)
    dead = (set(range(seats)) - set(alive)).pop()
    cast = [CountedVote(v, draw.choice([c for c in alive if c != v]), tuple(c for c in alive if c != v)) for v in alive]
    return CountedGame(seats, deceivers, (dead,), (alive[0],), tuple(cast))


@pytest.mark.parametrize("deceivers", [1, 2, 3, None])
def test_the_posterior_is_the_sum_over_all_sets(deceivers: int | None) -> None:
    draw = random.Random(0)
    for _ in range(5):
        table = a_counted_game(draw, 6, deceivers)
        assert posterior_of(table, HABITS) == pytest.approx(by_hand(table, HABITS))


@pytest.mark.parametrize(("deceivers", "share"), [(1, 0.2), (2, 0.4), (None, 0.3)])
def test_without_votes_every_player_has_the_prior(deceivers: int | None, share: float) -> None:
    table = counted_of(GameMoment(a_game([TranscriptTurn(SAID, "A", "hello", key="1")], deceivers=deceivers)))
    assert posterior_of(table, HABITS) == pytest.approx([share] * 5)


def test_votes_count_once_they_are_cast_and_candidates_are_those_alive() -> None:
    turns = [
        TranscriptTurn(KILLED, "E"),
        a_vote("A", "B"),
        a_vote("B", "A"),
        TranscriptTurn(EXILED, "B"),
        a_vote("A", "C", 2),
    ]
    game = a_game(turns)
    assert counted_of(GameMoment(game, 1)).votes == ()
    assert counted_of(GameMoment(game, 2)).votes == (CountedVote(0, 1, (1, 2, 3)),)
    assert counted_of(GameMoment(game)).votes == (
        CountedVote(0, 1, (1, 2, 3)),
        CountedVote(1, 0, (0, 2, 3)),
        CountedVote(0, 2, (2, 3)),
    )
    assert counted_of(GameMoment(game)).killed == (4,)
    # Being voted out tells something once the game goes on after it.
    assert [counted_of(GameMoment(game, upto)).exiled for upto in (4, 5)] == [(), (1,)]


def test_a_revote_takes_the_place_of_the_vote_and_another_day_adds_to_it() -> None:
    once = counted_of(GameMoment(a_game([a_vote("A", "B"), a_vote("A", "C")])))
    assert [vote.target for vote in once.votes] == [2]
    twice = counted_of(GameMoment(a_game([a_vote("A", "B"), a_vote("A", "C", day=2)])))
    assert [vote.target for vote in twice.votes] == [1, 2]


@pytest.mark.parametrize("target", ["A", "E", "Nobody", ""])
def test_a_vote_for_nobody_who_can_be_named_says_nothing(target: str) -> None:
    assert counted_of(GameMoment(a_game([TranscriptTurn(KILLED, "E"), a_vote("A", target)]))).votes == ()


def played(draw: random.Random, number: int, honest: float, deceptive: float) -> tuple[Transcript, set[str]]:
    """A game of seven with two who deceive, whose players vote by these log-odds."""
    names = "ABCDEFG"
    lying = set(draw.sample(names, 2))
    turns = [TranscriptTurn(SAID, name, "hello", key=f"{number}:{name}") for name in names]
    for voter in names:
        others = [name for name in names if name != voter]
        b = deceptive if voter in lying else honest
        (target,) = draw.choices(others, [math.exp(b * (name in lying)) for name in others])
        turns.append(a_vote(voter, target))
    return a_game(turns, names, 2, f"g{number}"), lying


def told(games: Sequence[tuple[Transcript, set[str]]]) -> tuple[list[Example], np.ndarray]:
    """What was said in games, and whether whoever said it deceives."""
    examples = [example for game, _ in games for example in examples_of(GameMoment(game), 0).values()]
    lying = {game.game_id: names for game, names in games}
    return examples, np.array([example.speaker in lying[example.game_id] for example in examples])


def fitted(games: Sequence[tuple[Transcript, set[str]]]) -> tuple[ObserversDetector, list[Example], np.ndarray]:
    examples, y = told(games)
    groups = np.array([example.game_id for example in examples])
    return ObserversDetector(TextConfig(), ObserversOptions()).fit(examples, y, groups), examples, y


def test_habits_that_were_planted_are_found_and_name_who_deceives_in_games_not_seen() -> None:
    draw = random.Random(3)
    detector, _, _ = fitted([played(draw, n, honest=1.0, deceptive=-1.5) for n in range(400)])
    assert detector._habits.honest == pytest.approx(1.0, abs=0.2)
    assert detector._habits.deceptive == pytest.approx(-1.5, abs=0.5)
    examples, y = told([played(draw, n, honest=1.0, deceptive=-1.5) for n in range(400, 500)])
    whole = after_the_game(detector, examples)
    assert whole[y].mean() > whole[~y].mean() + 0.15
    # What is said before the votes is scored before the votes.
    assert np.allclose(detector.predict_proba(examples)[:, 1], 2 / 7)
    # Calibrated: the posterior is the share that it says.
    sure = whole > 0.6
    assert y[sure].mean() == pytest.approx(whole[sure].mean(), abs=0.12)


def test_voters_who_follow_each_other_are_trusted_less() -> None:
    draw = random.Random(6)
    alone = [played(draw, n, honest=1.0, deceptive=0.0) for n in range(300)]
    assert fitted(alone)[0]._habits.trust == pytest.approx(1.0, abs=0.3)

    def herd(game: Transcript) -> Transcript:
        """Everyone votes as the first voter does, who votes for the second voter's choice."""
        first = next(turn for turn in game.turns if turn.kind == VOTED)
        turns = [
            replace(t, target=first.target) if t.kind == VOTED and t.player != first.target else t for t in game.turns
        ]
        return Transcript(game.game_id, game.names, tuple(turns), "", 2)

    assert fitted([(herd(game), lying) for game, lying in alone])[0]._habits.trust < 0.5


def test_who_was_voted_out_of_a_game_that_went_on_is_suspected_as_in_training() -> None:
    games = []
    for number in range(40):
        lying, out = ("A", "B") if number % 2 else ("B", "A")
        turns = [TranscriptTurn(SAID, name, "hello", key=f"{number}:{name}") for name in "ABCDE"]
        games.append(
            (a_game([*turns, TranscriptTurn(EXILED, out), TranscriptTurn(KILLED, "C")], key=f"g{number}"), {lying})
        )
    detector, examples, y = fitted(games)
    assert after_the_game(detector, examples)[y].min() > 0.3
    out = {game.game_id: game.turns[5].player for game, _ in games}
    assert (
        max(s for s, e in zip(after_the_game(detector, examples), examples, strict=True) if e.speaker == out[e.game_id])
        < 0.1
    )


def test_votes_at_random_teach_nothing() -> None:
    draw = random.Random(4)
    detector, examples, _ = fitted([played(draw, n, honest=0.0, deceptive=0.0) for n in range(300)])
    assert np.abs(after_the_game(detector, examples) - 2 / 7).max() < 0.2


def test_who_learns_where_votes_come_last_is_told_so() -> None:
    draw = random.Random(8)
    games = [played(draw, n, honest=1.0, deceptive=-1.0) for n in range(10)]
    (note,) = fitted(games)[0].notes
    assert "no vote came before any of these statements" in note
    later = TranscriptTurn(SAID, "A", "so it is", key="later")
    assert not fitted([(replace(game, turns=(*game.turns, later)), lying) for game, lying in games])[0].notes


def test_voters_whose_side_is_not_known_are_left_out_of_learning() -> None:
    draw = random.Random(5)
    games = [played(draw, n, honest=3.0, deceptive=-3.0) for n in range(20)]
    silent = [
        (
            Transcript(
                g.game_id, g.names, tuple(t for t in g.turns if t.player != min(lying) or t.kind == VOTED), "", 2
            ),
            lying,
        )
        for g, lying in games
    ]
    assert fitted(silent)[0]._habits.honest == pytest.approx(0.0)


def test_another_target_than_the_role_is_refused(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--target role"):
        train("observers", corpus, out=tmp_path / "m", target="claim", folds=0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"deceptive": 1e9}', "cannot be read"),
        ('{"odd": 1}', "cannot be read"),
        ('{"prevalence": 0}', "prevalence: Input should be"),
        ("[" * 3000, "cannot be read"),
        (" " * 5000, "more than the"),
    ],
)
def test_numbers_of_a_stranger_are_checked(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "observers.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadData, match=said):
        ObserversDetector.load(tmp_path, TextConfig(), ObserversOptions())
