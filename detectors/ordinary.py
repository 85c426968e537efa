"""Ordinary chats, in which nobody was asked to lie: the answers that a threshold is chosen on."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.reading import Strict, read_toml
from liescope.common.stores import local
from liescope.common.text import ASSISTANT, CHAT
from liescope.detectors.examples import Example, corpus_name, make_examples, read_statements
from liescope.detectors.own_rows import in_rows
from liescope.detectors.text_form import TextConfig
from liescope.games.record import GameRecord
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.open import as_corpus, in_memory
from liescope.generate.corpus.read import Corpus
from liescope.generate.importers.importing import read_games

BUNDLED = "bundled"
_BUNDLED = Path(__file__).parent / "probing" / "ordinary.toml"
_MOST = 1000


class _Bundled(Strict):
    chats: list[Annotated[list[str], Field(min_length=2, max_length=2)]]


def ordinary_answers(source: str, text: TextConfig, target: str) -> tuple[str, list[Example]]:
    """(name, last answers) of up to a thousand chats. source: "bundled", a file of chats, a dataset of them on the Hub,
    a corpus or a run. Raises UsageError where there are none, and what reading them raises.
    """
    corpus: Corpus
    path = local(source)
    if source == BUNDLED:
        chats = read_toml(_BUNDLED, _Bundled, 2**20, "install Liescope again").chats
        said = ([("user", asked), (ASSISTANT, reply)] for asked, reply in chats)
        rows = [{"messages": [{"role": who, "content": what} for who, what in one]} for one in said]
        corpus = in_rows(rows)
    elif path.is_dir():
        corpus = as_corpus(source)
    elif not path.exists() and hub_repo(source) is None:
        raise UsageError(f"there is no {source} with ordinary chats; name a file, a corpus or {BUNDLED}")
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
