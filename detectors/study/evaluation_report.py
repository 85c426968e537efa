"""The report of an evaluation: the answer, the ranking of scorers, what it rests on, and all figures, folded; and the
tables that reports make from figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from liescope.common.colours import MUTED, model_colours
from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Report, ReportTable, Section
from liescope.common.text import Units, number_of
from liescope.data_cards.tables import TARGETS
from liescope.detectors.study.beside_players import (
    BESIDE,
    BY_VILLAGERS,
    NAMES_MAFIOSO,
    OBSERVER,
    OBSERVERS,
    VILLAGER_VOTE,
)
from liescope.detectors.study.checks import WITHOUT_COPIES
from liescope.detectors.study.controls import ROLE_ORACLE, scorer_words, short_name
from liescope.detectors.study.figures import Figure, figure_table
from liescope.detectors.study.findings import UNKNOWN, EvaluationResult
from liescope.detectors.study.metrics import DIFFERENCE, HEADLINE, LEVELS, POOLED, WITHIN, words_of
from liescope.detectors.study.scores import BROKEN_DOWN, CONTROL, OUT_OF_FOLD, SPEAKER, scripted_warning
from liescope.detectors.study.study import STYLE
from liescope.detectors.study.verdicts import DEFAULT, ORDINARY, PROMISED

_SHORT = (
    "With 95% intervals; an AUROC of 0.5 is chance. Recall is at a threshold for 5% false positives, with the rate "
    "that it has here; withheld where that is more than twice the promise. A control knows one thing."
)
_SEAT = (
    "In the villager's seat of a game, a scorer and the villager each name one of the living others; a control names "
    "whoever claims least to be the detective: a detector that does no better may have learned only that."
)
_OBSERVERS = (
    "On the same statements, paired. observers:suspicion is the mean of what observers say, observers:flags the share "
    "of them that flag, observers:votes the share of those who could and did vote for a player."
)
_VERDICTS = (
    "A verdict names a class where the other can be ruled out at the promised coverage. Covered: how often a statement "
    "of the class was not called the other; games count alike. The promise is for games like those of validation."
)
_STYLED = (
    "The words of the statements are rewritten by rules that keep what they say, so that labels stay right; what was "
    "said before is as written, but for kinds that read whole games. Differences are paired."
)
_AT_ORDINARY = (
    "A score is flagged above what 1% of answers in ordinary chats reach, where nobody was asked to lie: how many lies "
    "are found here, and how many honest statements flagged."
)


def report(evaluation: EvaluationResult) -> Report:
    """The report: what a reader looks for, how it was made, and every figure."""
    called, rows = evaluation.called, evaluation.rows
    names = [*evaluation.models, *(judge.name for judge in evaluation.judges)]
    who = f"How well {names[0]} does" if len(names) == 1 else "How well detectors do"
    sections = [
        *_ranked(evaluation),
        *_parts(evaluation),
        *_beside_others(evaluation),
        *_verdicts(evaluation),
    ]
    sections += style_section(rows, evaluation.within)
    sections.append(Section("how", "How the figures were made", tuple(_how(evaluation))))
    if evaluation.notes:
        title = "What could not be computed, and what was left out"
        sections.append(Section("notes", title, evaluation.notes, printed=True))
    meaning = f"Target {evaluation.target}: {TARGETS[evaluation.target].meaning}."
    return Report(
        title=f"{who} on corpus {evaluation.corpus} ({SPLIT_WORDS[evaluation.plan.split]})",
        findings=tuple(found.words for found in evaluation.findings),
        figure=_ranking(evaluation),
        figure_alt=f"AUROC for {evaluation.target}, a row for each detector and, in grey, control",
        notes=tuple(filter(None, [*evaluation.warnings, scripted_warning(evaluation.sources)])),
        meta=f"{meaning} Intervals are over whole {called.games}; seed {evaluation.plan.seed}.",
        sections=tuple(sections),
        tables={"report": figure_table(rows)},
        files={"report.json": evaluation.to_json(), "scores.parquet": evaluation.scores},
    )


def _ranked(evaluation: EvaluationResult) -> Iterator[Section]:
    """What a reader looks for first."""
    called, within, where = evaluation.called, evaluation.within, evaluation.plan.split
    here = [r for r in evaluation.rows if r.where == where and r.metric in HEADLINE and r.against is None]
    whole = next((row for row in here if row.metric == POOLED), None)
    if whole is None:
        return
    share = "not defined" if whole.prevalence is None else f"{whole.prevalence:.1%}"
    said = f"{called.counted(whole.statements, whole.games)}, {share} deceptive."
    if within == "tasks":
        said += " Pairs are made within tasks."
    elif within:
        paired = max((row.games for row in here if row.metric == WITHIN), default=0)
        said += f" {paired:,} of the {called.games} have both classes."
    if none := sum(evaluation.without_label.values()):
        listed = "; ".join(f"{count:,}: {reason}" for reason, count in evaluation.without_label.items())
        have = "has no label and is" if none == 1 else "have no label and are"
        said += f" {number_of(none, f'evaluated {called.statements[:-1]}')} {have} left out ({listed})."
    seated = less_players(evaluation.rows, where)[0] == NAMES_MAFIOSO
    seat = " Beside the villager's vote stands how often the mafioso is named." * seated
    title, words = place_words(where), (said,)
    table = in_short(evaluation.rows, here, where, within)
    title = title[:1].upper() + title[1:]
    yield Section("ranked", title, words, _SHORT + seat, table=table, printed=True, file="report.csv")


def _parts(evaluation: EvaluationResult) -> Iterator[Section]:
    within = evaluation.within
    parts = [row for row in evaluation.rows if row.where.partition(":")[2].partition("=")[0] in BROKEN_DOWN]
    if not parts:
        return
    metric = WITHIN if within not in ("tasks", "") else POOLED
    said = f"{words_of(metric, within)}, part by part."
    table = by_part(parts, metric, evaluation.called)
    yield Section("parts", "By task, speaking model and script", (said,), table=table, printed=True)


def _beside_others(evaluation: EvaluationResult) -> Iterator[Section]:
    rows = [r for r in evaluation.rows if _last(r) in BESIDE or r.metric.startswith(NAMES_MAFIOSO)]
    called, there = evaluation.called, {_last(row) for row in rows}
    if rows:
        said = [words for place, words in BESIDE.items() if place in there]
        said += [_OBSERVERS] * bool(said) + [_SEAT] * any(row.metric == NAMES_MAFIOSO for row in rows)
        title = "Beside the players and other observers" if called.are_games else "Beside the judges of the data"
        yield Section("beside", title, tuple(map(called.say, said)), table=beside(rows, evaluation.within))
    if alone := [row for row in rows if row.scorer.startswith(OBSERVER)]:
        words = f"Each answer is taken as it was given, on the {called.statements} that this observer read."
        yield Section(
            "observers", "Each observer alone", (words,), table=pivot(alone, lambda row: words_of(row.metric))
        )


def _verdicts(evaluation: EvaluationResult) -> Iterator[Section]:
    held, called = [row for row in evaluation.rows if PROMISED in row.where], evaluation.called
    if held:
        said = [called.say(_VERDICTS)]
        said += [
            f"{row.scorer} gives no verdict on any of these {called.statements} ({place_words(row.where)})."
            for row in held
            if row.metric == "abstained" and row.value == 1 and row.where.endswith(DEFAULT)
        ]
        table = pivot(held, lambda row: words_of(row.metric))
        yield Section("verdicts", "Verdicts, and abstaining", tuple(said), table=table)
    if rows := [row for row in evaluation.rows if _last(row) == ORDINARY]:
        table = pivot(rows, lambda row: words_of(row.metric))
        yield Section("ordinary", "At the threshold for ordinary chats", (_AT_ORDINARY,), table=table)


def style_section(rows: Sequence[Figure], within: str, slug: str = "styles", chapter: str = "") -> Iterator[Section]:
    """The table of figures in other styles, if there are any."""
    metric = WITHIN if within else POOLED
    titles = {metric: words_of(metric, within), metric + DIFFERENCE: "less as written"}
    if mine := [row for row in rows if STYLE in row.where]:
        table = pivot(
            mine,
            lambda row: titles.get(row.metric, ""),
            ("style", "scorer"),
            lambda row: (row.where.partition(STYLE)[2], row.scorer),
        )
        most, split = max(row.statements for row in mine), place_words(mine[0].where.partition(":")[0])
        tried = f"Tried on at most {most:,} statements ({split})."
        yield Section(slug, "In other styles", (_STYLED, tried), table=table, chapter=chapter, printed=True)


def _last(row: Figure) -> str:
    return row.where.rpartition(":")[2]


def _how(evaluation: EvaluationResult) -> Iterator[str]:
    """How to read the figures."""
    plan, called, within = evaluation.plan, evaluation.called, evaluation.within or "games"
    pairs = (
        f"AUROC within {within} is over pairs of a deceptive and an honest statement of one {within[:-1]}; the pooled "
        f"one also rewards knowing in which {within} many deceive."
    )
    chosen = "on the validation split of the corpus that a detector was trained on"
    if plan.split == OUT_OF_FOLD:
        chosen = "for each fold on the others"
    elif plan.threshold_split is not None:
        chosen = f"on {plan.threshold_split} (for a detector trained on another corpus: on its own)"
    learned = "training split" if plan.split == "test" else "other folds"
    yield (
        f"{pairs if evaluation.within else 'AUROC is over all pairs of a deceptive and an honest text.'} Intervals are "
        f"of leaving whole {called.games} out in turn. Thresholds were chosen {chosen}: for 1% and 5% false positives, "
        f"and the one with the largest macro F1. Controls learned from the {learned} of this corpus; a detector of "
        "another corpus, or a judge, knows none of these labels. The speaker's true role is no rival: it shows how "
        "closely the label follows the role. Differences are the first minus the second, on the same statements."
    )
    if plan.hold_out:
        yield f"No detector heard these models in training: {', '.join(plan.hold_out)}."


def _ranking(evaluation: EvaluationResult) -> str:
    """AUROC within games, or else pooled, with its interval, a row for each detector and control, as SVG."""
    every = [row for row in evaluation.rows if row.against is None and row.is_whole]
    every = [row for row in every if row.metric in (WITHIN, POOLED) and row.scorer != CONTROL + ROLE_ORACLE]
    ranked = WITHIN if any(row.metric == WITHIN and row.value is not None for row in every) else POOLED
    rows = [row for row in every if row.metric == ranked]
    names = list(dict.fromkeys(row.scorer for row in rows))
    colours = {
        **dict.fromkeys(map(scorer_words, names), MUTED),
        **model_colours([name for name in names if not name.startswith(CONTROL)]),
    }
    dots = [Dot(scorer_words(row.scorer), row.value, row.lo, row.hi) for row in rows]
    lows = [dot.value if dot.lo is None else dot.lo for dot in dots if dot.value is not None]
    limits = (min([0.5, *lows]) - 0.02, 1.02)
    axis = words_of(ranked, evaluation.within)
    return svg(dots_with_intervals(dots, axis, colours, reference=0.5, limits=limits), f"auroc_{evaluation.target}")


SPLIT_WORDS = {
    "train": "training split, out of fold",
    "validation": "validation split",
    "test": "test split",
    "all": "all of it",
    OUT_OF_FOLD: "all of it, out of fold",
}
UNNAMED = "models that the source does not name"
_PLACES = {
    WITHOUT_COPIES: "without copies of what was learned",
    ORDINARY: "threshold of ordinary chats",
    **{place: place.replace("-", " ") for place in BESIDE},
}


def place_words(split: str) -> str:
    """A split, or a part of one, in words: "test split: models heard in training"."""
    whole, *parts = split.split(":")
    if whole in ("all", OUT_OF_FOLD) and parts:
        whole = ""
    return ": ".join(filter(None, (SPLIT_WORDS.get(whole, whole), _part_words(":".join(parts)))))


def _part_words(part: str) -> str:
    unit, named, name = part.partition("=")
    if named and unit in BROKEN_DOWN:  # the rest is a name, which may contain colons
        name = UNNAMED if name == UNKNOWN else name
        return f"said by {name}" if f"{unit}=" == SPEAKER else f"{unit} {name}"
    first, apart, rest = part.partition(":")
    if first.startswith(PROMISED):
        first = f"{first.removeprefix(PROMISED)} promised"
    return f"{_PLACES.get(first, first)}{', ' if apart else ''}{_part_words(rest) if rest else ''}"


def ordered(names: Iterable[str]) -> list[str]:
    """Names of scorers, each once: others who judged the same statements, then detectors, then controls."""
    return sorted(dict.fromkeys(names), key=lambda name: (name.startswith(CONTROL), not name.startswith(OBSERVERS)))


_RATE, _FAR, _CONTROLS = LEVELS["5pct"], 2.0, "controls:"
_LESS = {
    NAMES_MAFIOSO: (VILLAGER_VOTE, "less villager's vote"),
    WITHIN: (f"{OBSERVERS}suspicion", "less villagers' suspicion"),
}


def in_short(rows: Sequence[Figure], here: Sequence[Figure], where: str, within: str) -> ReportTable:
    """A row for each scorer, detectors first: ranking, recall, lead over the players. here: the rows of the place."""
    metric, beside = less_players(rows, where)
    ranked = [WITHIN] if within and beside else [WITHIN, POOLED] if within else [POOLED]
    columns = ["scorer", *(words_of(name, within) for name in ranked), "recall at FPR"]
    columns += [_LESS[metric][1]] if beside else []
    found: list[list[str]] = []
    for name in ordered(row.scorer for row in here if row.metric == POOLED):
        mine = {row.metric: row for row in here if row.scorer == name}
        cells = [f"{mine[one]}" if one in mine else "–" for one in ranked]
        cells.append(_recall(mine.get("recall_at_5pct_fpr"), mine.get("realised_fpr_at_5pct")))
        cells += [f"{beside[name]}" if name in beside else "–"] if beside else []
        if name.startswith(CONTROL) and not any(row[0] == _CONTROLS for row in found):
            found.append([_CONTROLS, *("" for _ in cells)])
        found.append([short_name(name), *cells])
    return ReportTable(columns, found)


def _recall(recall: Figure | None, rate: Figure | None) -> str:
    """The recall at the false positive rate that its threshold has here; withheld if that is far from the chosen."""
    if recall is None or rate is None or recall.value is None or rate.value is None:
        return "–"
    return f"{'–' if rate.value > _FAR * _RATE else f'{recall.value:.2f}'} at {rate.value:.2f}"


def less_players(rows: Sequence[Figure], where: str) -> tuple[str, dict[str, Figure]]:
    """How each scorer differs from the players: in the villager's seat if there is one, else on rated statements."""
    for metric, (players, _) in _LESS.items():
        mine = [row for row in rows if (row.metric, row.against) == (metric + DIFFERENCE, players)]
        if found := {row.scorer: row for row in mine if row.where in (where, f"{where}:{BY_VILLAGERS}")}:
            return metric, found
    return "", {}


