"""What a report says, section by section: its text and its page are both made of this."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from liescope.common.colours import MUTED, model_colours
from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Section, Table, with_interval
from liescope.common.text import Units, number_of
from liescope.detectors.study.beside_players import JUDGED, NAMES_MAFIOSO, VOTED
from liescope.detectors.study.checks import WITHOUT_COPIES
from liescope.detectors.study.controls import ROLE_ORACLE, scorer_words
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.findings import UNKNOWN, figure, units
from liescope.detectors.study.metrics import (
    DIFFERENCE,
    HEADLINE,
    LEVELS,
    METRIC,
    METRICS,
    OF_SHUFFLES,
    POOLED,
    WITHIN,
    words_of,
)
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scorers import SIDE_BY_SIDE
from liescope.detectors.study.scores import (
    ALL,
    CONTROL,
    HELD_OUT,
    OTHERS,
    OUT_OF_FOLD,
    POPULATIONS,
    SEEN,
    SPEAKER,
    UNITS,
    is_population,
)
from liescope.detectors.study.verdicts import ANSWERED, PROMISED
from liescope.detectors.study.verdicts import PLAYERS as OF_PLAYERS

COMPARED = (
    "Differences are the first minus the second, on the same statements, with the same games left out of both. Recall "
    "at a realised rate gives each of the two the threshold at which it flags exactly that share of the evaluated "
    "honest statements, anew wherever games are left out."
)
SPEAKERS = (
    "The offset is the mean score of a model's honest statements, less that of everybody's, in log-odds: how far the "
    "detector takes that model for a liar whatever it says. AUROC centred is the ranking without it: a speaker's "
    "scores are averaged over the game and centred on the mean of the game's speakers, so it is known after the game."
)
BESIDE = {
    "verdicts": (
        "Verdicts, and abstaining",
        "A verdict names a class where the other can be ruled out at the promised coverage, and abstains elsewhere, by "
        "limits from validation games of the detector's corpus. Covered: how often a statement of the class was not "
        "called the other; every game counts alike, however much is said in it. The promise is for games like those; a "
        "detector gives no verdicts on others, as a note says.",
    ),
    "suspects": (
        "Suspects",
        "Players who cannot be ruled out at the promised coverage, once the whole game is known; it answers where no "
        "more of them are left than deceive.",
    ),
    "sure": (
        "Answering only where it is sure",
        "How often the player whom the detector suspects most deceives, in the share of games in which it is surest, "
        "once the whole game is known.",
    ),
    "seat": (
        "In the villager's seat",
        "The detector and the villager each name one of the living others; differences are the detector minus the "
        "villager's vote, paired by game. A control names whoever claims least to be the detective or to have "
        "investigated: a detector that does no better may have learned only that.",
    ),
    "rated": (
        "Beside the players' ratings",
        "On the same statements. rated-by-villagers is the fair comparison, since villagers know no more than the "
        "words; rated-by-all counts those too who know who deceives. observers:one_coin and observers:dawid_skene "
        "weigh each observer by how reliable agreement shows it to be, without the labels (Dawid and Skene 1979). "
        "observer: rows are one observer each. n observers whose errors correlate by rho are worth n / (1 + (n - 1) "
        "rho) independent ones.",
    ),
    "people": (
        "Beside people who annotated",
        "Only on the statements that people annotated in Label Studio. observers:flags is the share of them who "
        "answered that it is deceptive; observer: rows are one person each, with the share of the others' answers to "
        "the same statements that agree. Alpha is 1 where people always agree and 0 where they agree as by chance. The "
        "rest is as beside the players' ratings.",
    ),
    "voted": (
        "Beside the players' votes",
        "Votes as answers about each player who stood on a ballot; a detector's score is the mean of what that player "
        "had said by then. observers:votes is the share of votes; observer: rows are one voter each.",
    ),
}
"""What is not about scores of single statements: title, and how to read it."""
RATED_BY_JUDGES = (
    "Beside the judges that came with the data",
    "On the same statements. observers:suspicion is the mean of the judges' scores, observers:flags the share of them "
    "that lie above a half; observers:one_coin and observers:dawid_skene weigh each judge by how reliable agreement "
    "shows it to be, without the labels (Dawid and Skene 1979). observer: rows are one judge each. n judges whose "
    "errors correlate by rho are worth n / (1 + (n - 1) rho) independent ones.",
)
"""The same of `rated` where nobody played."""
_PAIRS = {
    "": "AUROC is over all pairs of a deceptive and an honest text",
    "games": "AUROC within games is over pairs of a deceptive and an honest statement of one game; a game weighs by "
    "its number of pairs, and the counts are of games that have both. The pooled one is over pairs from all games: it "
    "also rewards knowing in which games many deceive",
    "tasks": "AUROC within tasks is over pairs of a deceptive and an honest statement of one task, since each "
    "conversation has one label; a task weighs by its number of pairs. The pooled one is over all pairs: it also "
    "rewards knowing in which tasks many deceive",
}


_WHERE_CONTROLS = {
    **dict.fromkeys((ALL, OUT_OF_FOLD), "from the other folds of this corpus"),
    **dict.fromkeys(("validation", "test"), "from the training split of this corpus"),
    "train": "from the other folds of the training split",
}


def introduction(evaluation: EvaluationResult) -> str:
    """How to read the figures."""
    plan, games = evaluation.plan, units(evaluation).games
    chosen = "Thresholds were chosen on the validation split of the corpus that a detector was trained on"
    if plan.split == OUT_OF_FOLD:
        chosen = "Thresholds of each fold were chosen on the others"
    elif plan.threshold_split is not None:
        chosen = (
            f"Thresholds were chosen on {plan.threshold_split} (for a detector trained on another corpus: on its own)"
        )
    return (
        f"{_PAIRS.get(evaluation.within, _PAIRS['games'])}. Every figure has a "
        f"95% interval from leaving whole {games} out in turn (seed {plan.seed}). "
        f"{chosen}: for "
        "1% and 5% false positives, with the realised rates beside them, and for F1 and balanced accuracy the one with "
        "the largest macro F1 there. The calibration error is debiased: it is 0 where chance explains all of it. "
        "Controls are cheap scorers under the same protocol; a detector that does not beat them has learned no more "
        f"than they know. They learned {_WHERE_CONTROLS[plan.split]}; a detector of another corpus, or a judge, knows "
        "none of these labels. The speaker's true role is no rival: it shows how closely the label follows the role."
    )


def target_sections(evaluation: EvaluationResult, target: str) -> Iterator[Section]:
    """The sections of one target."""
    rows, called = [row for row in evaluation.rows if row.target == target], units(evaluation)
    rows = [row for row in rows if row.metric != OF_SHUFFLES and not row.where.endswith(f":{WITHOUT_COPIES}")]
    main = [row for row in rows if row.metric in HEADLINE and row.against is None and is_population(row.where)]
    yield from _populations(evaluation, rows, main, target)
    parts = [row for row in rows if row.where.partition(":")[2].partition("=")[0] in UNITS]
    if parts:
        yield from _by_unit(parts, target, evaluation)
    yield from _views(evaluation, target, [row for row in rows if row.where.endswith(f":{SIDE_BY_SIDE}")])
    rows = [row for row in rows if not row.where.endswith(f":{SIDE_BY_SIDE}")]
    pairs = [row for row in rows if row.against is not None and is_population(row.where) and _compares_scores(row)]
    if pairs:
        title, said = "Detectors compared", (called.say(COMPARED),)
        yield Section(f"{target}-compared", title, said, table=_wide(pairs, evaluation.within, called), folded=True)
    known = {id(row) for row in (*main, *pairs, *parts)}
    beside = [row for row in rows if id(row) not in known]
    for name, (title, words) in BESIDE.items():
        here = [row for row in beside if _kind(row) == name]
        if name == "rated" and not called.are_games:
            title, words = RATED_BY_JUDGES
        if here:
            said = (called.say(words), *(_unusable(here, called) if name == "verdicts" else ()))
            yield Section(f"{target}-{name}", title, said, table=_wide(here, evaluation.within, called), folded=True)


VIEWS_SIDE_BY_SIDE = (
    "Every figure here is of the same statements, those that keep what their speaker thought and that all of these "
    "score; recall is read where exactly that share of their honest ones is flagged. "
    "Reasoning that names the speaker's role gives a label that follows the role away without any reading for lies: "
    "liescope audit says how often it does, and what remains without such sentences."
)


def _views(evaluation: EvaluationResult, target: str, rows: Sequence[Figure]) -> Iterator[Section]:
    """Words, reasoning and both side by side."""
    if not rows:
        return
    views = evaluation.views
    learned = ", ".join(
        f"{name} from {file['training']['statements']:,}"
        for name, file in evaluation.models.items()
        if file["target"] == target
    )

    def seen(name: str) -> str:
        return f"{name} ({views[name]})" if name in views else name

    named = [replace(row, scorer=seen(row.scorer), against=row.against and seen(row.against)) for row in rows]
    yield Section(
        f"{target}-views",
        "Words, reasoning, or both",
        (*compared_views(evaluation, target), VIEWS_SIDE_BY_SIDE, f"Statements that each learned from: {learned}."),
        table=_wide(named, evaluation.within, units(evaluation)),
    )


def compared_views(evaluation: EvaluationResult, target: str) -> list[str]:
    """What each view reaches on the statements that all score, and how each two differ; nothing for one view."""
    rows = [row for row in evaluation.rows if row.target == target and row.where.endswith(f":{SIDE_BY_SIDE}")]
    places = dict.fromkeys(row.where for row in rows)
    return [
        words for place in places for words in _compared_views([row for row in rows if row.where == place], evaluation)
    ]


def _compared_views(rows: Sequence[Figure], evaluation: EvaluationResult) -> Iterator[str]:
    views, within = evaluation.views, evaluation.within
    ranked = next((name for name in (WITHIN, POOLED) if any(row.metric == name and row.value for row in rows)), "")
    mine = {row.scorer: row for row in rows if row.metric == ranked and row.against is None and row.scorer in views}
    known = [row for row in mine.values() if row.value is not None]
    if not known:
        yield "On the statements that all of these score, no AUROC is defined."
        return
    first = next(row for row in rows if row.metric != WITHIN)
    place = first.where.removesuffix(f":{SIDE_BY_SIDE}")
    yield (
        f"On {place}, {_counted(first, units(evaluation))}, all with reasoning, {words_of(ranked, within)} is "
        + ", ".join(
            f"{with_interval(row.value, row.lo, row.hi)} for {views[row.scorer]} ({row.scorer})" for row in known
        )
        + "."
    )
    for row in rows:
        if row.metric == ranked + DIFFERENCE and row.value is not None and row.against is not None:
            found = with_interval(row.value, row.lo, row.hi)
            clear = row.lo is not None and row.hi is not None and not row.lo <= 0 <= row.hi
            if clear:
                more = "more" if row.value > 0 else "less"
                yield f"{row.scorer} reaches {more} than {row.against}: the difference is {found}."
            else:
                yield f"{row.scorer} and {row.against} are not clearly apart: the difference is {found}."


def how(evaluation: EvaluationResult) -> Section:
    """How the figures were made."""
    held_out = ", ".join(evaluation.plan.hold_out)
    split = evaluation.plan.split
    populations = "; ".join(f"{split}:{name}: {words}" for name, words in POPULATIONS.items())
    apart = (f"Held out: {held_out}. The populations are {populations}.",) if held_out else ()
    return Section("how", "How the figures were made", (introduction(evaluation), *apart))


def notes(evaluation: EvaluationResult) -> Section:
    """What could not be computed, and what was left out."""
    return Section("notes", "What could not be computed, and what was left out", evaluation.notes, printed=True)


def headline_figure(evaluation: EvaluationResult, target: str) -> str:
    """AUROC within games with intervals, pooled where no game has both classes: a panel for each population, a row for
    each detector and control. As SVG.
    """
    every = [row for row in evaluation.rows if row.target == target and row.against is None]
    every = [row for row in every if is_population(row.where) and row.metric in (WITHIN, POOLED)]
    ranked = WITHIN if any(row.metric == WITHIN and row.value is not None for row in every) else POOLED
    rows = [row for row in every if row.metric == ranked]
    rows = [row for row in rows if row.scorer != CONTROL + ROLE_ORACLE]
    names = list(dict.fromkeys(row.scorer for row in rows))
    colours = {
        **dict.fromkeys(map(scorer_words, names), MUTED),
        **model_colours([name for name in names if not name.startswith(CONTROL)]),
    }
    dots = [Dot(scorer_words(row.scorer), row.value, row.lo, row.hi, facet=_titled(row.where)) for row in rows]
    lows = [dot.value if dot.lo is None else dot.lo for dot in dots if dot.value is not None]
    limits = (min([0.5, *lows]) - 0.02, 1.02)
    axis = words_of(ranked, evaluation.within)
    return svg(dots_with_intervals(dots, axis, colours, reference=0.5, limits=limits), f"auroc_{target}")


def _populations(
    evaluation: EvaluationResult, rows: Sequence[Figure], main: Sequence[Figure], target: str
) -> Iterator[Section]:
    """Of each population, what a reader looks for first, and all figures folded."""
    called, within = units(evaluation), evaluation.within
    for number, where in enumerate(dict.fromkeys(row.where for row in main)):
        here = [row for row in main if row.where == where]
        meaning = POPULATIONS.get(where.partition(":")[2], "")
        whole = next(row for row in here if row.metric == POOLED)
        paired = max((row.games for row in here if row.metric == WITHIN), default=0)
        pairs = "Pairs are made within tasks." if within == "tasks" else ""
        if within not in ("tasks", ""):
            pairs = f"{paired:,} of the {called.games} have both classes."
        said = f"{_counted(whole, called)}{f'; said by {meaning}' if meaning else ''}. {pairs}".strip()
        missing = () if number else _missing(evaluation, target)
        yield Section(
            f"{target}-{number}",
            _titled(where),
            (said, *missing),
            caption=_SHORT_CAPTION + _SEAT_CAPTION * (_beside_players(rows, where)[0] == NAMES_MAFIOSO),
            table=in_short(rows, here, where, within),
            printed=True,
        )
        yield Section(
            f"{target}-{number}-all", f"{_titled(where)}: every figure", table=_wide(here, within, called), folded=True
        )


_SHORT_CAPTION = (
    "With 95% intervals; an AUROC of 0.5 is chance. Recall is at a threshold for 5% false positives, with the rate "
    "that it has here; withheld where that is more than twice the promise. A control knows one thing, and reads for no "
    "lie."
)
_SEAT_CAPTION = " Beside the villager's vote stands how often the mafioso is named."
_RATE, _FAR = LEVELS["5pct"], 2.0
_PLAYERS = ("observers:villager_vote", "observers:suspicion")
_BESIDE_PLAYERS = {
    NAMES_MAFIOSO: "less villager's vote",
    WITHIN: "less villagers' suspicion",
}


def in_short(rows: Sequence[Figure], here: Sequence[Figure], where: str, within: str) -> Table:
    """A row for each scorer, detectors first: its ranking, its recall, and how it differs from the players."""
    names = dict.fromkeys(row.scorer for row in here if row.metric == POOLED)
    metric, beside = _beside_players(rows, where)
    ranked = [WITHIN] if within and beside else [WITHIN, POOLED] if within else [POOLED]
    columns = ["scorer", *(words_of(name, within) for name in ranked), "recall at FPR"]
    columns += [_BESIDE_PLAYERS[metric]] if beside else []
    found: list[list[str]] = []
    for name in sorted(names, key=lambda name: name.startswith(CONTROL)):
        mine = {row.metric: row for row in here if row.scorer == name}
        cells = [figure(mine[one]) if one in mine else "–" for one in ranked]
        cells.append(_recall(mine.get("recall_at_5pct_fpr"), mine.get("realised_fpr_at_5pct")))
        cells += [figure(beside[name]) if name in beside else "–"] if beside else []
        if name.startswith(CONTROL) and not any(row[0] == _CONTROLS for row in found):
            found.append([_CONTROLS, *("" for _ in cells)])
        found.append([scorer_words(name).removeprefix("control: "), *cells])
    return Table(columns, found)


_CONTROLS = "controls:"


def _recall(recall: Figure | None, rate: Figure | None) -> str:
    """The recall with the rate of false positives that its threshold has here; withheld where that is not nearly the
    rate that it was chosen for.
    """
    if recall is None or rate is None or recall.value is None or rate.value is None:
        return "–"
    return f"{'–' if rate.value > _FAR * _RATE else f'{recall.value:.2f}'} at {rate.value:.2f}"


def _beside_players(rows: Sequence[Figure], where: str) -> tuple[str, dict[str, Figure]]:
    """How each scorer differs from the players: in the villager's seat if there is one, else on rated statements."""
    for metric in _BESIDE_PLAYERS:
        found = [
            row
            for row in rows
            if row.metric == metric + DIFFERENCE
            and row.where in (where, f"{where}:rated-by-villagers")
            and row.against in _PLAYERS
        ]
        if found:
            return metric, {row.scorer: row for row in found}
    return "", {}


