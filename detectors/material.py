"""What a detector is trained on, read from a corpus: the statements of its splits, their games, and who deceives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.reading import Reading
from liescope.common.text import Units, number_of, unit_of
from liescope.detectors.examples import Labelled, corpus_id, count_lost, labelled, read_statements
from liescope.detectors.model_file import CorpusName, WordsOf
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.transcript import read_deceivers, read_transcripts
from liescope.generate.corpus.read import FACTS_FILE, Corpus, collected, licences_of, read

SPLITS = ("train", "validation")
NOBODY_TRAINS = "their publishers ask that nothing is trained on them"
NOT_TO_BE_LEARNED = f"{NOBODY_TRAINS}; use them with evaluate and score, and train on others"
_COMMON_NAME, _MOST_NAMES = 0.01, 200


@dataclass(frozen=True, slots=True)
class Material:
    """statements: of both splits; data: train; others: validation; truth: who deceives, by game; lost: left out."""

    corpus: CorpusName
    statements: pl.DataFrame
    data: Labelled
    others: Labelled
    truth: Mapping[str, frozenset[str]]
    lost: int

    @property
    def learned(self) -> pl.DataFrame:
        """The statements of the training split."""
        return self.statements.filter(pl.col("split") == "train")

    @property
    def games(self) -> frozenset[str]:
        """The ids of all games that the finished detector has seen."""
        return frozenset(self.statements["game_id"])

    def common_names(self) -> list[str]:
        """Names of players in at least 1% of the training games, commonest first: assumed for texts without names."""
        games = self.learned.unique("game_id").select("game_id", "names").explode("names").drop_nulls()
        counted = games.group_by("names").len().sort(["len", "names"], descending=[True, False])
        common = counted.filter(pl.col("len") >= _COMMON_NAME * self.learned["game_id"].n_unique())
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
    out. Raises BadData for a damaged corpus, UsageError where nothing is in the training split.
    """
    statements = read_statements(corpus, SPLITS)
    if "train" not in statements["split"]:
        every = read_statements(corpus, ("train", "validation", "test"))
        called, groups = Units.of(every["game"].unique()), every["siblings"].n_unique()
        where = " and ".join(every["split"].unique().sort()) or "no split"
        raise UsageError(
            f"the training split is empty: {name} has {called.counted(every.height, groups)}, all in {where}; "
            f"add {called.games}, most of which go to the training split"
        )
    games = read_transcripts(corpus, SPLITS)
    train, validation = (
        labelled(statements.filter(pl.col("split") == split), target, text.context, games, text.view)
        for split in SPLITS
    )
    facts = CorpusName(id=corpus_id(corpus), name=name, words=_words_of(corpus))
    truth = read_deceivers(corpus, SPLITS)
    return Material(facts, statements, train, validation, truth, count_lost(corpus, SPLITS))


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
