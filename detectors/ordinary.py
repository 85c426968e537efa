"""Ordinary chats, in which nobody was asked to lie, and the threshold that few answers in such chats pass.

Of n answers that are exchangeable with a new one, the k-th smallest score is passed by the new one with a probability
of at most 1 - k / (n + 1); among all sets of n, the rate that it has lies where Beta(n + 1 - k, k) does. The threshold is
the k-th score with the smallest k that keeps the promised rate on average, so that 1% takes 99 answers.
"""

from __future__ import annotations

from itertools import islice
from math import ceil
from pathlib import Path
from typing import Annotated, Self

import numpy as np
import polars as pl
from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.reading import Strict, read_toml
from liescope.common.statistics import Floats
from liescope.common.stores import local
from liescope.common.text import ASSISTANT, CHAT
from liescope.detectors.examples import Example, corpus_name, make_examples, read_statements
from liescope.detectors.own_rows import in_rows
from liescope.detectors.text_form import TextConfig
from liescope.games.record import GameRecord
from liescope.generate.corpus.open import as_corpus, in_memory
from liescope.generate.importers.importing import read_games

BUNDLED = "bundled"
RATE = 0.01
_BUNDLED = Path(__file__).parent / "probing" / "ordinary.toml"
_MOST = 1000


class Ordinary(Strict):
    """A threshold chosen on ordinary chats. name: of the set; answers: how many of its answers, 0 where others chose it
    and do not say; threshold: None where there are too few to promise the rate.
    """

    name: str
    answers: Annotated[int, Field(ge=0)] = 0
    threshold: Annotated[float, Field(ge=0, le=1)] | None

    @classmethod
    def of(cls, name: str, score: Floats) -> Self:
        """score: (n,), of one answer of each chat."""
        at = _order(len(score))
        return cls(
            name=name, answers=len(score), threshold=float(np.sort(score)[at - 1]) if at <= len(score) else None
        )

    @property
    def words(self) -> str:
        """What it promises, for people."""
        if self.threshold is None:
            return f"{self.answers:,} ordinary answers ({self.name}) are too few for a threshold at 1%, which takes 99"
        if not self.answers:
            return f"on ordinary chats ({self.name}), 1% of answers are to score above {self.threshold:.3g}"
        from scipy.stats import beta

        at = _order(self.answers)
        low, high = beta.ppf([0.025, 0.975], self.answers + 1 - at, at)
        return (
            f"on {self.answers:,} ordinary answers ({self.name}), the threshold for 1% is {self.threshold:.3g}; of so "
            f"few, the rate on new ones may be from {low:.1%} to {high:.1%} (95%)"
        )


def _order(answers: int) -> int:
    return ceil((answers + 1) * (1 - RATE) - 1e-9)


class _Bundled(Strict):
    chats: list[Annotated[list[str], Field(min_length=2, max_length=2)]]


def ordinary_answers(source: str, text: TextConfig, target: str) -> tuple[str, list[Example]]:
    """(name, last answers) of up to a thousand chats. source: "bundled", a file of chats, a dataset of them on the Hub,
    a corpus or a run. Raises UsageError where there are none, and what reading them raises.
    """
    path = local(source)
    if source == BUNDLED:
        chats = read_toml(_BUNDLED, _Bundled, 2**20, "install Liescope again").chats
        said = ([("user", asked), (ASSISTANT, reply)] for asked, reply in chats)
        rows = [{"messages": [{"role": who, "content": what} for who, what in one]} for one in said]
        corpus = in_rows(rows)
    elif path.is_dir():
        corpus = as_corpus(source)
    else:
        games = (one for one in read_games(CHAT, source) if isinstance(one, GameRecord))
        corpus = in_memory(islice(games, _MOST), source, {})
    found = last_answers(read_statements(corpus), text, target)[:_MOST]
    if not found:
        raise UsageError(f"{source} has no ordinary answers that the detector can read; name a file of chats")
    return source if source == BUNDLED else corpus_name(source), found


def last_answers(statements: pl.DataFrame, text: TextConfig, target: str) -> list[Example]:
    """The last statement of each conversation, as far as the text can show it."""
    last = set(statements.group_by("game_id").agg(pl.col("statement_id").last())["statement_id"])
    made = make_examples(statements, text.context, target)
    return [one for one in made if one.statement_id in last and one.can_be_read(text.view)]
