"""What an audit reads of a corpus, how it divides it, and what the controls reach, with the same games left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats, Weights, codes, game_weights, share
from liescope.common.text import Units
from liescope.detectors.examples import Labelled, check_trainable, label_counts, read_statements, target_column
from liescope.detectors.study.alarms import Jackknifed
from liescope.detectors.study.controls import CONTROLS, with_k_of_n
from liescope.detectors.study.metrics import Scored, pooled_auroc
from liescope.detectors.study.schemes import FOLDS, Part, Probe, Scheme, by_group
from liescope.detectors.study.scores import OUT_OF_FOLD
from liescope.generate.corpus import collected, read

TEST, TEST_GAMES = "test", 5
"""Fewer games of test than this have no interval worth printing, and are not scored."""
SCHEMES = {"both": (OUT_OF_FOLD, TEST), OUT_OF_FOLD: (OUT_OF_FOLD,), "train-test": (TEST,)}
"""Where probes are scored, by the name of the option: held out by game, or on test after learning from train."""
_NUMBER = r"(?i)[\W_]*(?:game)?[\W_]*\d+$"
_GAMES_A_BATCH = 3


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """How an audit is made. split: as in SCHEMES; shuffles: of the labels."""

    target: str
    split: str
    shuffles: int
    seed: int


@dataclass(frozen=True, eq=False)
class Audited:
    """A corpus to be audited. spoken: every statement in order of play, with `missing` (no label) and `lost` (no text);
    texts: the n whose text is left, with `k_of_n`, and `batch`, `condition`, `run` and `prompt_version` of their game;
    games: the table; step: called after each fit.

    Raises UsageError if there are too few games with deceptive, or with honest, statements.
    """

    plan: AuditPlan
    spoken: pl.DataFrame
    texts: pl.DataFrame
    games: pl.DataFrame
    step: Callable[[], None] = field(default=lambda: None)

    def __post_init__(self) -> None:
        known = self.known
        dropped = int((~known).sum())
        data = Labelled((), self.y[known], self.groups[known], dropped, label_counts(self.texts))
        check_trainable(data, self.plan.target, 0, "the corpus", self.units)
        if not self.places:
            raise UsageError(
                self.units.say("train and test must each hold deceptive and honest statements, and test those of ")
                + f"{TEST_GAMES} {self.units.games} or more; use --split out-of-fold"
            )

    @cached_property
    def units(self) -> Units:
        """What the corpus calls its statements and games."""
        return Units.of(self.games["game"].unique())

    @cached_property
    def known(self) -> Bools:
        """(n,): which texts have the label."""
        return self.texts[target_column(self.plan.target)].is_not_null().to_numpy()

    @cached_property
    def y(self) -> Bools:
        """(n,), False where there is no label."""
        return self.texts[target_column(self.plan.target)].fill_null(False).to_numpy().astype(bool)

    @cached_property
    def groups(self) -> NDArray[np.str_]:
        """(n,): games, those that share a beginning as one."""
        return self.texts["siblings"].to_numpy().astype(np.str_)

    @property
    def labelled(self) -> pl.DataFrame:
        """The texts that have the label."""
        return self.texts.filter(pl.Series(self.known))

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Where probes are scored; not on test, where it is too small."""
        split = self.texts["split"].to_numpy().astype(np.str_)
        parts = [self.known & (split == name) for name in ("train", "test")]
        both = all(len(np.unique(self.y[rows])) == 2 for rows in parts)
        scored = both and len(np.unique(self.groups[parts[1]])) >= TEST_GAMES
        return tuple(where for where in SCHEMES[self.plan.split] if scored or where != TEST)

    @cached_property
    def by_game(self) -> Scheme:
        """Folds by game over all texts."""
        return self.held_out(self.groups)

    def held_out(self, of: NDArray[np.str_], folds: int = FOLDS) -> Scheme:
        """Folds that hold whatever has one name in `of`, (n,), out together."""
        return by_group(self.texts["statement_id"], of, self.y, self.known, self.plan.seed, 1, folds)

    @cached_property
    def train_test(self) -> Scheme:
        train, test = ((self.texts["split"] == name).to_numpy() for name in ("train", "test"))
        part = Part(np.flatnonzero(self.known & train), np.flatnonzero(test))
        return Scheme(self.texts["statement_id"], self.groups, self.y, [[part]])

    def probe(self, control: str) -> Probe:
        """A control's, made once."""
        if control not in self._probes:
            self._probes[control] = CONTROLS[control].made(self.texts, self.plan.seed)
        return self._probes[control]

    def reached(self, control: str, where: str = OUT_OF_FOLD) -> Jackknifed:
        """The AUROC of a control out of fold or on test; computed once."""
        if (control, where) not in self._reached:
            scheme = self.by_game if where == OUT_OF_FOLD else self.train_test
            self._reached[control, where] = self.auroc(self.scores(control, scheme))
        return self._reached[control, where]

    def scores(self, control: str, scheme: Scheme) -> Floats:
        """(n,): of a control, NaN where the scheme scores nothing."""
        return scheme.scores(self.probe(control), self.step)

    def auroc(self, score: Floats, rows: Bools | None = None) -> Jackknifed:
        """The AUROC of the labelled texts that have a score, or of some of these."""
        use = self.known & np.isfinite(score) & (True if rows is None else rows)
        game, weights = self._grouped
        scored = Scored(self.y[use], score[use], game[use], weights.shape[1])
        prevalence = float(scored.y.mean()) if use.any() else None
        return Jackknifed(pooled_auroc(scored, weights), int(use.sum()), len(np.unique(scored.game)), prevalence)

    def share_of(self, table: pl.DataFrame, found: Bools) -> Jackknifed:
        """The share of the rows of a table with `game_id` for which `found`, (n,), holds."""
        game, games = codes(table["game_id"].to_numpy().astype(np.str_))
        weights = game_weights(games, self.plan.seed)
        return Jackknifed(share(found.astype(float), np.ones(len(found)), game, weights), table.height, games)

    @cached_property
    def _grouped(self) -> tuple[NDArray[np.int64], Weights]:
        game = np.zeros(len(self.known), dtype=np.int64)
        game[self.known], games = codes(self.groups[self.known])
        return game, game_weights(games, self.plan.seed)

    @cached_property
    def _probes(self) -> dict[str, Probe]:
        return {}

    @cached_property
    def _reached(self) -> dict[tuple[str, str], Jackknifed]:
        return {}


def read_audited(corpus: Path, plan: AuditPlan, step: Callable[[], None] = lambda: None) -> Audited:
    """Read a corpus folder. Raises BadData if it is damaged, UnknownName for a target."""
    label = pl.col(target_column(plan.target))
    everything, kept = read_statements(corpus, keep_lost=True), read_statements(corpus)
    spoken = everything.with_columns(
        missing=label.is_null(), lost=~pl.col("statement_id").is_in(kept["statement_id"].implode())
    )
    games = collected(read(corpus, "games"), corpus).with_columns(batch=_batch())
    about = games.select("game_id", "batch", "condition", "run", "prompt_version")
    texts = with_k_of_n(kept, plan.target).join(about, on="game_id", how="left", maintain_order="left")
    return Audited(plan, spoken, texts, games, step)


def _batch() -> pl.Expr:
    """What games played together share: the game's id without the number at its end; null if that tells most games
    apart, so that it names no batches.
    """
    stem = pl.col("game_id").str.replace(_NUMBER, "")
    return pl.when(stem.n_unique() * _GAMES_A_BATCH <= pl.len()).then(stem)
