"""A small model, and the asks of real games as rows for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from liescope.games import Ask, Event, Mafia, MafiaSpec, Reply, start
from liescope.generate.players.local import loading
from liescope.generate.players.local.loading import (
    Loaded,
    LocalOptions,
    PromptRow,
    Sampling,
    load,
    random_key,
    read_spec,
)
from liescope.generate.players.prompts.render import load_prompts
from tests.generate.players.local import small_model

MOST = 12
Rows = Callable[..., list[list[PromptRow]]]


@pytest.fixture(scope="session", autouse=True)
def _no_ties() -> Iterator[None]:
    """Models compute in float64: a batch of another shape adds up in another order, which in float32 may decide between
    two tokens that are equal but for rounding, and does so on one processor and not on another.
    """
    import torch

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_dtype", lambda options, device: torch.float64)
        yield


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_model.make(tmp_path_factory.mktemp("small") / "llama")


@pytest.fixture(scope="session")
def loaded(model: Path) -> Loaded:
    return load(read_spec(str(model)))


@pytest.fixture(scope="session")
def rows() -> Rows:
    """rows(loaded, games=…): the prompts of whole games, by step; the next ones hold what was said before."""

    def made(loaded: Loaded, games: int = 3, **sampling: Any) -> list[list[PromptRow]]:
        steps: list[list[PromptRow]] = []
        for seed in range(games):
            for number, asked in enumerate(_asked(seed)):
                steps += [[]] * (number == len(steps))
                steps[number] = steps[number] + [
                    PromptRow(
                        loaded.prompt_ids([{"role": "user", "content": text}], LocalOptions()),
                        MOST,
                        Sampling(**{"key": random_key(0, ask.game, ask.step, ask.seat), **sampling}),
                    )
                    for ask, text in asked
                ]
        return steps

    return made


def _asked(seed: int) -> Sequence[list[tuple[Ask, str]]]:
    prompts = load_prompts("full", "mafia")
    session = start(
        lambda: Mafia(MafiaSpec(mafiosos=1, detectives=1, villagers=2, scripted_night=True, days=1), seed, f"g{seed}")
    )
    found = []
    while session.asks:
        view: Callable[[Ask], Sequence[Event]] = lambda ask: session.game.view(ask.seat)  # noqa: E731
        found.append([(ask, prompts.render(ask, view(ask)).text) for ask in session.asks])
        session.send(tuple(Reply(text="I am a villager. " * (1 + seed)) for _ in session.asks))
    return found


def together(*waiting: Any) -> list[Any]:
    """The results of coroutines that wait at the same time; errors are results too."""

    async def gathered() -> list[Any]:
        return await asyncio.gather(*waiting, return_exceptions=True)

    return asyncio.run(gathered())
