"""Whom players vote for."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import polars as pl
import pytest

from liescope.benchmark.analyses.conditions_of_play import CELL
from liescope.benchmark.analyses.frames import Frames, load_frames
from liescope.benchmark.analyses.outcomes import wolf_losses
from liescope.games import drive, record, start
from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.record import Source
from liescope.games.table_rules import START, running_suspicion
from liescope.games.werewolf import Werewolf, WerewolfSpec
from tests.benchmark.analyses.conftest import Staged
from tests.benchmark.analyses.made import made, table_of
from tests.benchmark.random_play import answers

coordination = table_of("coordination")
vote_ranks = table_of("vote_ranks")
vote_targets = table_of("vote_targets")
wolf_votes_first_day = table_of("wolf_votes_first_day")


def test_the_wolves_first_votes_are_read_from_the_ballots(staged: Staged) -> None:
    joined = staged(["Erin"], ["Charlie"], game_id="joined")
    loyal = staged(["Erin"], ["Charlie"], loyal=True, game_id="loyal")
    table = wolf_votes_first_day(load_frames([joined, loyal]))
    revote = table.filter(pl.col("ballot") == 2)
    counts = {metric: (count, games) for metric, count, games in revote.select("metric", "count", "games").iter_rows()}
    assert counts["voted_jester"] == (1, 2)
    assert counts["wolves_won"] == (0, 1)
    assert counts["unanimous"][1] == 2
    assert table.filter(pl.col("metric") == "voted_jester")["count"].to_list() == [1, 1]


def test_a_wolf_alone_is_not_unanimous_with_anybody(staged: Staged) -> None:
    table = wolf_votes_first_day(load_frames([staged(["Erin", "Frank"], ["Alice", "Bob"])]))
    assert table.filter(pl.col("metric") == "voted_partner")["rate"].to_list() == [1.0, 1.0]
    later = coordination(load_frames([staged(["Erin", "Frank"], ["Alice", "Bob"])]))
    assert set(later.filter(pl.col("metric") == "wolf_unanimity")["day"]) == {1}


def test_voters_that_follow_their_suspicion_have_rank_one_and_random_ones_the_middle(frames: Frames) -> None:
    def follower(seed: int) -> pl.DataFrame:
        anything = answers(Random(seed))

        def answer(ask: Ask, view: Sequence[Event]) -> Reply:
            if ask.kind in (AskKind.VOTE, AskKind.EXPLAINED_VOTE):
                running = running_suspicion(view)
                return Reply(choice=max(ask.options, key=lambda name: running.get((ask.seat, name), START)), text="")
            return anything(ask, view)

        session = start(lambda: Werewolf(WerewolfSpec(assess=True, debate_turns=8), seed, f"follows-{seed}"))
        drive(session, answer)
        players = dict.fromkeys(session.game.names, ("model", Source.SCRIPTED))
        return vote_ranks(load_frames([record(session.game, session.outcome, players)]))

    assert pl.concat([follower(seed) for seed in range(3)])["mean"].to_list() == pytest.approx([1.0] * 12)
    random = vote_ranks(frames)
    assert (random["mean"] > 2).all()


def test_shares_of_a_roles_votes_sum_to_one(frames: Frames) -> None:
    sums = vote_targets(frames).group_by(*CELL, "voter_role").agg(pl.col("mean").sum())
    assert sums["mean"].to_list() == pytest.approx([1.0] * sums.height)
    assert {"mini-mafia", "werewolf", "dyadic-werewolf"} <= set(sums["game"])


def test_consensus_is_the_largest_share_of_a_ballot(staged: Staged) -> None:
    table = coordination(load_frames([staged(["Erin"], ["Charlie"])]))
    last = table.filter((pl.col("metric") == "consensus") & (pl.col("ballot") == 2))
    assert last["mean"].item() == pytest.approx(8 / 9)
    jester = table.filter((pl.col("metric") == "wolf_votes_jester") & (pl.col("ballot") == 2))
    assert (jester["mean"].item(), jester["n"].item()) == (1.0, 2)


def test_days_that_no_jester_lives_to_see_tell_nothing_of_votes_for_it(staged: Staged) -> None:
    killed = coordination(load_frames([staged(["Charlie", "Erin"], ["Alice", "Bob"])]))
    assert killed.filter(pl.col("metric") == "wolf_votes_jester").is_empty()
    alive = coordination(load_frames([staged(["Erin", "Frank"], ["Grace", "Charlie"])]))
    days = alive.filter((pl.col("metric") == "wolf_votes_jester") & (pl.col("ballot") == 2))
    assert dict(days.select("day", "mean").iter_rows()) == {1: 0.0, 2: 1.0}


def test_votes_that_the_rules_had_to_draw_are_nobodys_own() -> None:
    games = [{"game_id": "g0", "winner": "jester", "triadic": True}]
    votes = [
        {"game_id": "g0", "ballot": 2, "voter_role": "werewolf", "target": "J", "target_role": "jester", "drawn": drawn}
        for drawn in (True, False)
    ]
    seats = [{"game_id": "g0", "role": "jester", "team": "jester", "fate": "exiled", "day_out": 1}]
    drawn, own = (made(games=games, votes=[vote], seats=seats) for vote in votes)
    for analysis in (wolf_votes_first_day, coordination, vote_targets):
        assert analysis(drawn).is_empty()
        assert not analysis(own).is_empty()
    assert (wolf_losses(drawn)["A"].item(), wolf_losses(own)["A"].item()) == (0, 1)


def test_games_without_a_jester_or_ratings_give_no_rows(mini_mafia_frames: Frames) -> None:
    assert wolf_votes_first_day(mini_mafia_frames).is_empty()
    assert vote_ranks(mini_mafia_frames).is_empty()
    assert set(coordination(mini_mafia_frames)["metric"]) == {"consensus"}
