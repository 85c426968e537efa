"""The written account of a fit, in plain words."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.backend import versions
from liescope.benchmark.capability import Posterior
from liescope.benchmark.counts import Counts
from liescope.benchmark.identification import PARAMETERS
from liescope.games.record import Source

_SOURCES = {
    Source.SCRIPTED: "Rule-based players with planted skills spoke in these games: the scores check the tool, they "
    "find nothing about models or people.",
    Source.HUMAN: "People played in these games, under the names of their seats' models.",
    Source.IMPORTED: "These games were played elsewhere and imported.",
}
NO_SOURCE = "The counts come from a file that does not say who played."
WORST = 5


def notes(counts: Counts) -> list[str]:
    """Sentences that must stand beside any figure of these counts: whose words, and what was left out."""
    words = [text for source, text in _SOURCES.items() if source in counts.sources]
    if not counts.sources:
        words.append(NO_SOURCE)
    words += [f"Left out: {count} games, because {reason}." for reason, count in sorted(counts.excluded.items())]
    return words


def covered(cells: pl.DataFrame) -> float:
    """The share of cells inside their interval; cells: `liescope.benchmark.results.predictions`."""
    return int(cells["inside"].sum()) / cells.height


def report(counts: Counts, posterior: Posterior, table: pl.DataFrame, cells: pl.DataFrame) -> str:
    """Markdown. table and cells: `scores` and `predictions` of `liescope.benchmark.results` for the posterior."""
    found, settings = posterior.diagnostics, posterior.settings
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    worst = cells.with_columns(miss=(pl.col("observed") - pl.col("predicted")).abs()).sort("miss", descending=True)
    games, wins = int(cells["games"].sum()), int(cells["mafia_wins"].sum())
    lines = [
        "# Who deceives, who discloses, who responds",
        "",
        *(f"> {note}" for note in notes(counts)),
        "",
        f"{games} games in {cells.height} combinations of {table.height} players; the mafia won {wins / games:.1%}.",
        "",
        "| model | m: deceives | d: discloses | v: responds |",
        "|---|---|---|---|",
        *(
            f"| {_cell(row['model'])} | " + " | ".join(_score(row, name) for name in PARAMETERS) + " |"
            for row in table.to_dicts()
        ),
        "",
        "Posterior means with central 95% intervals; a dash where a model never held the role. Best deceiver first.",
        "",
        "![scores](forest.png)",
        "",
        "## How to read it",
        "",
        "The chance that the mafia wins is the logistic function of v (m - d): m of the mafioso, d of the detective, v "
        "of the villager who votes. A higher m deceives better, a higher d gets the truth across better, a higher v "
        "follows the better of the two more surely; a villager with v near 0 votes like a coin, one with a negative v "
        "follows the worse.",
        "",
        "The mean of m is 0 and the mean of v is 1 by convention, so scores compare within this fit only: another set "
        "of models or games has another zero and another unit. Overlapping intervals do not settle an order.",
        "",
        "## Does it fit?",
        "",
        f"{covered(cells):.1%} of the combinations lie in the 95% interval that the fit predicts for them. The "
        "furthest from their prediction:",
        "",
        "| mafioso | detective | villager | games | observed | predicted | interval |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {_cell(row['mafioso'])} | {_cell(row['detective'])} | {_cell(row['villager'])} | {row['games']} | "
            f"{row['observed']:.2f} | {row['predicted']:.2f} | {row['lo']:.2f} to {row['hi']:.2f} |"
            for row in worst.head(WORST).to_dicts()
        ),
        "",
        "![predictions](predictive.png)",
        "",
        "## The sampler",
        "",
        f"NUTS by {posterior.sampler}, {found.chains} chains of {found.draws} draws after {settings.tune} of tuning, "
        f"seed {settings.seed}, target acceptance {settings.target_accept}; {found.seconds:.1f} s. Largest r-hat "
        f"{found.r_hat_max:.4f}, smallest bulk and tail ESS {found.ess_bulk_min:.0f} and {found.ess_tail_min:.0f}, "
        f"smallest BFMI {found.bfmi_min:.2f}, {found.divergences} divergences. {used}.",
        "",
    ]
    return "\n".join(lines)


def _score(row: dict[str, float | None], name: str) -> str:
    if row[name] is None:
        return "–"
    return f"{row[name]:.2f} ({row[f'{name}_lo']:.2f} to {row[f'{name}_hi']:.2f})"


def _cell(text: str) -> str:
    """Text that cannot break a table of Markdown."""
    return " ".join(text.replace("|", r"\|").split())
