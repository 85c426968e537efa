"""The commands that open a browser's door: `view` and `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liescope.common.text import plain

app = typer.Typer()
_JUDGE = "Judge mode: people read finished games"


@app.command()
def view(
    path: Annotated[str, typer.Argument(help="A run, a corpus, USER/NAME on the Hub, or a report of `evaluate`.")],
    games: Annotated[
        list[str] | None,
        typer.Argument(help="A game to begin with, or those for --out: an id, its beginning, or a number."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the games to this HTML file, which opens offline.")] = None,
    permission: Annotated[
        str, typer.Option(help="Who permits it, where words for --out may not be passed on without.", metavar="WHO")
    ] = "",
    beside: Annotated[str | None, typer.Option(help="Another run or corpus, to compare games with.")] = None,
    scores: Annotated[
        Path | None, typer.Option(help="A report of `evaluate`, or a file of `score`, to lay over the games.")
    ] = None,
    detector: Annotated[list[str] | None, typer.Option(help="A detector of it to show; may be repeated.")] = None,
    marks: Annotated[
        Path | None, typer.Option(help="The file for marks of doubtful labels, which `audit --marks` reads.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen at; 0 for any free one.", min=0, max=65535)] = 8000,
    public: Annotated[
        str, typer.Option(help="The address by which others reach it, with the path that a proxy shows it under.")
    ] = "",
) -> None:
    """Look at games in a browser: those of a run, also while it is played, of a corpus, or of a report of detectors.

    Example: liescope view runs/first
    """
    from liescope.web.view.viewing import view as run

    written = run(
        path,
        *(games or ()),
        out=out,
        permission=permission,
        beside=beside,
        scores=scores,
        detectors=detector or (),
        marks=marks,
        host=host,
        port=port,
        public=public,
        told=lambda line: print(plain(line), flush=True),
    )
    if written is not None:
        for notice in written.notices:
            typer.echo(f"note: {notice}", err=True)
        typer.echo(f"{written.games:,} games ({written.bytes / 1e6:.2f} MB) are in {plain(str(written.path))}")


@app.command()
def serve(
    out: Annotated[Path, typer.Option(help="The folder for the tables and the runs of their games.")],
    game: Annotated[str | None, typer.Option(help="Open a table of this game right away.")] = None,
    people: Annotated[int, typer.Option(help="How many people sit at it.", min=1)] = 1,
    player: Annotated[list[str] | None, typer.Option(help="Players of its other seats, in turn.")] = None,
    assess: Annotated[bool, typer.Option("--assess", help="Ask for reports and ratings after each statement.")] = False,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen at; 0 for any free one.", min=0, max=65535)] = 8000,
    public: Annotated[
        str, typer.Option(help="The address by which others reach it, with the path that a proxy shows it under.")
    ] = "",
    frame: Annotated[list[str] | None, typer.Option(help="A site that may show these pages in a frame.")] = None,
    consent: Annotated[
        Path | None, typer.Option(help="A text file: what people agree to, in plain paragraphs, instead of ours.")
    ] = None,
    mortal: Annotated[
        bool, typer.Option("--mortal", help="A first night that is drawn may kill people, not only programs.")
    ] = False,
    pace: Annotated[bool, typer.Option("--pace", help="Programs answer at the pace of people.")] = False,
    give_up_after: Annotated[
        str, typer.Option(help="How long a game waits for an endpoint that does not answer, before it stops.")
    ] = "3m",
    judge: Annotated[
        Path | None, typer.Option(rich_help_panel=_JUDGE, help="A run whose games people read and judge.")
    ] = None,
    judges: Annotated[int, typer.Option(rich_help_panel=_JUDGE, min=1, help="How many links, one a person.")] = 1,
    judge_games: Annotated[
        int | None, typer.Option(rich_help_panel=_JUDGE, min=1, metavar="N", help="How many games, drawn.")
    ] = None,
    judge_game: Annotated[
        list[str] | None, typer.Option(rich_help_panel=_JUDGE, help="Only this game, by its id; may be repeated.")
    ] = None,
    judge_split: Annotated[
        str | None, typer.Option(rich_help_panel=_JUDGE, help="Only games that a corpus puts there, such as test.")
    ] = None,
    judge_view: Annotated[
        str, typer.Option(rich_help_panel=_JUDGE, help="outside, or the eyes of a seat (drawn), ROLE or NAME.")
    ] = "outside",
    judge_share: Annotated[
        float, typer.Option(rich_help_panel=_JUDGE, help="The share of the statements to ask about.")
    ] = 1.0,
    judge_days: Annotated[
        int, typer.Option(rich_help_panel=_JUDGE, min=0, metavar="N", help="Show N days of a game, 0 for all of it.")
    ] = 0,
    judge_seed: Annotated[
        int, typer.Option(rich_help_panel=_JUDGE, metavar="N", help="Draws games, seats and orders.")
    ] = 0,
    judge_tell: Annotated[
        bool, typer.Option("--judge-tell", rich_help_panel=_JUDGE, help="Tell people at the end if they were right.")
    ] = False,
) -> None:
    """Let people play in a browser, with each other and with models; their games become runs like any other.

    Example: liescope serve --out runs/people --game mini-mafia --people 1
    """
    from liescope.web.play.serving import serve as run

    options = {"assess": True} if assess else {}
    run(
        out,
        game=game,
        people=people,
        players=player or (),
        host=host,
        port=port,
        public=public,
        frames=frame or (),
        consent=consent,
        mortal=mortal,
        pace=pace,
        give_up_after=give_up_after,
        judge=judge,
        judges=judges,
        judge_games=judge_games,
        judge_game=judge_game or (),
        judge_split=judge_split,
        judge_view=judge_view,
        judge_share=judge_share,
        judge_days=judge_days,
        judge_seed=judge_seed,
        judge_tell=judge_tell,
        told=lambda line: print(plain(line), flush=True),
        **options,
    )
