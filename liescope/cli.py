"""The `liescope` command, put together from the commands of each package."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from textwrap import fill
from typing import Annotated, TextIO

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from liescope import __version__
from liescope.common.command_options import completed
from liescope.common.errors import LiescopeError, named
from liescope.common.key_finder import hide_secrets
from liescope.common.leaks import check_arguments
from liescope.common.text import plain

_FRONT, _WEB = "liescope.front_commands", "liescope.web.commands"
_RUN, _SHOW = "liescope.generate.runs.run_commands", "liescope.generate.runs.show_commands"
_DETECTORS, _LEARNING = "liescope.detectors.commands", "liescope.detectors.learning_commands"
_IMPORT, _BENCHMARK = "liescope.generate.importers.commands", "liescope.benchmark.commands"
# The module of each command, whose `app` has it, and the first sentence of its docstring; in groups and in the order of
# a user's work, as in the help. Only the module of the command given is loaded: all of them take seconds.
_GROUPS = {
    "Begin": {"demo": (_FRONT, "The whole pipeline, small and offline, from games to a fit.")},
    "Make data": {
        "import": (_IMPORT, "Import your own texts and chats, or published games, as a run."),
        "import prompts": (_IMPORT, "Make a folder for --prompts from batches of the Mini-Mafia paper."),
        "import probe": (_DETECTORS, "Read a published probe, so that score and evaluate use it."),
        "play": (_RUN, "Play games."),
        "status": (_SHOW, "Say what a run is doing: games, hosts, tokens, cost, time left."),
        "label": (_RUN, "Rate a run's games after the fact."),
        "fork": (_RUN, "Play a recorded game on from one moment, many times."),
        "build": ("liescope.generate.corpus.commands", "Label the games of runs and package them as a dataset."),
    },
    "Look at it": {
        "show": (_SHOW, "List the games of a run, or show one of them."),
        "view": (_WEB, "Look at games in a browser."),
        "audit": (_DETECTORS, "Find what a detector could exploit without detecting deception."),
    },
    "Train detectors and test them": {
        "train": (_LEARNING, "Train a lie detector on the training split of a corpus."),
        "score": (_DETECTORS, "Score statements: how probable is it that each is deceptive?"),
        "evaluate": (_DETECTORS, "Compare detectors with controls, chat models and people."),
        "bench": (_DETECTORS, "Measure detectors on a suite of data sets, beside what words alone do there."),
        "transfer": (_LEARNING, "Train detectors on some units and test them on others."),
    },
    "Who deceives best": {
        "fit": (_BENCHMARK, "Fit the capability model to games or to a table of counts."),
        "analyse": (_BENCHMARK, "Analyse games: who won, who deceived, who noticed, and why."),
        "report": (_BENCHMARK, "Put everything that games say about their players on one page."),
    },
    "Play with people": {
        "serve": (_WEB, "Let people play in a browser, with each other and with models."),
        "withdraw": (_SHOW, "Take the words of a person out of a run, for good."),
    },
    "Pass it on": {
        "publish": (_FRONT, "Push a corpus or a model to the Hugging Face Hub."),
        "export": ("liescope.generate.exports.commands", "Export games in a format of other tools."),
    },
}
_MODULES = {name: module for commands in _GROUPS.values() for name, (module, _) in commands.items()}

_READER_GONE = 128 + signal.SIGPIPE
_WIDTH = 80


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"liescope {__version__}")
        raise typer.Exit


def front(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """The options that may come before the command."""


def command_line(words: Sequence[str]) -> TyperGroup:
    """The command line with the command named by these words loaded and the others only listed; without words, all are
    loaded.
    """
    app = typer.Typer(
        name="liescope",
        help="Deception datasets from social-deduction games, lie detectors trained on them, and who deceives best.",
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    app.callback()(front)
    given = next((word for word in words if not word.startswith("-")), "")
    modules = dict.fromkeys(_MODULES.values()) if not words else [_MODULES[given]] if given in _MODULES else []
    gc.disable()  # what is imported stays: looking through it for garbage takes a tenth of the start
    try:
        loaded = {
            command.name or getattr(command.callback, "__name__", ""): completed(command.callback)
            for module in modules
            for command in import_module(module).app.registered_commands
        }
    finally:
        gc.enable()
    for heading, commands in _GROUPS.items():
        for name, (_, line) in commands.items():
            register = app.command(name, short_help=line, rich_help_panel=heading)
            register(loaded.get(name, lambda: None))
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return group


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 1 with one line on a user's mistake, 130 on Ctrl-C (Typer's),
    141 if whatever read its output has gone, like any tool in a pipe.
    """
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if (two := " ".join(words[:2])) in _MODULES:  # a command of two words
        words[:2] = [two]
    if "_LIESCOPE_COMPLETE" in os.environ:  # a shell is asking for completions
        words = os.environ.get("_TYPER_COMPLETE_ARGS", os.environ.get("COMP_WORDS", "")).split()[1:] or ["--help"]
    out = sys.stdout
    try:
        check_arguments((f"argument {number}", word) for number, word in enumerate(words, 1))
        code = command_line(words).main(words, prog_name="liescope", standalone_mode=False)
        sys.stdout.flush()  # flushed here, where a closed pipe is caught, not at exit, where it would be a traceback
    except TyperException as error:
        context = getattr(error, "ctx", None)
        said = getattr(error, "format_message", error.__str__)()
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


def _reader_gone(out: TextIO) -> int:
    """The exit code once standard output is closed, as by `| head`: nothing more can be printed there."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    return _READER_GONE


def _fail(words: str) -> int:
    words = plain(hide_secrets(" ".join(f"error: {named(words)}".split())))
    if sys.stderr.isatty():  # a command that is to be copied stands on a line of its own
        said, sign, command = words.partition(" with: ")
        words = fill(f"{said}{sign}", _WIDTH, break_long_words=False, break_on_hyphens=False)
        words += f"\n{command}" * bool(sign)
    print(words, file=sys.stderr)
    return 1
