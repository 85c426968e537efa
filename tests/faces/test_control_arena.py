"""A trained detector is a monitor that ControlArena itself runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from control_arena import control_agent
from control_arena.monitor import MonitorResponse
from control_arena.scorers import end_of_trajectory_monitor, max_suspicion_scorer
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.agent import AgentState
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
from inspect_ai.solver import solver

import liescope
from liescope.faces.inspect import monitor
from tests.detectors.test_own_rows import LABELS, LIES, TEXTS, TRUTHS, chat


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "mine"
    liescope.train("tfidf", TEXTS, LABELS, folds=2, out=folder)
    return folder


@solver  # type: ignore[untyped-decorator]
def recorded() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        state.messages += [ChatMessageAssistant(content=state.metadata["says"]), ChatMessageUser(content="Go on.")]
        return state

    return solve


def test_a_monitor_of_control_arena_gives_the_detectors_probability_and_why(model: Path, tmp_path: Path) -> None:
    said = [LIES[3], TRUTHS[3]]
    samples = [Sample(input="What do you say?", metadata={"says": words}) for words in said]
    agent = control_agent(monitor)(model=str(model))
    scorers = [end_of_trajectory_monitor(agent), max_suspicion_scorer()]
    task = Task(dataset=samples, solver=recorded(), scorer=scorers, name="talk")
    (log,) = evaluate(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    chats = [chat(words) for words in said]
    for sample, alone in zip(log.samples or (), liescope.score(model, chats)["score"], strict=True):
        for score in (sample.scores or {}).values():
            assert score.value == pytest.approx(alone)
        assert "words: " in sample.scores["end_of_trajectory_monitor"].explanation


@pytest.mark.anyio
async def test_what_has_no_score_is_no_suspicion_and_says_so(model: Path) -> None:
    watch = monitor(str(model))
    state = await watch(AgentState(messages=[ChatMessageAssistant(content=""), ChatMessageUser(content="?")]), [])
    told = MonitorResponse.model_validate(state.messages[0].metadata)
    assert (told.suspicion_score, told.score_parsed) == (0, False)
    assert "no text" in told.reason
    unsaid = AgentState(messages=[ChatMessageUser(content="?")])
    assert (await watch(unsaid, [])).messages[0].metadata is None
