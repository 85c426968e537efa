"""The three sentences of a report say what a count by hand says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from liescope.benchmark.analyses.frames import Frames, load_frames
from liescope.benchmark.analyses.headline import figure, sentences
from tests.benchmark.random_play import judged, mini_mafia, werewolf

DECEIVERS = {"werewolf", "jester", "mafioso"}


@pytest.fixture(scope="module")
def wolves() -> Frames:
    games = [judged(replace(werewolf("m", seed), game_id=f"game-{seed}")) for seed in range(6)]
    return load_frames(games)


def test_the_first_counts_the_games_that_each_side_won(wolves: Frames) -> None:
    games = wolves.games.to_dicts()
    won = sum(game["winner"] == "werewolves" for game in games) / len(games)
    assert sentences(wolves)[0].startswith("In 6 games of werewolf, ")
    assert f"the werewolves won {won:.0%} (" in sentences(wolves)[0]


def test_the_second_counts_the_votes_that_were_chosen_and_counted(wolves: Frames) -> None:
    ballots: dict[tuple[str, int], int] = {}
    for vote in wolves.votes.to_dicts():
        key = (vote["game_id"], vote["day"])
        ballots[key] = max(ballots.get(key, 0), vote["ballot"])
    hits = [
        vote["target_role"] in DECEIVERS
        for vote in wolves.votes.to_dicts()
        if vote["ballot"] == ballots[vote["game_id"], vote["day"]]
        and vote["voter_role"] == "villager"
        and not vote["drawn"]
        and vote["target"]
    ]
    assert f"of the votes of the villager {sum(hits) / len(hits):.0%} (" in sentences(wolves)[1]


def test_the_third_compares_flags_on_what_deceivers_and_others_said(wolves: Frames) -> None:
    rates = []
    for deceives in (True, False):
        flags = [
            rating["flag"]
            for rating in wolves.ratings.to_dicts()
            if rating["observer_role"] not in DECEIVERS
            and rating["flag"] is not None
            and (rating["speaker_role"] in DECEIVERS) is deceives
        ]
        rates.append(sum(flags) / len(flags))
    assert f"in {rates[0]:.0%} of their ratings and what the others said in {rates[1]:.0%}: " in sentences(wolves)[2]


def test_what_games_do_not_show_is_said() -> None:
    unrated = load_frames([mini_mafia("m", seed) for seed in range(3)])
    assert "do not show whether listeners notice deception" in sentences(unrated)[2]
    assert all(sentence.endswith(".") for sentence in sentences(unrated))
    assert figure(unrated)
