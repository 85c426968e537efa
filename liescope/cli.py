"""The `liescope` command, put together from each package's `commands.py`; the demo."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from liescope import __version__
from liescope.benchmark.commands import app as benchmark_commands
from liescope.common.errors import LiescopeError
from liescope.common.text import plain
from liescope.detectors.adapt.commands import app as adapt_commands
from liescope.detectors.audit.commands import app as audit_commands
from liescope.detectors.commands import app as detector_commands
from liescope.detectors.transfer.commands import app as transfer_commands
from liescope.generate.commands import app as generate_commands
from liescope.publish_command import app as publish_command
from liescope.web.commands import app as web_commands


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"liescope {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="liescope",
    help="Deception datasets from social-deduction games, lie detectors trained on them, and who deceives best.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
parts = (
    generate_commands,
    detector_commands,
    transfer_commands,
    adapt_commands,
    audit_commands,
    publish_command,
    benchmark_commands,
    web_commands,
)
for commands in parts:
    app.add_typer(commands)


@app.callback()
def front(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Options that come before any command."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder for everything that the demo makes.")] = Path("demo"),
    games: Annotated[int, typer.Option(help="Games in each cell of the tournament.", min=1)] = 25,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 1,
) -> None:
    """The whole pipeline, small and offline: play, build, train, evaluate, fit. Ends with a list of the files it made.

    Example: liescope demo --out demo
    """
    from liescope.demo import demo as run

    run(out, games, seed)


def _command() -> TyperGroup:
    """The whole command line. A paragraph of its help is wrapped by the terminal alone, not where the docstring is."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for command in group.commands.values():
        paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return group


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 1 with one line on a user's mistake, 130 on Ctrl-C (Typer's)."""
    try:
        code = _command().main(arguments, prog_name="liescope", standalone_mode=False)
    except TyperException as error:
        words = getattr(error, "format_message", error.__str__)()
        context = getattr(error, "ctx", None)
        return _fail(f"{words} (see {context.command_path if context else 'liescope'} --help)") if words else 1
    except LiescopeError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # The reader of standard output is gone; nothing more can be printed there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
    return code if isinstance(code, int) else 0


def _fail(words: str) -> int:
    print(f"error: {plain(' '.join(words.split()))}", file=sys.stderr)
    return 1
