"""Whether a detector can be trusted, in words: beside statement length, on whom it was tried, how often it abstains,
and what it was not tried on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from liescope.common.report.contents import Section, Table, with_interval
from liescope.common.text import Units, number_of
from liescope.detectors.detector import ROLE
from liescope.detectors.examples import target_column
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN, words_of
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scores import CONTROL, HELD_OUT, OTHERS, SEEN, SPEAKER, is_population, scorer_words
from liescope.detectors.study.verdicts import ANSWERED, PROMISED
from liescope.games.record import Source

LENGTH = f"{CONTROL}length"
UNKNOWN = "unknown"
"""The model of words whose source names none."""
_PROMISE = f"{PROMISED}90%"
_NOTHING = 0.005  # a difference below it is printed as 0.00


def units(evaluation: EvaluationResult) -> Units:
    """Statements of games, statements of conversations, or texts of groups."""
    return Units.of(evaluation.statements["game"].unique())


def sentences(evaluation: EvaluationResult) -> tuple[str, str, str]:
    """About the best detector of the first target within games, on held-out models where there are any; pooled over
    games where no game has both classes: whether it beats length, on whom, and what is left open.
    """
    target = evaluation.rows[0].target
    rows = [row for row in evaluation.rows if row.target == target]
    best = _best(rows)
    if best is None:
        return (
            f"Nothing says whether these detectors can be trusted: no AUROC is defined for {target}.",
            f"{_on_whom(evaluation, target)}",
            "The notes below say why.",
        )
    return (
        _beside_length(rows, best, evaluation),
        f"{_on_whom(evaluation, target)} {_rivals(rows, best)}",
        f"{_abstains(rows, best, evaluation)} {_not_tried(evaluation, best)}",
    )


def _best(rows: Sequence[Figure]) -> Figure | None:
    ranked = [row for row in rows if row.against is None and is_population(row.where) and row.value is not None]
    ranked = [row for row in ranked if not row.scorer.startswith(CONTROL)]
    own = [row for row in ranked if row.metric == WITHIN] or [row for row in ranked if row.metric == POOLED]
    places = list(dict.fromkeys(row.where for row in own))
    place = next((split for split in places if split.endswith(f":{HELD_OUT}")), places[0] if places else "")
    return max((row for row in own if row.where == place), key=lambda row: row.value or 0.0, default=None)


def _pair(rows: Sequence[Figure], best: Figure, other: str) -> Figure | None:
    """The lead of the best over another scorer, whichever of the two the difference was made from."""
    for row in _pairs(rows, best):
        if row.against == other:
            return row
    return None


def _pairs(rows: Sequence[Figure], best: Figure) -> list[Figure]:
    return [
        row if row.scorer == best.scorer else _turned(row)
        for row in rows
        if (row.where, row.metric) == (best.where, best.metric + DIFFERENCE)
        and best.scorer in (row.scorer, row.against)
        and row.value is not None
    ]


def _turned(row: Figure) -> Figure:
    """A difference the other way round."""
    value, lo, hi = (None if number is None else -number for number in (row.value, row.hi, row.lo))
    return replace(row, scorer=row.against or "", against=row.scorer, value=value, lo=lo, hi=hi)


def verdict(lead: Figure | None) -> str:
    """What a lead over another scorer says: better, worse, no better, not shown to be better, or not known."""
    if lead is None or lead.value is None:
        return "not known"
    if lead.lo is None or lead.hi is None or (lead.value and lead.lo == lead.hi):
        return "not known: no interval"
    if lead.lo > 0:
        return "better"
    if lead.hi < 0:
        return "worse"
    return "no better" if lead.value < _NOTHING else "not shown to be better"


def _beside_length(rows: Sequence[Figure], best: Figure, evaluation: EvaluationResult) -> str:
    """The answer. A detector that is not above chance is measured by that, not by a length that is below."""
    several = len({row.scorer for row in rows if row.metric == best.metric and row.scorer in evaluation.models})
    name = f"{best.scorer}, the best of {several} detectors here," if several > 1 else best.scorer
    lead = _pair(rows, best, LENGTH)
    length = next(
        (row for row in rows if (row.scorer, row.where, row.metric) == (LENGTH, best.where, best.metric)), None
    )
    reached = f"{words_of(best.metric, evaluation.within)} {figure(best)}"
    beside = "" if length is None or length.value is None else f", length alone {figure(length)}"
    by = "" if lead is None else f"; the difference is {figure(lead)}"
    if best.lo is None or best.hi is None or best.lo == best.hi:  # two games with equal figures leave no width
        return f"Whether {name} can be trusted cannot be said from so few {units(evaluation).games}: {reached}{beside}."
    if best.lo <= 0.5:
        than = "does worse than" if best.hi < 0.5 else "is not shown to do better than"
        return f"{name} {than} chance, 0.5: {reached}{beside}."
    parted = "what deceivers say from what others say" if best.target == ROLE else "lies from honest statements"
    said = {
        "better": f"separates {parted} better than statement length alone",
        "worse": "does worse than statement length alone",
        "no better": "does no better than statement length alone",
        "not shown to be better": "is not shown to do better than statement length alone",
    }.get(verdict(lead), "does better than chance; whether it does better than statement length alone is not known")
    return f"{name} {said}: {reached}{beside}{by}."


def _on_whom(evaluation: EvaluationResult, target: str) -> str:
    """How many statements, of whom."""
    called, label = units(evaluation), pl.col(target_column(target))
    table = evaluation.plan.evaluated(evaluation.statements).filter(label.is_not_null())
    if table.is_empty():
        return f"None of these {called.statements} has a label for {target}."
    deceptive = f"{float(table.select(label.cast(pl.Float64).mean()).item()):.0%} deceptive"
    tasks, models = table["task"].drop_nulls().n_unique(), _models(table)
    texts, groups = table.height, table["game_id"].n_unique()
    alone = called.statements == "texts" and texts == groups
    said = [] if alone else [f"from {number_of(groups, called.games[:-1])}"]
    said += [f"in {number_of(tasks, 'task')}"] if tasks else []
    spoke = [number_of(len(models), "model")] if models else []
    held_out = [model for model in models if model in evaluation.plan.hold_out]
    heard = f", {len(held_out):,} of them held out of training" if held_out else ""
    by = f", by {spoke[0]}{heard}" if spoke else ""
    unnamed = table.filter(~pl.col("speaker_model").is_in(models)).height
    by += f" ({unnamed:,} by models that the source does not name)" if spoke and unnamed else ""
    return f"Tried on {' '.join([f'{number_of(texts, called.statements[:-1])} ({deceptive})', *said])}{by}."


def _models(table: pl.DataFrame) -> list[str]:
    return sorted(set(table["speaker_model"].drop_nulls()) - {"", UNKNOWN})


def _rivals(rows: Sequence[Figure], best: Figure) -> str:
    """The smallest of its leads over anything else; that may be ahead of it."""
    leads = [row for row in _pairs(rows, best) if row.against != LENGTH]
    if best.metric == POOLED:
        return "Pooled figures alone are defined here: they may show no more than where many deceive."
    if not leads:
        return "There was nothing else to set beside it."
    least = min(leads, key=lambda row: row.value or 0.0)
    kind, _, rest = scorer_words(least.against or "").rpartition(": ")
    name = f'the {kind} "{rest}"' if kind else rest
    match verdict(least):
        case "better":
            return f"Of everything else scored here, {name} comes closest, {figure(least)} lower."
        case "worse":
            return f"It does worse than {name}, by {figure(_turned(least))}."
        case _:
            return f"It is not shown to do better than {name}: the difference is {figure(least)}."


def _abstained(rows: Sequence[Figure], detector: str, place: str) -> Figure | None:
    for row in rows:
        if (row.scorer, row.metric, row.where) == (detector, "abstained", f"{place}:{_PROMISE}"):
            return row
    return None


def _abstains(rows: Sequence[Figure], best: Figure, evaluation: EvaluationResult) -> str:
    row = _abstained(rows, best.scorer, best.where)
    if row is None or row.value is None:
        return "It promises nothing here, so it gives no verdicts."
    return (
        "To be wrong about at most 10% of the honest and 10% of the deceptive "
        f"{units(evaluation).statements}, it abstains on {percent(row)} of them."
    )


def _not_tried(evaluation: EvaluationResult, best: Figure) -> str:
    file = evaluation.models.get(best.scorer)
    table = evaluation.plan.evaluated(evaluation.statements)
    tasks = table["task"].drop_nulls().n_unique()
    own = file is not None and file["corpus"]["name"] == evaluation.corpus
    left = ["any other corpus"] if own else []
    left += ["other tasks"] if tasks else []
    left += ["models that it did not hear in training"] if _models(table) and not evaluation.plan.hold_out else []
    left += [] if Source.HUMAN.value in evaluation.sources else ["what people say"]
    *first, last = left or ["other corpora than this one"]
    return f"It was not tried on {', '.join(first)}{' or ' if first else ''}{last}."


def _lean(rows: Sequence[Figure], best: Figure) -> str:
    mine = [row for row in rows if row.scorer == best.scorer and row.value is not None]
    error = next((row for row in mine if (row.metric, row.where) == ("calibration_error", best.where)), None)
    said = f"Its calibration error (debiased) is {figure(error)}" if error else "Its calibration error is not defined"
    offsets = sorted((row for row in mine if row.metric == "offset"), key=lambda row: row.value or 0.0)
    if not offsets:
        return f"{said}."
    low, high = (f"{row.where.partition(SPEAKER)[2]} ({row.value:+.2f})" for row in (offsets[0], offsets[-1]))
    return f"{said}. On honest statements its log-odds are lowest for {low} and highest for {high}."


def trust_section(evaluation: EvaluationResult) -> Iterator[Section]:
    """Every detector of the first target by the same questions."""
    target = evaluation.rows[0].target
    rows = [row for row in evaluation.rows if row.target == target]
    best = _best(rows)
    if best is None:
        return
    found = []
    for row in rows:
        if (row.where, row.metric, row.against) == (best.where, best.metric, None) and row.scorer in (
            *evaluation.models,
            *(judge.name for judge in evaluation.judges),
        ):
            lead = _pair(rows, row, LENGTH)
            own = {one.metric: one for one in rows if (one.scorer, one.where) == (row.scorer, row.where)}
            abstained = _abstained(rows, row.scorer, row.where)
            figures = [own.get(name) for name in ("recall_at_5pct_fpr", "realised_fpr_at_5pct")]
            found.append(
                [
                    row.scorer,
                    verdict(lead),
                    figure(row),
                    figure(lead) if lead else "–",
                    *(figure(one) if one else "–" for one in figures),
                    percent(abstained) if abstained and abstained.value is not None else "–",
                ]
            )
    columns = (
        "detector",
        "than statement length",
        words_of(best.metric, evaluation.within),
        "minus that of length",
        "recall (threshold for 5% false positives)",
        "false positives there",
        "abstains (90% promised)",
    )
    yield Section(
        "trust",
        "Can I trust it?",
        (f"{_lean(rows, best)}",),
        "95% intervals. An AUROC of 0.5 is chance. A difference with 0 in its interval settles nothing.",
        table=Table(columns, found),
    )


SPLIT_WORDS = {
    "train": "training split, out of fold",
    "validation": "validation split",
    "test": "test split",
    "all": "all of it",
}


_PARTS = {
    SEEN: "models heard in training",
    HELD_OUT: "models held out of training",
    OTHERS: "others in the games of held-out models",
    "rated-by-villagers": "rated by villagers",
    "rated-by-all": "rated by all",
    "judged-by-people": "judged by people",
}
_FIGURES = {PROMISED: "{} promised", ANSWERED: "the surest {}"}


def place_words(split: str) -> str:
    """A split, or a part of one, in words: "test split: models heard in training"."""
    whole, *parts = split.split(":")
    if whole == "all" and parts:
        whole = ""
    return ": ".join(filter(None, (SPLIT_WORDS.get(whole, whole), _part_words(":".join(parts)))))


def _part_words(part: str) -> str:
    if part in _PARTS:
        return _PARTS[part]
    if part.startswith(SPEAKER):  # what follows is a model's name, which may have colons of its own
        model = part.removeprefix(SPEAKER)
        return "said by models that the source does not name" if model == UNKNOWN else f"said by {model}"
    first, apart, rest = part.partition(":")
    for prefix, words in _FIGURES.items():
        if first.startswith(prefix):
            first = words.format(first.removeprefix(prefix))
    return f"{_PARTS.get(first, first)}{', ' if apart else ''}{_part_words(rest) if rest else ''}"


def figure(row: Figure) -> str:
    return with_interval(row.value, row.lo, row.hi)


def percent(row: Figure) -> str:
    return with_interval(row.value, row.lo, row.hi, form=".0%")
