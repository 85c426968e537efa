"""Results for an 80-column terminal, one row per detector; the report has the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from liescope.common.text import OF_GAMES, Units, number_of, plain
from liescope.detectors.calibrate import Confidence
from liescope.detectors.detector import ROLE
from liescope.detectors.study.beside_players import JUDGED
from liescope.detectors.study.evaluation_sections import compared_views
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.metrics import DIFFERENCE, LEVELS, POOLED, WITHIN, words_of
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scores import CONTROL, SPEAKER, is_population, scripted_warning
from liescope.detectors.study.trust import sentences, units
from liescope.detectors.study.verdicts import ANSWERED, PLAYERS, PROMISED, SHARES
from liescope.detectors.training import TrainResult

_WIDTH = 80
_SHOWN_NOTES = 5
_BESIDE = {
    "names_mafioso": "minus players: how often it names the mafioso, less the villager's vote",
    WITHIN: "minus players: AUROC within games less that of the villagers' suspicion, same statements",
}
_CENTRED = "centred: pooled; a speaker's mean score less that of the game's speakers"
_RATE = LEVELS["5pct"]
_FAR = 2.0
"""How many times the promised rate of false positives may be realised before a recall is withheld."""
_WITHHELD = f"recall withheld (–): false positives at more than {_FAR:g} times the {_RATE:.0%} promised"
_UNUSABLE = "cannot be used on these: it gives no verdict on any"
_SHOWN_PROMISE = f"{PROMISED}90%"
_KEPT = {
    "deceptive_covered": "deceptive",
    "honest_covered": "honest",
    "abstained": "abstained",
    "answered_accuracy": "right",
}
_FLAGS = {"flag_at_1pct_fpr": "flagged at 1% FPR", "flag_at_5pct_fpr": "flagged at 5% FPR"}


_PLAYERS = ("observers:villager_vote", "observers:suspicion")


def show_training(result: TrainResult) -> None:
    """The detector's own figures, out of fold on train and on validation."""
    facts = result.file.training
    folds = "train is scored out of fold" if facts.folds else "without folds, so that train has no scores"
    alone = facts.statements == facts.games  # texts or conversations with a label each
    called = _OF_GROUPS if alone or result.file.target == "gold" else OF_GAMES
    console = _console()
    _say(
        console,
        f"{result.file.kind} trained on {called.counted(facts.statements, facts.games)}, "
        f"{facts.prevalence or 0:.1%} deceptive ({facts.without_label:,} have no {result.file.target} label); {folds}",
    )
    if facts.lost:
        splits = "train and validation"
        _say(
            console, f"note: {facts.lost:,} statements of {splits} are left out: their text was lost before publication"
        )
    _show_rows(console, result.rows, "tasks" if alone else "games", called)
    if result.file.target == ROLE and not alone:
        _say(console, "players after the whole game: `liescope evaluate` ranks them")
    _show_confidence(console, result.file.confidence, called)
    _show_notes(console, result.notes, facts.sources)
    _say(console, f"model: {result.model}")


def show_evaluation(result: EvaluationResult) -> None:
    """Warnings; the answer in words; detectors and controls; how the detectors differ from the players."""
    console = _console()
    for warning in result.warnings:
        console.print(Text(plain(f"warning: {warning}"), style="bold red"), soft_wrap=not console.is_terminal)
    console.print(Text(plain(" ".join(sentences(result)))))
    _show_rows(console, result.rows, result.within, units(result))
    _show_pairs(console, result.rows, result.within)
    for target in result.without_label:
        for words in compared_views(result, target):
            _say(console, words)
    _show_offsets(console, result.rows)
    _show_verdicts(console, result.rows)
    _show_suspects(console, result.rows)
    for row in result.rows:
        if row.where.endswith(f":{JUDGED}") and row.metric in (POOLED, "alpha"):
            counted = f"{row.statements:,} statements that people annotated"
            _say(console, f"{row.target}, {counted}: {row.scorer}: {words_of(row.metric)} {_interval(row)}")
    for target, reasons in result.without_label.items():
        for reason, count in reasons.items():
            _say(console, f"note: {count:,} statements have no {target} label ({reason})")
    notes = [note for note in result.notes if not note.startswith(CONTROL)]
    _show_notes(console, notes, result.sources)
    for path in result.files:
        _say(console, str(path))


def score_lines(table: pl.DataFrame, width: int | None) -> Iterator[str]:
    """One line per statement: its score, the strictest threshold it exceeds, its verdict, its text; below one that is
    flagged and has no verdict, why. Without a width (for a pipe), columns are separated by tabs, the text is not cut,
    and the verdict says why it abstains.
    """
    for row in table.iter_rows(named=True):
        above = [words for column, words in _FLAGS.items() if row.get(column)]
        score = "–" if row["score"] is None else f"{row['score']:.3f}"
        flag = row["score_null"] or (above[0] if above else "not flagged")
        verdict, text = row["verdict"] or "–", " ".join(plain(row["text"]).split())
        why = row.get("abstains")
        if width is None:
            yield f"{score}\t{flag}\t{f'{verdict} ({why})' if why else verdict}\t{text}"
        else:
            yield _cut(f"{score:5}  {flag:17}  {verdict:9}  {text}", width)
            yield from reason_lines([f"abstains: {why}"] if why and above else (), width)
        yield from reason_lines(row.get("reasons") or (), width)


