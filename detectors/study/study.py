"""One target of one corpus: everything scored on its statements, the checks, and the conclusions.

Scorers are trained detectors, those made like them that learn anew for each fold, chat models, and controls. `evaluate`
and `bench` are presets: they say who is scored and what is held out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import count

import numpy as np
import polars as pl

from liescope.common.errors import UsageError
from liescope.common.model_names import spellings
from liescope.common.statistics import Bools, Floats
from liescope.common.text import Units
from liescope.detectors.detector import ROLE, Detector, Progress, requests_of
from liescope.detectors.detector_registry import DETECTORS, make
from liescope.detectors.detector_settings import WORDS, EvaluateSettings
from liescope.detectors.examples import (
    Example,
    corpus_id,
    keeps_reasoning,
    label_counts,
    labels_there_are,
    make_examples,
    target_column,
)
from liescope.detectors.folds import Rows
from liescope.detectors.probing.styles import STYLES, in_style
from liescope.detectors.saved import LoadedDetector, load
from liescope.detectors.study import controls
from liescope.detectors.study.beside_judges import JudgeFacts, Judges, judge_statements
from liescope.detectors.study.checks import copies, shuffles
from liescope.detectors.study.figures import Figure, measured
from liescope.detectors.study.findings import EvaluationResult
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN
from liescope.detectors.study.schemes import FOLDS, REPEATS, Fold, Scheme, by_group
from liescope.detectors.study.scorers import Scorer, differences, evaluate_scores, values_of
from liescope.detectors.study.scores import (
    ALL,
    CONTROL,
    NONE,
    OUT_OF_FOLD,
    SCORES,
    SPLIT_OUT,
    ScoringPlan,
    per_detector,
    score_table,
)
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.transcript import Transcript, read_transcripts
from liescope.generate.corpus.read import Corpus, collected, read, silent_note

Model = str | os.PathLike[str] | LoadedDetector


def load_all(models: Model | Sequence[Model]) -> dict[str, LoadedDetector]:
    """Detectors by name. Raises UsageError for none, and for two of one name."""
    found: dict[str, LoadedDetector] = {}
    for given in [models] if isinstance(models, str | os.PathLike | LoadedDetector) else models:
        model = given if isinstance(given, LoadedDetector) else load(given)
        if model.name in found:
            raise UsageError(f"two models are called {model.name!r}; rename one of the folders")
        found[model.name] = model
    if not found:
        raise UsageError("name at least one model to evaluate")
    return found


SMALL = 2_000
"""Up to so many groups, a detector's own corpus is judged whole."""
_REFITTED, _REPEATED = 4_000, 1_000  # up to so many statements, quick kinds learn anew for each fold, and repeat it


def knowing(
    models: Mapping[str, LoadedDetector], corpus_id: str, statements: pl.DataFrame
) -> dict[str, LoadedDetector]:
    """The models that have seen games of a corpus."""
    games = frozenset(statements["game_id"])
    return {name: one for name, one in models.items() if one.file.corpus.id == corpus_id or one.games & games}


def split_for(models: Mapping[str, LoadedDetector], corpus_id: str, statements: pl.DataFrame) -> str:
    """What to evaluate if the user names no split: everything, if no model has seen a game of the corpus; everything
    out of fold, if all models that saw games trained on this corpus, and it is small, split at random; else test.
    """
    if not (seen := knowing(models, corpus_id, statements)):
        return ALL
    own = all(model.file.corpus.id == corpus_id and model.file.training.folds for model in seen.values())
    small = statements["siblings"].n_unique() <= SMALL
    parted = statements["parted"].any() or unheard(seen, statements)[0]
    return OUT_OF_FOLD if own and small and not parted else "test"


def check_unseen(models: Mapping[str, LoadedDetector], corpus_id: str, evaluated: pl.DataFrame, split: str) -> None:
    """Raises UsageError if a model has seen evaluated games; out of fold, those of its own corpus are allowed."""
    games, called = frozenset(evaluated["game_id"]), Units.of(evaluated["game"].unique()).games
    for name, model in models.items():
        seen, own = len(games & model.games), model.file.corpus.id == corpus_id
        if seen and not (own and split == OUT_OF_FOLD):
            advice = "evaluate on --split test" if own and split == ALL else "train it on this corpus"
            raise UsageError(
                f"{name} was trained, or had its thresholds chosen, on {seen} of these {len(games)} {called}; {advice}"
            )


