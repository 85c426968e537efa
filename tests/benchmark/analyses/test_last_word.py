"""The last word: who had it, in which games it counts, and what its advantages are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from liescope.benchmark.analyses.frames import Frames, load_frames
from liescope.benchmark.analyses.votes import ADVANTAGE, GAIN, LAST, NOT_LAST, last_word, last_words
from liescope.common.statistics import newcombe
from tests.benchmark.analyses.made import made
from tests.benchmark.random_play import mini_mafia, werewolf

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


def test_rates_and_both_advantages_are_those_of_a_count_by_hand() -> None:
    won = (["Alice"], "Bob", True)
    lost = (["Alice"], "Bob", False)
    other = (["Bob"], "Alice", False)
    frames = played(*[won] * 6, *[lost] * 4, *[other] * 25, *[(["Bob"], "Diana", True)] * 5)
    table = last_word(frames).filter(pl.col("role") == "mafioso")
    of = {row["measure"]: row for row in table.to_dicts()}
    assert (of[LAST]["wins"], of[LAST]["games"]) == (6, 10)
    assert (of[NOT_LAST]["wins"], of[NOT_LAST]["games"]) == (5, 30)
    assert of[GAIN]["rate"] == pytest.approx(6 / 10 - 5 / 30)
    assert (of[GAIN]["lo"], of[GAIN]["hi"]) == newcombe(6, 10, 5, 30)
    assert of[ADVANTAGE]["rate"] == pytest.approx(6 / 10 - 11 / 40)
    assert of[ADVANTAGE]["lo"] == pytest.approx(0.75 * of[GAIN]["lo"])


def test_a_role_that_always_speaks_last_has_no_difference() -> None:
    table = last_word(played(*[(["Bob"], "Bob", True)] * 3))
    assert table.filter(pl.col("role") == "mafioso")["measure"].to_list() == [LAST, "all games"]


def test_random_games_have_one_last_word_each_and_only_roles_that_voted() -> None:
    frames = load_frames([*(mini_mafia("a", seed) for seed in range(8)), *(werewolf("a", seed) for seed in range(3))])
    words = last_words(frames)
    assert words.group_by("game_id").agg(pl.col("last").sum())["last"].to_list() == [1] * 11
    last_day = pl.col("day") == pl.col("day").max().over("game_id")
    voted = frames.votes.filter(last_day).select("game_id", role="voter_role").unique()
    assert words.join(voted, on=["game_id", "role"], how="anti").is_empty()


@pytest.mark.long
def test_the_printed_advantages_lie_in_the_intervals_of_published_games(published: Frames) -> None:
    advantages = last_word(published).filter(pl.col("measure") == ADVANTAGE)
    of = {role: bounds for role, *bounds in advantages.select("role", "lo", "hi").iter_rows()}
    for role, printed in (("mafioso", 0.0604), ("detective", 0.0710), ("villager", -0.0099)):
        lo, hi = of[role]
        assert lo < printed < hi, role
        assert hi - lo < 0.12, role
