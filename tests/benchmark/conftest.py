"""Games with known models, and counts simulated from planted capabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.counts import SCHEMA, TABLES, Counts, add, count_by_settings, tally
from liescope.benchmark.capability.model import DEFAULT
from liescope.benchmark.capability.posterior import Posterior, fit
from liescope.games import Ask, AskKind, MiniMafia, Reply, Source, drive, record, start
from liescope.games.mafia.rules import MINI_MAFIA
from liescope.games.record import GameRecord
from liescope.generate.corpus.open import tables_of
from tests.benchmark.published import published_counts

ROLES = ("mafioso", "detective", "villager", "villager")
Skills = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="session")
def play() -> Callable[..., GameRecord]:
    """One real Mini-Mafia game: models in the order of ROLES, mafia wins or not, failed with a reason or not."""

    def play(
        *models: str, mafia_wins: bool, seed: int = 0, failure: str = "", source: Source = Source.MODEL
    ) -> GameRecord:
        game = MiniMafia(MINI_MAFIA.replaced(roles=ROLES), seed, f"game-{seed}")
        session = start(lambda: game)
        mafioso, detective = game.names[:2]

        def answer(ask: Ask, view: object) -> Reply:
            if ask.kind is not AskKind.VOTE:
                return Reply(text="I am a villager.")
            wanted = detective if mafia_wins else mafioso
            return Reply(choice=wanted if wanted in ask.options else ask.options[0])

        drive(session, answer)
        players = {name: (model, source) for name, model in zip(game.names, models, strict=True)}
        return record(game, None if failure else session.outcome, players, failure=failure)

    return play


def cube(skills: Skills, games: int, seed: int, b: np.ndarray | None = None) -> pl.DataFrame:
    """Counts drawn from planted (m, d, v), and b; every combination of the models; model n is called chr(97 + n)."""
    random = np.random.default_rng(seed)
    m, d, v = skills
    eta = (v[k] * (m[i] - d[j]) + (0 if b is None else b[k]) for i, j, k in product(range(len(m)), repeat=3))
    keys = product("abcdefghij"[: len(m)], repeat=3)
    rows = [(*key, int(random.binomial(games, expit(each))), games) for key, each in zip(keys, eta, strict=True)]
    return tally(pl.DataFrame(rows, SCHEMA, orient="row"))


@pytest.fixture(scope="session")
def simulate() -> Callable[..., pl.DataFrame]:
    return cube


@pytest.fixture(scope="session")
def published_fit() -> Posterior:
    """The posterior of the paper's 140 cells, with the settings that the command has."""
    return fit(published_counts())


SHORT = SamplerOptions(draws=400, tune=400)


def count_games(records: Iterable[GameRecord]) -> Counts:
    """The counts of recorded games, whatever the settings that they were played with."""
    return add(list(count_by_settings(tables_of(records, wanted=TABLES)).values()))


M, D, V, B = (np.array(values) for values in ([0.8, 0.0, -0.8], [0.2, 0.9, 0.4], [0.6, 1.0, 1.4], [0.9, -0.2, -0.7]))


def leaning(games: int) -> pl.DataFrame:
    """The cube of three models whose villagers lean to a side."""
    return cube((M, D, V), games, 4, B)


@pytest.fixture(scope="session")
def leaning_fit() -> Posterior:
    """The default model, of villagers who lean."""
    return fit(leaning(300), SHORT, DEFAULT)
