"""The statements and players of several corpora, each with the target of its corpus and the units it belongs to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.model_names import one_name, taken_as_one
from liescope.common.text import Units
from liescope.detectors.detector import ROLE, Progress
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
from liescope.games.game_registry import roles_of
from liescope.generate.corpus import as_corpus, check, collected, read
from liescope.labeling.ledger import RULES


def who_spoke(source: str) -> pl.Expr:
    """Where words come from: what is imported is a model's, unless its log names a person."""
    return pl.col(source).replace("imported", "model")


def read_players(folder: Path, name: str) -> pl.DataFrame:
    """The players of all games of a corpus, in order of their games: corpus, game_id (with its corpus), game,
    task, speaker_model and source, as in the table of statements; player, deceives (null where it is not known),
    villager (whether its role is to know nothing) and killed (at night; whom the table votes out is not).
    """
    corpus, seat = pl.lit(name), pl.col("seat").struct
    games = collected(read(folder, "games").select("game_id", "game", seat="seats"), folder)
    bystanders = sorted(roles_of(lambda game: game.bystanders))
    seats = games.sort("game_id", maintain_order=True).explode("seat").drop_nulls("seat")
    return seats.select(
        corpus.alias("corpus"),
        pl.concat_str(corpus, pl.lit("/"), "game_id").alias("game_id"),
        "game",
        task=corpus,
        speaker_model=seat.field("model"),
        source=seat.field("source"),
        player=seat.field("name"),
        deceives=seat.field("deceives"),
        villager=seat.field("role").is_in(bystanders).fill_null(value=False),
        killed=seat.field("fate").eq(KILLED).fill_null(value=False),
    ).with_columns(who_spoke("source"))


TASK = "task"
UNITS = {"model": "speaker_model", "game": "game", "corpus": "corpus", "source": "source", TASK: "task"}
"""The units that can be left out: the column of the table that names each statement's unit. The task is that of a text
or a conversation, and the corpus where a corpus names no tasks.
"""


@dataclass(frozen=True, slots=True)
class TableCorpus:
    """A corpus of a table. name: in it; target: its label, "" for the usual one; family: detectors are trained on
    corpora of the same family; learn: False for one that they are only tested on; games: how many of its games are
    read, drawn the same way each time, 0 for all.
    """

    corpus: str | os.PathLike[str]
    name: str
    target: str = ""
    family: str = ""
    learn: bool = True
    games: int = 0


def at_hand(suite: Suite, stack: ExitStack, progress: Progress) -> tuple[list[TableCorpus], list[str]]:
    """The data sets of a suite as corpora, until the stack is closed, and why others cannot be had here. Raises
    UsageError if none can.
    """
    found, missing = list[TableCorpus](), list[str]()
    for number, data in enumerate(suite.data):
        progress(f"data sets of {suite.name}", number, len(suite.data))
        try:
            corpus = stack.enter_context(opened(data, suite.folder)).corpus
        except NotHad as error:
            missing.append(f"{data.name} is left out: {error}")
            continue
        found.append(TableCorpus(corpus, data.name, data.target, data.family, data.learn, data.games))
    progress(f"data sets of {suite.name}", len(suite.data), len(suite.data))
    if not found:
        raise UsageError("none of the suite's data can be had here; " + "; ".join(missing))
    return found, missing