def reason_lines(reasons: Iterable[str], width: int | None) -> Iterator[str]:
    """Indented lines, below that of their score."""
    for reason in reasons:
        line = f"    {plain(reason)}"
        yield line if width is None else _cut(line, width)


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _show_confidence(console: Console, confidence: Confidence, called: Units) -> None:
    """How scores were calibrated, and on how many games or groups verdicts rest."""
    none = "none (not asked for, or it did not lower the log loss)"
    _say(console, f"calibration: {confidence.statements.words() if confidence.statements else none}")
    if confidence.labels:
        honest, lies = confidence.labels.games
        had = f"{number_of(honest, called.games[:-1])} with honest and {lies:,} with deceptive {called.statements}"
        _say(console, f"verdict limits from {had}")


def _console() -> Console:
    """Standard output; 80 columns wide if it is not a terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=_WIDTH, highlight=False)


def _say(console: Console, words: str) -> None:
    """Print text unchanged: no markup, no wrapping within a word."""
    console.print(Text(plain(words)), soft_wrap=not console.is_terminal)


_OF_GROUPS = Units("statements", "groups")


def _show_rows(console: Console, rows: Sequence[Figure], unit: str = "games", called: Units = OF_GAMES) -> None:
    """A table for each target and population."""
    main = [row for row in rows if row.against is None and is_population(row.where)]
    for target, split in dict.fromkeys((row.target, row.where) for row in main if row.metric == POOLED):
        part = [row for row in main if (row.target, row.where) == (target, split)]
        metric, beside = _beside(rows, target, split)
        whole, within = (next(row for row in part if row.metric == name) for name in (POOLED, WITHIN))
        share = "" if whole.prevalence is None else f", {whole.prevalence:.1%} deceptive"
        counted = f"{called.counted(whole.statements, whole.games)}{share}"
        console.print(Text(f"\n{target}, {plain(split)}: {counted}", style="bold"))
        one = "the one game that has" if within.games == 1 else f"the {within.games:,} games that have"
        where = called.say(f"{one} both classes") if unit == "games" else unit
        _say(console, f"AUROC within {where}; pooled over all; recall at FPR")
        if not beside:
            _say(console, called.say(_CENTRED))
        table = _table("detector")
        for name in (f"within {unit} [95%]", "pooled", "recall at", "minus players [95%]" if beside else "centred"):
            table.add_column(name, no_wrap=True)
        withheld, headed = False, False
        names = dict.fromkeys(row.scorer for row in part if row.metric == POOLED)
        for detector in sorted(names, key=lambda name: name.startswith(CONTROL)):
            if detector.startswith(CONTROL) and not headed:
                headed = True
                table.add_row("controls:")
            auroc, pooled, centred = (_find(part, detector, name) for name in (WITHIN, POOLED, "auroc_centred"))
            recall = _recall(part, detector)
            withheld = withheld or recall.startswith("– at")
            cells = [_interval(auroc), _interval(pooled, whole=False), recall]
            cells.append(_interval(beside.get(detector), signed=True) if beside else _interval(centred, whole=False))
            table.add_row(Text(plain(detector.removeprefix(CONTROL))), *cells)
        console.print(table)
        if beside:
            _say(console, _BESIDE[metric])
        if withheld:
            _say(console, _WITHHELD)


def _recall(rows: Sequence[Figure], detector: str) -> str:
    """The recall with the rate of false positives that its threshold has here; withheld where that is not nearly the
    rate that the threshold was chosen for.
    """
    recall, rate = (_find(rows, detector, name) for name in ("recall_at_5pct_fpr", "realised_fpr_at_5pct"))
    if recall is None or rate is None or recall.value is None or rate.value is None:
        return "–"
    shown = "–" if rate.value > _FAR * _RATE else f"{recall.value:.2f}"
    return f"{shown} at {rate.value:.2f}"


def _beside(rows: Sequence[Figure], target: str, split: str) -> tuple[str, dict[str, Figure]]:
    """How each detector differs from the players: in the villager's seat if there is one, else on rated statements."""
    for metric in _BESIDE:
        found = [
            row
            for row in rows
            if (row.target, row.metric) == (target, metric + DIFFERENCE)
            and row.where in (split, f"{split}:rated-by-villagers")
            and row.against in _PLAYERS
        ]
        if found:
            return metric, {row.scorer: row for row in found}
    return "", {}


