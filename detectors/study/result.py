"""A finished evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.report.contents import Report
from liescope.common.text import Units
from liescope.detectors.examples import WORDS, target_column
from liescope.detectors.study.beside_judges import JudgeFacts
from liescope.detectors.study.checks import Check
from liescope.detectors.study.figures import Figure, Finding, figure_table, study_json
from liescope.detectors.study.metrics import WITHIN, Thresholds
from liescope.detectors.study.scores import WITHIN_TASK, ScoringPlan, with_tasks


@dataclass(frozen=True, slots=True, repr=False)
class EvaluationResult:
    """A finished evaluation.

    scores, statements: what `evaluate_scores` recomputes the first of `rows` from with `plan`; rows: all figures,
    including the comparison with the players; thresholds: by scorer and target; models: name to the contents of
    model.json; judges: what asking the chat models came to; notes: what could not be computed, and what was left out;
    checks: what must be known before any figure is believed; telling: by target, the word or mark that tells most;
    told, files: the report, and its files, if one was written.
    """

    corpus: str
    plan: ScoringPlan
    models: Mapping[str, Mapping[str, Any]]
    scores: pl.DataFrame
    statements: pl.DataFrame
    rows: tuple[Figure, ...]
    thresholds: Mapping[tuple[str, str], Thresholds]
    judges: tuple[JudgeFacts, ...]
    notes: tuple[str, ...]
    checks: tuple[Check, ...] = ()
    telling: Mapping[str, str] = field(default_factory=dict)
    told: Report | None = None
    files: tuple[Path, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before any figure: what may have been learned by heart."""
        return tuple(words for found in self.checks if found.bad for words in found.sentences)

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the evaluated words come from."""
        return tuple(sorted(self.plan.evaluated(self.statements)["source"].unique()))

    @property
    def targets(self) -> list[str]:
        return list(dict.fromkeys(row.target for row in self.rows))

    @property
    def without_label(self) -> dict[str, dict[str, int]]:
        """How many evaluated statements have no label of each target, by reason, most first."""
        found, evaluated = {}, self.plan.evaluated(self.statements)
        for target in self.targets:
            label = target_column(target)
            missing = evaluated.filter(pl.col(label).is_null())
            reasons = missing[f"{label}_null"] if f"{label}_null" in missing.columns else [""] * missing.height
            found[target] = {reason or "no reason given": count for reason, count in Counter(reasons).most_common()}
        return found

    @property
    def views(self) -> Mapping[str, str]:
        """What each detector and judge reads of a statement, by its name."""
        read = {name: str(file["text"].get("view", WORDS)) for name, file in self.models.items()}
        return read | {judge.name: judge.view for judge in self.judges}

    @property
    def within(self) -> str:
        """What pairs are made within: games, the tasks of conversations with one label each, or nothing, ""."""
        labelled = [with_tasks(self.statements, pl.col(target_column(target))) for target in self.targets]
        if any(WITHIN_TASK in table.columns for table in labelled):
            return "tasks"
        paired = any(row.metric == WITHIN and row.value is not None for row in self.rows)
        return Units.of(self.statements["game"].unique()).games if paired else ""

    @property
    def metrics(self) -> pl.DataFrame:
        """The figures as a frame: scorer, target, where, metric, value, lo, hi, statements, games, prevalence,
        against, why.
        """
        return figure_table(self.rows)

    def to_json(self) -> dict[str, Any]:
        """What `liescope evaluate --json` prints, and report.json holds."""
        return study_json(
            self.findings,
            self.rows,
            self.notes,
            corpus=self.corpus,
            split=self.plan.split,
            hold_out=list(self.plan.hold_out),
            seed=self.plan.seed,
            sources=list(self.sources),
            models=self.models,
            judges=[judge.to_json() for judge in self.judges],
            thresholds=[{"scorer": who, "target": target, **at} for (who, target), at in self.thresholds.items()],
            thresholds_on=self.plan.threshold_split,
            without_label=self.without_label,
            checks=[found.to_json() for found in self.checks],
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The answer, on whom it rests, and what is left open."""
        from liescope.detectors.study.findings import findings

        return findings(self)

    def __str__(self) -> str:
        """The findings in words; the first answers."""
        return "\n".join(found.words for found in self.findings)

    def __repr__(self) -> str:
        return f"<EvaluationResult {self.corpus} ({self.plan.split}): {self.findings[0].words}>"
