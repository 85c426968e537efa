"""Command options generated from declarations: a game or detector declares each option once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any


@dataclass(frozen=True, slots=True)
class DeclaredOption:
    """One option. name: as in Python; type: of its value (`int`, `str`, `bool`…); panel: its heading in the help.

    A bool is a switch, `--name/--no-name`. An option that is not given is absent, whatever its default.
    """

    name: str
    type: Any
    help: str
    panel: str | None = None
    minimum: float | None = None


_METAVARS = {int: "N", float: "X", str: "TEXT", list[str]: "TEXT"}  # short, to leave room for the help


def with_declared(options: Sequence[DeclaredOption]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add an option to a Typer command for each declaration.

    The function takes a parameter `given`, a mapping from names to the values that the user gave; on the command line
    the declared options replace it. Register the result with `app.command()`.
    """
    import typer
    from rich.markup import escape

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [parameter for name, parameter in signature.parameters.items() if name != "given"]
        if clash := {option.name for option in options} & {parameter.name for parameter in own}:
            raise ValueError(f"{command.__name__} has options of these names already: {', '.join(sorted(clash))}")
        declared = [
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    option.type | None,
                    typer.Option(
                        help=escape(option.help),
                        rich_help_panel=option.panel,
                        min=option.minimum,
                        metavar=_METAVARS.get(option.type),
                        show_default=False,
                    ),
                ],
            )
            for option in options
        ]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            given: Mapping[str, Any] = {
                option.name: value for option in options if (value := values.pop(option.name)) not in (None, [])
            }
            command(**values, given=given)

        keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__dict__["__signature__"] = signature.replace(parameters=keywords + declared)
        return run

    return decorate
