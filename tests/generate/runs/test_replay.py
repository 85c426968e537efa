"""Recorded seats at a live table: word for word until another player makes a difference, and marked from then on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope import cli
from liescope.common.errors import BadData, PlanChanged, UnknownName, UsageError
from liescope.games.core import EventKind
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord, Status
from liescope.generate.players.replay import OFF
from liescope.generate.runs.journal import Journal
from tests.generate.players.openai.stub import Request, Stub, says
from tests.generate.runs.fakes import FakeEndpoint

TABLES: dict[str, dict[str, Any]] = {
    "mini-mafia": {"assess": True, "assess_share": 0.5},
    "werewolf": {"assess": True, "debate_turns": 2, "defence_turns": 1, "villagers": 4},
}


def records(run: Path) -> list[GameRecord]:
    with Journal.open(run) as journal:
        return list(journal.records())


@pytest.fixture
def server() -> Iterator[Stub]:
    def answer(request: Request, number: int) -> Any:
        if "response_format" in request.body:
            return says(json.dumps({"deceptive": False, "type": "none", "confidence": 0.7, "suspicion": 0.3}))
        return says(f'"Statement {number} of a model, about Alice."')

    stub = Stub(answer)
    yield stub
    stub.close()


@pytest.mark.parametrize("game", list(GAMES))
def test_a_table_of_recorded_seats_plays_the_recorded_games_again(game: str, run: Path, tmp_path: Path) -> None:
    """Whatever part of the statements is assessed: which, depends on a game's id."""
    options = TABLES.get(game, {})
    liescope.play(game, players=["scripted:bold", "scripted:novice"], design="self", games=2, out=run, **options)
    again = tmp_path / "again"
    result = liescope.play(game, players=[f"replay:{run}"], design="self", games=4, out=again, **options)
    assert result.complete
    measured = {EventKind.SELF_REPORT, EventKind.RATING}

    def told(one: GameRecord) -> list[tuple[Any, ...]]:
        return [(e.kind, e.actor, e.target, e.text, e.day) for e in one.events if e.kind not in measured]

    for one, other in zip(records(run), records(again), strict=True):
        assert told(one) == told(other)
        assert one.outcome == other.outcome
        assert [f"{seat.model} (replayed)" for seat in one.seats] == [seat.model for seat in other.seats]
        assert [seat.source for seat in one.seats] == [seat.source for seat in other.seats]
        assert (other.meta["replayed"], other.seed) == (one.game_id, one.seed)
        assert not any(OFF in e.data.get("notes", ()) for e in other.events if e.kind not in measured)


def test_a_seat_is_on_the_record_until_somebody_else_makes_a_difference(run: Path, tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=6, out=run)
    seats = ["mafioso=scripted:novice", f"detective=replay:{run}", f"villager=replay:{run}"]
    liescope.play("mini-mafia", seats=seats, games=6, out=tmp_path / "mixed")
    marked = []
    for one, other in zip(records(run), records(tmp_path / "mixed"), strict=True):
        differs = False
        theirs = {(e.actor, e.day, e.round): e.text for e in one.events if e.kind is EventKind.STATEMENT}
        for event in other.events:
            if event.kind is not EventKind.STATEMENT:
                continue
            recorded = theirs[event.actor, event.day, event.round]
            if other.seat(event.actor or "").role == "mafioso":
                differs |= event.text != recorded
            else:
                assert event.text == recorded
                assert (OFF in event.data.get("notes", ())) is differs
                marked.append(differs)
    assert {False, True} <= set(marked)


def test_what_is_only_measured_may_differ(run: Path, tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=3, assess=True, out=run)
    words: dict[str, Any] = {"seats": ["mafioso=scripted:novice"], "players": [f"replay:{run}"], "games": 3}
    liescope.play("mini-mafia", **words, out=tmp_path / "one")
    assert len(records(tmp_path / "one")) == 3


def test_then_takes_over_where_the_record_ends(run: Path, endpoint: FakeEndpoint, tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["fake:a"], games=4, out=run)
    endpoint.asked.clear()
    seats = ["mafioso=fake:b", f"detective=replay:{run}?then=fake:c", f"villager=replay:{run}?then=fake:c"]
    liescope.play("mini-mafia", seats=seats, games=4, out=tmp_path / "mixed")
    for one in records(tmp_path / "mixed"):
        models = {seat.role: seat.model for seat in one.seats}
        assert models == {"mafioso": "b", "detective": "a (replayed, then c)", "villager": "a (replayed, then c)"}
        assert not any(OFF in event.data.get("notes", ()) for event in one.events)
    asked = Counter(game for game, _, _ in endpoint.asked)
    with Journal.open(tmp_path / "mixed") as journal:
        assert all(count <= len(journal.answers(game)) for game, count in asked.items())
        assert sum(len(journal.answers(game)) for game in asked) > len(endpoint.asked)


def test_kinds_of_players_sit_side_by_side(run: Path, server: Stub, tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=3, assess=True, out=run)
    seats = [f"mafioso=openai:tiny@{server.url}", f"detective=replay:{run}?then=scripted:steady"]
    mixed = tmp_path / "mixed"
    words: dict[str, Any] = {"seats": seats, "players": ["scripted:novice"], "games": 3, "assess": True, "out": mixed}
    assert liescope.play("mini-mafia", **words).complete
    asked = len(server.requests)
    for one in records(mixed):
        found = {seat.role: (seat.model, seat.source.value) for seat in one.seats}
        assert found == {
            "mafioso": ("tiny", "model"),
            "detective": ("scripted:bold (replayed, then scripted:steady)", "scripted"),
            "villager": ("scripted:novice", "scripted"),
        }
    cells = tmp_path / "cells.csv"
    cells.write_text(
        "villager,mafioso,detective\n"
        f"scripted:novice,openai:tiny@{server.url},replay:{run}?then=scripted:steady\n"
        f"replay:{run},scripted:bold,openai:tiny@{server.url}\n",
        encoding="utf-8",
    )
    assert liescope.play("mini-mafia", cells=cells, games=2, out=tmp_path / "listed", assess=True).complete
    assert liescope.play("mini-mafia", **words).tally.before == 3
    assert asked < len(server.requests)
    games = liescope.build([run, mixed, tmp_path / "listed"], out=tmp_path / "corpus").games
    families = games.select("split", key=games["siblings"].fill_null(games["game_id"])).unique()
    assert families["key"].n_unique() == families.height == 3


