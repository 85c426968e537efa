"""Eval logs: what inspect_ai's own reader finds in them, or where it is not installed, what its layout asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from zipfile import ZipFile

import pytest
from pydantic import BaseModel, ConfigDict, create_model

from liescope.common.errors import BadData
from liescope.generate.exports import export
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from liescope.labeling.label import label_game
from tests.generate.players.openai.stub import Stub, says


def layout(base: type[BaseModel] | None = None, **fields: Any) -> Any:
    """An object of these fields and no others: each a type, or a type and what holds where it is missing."""
    pairs: Any = {name: given if isinstance(given, tuple) else (given, ...) for name, given in fields.items()}
    config = None if base else ConfigDict(extra="forbid")
    return create_model("Layout", __config__=config, __base__=base, **pairs)


# What inspect_ai 0.3.285 declares (`inspect_ai.log.EvalSample`), as far as Liescope fills it
OPTIONAL: tuple[Any, None] = (str | None, None)
ANY: Any = dict[str, Any]
Message = layout(
    **dict.fromkeys(("id", "source", "model"), OPTIONAL), role=str, content=str, metadata=(dict[str, Any] | None, None)
)
Used = layout(
    **dict.fromkeys(("input_tokens", "output_tokens", "total_tokens"), int),
    input_tokens_cache_read=int | None,
    total_cost=float | None,
)
Output = layout(
    model=str,
    choices=list[layout(message=Message, stop_reason=Literal["stop", "unknown"])],
    completion=str,
    usage=(Used | None, None),
    time=(float | None, None),
    response_id=OPTIONAL,
)
Happened = layout(uuid=str, timestamp=str, working_start=float, span_id=OPTIONAL)
Call = layout(
    Happened,
    event=Literal["model"],
    model=str,
    role=str | None,
    input=list[Message],
    tools=list[str],
    tool_choice=Literal["none"],
    config=dict[str, float | int | bool],
    output=Output,
    error=OPTIONAL,
    cache=(Literal["read"] | None, None),
    completed=str,
    working_time=float,
    metadata=ANY,
)
Info = layout(Happened, event=Literal["info"], source=str, data=str)
SpanBegin = layout(Happened, event=Literal["span_begin"], id=str, name=str, type=str)
SpanEnd = layout(Happened, event=Literal["span_end"], id=str)
Score = layout(value=str | float, answer=OPTIONAL, explanation=str, metadata=(dict[str, int] | None, None))
Sample = layout(
    **dict.fromkeys(("id", "input", "started_at", "completed_at", "uuid"), str),
    epoch=Literal[1],
    target=list[str],
    messages=list[Message],
    output=Output,
    scores=dict[str, Score] | None,
    metadata=ANY,
    store=ANY,
    events=list[Info | SpanBegin | SpanEnd | Call],
    model_usage=dict[str, Used],
    role_usage=dict[str, Used],
    total_time=float,
    working_time=float,
    error=(layout(message=str, traceback=str, traceback_ansi=str) | None, None),
    attachments=dict[str, str],
)


def samples(log: Path) -> Iterator[tuple[str, Any]]:
    with ZipFile(log) as kept:
        assert {"header.json", "summaries.json", "_journal/start.json"} <= set(kept.namelist())
        for name in kept.namelist():
            if name.startswith("samples/"):
                yield name, Sample.model_validate_json(kept.read(name))


def test_a_sample_is_a_game_with_every_call_and_what_it_cost(asked: Path, tmp_path: Path) -> None:
    result = export(asked, to="inspect", out=tmp_path / "log")
    found = dict(samples(tmp_path / "log" / "asked.eval"))
    assert result.rows == {"asked": len(found)} == {"asked": 4}
    retried = 0
    with Journal.open(asked) as journal:
        for record in journal.records():
            sample = found[f"samples/{record.game_id}_epoch_1.json"]
            calls = [event for event in sample.events if isinstance(event, Call)]
            made = journal.calls(record.game_id)
            retried += sum(call["attempt"] > 1 for call in made)
            assert sorted((one.metadata["step"], one.metadata["seat"], one.metadata["attempt"]) for one in calls) == [
                (call["step"], call["seat"], call["attempt"]) for call in made
            ]
            assert sum(bool(one.error) for one in calls) == sum(bool(call["problem"]) for call in made)
            assert {one.metadata["prompt"] for one in calls} == {"as it was sent"}
            assert all(f"You are {one.metadata['seat']}, the {one.role}" in one.input[-1].content for one in calls)
            paid = [call for call in made if call["prompt_tokens"] is not None]
            (used,) = sample.model_usage.values()
            assert (used.input_tokens, used.input_tokens_cache_read) == (60 * len(paid), 40 * len(paid))
            assert sum(one.total_tokens for one in sample.role_usage.values()) == used.total_tokens == 110 * len(paid)
            assert sample.target == [seat.name for seat in record.seats if seat.deceives]
            assert sample.scores is not None
            assert record.outcome is not None
            assert sample.scores["winner"].value == record.outcome.winner
            lies = [row.label_claim for row in label_game(record).statements if row.label_claim is not None]
            assert sample.scores["label_claim"].value == pytest.approx(sum(lies) / len(lies))
            assert sample.metadata["settings"]["message_limit"] == "200"
    assert retried


def test_hostile_words_stay_words_and_neither_key_nor_address_is_written(asked: Path, tmp_path: Path) -> None:
    export(asked, to="inspect", out=tmp_path / "log")
    with ZipFile(tmp_path / "log" / "asked.eval") as kept:
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
    calls = [[event for event in sample.events if isinstance(event, Call)] for sample in (paid, again)]
    assert [{one.cache for one in part} for part in calls] == [{None}, {"read"}]
    assert [one.output.completion for one in calls[0]] == [one.output.completion for one in calls[1]]
    assert [sum(used.total_tokens for used in sample.model_usage.values()) for sample in (paid, again)] == [990, 0]
    assert all("They will believe me." in one.metadata["reasoning"] for one in calls[0])
    assert all("They will believe me." not in message.content for message in paid.messages)


def test_the_same_run_gives_the_same_bytes(scripted: Path, tmp_path: Path) -> None:
    logs = []
    for name in ("one", "two"):
        export(scripted, to="inspect", out=tmp_path / name)
        logs.append((tmp_path / name / "scripted.eval").read_bytes())
    assert logs[0] == logs[1]


def test_the_header_counts_what_the_samples_say(scripted: Path, tmp_path: Path) -> None:
    export(scripted, to="inspect", out=tmp_path / "log")
    with ZipFile(tmp_path / "log" / "scripted.eval") as kept:
        header, lines = (json.loads(kept.read(name)) for name in ("header.json", "summaries.json"))
    found = [sample for _, sample in samples(tmp_path / "log" / "scripted.eval")]
    assert header["results"]["total_samples"] == len(lines) == len(found)
    (winner,) = (score for score in header["results"]["scores"] if score["name"] == "winner")
    won = [sample.scores["winner"].value for sample in found if sample.scores]
    assert {team: metric["value"] for team, metric in winner["metrics"].items()} == {
        team: won.count(team) / len(won) for team in won
    }
    rendered = [event.metadata["prompt"] for event in found[0].events if isinstance(event, Call)]
    assert set(rendered) == {"rendered again"}


def test_a_corpus_holds_no_calls_and_is_refused(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(BadData, match="needs the folder of a run"):
        export(corpus, to="inspect", out=tmp_path / "log")
    assert not (tmp_path / "log").exists()


@pytest.mark.skipif(not find_spec("inspect_ai"), reason="inspect_ai is not installed: pip install inspect_ai")
def test_inspect_ai_reads_it_back(asked: Path, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    export(asked, to="inspect", out=tmp_path / "log")
    path = str(tmp_path / "log" / "asked.eval")
    log = read_eval_log(path)
    assert (log.status, log.eval.task, len(log.samples or ())) == ("success", "mini-mafia", 4)
    expected = dict(samples(Path(path)))
    for sample, line in zip(log.samples or (), read_eval_log_sample_summaries(path), strict=True):
        mine = expected[f"samples/{sample.id}_epoch_1.json"]
        assert [event.event for event in sample.events] == [event.event for event in mine.events]
        assert [message.text for message in sample.messages] == [message.content for message in mine.messages]
        assert {name: score.value for name, score in (sample.scores or {}).items()} == {
            name: score.value for name, score in (mine.scores or {}).items()
        }
        assert line.model_usage.keys() == mine.model_usage.keys()
