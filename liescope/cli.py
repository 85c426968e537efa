"""The `liescope` command, put together from the commands of each package."""

from __future__ import annotations

import inspect
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, TextIO

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from liescope import __version__
from liescope.common.errors import LiescopeError
from liescope.common.text import plain

_RUNS = "liescope.generate.runs"
# The module of each command, whose `app` has it, in the order of the help. Only that of the command given is loaded.
_MODULES = {
    "demo": "liescope.front_commands",
    "play": f"{_RUNS}.run_commands",
    "fork": f"{_RUNS}.run_commands",
    "show": f"{_RUNS}.show_commands",
    "status": f"{_RUNS}.show_commands",
    "label": f"{_RUNS}.run_commands",
    "import": "liescope.generate.importers.commands",
    "build": "liescope.generate.corpus.commands",
    "export": "liescope.generate.exports.commands",
    "withdraw": f"{_RUNS}.show_commands",
    **dict.fromkeys(("train", "score", "evaluate", "transfer", "adapt", "audit"), "liescope.detectors.commands"),
    "publish": "liescope.front_commands",
    **dict.fromkeys(("fit", "analyse", "report", "leaderboard"), "liescope.benchmark.commands"),
    **dict.fromkeys(("view", "serve"), "liescope.web.commands"),
}

_READER_GONE = 128 + signal.SIGPIPE


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"liescope {__version__}")
        raise typer.Exit


def front(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Options that come before any command."""


def command_line(words: Sequence[str]) -> TyperGroup:
    """The command line with the command that these words give; all of it where they give none, or one that is unknown.

    A paragraph of a command's help is wrapped by the terminal alone, not where the docstring is.
    """
    app = typer.Typer(
        name="liescope",
        help="Deception datasets from social-deduction games, lie detectors trained on them, and who deceives best.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(front)
    given = next((word for word in words if not word.startswith("-")), "")
    for module in [_MODULES[given]] if given in _MODULES else dict.fromkeys(_MODULES.values()):
        app.add_typer(import_module(module).app)
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    group.commands = {name: group.commands[name] for name in _MODULES if name in group.commands}
    for command in group.commands.values():
        paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return group


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 1 with one line on a user's mistake, 130 on Ctrl-C (Typer's),
    141 if the reader of its output is gone, as of any tool in a pipe.
    """
    words = sys.argv[1:] if arguments is None else arguments
    out = sys.stdout
    try:
        code = command_line(words).main(words, prog_name="liescope", standalone_mode=False)
        sys.stdout.flush()  # here, where a reader that is gone is no traceback
    except TyperException as error:
        said = getattr(error, "format_message", error.__str__)()
        context = getattr(error, "ctx", None)
        return _fail(f"{said} (see {context.command_path if context else 'liescope'} --help)") if said else 1
    except LiescopeError as error:
        return _fail(str(error))
    except BrokenPipeError:
        return _reader_gone(out)
    except SystemExit:
        if sys.stdout is out:
            raise
        sys.stdout = out  # Typer met the broken pipe first, and has put a stream that says nothing in its place
        return _reader_gone(out)
    except OSError as error:
        return _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
    return code if isinstance(code, int) else 0


def _reader_gone(out: TextIO) -> int:
    """The exit code where the reader of standard output is gone, as in `| head`: nothing more can be printed there."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    return _READER_GONE


def _fail(words: str) -> int:
    print(f"error: {plain(' '.join(words.split()))}", file=sys.stderr)
    return 1
