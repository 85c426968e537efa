"""A chat model as a kind of detector, over a real server on loopback: trained, saved, opened again, published."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import liescope
from liescope.cli import main
from liescope.common.errors import BadData, BudgetSpent, EndpointRefused, UsageError
from liescope.detectors.detector import silent
from liescope.detectors.detector_registry import make
from liescope.detectors.examples import Labelled
from liescope.detectors.judge.asking import ask_judge
from liescope.detectors.judge.calibration import LearnedModel
from liescope.detectors.judge.prompt import DEFAULT, FRUITLESS, read_prompt
from liescope.detectors.kinds.judge import JudgeDetector
from liescope.detectors.saved import load
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.transcript import SAID, GameMoment, Transcript, TranscriptTurn
from liescope.generate.players.run_limits import Limits
from tests.detectors.judge_stub import material, prompt_of, stating, with_logprobs
from tests.generate.players.openai.stub import Answer, Request, Script, Stub, says

pytestmark = pytest.mark.usefixtures("own_cache")
Serve = Callable[[Script], Stub]


def fitted(stub: Stub, data: Mapping[str, Labelled], **options: Any) -> JudgeDetector:
    train = data["train"]
    judge = make("judge", TextConfig(), {"model": f"openai:wise@{stub.url}", "fit_limit": 30, **options})
    return judge.fit(train.examples, train.y, train.groups)


def test_a_judge_is_trained_by_the_command_that_says_before_what_it_will_ask(
    serve: Serve, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked_before: list[str] = []

    def script(request: Request, number: int) -> Answer:
        if number == 0:
            asked_before.append(capsys.readouterr().err)
        return with_logprobs(request, number)

    stub, out = serve(script), str(tmp_path / "m")
    command = ["train", "judge", "--corpus", str(corpus), "--model", f"openai:wise@{stub.url}", "--fit-limit", "12"]
    assert main([*command, "--out", out]) == 0
    (said,) = asked_before
    most = int(said.partition("up to ")[2].partition(" requests")[0].replace(",", ""))
    assert 12 < len(stub.requests) <= most <= len(stub.requests) + 15
    made = len(stub.requests)
    # Everything is kept: training again asks nothing, and opening it does not either.
    assert main([*command, "--overwrite", "--out", out]) == 0
    assert load(out).file.options["fit_limit"] == 12
    assert len(stub.requests) == made
    assert main(["score", out, "trust me, this is random"]) == 0
    assert len(stub.requests) == made + 1
    assert float(capsys.readouterr().out.split("\n")[-2].split("\t")[0]) > 0.5


@pytest.mark.parametrize("script", [with_logprobs, stating])
def test_answers_are_calibrated_on_a_few_statements_and_rank_those_of_other_games(
    script: Script, serve: Serve, data: Mapping[str, Labelled]
) -> None:
    stub = serve(script)
    judge = fitted(stub, data, fit_limit=60)
    assert len(stub.requests) <= 61
    test = data["test"]
    score = judge.predict_proba(test.examples)[:, 1]
    assert roc_auc_score(test.y, score) > 0.75


def test_without_a_limit_nothing_is_asked_in_training(serve: Serve, data: Mapping[str, Labelled]) -> None:
    stub = serve(with_logprobs)
    fitted(stub, data, fit_limit=0)
    assert stub.requests == []


@pytest.mark.parametrize(
    ("reply", "finish", "why"),
    [
        ("Somewhere between 0.2 and 0.4, I think.", "stop", "no probability"),
        ("<think>Let me see, 0.1 perhaps", "stop", "could not be used"),
        ("Probability: 0.1", "length", "token limit"),
    ],
)
def test_an_answer_that_cannot_be_used_is_never_taken_for_honest(
    reply: str, finish: str, why: str, serve: Serve, data: Mapping[str, Labelled]
) -> None:
    def script(request: Request, number: int) -> Answer:
        odd = "cannot be judged" in material(request)
        return says(reply, finish=finish) if odd else stating(request, number)

    judge = fitted(serve(script), data)
    odd = replace(data["test"].examples[0], text="This cannot be judged.")
    score = judge.predict_proba([odd, *data["test"].examples[:5]])[:, 1]
    assert score[0] == pytest.approx(data["train"].y.mean())
    (note,) = judge.notes
    assert note.startswith("1 answers of the judge could not be used")
    assert why in note


def test_who_scores_is_told_how_many_answers_could_not_be_used(
    serve: Serve, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(request: Request, number: int) -> Answer:
        return says("I cannot say.") if "cannot be judged" in material(request) else stating(request, number)

    model, out = f"openai:wise@{serve(script).url}", tmp_path / "m"
    liescope.train("judge", corpus, out=out, model=model, fit_limit=10)
    said = ["this cannot be judged", "nor cannot be judged that"]
    (tmp_path / "said.csv").write_text("\n".join(["text", *said]), encoding="utf-8")
    for more in (said, ["--in", str(tmp_path / "said.csv"), "--out", str(tmp_path / "s.csv")]):
        assert main(["score", str(out), *more]) == 0
        assert "note: 2 answers of the judge could not be used" in capsys.readouterr().err


def test_a_judge_that_answers_nothing_is_given_up_and_leaves_no_model(
    serve: Serve, corpus: Path, tmp_path: Path
) -> None:
    stub = serve(lambda request, number: says("I cannot say."))
    model = f"openai:wise@{stub.url}"
    with pytest.raises(EndpointRefused, match=f"answered none of {FRUITLESS} requests"):
        liescope.train("judge", corpus, out=tmp_path / "m", model=model)
    assert not (tmp_path / "m").exists()

    before, limits = len(stub.requests), Limits(cache=tmp_path / "replies", concurrency=2)
    questions = [read_prompt().about_statement(f"Statement {number}.", "role") for number in range(60)]
    with pytest.raises(EndpointRefused):
        ask_judge(model, questions, limits, silent)
    assert len(stub.requests) - before <= FRUITLESS + limits.concurrency


@pytest.mark.parametrize("slope", [0.3, 2.0])
def test_a_calibration_undoes_what_is_wrong_with_the_answers(slope: float) -> None:
    draw = np.random.default_rng(0)
    odds = draw.normal(0, 1, 4000)
    y = draw.random(4000) < 1 / (1 + np.exp(-(slope * odds - 1)))
    found = LearnedModel.learned((), 1 / (1 + np.exp(-odds[:, None])), y)
    assert found.weights == pytest.approx((slope,), abs=0.15)
    assert found.offset == pytest.approx(-1, abs=0.15)
    # It never turns answers around.
    found = LearnedModel.learned((), np.array([[0.9], [0.1]] * 50), np.array([False, True] * 50))
    assert found.weights == pytest.approx((0,), abs=1e-6)


def test_a_prompt_of_ones_own_is_used_and_saved_word_for_word(
    serve: Serve, data: Mapping[str, Labelled], tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(DEFAULT.read_text(encoding="utf-8").replace("secretly work", "covertly work"), encoding="utf-8")
    stub = serve(with_logprobs)
    judge = fitted(stub, data, prompt=str(path))
    assert all("covertly work" in prompt_of(request) for request in stub.requests)
    judge.save(tmp_path)
    path.unlink()
    again = JudgeDetector.load(tmp_path, judge.text, judge.options)
    again.predict_proba([replace(data["test"].examples[0], text="something new")])
    assert "covertly work" in prompt_of(stub.requests[-1])


def test_a_prompt_without_the_words_for_a_view_is_refused(data: Mapping[str, Labelled], tmp_path: Path) -> None:
    path = tmp_path / "old.toml"
    path.write_text(DEFAULT.read_text(encoding="utf-8").partition("[views]")[0], encoding="utf-8")
    given = {"model": "openai:wise@http://127.0.0.1:9/v1", "prompt": str(path)}
    train = data["train"]
    with pytest.raises(BadData, match=r" views\.reasoning;"):
        make("judge", TextConfig(view="reasoning"), given).fit(train.examples, train.y, train.groups)


def test_a_budget_holds_for_the_whole_training_and_the_same_command_goes_on(
    serve: Serve, corpus: Path, tmp_path: Path
) -> None:
    stub = serve(with_logprobs)
    options: dict[str, Any] = {"out": tmp_path / "m", "model": f"openai:wise@{stub.url}", "price": ["wise=1000,1000"]}
    with pytest.raises(BudgetSpent, match="replies so far are kept"):
        liescope.train("judge", corpus, max_cost=5.0, **options)  # a request costs 0.11
    assert 45 <= len(stub.requests) <= 45 + 16
    made = len(stub.requests)
    found = liescope.train("judge", corpus, max_cost=1000.0, **options)
    assert found.file.options["price"] == ["wise=1000,1000"]
    assert len({json.dumps(request.body) for request in stub.requests}) == len(stub.requests) > made


def test_a_saved_judge_sends_nothing_to_an_address_that_only_its_folder_names(
    serve: Serve, data: Mapping[str, Labelled], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = fitted(serve(with_logprobs), data)
    judge.save(tmp_path)
    away = judge.options.model_copy(update={"model": "openai:wise@https://elsewhere.example/v1"})
    stranger = JudgeDetector.load(tmp_path, judge.text, away)
    with pytest.raises(UsageError, match=r"sends the statements.*elsewhere\.example.*OPENAI_BASE_URL"):
        stranger.predict_proba(data["test"].examples[:1])
    with pytest.raises(UsageError, match=r"elsewhere\.example"):
        stranger.player_posteriors(
            [GameMoment(Transcript("g", ("A", "B"), (TranscriptTurn(SAID, "A", "x", key="1"),)))]
        )


def test_files_that_a_strangers_options_name_are_neither_read_nor_written(
    serve: Serve, data: Mapping[str, Labelled], tmp_path: Path
) -> None:
    judge = fitted(serve(with_logprobs), data)
    judge.save(tmp_path)
    named = judge.options.model_copy(update={"cache": str(tmp_path / "theirs"), "prompt": str(tmp_path / "no.toml")})
    again = JudgeDetector.load(tmp_path, judge.text, named)
    again.predict_proba([replace(data["test"].examples[0], text="something new")])
    assert not (tmp_path / "theirs").exists()


def test_no_key_and_no_path_is_in_any_file(
    serve: Serve, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-secret-of-mine")
    stub = serve(with_logprobs)
    model = f"openai:wise@{stub.url}?key_env=MY_API_KEY"
    cache = tmp_path / "kept.sqlite"
    liescope.train("judge", corpus, out=tmp_path / "m", model=model, cache=str(cache), fit_limit=10)
    assert stub.requests[0].headers["authorization"] == "Bearer sk-secret-of-mine"
    assert cache.exists()
    for path in [cache, *(tmp_path / "m").rglob("*")]:
        found = path.read_bytes() if path.is_file() else b""
        assert b"sk-secret-of-mine" not in found
        assert str(cache).encode() not in found


def test_a_folder_of_replies_that_was_named_in_training_is_not_silently_another_one_later(
    serve: Serve, corpus: Path, tmp_path: Path
) -> None:
    own, home = tmp_path / "own", tmp_path / "cache"
    out, model = tmp_path / "m", f"openai:wise@{serve(with_logprobs).url}"
    liescope.train("judge", corpus, out=out, model=model, cache=str(own), fit_limit=10)
    with pytest.raises(UsageError, match=r"--cache FOLDER \(--judge-cache of evaluate\)"):
        liescope.score(out, "Something new.")
    with pytest.raises(UsageError, match="--judge-cache"):
        liescope.evaluate(out, corpus)
    assert not home.exists()
    first = liescope.score(out, "Something new.", cache=own)["score"].item()
    assert main(["score", str(out), "Something new.", "--cache", str(own)]) == 0
    liescope.evaluate(out, corpus, judge_cache=own)
    assert liescope.score(out, "Something new.", cache=own)["score"].item() == first
    assert not home.exists()


def test_what_is_said_to_be_asked_at_most_holds_for_folds(
    serve: Serve, make_corpus: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def alike(rows: dict[str, list[dict[str, Any]]]) -> None:
        for row in rows["statements"][::3]:
            row["text"] = "skip"

    stub = serve(stating)
    command = ["train", "judge", "--corpus", str(make_corpus(games=60, change=alike)), "--folds", "2"]
    assert main([*command, "--fit-limit", "9", "--model", f"openai:wise@{stub.url}", "--out", str(tmp_path / "m")]) == 0
    most = int(capsys.readouterr().err.partition("up to ")[2].partition(" requests")[0].replace(",", ""))
    assert len(stub.requests) <= most
