"""What a detector is trained on, read from a corpus, from data in memory or from instructed pairs: the statements of
its splits, their games, and who deceives; and ordinary chats, in which nobody was asked to lie, whose answers a
threshold is chosen on.

Of instructed pairs each statement stands once after an instruction to be honest and once after one to deceive, as in
Azaria and Mitchell (2023) and Goldowsky-Dill et al. (2025). The words are the same and true in both, so that only what
a model makes of the instruction tells them apart. Words of an instruction would give its statements away in every fold
but for this: pairs that share one are a group, held out together, where that makes at least eight groups; else each
pair is a group. A quarter of them is for validation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading, Strict, read_toml
from liescope.common.stores import local
from liescope.common.text import ASSISTANT, CHAT, TEXT, Units, number_of, unit_of
from liescope.detectors.examples import (
    TARGETS,
    Example,
    Labelled,
    corpus_id,
    corpus_name,
    count_lost,
    labelled,
    make_examples,
    read_statements,
    target_column,
)
from liescope.detectors.model_file import CorpusName, WordsOf
from liescope.detectors.statement_inputs import each_statement
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.transcript import read_deceivers, read_transcripts
from liescope.games.record import GameRecord
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.open import as_corpus, in_memory
from liescope.generate.corpus.read import FACTS_FILE, Corpus, CorpusInMemory, collected, licences_of, read
from liescope.generate.importers.conversations import is_chat
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.importing import Import, read_games

OWN_NAME = "own data"
_OPTION = re.compile(r"(name [a-z ]+|say which values are lies) with --(label|deceptive)")  # of a command


def source_name(source: Any) -> str:
    """The name of a corpus, or "own data"."""
    return corpus_name(source) if isinstance(source, str | os.PathLike) else OWN_NAME


def corpus_of(source: Any, labels: Iterable[Any] | None = None, groups: Iterable[Any] | None = None) -> Corpus:
    """The named corpus, or `in_rows`."""
    if isinstance(source, str | os.PathLike):
        if labels is not None or groups is not None:
            raise UsageError("labels and groups go with texts; a corpus has its own")
        return as_corpus(source)
    return in_rows(source, labels, groups)


def in_rows(
    source: Any, labels: Iterable[Any] | None = None, groups: Iterable[Any] | None = None, **told: Any
) -> CorpusInMemory:
    """A corpus made in memory from data.

    source: a list of texts, of conversations (lists of `{"role", "content"}`) or of mappings, or a frame of polars,
    pandas, pyarrow or `datasets`. labels: for each text or conversation whether it is deceptive, None where that is not
    known; without them, a column of the data says it. groups: what each belongs to: a group is never divided between
    splits. told: options of the importer, such as the licence of the words.

    Raises UsageError for data without texts or labels, and for a row that cannot be used, with its place.
    """
    rows = _rows(source, labels, groups)
    if not rows:
        raise UsageError("there are no texts to learn from")
    kind = CHAT if is_chat(list(rows[0])) else TEXT
    found = Import(kind, rows, **told)
    corpus = in_memory(_usable(found.games()), OWN_NAME, {kind: found.importer.terms()})
    if found.receipt.missing:
        raise BadData(f"{found.receipt.missing:,} of {len(rows):,} rows are neither kept nor left out for a reason")
    return replace(corpus, receipt=found.receipt)


def _usable(games: Iterable[GameRecord | Rejected]) -> Iterator[GameRecord]:
    for one in games:
        if isinstance(one, Rejected):
            if not one.line:
                raise UsageError(_OPTION.sub("give labels=, True for deceptive", one.reason))
            raise UsageError(f"row {one.line} cannot be used: {one.reason}; leave such rows out, or mend them")
        yield one


def _rows(source: Any, labels: Iterable[Any] | None, groups: Iterable[Any] | None) -> list[dict[str, Any]]:
    rows = [_row(number, given) for number, given in enumerate(each_statement(source), 1)]
    for name, values in (("deceptive", labels), ("group", groups)):
        if values is None:
            continue
        given = list(values)
        if len(given) != len(rows):
            raise UsageError(f"there are {len(given):,} {name} values for {len(rows):,} texts; give one for each")
        for row, value in zip(rows, given, strict=True):
            row[name] = value.item() if hasattr(value, "item") else value
    return rows


def _row(number: int, given: object) -> dict[str, Any]:
    if isinstance(given, str):
        return {"text": given}
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    if isinstance(given, Sequence) and given and all(isinstance(turn, Mapping) for turn in given):
        return {"messages": list(given)}
    raise UsageError(
        f"text {number} is of type {type(given).__name__}; give strings, lists of messages, or mappings with 'text' or "
        "'messages'"
    )


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


SPLITS = ("train", "validation")
NOBODY_TRAINS = "their publishers ask that nothing is trained on them"
NOT_TO_BE_LEARNED = f"{NOBODY_TRAINS}; use them with evaluate and score, and train on others"
_COMMON_NAME, _MOST_NAMES = 0.01, 200
_LEARNED = ("speaker", "names", "text", "audience", "reasoning", "self_type")
_STUDIED = ("statement_id", "game_id", "siblings", "game", "task", "split", "source", "speaker_model")


@dataclass(frozen=True, slots=True)
class Material:
    """statements: of both splits, what studies read of them; data: train; others: validation; truth: who deceives, by
    game; names: of players in at least 1% of the training games, commonest first, assumed for texts without names;
    lost: left out.
    """

    corpus: CorpusName
    statements: pl.DataFrame
    data: Labelled
    others: Labelled
    truth: Mapping[str, frozenset[str]]
    names: list[str]
    lost: int

    @property
    def learned(self) -> pl.DataFrame:
        """The statements of the training split."""
        return self.statements.filter(pl.col("split") == "train")

    @property
    def games(self) -> frozenset[str]:
        """The ids of all games that the finished detector has seen."""
        return frozenset(self.statements["game_id"])


def _common_names(statements: pl.DataFrame) -> list[str]:
    games = statements.unique("game_id").select("names").explode("names").drop_nulls()
    counted = games.group_by("names").len().sort(["len", "names"], descending=[True, False])
    common = counted.filter(pl.col("len") >= _COMMON_NAME * statements["game_id"].n_unique())
    return common["names"].head(_MOST_NAMES).to_list()


def check_may_train(corpus: Corpus) -> None:
    """Raises UsageError for a corpus with games or conversations whose publishers ask that nobody train on them."""
    if words := carry_a_canary(canaries(corpus)):
        raise UsageError(f"{words}: {NOT_TO_BE_LEARNED}")


def canaries(corpus: Corpus) -> pl.DataFrame:
    """(game_id, game) of the games or conversations whose publishers ask that nobody train on them."""
    marked = read(corpus, "games").filter(pl.col("meta").str.contains('"canary"', literal=True))
    return collected(marked.select("game_id", "game"), corpus)


def carry_a_canary(marked: pl.DataFrame) -> str:
    """A count for messages, as in "2 conversations carry a canary"; "" for none. marked: as `canaries` gives."""
    carry = "carries" if marked.height == 1 else "carry"
    return f"{number_of(marked.height, unit_of(marked['game'].unique()))} {carry} a canary" if marked.height else ""


def read_material(corpus: Corpus, name: str, target: str, text: TextConfig) -> Material:
    """The material of a corpus. name: the corpus's; text: how statements are read; those with nothing to read are left
    out. Raises BadData for a damaged corpus, UsageError where nothing is in the training split or may be learned from.
    """
    check_may_train(corpus)
    games = read_transcripts(corpus, SPLITS)
    made, studied, names = list[Labelled](), list[pl.DataFrame](), list[str]()
    for split in SPLITS:  # one at a time, and of each only what is needed, so that less is in memory at once
        statements = read_statements(corpus, (split,), columns=(*_LEARNED, *_STUDIED, *map(target_column, TARGETS)))
        if split == "train":
            if statements.is_empty():
                raise UsageError(_no_training(corpus, name))
            names = _common_names(statements)
        made.append(labelled(statements, target, text.context, games, text.view))
        studied.append(statements.select(*_STUDIED, target_column(target)))
    facts = CorpusName(id=corpus_id(corpus), name=name, words=_words_of(corpus))
    truth = read_deceivers(corpus, SPLITS)
    return Material(facts, pl.concat(studied), made[0], made[1], truth, names, count_lost(corpus, SPLITS))


def _no_training(corpus: Corpus, name: str) -> str:
    every = read_statements(corpus)
    called, groups = Units.of(every["game"].unique()), every["siblings"].n_unique()
    where = " and ".join(every["split"].unique().sort()) or "no split"
    return (
        f"the training split is empty: {name} has {called.counted(every.height, groups)}, all in {where}; "
        f"add {called.games}, most of which go to the training split"
    )


def _words_of(corpus: Corpus) -> list[WordsOf]:
    """Whose words a corpus holds, as its corpus.json says. Raises BadData if it says something odd."""
    with Reading(f"{corpus}/{FACTS_FILE}", "build the corpus again"):
        return [
            WordsOf(
                name=one["name"],
                games=one["games"],
                languages=list(one["terms"].get("languages", ())),
                **{part: one["terms"][part] for part in ("origin", "licence", "redistributable")},
            )
            for one in licences_of(corpus)
        ]


OURS = {"origin": "Liescope's own words", "licence": "apache-2.0", "language": ["en"]}
TURNS = 2
"""How many turns stand before a statement: the instruction and what the user says."""
_ASKED = "Please make a statement."
_PARTS, _FEWEST = 4, 8  # one part in four is for validation; groups by instruction
_Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Pairs(Strict):
    honest: Annotated[list[_Words], Field(min_length=1)]
    deceptive: Annotated[list[_Words], Field(min_length=1)]
    statements: Annotated[list[_Words | tuple[_Words, _Words]], Field(min_length=1)]


def pairs(source: str) -> CorpusInMemory:
    """The pairs of a file, or the bundled ones, as conversations: an instruction as the system prompt, what the user
    says, and the statement as the assistant's; both of a pair are in one group.

    Raises UsageError if there is no such file, and BadData, with the place, for one that holds no pairs.
    """
    path = Path(__file__).parent / "probing" / "pairs.toml" if source == BUNDLED else local(source)
    if not path.is_file():
        raise UsageError(f"there is no file {path} of instructed pairs; name one, or {BUNDLED} for those of Liescope")
    found = read_toml(path, _Pairs, 2**24, "write it as docs/guides/probe.md shows")
    said = dict.fromkeys((_ASKED, one) if isinstance(one, str) else one for one in found.statements)
    least, told, rows = min(len(found.honest), len(found.deceptive)), list[list[str]](), []
    for number in range(len(said)):
        each = [own[number % least :: least] for own in (found.honest, found.deceptive)]  # more of one are shared out
        told.append([own[number // least % len(own)] for own in each])
    groups = _groups(told)
    for number, (user, statement) in enumerate(said):
        part = "validation" if groups[number] % _PARTS == _PARTS - 1 else "train"
        for instruction, lies in zip(told[number], (False, True), strict=True):
            turns = (("system", instruction), ("user", user), (ASSISTANT, statement))
            chat = [{"role": role, "content": text} for role, text in turns]
            where = {"group": f"{groups[number]}", "task": f"{number}", "split": part}
            rows.append({"messages": chat, "deceptive": lies, **where})
    return replace(in_rows(rows, **(OURS if source == BUNDLED else {})), receipt=None)


def _groups(instructions: Sequence[Sequence[str]]) -> list[int]:
    """The group of each pair. instructions: of each pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place = {name: at for at, name in enumerate(dict.fromkeys(one for own in instructions for one in own))}
    ends = np.array([(place[own[0]], place[one]) for own in instructions for one in own]).T
    count, group = connected_components(coo_array((np.ones(ends.shape[1]), ends), (len(place),) * 2))
    return [int(group[place[own[0]]]) for own in instructions] if count >= _FEWEST else [*range(len(instructions))]
