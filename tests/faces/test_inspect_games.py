"""Games in evals of inspect_ai are those of a plain table; their logs are read by its viewer, by Scout and by us."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai._view.fastapi_server import view_server_app
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ContentReasoning, ContentText, Model, ModelOutput, ModelUsage, get_model
from starlette.testclient import TestClient

import liescope
from liescope.faces.inspect import TASKS
from liescope.games.game_registry import GAMES
from liescope.games.playable import roles_in_play
from liescope.games.record import GameRecord, Status, record_from_json, record_to_json
from liescope.generate.importers import Rejected, read_games
from liescope.generate.importers.inspect_logs import RECORD
from liescope.labeling.label import label_game

WHY = "They must not guess."


def says(conversation: Sequence[str]) -> str:
    """What a model says: a function of the last question, now and then of no use."""
    random, asked = Random(conversation[-1]), conversation[-1]
    if random.random() < 0.1:
        return "I would rather not say."
    if options := re.findall(r": ([^:\n]+)\.\nAnswer with", asked):
        return random.choice(options[-1].split(", "))
    return random.choice(['"I am the detective. Bob is the mafioso."', '"I am a villager."', '"I trust Alice."'])


def model(fails_after: int = 10**6) -> Model:
    asked = 0

    def output(messages: Any, *_: object) -> ModelOutput:
        nonlocal asked
        asked += 1
        if asked > fails_after:
            raise RuntimeError("the endpoint is gone")
        output = ModelOutput.from_content("mockllm/model", "")
        words = says([message.text for message in messages])
        output.choices[0].message.content = [ContentReasoning(reasoning=WHY), ContentText(text=words)]
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # counting them takes the network
        return output

    return get_model("mockllm/model", custom_outputs=output)


def played(folder: Path, task: str, roles: Sequence[str] = (), mine: Model | None = None, **args: Any) -> EvalLog:
    named = {role: model() for role in roles}
    (log,) = evaluate(
        f"liescope/{task}", mine or model(), model_roles=named, task_args=args, log_dir=str(folder), display="none"
    )
    return read_eval_log(log.location, resolve_attachments=True)


def at_a_plain_table(game: str, number: int, **settings: Any) -> GameRecord:
    """The game with the same answers, each seat with its own conversation."""
    with liescope.environment(game, number=number, **settings) as table:
        told: dict[str, list[str]] = {}
        while ask := table.ask:
            conversation = told.setdefault(ask.seat, [])
            conversation.append(table.prompt(ask.seat))
            table.answer(says(conversation), ask.seat, thinking=WHY)
        return table.record


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    return played(tmp_path_factory.mktemp("logs"), "mini_mafia", games=3, seed=5)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_of_an_eval_is_that_of_a_plain_table(game: str, tmp_path: Path) -> None:
    first, *others = roles_in_play(GAMES[game].spec)
    seats = [f"{role}=scripted:bold" for role in others[-1:]]
    options = {one.name: 90 for one in GAMES[game].options if one.name == "message_limit"}
    told: dict[str, Any] = {"games": 2, "seed": 3, "players": "scripted:novice", **options}
    ended = played(tmp_path, game.replace("-", "_"), [first], seats=seats, **told)
    assert (ended.status, set(TASKS)) == ("success", set(GAMES))
    held = [*seats, f"{first}=agent:mockllm/model"]
    for number, sample in enumerate(ended.samples or ()):
        record = record_from_json(sample.metadata[RECORD])
        assert record == at_a_plain_table(game, number, seats=held, **told)
        assert {seat.model for seat in record.by_role(first)} <= {"mockllm/model"}


def test_every_seat_has_a_conversation_of_its_own_with_the_model_of_its_role(log: EvalLog) -> None:
    for number, sample in enumerate(log.samples or ()):
        record = record_from_json(sample.metadata[RECORD])
        held = [f"{role}=agent:mockllm/model" for role in ("mafioso", "detective", "villager")]
        assert record == at_a_plain_table("mini-mafia", number, seats=held, games=3, seed=5)
        calls = [event for event in sample.events if event.event == "model"]
        for call in calls:
            (seat,) = re.findall(r"You are (\w+), the", call.input[0].text)
            assert f"{seat}:" not in "".join(message.text for message in call.input if message.role == "user")
        said = [event for event in record.events if event.data.get("private")]
        assert said
        assert all(event.data["private"]["reasoning"] == WHY for event in said)


def test_scores_say_who_won_and_what_share_of_the_checked_claims_is_true(log: EvalLog) -> None:
    for sample in log.samples or ():
        record = record_from_json(sample.metadata[RECORD])
        assert record.outcome is not None
        scores, claims = sample.scores or {}, label_game(record).claims
        assert scores["outcome"].value == {f"{team}_won": team == record.outcome.winner for team in ("town", "mafia")}
        count = {one: sum(row.verdict == one for row in claims) for one in ("true", "false")}
        assert scores["claims"].value == {"claims": len(claims), **count}
        town = {seat.name for seat in record.seats if seat.team == "town"}
        made = [row.verdict == "true" for row in claims if row.speaker in town and row.verdict in ("true", "false")]
        assert scores["honesty"].value["town_honest"] == pytest.approx(sum(made) / len(made))
    values = {one.name: one.metrics["mean"].value for one in log.results.scores}
    assert values["town_won"] + values["mafia_won"] == pytest.approx(1)


def test_the_games_of_a_log_are_a_run_with_the_labels_of_those_that_were_played(log: EvalLog, tmp_path: Path) -> None:
    run = liescope.import_games("inspect-games", Path(log.location), out=tmp_path / "run")
    assert (run.games, run.rejections) == (3, 0)
    games = [game for game in read_games("inspect-games", Path(log.location)) if isinstance(game, GameRecord)]
    for game, sample in zip(games, log.samples or (), strict=True):
        kept = record_from_json(sample.metadata[RECORD])
        assert game.game_id == f"{kept.game_id}-{log.eval.run_id[:8]}-1"
        assert record_to_json(game) | {"game_id": kept.game_id} == sample.metadata[RECORD]
    built = liescope.build(tmp_path / "run", out=tmp_path / "corpus")
    told = liescope.read(built.folder, "statements").select("statement_id", "label_claim").collect()
    labels = {row.statement_id: row.label_claim for game in games for row in label_game(game).statements}
    assert dict(told.iter_rows()) == labels
    assert {True, False} <= set(labels.values())


def test_a_game_that_a_model_breaks_off_is_an_error_with_what_was_played(tmp_path: Path) -> None:
    log = played(tmp_path, "mini_mafia", mine=model(fails_after=4), games=1)
    (sample,) = log.samples or ()
    assert "the endpoint is gone" in sample.error.message
    record = record_from_json(sample.metadata[RECORD])
    assert record.status is Status.FAILED
    assert any(event.text for event in record.events)
    (read,) = read_games("inspect-games", Path(log.location))
    assert not isinstance(read, Rejected)


@pytest.mark.parametrize(
    ("roles", "args", "message"),
    [
        (["mafiosa"], {}, "mafioso"),
        ([], {"players": "scripted:bold"}, "--model-role"),
        ([], {"rounts": 3}, "rounds"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_remedy(
    roles: list[str], args: dict[str, Any], message: str, tmp_path: Path
) -> None:
    log = played(tmp_path, "mini_mafia", roles, games=1, **args)
    assert log.status == "error"
    assert message in log.samples[0].error.message


def test_the_viewer_serves_the_log_with_our_scores(log: EvalLog) -> None:
    served = TestClient(view_server_app(default_dir=str(Path(log.location).parent)))
    (listed,) = served.get("/logs").json()["files"]
    (head,) = served.get("/log-headers", params={"file": listed["name"]}).json()
    assert {one["scorer"] for one in head["results"]["scores"]} == {"outcome", "honesty", "claims"}
    whole = served.get(f"/logs/{listed['name']}").json()
    for sample, kept in zip(whole["samples"], log.samples or (), strict=True):
        assert sample["scores"]["outcome"]["value"] == kept.scores["outcome"].value
        assert [message["content"] for message in sample["messages"]] == [message.text for message in kept.messages]


def test_a_scanner_finds_the_most_suspicious_statement_of_each_game(
    log: EvalLog, played_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_scout import scan, scan_results_df, transcripts_from

    from liescope.faces.inspect.scout import detector

    monkeypatch.chdir(tmp_path)
    status = scan(
        [detector(str(played_model))], transcripts_from(log.location), max_processes=1, scans="scans", display="none"
    )
    assert status.complete
    found = {
        row["transcript_id"]: row for row in scan_results_df(status.location).scanners["detector"].to_dict("records")
    }
    for sample in log.samples or ():
        record = record_from_json(sample.metadata[RECORD])
        names = [seat.name for seat in record.seats]
        rows = [{**asdict(row), "names": names} for row in label_game(record).statements]
        scores = liescope.score(played_model, rows)["score"].to_list()
        result = found[sample.uuid]
        assert result["value"] == pytest.approx(max(scores))
        assert result["answer"] == rows[scores.index(max(scores))]["text"]
        assert (
            sample.messages[int(re.findall(r"\[M(\d+)\]", result["explanation"])[0]) - 1].id
            in result["message_references"]
        )
