"""The commands that say who deceives best and how: fit (the capability model), analyse (every other analysis), report
(both, for readers), leaderboard (many reports).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from liescope.common.console import emit
from liescope.common.text import plain

app = typer.Typer()

_POOL = (
    "Add up games with different settings, prompts among them, instead of keeping conditions apart; notes name them."
)

_INDEPENDENT = "The sources hold different games, even if their counts agree too well for that."

_OVERWRITE = "Replace an existing report at --out."


class DrawnVotes(StrEnum):
    """What to do with games that contain a vote drawn by the rules."""

    KEEP = "keep"
    LEAVE_OUT = "leave-out"


@app.command()
def fit(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            help="Runs, corpora (folders, or USER/NAME on the Hub), or CSV files with the columns mafioso, detective, "
            "villager, mafia_wins, games.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the report; made where it is missing.")],
    model: Annotated[
        str,
        typer.Option(
            help="The model to fit: paper, offset or additive, and terms such as +dispersion (offset+dispersion where "
            "the games allow it, else paper+dispersion).",
        ),
    ] = "",
    compare: Annotated[
        bool, typer.Option("--compare", help="Score the whole family of models on combinations not seen (minutes).")
    ] = False,
    suggest: Annotated[
        int | None,
        typer.Option(
            help="How many games to play next: suggests which, for the smallest sum of the scores' variances "
            "(A-optimal).",
            min=1,
            metavar="N",
        ),
    ] = None,
    suggest_for: Annotated[
        list[str] | None,
        typer.Option(help="A new model that the suggested games should include; may be repeated.", metavar="MODEL"),
    ] = None,
    extend: Annotated[
        Path | None,
        typer.Option(
            help="The folder of an older report: its games are added, and its scores keep their scale.",
            metavar="REPORT",
        ),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A model whose games are left out; may be repeated.", metavar="MODEL")
    ] = None,
    drawn_votes: Annotated[
        DrawnVotes,
        typer.Option(help="Games with a vote drawn at random because the reply was unreadable; the report shows both."),
    ] = DrawnVotes.KEEP,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            help="A condition to fit, by its name or some of its settings, as in 'rounds 8'; may be repeated. All if "
            "none is named.",
        ),
    ] = None,
    pool_conditions: Annotated[bool, typer.Option("--pool-conditions", help=_POOL)] = False,
    independent: Annotated[bool, typer.Option("--independent", help=_INDEPENDENT)] = False,
    draws: Annotated[int, typer.Option(help="Draws to keep of each chain.", min=1)] = 1000,
    tune: Annotated[int, typer.Option(help="Tuning draws of each chain, discarded.", min=1)] = 1000,
    chains: Annotated[int, typer.Option(help="Chains.", min=2)] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.", min=0, max=2**32 - 1)] = 1,
    target_accept: Annotated[
        float,
        typer.Option(help="Acceptance rate to tune the steps for; higher if transitions diverge.", min=0.5, max=0.999),
    ] = 0.9,
    sampler: Annotated[str, typer.Option(help="nutpie or pymc; nutpie if it is installed.")] = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help=_OVERWRITE)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Fit the capability model to the games of runs or to a table of counts: at its core logit p = v (m - d).

    Games with different settings (rounds, prompts, seating …) are fitted separately and compared; those that cannot be
    fitted are left out, with the reason. Writes report.html (one page: who leads where that is settled, the scores with
    their intervals, how well the model fits, and how other methods rate the same games), report.md, two figures, the
    draws, and a CSV file for every table to the folder. Stops with an error, and writes nothing, if the sampler is far
    from converged. --suggest adds suggest.csv, which play --cells takes; --extend adds extended.csv, the old scores
    beside the new.

    Example: liescope fit runs/first --out reports/capability
    """
    from liescope.benchmark.fitting import fit as fit_games
    from liescope.benchmark.terminal import fit_lines

    result = fit_games(
        list(sources),
        out=out,
        model=model,
        compare=compare,
        suggest=suggest,
        suggest_for=suggest_for or (),
        extend=extend,
        without=without or (),
        drawn_votes=drawn_votes.value,
        condition=condition or (),
        pool_conditions=pool_conditions,
        independent=independent,
        draws=draws,
        tune=tune,
        chains=chains,
        seed=seed,
        target_accept=target_accept,
        sampler=sampler,
        overwrite=overwrite,
        progress=True,
    )
    if as_json:
        emit(result.to_json())
        return
    for line in fit_lines(result):
        print(line)