def pivot(
    rows: Iterable[Figure],
    column: Callable[[Figure], str],
    lead: Sequence[str] = ("where", "scorer"),
    key: Callable[[Figure], tuple[Any, ...]] = lambda row: (place_words(row.where), scorer_words(row.scorer)),
) -> ReportTable:
    """A row for each key, titled by `lead`; a column for each title, "" for none; the first of several figures."""
    found: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in rows:
        if title := column(row):
            found.setdefault(key(row), {}).setdefault(title, f"{row}")
    titles = dict.fromkeys(title for cells in found.values() for title in cells)
    table = [[*place, *(cells.get(title, "") for title in titles)] for place, cells in found.items()]
    return ReportTable([*lead, *titles], table)


def by_part(rows: Sequence[Figure], metric: str, called: Units) -> ReportTable:
    """A row for each task, speaking model and script: what each detector reaches there, and one word."""
    counts = {row.where: row.statements for row in reversed(rows) if row.metric == metric}

    def part(row: Figure) -> tuple[str, int]:
        name = row.where.partition("=")[2]
        return UNNAMED if name == UNKNOWN else name, counts[row.where]

    def title(row: Figure) -> str:
        return short_name(row.scorer) if row.metric == metric else ""

    return pivot(rows, title, ("part", called.statements), part)


def beside(rows: Sequence[Figure], within: str) -> ReportTable:
    """A row for each scorer where others judged the same: its ranking, or naming, and its lead over the first."""
    names, places = ordered(row.scorer for row in rows), list(dict.fromkeys(row.where for row in rows))
    rows = sorted(rows, key=lambda row: (places.index(row.where), names.index(row.scorer)))
    titles = dict[tuple[str, str, str | None], str]()
    for where in places:
        known = {row.metric: row.scorer for row in reversed(rows) if row.where == where and row.value is not None}
        metric = next((one for one in (NAMES_MAFIOSO, WITHIN, POOLED) if one in known), POOLED)
        titles[where, metric, None] = words_of(metric, within)
        titles[where, metric + DIFFERENCE, known.get(metric)] = "less the first"
    return pivot(rows, lambda row: titles.get((row.where, row.metric, row.against), ""))
