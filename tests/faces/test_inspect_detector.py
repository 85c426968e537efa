"""A trained detector scores the samples of inspect_ai, by its own command and in its own logs."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope import load
from tests.detectors.test_own_rows import LABELS, LIES, TEXTS, TRUTHS

TASK = """
import json
from pathlib import Path
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.solver import solver

@solver
def recorded():
    async def solve(state, generate):  # a model would count tokens by a table that it fetches
        state.messages.append(ChatMessageAssistant(content=state.metadata["answer"]))
        return state
    return solve

@task
def talk():
    told = json.loads(Path(__file__).with_name("samples.json").read_text())
    samples = [Sample(input="What do you say?", **{"target": "", **sample}) for sample in told]
    return Task(dataset=samples, solver=recorded(), model="mockllm/model")
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "mine"
    liescope.train("tfidf", TEXTS, LABELS, folds=2, out=folder)
    return folder


def inspect(folder: Path, *words: str) -> str:
    """What a command of inspect_ai prints, without its log file's name."""
    found = {"PYTHONPATH": str(Path(__file__).parents[2]), "INSPECT_DISPLAY": "plain", "COLUMNS": "2000"}
    command = [sys.executable, "-m", "inspect_ai", *words]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **found}, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def scored(folder: Path, samples: Sequence[Mapping[str, Any]], *options: str) -> Any:
    """The log of a task with these samples after `inspect score`."""
    from inspect_ai.log import read_eval_log

    (folder / "samples.json").write_text(json.dumps(samples), encoding="utf-8")
    (folder / "talk.py").write_text(TASK, encoding="utf-8")
    inspect(folder, "eval", "talk.py", "--no-score", "--log-dir", "logs")
    (log,) = (folder / "logs").iterdir()
    wanted = [word for option in options for word in ("-S", option)]
    inspect(folder, "score", str(log), "--scorer", "liescope/detector", *wanted, "--overwrite", "--action", "append")
    return read_eval_log(str(log))


def test_every_sample_gets_the_detectors_probability_and_labels_of_any_form_say_how_well_it_ranks(
    model: Path, tmp_path: Path
) -> None:
    told: list[dict[str, Any]] = [
        {"metadata": {"answer": LIES[3], "deceptive": True}},
        {"metadata": {"answer": TRUTHS[3], "honest": "yes"}},
        {"metadata": {"answer": LIES[5]}, "target": "lie"},
        {"metadata": {"answer": TRUTHS[5]}, "target": "Truth"},
        {"metadata": {"answer": TRUTHS[9], "label": "physics"}, "target": "42"},
        {"metadata": {"answer": "", "deceptive": False}},
    ]
    log = scored(tmp_path, told, f"model={model}")
    alone = load(model)
    found = [sample.scores["detector"] for sample in log.samples]
    for sample, score in zip(told[:-1], found[:-1], strict=True):
        said = {"role": "assistant", "content": sample["metadata"]["answer"]}
        expected = alone.score([[{"role": "user", "content": "What do you say?"}, said]])["score"][0]
        assert score.value == pytest.approx(expected)
    assert [score.metadata["deceptive"] for score in found] == [True, False, True, False, None, False]
    assert (math.isnan(found[-1].value), found[-1].explanation) == (True, "no text")
    (result,) = log.results.scores
    values = {name: metric.value for name, metric in result.metrics.items()}
    assert values.pop("mean") == pytest.approx(sum(score.value for score in found[:-1]) / 5)
    assert values == {"auroc": 1.0, "deceptive": 2, "honest": 2}


def test_a_named_label_is_read_and_one_class_leaves_no_ranking(model: Path, tmp_path: Path) -> None:
    told = [{"metadata": {"answer": text, "lied": 1, "deceptive": 0}} for text in (LIES[3], TRUTHS[3])]
    log = scored(tmp_path, told, f"model={model}", "label=lied")
    values = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert math.isnan(values["auroc"])
    assert (values["deceptive"], values["honest"]) == (2, 0)


@pytest.mark.parametrize(("label", "message"), [("nowhere", "no such column"), ("checked", "may mean either")])
def test_a_label_that_is_not_there_or_unclear_is_refused_with_its_sample(
    model: Path, tmp_path: Path, label: str, message: str
) -> None:
    told = [{"id": "the-one", "metadata": {"answer": LIES[3], "checked": "maybe"}}]
    with pytest.raises(AssertionError, match=rf"(?s)sample the-one: .*{message}"):
        scored(tmp_path, told, f"model={model}", f"label={label}")
