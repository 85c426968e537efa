"""Chat models as scorers of the statements that detectors are evaluated on."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from liescope.common.errors import UsageError
from liescope.common.statistics import Floats, expit, logit
from liescope.detectors.detector import Progress
from liescope.detectors.detector_settings import WORDS
from liescope.detectors.examples import Example, make_examples, target_column
from liescope.detectors.judge.asking import Spent, ask_judge, check_model
from liescope.detectors.judge.calibration import EDGE, agreement, mean_odds
from liescope.detectors.judge.prompt import JudgePrompt, read_prompt
from liescope.detectors.study.scores import score_table
from liescope.detectors.text_form import TextConfig, textualize
from liescope.generate.players.run_limits import Limits

JUDGE = "judge:"


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """The result of asking a judge. how: "log-probability" of its answer, or "stated confidence"; statements: asked
    about; failed: those without a score, by reason; found: replies in the cache; requests, tokens, cost: this time,
    cost None without a price; view: what it was shown of each.
    """

    name: str
    how: str
    served_models: tuple[str, ...]
    statements: int
    failed: Mapping[str, int]
    found: int
    requests: int
    tokens: int
    cost: float | None
    currency: str
    view: str = WORDS

    def sentences(self) -> list[str]:
        """What to tell the user about it."""
        cost = "" if self.cost is None else f", {self.cost:.4f} {self.currency}"
        asked = f", {self.found:,} replies kept from before, {self.requests:,} requests, {self.tokens:,} tokens{cost}"
        said = [f"{self.name}: {self.how}; {self.statements:,} statements{asked * bool(self.found + self.requests)}"]
        return said + [f"{self.name}: {count:,} statements have no score ({why})" for why, count in self.failed.items()]


@dataclass(frozen=True, slots=True)
class Judges:
    """specs: "openai:MODEL…"; most: statements a target, by whole games, None for all; views: shown in turn."""

    specs: tuple[str, ...]
    prompt: JudgePrompt
    most: int | None
    limits: Limits
    views: tuple[str, ...] = (WORDS,)


def judges_of(
    specs: Sequence[str],
    most: int | None,
    prompt: str | os.PathLike[str] | None,
    limits: Limits,
    views: Sequence[str] = (WORDS,),
) -> Judges:
    """The judges that the options name. Raises UsageError (also for a missing key), BadData."""
    for spec in specs:
        check_model(spec, limits)
    used = read_prompt(None if prompt is None else Path(prompt))
    for view in views:
        used.check_has(view)
    return Judges(tuple(specs), used, most, limits, tuple(dict.fromkeys(views)))


def judge_statements(
    judges: Judges,
    evaluated: pl.DataFrame,
    target: str,
    text: TextConfig,
    seed: int,
    progress: Progress,
    say: bool,
    first: Collection[str] = (),
) -> tuple[list[pl.DataFrame], list[JudgeFacts]]:
    """A score table and the facts of each judge, for each view.

    evaluated: of `read_statements`; those with a label are judged. text: how a statement becomes text. first: games
    that are drawn before others. say: whether to report an interrupt on standard error. Raises UsageError for a model
    that cannot be opened, RunPaused if it cannot be asked for now, and KeyboardInterrupt; replies are kept.
    """
    tables, facts = list[pl.DataFrame](), list[JudgeFacts]()
    criteria = judges.prompt.criteria
    weights = np.array([one.weight or 1.0 for one in criteria])
    for view in judges.views:
        shown = text.model_copy(update={"view": view})
        items = _asked_about(evaluated, target, shown, judges.most, seed, first)
        if view != WORDS and not items:
            raise UsageError("no evaluated statement keeps what its speaker thought, so that no judge can be shown it")
        questions = [judges.prompt.about_statement(textualize(one, shown), target, view) for one in items]
        scores = dict[str, Floats]()
        for spec in judges.specs:
            spent = Spent()
            asking = ask_judge(spec, questions, judges.limits, progress, spent=spent, say=say)
            how = "stated confidence" if asking.stated else "log-probability"
            said = [*([] if view == WORDS else [view]), *([how] if asking.stated else [])]
            name = f"{JUDGE}{asking.label}" + (f" ({', '.join(said)})" if said else "")
            if name in {fact.name for fact in facts}:
                raise UsageError(f"two judges are called {name!r}; evaluate them one after the other")
            none = (np.nan,) * max(len(criteria), 1)
            told = np.array([asking.answers.get(at, none) for at in range(len(items))]).reshape(len(items), len(none))
            # of several criteria, each counts by its weight; one answer stays as it was said
            scores[name] = expit(mean_odds(logit(told, EDGE), weights)) if len(none) > 1 else told[:, 0]
            cost = spent.cost if asking.priced else None
            failed, served = dict(asking.failed.most_common()), tuple(sorted(asking.served))
            paid = (spent.found, spent.requests, spent.tokens, cost, judges.limits.currency)
            facts.append(JudgeFacts(name, how, served, len(items), failed, *paid, view))
        if len(scores) > 1:
            odds = logit(np.column_stack([*scores.values()]), EDGE)
            how = f"mean log-odds of {len(scores)} judges, {agreement(odds)}"
            name = f"{JUDGE}mean of {', '.join(one.removeprefix(JUDGE) for one in scores)}"
            scores[name] = expit(mean_odds(odds))
            count = int((~np.isnan(odds)).any(1).sum())
            facts.append(JudgeFacts(name, how, (), count, {}, 0, 0, 0, None, judges.limits.currency, view))
        for name, score in scores.items():
            there = np.flatnonzero(~np.isnan(score))
            tables.append(score_table([items[at].statement_id for at in there], score[there], name, target))
    return tables, facts


def _asked_about(
    evaluated: pl.DataFrame, target: str, text: TextConfig, most: int | None, seed: int, first: Collection[str]
) -> list[Example]:
    """The labelled statements in view of whole games, drawn at random, some first, until there are enough."""
    kept = evaluated[target_column(target)].is_not_null().to_list()
    counted = evaluated.filter(kept)["game_id"].value_counts().sort("game_id")
    names, counts = counted["game_id"].to_numpy(), counted["count"].to_numpy()
    order = np.random.default_rng(seed).permutation(len(names))
    order = order[np.argsort(~np.isin(names[order].astype(str), list(first)), kind="stable")]
    before = counts[order].cumsum() - counts[order]
    drawn = set(names[order[before < (np.inf if most is None else most)]])
    examples = zip(make_examples(evaluated, text.context), kept, strict=True)
    return [one for one, labelled in examples if labelled and one.game_id in drawn and one.can_be_read(text.view)]
