"""What every command has: options made of the declarations of settings, and one way to print a result."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape

from liescope.common.console import emit, put
from liescope.common.errors import UsageError
from liescope.common.settings import Setting, settings_of

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Given = Mapping[str, Any]

_METAVARS: Mapping[Any, str] = {int: "N", float: "X", str: "TEXT", list[str]: "TEXT"}  # short: a group's help is wide
_Command = Callable[..., None]


def with_settings(*declared: type | Sequence[Setting]) -> Callable[[_Command], _Command]:
    """Give a Typer command an option for each setting. declared: settings classes, and settings of parts, which have no
    default of their own.

    The function takes a parameter `given`, a mapping from names to values without those that are None; on the command
    line the options stand in its place. Register the result with `app.command()`.

    Raises UsageError for a setting that is called like an option that the command has itself.
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

        options = [*own[:place], *map(_parameter, settings), *own[place:]]
        keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in options]
        run.__dict__["__signature__"] = signature.replace(parameters=keywords)
        return run

    return decorate


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
    """The parameter of a command that Typer makes an option of."""
    plain = setting.default if isinstance(setting.default, str | int | float) and setting.default != "" else None
    typed = setting.type | None if plain is None else setting.type
    option = typer.Option(
        *([setting.flag] if setting.flag else []),
        help=escape(f"{setting.help}{setting.notes}"),
        rich_help_panel=setting.group or None,
        metavar=setting.metavar or (_METAVARS.get(setting.type) if setting.group else None),
        show_default=plain is not None and not setting.shown and setting.type is not bool,
    )
    return inspect.Parameter(
        setting.name, inspect.Parameter.KEYWORD_ONLY, default=plain, annotation=Annotated[typed, option]
    )


def say(result: Any, as_json: bool, show: Callable[[Any], Iterable[str] | None]) -> None:
    """Print a result: as JSON, or as a function shows it, which prints it or gives the lines."""
    if as_json:
        emit(result.to_json())
        return
    for line in show(result) or ():
        put(line)
