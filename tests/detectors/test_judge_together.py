"""Several criteria, and several judges, as one score."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import liescope
from liescope.cli import main
from liescope.common.errors import BadData
from liescope.common.statistics import expit
from liescope.detectors.detector_registry import make
from liescope.detectors.examples import Labelled
from liescope.detectors.judge.calibration import LearnedModel, agreement
from liescope.detectors.judge.prompt import RUBRIC, Criterion, read_prompt, stated_criteria
from liescope.detectors.kinds.judge import JudgeDetector
from liescope.detectors.text_form import TextConfig
from tests.detectors.judge_stub import chance, material, prompt_of, with_logprobs
from tests.detectors.test_local_judge import MARKS, planted
from tests.generate.players.openai.stub import Answer, Request, Script, Stub, says

pytestmark = pytest.mark.usefixtures("own_cache")
Serve = Callable[[Script], Stub]
NAMES = [one.name for one in read_prompt(Path(RUBRIC)).criteria]
OWN = """
[[criteria]]
name = "knows"
question = "Does it tell what nobody can know?"
[[criteria]]
name = "chatter"
question = "Is it chatter?"
"""


def by_criterion(request: Request, _number: int) -> Answer:
    """Knows the answer to the first criterion, and is of some opinion on the others."""
    names = re.findall(r"^- (\w+): ", prompt_of(request), re.MULTILINE)
    noise = [0.1 + 0.8 * (crc32(f"{material(request)} {name}".encode()) % 97) / 97 for name in names]
    return says("Here you are: " + json.dumps(dict(zip(names, [chance(request), *noise[1:]], strict=True))))


def fitted(spec: str, data: Mapping[str, Labelled], **options: Any) -> JudgeDetector:
    train = data["train"]
    judge = make("judge", TextConfig(), {"model": spec, "fit_limit": 120, **options})
    return judge.fit(train.examples, train.y, train.groups)


def test_all_criteria_are_asked_at_once_and_the_one_that_knows_comes_to_count_most(
    serve: Serve, data: Mapping[str, Labelled], tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text(OWN, encoding="utf-8")
    stub = serve(by_criterion)
    judge = fitted(f"openai:wise@{stub.url}", data, prompt=str(tmp_path / "own.toml"))
    assert len(stub.requests) <= 120
    assert not any("logprobs" in request.body for request in stub.requests)
    (learned,) = judge._learned.models
    knows, chatter = learned.weights
    assert knows > 4 * chatter
    test = data["test"]
    parts, score = judge.parts(test.examples), judge.predict_proba(test.examples)[:, 1]
    asked = len(stub.requests)
    found = {name: roc_auc_score(test.y, column) for name, column in (parts | {"all": score}).items()}
    assert found["all"] > 0.7 > found["chatter"] + 0.1
    assert found["all"] > found["knows"] - 0.1
    # It is saved and opened with its criteria, and asks nothing again.
    judge.save(tmp_path)
    again = JudgeDetector.load(tmp_path, judge.text, judge.options)
    assert again.predict_proba(test.examples)[:, 1] == pytest.approx(score)
    assert len(stub.requests) == asked


def test_scores_by_criterion_stand_beside_the_score(
    serve: Serve, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local = f"local:{planted(tmp_path / 'wise')}"
    for number, spec in enumerate((local, f"openai:wise@{serve(by_criterion).url}")):
        out, scores = tmp_path / f"m{number}", tmp_path / f"{number}.csv"
        command = ["train", "judge", "--corpus", str(corpus), "--model", spec, "--prompt", RUBRIC, "--fit-limit", "12"]
        assert main([*command, "--out", str(out)]) == 0
        said = [f"I say {MARKS[0]}", "I say nothing at all"]
        assert main(["score", str(out), *said, "--out", str(scores)]) == 0
        table = pl.read_csv(scores)
        assert [name for name in table.columns if name.removeprefix("score_") in NAMES] == [f"score_{n}" for n in NAMES]
        assert table["score_overall"][0] > table["score_overall"][1]
        assert main(["score", str(out), *said]) == 0
        assert "contradicts 0." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('{"a": 0.2, "b": 0.9}', (0.2, 0.9)),
        ('Sure:\n```json\n{"B": "90%", "A": "low"}\n```', (0.2, 0.9)),
        ('{"a": 0.2}', (0.2, None)),
        ('{"a": 0.2, "b": 7}', (0.2, None)),
        ('<think>{"a": 1, "b": 1}</think>{"a": 0, "b": 0.5}', (0.0, 0.5)),
        ('{"c": 0.2}', None),
        ('{"a": true, "b": null}', None),
        ("0.7", None),
        ("[0.1, 0.2]", None),
    ],
)
def test_criteria_are_read_as_models_write_them(reply: str, read: tuple[float | None, ...] | None) -> None:
    found = stated_criteria(reply, ("a", "b"))
    wanted = None if read is None else pytest.approx([np.nan if one is None else one for one in read], nan_ok=True)
    assert found is wanted is None or found == wanted


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("chatter", "knows"), "two criteria have one name"),
        (('"chatter"', '"Chat ter"'), "criteria.1.name"),
        (("question = ", "weight = 0\nquestion = "), "criteria.0.weight"),
        (("[[criteria]]", "extra = 1\n[[criteria]]"), "extra"),
    ],
)
def test_a_rubric_of_ones_own_says_what_is_wrong_with_it(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN.replace(*change), encoding="utf-8")
    with pytest.raises(BadData, match=said):
        read_prompt(tmp_path / "own.toml")


def test_weights_are_the_mean_before_and_are_learned_from_many_answers() -> None:
    draw = np.random.default_rng(0)
    odds = draw.normal(0, 1.5, (4000, 3))
    y = draw.random(4000) < expit(1.2 * odds[:, 0] + 0.4 * odds[:, 1] - 0.5)
    told, plain = expit(odds), [Criterion(name=one) for one in "abc"]
    before = LearnedModel.learned(plain, told[:0], y[:0])
    assert before.log_odds(told) == pytest.approx(odds.mean(1), abs=0.01)
    found = LearnedModel.learned(plain, told, y)
    assert found.weights == pytest.approx([1.2, 0.4, 0.0], abs=0.12)
    assert found.offset == pytest.approx(-0.5, abs=0.12)
    few = LearnedModel.learned(plain, told[:4], y[:4])
    assert few.weights == pytest.approx((1 / 3,) * 3, abs=0.2)
    given = [Criterion(name="a", weight=1), Criterion(name="b"), Criterion(name="c", weight=3)]
    held = LearnedModel.learned(given, told, y)
    assert held.weights[::2] == pytest.approx((0.2, 0.6))
    assert held.weights[1] != pytest.approx(0.2, abs=0.05)
    # An answer that is missing leaves it to the others; without any there is none.
    told[0, 1], told[1] = np.nan, np.nan
    odds = found.log_odds(told[:2])
    assert np.isfinite(odds[0])
    assert np.isnan(odds[1])


def test_judges_judge_together_and_one_that_fails_leaves_it_to_the_others(
    serve: Serve, data: Mapping[str, Labelled], tmp_path: Path
) -> None:
    def shy(request: Request, number: int) -> Answer:
        return says("I cannot say.") if "odd" in material(request) else with_logprobs(request, number)

    def mute(request: Request, number: int) -> Answer:
        return says("I cannot say.") if "silent" in material(request) else shy(request, number)

    specs = [f"openai:{name}@{serve(script).url}" for name, script in (("shy", shy), ("mute", mute))]
    specs.append(f"local:{planted(tmp_path / 'wise')}")
    judge, alone = fitted(",".join(specs), data), fitted(specs[0], data)
    test = data["test"].examples
    one = replace(test[0], text=f"player1: this is odd and {MARKS[0]}")
    asked = [one, replace(one, text="player1: this is silent"), *test[:40]]
    score, each = judge.predict_proba(asked)[:, 1], judge.parts(asked)
    kept = np.column_stack([*each.values()])
    assert list(each) == ["judge_1", "judge_2", "judge_3"]
    assert np.log(score / (1 - score))[2:] == pytest.approx(np.log(kept / (1 - kept)).mean(1)[2:])
    assert score[0] == pytest.approx(each["judge_3"][0])
    both = np.log(kept / (1 - kept))[1]
    assert np.log(score / (1 - score))[1] == pytest.approx((both[0] + both[2]) / 2)
    assert judge.predict_proba(asked)[:, 1] == pytest.approx(score)
    failed, agree = judge.notes
    assert failed.startswith("3 answers of the judge could not be used")
    assert "those of others, or the share" in failed
    assert re.fullmatch(r"3 judges, whose verdicts agree with a kappa of [01]\.\d\d \(42 statements\)", agree)
    assert alone.predict_proba([one])[0, 1] == pytest.approx(data["train"].y.mean())
    judge.save(tmp_path)
    again = JudgeDetector.load(tmp_path, judge.text, judge.options)
    assert again.predict_proba(asked)[:, 1] == pytest.approx(score)


def test_several_judges_beside_a_detector_have_a_row_together(
    serve: Serve, model: Path, corpus: Path, tmp_path: Path
) -> None:
    def only_short(request: Request, number: int) -> Answer:
        return says("I cannot say.") if len(material(request)) % 5 == 0 else with_logprobs(request, number)

    judges = [f"openai:{name}@{serve(script).url}" for name, script in (("a", with_logprobs), ("b", only_short))]
    found = liescope.evaluate(model, corpus, judge=judges, judge_cache=tmp_path / "c", split="test")
    name = "judge:mean of a, b"
    rows = {row.scorer: row for row in found.rows if row.metric == "auroc" and row.where == "test"}
    assert rows[name].statements == rows["judge:a"].statements > rows["judge:b"].statements
    assert rows[name].value == pytest.approx(rows["judge:a"].value, abs=0.05)
    (note,) = [one for one in found.notes if one.startswith(f"{name}:")]
    assert re.search(r"mean log-odds of 2 judges, whose verdicts agree with a kappa of 1\.00; \d+ statements$", note)


def test_agreement_is_kappa_over_the_statements_that_both_answered() -> None:
    one = np.array([1.0, 1, 1, -1, -1, -1, np.nan, 1])
    other = np.array([1.0, 1, -1, -1, -1, 1, 1, np.nan])
    assert "kappa of 0.33" in agreement(np.column_stack([one, other]))
    assert "kappa of -1.00" in agreement(np.column_stack([one[:6], -one[:6]]))
    assert "all the same" in agreement(np.ones((5, 2)))
    assert "all the same" in agreement(np.full((3, 2), np.nan))
