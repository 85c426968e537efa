"""The command that rates games after they have ended: label."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from liescope.common.declared_options import with_declared
from liescope.generate.runs.config import ConfigOption
from liescope.generate.runs.forecast.forecasting import forecast_label
from liescope.generate.runs.forecast.result import of_forecast, say_forecast
from liescope.generate.runs.label import claims_report
from liescope.generate.runs.label import label as label_games
from liescope.generate.runs.options import LIMIT_OPTIONS, AsJson, DryRun, PromptsOption, ShowPrompts
from liescope.generate.runs.result import summarise

app = typer.Typer()


@app.command()
@with_declared(LIMIT_OPTIONS)
def label(
    run: Annotated[Path, typer.Argument(help="A run's folder; it is only read.", metavar="runs/NAME")],
    judge: Annotated[
        str | None, typer.Option(help="The player that judges, in every seat, such as openai:MODEL.")
    ] = None,
    claims_by: Annotated[
        str | None, typer.Option(help="Instead of a judge: the model that lists the claims, such as openai:MODEL.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for the judged games. \\[default: RUN-by-JUDGE]", show_default=False),
    ] = None,
    config: ConfigOption = None,  # noqa: ARG001
    share: Annotated[float, typer.Option(help="Share of the statements to rate, 0 for none.")] = 1.0,
    roles: Annotated[bool, typer.Option(help="Name everybody's role, from each seat that lived to the end.")] = False,
    lessons: Annotated[bool, typer.Option(help="Tag the lessons that jesters drew.")] = False,
    prompts: PromptsOption = "full",
    dry_run: DryRun = False,
    show_prompts: ShowPrompts = False,
    as_json: AsJson = False,
    *,
    given: Mapping[str, Any],
) -> None:
    """Rate a run's games after the fact: a judge takes each seat in turn and sees what the seat saw at that moment.

    The judged games form a separate run, for show, build and analyse. Stop at any time; the same command resumes. With
    --claims-by, a model lists the claims in each statement, and its agreement with the rules is printed.

    Example: liescope label runs/first --judge scripted:steady --roles
    """
    chosen: dict[str, Any] = {
        "claims_by": claims_by,
        "out": out,
        "share": share,
        "roles": roles,
        "lessons": lessons,
        "prompts": prompts,
    }
    if dry_run:
        say_forecast(forecast_label(run, judge, **chosen, **of_forecast(given)), show_prompts, as_json)
        return
    result = label_games(run, judge, **chosen, progress=True, **given)
    if claims_by is not None and not as_json:
        for report in claims_report(result.folder):
            for line in report.lines():
                typer.echo(line)
    summarise(result, as_json)
