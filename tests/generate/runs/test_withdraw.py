"""Words that are withdrawn are gone: from the journal's files, from its records, and from what is built afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import liescope
from liescope import cli
from liescope.common.errors import UnknownName, UsageError
from liescope.games.core import EventKind
from liescope.games.withdrawal import WITHDRAWN
from liescope.generate.runs.journal import Journal
from tests.generate.players.openai.stub import Request, Stub, says
from tests.generate.runs.fakes import records
from tests.generate.runs.people import FOX, HELD, MARK, OTTER, play_with_people, table


def held(run: Path) -> bytes:
    """Every byte of a run's folder."""
    return b"".join(file.read_bytes() for file in sorted(run.rglob("*")) if file.is_file())


def kept_requests(run: Path) -> list[str]:
    """What the journal keeps of every request."""
    with Journal.open(run) as journal:
        asked = [(game, call["step"], call["seat"]) for game in journal.game_ids() for call in journal.calls(game)]
        return [json.dumps(one.body) for place in asked for one in journal.requests(*place)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    play_with_people(table(), tmp_path / "table-1")
    return tmp_path / "table-1"


@pytest.fixture
def stub(serve_stub: Callable[..., Stub]) -> Stub:
    def answer(request: Request, _: int) -> object:
        body = json.dumps(request.body)
        if "response_format" in request.body:
            return says('{"deceptive": false, "type": "none", "confidence": 0.5, "suspicion": 0.5, "reason": "so"}')
        return says("Bob" if "vote" in body.lower() else "I trust nobody.")

    return serve_stub(answer)


def test_no_byte_of_the_words_is_left_in_the_folder(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    seats = {**HELD, "Bob": "scripted:novice", "Charlie": f"openai:gpt@{stub.url}"}
    run = tmp_path / "table-1"
    assert play_with_people(table(held=seats), run).done == 1
    assert MARK.encode() in held(run)
    assert OTTER.encode() in held(run)
    assert any(MARK in sent for sent in kept_requests(run)), "no model read what people wrote"
    done = liescope.withdraw(run, OTTER)
    assert done.name == "withdrawn-1"
    assert done.statements > 0
    assert MARK.encode() not in held(run)
    assert OTTER.encode() not in held(run)
    assert not any(MARK in sent for sent in kept_requests(run))  # packed, so that the bytes would not tell


def test_who_did_what_stays(run: Path) -> None:
    before, done = records(run)[0], liescope.withdraw(run, OTTER)
    after = records(run)[0]
    assert (after.game_id, after.outcome, len(after.events)) == (before.game_id, before.outcome, len(before.events))
    assert [seat.role for seat in after.seats] == [seat.role for seat in before.seats]
    said = [event for event in after.events if event.kind is EventKind.STATEMENT and event.actor == "Alice"]
    assert {event.text for event in said} == {WITHDRAWN}
    assert after.meta["withdrawn"] == {"Alice": len(said)}
    assert done.statements == len(said)
    for old, new in zip(before.events, after.events, strict=True):
        assert (old.kind, old.actor, old.target, old.fallback) == (new.kind, new.actor, new.target, new.fallback)
        if old.actor != "Alice":
            assert new == old
        elif "assessment" in old.data:
            assert new.data["assessment"] == {**old.data["assessment"], "reason": ""}


def test_a_corpus_lacks_the_statements_and_says_how_many(run: Path, tmp_path: Path) -> None:
    whole = liescope.build(run, out=tmp_path / "before")
    done = liescope.withdraw(run, OTTER)
    built = liescope.build(run, out=tmp_path / "after")
    kept = whole.statements.filter(pl.col("speaker") != "Alice")
    assert built.statements.drop("speaker_model", "position").equals(kept.drop("speaker_model", "position"))
    assert done.statements == whole.statements.height - kept.height == built.facts.withdrawn
    assert built.games["statements"].to_list() == [kept.height]
    assert f"{done.statements} statements" in (tmp_path / "after" / "README.md").read_text("utf-8")
    assert whole.facts.withdrawn == 0
    assert not any(MARK in text for text in built.read("ratings").filter(pl.col("observer") == "Alice")["reason"])


def test_both_people_may_go_and_doing_it_again_does_no_harm(run: Path) -> None:
    first, second = liescope.withdraw(run, OTTER), liescope.withdraw(run, FOX)
    assert (first.name, second.name) == ("withdrawn-1", "withdrawn-2")
    before = records(run)[0]
    assert liescope.withdraw(run, "withdrawn-1").statements == first.statements
    assert records(run)[0] == before
    assert MARK.encode() not in held(run)
    with pytest.raises(UnknownName, match="withdrawn-1"):
        liescope.withdraw(run, OTTER)


def test_such_a_game_is_not_made_again(run: Path, tmp_path: Path) -> None:
    liescope.withdraw(run, OTTER)
    with pytest.raises(UsageError, match="withdrew their words"):
        liescope.fork(run, "0", 2, players=["scripted:bold"], others="scripted:bold", out=tmp_path / "fork")


def test_runs_made_of_it_are_withdrawn_from_one_by_one(run: Path, tmp_path: Path) -> None:
    judged, forked = tmp_path / "judged", tmp_path / "forked"
    liescope.label(run, "scripted:bold", out=judged)
    liescope.fork(run, "0", 2, players=["scripted:bold"], others="scripted:bold", times=1, out=forked)
    assert f"I, {OTTER}".encode() in held(judged)
    liescope.withdraw(judged, OTTER)
    assert f"I, {OTTER}".encode() not in held(judged)
    assert records(judged)[0].meta["withdrawn"]
    assert cli.main(["show", str(judged), "0"]) == 0
    with pytest.raises(UsageError, match="delete the folder"):
        liescope.withdraw(forked, OTTER)


def test_what_a_judge_said_in_a_seat_is_not_the_words_of_who_sat_there(run: Path, tmp_path: Path) -> None:
    liescope.label(run, "scripted:bold", out=tmp_path / "judged")
    before = records(tmp_path / "judged")[0]
    liescope.withdraw(tmp_path / "judged", OTTER)
    pairs = zip(before.events, records(tmp_path / "judged")[0].events, strict=True)
    judged = [(old, new) for old, new in pairs if old.actor == "Alice" and "judge" in old.data]
    assert any(old.data.get("assessment", {}).get("reason") for old, _ in judged)
    assert all(new.data == old.data for old, new in judged)


def test_a_game_under_way_goes_as_a_whole(tmp_path: Path) -> None:
    run = tmp_path / "table-1"
    play_with_people(table(), run, answers=5)
    assert MARK.encode() in held(run)
    assert liescope.withdraw(run, OTTER).dropped == 1
    assert MARK.encode() not in held(run)
    assert OTTER.encode() not in held(run)


def test_a_run_that_is_written_to_is_left_alone(run: Path) -> None:
    before = held(run)
    with Journal.open(run, write=True), pytest.raises(UsageError, match=r"another process|already"):
        liescope.withdraw(run, OTTER)
    assert records(run)[0].seat("Alice").model == OTTER
    assert MARK.encode() in before


def test_the_command_says_what_went(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["withdraw", str(run), OTTER, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "withdrawn-1"
    assert cli.main(["withdraw", str(run), FOX]) == 0
    assert "is now withdrawn-2" in capsys.readouterr().out
