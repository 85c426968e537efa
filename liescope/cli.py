"""The `liescope` command, put together from the commands of each package."""

from __future__ import annotations

import ast
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Annotated, TextIO

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from liescope import __path__ as _rooms
from liescope import __version__
from liescope.common.command_help import Command, Front
from liescope.common.command_options import completed
from liescope.common.errors import LiescopeError
from liescope.common.text import plain

_RUNS = "liescope.generate.runs"
_DETECTORS, _BENCHMARK = "liescope.detectors.commands", "liescope.benchmark.commands"
# The module of each command, whose `app` has it; in groups and in the order of a user's work, as in the help. Only that
# of the command given is loaded.
_GROUPS = {
    "Begin": {"demo": "liescope.front_commands"},
    "Make data": {
        "import": "liescope.generate.importers.commands",
        "play": f"{_RUNS}.run_commands",
        "status": f"{_RUNS}.show_commands",
        "label": f"{_RUNS}.run_commands",
        "fork": f"{_RUNS}.run_commands",
        "build": "liescope.generate.corpus.commands",
    },
    "Look at it": {"show": f"{_RUNS}.show_commands", "view": "liescope.web.commands", "audit": _DETECTORS},
    "Train detectors and test them": {
        **dict.fromkeys(("train", "score", "evaluate"), _DETECTORS),
        "bench": _BENCHMARK,
        **dict.fromkeys(("transfer", "adapt"), _DETECTORS),
    },
    "Who deceives best": dict.fromkeys(("fit", "analyse", "report", "leaderboard"), _BENCHMARK),
    "Play and judge with people": {"serve": "liescope.web.commands", "withdraw": f"{_RUNS}.show_commands"},
    "Pass it on": {"publish": "liescope.front_commands", "export": "liescope.generate.exports.commands"},
}
_MODULES = {name: module for commands in _GROUPS.values() for name, module in commands.items()}

_READER_GONE = 128 + signal.SIGPIPE
_COMPLETION = frozenset({"--install-completion", "--show-completion"})
_ALIKE = 0.7  # of two names of options, for one to be a slip of the other


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


def command_line(words: Sequence[str]) -> Front:
    """The command line with the command that these words give; where they give none, or an unknown one, all are listed
    with what they do, which loads none of them. All are loaded where there are no words, and none where a script for a
    shell is asked for.
    """
    app = typer.Typer(
        name="liescope",
        cls=Front,
        help="Deception datasets from social-deduction games, lie detectors trained on them, and who deceives best.",
        add_completion=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(front)
    given = next((word for word in words if not word.startswith("-")), "")
    if given in _MODULES or not words:
        for module in [_MODULES[given]] if given in _MODULES else dict.fromkeys(_MODULES.values()):
            for command in import_module(module).app.registered_commands:
                app.command(command.name, cls=Command)(completed(command.callback))
    elif not _COMPLETION.intersection(words[:1]):
        for name, said in _docstrings():
            app.command(name, cls=Command, help=said)(_not_loaded)
    group = get_command(app)
    assert isinstance(group, Front)
    headings = {name: heading for heading, commands in _GROUPS.items() for name in commands}
    group.commands = {name: group.commands[name] for name in _MODULES if name in group.commands}
    for name, command in group.commands.items():
        assert isinstance(command, Command)
        command.rich_help_panel = headings[name]
    return group


def _docstrings() -> Iterator[tuple[str, str]]:
    """The name and docstring of each command, read from the source of its module, which takes seconds to import."""
    for module in dict.fromkeys(_MODULES.values()):
        inside = Path(*module.split(".")[1:]).with_suffix(".py")
        source = next(file for room in _rooms if (file := Path(room) / inside).is_file())
        for node in ast.parse(source.read_bytes()).body:
            name = node.name.rstrip("_") if isinstance(node, ast.FunctionDef) else ""
            if isinstance(node, ast.FunctionDef) and _MODULES.get(name) == module:
                yield name, ast.get_docstring(node) or ""


def _not_loaded() -> None:
    """Stands for a command where commands are only listed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 1 with one line on a user's mistake, 130 on Ctrl-C (Typer's),
    141 if the reader of its output is gone, as of any tool in a pipe.
    """
    words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    out = sys.stdout
    if _COMPLETION.intersection(words[:1]):  # so that the first completion does not have to wait for all commands
        from liescope.completion import recalled

        recalled()
    try:
        code = command_line(words).main(words, prog_name="liescope", standalone_mode=False)
        sys.stdout.flush()  # here, where a reader that is gone is no traceback
    except TyperException as error:
        context = getattr(error, "ctx", None)
        said = _nearest(error, context) or getattr(error, "format_message", error.__str__)()
        command = next((word for word in words if word in _MODULES), "")
        path = context.command_path if context else f"liescope {command}".strip()
        return _fail(f"{said} (see {path} --help)") if said else 1
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


def _nearest(error: TyperException, context: typer.Context | None) -> str:
    """What is said of an option that there is not, with the option that may have been meant; "" for other errors."""
    name = getattr(error, "option_name", "")
    if context is None or not hasattr(error, "possibilities"):
        return ""
    known = [option for param in context.command.get_params(context) for option in (*param.opts, *param.secondary_opts)]
    near = get_close_matches(name, [option for option in known if option.startswith("--")], n=1, cutoff=_ALIKE)
    return f"No such option: {plain(name)}.{f' Did you mean {near[0]}?' if near else ''}"


def _reader_gone(out: TextIO) -> int:
    """The exit code where the reader of standard output is gone, as in `| head`: nothing more can be printed there."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    return _READER_GONE


def _fail(words: str) -> int:
    print(f"error: {plain(' '.join(words.split()))}", file=sys.stderr)
    return 1
