"""A report as Markdown and as a page, from the same sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from liescope.common.report.contents import Report, Section, Tabular, shown
from liescope.data_cards.cards import markdown as md
from liescope.data_cards.tables import TARGETS
from liescope.detectors.evaluation.findings import sentences
from liescope.detectors.evaluation.result import EvaluationResult
from liescope.detectors.evaluation.scores import POPULATIONS, scripted_warning
from liescope.detectors.evaluation.sections import headline_figure, how, introduction, notes, target_sections


def markdown(evaluation: EvaluationResult, figures: Sequence[str] = ()) -> str:
    """The report as Markdown. figures: files to show."""
    lines = [f"# {md(_title(evaluation))}", "", *(f"> **{md(words)}**\n" for words in _warnings(evaluation))]
    lines += [*(f"- {md(words)}" for words in sentences(evaluation)), "", introduction(evaluation), ""]
    if evaluation.plan.hold_out:
        lines += [f"Held out: {md(', '.join(evaluation.plan.hold_out))}. The populations are:", ""]
        lines += [f"- `{evaluation.plan.split}:{name}`: {words}" for name, words in POPULATIONS.items()] + [""]
    for target in _targets(evaluation):
        lines += [f"## {_chapter(target)}", ""]
        for section in target_sections(evaluation, target):
            lines += [f"### {md(section.title)}", "", *(f"{md(words)}\n" for words in section.paragraphs)]
            lines += _table(section.table)
    lines += [f"![ROC and calibration]({name})" for name in figures]
    if evaluation.notes:
        lines += ["", f"## {notes(evaluation).title}", "", *(f"- {md(note)}" for note in evaluation.notes)]
    return "\n".join(lines) + "\n"


def page(evaluation: EvaluationResult, curves: Sequence[Section] = ()) -> Report:
    """The report as a page. curves: sections with the ROC and calibration curves."""
    first = _targets(evaluation)[0]
    sections = [
        replace(section, chapter=_chapter(target))
        for target in _targets(evaluation)
        for section in target_sections(evaluation, target)
    ]
    closing = [notes(evaluation)] if evaluation.notes else []
    return Report(
        title=_title(evaluation),
        findings=sentences(evaluation),
        figure=headline_figure(evaluation, first),
        figure_alt=f"AUROC for {first}, a panel for each population and a row for each detector and control",
        notes=_warnings(evaluation),
        meta=f"{evaluation.plan.draws:,} resamples of whole games, seed {evaluation.plan.seed}",
        sections=(*sections, *curves, how(evaluation), *closing),
    )


def _title(evaluation: EvaluationResult) -> str:
    return f"Detectors on {evaluation.corpus}, split {evaluation.plan.split}"


def _chapter(target: str) -> str:
    return f"Target {target}: {TARGETS[target].meaning}"


def _targets(evaluation: EvaluationResult) -> list[str]:
    return list(dict.fromkeys(row.target for row in evaluation.rows))


def _warnings(evaluation: EvaluationResult) -> tuple[str, ...]:
    return tuple(filter(None, [*evaluation.warnings, scripted_warning(evaluation.sources)]))


def _table(table: Tabular | None) -> list[str]:
    if table is None:
        return []
    lines = [f"| {' | '.join(table.columns)} |", f"|{'---|' * len(table.columns)}"]
    return [*lines, *(f"| {' | '.join(md(shown(value)) for value in row)} |" for row in table.rows()), ""]
