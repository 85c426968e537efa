"""The commands `demo` and `publish`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import typer

import liescope
from liescope.common.command_options import AsJson, Given, with_settings
from liescope.common.console import emit
from liescope.common.errors import MissingExtra
from liescope.common.text import plain
from liescope.generate.corpus.publish import Published
from liescope.publishing import PublishSettings
from liescope.publishing import publish as publish_folder

app = typer.Typer()

_PLAYERS = ["scripted:novice", "scripted:steady", "scripted:bold"]  # of the demo


@app.command()
@with_settings(PublishSettings)
def publish(
    *,
    folder: Annotated[str, typer.Argument(help="A corpus or a model.")],
    repo: Annotated[str, typer.Option(help="The dataset or model on the Hub, as USER/NAME.")],
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Push a corpus or a model to the Hugging Face Hub.

    All is private unless asked; the token comes from HF_TOKEN or the saved login.

    Example: liescope publish corpus/both --repo me/my-games --gated
    """
    done = publish_folder(folder, repo, progress=True, **given)
    for notice in done.notices:
        typer.echo(f"note: {notice}", err=True)
    if as_json:
        emit(done.to_json())
        return
    dry_run = given["dry_run"]
    if dry_run:
        _print_parcel(done)
    access = f"{'private' if done.private else 'public'}{', gated' if done.gated else ''}"
    size = f"{len(done.files)} files ({done.bytes / 1e6:.1f} MB)"
    typer.echo(f"{size}, card included, {'would be' if dry_run else 'are'} at {done.url} ({access})")


def _print_parcel(done: Published) -> None:
    for file in done.files:
        typer.echo(f"{file.bytes:>13,}  {plain(file.path)}")
    typer.echo(f"\n{plain(done.card)}")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder for everything that the demo makes.")] = Path("demo"),
    games: Annotated[int, typer.Option(help="Games in each cell of the tournament.", min=1)] = 25,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 1,
) -> None:
    """The whole pipeline, small and offline, from games to a fit.

    Plays, builds, trains, evaluates and fits; ends with the page to open and the next command.

    Example: liescope demo --out demo
    """
    run, corpus, reports = out / "run", out / "corpus", out / "reports"
    models = [out / "models" / kind for kind in ("duo", "embedding")]
    lacking = [
        _step("play", "mini-mafia", players=_PLAYERS, design="full", games=games, seed=seed, assess=True, out=run),
        _step("build", run, out=corpus),
        *(_step("train", model.name, corpus, target="role", out=model, overwrite=True) for model in models),
    ]
    trained = [model for model in models if (model / "model.json").exists()]
    lacking += [
        _step("evaluate", trained, corpus, observers=True, out=reports / "detectors"),
        _step("fit", run, out=reports / "capability", overwrite=True),
    ]
    print()
    for words in filter(None, lacking):
        _say(f"Left out: {words}")
    print("\nThe players were scripts: figures show how the tool works and say nothing about\nmodels.\n")
    print(f"Open   {reports / 'detectors' / 'report.html'}")
    print(f"Next   liescope view {run}")


def _step(name: str, *arguments: Any, **options: Any) -> str:
    """Call a function of `liescope`, printing the call and then the result; returns why it was skipped, if it was."""
    plain = [*map(_shown, arguments), *(f"{key}={_shown(value)}" for key, value in options.items())]
    call = f">>> liescope.{name}({', '.join(plain)})"
    print("\n" + "\n".join(wrap(call, 80, subsequent_indent="...     ", break_long_words=False)), flush=True)
    function: Callable[..., Any] = getattr(liescope, name)
    try:
        result = function(*arguments, **options, progress=True)
        for words in result.findings if name == "fit" else str(result).splitlines():
            _say(words)
    except MissingExtra as error:
        _say(f"left out: {error}")
        return f"{name} {_shown(arguments[0])}; {error}"
    return ""


def _say(words: str) -> None:
    print("\n".join(wrap(words, 80, break_long_words=False, break_on_hyphens=False)), flush=True)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(str(value) if isinstance(value, Path) else value)
