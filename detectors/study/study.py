"""One target of one corpus: whoever is scored on its statements, the checks, and what all of it comes to.

`evaluate` and `bench` are presets: they say who is scored, and what is held out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from liescope.detectors.detector import Progress
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.beside_judges import JudgeFacts, Judges, judge_statements
from liescope.detectors.study.checks import copies, shuffles
from liescope.detectors.study.controls import most_telling
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.findings import EvaluationResult
from liescope.detectors.study.learned import control_scores, scores_of
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN
from liescope.detectors.study.schemes import Scheme
from liescope.detectors.study.scorers import evaluate_scores
from liescope.detectors.study.scores import ScoringPlan
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.transcript import Transcript, read_transcripts
from liescope.generate.corpus.read import Corpus


@dataclass
class Study:
    """statements: of the whole corpus; used: those that something may learn from, which the scheme divides; kept: those
    that are evaluated or choose thresholds. Filled by and by: scores, facts of judges, further figures, and what was
    left out and why.
    """

    corpus: Corpus
    name: str
    target: str
    statements: pl.DataFrame
    used: pl.DataFrame
    kept: pl.DataFrame
    plan: ScoringPlan
    scheme: Scheme
    progress: Progress
    tables: list[pl.DataFrame] = field(default_factory=list)
    judges: list[JudgeFacts] = field(default_factory=list)
    more: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def games(self) -> Mapping[str, Transcript]:
        """The transcripts of the games that are evaluated."""
        return read_transcripts(self.corpus, self.plan.splits)

    @property
    def evaluated(self) -> pl.DataFrame:
        """The statements that are evaluated."""
        return self.plan.evaluated(self.kept)

    @property
    def scores(self) -> pl.DataFrame:
        """What everybody gave to the statements that are kept."""
        kept = self.kept.select("statement_id")
        return pl.concat(self.tables).join(kept, on="statement_id", how="semi", maintain_order="left")

    def as_trained(self, name: str, model: LoadedDetector, plan: ScoringPlan | None = None) -> pl.DataFrame:
        """The scores of a trained detector. plan: another one than the study's."""
        own = plan or self.plan
        found = scores_of(name, model, self.statements, self.games, own, self.scheme, self.progress)
        return found.with_columns(target=pl.lit(self.target))

    def add_judges(self, judges: Judges, text: TextConfig, say: bool, first: Collection[str] = ()) -> None:
        """Chat models. say: whether to write about an interrupt; first: games that are drawn before others."""
        asked = judges, self.evaluated, {self.target: text}, self.plan.seed, self.progress, say, first
        found, self.judges = judge_statements(*asked)
        self.tables += found
        self.notes += [words for one in self.judges for words in one.sentences()]

    def add_controls(self, reasoned: bool) -> None:
        """Controls. reasoned: whether a detector reads reasoning."""
        found, notes = control_scores(self.used, self.scheme, self.target, self.plan, reasoned, self.progress)
        self.tables += found
        self.notes += notes

    def concluded(self, models: Mapping[str, LoadedDetector | None], brief: bool = False) -> EvaluationResult:
        """Figures of all that was scored, and the checks of some scorers, by name; None for what learned anew. brief:
        of differences those of the AUROC alone, and nothing else that is not defined.
        """
        self.progress("figures", 0, 1)
        scores = self.scores
        figures = evaluate_scores(scores, self.kept, self.plan)
        checks = [*copies(models, scores, self.kept, self.plan, self.scheme)]
        checks += filter(None, [shuffles(self.used, self.scheme, self.target, self.plan, self.progress)])
        self.progress("figures", 1, 1)
        best = most_telling(self.evaluated, self.target)
        said = (words for one in checks if not one.bad for words in one.sentences)
        return EvaluationResult(
            corpus=self.name,
            target=self.target,
            plan=self.plan,
            models={name: model.file.model_dump() for name, model in models.items() if model},
            scores=scores,
            statements=self.kept,
            rows=(
                *(row for row in figures.rows if not brief or _ranks(row)),
                *self.more,
                *(figure for one in checks for figure in one.figures),
            ),
            thresholds=figures.thresholds,
            judges=tuple(self.judges),
            notes=(*self.notes, *said, *(() if brief else figures.notes)),
            checks=tuple(checks),
            telling=best[0].words if best else "",
        )


def _ranks(row: Figure) -> bool:
    ranking = row.metric.removesuffix(DIFFERENCE) in (WITHIN, POOLED)
    return ranking or (row.against is None and row.value is not None)
