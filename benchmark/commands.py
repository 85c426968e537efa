"""The commands that say who deceives best and how: fit (the capability model) and analyse (every other analysis)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from liescope.benchmark.backend import Settings
from liescope.common.console import emit, progress
from liescope.common.errors import UsageError
from liescope.common.text import plain

app = typer.Typer()


@app.command()
def fit(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            help="Folders of runs, or CSV files with the columns mafioso, detective, villager, mafia_wins, games.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the report; made where it is missing.")],
    without: Annotated[
        list[str] | None, typer.Option(help="A model whose games are left out, repeatable.", metavar="MODEL")
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws to keep of each chain.", min=1)] = 1000,
    tune: Annotated[int, typer.Option(help="Draws to tune each chain with, thrown away.", min=1)] = 1000,
    chains: Annotated[int, typer.Option(help="Chains.", min=2)] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.", min=0)] = 1,
    target_accept: Annotated[
        float,
        typer.Option(help="Acceptance rate to tune the steps for; higher if transitions diverge.", min=0.5, max=0.999),
    ] = 0.9,
    sampler: Annotated[str, typer.Option(help="nutpie or pymc; nutpie where it is installed.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Fit the capability model, logit p = v (m - d), to the games of runs or to a table of counts.

    Writes capability.csv and .json, counts.csv (each cell with its prediction), draws.parquet, forest.png,
    predictive.png and report.md to the folder, and background.csv (z-scores that do not assume the model) where every
    background met every model. Stops with an error, and writes nothing, where the sampler has not converged.

    Example: liescope fit runs/first --out reports/capability
    """
    from liescope.benchmark.background import background_scores
    from liescope.benchmark.capability import fit as sample_posterior
    from liescope.benchmark.identification import check_identified
    from liescope.benchmark.plots import forest, predictive
    from liescope.benchmark.report import covered, notes, report
    from liescope.benchmark.results import predictions, scores, tidy_draws, to_json
    from liescope.benchmark.sources import load_counts

    settings = Settings(draws, tune, chains, seed, target_accept, sampler)
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give a folder for the report")
    counts = load_counts(sources, without or ())
    check_identified(counts.cells)
    games = int(counts.cells["games"].sum())
    with progress() as bar:
        task = bar.add_task("sampling", total=None, note="")
        bar.update(task, note=f"{games} games, {counts.cells.height} combinations")
        posterior = sample_posterior(counts.cells, settings)
        bar.update(task, total=1, completed=1)
    table, cells = scores(posterior), predictions(posterior)
    data = to_json(table, posterior)
    out.mkdir(parents=True, exist_ok=True)
    table.write_csv(out / "capability.csv")
    cells.write_csv(out / "counts.csv")
    tidy_draws(posterior).write_parquet(out / "draws.parquet", compression="zstd")
    try:
        background_scores(counts.cells).write_csv(out / "background.csv")
    except UsageError:  # the games are no such design; the report does without
        (out / "background.csv").unlink(missing_ok=True)
    (out / "capability.json").write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    forest(table).savefig(out / "forest.png", dpi=150)
    predictive(cells).savefig(out / "predictive.png", dpi=150)
    (out / "report.md").write_text(report(counts, posterior, table, cells), encoding="utf-8")
    if as_json:
        emit(data)
        return
    for note in notes(counts):
        print(note)
    print(f"\n{'model':32} {'m deceives':>21} {'d discloses':>21} {'v responds':>21}")
    for model in data["models"]:
        parts = [model[name] for name in ("m", "d", "v")]
        figures = ["–" if p is None else f"{p['mean']:.2f} ({p['lo']:.2f} to {p['hi']:.2f})" for p in parts]
        print(f"{model['model']:32} " + " ".join(f"{figure:>21}" for figure in figures))
    found = posterior.diagnostics
    print(
        f"\nr-hat at most {found.r_hat_max:.4f}, ESS at least {found.ess_bulk_min:.0f}, no divergences; "
        f"{covered(cells):.0%} of {cells.height} combinations in their 95% interval\nwrote {out / 'report.md'}"
    )


@app.command()
def analyse(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, played, imported or judged.")],
    out: Annotated[Path, typer.Option(help="The folder for the report; made where it is missing.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Analyse the games of runs: who won, who was voted out and why, who deceived, who noticed, what was learned.

    Writes report.html (one page with everything in it, opens offline), report.md (its main tables) and a CSV file for
    every table to the folder. What the games cannot show, for lack of a jester, of ratings or of lessons, is listed.

    Example: liescope analyse runs/first --out reports/first
    """
    from liescope.benchmark.analyses.registry import ANALYSES
    from liescope.benchmark.analyses.report import headline, notes, run_analyses
    from liescope.benchmark.analyses.sources import load_games
    from liescope.benchmark.analyses.write import write_report

    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give a folder for the report")
    with progress() as bar:
        task = bar.add_task("reading", total=None, note="games")
        games_set = load_games(runs, lambda games: bar.update(task, completed=games))
        task = bar.add_task("analysing", total=len(ANALYSES), note="")
        findings = run_analyses(ANALYSES, games_set.frames, lambda title: bar.update(task, advance=1, note=title))
    write_report(out, games_set, findings)
    games, wins = games_set.frames.games.height, headline(games_set.frames)
    if as_json:
        emit(
            {
                "report": str(out / "report.html"),
                "runs": [str(run.path) for run in games_set.runs],
                "games": games,
                "failed": sum(run.failed.total() for run in games_set.runs),
                "winners": wins,
                "notes": notes(games_set),
                "tables": [section.analysis.name for section in findings.sections],
                "nothing": {analysis.name: reason for analysis, reason in findings.nothing},
            }
        )
        return
    for note in notes(games_set):
        print(plain(note))
    for game, counts in wins.items():
        played = sum(counts.values())
        print(f"{game}, {played} games: " + ", ".join(f"{team} {n / played:.0%} ({n})" for team, n in counts.items()))
    print(
        f"{len(findings.sections)} analyses, {len(findings.nothing)} with nothing to count\nwrote {out / 'report.html'}"
    )
