"""The report of an evaluation in words and tables, made of its rows and the declaration of the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from liescope.data_cards.cards import markdown as md
from liescope.data_cards.tables import TARGETS
from liescope.detectors.evaluation.metrics import DIFFERENCE, METRICS, words_of
from liescope.detectors.evaluation.populations import POPULATIONS, SPEAKER, is_population
from liescope.detectors.evaluation.result import EvaluationResult
from liescope.detectors.evaluation.rows import MetricRow
from liescope.detectors.evaluation.scores import scripted_warning

HEADLINE = tuple(metric.name for metric in METRICS if metric.headline)
COMPARED = (
    "Differences are the first minus the second, on the same statements and in the same resamples of games. Recall at "
    "a realised rate gives each of the two the threshold at which it flags exactly that share of the evaluated honest "
    "statements, in each resample anew."
)
SPEAKERS = (
    "The offset is the mean score of a model's honest statements, less that of everybody's, in log-odds: how far the "
    "detector takes that model for a liar whatever it says. `AUROC centred` is the ranking without it: a speaker's "
    "scores are averaged over the game and centred on the mean of the game's speakers, so it is known after the game."
)
PLAYERS = (
    "On rated statements both score the same statements: `rated-by-villagers` is the fair comparison, since "
    "villagers know no more than the words; `rated-by-all` counts the mafioso and the detective too, who know who "
    "deceives. In the villager's seat both name one of the living others; differences are detector minus players, "
    "paired by game; chance is what naming at random would reach. `control:detective_claim` names whoever claims "
    "least to be the detective or to have investigated: a detector that does no better may have learned only that. "
    "`observers:one_coin` and `observers:dawid_skene` weigh each observer by how reliable agreement shows it to be, "
    "without the labels (Dawid and Skene 1979); `observer:` rows are one observer each. n observers whose errors "
    "correlate by rho are worth n / (1 + (n - 1) rho) independent ones. `voted-on`: votes as answers about each player "
    "who stood."
)


def introduction(evaluation: EvaluationResult) -> str:
    """How to read the figures."""
    plan = evaluation.plan
    chosen = "Thresholds were chosen on the validation split of the corpus that a detector was trained on"
    if plan.threshold_split is not None:
        chosen = (
            f"Thresholds were chosen on {plan.threshold_split} (for a detector trained on another corpus: on its own)"
        )
    return (
        f"Every figure has a 95% interval from {plan.draws} resamples of whole games (seed {plan.seed}). {chosen}: for "
        "1% and 5% false positives, with the realised rates beside them, and for F1 and balanced accuracy the one with "
        "the largest macro F1 there. The calibration error is debiased: it is 0 where chance explains all of it. "
        "`control:` rows are cheap scorers under the same protocol; a detector that does not beat them has learned no "
        "more than they know. `control:shuffled` is one shuffle, and its interval is over games alone: on words unlike "
        "those it was trained on, one shuffle can lean either way."
    )


def markdown(evaluation: EvaluationResult, figures: Sequence[str] = ()) -> str:
    """The report as Markdown."""
    lines = [f"# Detectors on {md(evaluation.corpus)}, split {evaluation.plan.split}", ""]
    if warning := scripted_warning(evaluation.sources):
        lines += [f"> **{warning}**", ""]
    lines += [introduction(evaluation), ""]
    if evaluation.plan.hold_out:
        lines += [f"Held out: {md(', '.join(evaluation.plan.hold_out))}. The populations are:", ""]
        lines += [f"- `{evaluation.plan.split}:{name}`: {words}" for name, words in POPULATIONS.items()] + [""]
    for target in dict.fromkeys(row.target for row in evaluation.rows):
        mine = [row for row in evaluation.rows if row.target == target]
        lines += [f"## Target {target}: {TARGETS[target].meaning}", "", *_missing(evaluation, target)]
        for part in parts(mine):
            lines += part
    lines += [f"![ROC and calibration]({name})" for name in figures]
    if evaluation.notes:
        lines += ["", "## What could not be computed, and what was left out", ""]
        lines += [f"- {md(note)}" for note in evaluation.notes]
    return "\n".join(lines) + "\n"


def parts(rows: Sequence[MetricRow]) -> Iterator[list[str]]:
    """The sections of one target, each as lines."""
    main = [row for row in rows if is_headline(row)]
    for split in dict.fromkeys(row.split for row in main):
        yield _headline([row for row in main if row.split == split], split)
    pairs = [row for row in rows if is_pair(row)]
    if pairs:
        yield ["### Detectors compared", "", COMPARED, "", *_differences(pairs), ""]
    speakers = [row for row in rows if is_speaker(row)]
    if speakers:
        yield ["### By speaking model", "", SPEAKERS, "", *_wide(speakers, ("auroc", "auroc_centred", "offset")), ""]
    known = {id(row) for row in (*main, *pairs, *speakers)}
    beside = [row for row in rows if id(row) not in known]
    if beside:
        yield _beside(beside)


def is_headline(row: MetricRow) -> bool:
    """Whether a row is a figure of one scorer on a population."""
    return row.metric in HEADLINE and is_population(row.split)


def is_pair(row: MetricRow) -> bool:
    """Whether a row compares two scorers on a population."""
    return row.metric.removesuffix(DIFFERENCE) in HEADLINE and row.against is not None and is_population(row.split)


def is_speaker(row: MetricRow) -> bool:
    """Whether a row is about the statements of one model."""
    return row.split.partition(":")[2].startswith(SPEAKER)


def figure(row: MetricRow) -> str:
    """A figure with its interval, as shown in tables."""
    if row.value is None:
        return "–"
    return f"{row.value:.3f}" if row.lo is None else f"{row.value:.3f} [{row.lo:.3f}, {row.hi:.3f}]"


def counted(row: MetricRow) -> str:
    """What a row was computed on."""
    share = "not defined" if row.prevalence is None else f"{row.prevalence:.1%}"
    return f"{row.statements:,} statements of {row.games:,} games, {share} deceptive"


def _missing(evaluation: EvaluationResult, target: str) -> list[str]:
    reasons = evaluation.without_label.get(target, {})
    if not reasons:
        return []
    listed = "; ".join(f"{count:,}: {md(reason)}" for reason, count in reasons.items())
    return [f"{sum(reasons.values()):,} evaluated statements have no label and are left out ({listed}).", ""]


def _headline(rows: Sequence[MetricRow], split: str) -> list[str]:
    return [f"### {md(split)}: {counted(rows[0])}", "", *_wide(rows, HEADLINE), ""]


def _wide(rows: Sequence[MetricRow], metrics: Sequence[str]) -> list[str]:
    """A row for each detector and place, a column for each metric."""
    several = len({row.split for row in rows}) > 1
    heads = ["detector", *(["where"] if several else []), *map(words_of, metrics)]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for detector, split in dict.fromkeys((row.detector, row.split) for row in rows):
        cells = {row.metric: figure(row) for row in rows if (row.detector, row.split) == (detector, split)}
        named = [md(detector), *([md(split)] if several else [])]
        lines.append(f"| {' | '.join([*named, *(cells.get(metric, '') for metric in metrics)])} |")
    return lines


def _differences(rows: Sequence[MetricRow]) -> list[str]:
    metrics = [metric.name for metric in METRICS if metric.headline and metric.compared]
    heads = ["first", "second", "where", *map(words_of, metrics)]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for pair in dict.fromkeys((row.detector, row.against, row.split) for row in rows):
        cells = {row.metric: figure(row) for row in rows if (row.detector, row.against, row.split) == pair}
        named = [md(str(name)) for name in pair]
        lines.append(f"| {' | '.join([*named, *(cells.get(metric + DIFFERENCE, '') for metric in metrics)])} |")
    return lines


def _beside(rows: Sequence[MetricRow]) -> list[str]:
    """A table for each place: who, minus whom, and the figures that there are."""
    lines = ["### Compared with the players", "", PLAYERS, ""]
    for split in dict.fromkeys(row.split for row in rows):
        here = [row for row in rows if row.split == split]
        chance = "" if here[0].prevalence is None else f", {here[0].prevalence:.3f} deceptive or by chance"
        present = {row.metric.removesuffix(DIFFERENCE) for row in here}
        metrics = [metric.name for metric in METRICS if metric.name in present]
        heads = ["who", "minus", *map(words_of, metrics)]
        lines += [f"#### {md(split)}: {here[0].statements:,} statements of {here[0].games:,} games{chance}", ""]
        lines += [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
        for who, minus in dict.fromkeys((row.detector, row.against) for row in here):
            mine = {r.metric.removesuffix(DIFFERENCE): r for r in here if (r.detector, r.against) == (who, minus)}
            cells = [figure(mine[metric]) if metric in mine else "" for metric in metrics]
            lines.append(f"| {' | '.join([md(who), md(minus or ''), *cells])} |")
        lines.append("")
    return lines