def _by_unit(rows: Sequence[Figure], target: str, evaluation: EvaluationResult) -> Iterator[Section]:
    """A row for each task, speaking model and script: what each detector reaches there, and one word; and how far each
    detector takes each model for a liar.
    """
    called, names = units(evaluation), list(dict.fromkeys(row.scorer for row in rows))
    names.sort(key=lambda name: name.startswith(CONTROL))
    metric = WITHIN if evaluation.within not in ("tasks", "") else POOLED
    cells: dict[str, dict[str, Figure]] = {}
    for row in rows:
        if row.metric == metric:
            cells.setdefault(row.where, {})[row.scorer] = row
    table = []
    for where, found in cells.items():
        name = where.partition("=")[2]
        reached = [figure(found[one]) if one in found else "–" for one in names]
        table.append([UNNAMED if name == UNKNOWN else name, next(iter(found.values())).statements, *reached])
    columns = ["part", called.statements, *(scorer_words(name).removeprefix("control: ") for name in names)]
    said = f"{words_of(metric, evaluation.within)}, part by part."
    title = "By task, speaking model and script"
    yield Section(f"{target}-parts", title, (said,), table=Table(columns, table), printed=True)
    spoke = [row for row in rows if ":model=" in row.where and not row.scorer.startswith(CONTROL)]
    if spoke:
        yield Section(
            f"{target}-speakers",
            "How far each speaking model is taken for a liar",
            (called.say(SPEAKERS),),
            figure=_drawn_by_speaker([row for row in spoke if row.metric in (POOLED, "auroc_centred")]),
            figure_alt="AUROC as it is and centred, a row for each speaking model",
            table=_wide(spoke, evaluation.within, called),
            folded=True,
        )


