"""Options that a command gets from declarations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from liescope.common.declared_options import DeclaredOption, with_declared

DECLARED = [
    DeclaredOption("villagers", int, "How many villagers.", "Table", minimum=0),
    DeclaredOption("assess", bool, "Rate every statement."),
    DeclaredOption("names", str, "Names, separated by commas."),
]


@pytest.fixture
def seen() -> dict[str, Any]:
    return {}


@pytest.fixture
def app(seen: dict[str, Any]) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @with_declared(DECLARED)
    def play(game: Annotated[str, typer.Argument()], out: Path = Path("x"), *, given: Mapping[str, Any]) -> None:
        """Play."""
        seen.update(game=game, out=out, given=given)

    return app


def call(app: typer.Typer, *words: str) -> None:
    get_command(app).main(words, standalone_mode=False)


def test_only_what_was_given_arrives(app: typer.Typer, seen: dict[str, Any]) -> None:
    call(app, "mafia", "--villagers", "3", "--no-assess")
    assert seen == {"game": "mafia", "out": Path("x"), "given": {"villagers": 3, "assess": False}}


def test_nothing_given_is_an_empty_mapping(app: typer.Typer, seen: dict[str, Any]) -> None:
    call(app, "mafia", "--out", "y")
    assert seen["given"] == {}
    assert seen["out"] == Path("y")


def test_the_help_shows_them_and_their_switches(app: typer.Typer, capsys: pytest.CaptureFixture[str]) -> None:
    call(app, "--help")
    said = capsys.readouterr().out
    assert "--villagers" in said
    assert "--no-assess" in said


def test_a_name_that_the_command_has_already_is_refused() -> None:
    with pytest.raises(ValueError, match="out"):

        @with_declared([DeclaredOption("out", str, "")])
        def play(out: str, *, given: Mapping[str, Any]) -> None:
            """Play."""