def test_recorded_seats_can_go_on_in_a_fork(run: Path, tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=1, out=run)
    result = liescope.fork(run, "0", 0, say=["Hello."], others=f"replay:{run}", times=3, out=tmp_path / "fork")
    assert result.tally.done + result.tally.failed == 3
    for one in records(tmp_path / "fork"):
        said = [
            event
            for event in one.events
            if event.kind is EventKind.STATEMENT and "replayed" in one.seat(event.actor or "").model
        ]
        assert all(OFF in event.data["notes"] for event in said)


def test_an_ask_that_the_recording_does_not_answer_fails_clearly(run: Path, tmp_path: Path) -> None:
    """With a vote for a player who died in the other game."""
    table = {"villagers": 3, "mafiosos": 1, "detectives": 1}
    liescope.play("mafia", players=["scripted:bold"], games=8, out=run, **table)
    seats = ["mafioso=scripted:novice", f"detective=replay:{run}", f"villager=replay:{run}"]
    result = liescope.play("mafia", seats=seats, games=8, out=tmp_path / "mixed", **table)
    failed = [one for one in records(tmp_path / "mixed") if one.status is Status.FAILED]
    assert failed
    assert len(failed) == result.tally.failed
    for one in failed:
        assert "gave no reply in the recording that fits this" in one.failure
        assert "?then=SPEC" in one.failure


@pytest.mark.parametrize(
    ("spec", "options", "error", "words"),
    [
        ("replay:", {}, UsageError, "named as replay:runs/NAME"),
        ("replay:{run}?than=x", {}, UsageError, "named as replay:runs/NAME"),
        ("replay:{run}/none", {}, BadData, "holds no run"),
        ("replay:{run}", {"rounds": 3}, UsageError, "was played with rounds 2, and this plan has 3"),
        ("replay:{run}", {"games": 9}, UsageError, "holds 2 finished games; ask for --games 2"),
        ("replay:{run}?then=openai:m@http://localhost:1/v1", {}, UsageError, "a seat has one source"),
        ("replay:{run}?then=scripted:bald", {}, UnknownName, "unknown scripted player"),
    ],
)
def test_a_recording_that_does_not_fit_is_refused(
    run: Path, tmp_path: Path, spec: str, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=2, out=run)
    with pytest.raises(error, match=words):
        liescope.play("mini-mafia", players=[spec.format(run=run)], **{"games": 2, "out": tmp_path / "x", **options})
    assert not (tmp_path / "x").exists()


def test_runs_that_were_not_played_from_the_start_are_no_recordings(run: Path, tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=1, out=run)
    fork = liescope.fork(run, "0", 0, times=1, out=tmp_path / "fork").folder
    judged = liescope.label(run, "scripted:bold", roles=True, out=tmp_path / "judged").folder
    for folder in (fork, judged):
        with pytest.raises(BadData, match="no games that were played from their start"):
            liescope.play("mini-mafia", players=[f"replay:{folder}"], games=1, out=tmp_path / "x")


def test_another_recording_is_another_plan_and_a_damaged_one_an_error(run: Path, tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=2, out=run)
    words: dict[str, Any] = {"players": [f"replay:{run}"], "design": "self", "games": 2, "out": tmp_path / "x"}
    liescope.play("mini-mafia", **words)
    shutil.rmtree(run)
    liescope.play("mini-mafia", players=["scripted:bold"], games=2, seed=1, out=run)
    with pytest.raises(PlanChanged, match="recorded"):
        liescope.play("mini-mafia", **words)
    data = bytearray((run / "journal.sqlite").read_bytes())
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    (run / "journal.sqlite").write_bytes(data[: len(data) - 4096])
    with pytest.raises(BadData):
        liescope.play("mini-mafia", **(words | {"out": tmp_path / "y"}))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seat", "mafioso"], "--seat takes ROLE=PLAYER"),
        (["--seat", "don=scripted:bold"], "unknown role 'don'"),
        (["--seat", "mafioso=scripted:bold", "--seat", "mafioso=scripted:novice"], "names the mafioso twice"),
        (["--seat", "mafioso=scripted:bold", "--design", "self"], "--seat makes one table"),
        (["--seat", "mafioso=scripted:bold", "--cells", "x.csv"], "a file of cells says who plays what"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(
    words: list[str], message: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["play", "mini-mafia", *words, "--out", str(run)]) == 1
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_table_named_role_by_role_resumes_from_its_config(run: Path) -> None:
    words = [
        "play",
        "mini-mafia",
        "--seat",
        "mafioso=scripted:bold?m=1.5",
        "--player",
        "scripted:novice",
        "--games",
        "2",
    ]
    assert cli.main([*words, "--out", str(run)]) == 0
    assert cli.main(["play", "--config", str(run / "run.toml")]) == 0
    assert {seat.model for one in records(run) for seat in one.by_role("detective")} == {"scripted:novice"}
    assert len(records(run)) == 2