def _titled(split: str) -> str:
    words = place_words(split)
    return words[:1].upper() + words[1:]


def _compares_scores(row: Figure) -> bool:
    return row.metric.removesuffix(DIFFERENCE) in HEADLINE


def _kind(row: Figure) -> str:
    """Which section of `BESIDE` a row belongs to."""
    if ANSWERED in row.where:
        return "sure"
    if PROMISED in row.where:
        return "suspects" if OF_PLAYERS in row.where else "verdicts"
    if row.where.endswith(f":{JUDGED}"):
        return "people"
    return "rated" if ":rated-by" in row.where else "voted" if row.where.endswith(f":{VOTED}") else "seat"


def _unusable(rows: Sequence[Figure], called: Units) -> Iterator[str]:
    """Where a detector gives no verdict at all, in words: that nothing was called wrong there is no merit."""
    for row in rows:
        if row.metric == "abstained" and row.value == 1:
            where = f"any of these {called.statements} ({place_words(row.where)})"
            yield f"{row.scorer} cannot be used here: it gives no verdict on {where}."


def _counted(row: Figure, called: Units) -> str:
    share = "not defined" if row.prevalence is None else f"{row.prevalence:.1%}"
    return f"{called.counted(row.statements, row.games)}, {share} deceptive"


def _missing(evaluation: EvaluationResult, target: str) -> tuple[str, ...]:
    reasons = evaluation.without_label.get(target, {})
    if not reasons:
        return ()
    listed = "; ".join(f"{count:,}: {reason}" for reason, count in reasons.items())
    none = sum(reasons.values())
    have = "has no label and is" if none == 1 else "have no label and are"
    return (f"{number_of(none, f'evaluated {units(evaluation).statements[:-1]}')} {have} left out ({listed}).",)


