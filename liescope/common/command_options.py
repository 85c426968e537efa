"""What commands share: options made of the declarations of settings, a config file, and one way to print a result."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.markup import escape

from liescope.common.config_file import Parameter, read_config
from liescope.common.console import emit, put
from liescope.common.errors import UsageError
from liescope.common.settings import Setting, given_type, settings_of

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Given = Mapping[str, Any]

_Command = Callable[..., None]


def with_settings(*declared: type | Sequence[Setting], run_file: str = "") -> Callable[[_Command], _Command]:
    """Give a Typer command an option for each setting, under the heading of its group. declared: options models, and
    settings of plug-ins, which have no default of their own; run_file: the file that marks a folder as one that the
    command can continue.

    The function takes a parameter `given`, a mapping from names to values without those that are None; on the command
    line the options stand in its place. Register the result with `app.command()`.

    Raises UsageError for a setting with the name of an option that the command itself has.
    """
    settings = [each for one in declared for each in (settings_of(one).values() if isinstance(one, type) else one)]

    def decorate(command: _Command) -> _Command:
        signature = inspect.signature(command, eval_str=True)
        own = list(signature.parameters.values())
        place = next(at for at, parameter in enumerate(own) if parameter.name == "given")
        own.pop(place)
        _check_names([parameter.name for parameter in own], settings, command.__name__)

        @functools.wraps(command)
        def run(**values: Any) -> None:
            given = {each.name: value for each in settings if (value := values.pop(each.name)) not in (None, [])}
            command(**values, given=given)

        run.__dict__.update(settings={each.name: each for each in settings}, run_file=run_file)
        return _signed(run, signature, [*own[:place], *map(_parameter, settings), *own[place:]])

    return decorate


def _signed(run: _Command, signature: inspect.Signature, parameters: Iterable[inspect.Parameter]) -> _Command:
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    run.__dict__["__signature__"] = signature.replace(parameters=keywords)
    return run


def _check_names(own: Sequence[str], settings: Sequence[Setting], command: str) -> None:
    names = [*own, *(each.name for each in settings)]
    for each in settings:
        if names.count(each.name) > 1:
            whose = f" of {each.group}" if each.group else ""
            raise UsageError(
                f"the option {each.option}{whose} is called like one that liescope {command} has itself; give it "
                "another name where it is declared"
            )


def _parameter(setting: Setting) -> inspect.Parameter:
    """The command's parameter from which Typer makes the option."""
    plain = setting.default if isinstance(setting.default, str | int | float) and setting.default != "" else None
    typed = setting.type | None if plain is None else setting.type
    option = typer.Option(
        *([setting.option] if setting.flag or setting.one_way else []),
        help=escape(f"{setting.help}{setting.notes}"),
        metavar=setting.metavar,
        show_default=plain is not None and not setting.shown and setting.type is not bool,
        autocompletion=(lambda: setting.names) if setting.choices else None,
        rich_help_panel=setting.group or None,
    )
    return inspect.Parameter(
        setting.name, inspect.Parameter.KEYWORD_ONLY, default=plain, annotation=Annotated[typed, option]
    )


def each_with_a_line(help: str, lines: Mapping[str, str]) -> str:
    """The help of a parameter that names one of several things, with a line about each."""
    return escape("\n\n".join([help, *(f"{name}: {line}" for name, line in lines.items())]))


def config_parameters(command: typer.core.TyperCommand) -> list[Parameter]:
    """What a config file may hold for a command."""
    function: Any = command.callback
    settings: Mapping[str, Setting] = getattr(function, "settings", {})
    found = []
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        hint = parameter.annotation
        kind = given_type(get_args(hint)[0] if hasattr(hint, "__metadata__") else hint)
        (typed,) = (each for each in command.params if each.name == name)
        key = max(typed.opts, key=len).lstrip("-").replace("-", "_")
        found.append(Parameter(name, key, kind, settings.get(name)))
    return found


def _use(context: typer.Context, file: Path | None) -> None:
    """Use the contents of the file as the command's defaults."""
    command: Any = context.command
    if file is not None and not context.resilient_parsing:
        run_file = getattr(command.callback, "run_file", "")
        options = read_config(file, f"{context.info_name}", config_parameters(command), run_file)
        context.default_map = {**(context.default_map or {}), **options}


_Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="A TOML file of options; those typed win.",
        is_eager=True,
        callback=_use,
    ),
]


def completed(command: _Command) -> _Command:
    """A command's function with --config, the option that every command has."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(**values: Any) -> None:
        command(**{name: value for name, value in values.items() if name in signature.parameters})

    config = inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_Config)
    return _signed(run, signature, [*signature.parameters.values(), config])


def say(result: Any, as_json: bool, show: Callable[[Any], Iterable[str] | None]) -> None:
    """Print a result: as JSON, or through a function that prints it or returns its lines."""
    if as_json:
        emit(result.to_json())
        return
    for line in show(result) or ():
        put(line)
