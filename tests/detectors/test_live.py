"""A game followed turn by turn: nothing that comes later changes what was printed; and the reasons of scores."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from liescope.common.errors import UsageError
from liescope.detectors import LoadedDetector, load, score, train
from liescope.detectors.commands import app
from liescope.detectors.examples import examples_of, read_statements
from liescope.detectors.live import live_turns, table
from liescope.detectors.view.candidate import claim_in_words
from liescope.detectors.view.claim_graph import claim_graph
from liescope.detectors.view.transcript import (
    KILLED,
    SAID,
    SILENT,
    VOTED,
    GameMoment,
    Transcript,
    TranscriptTurn,
    read_transcripts,
)
from tests.detectors.test_whole_game import habit

TABLE = {"players": ["Alice", "Bob", "Charlie", "Diana"], "deceivers": 1, "rules": "mini-mafia"}
LINES = [
    json.dumps(TABLE),
    json.dumps({"out": "Diana", "how": "killed"}),
    "Alice: I investigated Bob. He is the mafioso.",
    "bob: calm down, a random rush is wrong, Alice.",
    json.dumps({"speaker": "Charlie", "text": "The evidence is certain: Bob.", "audience": ["Alice", "Charlie"]}),
    json.dumps({"silent": "Alice"}),
    json.dumps({"vote": {"voter": "Alice", "target": "Bob"}}),
]


@pytest.fixture(scope="module")
def models(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = tmp_path_factory.mktemp("live")
    return {kind: train(kind, corpus, out=made / kind, folds=0).model for kind in ("tfidf", "linear")}


@pytest.fixture(params=["tfidf", "linear"])
def model(request: pytest.FixtureRequest, models: dict[str, Path]) -> LoadedDetector:
    return load(models[request.param])


def followed(model: LoadedDetector, lines: list[str]) -> list[dict[str, Any]]:
    game, turns = live_turns(lines, None, lambda number, why: pytest.fail(f"{number}: {why}"))
    return [after.to_json() for after in model.follow(game, turns, reasons=2)]


def test_what_is_said_of_a_turn_does_not_change_with_what_comes_later(model: LoadedDetector) -> None:
    whole = followed(model, LINES)
    assert len(whole) == len(LINES) - 1
    for length in range(1, len(whole) + 1):
        assert followed(model, LINES[: length + 1]) == whole[:length]
    assert [row["score"] is None for row in whole] == [row["kind"] != SAID for row in whole]
    assert "Diana" not in whole[-1]["players"]
    assert list(whole[-1]["players"].values()) == sorted(whole[-1]["players"].values(), reverse=True)


def test_the_suspects_after_the_last_turn_are_those_of_the_game(model: LoadedDetector) -> None:
    game, turns = live_turns(LINES, None, lambda *_: None)
    done = Transcript(game.game_id, game.names, tuple(turns), game.rules, game.deceivers)
    last = followed(model, LINES)[-1]
    assert last["players"] == pytest.approx(dict(model.predict_game(done).players))


def test_a_process_answers_each_line_before_the_next_is_given(models: dict[str, Path]) -> None:
    command = [sys.executable, "-m", "liescope", "score", str(models["linear"]), "--live", "--json"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    answers = []
    for at, line in enumerate([*LINES[:3], "Zoe: hello", *LINES[3:]]):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        if at and not line.startswith("Zoe"):
            answers.append(json.loads(process.stdout.readline()))
    _, wrong = process.communicate()
    assert process.returncode == 0
    assert answers == [row | {"reasons": []} for row in followed(load(models["linear"]), LINES)]
    assert "line 4 is left out: 'Zoe' is not at the table (Alice, Bob, Charlie, Diana)" in wrong


def test_ctrl_c_before_any_line_ends_with_130_a_word_and_no_traceback(models: dict[str, Path]) -> None:
    """A person is told that the command reads, and then gives up."""
    ours, terminal = pty.openpty()
    command = [sys.executable, "-m", "liescope", "score", str(models["linear"])]
    process = subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert "Ctrl-D ends it" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)
    os.close(terminal)
    os.close(ours)
    assert (process.returncode, said) == (130, "")
    assert complained == "interrupted while reading standard input\n"


def test_lines_for_people_fit_the_terminal_and_wrong_ones_are_left_out(models: dict[str, Path]) -> None:
    wrong = [
        "no colon",
        '{"vote": {"voter": "Bob"}}',
        "{broken",
        '{"odd": 1}',
        "Diana: I am dead",
        LINES[0],
        '{"out": "Bob", "how": "bored"}',
    ]
    options = ["--live", "--players", "Alice,Bob,Charlie,Diana", "--deceivers", "1", "--reasons", "2"]
    done = CliRunner().invoke(
        app, ["score", str(models["linear"]), *options], input="\n".join([*LINES[1:], "", *wrong])
    )
    assert done.exit_code == 0, done.output
    shown = done.stdout.splitlines()
    assert max(map(len, shown)) <= 80
    assert [line for line in shown if not line.startswith("    ")][1].startswith("  2  0.")
    assert any(line.startswith("    own: ") or line.startswith("    claims: ") for line in shown)
    complaints = done.stderr.splitlines()
    assert [int(line.split()[1]) for line in complaints] == [*range(8, 15)]
    assert complaints[4] == "line 12 is left out: Diana is out of the game"


@pytest.mark.parametrize(
    "options",
    [
        ["--live"],
        ["--live", "--players", "Ada"],
        ["--live", "--players", "Ada,ada"],
        ["--live", "--players", "Ada,Bo", "--deceivers", "2"],
        ["--live", "--deceivers", "1"],
        ["--players", "Ada,Bo", "some words"],
        ["--live", "some words"],
    ],
)
def test_a_table_that_cannot_be_is_refused(models: dict[str, Path], options: list[str]) -> None:
    done = CliRunner().invoke(app, ["score", str(models["tfidf"]), *options], input="Ada: hello\n")
    assert isinstance(done.exception, UsageError)


def test_days_end_with_a_vote_or_a_death() -> None:
    lines = [
        "Ada: hi",
        '{"out": "Bo", "how": "exiled"}',
        '{"out": "Cy", "how": "killed"}',
        "Di: oh",
        '{"silent":"Ada"}',
    ]
    _, turns = live_turns(lines, table(["Ada", "Bo", "Cy", "Di"]), lambda *_: None)
    assert [turn.day for turn in turns] == [1, 1, 2, 2, 2]


def test_rows_of_a_file_are_seen_as_a_game_by_what_comes_before_them(models: dict[str, Path], corpus: Path) -> None:
    model = load(models["linear"])
    rows = read_statements(corpus, ["test"]).with_columns(deceivers=pl.lit(1)).drop("models")
    found = model.score(rows)["score"].to_list()
    games = read_transcripts(corpus, ["test"])
    said = [
        one
        for game in games.values()
        for one in examples_of(
            GameMoment(
                Transcript(game.game_id, game.names, tuple(turn for _, turn in game.said()), game.rules, game.deceivers)
            ),
            0,
        ).values()
    ]
    expected = dict(zip([one.statement_id for one in said], model.probabilities(said), strict=True))
    assert found == pytest.approx([expected[key] for key in rows["statement_id"]])
    early = model.score(rows.head(4))["score"].to_list()
    assert early == pytest.approx(found[:4])
    assert found != pytest.approx(model.score(rows.drop("game_id"))["score"].to_list())


def test_a_game_is_followed_across_the_windows_of_a_file(
    models: dict[str, Path], corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(models["linear"])
    rows = read_statements(corpus, ["test"]).head(12)
    whole = model.score(rows)["score"].to_list()
    monkeypatch.setattr("liescope.detectors.saved.WINDOW", 5)
    assert model.score(rows)["score"].to_list() == pytest.approx(whole)


def test_who_has_not_spoken_yet_may_be_the_one_who_deceives(models: dict[str, Path]) -> None:
    linear = load(models["linear"])
    row = {"game_id": "a", "speaker": "Ada", "text": "I trust Bo.", "deceivers": 1}
    (alone,) = linear.score([row])["score"]
    assert 0 < alone < 0.9, "the only player known so far is not the deceiver for that"
    four = [linear.score([{**row, name: ["Ada", "Bo", "Cy", "Di"]}])["score"][0] for name in ("names", "alive")]
    assert four[0] == pytest.approx(four[1])
    assert linear.score([{**row, "names": ["Ada"]}])["score"][0] == pytest.approx(1)


@pytest.mark.parametrize("given", ["two", -1, 1.5, True])
def test_a_number_of_deceivers_that_is_none_is_refused(model: LoadedDetector, given: object) -> None:
    with pytest.raises(UsageError, match="give how many players deceive"):
        model.score([{"text": "hello", "game_id": "a", "deceivers": given}])


def test_reasons_stand_in_a_column_and_weigh_most_first(model: LoadedDetector) -> None:
    found = score(model, ["calm down and trust me, a random rush is wrong.", ""], reasons=3)
    first, none = found["reasons"].to_list()
    assert none is None
    weights = [abs(float(reason.rpartition("(")[2].rstrip(")"))) for reason in first]
    assert weights == sorted(weights, reverse=True)
    assert len(weights) == 3


def test_reasons_of_a_statement_add_up_to_its_log_odds(models: dict[str, Path]) -> None:
    detector = load(models["tfidf"]).detector
    (example,) = [load(models["tfidf"]).reader().read(0, "calm down and trust me.").example]
    assert example
    (chance,) = detector.predict_proba([example])[:, 1]
    intercept = float(detector._model["head"].intercept_[0])  # type: ignore[attr-defined]
    odds = intercept + sum(reason.weight for reason in detector.explain([example], 100)[0])
    assert chance == pytest.approx(1 / (1 + 2.718281828459045**-odds))


def test_a_kind_without_reasons_says_which_have_them(corpus: Path, tmp_path: Path) -> None:
    made = load(train("observers", corpus, out=tmp_path / "o", folds=0).model)
    with pytest.raises(UsageError, match="observers gives no reasons for its scores; tfidf, linear and table do"):
        made.score(["hello"], reasons=1)
    with pytest.raises(UsageError, match="no reasons"):
        next(made.follow(table(["Ada", "Bo"]), [TranscriptTurn(SAID, "Ada", "hello")], reasons=1))


def test_every_relation_of_the_claim_graph_has_a_sentence() -> None:
    game, _ = habit(1, Random(1), 2)
    more = (
        TranscriptTurn(KILLED, "Eve"),
        TranscriptTurn(SAID, "Ada", "I am the detective. I investigated Bo. Bo is the mafioso."),
        TranscriptTurn(SAID, "Bo", "I am the detective and Ada is lying. Cy is innocent."),
        TranscriptTurn(SILENT, "Cy"),
        TranscriptTurn(VOTED, "Ada", target="Bo"),
    )
    whole = Transcript("w", game.names, (*game.turns, *more), "mini-mafia", 1)
    graph = claim_graph(whole)
    relations = {one for name in game.names for one in graph.relations(name, focus=len(game.turns) + 1)}
    unsaid = {one for one in relations if claim_in_words(one) == one} - {"others accuse each other"}
    assert not unsaid
    assert [claim_in_words(one) for one in ("length:0", "length:1", "talked:4", "day:3", "day:12")] == [
        "words of the statement: 0",
        "words of the statement: 1",
        "statements before it in its conversation: 8 to 15",
        "it is day 3",
        "it is day 12 or later",
    ]
    assert claim_in_words("about:investigation=evil<seer") == "somebody who claims to be the seer reports it as evil"