def _show_pairs(console: Console, rows: Sequence[Figure], unit: str) -> None:
    """Detector against detector, in AUROC within games, or tasks, and recall at a matched rate."""
    shown = {WITHIN: f"within {unit} [95%]", "matched_recall_5pct": "recall at 5% FPR"}
    pairs = [row for row in rows if row.metric in {name + DIFFERENCE for name in shown} and is_population(row.where)]
    pairs = [row for row in pairs if row.against is not None and not row.against.startswith((CONTROL, "observers:"))]
    for target, split in dict.fromkeys((row.target, row.where) for row in pairs):
        part = [row for row in pairs if (row.target, row.where) == (target, split)]
        console.print(Text(f"\n{target}, {plain(split)}: first minus second, same statements", style="bold"))
        table = _table("first − second")
        for name in shown.values():
            table.add_column(name, no_wrap=True)
        for one, other in dict.fromkeys((row.scorer, row.against) for row in part):
            mine = [row for row in part if row.against == other]
            cells = (_interval(_find(mine, one, name + DIFFERENCE), signed=True) for name in shown)
            table.add_row(Text(plain(f"{one} − {other}")), *cells)
        console.print(table)


def _show_offsets(console: Console, rows: Sequence[Figure]) -> None:
    """The model that each detector takes least for a liar when it is honest, and the one that it takes most."""
    offsets = [row for row in rows if row.metric == "offset" and row.value is not None]
    if not offsets:
        return
    console.print(Text("\nlog-odds of honest statements, less everybody's: by speaking model", style="bold"))
    table = _table("detector")
    for name in ("lowest", "highest"):
        table.add_column(name, overflow="fold")
    for detector, target in dict.fromkeys((row.scorer, row.target) for row in offsets):
        mine = [row for row in offsets if (row.scorer, row.target) == (detector, target)]
        mine.sort(key=lambda row: row.value or 0.0)
        ends = (f"{row.value:+.2f} {row.where.partition(SPEAKER)[2]}" for row in (mine[0], mine[-1]))
        table.add_row(*(Text(plain(words)) for words in (f"{detector}, {target}", *ends)))
    console.print(table)


def _show_verdicts(console: Console, rows: Sequence[Figure]) -> None:
    """Where 90% was promised: how often each class was covered, the share abstained on, and right verdicts."""
    kept = [row for row in rows if row.where.endswith(f":{_SHOWN_PROMISE}") and f":{PLAYERS}" not in row.where]
    if not kept:
        return
    console.print(Text("\nverdicts: how often a class is covered, of 90% promised", style="bold"))
    table = _table("detector, where")
    for words in _KEPT.values():
        table.add_column(words, no_wrap=True)
    unusable: list[str] = []
    for name, split in dict.fromkeys((row.scorer, row.where) for row in kept):
        mine = [row for row in kept if row.where == split]
        where = plain(f"{name}, {split.removesuffix(f':{_SHOWN_PROMISE}')}")
        abstained = _find(mine, name, "abstained")
        if abstained is not None and abstained.value == 1:
            unusable.append(where)
        else:
            table.add_row(Text(where), *(_interval(_find(mine, name, metric), whole=False) for metric in _KEPT))
    if table.row_count:
        console.print(table)
    for where in unusable:
        _say(console, f"{where}: {_UNUSABLE}")


def _show_suspects(console: Console, rows: Sequence[Figure]) -> None:
    """How often the player suspected most deceives, in ever fewer games, most sure first."""
    sure = [row for row in rows if row.metric == "top1"]
    if not sure:
        return
    console.print(Text("\nthe player suspected most deceives: in the games it is surest of", style="bold"))
    table = _table("detector, where")
    for answered in SHARES:
        table.add_column(f"{answered:.0%}", no_wrap=True)
    for name, place in dict.fromkeys((row.scorer, row.where.partition(f":{PLAYERS}")[0]) for row in sure):
        mine = {row.where: row for row in sure if row.scorer == name}
        found = (mine.get(f"{place}:{PLAYERS}{ANSWERED}{answered:.0%}") for answered in SHARES)
        table.add_row(Text(plain(f"{name}, {place}")), *(_interval(row, whole=False) for row in found))
    console.print(table)


def _table(first: str) -> Table:
    table = Table(box=None, header_style="none", pad_edge=False)
    table.add_column(first, overflow="fold")
    return table


def _find(rows: Sequence[Figure], detector: str, metric: str) -> Figure | None:
    return next((row for row in rows if (row.scorer, row.metric) == (detector, metric)), None)


def _interval(row: Figure | None, whole: bool = True, signed: bool = False) -> str:
    if row is None or row.value is None:
        return "–"
    form = "+.2f" if signed else ".3f"
    value = format(row.value, form)
    return value if not whole or row.lo is None else f"{value} [{row.lo:{form}}, {row.hi:{form}}]"


def _show_notes(console: Console, notes: Sequence[str], sources: Sequence[str]) -> None:
    for note in notes[:_SHOWN_NOTES]:
        _say(console, f"note: {note}")
    if len(notes) > _SHOWN_NOTES:
        _say(console, f"more notes in the report: {len(notes) - _SHOWN_NOTES}")
    if warning := scripted_warning(sources):
        console.print(Text(warning, style="yellow"))
