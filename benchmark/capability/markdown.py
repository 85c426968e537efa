"""The report of a fit as Markdown: the page in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.capability.backend import versions
from liescope.benchmark.capability.text import (
    APART,
    HEADS,
    INCOMPARABLE,
    LOG_SCORE,
    NOTHING_SHARED,
    TITLE,
    counted,
    fits_well,
    furthest,
    goodness_sentences,
    reading,
    shown_parameters,
    told,
)
from liescope.benchmark.counting.counts import stated
from liescope.common.report_page import Section
from liescope.common.text import markdown as escaped

if TYPE_CHECKING:
    from liescope.benchmark.fitting import ConditionFit, FitResult

_SHORT = 60  # rows of a table that Markdown shows


def report(result: FitResult) -> str:
    """Markdown."""
    lines = [
        f"# {TITLE}",
        "",
        *(line for sentence in result.findings for line in (escaped(sentence), "")),
        *(f"> {escaped(note)}\n>" for note in result.notes),
        "",
        counted(result.cells, result.scores),
        "",
        *_scores(result),
        "Posterior means with central 95% intervals; a dash where a model never held the role. Highest m first.",
        "",
        *(line for sentence in told(result.fits) for line in (escaped(sentence), "")),
        "![scores](forest.png)",
        "",
        *_drawn(result),
        *_conditions(result),
        *_parts(result),
        "## How to read it",
        "",
        *(line for paragraph in reading(result.scores) for line in (paragraph, "")),
        *_compared(result),
        "## Goodness of fit",
        "",
        *(line for sentence in goodness_sentences(result.fits) for line in (escaped(sentence), "")),
        fits_well(result.cells),
        "",
        *_furthest(result.cells),
        "",
        "![predictions](predictive.png)",
        "",
        "## The sampler",
        "",
        *(line for part in result.fits for line in _sampler(part)),
    ]
    return "\n".join(lines)


def _scores(result: FitResult) -> list[str]:
    lines = []
    for part in result.fits:
        if len(result.fits) > 1:
            lines += [f"## {escaped(stated(part.condition))}", ""]
            table = result.scores.filter(pl.col("condition") == part.condition)
        else:
            table = result.scores
        lines += [
            f"| model | {' | '.join(HEADS[name] for name in shown_parameters(table))} |",
            f"|---|{'---|' * len(shown_parameters(table))}",
            *(
                f"| {escaped(row['model'])} | "
                + " | ".join(_score(row, name) for name in shown_parameters(table))
                + " |"
                for row in table.to_dicts()
            ),
            "",
        ]
    return lines


def _drawn(result: FitResult) -> list[str]:
    """The scores with and without the games that hold a drawn vote."""
    if result.drawn.is_empty():
        return []
    several = "condition" in result.drawn.columns
    return [
        "## With and without games that contain a drawn vote",
        "",
        f"|{' condition |' if several else ''} model | score | games kept | games left out |",
        f"|{'---|' if several else ''}---|---|---|---|",
        *(
            f"|{_condition(row) if several else ''} {escaped(row['model'])} | {row['parameter']} "
            f"| {_score(row, 'kept')} | {_score(row, 'left_out')} |"
            for row in result.drawn.to_dicts()
        ),
        "",
    ]


def _condition(row: dict[str, Any]) -> str:
    return f" {escaped(stated(row['condition']))} |"


def _conditions(result: FitResult) -> list[str]:
    """Differences between conditions."""
    if len(result.fits) < 2:
        return []
    lines = ["## One condition against another", ""]
    if result.differences.is_empty():
        lines += [INCOMPARABLE, ""]
    else:
        lines += [
            APART,
            "",
            "| one | other | model | score | one minus other |",
            "|---|---|---|---|---|",
            *(
                f"| {escaped(stated(row['one']))} | {escaped(stated(row['other']))} | {escaped(row['model'])} | "
                f"{row['parameter']} | {_interval(row)} |"
                for row in result.differences.to_dicts()
            ),
            "",
        ]
    if result.win_rates.is_empty():
        return [*lines, NOTHING_SHARED, ""]
    return [
        *lines,
        "Win rates of the mafia, for the combinations played in both conditions (Newcombe's 95% intervals):",
        "",
        "| one | other | mafioso | detective | villager | games | rates | one minus other |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {escaped(stated(row['one']))} | {escaped(stated(row['other']))} | {escaped(row['mafioso'])} | "
            f"{escaped(row['detective'])} | {escaped(row['villager'])} | {row['games_one']}, {row['games_other']} | "
            f"{row['rate_one']:.2f}, {row['rate_other']:.2f} | {_interval(row)} |"
            for row in result.win_rates.to_dicts()
        ),
        "",
    ]


def _compared(result: FitResult) -> list[str]:
    """The family on combinations that it had not seen."""
    if result.compared.is_empty():
        return []
    several = "condition" in result.compared.columns
    return [
        "## The family of models on combinations not seen",
        "",
        LOG_SCORE,
        "",
        f"|{' condition |' if several else ''} method | log score | from the highest | RMSE | slope | inside |",
        f"|{'---|' if several else ''}---|---|---|---|---|---|",
        *(
            f"|{_condition(row) if several else ''} {escaped(row['method'])} | {row['log_score']:.4f} "
            f"| {_interval(row, 'difference_lo', 'difference_hi', 4)} | {row['rmse']:.3f} "
            f"| {'–' if row['slope'] is None else format(row['slope'], '.2f')} | {row['inside']:.1%} |"
            for row in result.compared.to_dicts()
        ),
        "",
    ]


def _parts(result: FitResult) -> list[str]:
    """What stands beside the scores: in words, with its table where that is short, and its file."""
    lines = []
    for section in (section for part in result.parts for section in part.sections):
        words = (line for paragraph in section.paragraphs for line in (escaped(paragraph), ""))
        lines += [f"## {section.title}", "", *words, *_short_table(section)]
        lines += [f"[{section.file}]({section.file})", ""] if section.file else []
    return lines


def _short_table(section: Section) -> list[str]:
    table = section.table
    if not isinstance(table, pl.DataFrame) or not 0 < table.height <= _SHORT:
        return []
    rows = (" | ".join("–" if cell is None else escaped(str(cell)) for cell in row) for row in table.rows())
    head = [f"| {' | '.join(table.columns)} |", f"|{'---|' * table.width}", *(f"| {row} |" for row in rows), ""]
    return [*head, *([section.caption, ""] if section.caption else [])]


def _furthest(cells: pl.DataFrame) -> list[str]:
    return [
        "| mafioso | detective | villager | games | observed | predicted | interval |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {escaped(row['mafioso'])} | {escaped(row['detective'])} | {escaped(row['villager'])} | {row['games']} "
            f"| {row['observed']:.2f} | {row['predicted']:.2f} | {row['lo']:.2f} to {row['hi']:.2f} |"
            for row in furthest(cells).to_dicts()
        ),
    ]


def _sampler(part: ConditionFit) -> list[str]:
    posterior = part.posterior
    found, settings = posterior.diagnostics, posterior.settings
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    name = f"{escaped(part.condition)}: " if part.condition else ""
    return [
        f"{name}NUTS by {posterior.sampler}, {found.chains} chains of {found.draws} draws after {settings.tune} of "
        f"tuning, seed {settings.seed}, target acceptance {settings.target_accept}; {found.seconds:.1f} s. Largest "
        f"r-hat {found.r_hat_max:.4f}, smallest bulk and tail ESS {found.ess_bulk_min:.0f} and "
        f"{found.ess_tail_min:.0f}, smallest BFMI {found.bfmi_min:.2f}, {found.divergences} divergences. {used}.",
        "",
    ]


def _score(row: dict[str, Any], name: str) -> str:
    if row[name] is None:
        return "–"
    return f"{row[name]:.2f} ({row[f'{name}_lo']:.2f} to {row[f'{name}_hi']:.2f})"


def _interval(row: dict[str, Any], lo: str = "lo", hi: str = "hi", digits: int = 2) -> str:
    return f"{row['difference']:+.{digits}f} ({row[lo]:+.{digits}f} to {row[hi]:+.{digits}f})"