def unheard(models: Mapping[str, LoadedDetector], evaluated: pl.DataFrame) -> tuple[tuple[str, ...], list[str]]:
    """The models here that no detector heard in training; notes on those that some did, or by another name."""
    known = {name: model.file.training.models for name, model in models.items()}
    every = sorted({one for models in known.values() for one in models})
    found, some, other = list[str](), list[str](), list[str]()
    for one in sorted(set(evaluated["models"].explode().drop_nulls())):
        by = [name for name, models in known.items() if spellings(one, models)]
        if not by:
            found.append(one)
        elif len(by) < len(known):
            some.append(f"{one} was in the training of {' and '.join(by)} alone")
        if by and one not in every:
            other.append(f"{one} is taken for {' or '.join(spellings(one, every))}, which was in training")
    return tuple(found), [f"{words}: what it says is not counted as held out" for words in some + other]


def one_target(models: Mapping[str, LoadedDetector]) -> str:
    """The target of all models. Raises UsageError if they differ."""
    targets = {model.file.target: name for name, model in models.items()}
    if len(targets) > 1:
        each = " and ".join(f"{name} for {target}" for target, name in targets.items())
        raise UsageError(f"the detectors were trained for several targets, {each}; evaluate them one after the other")
    return next(iter(targets))


def planned(
    models: Mapping[str, LoadedDetector],
    target: str,
    corpus: Corpus,
    name: str,
    statements: pl.DataFrame,
    own: EvaluateSettings,
) -> tuple[ScoringPlan, list[str]]:
    """The plan, and notes on who was heard in training. Raises UsageError. name: of the corpus."""
    here = corpus_id(corpus)
    frozen = {one: model.thresholds for one, model in models.items() if model.file.corpus.id != here}
    plan = ScoringPlan(own.split or split_for(models, here, statements), (), own.seed, frozen)
    evaluated = plan.evaluated(statements)
    if evaluated.is_empty():
        called, advice = Units.of(statements["game"].unique()), "choose another with --split, or add games"
        if plan.split == "test" and not frozen:
            advice = f"few games leave none for it: evaluate on --split {OUT_OF_FOLD}, or add games"
        words = called.say(f"no statement in the split {plan.split!r}; {advice}")
        raise UsageError(f"{name} has {words}")
    check_unseen(models, here, evaluated, plan.split)
    held_out, notes = unheard(models, evaluated)
    if target not in (labels := label_counts(evaluated)):
        there = labels_there_are(labels)
        raise UsageError(f"no statement of {name}, split {plan.split}, has a {target} label; {there}")
    return replace(plan, hold_out=held_out), [*notes, *without_reasoning(models, evaluated)]


def without_reasoning(models: Mapping[str, LoadedDetector], evaluated: pl.DataFrame) -> list[str]:
    """How many evaluated statements readers of reasoning do not score. Raises UsageError if that is all of them."""
    lacking = evaluated.select((~keeps_reasoning()).sum()).item()
    blind = {name: model.file.text.view for name, model in models.items() if model.file.text.view != WORDS}
    if blind and lacking == evaluated.height:
        raise UsageError(f"{next(iter(blind))} reads what speakers thought, and no evaluated statement keeps any of it")
    return [
        f"{name} reads what speakers thought (view {view}): {lacking:,} of {evaluated.height:,} evaluated statements "
        "keep none of it, and have no score"
        for name, view in blind.items()
        if lacking
    ]


def scheme_of(statements: pl.DataFrame, target: str, plan: ScoringPlan) -> Scheme:
    """What learns from what under a plan; repeated if everything is held out in turn and that is not too much."""
    label, split, ids = statements[target_column(target)], statements["split"], statements["statement_id"]
    y, known = label.fill_null(False).to_numpy().astype(bool), label.is_not_null().to_numpy()
    groups = statements["siblings"].to_numpy().astype(np.str_)
    if plan.split in (ALL, OUT_OF_FOLD):
        return by_group(ids, groups, y, known, plan.seed, REPEATS if statements.height <= _REPEATED else 1)
    train = (split == "train").to_numpy()
    return Scheme(ids, groups, y, [[Fold(np.flatnonzero(known & train), np.flatnonzero(~train))]])


