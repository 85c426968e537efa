"""Corpora in which only a statement's own words tell a lie from the truth, and the ways to plant something else."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from liescope.detectors.study.audited import Audited, read_audited
from tests.detectors.conftest import Rows

Row = dict[str, Any]

TELLS = {True: ("lime", "rust", "dome"), False: ("gate", "clay", "path")}
DULL = ("item", "desk", "lamp")
FILLER = ("about", "after", "again", "every", "night", "other", "quite", "small", "still", "there", "today", "whole")


def words(draw: random.Random, lie: bool, tell: float = 0.6) -> str:
    """Seven to eleven dull words of like length, one of which is, with probability `tell`, a word of one side."""
    said = [draw.choice(FILLER) for _ in range(draw.randint(6, 10))]
    said.insert(draw.randrange(len(said)), draw.choice(TELLS[lie] if draw.random() < tell else DULL))
    return " ".join(said)


def clean(rows: Rows, seed: int = 0) -> None:
    """Give every seat a role of its own, whatever the others have, and statements to go with it."""
    draw = random.Random(seed)
    lies: dict[tuple[str, str], bool] = {}
    for game in rows["games"]:
        game |= {"run": "first", "origin": "liescope", "condition": "", "prompt_version": "v1", "silences": 0}
        for seat in game["seats"]:
            lie = lies[game["game_id"], seat["name"]] = draw.random() < 0.4
            seat |= {"role": "mafioso" if lie else "villager", "deceives": lie}
    for row in rows["statements"]:
        lie = lies[row["game_id"], row["speaker"]]
        row |= {"label_role": lie, "label_claim": draw.random() < 0.4, "text": words(draw, lie)}
        row["speaker_role"] = "mafioso" if lie else "villager"


def each(change: Callable[[Row, random.Random], None]) -> Callable[[Rows], None]:
    """A change of every statement of a clean corpus; the second argument is a source of chance."""

    def planted(rows: Rows) -> None:
        draw = random.Random(5)
        for row in rows["statements"]:
            change(row, draw)

    return planted


def longer(row: Row, draw: random.Random) -> None:
    """For `each`: lies are longer."""
    row["text"] += " there again" * draw.randint(1, 2) * row["label_role"]


@dataclass(frozen=True)
class Planted:
    """A corpus with something planted, read."""

    folder: Path
    data: Audited


Plant = Callable[..., Planted]


@pytest.fixture(scope="session")
def plant(make_corpus: Callable[..., Path]) -> Plant:
    """plant(change, target=…, seed=…, games=…): a clean corpus after a change of its rows."""

    def make(
        change: Callable[[Rows], None] = lambda _: None, target: str = "role", seed: int = 0, games: int = 150
    ) -> Planted:
        def planted(rows: Rows) -> None:
            clean(rows, seed)
            change(rows)

        folder = make_corpus(games, change=planted)
        return Planted(folder, read_audited(folder, target, seed=seed))

    return make