@dataclass(frozen=True, slots=True)
class TransferTable:
    """Statements of all splits of some corpora, in order of play.

    frame: one row a statement: corpus, statement_id, game_id (with its corpus, so that it is unique), siblings (the
    same, but one name for games that share a beginning), game (the rules), speaker, speaker_model (one name for each
    model), source (scripted, model or human; what is imported is a model's unless its log names a person), text,
    label_role, target, y (null where the target is), canary (whether its publishers ask that nobody trains on it),
    task, family and learn (of its corpus), position (in its game), k_of_n, seat (the speaker's row in players), and, of
    its game: models (of its seats) and self_play (both null where people sit), silent and disclosed (null where they
    are not defined).
    players: those of the games whose target is the role, game after game, with siblings; see `read_players`.
    judges: the ratings of language models that came with the corpora, which sat in no game: corpus, statement_id,
    judge, score. transcripts: by game_id; targets: of each corpus; notes: what was left out.
    """

    frame: pl.DataFrame
    players: pl.DataFrame
    judges: pl.DataFrame
    transcripts: Mapping[str, Transcript]
    targets: Mapping[str, str]
    notes: tuple[str, ...]
    _examples: dict[int, tuple[Example, ...]] = field(default_factory=dict)

    def examples(self, context: int) -> tuple[Example, ...]:
        """One for each row, with up to `context` earlier statements."""
        if context not in self._examples:
            self._examples[context] = make_examples(self.frame, context, games=self.transcripts)
        return self._examples[context]

    def column(self, name: str) -> NDArray[np.str_]:
        """A column of text, (n,)."""
        return self.frame[name].to_numpy().astype(np.str_)

    def seats(self, rows: Rows) -> Rows:
        """The rows of the players of the games of some statements."""
        games = self.frame[rows]["game_id"].unique()
        return self.players["game_id"].is_in(games.implode()).arg_true().to_numpy().astype(np.int64)

    @property
    def games(self) -> NDArray[np.str_]:
        """(n,): the game of each statement; games that share a beginning have one name, and are never parted."""
        return self.column("siblings")

    @property
    def units(self) -> Units:
        """What its statements and games are called."""
        return Units.of(self.frame["game"].unique())

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(n,): whether the target is known."""
        return self.frame["y"].is_not_null().to_numpy()

    @property
    def learnable(self) -> NDArray[np.bool_]:
        """(n,): whether the target is known, and a detector may learn it."""
        known: NDArray[np.bool_] = (
            self.frame.select(pl.col("y").is_not_null() & ~pl.col("canary") & pl.col("learn")).to_series().to_numpy()
        )
        return known

    @property
    def y(self) -> NDArray[np.bool_]:
        """(n,); False where the target is not known."""
        return self.frame["y"].fill_null(value=False).to_numpy()


def read_table(corpora: Sequence[str | os.PathLike[str] | TableCorpus], target: str | Sequence[str]) -> TransferTable:
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
    frames, seated, notes, transcripts = list[pl.DataFrame](), list[pl.DataFrame](), [], dict[str, Transcript]()
    marked, judges = list[pl.DataFrame](), list[pl.DataFrame]()
    for one in every:
        name = one.name
        with as_corpus(one.corpus) as folder:
            check(folder)
            targets[name] = asked[name] or one.target or usual_target(folder)
            marked.append(canaries(folder))
            frame, counts = _read(folder, one, targets[name], marked[-1]), label_counts(read_statements(folder))
            own = read_transcripts(folder)
            players = read_players(folder, name)
            judges.append(_judges(folder, name))
        if one.games:
            drawn = _drawn(frame["game_id"], one.games)
            frame, players = (part.filter(pl.col("game_id").is_in(drawn.implode())) for part in (frame, players))
        transcripts |= {f"{name}/{key}": replace(game, game_id=f"{name}/{key}") for key, game in own.items()}
        known = frame["y"].count()
        if known < frame.height:
            notes.append(
                f"{name}: {frame.height - known:,} of {frame.height:,} statements have no {targets[name]} label"
                + ("" if known else f"; {labels_there_are(counts)}")
            )
        if not one.learn:
            notes.append(f"{name}: detectors are only tested on it, so that no mean and no worst case counts it")
        if words := carry_a_canary(marked[-1]):
            notes.append(f"{name}: {words}, so that they are tested on and not learned from: {NOBODY_TRAINS}")
        frames.append(frame)
        of_role = frame.filter(pl.col("target") == ROLE)["game_id"].unique()
        seated.append(players.filter(pl.col("game_id").is_in(of_role.implode())))
    table, players = pl.concat(frames), pl.concat(seated)
    _check_apart(table)
    if table.height and table["canary"].all():
        raise UsageError(f"{carry_a_canary(pl.concat(marked))}: {NOT_TO_BE_LEARNED}")
    models = players["speaker_model"].append(table["speaker_model"]).unique().drop_nulls().to_list()
    notes += taken_as_one(models)
    named = pl.col("speaker_model").replace(one_name(models))
    each = pl.col("models").list.eval(pl.element().replace(one_name(models)))
    table, players = table.with_columns(named, each), players.with_columns(named)
    seat = players.select("game_id", speaker="player").with_row_index("seat")
    table = table.join(seat, on=["game_id", "speaker"], how="left", maintain_order="left")
    alike = table.select("game_id", "siblings").unique("game_id")
    players = players.join(alike, on="game_id", how="left", maintain_order="left")
    return TransferTable(table, players, pl.concat(judges), transcripts, targets, tuple(notes))


def _judges(folder: Path, name: str) -> pl.DataFrame:
    ratings = read(folder, "ratings").filter(pl.col("observer_role") == "").drop_nulls("suspicion")
    means = ratings.group_by("statement_id", "observer").agg(score=pl.col("suspicion").mean().cast(pl.Float64))
    found = means.select(pl.lit(name).alias("corpus"), "statement_id", pl.col("observer").alias("judge"), "score")
    return collected(found.sort("judge", "statement_id"), folder)


def _drawn(games: pl.Series, most: int) -> pl.Series:
    """Some of the games, by a hash of their ids, so that every run and machine draws the same."""
    ids = sorted(games.unique(), key=lambda game: hashlib.sha256(game.encode(errors="replace")).digest())
    return pl.Series("game_id", ids[:most], dtype=pl.String)


def _targets(names: Sequence[str], given: Sequence[str]) -> dict[str, str]:
    """By corpus, "" where nobody says it."""
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


def _read(folder: Path, one: TableCorpus, target: str, marked: pl.DataFrame) -> pl.DataFrame:
    """One corpus, with the columns of `Table.frame` and those that examples are made of. marked: its `canaries`."""
    corpus = pl.lit(one.name)
    game_id = pl.concat_str(corpus, pl.lit("/"), "game_id")
    games = _games(folder)
    statements = with_k_of_n(read_statements(folder), target).join(
        games, on="game_id", how="left", maintain_order="left"
    )
    return statements.select(
        corpus.alias("corpus"),
        "statement_id",
        game_id.alias("game_id"),
        pl.concat_str(corpus, pl.lit("/"), "siblings").alias("siblings"),
        *("game", "speaker", "speaker_model"),
        who_spoke("source"),
        *("text", "names", "audience", "label_role", "position", K_OF_N),
        task=pl.coalesce("task", corpus),
        family=pl.lit(one.family),
        learn=pl.lit(one.learn),
        target=pl.lit(target),
        y=pl.col(target_column(target)),
        canary=pl.col("game_id").is_in(marked["game_id"].implode()),
        models=pl.when(~pl.col("people")).then("models"),
        self_play=pl.when(~pl.col("people")).then(pl.col("models").list.n_unique() == 1),
        silent="silent",
        disclosed="disclosed",
    )


def _games(folder: Path) -> pl.DataFrame:
    """game_id, people (whether any sit at the table), silent, disclosed. Disclosure is not defined for rules under
    which nobody ever claims to be the detective or to have investigated.
    """
    games = collected(read(folder, "games").select("game_id", "game", "seats", "silences"), folder)
    source = pl.col("seats").list.eval(pl.element().struct.field("source"))
    disclosing = pl.col("game_id").is_in(_disclosures(folder).implode())
    return games.select(
        "game_id",
        people=source.list.contains("human"),
        silent=pl.col("silences") > 0,
        disclosed=pl.when(disclosing.any().over("game")).then(disclosing),
    )


def _disclosures(folder: Path) -> pl.Series:
    """The games in which, by the rules, somebody claims to be the detective, or to have investigated."""
    claims = read(folder, "claims").filter(pl.col("origin") == RULES)
    own_role = (
        (pl.col("kind") == "role")
        & (pl.col("polarity") == "affirmed")
        & pl.col("object").is_in(sorted(roles_of(lambda game: game.investigators)))
        & (pl.col("subject") == pl.col("speaker"))
    )
    found = claims.filter((pl.col("kind") == "investigation") | own_role).select(pl.col("game_id").unique())
    return collected(found, folder)["game_id"]


def _check_apart(table: pl.DataFrame) -> None:
    """Raises UsageError if two corpora hold the same game, word for word."""
    words = table.group_by("corpus", "game_id", maintain_order=True).agg(pl.col("speaker"), pl.col("text"))
    seen: dict[bytes, str] = {}
    for corpus, game_id, speakers, texts in words.iter_rows():
        own = game_id.removeprefix(f"{corpus}/")
        key = hashlib.sha256(repr((own, speakers, texts)).encode(errors="replace")).digest()
        if seen.setdefault(key, corpus) != corpus:
            raise UsageError(
                f"the game {own!r} is in {seen[key]} and in {corpus}, so that a detector trained on one would have "
                "seen the other; give corpora without games in common"
            )
