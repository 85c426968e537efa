"""Eval logs: every game with its calls and costs, as inspect_ai's own reader finds them where it is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from liescope.generate.exports import export
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from liescope.labeling.label import label_game
from tests.generate.players.openai.stub import Stub, says


def samples(log: Path) -> Iterator[tuple[str, Any]]:
    with ZipFile(log) as kept:
        assert {"header.json", "summaries.json"} <= set(kept.namelist())
        for name in kept.namelist():
            if name.startswith("samples/"):
                yield name, json.loads(kept.read(name))


def calls_of(sample: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in sample["events"] if event["event"] == "model"]


@pytest.fixture(scope="module")
def log(asked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of the games that a chat model played."""
    result = export(asked, to="inspect", out=tmp_path_factory.mktemp("logs") / "asked")
    assert result.rows == {"asked": 4}
    return result.folder / "asked.eval"


def test_a_sample_is_a_game_with_every_call_and_what_it_cost(asked: Path, log: Path) -> None:
    found = dict(samples(log))
    assert len(found) == 4
    retried = 0
    with Journal.open(asked) as journal:
        for record in journal.records():
            sample = found[f"samples/{record.game_id}_epoch_1.json"]
            told = [(call["metadata"], call) for call in calls_of(sample)]
            made = journal.calls(record.game_id)
            retried += sum(call["attempt"] > 1 for call in made)
            where = ("step", "seat", "attempt")
            assert sorted(tuple(map(about.get, where)) for about, _ in told) == [tuple(map(c.get, where)) for c in made]
            assert sum(bool(call.get("error")) for _, call in told) == sum(bool(call["problem"]) for call in made)
            assert {about["prompt"] for about, _ in told} == {"as it was sent"}
            assert all(f"You are {m['seat']}, the {c['role']}" in c["input"][-1]["content"] for m, c in told)
            paid = [call for call in made if call["prompt_tokens"] is not None]
            (used,) = sample["model_usage"].values()
            assert (used["input_tokens"], used["input_tokens_cache_read"]) == (60 * len(paid), 40 * len(paid))
            assert used["total_tokens"] == 110 * len(paid)
            assert sample["target"] == [seat.name for seat in record.seats if seat.deceives]
            assert sample["scores"]["winner"]["value"] == record.outcome.winner
            lies = [row.label_claim for row in label_game(record).statements if row.label_claim is not None]
            assert sample["scores"]["label_claim"]["value"] == pytest.approx(sum(lies) / len(lies))
            assert sample["metadata"]["settings"]["message_limit"] == "200"
    assert retried


def test_hostile_words_stay_words_and_neither_key_nor_address_is_written(log: Path) -> None:
    with ZipFile(log) as kept:
        text = b"".join(kept.read(name) for name in kept.namelist()).decode()
    assert "<img src=x onerror=alert(1)>" in text
    for secret in ("sk-not-to-be-written", "127.0.0.1", "http://"):
        assert secret not in text


def test_what_came_from_a_reply_cache_is_marked_and_not_counted_and_reasoning_stands_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = Stub(lambda request, number: says('"I am the detective."', reasoning_content="They will believe me."))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-stand-in-0123456789")
    for name in ("paid", "again"):
        run = play(
            "mini-mafia", players=[f"openai:m@{stub.url}"], games=1, out=tmp_path / name, cache=tmp_path / "kept"
        )
        export(run.folder, to="inspect", out=tmp_path / f"log-{name}")
    stub.close()
    ((_, paid),), ((_, again),) = (samples(tmp_path / f"log-{name}" / f"{name}.eval") for name in ("paid", "again"))
    calls = [calls_of(sample) for sample in (paid, again)]
    assert [{one.get("cache") for one in part} for part in calls] == [{None}, {"read"}]
    assert [one["output"]["completion"] for one in calls[0]] == [one["output"]["completion"] for one in calls[1]]
    used = [sum(one["total_tokens"] for one in sample["model_usage"].values()) for sample in (paid, again)]
    assert used == [990, 0]
    assert all("They will believe me." in one["metadata"]["reasoning"] for one in calls[0])
    assert all("They will believe me." not in message["content"] for message in paid["messages"])


def test_the_same_run_gives_the_same_bytes_and_the_header_counts_its_samples(scripted: Path, tmp_path: Path) -> None:
    one, two = (export(scripted, to="inspect", out=tmp_path / name).folder / "scripted.eval" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    with ZipFile(one) as kept:
        header, lines = (json.loads(kept.read(name)) for name in ("header.json", "summaries.json"))
    found = [sample for _, sample in samples(one)]
    assert header["results"]["total_samples"] == len(lines) == len(found)
    (winner,) = (score for score in header["results"]["scores"] if score["name"] == "winner")
    won = [sample["scores"]["winner"]["value"] for sample in found]
    assert {team: metric["value"] for team, metric in winner["metrics"].items()} == {
        team: won.count(team) / len(won) for team in won
    }
    assert {call["metadata"]["prompt"] for call in calls_of(found[0])} == {"rendered again"}


@pytest.mark.skipif(not find_spec("inspect_ai"), reason="inspect_ai is not installed: pip install inspect_ai")
def test_inspect_ai_reads_it_back(log: Path) -> None:
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    path = str(log)
    told = read_eval_log(path)
    assert (told.status, told.eval.task, len(told.samples or ())) == ("success", "mini-mafia", 4)
    expected = dict(samples(log))
    for sample, line in zip(told.samples or (), read_eval_log_sample_summaries(path), strict=True):
        mine = expected[f"samples/{sample.id}_epoch_1.json"]
        assert [event.event for event in sample.events] == [event["event"] for event in mine["events"]]
        assert [message.text for message in sample.messages] == [message["content"] for message in mine["messages"]]
        scores = {name: score.value for name, score in sample.scores.items()}
        assert scores == {name: score["value"] for name, score in mine["scores"].items()}
        assert line.model_usage.keys() == mine["model_usage"].keys()
