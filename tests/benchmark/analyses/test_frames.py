"""The frames hold what the games hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import rankdata

from liescope.benchmark.analyses.conditions_of_play import MIXED, PLAYERS
from liescope.benchmark.analyses.frames import SCHEMAS, Frames, load_frames
from liescope.common.errors import BadData
from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Status
from liescope.games.table_rules import START, running_suspicion
from liescope.games.werewolf import JESTER
from tests.benchmark.random_play import judged


def test_every_frame_has_its_schema_with_games_and_without(frames: Frames) -> None:
    nothing = load_frames([])
    for field in fields(Frames):
        assert dict(getattr(frames, field.name).schema) == SCHEMAS[field.name]
        assert dict(getattr(nothing, field.name).schema) == SCHEMAS[field.name]
        assert getattr(nothing, field.name).is_empty()


def test_failed_and_unfinished_games_are_left_out(records: tuple[GameRecord, ...]) -> None:
    broken = [replace(records[0], status=Status.FAILED), replace(records[1], outcome=None), records[2]]
    assert load_frames(broken).games["game_id"].to_list() == [records[2].game_id]


def test_a_row_is_of_the_model_in_its_seat_and_a_mixed_game_has_a_line_up(records: tuple[GameRecord, ...]) -> None:
    game = next(record for record in records if record.game == "mini-mafia")

    def cell(**models: str) -> Frames:
        seats = tuple(replace(seat, model=models[seat.role]) for seat in game.seats)
        return load_frames([replace(game, seats=seats)])

    def names(frames: Frames) -> tuple[str, str]:
        return frames.games["model"].item(), frames.games["lineup"].item()

    assert names(cell(detective="A", mafioso="A", villager="A")) == ("A", "A")
    assert names(cell(detective="A", mafioso="B", villager="A")) == (MIXED, "A | B | A")
    mixed = cell(detective="A", mafioso="B", villager="C")
    assert names(mixed) == (MIXED, "A | B | C")
    models = {"detective": "A", "mafioso": "B", "villager": "C"}
    for frame, role in ((mixed.statements, "speaker_role"), (mixed.votes, "voter_role"), (mixed.seats, "role")):
        assert frame.height
        assert all(model == models[held] for held, model in frame.select(role, "model").iter_rows())


def test_every_event_of_a_kind_is_one_row(frames: Frames, records: tuple[GameRecord, ...]) -> None:
    kinds = Counter(event.kind for record in records for event in record.events)
    assert frames.statements.height == kinds[EventKind.STATEMENT]
    assert frames.votes.height == kinds[EventKind.VOTE]
    assert frames.bids.height == kinds[EventKind.BID]
    assert frames.seats.height == sum(len(record.seats) for record in records)
    acts = Counter(frames.nights["act"])
    assert acts["proposal"] == kinds[EventKind.PROPOSAL]
    assert acts["protection"] == kinds[EventKind.PROTECTION]


def test_statements_of_a_day_are_numbered_through(frames: Frames) -> None:
    days = frames.statements.group_by("game_id", "day").agg(
        pl.col("position").sort(), of=pl.col("statements_of_day").unique()
    )
    for positions, of in days.select("position", "of").iter_rows():
        assert positions == list(range(1, len(positions) + 1))
        assert of == [len(positions)]


def test_fates_agree_with_who_is_left_and_with_the_winner(frames: Frames) -> None:
    seats = frames.seats.join(frames.games.select("game_id", "winner"), on="game_id")
    assert (seats["survived"] == (seats["fate"] == "alive")).all()
    assert (seats["survived"] == seats["day_out"].is_null()).all()
    assert (seats["won"] == (seats["team"] == seats["winner"])).all()
    jesters = seats.filter(pl.col("role") == JESTER)
    assert (jesters["won"] == (jesters["fate"] == "exiled")).all()
    assert set(jesters["fate"]) == {"alive", "killed", "exiled"}


def test_a_kill_fails_exactly_where_its_victim_was_protected(frames: Frames) -> None:
    kills = frames.nights.filter((pl.col("act") == "kill") & pl.col("game").str.contains("werewolf"))
    shields = frames.nights.filter(pl.col("act") == "protection").select("game_id", "day", "target", shield=True)
    told = kills.join(shields, on=["game_id", "day", "target"], how="left")
    assert (told["died"] == told["shield"].is_null()).all()
    assert set(told["died"]) == {True, False}


def test_the_floor_goes_to_one_of_the_highest_bids(frames: Frames) -> None:
    turns = frames.bids.group_by("game_id", "day", "phase", "turn").agg(
        floors=pl.col("floor").sum(),
        highest=pl.col("bid").max(),
        got=pl.col("bid").filter("floor").max(),
    )
    wanted = turns.filter(pl.col("highest") > 0)
    assert (wanted["floors"] == 1).all()
    assert (wanted["got"] == wanted["highest"]).all()


def test_suspicion_rank_is_the_targets_rank_in_the_voters_own_suspicion(
    frames: Frames, records: tuple[GameRecord, ...]
) -> None:
    keys = ["game_id", "day", "ballot", "voter"]
    ranked = frames.votes.join(frames.ranks.select(*keys, "suspicion_rank"), on=keys, how="left", maintain_order="left")
    ranks = ranked.select("game_id", "suspicion_rank")
    checked = 0
    for record in records[1:9]:
        found = iter(ranks.filter(pl.col("game_id") == record.game_id)["suspicion_rank"])
        alive = [seat.name for seat in record.seats]
        opened, running = None, {}
        for event in record.events:
            if event.kind in (EventKind.DEATH, EventKind.EXILE):
                alive.remove(event.target or "")
            if event.kind is not EventKind.VOTE:
                continue
            if opened != (event.day, event.phase):
                opened, running = (event.day, event.phase), running_suspicion(record.events[: event.index])
            others = [name for name in alive if name != event.actor]
            rank = next(found)
            if all((event.actor, name) not in running for name in others):
                assert rank is None
            else:
                values = [-running.get((event.actor or "", name), START) for name in others]
                assert rank == rankdata(values)[others.index(event.target or "")]
                checked += 1
    assert checked > 100


def test_guesses_and_tags_are_those_of_the_records_judge(frames: Frames, records: tuple[GameRecord, ...]) -> None:
    assert set(frames.guesses["game_id"]) == {records[0].game_id}
    survivors = frames.seats.filter((pl.col("game_id") == records[0].game_id) & pl.col("survived"))["name"]
    assert set(frames.guesses["observer"]) <= set(survivors)
    assert (frames.guesses["observer"] != frames.guesses["target"]).all()


def test_two_raters_of_a_game_add_their_opinions_and_not_the_game(records: tuple[GameRecord, ...]) -> None:
    game = records[1]
    both = load_frames([game, judged(game, "one"), judged(game, "two")])
    alone = load_frames([game])
    for name in ("games", "seats", "votes", "nights", "bids"):
        assert_frame_equal(getattr(both, name), getattr(alone, name))
    assert dict(both.statements["rater"].value_counts().rows()) == dict.fromkeys(
        (PLAYERS, "one", "two"), alone.statements.height
    )
    assert set(both.ratings["rater"]) == set(both.ranks["rater"]) == {PLAYERS, "one", "two"}
    with pytest.raises(BadData, match="differ in what happened"):
        load_frames([game, replace(judged(game, "one"), seats=game.seats[::-1])])


def test_a_condition_is_named_by_what_tells_it_from_the_others(records: tuple[GameRecord, ...]) -> None:
    one, two, three = (
        replace(records[n], meta={**records[n].meta, "settings": {"rounds": rounds, "prompts": prompts, "names": "a"}})
        for n, rounds, prompts in ((1, "2", "full"), (2, "8", "full"), (3, "8", "minimal"))
    )
    assert set(load_frames([one]).games["condition"]) == {""}
    assert set(load_frames([one, two]).votes["condition"]) == {"rounds 2", "rounds 8"}
    names = {"prompts full, rounds 2", "prompts full, rounds 8", "prompts minimal, rounds 8"}
    assert set(load_frames([one, two, three]).games["condition"]) == names
    assert set(load_frames([one, two, three], pool=True).games["condition"]) == {""}
