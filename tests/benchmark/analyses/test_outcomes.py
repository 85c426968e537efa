"""Who wins, how the werewolves lose, whom players vote for, and what the last word is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import polars as pl
import pytest

from liescope.benchmark.analyses.conditions_of_play import CELL
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.outcomes import CATEGORIES, triadic_against_dyadic, wolf_losses
from liescope.benchmark.analyses.votes import ANALYSES_OF_LAST_WORD, last_words
from liescope.common.statistics import joined, wilson
from liescope.games import drive, record, start
from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.record import Source
from liescope.games.shared_rules import START, running_suspicion
from liescope.games.werewolf.rules import Werewolf, WerewolfSpec
from tests.benchmark.analyses.conftest import Staged
from tests.benchmark.analyses.made import load_frames, made, table_of
from tests.benchmark.random_play import answers

jester_fate = table_of("jester_fate")
learning_effect = table_of("learning_effect")
shuffled_runs = table_of("shuffled_runs")
win_rates = table_of("win_rates")

WOLVES_WIN = ["Erin", "Frank", "Grace", "Henry", "Ivy", "Jack"]


def test_learning_turned_round_turns_the_effect_round(frames: Frames) -> None:
    table = learning_effect(frames)
    back = learning_effect(replace(frames, games=frames.games.with_columns(~pl.col("learning"))))
    assert table["difference"].to_list() == pytest.approx([-value for value in back["difference"]])
    assert table["lo"].to_list() == pytest.approx([-value for value in back["hi"]])


def test_only_models_that_played_both_regimes_are_set_against_each_other(frames: Frames) -> None:
    table = triadic_against_dyadic(frames)
    assert set(table["model"]) == {"alpha"}
    assert table.filter(pl.col("faction") == "jester")["regime"].to_list() == ["triadic"]
    for _, part in table.filter(pl.col("faction") != "jester").group_by("faction"):
        triadic, dyadic, difference = part["rate"]
        assert difference == pytest.approx(triadic - dyadic)
    assert triadic_against_dyadic(load_frames([])).is_empty()


def test_a_faction_is_measured_by_the_games_that_deal_it() -> None:
    games = [{"game_id": f"g{at}", "winner": "villagers", "triadic": at == 0} for at in range(3)]
    seats = [{"game_id": f"g{at}", "team": team} for at in range(3) for team in ("villagers", "werewolves")]
    table = win_rates(made(games=games, seats=[*seats, {"game_id": "g0", "team": "jester"}]))
    assert {row["faction"]: (row["wins"], row["games"]) for row in table.iter_rows(named=True)} == {
        "jester": (0, 1),
        "villagers": (3, 3),
        "werewolves": (0, 3),
    }


def test_control_games_seated_as_no_triadic_game_is_are_left_out(frames: Frames) -> None:
    control = pl.int_range(pl.len()).over("triadic") % 2 == 1
    odd = pl.when(~pl.col("triadic") & control).then(pl.lit("fixed")).otherwise("seating")
    mixed = replace(frames, games=frames.games.with_columns(seating=odd))
    counts = [
        triadic_against_dyadic(one).filter(pl.col("regime") == "dyadic").group_by("model").agg(pl.col("games").max())
        for one in (frames, mixed)
    ]
    assert counts[1]["games"].sum() < counts[0]["games"].sum()


def test_games_seated_otherwise_than_the_control_are_no_match_for_it(frames: Frames) -> None:
    fixed = pl.when("triadic").then(pl.lit("fixed")).otherwise("seating")
    seated = replace(frames, games=frames.games.with_columns(seating=fixed))
    assert triadic_against_dyadic(seated).is_empty()
    assert shuffled_runs(seated).is_empty()


@pytest.mark.parametrize(
    ("category", "victims", "exiles", "loyal"),
    [
        ("A", ["Erin"], ["Charlie"], False),
        ("C", ["Erin"], ["Charlie"], True),
        ("A", ["Erin", "Frank"], ["", "Charlie"], False),  # a wolf's vote on day 1, exile on day 2
        ("C", ["Erin", "Frank"], ["Grace", "Charlie"], False),
        ("B", ["Charlie", "Erin"], ["Alice", "Bob"], False),
        ("B", ["Erin", "Charlie"], ["Alice", "Bob"], False),
        ("D", ["Erin", "Frank"], ["Alice", "Bob"], False),
        ("W", WOLVES_WIN, [], False),
        ("W", ["Charlie", *WOLVES_WIN], [], False),
    ],
)
def test_the_taxonomy_reads_the_game_that_was_played(
    staged: Staged, category: str, victims: list[str], exiles: list[str], loyal: bool
) -> None:
    table = wolf_losses(load_frames([staged(victims, exiles, loyal)]))
    assert [name for name in CATEGORIES if table[name].item()] == [category]
    assert table["games"].item() == 1


def test_the_taxonomy_counts_every_triadic_game_once_and_agrees_with_the_winners(frames: Frames) -> None:
    table = wolf_losses(frames)
    won = win_rates(frames).pivot("faction", index=CELL, values="wins").join(table, on=CELL)
    assert won.height == 4
    assert (won["A"] + won["C"] == won["jester"]).all()
    assert (won["B"] + won["D"] == won["villagers"]).all()
    assert (won["W"] == won["werewolves"]).all()
    assert table.select(pl.sum_horizontal(*CATEGORIES, "nobody"))["A"].to_list() == table["games"].to_list()


coordination = table_of("coordination")
vote_ranks = table_of("vote_ranks")
vote_targets = table_of("vote_targets")
wolf_votes_first_day = table_of("wolf_votes_first_day")


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


def test_days_that_no_jester_lives_to_see_tell_nothing_of_votes_for_it(staged: Staged) -> None:
    killed = coordination(load_frames([staged(["Charlie", "Erin"], ["Alice", "Bob"])]))
    assert killed.filter(pl.col("metric") == "wolf_votes_jester").is_empty()
    alive = coordination(load_frames([staged(["Erin", "Frank"], ["Grace", "Charlie"])]))
    days = alive.filter((pl.col("metric") == "wolf_votes_jester") & (pl.col("ballot") == 2))
    assert dict(days.select("day", "mean").iter_rows()) == {1: 0.0, 2: 1.0}


def test_votes_that_the_rules_had_to_draw_are_nobodys_own() -> None:
    games = [{"game_id": "g0", "winner": "jester", "triadic": True}]
    vote = {"game_id": "g0", "ballot": 2, "voter_role": "werewolf", "target": "J", "target_role": "jester"}
    votes = [{**vote, "drawn": True}, {**vote, "drawn": False}]
    seats = [{"game_id": "g0", "role": "jester", "team": "jester", "fate": "exiled", "day_out": 1}]
    drawn, own = (made(games=games, votes=[vote], seats=seats) for vote in votes)
    for analysis in (wolf_votes_first_day, coordination, vote_targets):
        assert analysis(drawn).is_empty()
        assert not analysis(own).is_empty()
    assert (wolf_losses(drawn)["A"].item(), wolf_losses(own)["A"].item()) == (0, 1)


vote_accuracy = table_of("vote_accuracy")

SIDES = {"Wolf": "werewolf", "Ann": "villager", "Ben": "villager", "Cy": "villager"}


def voted(*votes: dict[str, Any], **fates: tuple[str, int]) -> Frames:
    """One game of four. votes: rows of the frame, by Ann on day 1 in the first ballot where they say nothing else."""
    rows = [
        {"game_id": "g", "ballot": 1, "voter": "Ann", "voter_role": SIDES[vote.get("voter", "Ann")], **vote}
        for vote in votes
    ]
    seats = []
    for name, role in SIDES.items():
        fate, day = fates.get(name, ("alive", None))
        deceives = role == "werewolf"
        seats.append({"game_id": "g", "name": name, "role": role, "deceives": deceives, "fate": fate, "day_out": day})
    return made(votes=rows, seats=seats)


def test_votes_that_counted_and_were_chosen_are_compared_with_the_ballot() -> None:
    frames = voted(
        {"target": "Ben"},  # of a ballot that a revote replaced
        {"target": "Wolf", "ballot": 2},
        {"target": "Ann", "voter": "Ben", "ballot": 2},
        {"target": "Wolf", "voter": "Cy", "ballot": 2, "drawn": True},
        {"target": "Ann", "voter": "Wolf", "ballot": 2},
    )
    (row,) = vote_accuracy(frames).to_dicts()
    assert (row["voter_role"], row["mean"], row["n"], row["games"]) == ("villager", 0.5, 2, 1)
    assert row["chance"] == pytest.approx(1 / 3)


def test_chance_grows_as_players_leave() -> None:
    frames = voted({"target": "Wolf", "day": 2}, Ben=("exiled", 1), Cy=("killed", 3))
    assert vote_accuracy(frames)["chance"].item() == pytest.approx(1 / 2)
    frames = voted({"target": "Wolf", "day": 2}, Ben=("exiled", 1), Cy=("killed", 2))
    assert vote_accuracy(frames)["chance"].item() == pytest.approx(1.0)


@pytest.mark.long
def test_the_printed_accuracy_of_claude_sonnet_4_lies_in_the_interval_of_the_published_games(published: Frames) -> None:
    """Of Grok 3 Mini the paper prints 0.857; in these games, against other models, it is clearly above chance."""
    table = vote_accuracy(published).filter(pl.col("voter_role") == "villager")
    of = {row["model"]: row for row in table.to_dicts()}
    assert of["claude-sonnet-4-20250514"]["lo"] < 0.506 < of["claude-sonnet-4-20250514"]["hi"]
    assert of["grok-3-mini"]["lo"] > 0.7
    assert set(table["chance"]) == {0.5}


ROLES = {"Bob": "mafioso", "Alice": "detective", "Diana": "villager"}


def played(*games: tuple[list[str], str | None, bool], phase: str = "discussion") -> Frames:
    """games: speakers of the statements in order, who had the last turn, whether the mafia won."""
    rows: dict[str, list[dict[str, Any]]] = {"games": [], "seats": [], "statements": [], "votes": []}
    for number, (speakers, last, mafia) in enumerate(games):
        game = {"game_id": f"g{number}", "game": "mini-mafia"}
        rows["games"].append({**game, "last_speaker": last, "winner": "mafia" if mafia else "town"})
        for name, role in ROLES.items():
            rows["seats"].append({**game, "name": name, "role": role, "won": mafia == (role == "mafioso")})
            rows["votes"].append({**game, "ballot": 1, "voter": name, "voter_role": role, "target": "Bob"})
        for at, name in enumerate(speakers):
            said = {"statement_id": f"g{number}:{at}", "phase": "discussion", "position": at + 1, "speaker": name}
            rows["statements"].append({**game, **said})
        if phase != "discussion":
            reason = {"statement_id": f"g{number}:reason", "phase": phase, "position": 9, "speaker": "Bob"}
            rows["statements"].append({**game, **reason})
    return made(**rows)


def lasts(frames: Frames) -> list[str]:
    return last_words(frames).filter("last").sort("game_id")["role"].to_list()


def test_the_last_turn_counts_used_or_not() -> None:
    assert lasts(played((["Bob", "Alice"], "Diana", True), (["Bob", "Alice"], "Alice", True))) == [
        "villager",
        "detective",
    ]


def test_without_turns_on_record_the_last_statement_of_the_discussion_counts() -> None:
    assert lasts(played((["Bob", "Alice"], None, True))) == ["detective"]
    assert lasts(played((["Alice", "Diana"], "Bob", True), phase="voting")) == ["villager"]


def test_statements_that_two_raters_rated_are_heard_once() -> None:
    frames = played((["Bob", "Alice"], None, True))
    twice = pl.concat([frames.statements, frames.statements.with_columns(rater=pl.lit("a judge"))])
    assert last_words(replace(frames, statements=twice)).equals(last_words(frames))


(LAST_WORD,) = ANALYSES_OF_LAST_WORD


def test_rates_and_both_advantages_are_those_of_a_count_by_hand() -> None:
    won = (["Alice"], "Bob", True)
    lost = (["Alice"], "Bob", False)
    other = (["Bob"], "Alice", False)
    frames = played(*[won] * 6, *[lost] * 4, *[other] * 25, *[(["Bob"], "Diana", True)] * 5)
    (row,) = LAST_WORD.found(frames).filter(role="mafioso").to_dicts()
    assert (row["rate_last"], row["games_last"]) == (6 / 10, 10)
    assert (row["rate_not_last"], row["games_not_last"]) == (5 / 30, 30)
    assert row["difference"] == pytest.approx(6 / 10 - 5 / 30)
    assert (row["lo"], row["hi"]) == joined(6 / 10, wilson(6, 10), 5 / 30, wilson(5, 30))
    assert row["advantage"] == pytest.approx(6 / 10 - 11 / 40)


def test_a_role_that_always_speaks_last_has_no_difference() -> None:
    assert LAST_WORD.found(played(*[(["Bob"], "Bob", True)] * 3)).filter(role="mafioso").is_empty()


@pytest.mark.long
def test_the_printed_advantages_lie_in_the_intervals_of_published_games(published: Frames) -> None:
    of = {row["role"]: row for row in LAST_WORD.found(published).to_dicts()}
    for role, printed in (("mafioso", 0.0604), ("detective", 0.0710), ("villager", -0.0099)):
        scale = of[role]["advantage"] / of[role]["difference"]  # the share of games in which it did not speak last
        lo, hi = scale * of[role]["lo"], scale * of[role]["hi"]
        assert lo < printed < hi, role
        assert hi - lo < 0.12, role
