"""Ordinary chats, in which nobody was asked to lie: the answers that a threshold is chosen on. Those that come with
Liescope are in its own words.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.stores import local
from liescope.common.text import CHAT
from liescope.detectors.examples import Example, corpus_name, make_examples, read_statements
from liescope.detectors.text_form import TextConfig
from liescope.games.record import GameRecord
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.open import as_corpus, in_memory
from liescope.generate.importers.importing import read_games

BUNDLED = "bundled"
_MOST = 1000


def ordinary_answers(source: str, text: TextConfig, target: str) -> tuple[str, list[Example]]:
    """(name, last answers) of up to a thousand chats. source: "bundled", a file of chats, a dataset of them on the Hub,
    a corpus or a run. Raises UsageError where there are none, and what reading them raises.
    """
    path = Path(__file__).parent / "probing" / "ordinary.jsonl" if source == BUNDLED else local(source)
    if not path.exists() and hub_repo(source) is None:
        raise UsageError(f"there is no {source} with ordinary chats; name a file, a corpus or {BUNDLED}")
    games = read_games(CHAT, path if path.exists() else source)
    chats = islice((one for one in games if isinstance(one, GameRecord)), _MOST)
    corpus = as_corpus(source) if path.is_dir() else in_memory(chats, source, {})
    found = last_answers(read_statements(corpus), text, target)[:_MOST]
    if not found:
        raise UsageError(f"{source} has no ordinary answers that the detector can read; name a file of chats")
    return source if source == BUNDLED else corpus_name(source), found


def last_answers(statements: pl.DataFrame, text: TextConfig, target: str) -> list[Example]:
    """The last statement of each conversation, as far as the text can show it."""
    last = set(statements.group_by("game_id").agg(pl.col("statement_id").last())["statement_id"])
    made = make_examples(statements, text.context, target)
    return [one for one in made if one.statement_id in last and one.can_be_read(text.view)]
