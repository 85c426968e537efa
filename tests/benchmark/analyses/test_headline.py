"""The three sentences of a report say what a count by hand says."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from liescope.benchmark.analyses.findings import headline_figure, headline_sentences
from liescope.benchmark.analyses.frames import Frames, load_frames
from tests.benchmark.analyses.made import made
from tests.benchmark.random_play import judged, mini_mafia, werewolf

DECEIVERS = {"werewolf", "jester", "mafioso"}


@pytest.fixture(scope="module")
def wolves() -> Frames:
    games = [judged(replace(werewolf("m", seed), game_id=f"game-{seed}")) for seed in range(6)]
    return load_frames(games)


def test_the_first_counts_the_games_that_each_side_won(wolves: Frames) -> None:
    games = wolves.games.to_dicts()
    won = sum(game["winner"] == "werewolves" for game in games) / len(games)
    assert headline_sentences(wolves)[0].startswith("In 6 games of werewolf, ")
    assert f"the werewolves won {won:.0%} (" in headline_sentences(wolves)[0]


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
    assert f"of the votes of the villager {sum(hits) / len(hits):.0%} (" in headline_sentences(wolves)[1]


def test_votes_that_the_rules_drew_are_said_not_to_count(wolves: Frames) -> None:
    drawn = wolves.votes.with_columns(drawn=pl.int_range(pl.len()) % 3 == 0)
    none = wolves.votes.with_columns(drawn=pl.lit(False))
    counted = f"votes that the rules drew, {drawn['drawn'].sum()} of {drawn.height}, do not count"
    assert counted in headline_sentences(replace(wolves, votes=drawn))[1]
    assert "the rules drew" not in headline_sentences(replace(wolves, votes=none))[1]


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
    assert (
        f"in {rates[0]:.0%} of their ratings and what the others said in {rates[1]:.0%}: "
        in headline_sentences(wolves)[2]
    )


def test_what_games_do_not_show_is_said() -> None:
    unrated = load_frames([mini_mafia("m", seed) for seed in range(3)])
    assert "do not show whether listeners notice deception" in headline_sentences(unrated)[2]
    assert all(sentence.endswith(".") for sentence in headline_sentences(unrated))
    assert headline_figure(unrated)


def rated(flags: list[tuple[str, bool, bool]]) -> Frames:
    """Ratings of one villager a game: (game, the speaker deceives, flagged)."""
    names = {True: ("Bob", "werewolf"), False: ("Carol", "villager")}
    games = sorted({game for game, _, _ in flags})
    seats = [
        {"game_id": game, "name": name, "role": role, "team": role, "deceives": deceives, "seat_model": "m"}
        for game in games
        for deceives, (name, role) in {**names, None: ("Alice", "villager")}.items()
    ]
    seats = [{**seat, "deceives": bool(seat["deceives"])} for seat in seats]
    ratings = [
        {
            "game_id": game,
            "statement_id": f"{game}-{at}",
            "speaker": names[deceives][0],
            "observer": "Alice",
            "flag": flag,
            "label_role": deceives,
        }
        for at, (game, deceives, flag) in enumerate(flags)
    ]
    return made(seats=seats, ratings=ratings, games=[{"game_id": game} for game in games])


def test_a_difference_that_may_be_none_is_not_told_as_one() -> None:
    """Listeners who flag both kinds about as often are not said to notice; those who tell them apart are."""
    even = [(f"g{at}", deceives, (at + deceives) % 2 == 0) for at in range(9) for deceives in (True, False)]
    apart = [(f"g{at}", deceives, deceives == (at != 0)) for at in range(20) for deceives in (True, False)]
    alone = [("g", deceives, deceives) for deceives in (True, False)]
    assert headline_sentences(rated(even))[2].count("do not settle") == 1
    assert "these games do not settle whether they can tell the two apart" in headline_sentences(rated(even))[2]
    assert "do not settle" not in headline_sentences(rated(apart))[2]
    assert "do not settle" in headline_sentences(rated(alone))[2]  # one game settles nothing, however it went
