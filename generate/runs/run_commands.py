"""The commands that make runs: play, fork, label."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liescope.common.command_options import Given, with_settings
from liescope.common.errors import UnknownName
from liescope.games.registry import GAMES, table_options
from liescope.generate.players.run_limits import RunSettings
from liescope.generate.runs.forecast import forecast, forecast_label
from liescope.generate.runs.forecast_result import say_forecast
from liescope.generate.runs.fork import ContinuationSettings
from liescope.generate.runs.fork import fork as fork_game
from liescope.generate.runs.plan_games import PlanSettings
from liescope.generate.runs.play import RatingSettings, claims_report
from liescope.generate.runs.play import label as label_games
from liescope.generate.runs.play import play as play_games
from liescope.generate.runs.run_folder import NEVER, read_config
from liescope.generate.runs.run_result import goes_on, show_first, summarise

app = typer.Typer()


def _use(context: typer.Context, file: Path | None) -> Path | None:
    """Make the options in the file the defaults of the command."""
    if file is not None and context.info_name is not None:
        options = read_config(file, context.info_name)
        known = {parameter.name for parameter in context.command.params if parameter.name not in NEVER}
        for name in options:
            if name not in known:
                raise UnknownName(f"option in {file}", name, [name for name in known if name is not None])
        context.default_map = {**(context.default_map or {}), **options}
    return file


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        help="A TOML file with a section for this command, such as the run.toml of a run.",
        is_eager=True,
        callback=_use,
        show_default=False,
    ),
]


Run = Annotated[Path, typer.Argument(help="A run's folder; it is only read.", metavar="runs/NAME")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what it will take (calls, tokens, cost, time); ask and write nothing.")
]
ShowPrompts = Annotated[
    bool, typer.Option("--show-prompts", help="With --dry-run: also print a whole prompt of each kind.")
]
Summary = Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")]


@app.command()
@with_settings(PlanSettings, table_options(), RunSettings)
def play(
    *,
    game: Annotated[str, typer.Argument(help=f"The game: {', '.join(GAMES)}.", autocompletion=lambda: list(GAMES))],
    out: Annotated[Path, typer.Option(help="Folder of the run; an existing run resumes.", metavar="runs/NAME")],
    config: ConfigOption = None,  # noqa: ARG001
    given: Given,
    dry_run: DryRun = False,
    show_prompts: ShowPrompts = False,
    as_json: Summary = False,
) -> None:
    """Play games. Stop at any time; the same command resumes.

    Example: liescope play mini-mafia --player scripted:bold --player scripted:novice --games 20 --out runs/first
    """
    if dry_run:
        say_forecast(forecast(game, out=out, **given), show_prompts, as_json)
        return
    result = play_games(game, out=out, progress=True, **given)
    if (preview := given.get("preview")) and not as_json and result.tally.stop is None:
        show_first(result.folder, preview)
        say_forecast(forecast(game, out=out, **given), prompts=False, as_json=False)
        if not goes_on(result):
            return
        result = play_games(game, out=out, progress=True, **{**given, "preview": None})
    summarise(result, as_json)


@app.command()
@with_settings(ContinuationSettings, RunSettings)
def fork(
    *,
    run: Run,
    game: Annotated[str, typer.Argument(help="The game: its number, its id or the beginning of it.")],
    step: Annotated[int, typer.Argument(help="The step to answer anew; show RUN GAME --calls counts them.", min=0)],
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of the continuations. \\[default: RUN-fork-GAME-STEP]", show_default=False),
    ] = None,
    config: ConfigOption = None,  # noqa: ARG001
    given: Given,
    as_json: Summary = False,
) -> None:
    """Play a recorded game on from one moment, many times: same state, other words or another player.

    What was said and done before is replayed at no cost. There is a group of continuations for each --player and each
    --say; how often the seat's side wins and how often it is voted for is compared between them, in pairs that share
    their random draws. Stop at any time; the same command resumes.

    Example: liescope fork runs/first 0 4 --say "I saw Bob at night." --say "I slept and know nothing." --times 20
    """
    result = fork_game(run, game, step, out=out, progress=True, **given)
    if not as_json:
        for line in result.lines():
            typer.echo(line)
    summarise(result, as_json)


@app.command()
@with_settings(RatingSettings, RunSettings)
def label(
    *,
    run: Run,
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
    given: Given,
    dry_run: DryRun = False,
    show_prompts: ShowPrompts = False,
    as_json: Summary = False,
) -> None:
    """Rate a run's games after the fact: a judge takes each seat in turn and sees what the seat saw at that moment.

    The judged games form a separate run, for show, build and analyse. Stop at any time; the same command resumes. With
    --claims-by, a model lists the claims in each statement, and its agreement with the rules is printed.

    Example: liescope label runs/first --judge scripted:steady --roles
    """
    if dry_run:
        found = forecast_label(run, judge, claims_by=claims_by, out=out, **given)
        say_forecast(found, show_prompts, as_json)
        return
    result = label_games(run, judge, claims_by=claims_by, out=out, progress=True, **given)
    if claims_by is not None and not as_json:
        for report in claims_report(result.folder):
            for line in report.lines():
                typer.echo(line)
    summarise(result, as_json)