def _wide(rows: Sequence[Figure], within: str, called: Units) -> Table:
    """A row for each scorer, whose figures are subtracted, and place where several are; a column for each metric."""
    present = {row.metric.removesuffix(DIFFERENCE) for row in rows}
    metrics = [metric.name for metric in METRICS if metric.name in present]
    several, minus = len({row.where for row in rows}) > 1, any(row.against for row in rows)
    where = ["where", *called, "share deceptive, or by chance"] if several else []
    counts = {
        (row.scorer, row.against, row.where): [place_words(row.where), row.statements, row.games, row.prevalence]
        for row in sorted(rows, key=lambda row: not METRIC[row.metric.removesuffix(DIFFERENCE)].paired)
    }
    cells: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in rows:
        counted = counts[row.scorer, row.against, row.where] if several else []
        place = (scorer_words(row.scorer), *([scorer_words(row.against or "")] if minus else []), *counted)
        cells.setdefault(place, {})[row.metric.removesuffix(DIFFERENCE)] = with_interval(row.value, row.lo, row.hi, 3)
    columns = ["detector", *(["minus"] if minus else []), *where, *(words_of(name, within) for name in metrics)]
    return Table(columns, [[*place, *(found.get(metric, "") for metric in metrics)] for place, found in cells.items()])