@app.command()
def analyse(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...", help="Runs (played, imported or judged) or corpora (folders, or USER/NAME on the Hub)."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the report; made where it is missing.")],
    pool_conditions: Annotated[bool, typer.Option("--pool-conditions", help=_POOL)] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help=_OVERWRITE)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Analyse the games of runs: who won, who was voted out and why, who deceived, who noticed, what was learned.

    Writes report.html (one page that opens offline: what was found in three sentences and a figure, then everything),
    report.md (its main tables) and a CSV file for every table to the folder. Analyses that the games do not allow (no
    jester, no ratings, no lessons) are listed.

    Name a run and judged copies of it together to compare the judges with each other and with the players.

    Example: liescope analyse runs/first --out reports/first
    """
    from liescope.benchmark.analysing import analyse as analyse_games
    from liescope.benchmark.terminal import wrapped

    result = analyse_games(list(sources), out=out, pool_conditions=pool_conditions, overwrite=overwrite, progress=True)
    if as_json:
        emit(result.to_json())
        return
    for sentence in (*result.findings, *result.notes):
        print(wrapped(sentence))
    print(
        f"{len(result.tables)} analyses, {len(result.nothing)} with nothing to count\nwrote {plain(str(result.report))}"
    )


@app.command()
def report(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            help="Runs, corpora (folders, or USER/NAME on the Hub), or CSV files of counts as for fit.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the report; made where it is missing.")],
    title: Annotated[str, typer.Option(help="The title of the page.")] = "",
    model: Annotated[str, typer.Option(help="The capability model to fit, as for fit.")] = "",
    compare: Annotated[
        bool, typer.Option("--compare", help="Score the whole family of models on combinations not seen (minutes).")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            help="A model whose games are left out of the fit and the ratings; may be repeated.", metavar="MODEL"
        ),
    ] = None,
    drawn_votes: Annotated[
        DrawnVotes, typer.Option(help="Games with a vote drawn at random because the reply was unreadable.")
    ] = DrawnVotes.KEEP,
    pool_conditions: Annotated[bool, typer.Option("--pool-conditions", help=_POOL)] = False,
    independent: Annotated[bool, typer.Option("--independent", help=_INDEPENDENT)] = False,
    draws: Annotated[int, typer.Option(help="Draws of the fit to keep of each chain.", min=1)] = 1000,
    tune: Annotated[int, typer.Option(help="Tuning draws of each chain, discarded.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.", min=0, max=2**32 - 1)] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help=_OVERWRITE)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Put everything that games say about their players on one page, made to be published.

    Writes report.html (capabilities and how well they fit, other methods, behaviour, people, settings, and what these
    games cannot show), counts.csv, tables/NAME.csv for every table, and report.json with all of it for programs and for
    leaderboard. What cannot be computed, such as a fit of a single model, is left out with the reason.

    Example: liescope report runs/first --out reports/first-report
    """
    from liescope.benchmark.reporting.report import report as report_games
    from liescope.benchmark.terminal import wrapped

    result = report_games(
        list(sources),
        out=out,
        title=title,
        model=model,
        compare=compare,
        without=without or (),
        drawn_votes=drawn_votes.value,
        pool_conditions=pool_conditions,
        independent=independent,
        draws=draws,
        tune=tune,
        seed=seed,
        overwrite=overwrite,
        progress=True,
    )
    if as_json:
        emit(dict(result.data))
        return
    for sentence in (*result.findings, *result.notes):
        print(wrapped(sentence))
    print(f"{len(result.tables)} tables; {len(result.missing)} things that these games cannot show")
    print(f"wrote {plain(str(result.report))}")


@app.command()
def leaderboard(
    reports: Annotated[
        list[Path], typer.Argument(metavar="REPORT...", help="Folders of reports: of report, transfer and evaluate.")
    ],
    out: Annotated[Path, typer.Option(help="The folder for the pages; made where it is missing.")],
    title: Annotated[str, typer.Option(help="The title of the first page.")] = "",
    joint: Annotated[
        bool, typer.Option("--joint/--no-joint", help="Fit the counts of all reports together, to compare all models.")
    ] = True,
    draws: Annotated[int, typer.Option(help="Draws of that fit to keep of each chain.", min=1)] = 1000,
    tune: Annotated[int, typer.Option(help="Tuning draws of each chain, discarded.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.", min=0, max=2**32 - 1)] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help=_OVERWRITE)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Make static pages of many reports: who deceives, detects and discloses, and which detectors hold up.

    Writes index.html, a page for each report, and the data to compute all of it again. Scores of different reports have
    different zeros and units, so each report has a table of its own; one fit of all counts puts all models on one scale
    where the counts allow it. Detectors of transfer and evaluate stand by their worst cell.

    Example: liescope leaderboard reports/first --out site
    """
    from liescope.benchmark.leaderboard.board import leaderboard as make
    from liescope.benchmark.terminal import wrapped

    result = make(
        list(reports),
        out=out,
        title=title,
        joint=joint,
        draws=draws,
        tune=tune,
        seed=seed,
        overwrite=overwrite,
        progress=True,
    )
    if as_json:
        emit(result.to_json())
        return
    boards = result.scores["report"].n_unique()
    print(f"{boards} {'board' if boards == 1 else 'boards'} of players, {result.detectors.height} rows of detectors")
    print(wrapped("All reports stand together on one scale." if result.joint else f"No joint board: {result.apart}."))
    for folder, why in result.left_out.items():
        print(wrapped(f"without a board: {folder}: {why}"))
    print(f"wrote {plain(str(result.index))}")
