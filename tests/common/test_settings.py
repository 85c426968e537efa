"""Settings: a declaration is all that a function, its command, its messages and its documentation need."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pytest
import typer
from pydantic import Field
from typer.main import get_command

from liescope.common.command_options import Given, with_settings
from liescope.common.errors import LiescopeError, UsageError
from liescope.common.settings import Option, OptionsModel, Setting, Several, settings_of, takes


class Shared(OptionsModel):
    heading: ClassVar[str] = "Budget"

    cost: float | None = Field(default=None, gt=0, le=100, description="Stop when so much is spent.")
    secret: Several = Field(default=(), exclude=True, description="Which key goes where.")


class Cooking(OptionsModel):
    pans: int = Field(default=2, ge=1, le=256, description="Pans at once.")
    dishes: Annotated[Several, Option(flag="--dish", shown="soup")] = Field(
        default=(), description="A dish; may be repeated."
    )
    salt: bool = Field(default=True, description="Add salt.")
    book: Path | None = Field(default=None, description="Where recipes are.")
    heat: Literal["low", "high"] = Field(default="low", description="How hot.")
    rest: str | float = Field(default="10m", description="How long to wait.")


class CookSettings(Cooking, Shared):
    tasters: int = Field(default=1, ge=1, description="Who tastes.")


@takes(CookSettings, others="spices")
def cook(meal: str, *, out: str = "", **settings: Any) -> CookSettings:
    """Cook a meal.

    Parameters
    ----------
    meal : str
        Its name.
    **settings

    Returns
    -------
    CookSettings
        What was used.
    """
    return CookSettings.of(settings)


PARTS = [Setting(name="pepper", help="How much pepper.", type=int, group="Spices")]


@pytest.fixture
def seen() -> dict[str, Any]:
    return {}


@pytest.fixture
def app(seen: dict[str, Any]) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @with_settings(CookSettings, PARTS)
    def command(*, meal: Annotated[str, typer.Argument()], out: Path = Path("x"), given: Given) -> None:
        """Cook."""
        seen.update(meal=meal, out=out, given=given)

    return app


def call(app: typer.Typer, *words: str) -> None:
    get_command(app).main(words, standalone_mode=False)


def test_what_is_not_given_has_its_default() -> None:
    assert [getattr(cook("pie"), name) for name in ("pans", "dishes", "book", "tasters")] == [2, (), None, 1]
    assert cook("pie", pans=3, dishes=["a", "b"]).dishes == ("a", "b")
    assert cook("pie", dishes="stew").dishes == ("stew",)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"pans": 900}, "--pans must be 1 to 256, got 900"),
        ({"pans": 0}, "--pans must be 1 to 256, got 0"),
        ({"pans": 1.5}, "--pans must be a whole number, got 1.5"),
        ({"pans": None}, "--pans must be a whole number, got None"),
        ({"pans": True}, "--pans must be a whole number, got True"),
        ({"cost": 0}, "--cost must be above 0 and at most 100, got 0"),
        ({"cost": math.nan}, "--cost must be above 0 and at most 100, got nan"),
        ({"heat": "none"}, "unknown value of --heat 'none'; the choices are: high, low."),
        ({"pan": 1}, "unknown setting 'pan'"),
    ],
)
def test_a_value_that_may_not_be_is_refused_in_one_style(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as error:
        cook("pie", **given)
    assert str(error.value).startswith(words)


def test_the_signature_and_the_docstring_show_every_setting() -> None:
    shown = inspect.signature(cook).parameters
    assert list(shown) == ["meal", "out", *settings_of(CookSettings), "spices"]
    assert {name: shown[name].default for name in settings_of(CookSettings)} == dict(cook("pie"))
    documented = inspect.getdoc(cook) or ""
    assert "pans : int, default 2\n    Pans at once. [1 to 256]\n" in documented
    assert "**settings" not in documented


def test_settings_and_what_belongs_to_others_are_told_apart() -> None:
    own, rest = Cooking.with_rest({"pans": 3, "pepper": 2})
    assert (own.pans, own.salt, rest) == (3, True, {"pepper": 2})


def test_a_file_keeps_what_it_may() -> None:
    assert list(Shared.of({"cost": 2.5, "secret": ["A@b"]}).model_dump()) == ["cost"]


def test_only_what_was_given_or_has_a_default_arrives(app: typer.Typer, seen: dict[str, Any]) -> None:
    call(app, "pie")
    usual = {"pans": 2, "salt": True, "heat": "low", "rest": "10m", "tasters": 1}
    assert seen == {"meal": "pie", "out": Path("x"), "given": usual}
    call(app, "pie", "--no-salt", "--dish", "a", "--dish", "b", "--cost", "3", "--book", "b", "--pepper", "0")
    assert seen["given"] == usual | {"salt": False, "dishes": ["a", "b"], "cost": 3.0, "book": Path("b"), "pepper": 0}


def test_an_option_called_like_one_of_the_command_is_refused_with_one_line() -> None:
    with pytest.raises(LiescopeError, match=r"^the option --out of Chess is called like one that liescope move has"):

        @with_settings([Setting(name="out", help="Where.", group="Chess")])
        def move(*, out: str, given: Given) -> None:
            """Move."""