def _drawn_by_speaker(rows: Sequence[Figure]) -> str:
    metrics = (POOLED, "auroc_centred")
    dots = [
        Dot(row.where.partition(SPEAKER)[2], row.value, row.lo, row.hi, facet=f"{row.scorer}: {words_of(metric)}")
        for metric in metrics
        for row in rows
        if row.metric == metric
    ]
    colours = model_colours(sorted({dot.label for dot in dots}))
    return svg(dots_with_intervals(dots, "AUROC", colours, reference=0.5), f"speakers_{rows[0].target}")


UNNAMED = "models that the source does not name"
SPLIT_WORDS = {
    "train": "training split, out of fold",
    "validation": "validation split",
    "test": "test split",
    "all": "all of it",
    OUT_OF_FOLD: "all of it, out of fold",
}


_PARTS = {
    SEEN: "models heard in training",
    HELD_OUT: "models held out of training",
    OTHERS: "others in the games of held-out models",
    WITHOUT_COPIES: "without copies of what was learned",
    "rated-by-villagers": "rated by villagers",
    "rated-by-all": "rated by all",
    "judged-by-people": "judged by people",
}
_FIGURES = {PROMISED: "{} promised", ANSWERED: "the surest {}"}


def place_words(split: str) -> str:
    """A split, or a part of one, in words: "test split: models heard in training"."""
    whole, *parts = split.split(":")
    if whole in ("all", OUT_OF_FOLD) and parts:
        whole = ""
    return ": ".join(filter(None, (SPLIT_WORDS.get(whole, whole), _part_words(":".join(parts)))))


def _part_words(part: str) -> str:
    if part in _PARTS:
        return _PARTS[part]
    unit, named, name = part.partition("=")
    if named and unit in UNITS:  # what follows is a name, which may have colons of its own
        if unit == "model":
            return f"said by {UNNAMED if name == UNKNOWN else name}"
        return f"{unit} {name}"
    first, apart, rest = part.partition(":")
    for prefix, words in _FIGURES.items():
        if first.startswith(prefix):
            first = words.format(first.removeprefix(prefix))
    return f"{_PARTS.get(first, first)}{', ' if apart else ''}{_part_words(rest) if rest else ''}"
