"""The statements and players of several corpora, each with the target of its corpus and the units it belongs to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.model_names import one_name, taken_as_one
from liescope.common.statistics import Bools
from liescope.common.text import Units
from liescope.detectors.detector import ROLE, Progress
from liescope.detectors.detector_settings import UNITS
from liescope.detectors.examples import (
    Example,
    corpus_name,
    label_counts,
    labels_there_are,
    make_examples,
    read_statements,
    target_column,
    usual_target,
)
from liescope.detectors.folds import Rows
from liescope.detectors.material import NOBODY_TRAINS, NOT_TO_BE_LEARNED, canaries, carry_a_canary
from liescope.detectors.study.controls import K_OF_N, with_k_of_n
from liescope.detectors.suite import NotHad, Suite, opened
from liescope.detectors.view.transcript import KILLED, Transcript, read_transcripts
from liescope.generate.corpus.open import as_corpus
from liescope.generate.corpus.read import Corpus, check, collected, read

CAME_ALONG = "judge: "
"""The prefix of the names of judges that came with the corpora."""


@dataclass(frozen=True, slots=True)
class TableCorpus:
    """A corpus of a table. name: in it; target: its label, "" for the usual one; learn: False for test only."""

    corpus: Corpus
    name: str
    target: str = ""
    learn: bool = True


def at_hand(suite: Suite, progress: Progress) -> tuple[list[TableCorpus], list[str]]:
    """The available data sets of a suite, and notes on what is left out. Raises UsageError if none is available."""
    found, notes = list[TableCorpus](), list[str]()
    for done, data in enumerate(suite.data, 1):
        try:
            here = opened(data, suite.folder)
            found.append(TableCorpus(here.corpus, data.name, data.target, data.learn))
            notes += [f"{data.name}: {words}" for words in here.notes]
        except NotHad as error:
            notes.append(f"{data.name} is left out: {error}")
        progress(f"data sets of {suite.name}", done, len(suite.data))
    if not found:
        raise UsageError("none of the suite's data can be had here; " + "; ".join(notes))
    return found, notes


@dataclass(frozen=True, slots=True)
class UnitTable:
    """n statements of all splits of some corpora, in order of play, and m players.

    frame: one row a statement: corpus, statement_id, game_id (with its corpus, so that it is unique), siblings (the
    same, but one name for games that share a beginning), game (the rules), speaker, speaker_model (one name for each
    model), source (scripted, model or human; what is imported is a model's unless its log names a person), text,
    label_role, target, y (null where the target is), canary (whether its publishers ask that nobody train on it),
    task, learn (of its corpus), position (in its game), k_of_n, and for each language model whose ratings
    came with the corpora, which sat in no game, `CAME_ALONG` and its name.
    players: those of the games whose target is the role, game after game: corpus, game_id, siblings, the units;
    player, deceives (null where it is not known) and killed (at night; whom the players vote out is not).
    transcripts: by game_id; targets: of each corpus; notes: what was left out. games: (n,), `siblings`, which are never
    parted; y: (n,), False where the target is not known; labelled, learnable: (n,), whether it is, and may be learned.
    """

    frame: pl.DataFrame
    players: pl.DataFrame
    transcripts: Mapping[str, Transcript]
    targets: Mapping[str, str]
    notes: tuple[str, ...]
    games: NDArray[np.str_]
    y: Bools
    labelled: Bools
    learnable: Bools
    _examples: dict[int, tuple[Example, ...]] = field(default_factory=dict)

    def examples(self, context: int) -> tuple[Example, ...]:
        """One for each row, with up to `context` earlier statements."""
        if context not in self._examples:
            self._examples[context] = make_examples(self.frame, context, games=self.transcripts)
        return self._examples[context]

    def units(self, by: str) -> NDArray[np.str_]:
        """(n,): the unit of each statement."""
        return self.frame[UNITS[by]].to_numpy().astype(np.str_)

    def seats(self, rows: Rows) -> Rows:
        """The rows of the players of the games of some statements."""
        games = self.frame[rows]["game_id"].unique()
        return self.players["game_id"].is_in(games.implode()).arg_true().to_numpy().astype(np.int64)

    def judged(self, rows: Rows) -> Rows:
        """The indices, among all n + m, of some statements and of the players of their games."""
        return np.concatenate([rows, self.frame.height + self.seats(rows)])

    @property
    def called(self) -> Units:
        """What its statements and games are called."""
        return Units.of(self.frame["game"].unique())


def read_table(corpora: Sequence[str | os.PathLike[str] | TableCorpus], target: str | Sequence[str]) -> UnitTable:
    """Read the statements of all splits. target: one name for all corpora, and "CORPUS=NAME" for a corpus apart; each
    corpus's own or usual target where none is given.

    Raises UsageError for two corpora of one name, a target of a corpus that is not given, a game that is in two of the
    corpora, or nothing that may be learned from; UnknownName for a target; BadData for a damaged corpus.
    """
    every = [one if isinstance(one, TableCorpus) else TableCorpus(one, corpus_name(one)) for one in corpora]
    names = [one.name for one in every]
    if not names:
        raise UsageError("name at least one corpus")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"two corpora are called {twice[0]!r}; rename one of the folders")
    asked, targets = _targets(names, [target] if isinstance(target, str) else target), dict[str, str]()
    frames, seated, marked = list[pl.DataFrame](), list[pl.DataFrame](), list[pl.DataFrame]()
    notes, transcripts = list[str](), dict[str, Transcript]()
    for one in every:
        corpus = as_corpus(one.corpus)
        check(corpus)
        targets[one.name] = asked[one.name] or one.target or usual_target(corpus)
        marked.append(canaries(corpus))
        statements = read_statements(corpus)
        frame = _frame(statements, corpus, one, targets[one.name], marked[-1]["game_id"])
        own, players = read_transcripts(corpus), _players(corpus, one.name)
        transcripts |= {f"{one.name}/{key}": replace(game, game_id=f"{one.name}/{key}") for key, game in own.items()}
        if lacking := frame["y"].null_count():
            there = f"; {labels_there_are(label_counts(statements))}" if lacking == frame.height else ""
            notes.append(
                f"{one.name}: {lacking:,} of {frame.height:,} statements have no {targets[one.name]} label{there}"
            )
        if not one.learn:
            notes.append(f"{one.name}: detectors are only tested on it, so that no mean and no worst case counts it")
        if words := carry_a_canary(marked[-1]):
            notes.append(f"{one.name}: {words}, so that they are tested on and not learned from: {NOBODY_TRAINS}")
        of_role = frame.filter(pl.col("target") == ROLE).select("game_id", "siblings").unique()
        frames.append(frame)
        seated.append(players.join(of_role, on="game_id", maintain_order="left"))
    table, players = pl.concat(frames, how="diagonal"), pl.concat(seated)
    _check_apart(table)
    if table.height and table["canary"].all():
        raise UsageError(f"{carry_a_canary(pl.concat(marked))}: {NOT_TO_BE_LEARNED}")
    models = players["speaker_model"].append(table["speaker_model"]).unique().drop_nulls().to_list()
    named = pl.col("speaker_model").replace(one_name(models))
    known = table["y"].is_not_null()
    return UnitTable(
        table.with_columns(named),
        players.with_columns(named),
        transcripts,
        targets,
        (*notes, *taken_as_one(models)),
        games=table["siblings"].to_numpy().astype(np.str_),
        y=table["y"].fill_null(value=False).to_numpy(),
        labelled=known.to_numpy(),
        learnable=(known & ~table["canary"] & table["learn"]).to_numpy(),
    )


def _targets(names: Sequence[str], given: Sequence[str]) -> dict[str, str]:
    """Targets by corpus, "" if not given."""
    general, own = "", dict[str, str]()
    for words in given:
        corpus, apart, target = words.rpartition("=")
        target_column(target)
        if not apart:
            general = target
        elif corpus in names:
            own[corpus] = target
        else:
            raise UsageError(f"--target {words}: no corpus is called {corpus!r}; they are {', '.join(names)}")
    return {name: own.get(name, general) for name in names}


def _frame(statements: pl.DataFrame, corpus: Corpus, one: TableCorpus, target: str, marked: pl.Series) -> pl.DataFrame:
    """The columns of `UnitTable.frame` and those that examples are made of. marked: games that carry a canary."""
    name = pl.lit(one.name)
    rated = with_k_of_n(statements, target).join(_judged(corpus), on="statement_id", how="left", maintain_order="left")
    return rated.select(
        *("statement_id", "game", "speaker", "speaker_model", "text", "names", "audience", "label_role", "position"),
        *(K_OF_N, f"^{CAME_ALONG}.*$"),
        **{key: pl.concat_str(name, pl.lit("/"), key) for key in ("game_id", "siblings")},
        corpus=name,
        source=pl.col("source").replace("imported", "model"),
        task=pl.coalesce("task", name),
        learn=pl.lit(one.learn),
        target=pl.lit(target),
        y=pl.col(target_column(target)),
        canary=pl.col("game_id").is_in(marked.implode()),
    )


def _judged(corpus: Corpus) -> pl.DataFrame:
    """statement_id, and a column for each language model that rated statements and sat in no game."""
    ratings = read(corpus, "ratings").filter(pl.col("observer_role") == "").drop_nulls("suspicion")
    rated = ratings.select(
        "statement_id", pl.col("suspicion").cast(pl.Float64), judge=pl.concat_str(pl.lit(CAME_ALONG), "observer")
    )
    found = collected(rated.sort("judge", "statement_id"), corpus)
    return found.pivot("judge", index="statement_id", values="suspicion", aggregate_function="mean")


def _players(corpus: Corpus, called: str) -> pl.DataFrame:
    """The players of all games of a corpus, game after game, with the columns of `UnitTable.players`."""
    name, seat = pl.lit(called), pl.col("seat").struct
    games = collected(read(corpus, "games").select("game_id", "game", seat="seats"), corpus)
    seats = games.sort("game_id", maintain_order=True).explode("seat").drop_nulls("seat")
    return seats.select(
        "game",
        corpus=name,
        game_id=pl.concat_str(name, pl.lit("/"), "game_id"),
        task=name,
        speaker_model=seat.field("model"),
        source=seat.field("source").replace("imported", "model"),
        player=seat.field("name"),
        deceives=seat.field("deceives"),
        killed=seat.field("fate").eq(KILLED).fill_null(value=False),
    )


def _check_apart(table: pl.DataFrame) -> None:
    """Raises UsageError if two corpora hold the same game, word for word."""
    games = table.group_by("corpus", "game_id", maintain_order=True).agg("speaker", "text")
    own = games.with_columns(pl.col("game_id").str.strip_prefix(pl.col("corpus") + "/"))
    same = own.group_by("game_id", "speaker", "text", maintain_order=True).agg("corpus")
    for game, corpora in same.select("game_id", "corpus").iter_rows():
        if len(corpora) > 1:
            raise UsageError(
                f"the game {game!r} is in {corpora[0]} and in {corpora[1]}, so that a detector trained on one would "
                "have seen the other; give corpora without games in common"
            )
