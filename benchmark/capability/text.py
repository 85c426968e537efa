"""The written report of a fit, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.capability.backend import versions
from liescope.benchmark.capability.goodness import MISFIT
from liescope.benchmark.capability.held_out import summarise
from liescope.benchmark.capability.posterior import sample_longer
from liescope.benchmark.capability.variants import PAPER
from liescope.benchmark.counting.counts import add
from liescope.common.text import markdown as escaped
from liescope.games.record import Source

if TYPE_CHECKING:
    from liescope.benchmark.fitting import ConditionFit, FitResult

_SOURCES = {
    Source.SCRIPTED: "Rule-based players with planted skills spoke in these games: the scores test the tool "
    "and are not findings about models or people.",
    Source.HUMAN: "People played in these games; whoever they were, they count as one player, people.",
    Source.IMPORTED: "These games were played elsewhere and imported.",
}
NO_SOURCE = "The counts come from a file that does not say who played."
WORST = 5
HEADS = {"m": "m: deceives", "d": "d: discloses", "v": "v: responds", "b": "b: leans to the mafia"}
TITLE = "Who deceives, who discloses, who responds"
READING = (
    "At the core of the model stands v (m - d), on the logistic scale of the mafia's chance to win: m of the mafioso, "
    "d of the detective, v of the villager who votes. A higher m deceives better, a higher d makes the truth believed "
    "more often, a higher v follows the better speaker more reliably; a villager with v near 0 votes at random, one "
    "with a negative v follows the worse speaker.",
    "The mean of m is 0 and the mean of v is 1 by convention, so scores compare only within one fit: another set of "
    "models or games has a different zero and unit. Overlapping intervals do not settle an order.",
)
OFFSET = (
    "b is a villager's offset: above 0 it leans to the mafioso whatever the two say, below 0 to the detective. The "
    "mean of b is 0."
)
LOG_SCORE = (
    "Every combination is predicted from the others. Log score: of a single game, higher is better, with the "
    "difference from the best. Slope: 1 for calibrated chances, below 1 for overconfident ones. Inside: the share of "
    "combinations inside their 95% interval. Intervals are 95%, combinations resampled."
)
APART = "Every fit has its own zero and unit: a difference shows how a model's place among these models changes."
INCOMPARABLE = "No two conditions have the same mafiosos and villagers, so their scores cannot be compared."
NOTHING_SHARED = "No combination of players was played in two conditions."


def notes(fits: Sequence[ConditionFit], drawn_votes: str) -> list[str]:
    """Sentences that must accompany any figure of these fits: whose words, and what was left out."""
    counts = add([part.counts for part in fits])
    words = [text for source, text in _SOURCES.items() if source in counts.sources]
    if not counts.sources:
        words.append(NO_SOURCE)
    words += [f"Left out: {count} games, because {reason}." for reason, count in sorted(counts.excluded.items())]
    if counts.drawn_games:
        games = int(counts.cells["games"].sum())
        words.append(
            f"{counts.drawn_games} of {games} games ({counts.drawn_games / games:.0%}) contain a vote drawn at random "
            f"because a reply was unreadable; they are {'kept' if drawn_votes == 'keep' else 'left out'}."
        )
    words += [
        f"{'Without' if drawn_votes == 'keep' else 'With'} these games {_of(part.condition)}there is no fit: "
        f"{part.other_failure}."
        for part in fits
        if part.other_failure
    ]
    for part in fits:
        words.append(
            f"The model {_of(part.condition)}is {part.posterior.variant.name}: {part.posterior.variant.formula}."
        )
        if part.posterior.variant == PAPER and not any(fit.compared for fit in fits):
            words.append(
                "The published model has no term for villagers who lean to one side, and counts that scatter more than "
                "it says make its intervals too narrow: see the goodness of fit."
            )
        if part.posterior.faults:
            words.append(
                f"NOT FULLY CONVERGED: {'; '.join(part.posterior.faults)}. Do not publish these scores. "
                f"{sample_longer(part.posterior.settings)}."
            )
        if part.goodness.p < MISFIT:
            words.append(f"POOR FIT: {part.goodness.sentences()[0]}")
        words += part.goodness.separated
        if part.compared:
            words.append(verdict(part.compared.cells))
        for reason in dict.fromkeys(part.left_aside.values()):
            names = [name for name, why in part.left_aside.items() if why == reason]
            words.append(f"Not compared: {', '.join(names)}, because {reason}.")
    if len(fits) > 1:
        words.append(
            f"{len(fits)} conditions, each fitted separately: {'; '.join(stated(part.condition) for part in fits)}."
        )
    return words


def stated(condition: str) -> str:
    """The name of a condition, which files of counts do not have."""
    return condition or "settings not stated"


def _of(condition: str) -> str:
    return f"of the condition {condition} " if condition else ""


def covered(cells: pl.DataFrame) -> float:
    """The share of cells inside their interval; cells: `liescope.benchmark.capability.results.predictions`."""
    return int(cells["inside"].sum()) / cells.height


def verdict(held_out: pl.DataFrame) -> str:
    """Whether the published formula predicts better than main effects do, on combinations that neither had seen.

    held_out: `liescope.benchmark.capability.held_out.HeldOut.cells`.
    """
    table = summarise(held_out.filter(pl.col("method").is_in([f"{base}+dispersion" for base in ("paper", "additive")])))
    if table.height < 2:
        return "These games cannot tell whether logit p = v (m - d) predicts better than main effects."
    best, other = table.rows(named=True)
    gain, lo, hi = (-other[name] for name in ("difference", "difference_hi", "difference_lo"))
    words = {"paper+dispersion": "logit p = v (m - d)", "additive+dispersion": "main effects alone (m - d + b)"}
    sure = "" if lo > 0 else "; the interval reaches 0, so these games do not settle it"
    return (
        f"On combinations that it had not seen, {words[best['method']]} predicts better than {words[other['method']]}, "
        f"by {gain:.4f} ({lo:.4f} to {hi:.4f}) of log score a game{sure}."
    )


def goodness_sentences(fits: Sequence[ConditionFit]) -> list[str]:
    """What the goodness of each fit is, in sentences."""
    return [
        (f"{stated(part.condition)}: " if len(fits) > 1 else "") + sentence
        for part in fits
        for sentence in part.goodness.sentences()[:2]
    ]


def counted(cells: pl.DataFrame, scores: pl.DataFrame) -> str:
    """How many games of which size a fit counts."""
    games, wins = int(cells["games"].sum()), int(cells["mafia_wins"].sum())
    return (
        f"{games} games in {cells.height} combinations of {scores['model'].n_unique()} players; the mafia won "
        f"{wins / games:.1%}."
    )


def fits_well(cells: pl.DataFrame) -> str:
    """How well the cells match their predictions, before the table of those furthest from them."""
    return (
        f"{covered(cells):.1%} of the combinations lie in the 95% interval that the fit predicts for them. The ones "
        "furthest from their prediction:"
    )


def furthest(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells furthest from their predictions."""
    return cells.sort((pl.col("observed") - pl.col("predicted")).abs(), descending=True).head(WORST)


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
        "Posterior means with central 95% intervals; a dash where a model never held the role. Best deceiver first.",
        "",
        "![scores](forest.png)",
        "",
        *_drawn(result),
        *_conditions(result),
        *_parts(result),
        "## How to read it",
        "",
        *(line for paragraph in READING for line in (paragraph, "")),
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


def shown_parameters(scores: pl.DataFrame) -> tuple[str, ...]:
    """The parameters that a table of scores has."""
    return tuple(name for name in HEADS if name in scores.columns and scores[name].null_count() < scores.height)


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
        f"|{' condition |' if several else ''} method | log score | from the best | RMSE | slope | inside |",
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
    """What was asked for beside the fit: in words, with its file."""
    lines = []
    for section in (section for part in result.parts for section in part.sections):
        words = (line for paragraph in section.paragraphs for line in (escaped(paragraph), ""))
        lines += [f"## {section.title}", "", *words, f"[{section.file}]({section.file})", ""]
    return lines


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
