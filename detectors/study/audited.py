"""What an audit reads of a corpus, how it divides it, and what the controls reach, all with the same games left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats, codes, game_weights, share
from liescope.common.text import Units
from liescope.detectors.examples import Labelled, check_trainable, label_counts, read_statements, target_column
from liescope.detectors.study.controls import CONTROLS, WORDS, with_k_of_n
from liescope.detectors.study.figures import Figure, Finding, Jackknifed
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, Scored, pooled_auroc
from liescope.detectors.study.schemes import FOLDS, Fold, Probe, Scheme, by_group
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD
from liescope.generate.corpus.read import Corpus, collected, read

TEST, TEST_GAMES = "test", 5
"""Fewer games of test than this have no interval worth printing, and are not scored."""
SCHEMES = {"both": (OUT_OF_FOLD, TEST), OUT_OF_FOLD: (OUT_OF_FOLD,), "train-test": (TEST,)}
"""Where controls are scored, by the name of the option: held out by game, or on test after learning from train."""
_NUMBER = r"(?i)[\W_]*(?:game)?[\W_]*\d+$"
_GAMES_A_BATCH = 3


@dataclass(frozen=True, slots=True)
class Examined:
    """What one check found."""

    figures: Sequence[Figure] = ()
    findings: Sequence[Finding] = ()


@dataclass(eq=False)
class Audited:
    """A corpus to be audited. split: as in SCHEMES; spoken: every statement in order of play, with `missing` (no label)
    and `lost` (no text); texts: the n whose text is not lost, with `k_of_n`, and `batch`, `condition`, `run` and
    `prompt_version` of their game; games: the table; step: called after each fit;
    notes: what was left out.

    units: what the corpus calls its statements and games; known: (n,) which texts have the label, and labelled: these;
    y: (n,) False where there is none; groups: (n,) games, those that share a beginning as one.
    """

    target: str
    split: str
    seed: int
    spoken: pl.DataFrame
    texts: pl.DataFrame
    games: pl.DataFrame
    step: Callable[[], None] = lambda: None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        label = self.texts[target_column(self.target)]
        self.units = Units.of(self.games["game"].unique())
        self.known: Bools = label.is_not_null().to_numpy()
        self.labelled = self.texts.filter(self.known)
        self.y: Bools = label.fill_null(False).to_numpy().astype(bool)
        self.groups = self.texts["siblings"].to_numpy().astype(np.str_)

    @cached_property
    def words(self) -> Probe:
        """The probe of the control WORDS, which several checks need; those of others are made for each."""
        return CONTROLS[WORDS].made(self.texts, self.seed)

    def probe(self, control: str) -> Probe:
        return self.words if control == WORDS else CONTROLS[control].made(self.texts, self.seed)

    @cached_property
    def by_game(self) -> Scheme:
        """Folds by game over all texts."""
        return self.held_out(self.groups)

    @cached_property
    def schemes(self) -> dict[str, Scheme]:
        """Schemes by the place where controls are scored; without test if that is too small."""
        train, test = (self.known & (self.texts["split"] == split).to_numpy() for split in ("train", "test"))
        both = all(len(np.unique(self.y[rows])) == 2 for rows in (train, test))
        fold = Fold(np.flatnonzero(train), np.flatnonzero(self.texts["split"] == "test"))
        own = Scheme(self.texts["statement_id"], self.groups, self.y, [[fold]])
        scored = both and len(np.unique(self.groups[test])) >= TEST_GAMES
        found = {OUT_OF_FOLD: self.by_game} | ({TEST: own} if scored else {})
        return {where: scheme for where, scheme in found.items() if where in SCHEMES[self.split]}

    @property
    def first(self) -> str:
        """The place that sentences are about."""
        return next(iter(self.schemes))

    def held_out(self, of: NDArray[np.str_], folds: int = FOLDS) -> Scheme:
        """Folds that hold out together whatever shares a name in `of`, (n,)."""
        return by_group(self.texts["statement_id"], of, self.y, self.known, self.seed, 1, folds)

    def scores(self, control: str, *schemes: Scheme) -> list[Floats]:
        """By scheme, (n,): the scores of a control, NaN where the scheme scores nothing."""
        probe = self.probe(control)
        return [scheme.scores(probe, self.step) for scheme in schemes]

    def auroc(self, score: Floats) -> Jackknifed:
        """The AUROC of the labelled texts that have a score, with all labelled games left out in turn."""
        known = self.known
        return ranked(self.y[known], score[known], self.groups[known], self.seed)

    def row(self, scorer: str, where: str, auroc: Jackknifed, against: str = "") -> Figure:
        """The AUROC of a scorer as a figure, or its excess over that of another scorer or place."""
        metric, other = (POOLED + DIFFERENCE, CONTROL + against) if against else (POOLED, None)
        return auroc.figure(CONTROL + scorer, self.target, where, metric, other)

    def share_of(self, table: pl.DataFrame, found: Bools) -> Jackknifed:
        """The share of the rows of a table with `game_id` for which `found`, (n,), holds."""
        game, games = codes(table["game_id"].to_numpy().astype(np.str_))
        values = share(found.astype(float), np.ones(len(found)), game, game_weights(games, self.seed))
        return Jackknifed(values, table.height, games)


def ranked(y: Bools, score: Floats, groups: NDArray[np.str_], seed: int) -> Jackknifed:
    """The AUROC of those that have a score, with every group left out in turn."""
    there, (group, groups_there_are) = np.isfinite(score), codes(groups)
    scored = Scored(y[there], score[there], group[there], groups_there_are)
    values = pooled_auroc(scored, game_weights(groups_there_are, seed))
    prevalence = float(scored.y.mean()) if there.any() else None
    return Jackknifed(values, int(there.sum()), len(np.unique(scored.game)), prevalence)


def read_audited(
    corpus: Corpus,
    target: str,
    split: str = "both",
    seed: int = 0,
    step: Callable[[], None] = lambda: None,
    most: int = 0,
) -> Audited:
    """Read a corpus. most: of its statements, in whole games drawn at random; 0 for all.

    Raises BadData, UnknownName for a target, UsageError if a class is in too few games."""
    label = pl.col(target_column(target))
    drawn, every = _drawn(corpus, most, seed)
    everything, kept = (read_statements(corpus, keep_lost=lost, games=drawn) for lost in (True, False))
    spoken = everything.with_columns(
        missing=label.is_null(), lost=~pl.col("statement_id").is_in(kept["statement_id"].implode())
    )
    stem = pl.col("game_id").str.replace(_NUMBER, "")  # what games played together share, if few have one of their own
    batch = pl.when(stem.n_unique() * _GAMES_A_BATCH <= pl.len()).then(stem)
    batched = read(corpus, "games").with_columns(batch=batch)
    games = collected(batched.filter(pl.col("game_id").is_in(drawn.implode())), corpus)
    about = games.select("game_id", "batch", "condition", "run", "prompt_version")
    texts = with_k_of_n(kept, target).join(about, on="game_id", how="left", maintain_order="left")
    data = Audited(target, split, seed, spoken, texts, games, step)
    if everything.height < every:
        part = f"{everything.height:,} of {every:,} statements are audited, those of {games.height:,} whole games drawn"
        data.notes = (f"{data.units.say(part)} at random; for more, raise --most (0: all).",)
    known = data.known
    found = Labelled((), data.y[known], data.groups[known], int((~known).sum()), label_counts(texts))
    check_trainable(found, target, 0, "the corpus", data.units)
    if not data.schemes:
        raise UsageError(
            data.units.say("train and test must each hold deceptive and honest statements, and test those of ")
            + f"{TEST_GAMES} {data.units.games} or more; use --split out-of-fold"
        )
    return data


def _drawn(corpus: Corpus, most: int, seed: int) -> tuple[pl.Series, int]:
    """The games of families drawn at random that have at most so many statements; and how many there are in all."""
    said = read(corpus, "statements").group_by("game_id").len()
    family = read(corpus, "games").select("game_id", family=pl.col("siblings").fill_null(pl.col("game_id")))
    found = (
        family.join(said, on="game_id", how="left")
        .group_by("family")
        .agg("game_id", pl.col("len").sum())
        .sort("family")
    )
    families = collected(found, corpus)
    every = int(families["len"].sum())
    order = families[np.random.default_rng(seed).permutation(families.height)]
    few = order.filter((pl.col("len").cum_sum() <= (most or every)) | (pl.int_range(pl.len()) == 0))
    return few["game_id"].explode(), every