def control_scores(
    statements: pl.DataFrame, scheme: Scheme, target: str, plan: ScoringPlan, reasoned: bool, progress: Progress
) -> tuple[list[pl.DataFrame], list[str]]:
    """Controls' scores, or why there are none, on the scheme's statements. reasoned: whether reasoning is read."""
    if not scheme.repeats:
        too_few = Units.of(statements["game"].unique()).games
        return [], [f"controls, {target}: too few {too_few} to learn from"]
    table, tables = controls.with_k_of_n(statements, target), list[pl.DataFrame]()
    own = (name for name in controls.BESIDE_DETECTORS if (name, target) != (controls.ROLE_ORACLE, ROLE))
    known = [name for name in own if controls.CONTROLS[name].knows(table)]
    for done, name in enumerate(known, 1):
        tables.append(scheme.table(controls.CONTROLS[name].made(table, plan.seed), CONTROL + name, target))
        progress(f"controls of {target}", done, len(known))
    if reasoned and (thought := table.filter(keeps_reasoning())).height:
        probe = controls.CONTROLS[controls.REASONING_LENGTH].made(thought, plan.seed)
        tables.append(scheme.among(thought["statement_id"]).table(probe, CONTROL + controls.REASONING_LENGTH, target))
    return tables, []


@dataclass
class Study:
    """statements: of the whole corpus; used: those that may be learned from, which the scheme divides; kept: those that
    are evaluated or choose thresholds. Filled step by step: scores, facts of judges, further figures, notes.
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
        """Everybody's scores of the kept statements."""
        kept = self.kept.select("statement_id")
        return pl.concat(self.tables).join(kept, on="statement_id", how="semi", maintain_order="left")

    def add(self, figures: Sequence[Figure], notes: Sequence[str]) -> None:
        """Further figures, and what could not be computed."""
        self.more += figures
        self.notes += notes

    def readable(
        self, statements: pl.DataFrame, text: TextConfig, target: str, games: Mapping[str, Transcript]
    ) -> list[Example]:
        """The labelled ones of some statements, as a detector for a target reads them, if it can."""
        made = make_examples(statements, text.context, target, games)
        known = statements[target_column(self.target)].is_not_null()
        return [one for one, labelled in zip(made, known, strict=True) if labelled and one.can_be_read(text.view)]

    def as_trained(self, name: str, model: LoadedDetector, plan: ScoringPlan | None = None) -> pl.DataFrame:
        """The scores of a trained detector: of the evaluated statements by the finished one (out of fold for those it
        was trained on, by fresh fits if its kind learns quickly and asks nobody), and its own scores on the split that
        chooses its thresholds. plan: instead of the study's.
        """
        plan, file = plan or self.plan, model.file
        every = plan.evaluated(self.statements)
        made = make_examples(every, file.text.context, file.target, self.games)
        # unlabelled ones, too: verdicts ask whether whole games are like those that limits were chosen on
        asked = [example for example in made if example.can_be_read(file.text.view)]
        quick = DETECTORS[file.kind].folds >= FOLDS and not requests_of(model.detector, (), ())
        if plan.crossed(name) and quick and len(asked) <= _REFITTED:
            fresh = partial(make, file.kind, file.text, file.options)
            return self.refitted(name, fresh, asked, self.scheme, file.confidence.of_scores)
        own, kept = name not in plan.frozen, pl.DataFrame(schema=SCORES)
        if own:
            split, named = (
                self.statements.select("statement_id", "split"),
                model.scores.with_columns(scorer=pl.lit(name)),
            )
            before = named.join(split, on="statement_id", maintain_order="left")
            if plan.split == OUT_OF_FOLD and before.filter(split="train").is_empty():
                raise UsageError(f"{name} was trained without cross-validation, so it has no honest scores of train")
            kept = before.filter(pl.col("split").is_in([*plan.splits, plan.threshold_split or ""])).select(list(SCORES))
            seen = frozenset(kept["statement_id"]) | frozenset(every.filter(split="train")["statement_id"])
            asked = [example for example in asked if example.statement_id not in seen]
        score = model.probabilities(asked, self.progress)
        held_out, ids = SPLIT_OUT if own else NONE, [example.statement_id for example in asked]
        found = pl.concat([score_table(ids, score, name, self.target, held_out), kept])
        return found.with_columns(target=pl.lit(self.target))

    def refitted(
        self,
        name: str,
        fresh: Callable[[], Detector],
        examples: Sequence[Example],
        scheme: Scheme,
        probability: Callable[[Floats], Floats] = np.asarray,
    ) -> pl.DataFrame:
        """Each statement's score by fresh detectors that learned from other groups. probability: of a score."""
        own, done = scheme.among([example.statement_id for example in examples]), count(1)
        fits = sum(map(len, own.repeats))

        def probe(learn: Rows, score: Rows, y: Bools) -> Floats:
            detector = fresh()
            detector.fit([examples[at] for at in learn], y[learn], own.groups[learn])
            return probability(detector.predict_proba([examples[at] for at in score])[:, 1])

        return own.table(probe, name, self.target, lambda: self.progress(f"{name}, out of fold", next(done), fits))

    def add_judges(self, judges: Judges, text: TextConfig, say: bool, first: Collection[str] = ()) -> None:
        """Add chat models. say: whether to report an interrupt; first: games to draw before others."""
        asked = judges, self.evaluated, self.target, text, self.plan.seed, self.progress, say, first
        found, self.judges = judge_statements(*asked)
        self.tables += found
        self.notes += [words for one in self.judges for words in one.sentences()]

    def add_controls(self, reasoned: bool) -> None:
        """Add controls. reasoned: whether a detector reads reasoning."""
        found, notes = control_scores(self.used, self.scheme, self.target, self.plan, reasoned, self.progress)
        self.tables += found
        self.notes += notes

    def add_styles(self, models: Mapping[str, LoadedDetector], scores: pl.DataFrame, plan: ScoringPlan) -> None:
        """Add figures of trained detectors in every style. scores: of finished detectors; plan: what of them."""
        statements = plan.evaluated(self.kept)
        for name, model in models.items():
            there = set(scores.filter(scorer=name)["statement_id"])
            every = self.readable(statements, model.file.text, self.target, self.games)
            asked = [one for one in every if one.statement_id in there]
            if not asked or requests_of(model.detector, (), asked[:1]):
                why = "asks a chat model" if asked else "has no statement here that it has not seen"
                self.notes.append(f"{name} {why}, and is not shown in other styles")
                continue
            said = _in_styles(asked, plan.seed)
            found = {style: model.probabilities(one, self.progress) for style, one in said.items()}
            self.more += _shifts(name, asked, found, self, plan)

    def add_learned_styles(
        self, name: str, fresh: Callable[[], Detector], examples: Sequence[Example], scheme: Scheme
    ) -> None:
        """Add figures of a detector that learns anew, from statements as written, once for each fold."""
        own, said = scheme.among([one.statement_id for one in examples]), _in_styles(examples, self.plan.seed)
        found = {style: np.full(len(examples), np.nan) for style in said}
        for fold in own.repeats[0] if own.repeats else ():
            if len(np.unique(y := own.y[fold.learn])) == 2 and len(fold.score):
                detector = fresh().fit([examples[at] for at in fold.learn], y, own.groups[fold.learn])
                for style, score in found.items():
                    score[fold.score] = detector.predict_proba([said[style][at] for at in fold.score])[:, 1]
        self.more += _shifts(name, examples, found, self, self.plan)

    def concluded(self, models: Mapping[str, LoadedDetector | None], brief: bool = False) -> EvaluationResult:
        """All figures and checks; models: None for what learned anew; brief: only AUROC's differences, all defined."""
        self.progress("figures", 0, 1)
        scores = self.scores
        figures = evaluate_scores(scores, self.kept, self.plan)
        checks = [*copies(models, scores, self.kept, self.plan, self.scheme)]
        checks += filter(None, [shuffles(self.used, self.scheme, self.target, self.plan, self.progress)])
        self.progress("figures", 1, 1)
        best = controls.most_telling(self.evaluated, self.target)
        silent = silent_note(collected(read(self.corpus, "games"), self.corpus))
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
            notes=(*self.notes, *silent, *said, *(() if brief else figures.notes)),
            checks=tuple(checks),
            telling=best[0].words if best else "",
        )


def _ranks(row: Figure) -> bool:
    ranking = row.metric.removesuffix(DIFFERENCE) in (WITHIN, POOLED)
    return ranking or (row.against is None and row.value is not None)


STYLE, AS_WRITTEN = "style=", "as written"


def _in_styles(examples: Sequence[Example], seed: int) -> dict[str, Sequence[Example]]:
    return {AS_WRITTEN: examples} | {style: in_style(examples, style, seed) for style in STYLES}


def _shifts(
    name: str, examples: Sequence[Example], found: Mapping[str, Floats], study: Study, plan: ScoringPlan
) -> Iterator[Figure]:
    """Figures in each style, and how they differ from those as written. found: scores by style, NaN for none."""
    plain, measure, target = None, partial(values_of, plan=plan, names=(WITHIN, POOLED)), study.target
    for style, score in found.items():
        scores = score_table([one.statement_id for one in examples], score, name, target).filter(pl.col("score") >= 0)
        for _, _, table in per_detector(scores, plan.evaluated(study.kept)):
            one, where = Scorer(name, table, measure), f"{plan.split}:{STYLE}{style}"
            yield from measured(name, target, where, one.values, one.table)
            yield from differences([(one, plain)], target, where) if plain else ()
            plain = plain or one
