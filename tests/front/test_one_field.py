"""A field of an options model is all that a plug-in needs for its option."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from pydantic import Field
from typer.core import TyperCommand
from typer.main import get_command

from liescope.common.command_options import Given, completed, config_parameters, with_settings
from liescope.common.config_file import read_config
from liescope.common.errors import UsageError
from liescope.detectors.detector_registry import DETECTORS, declared_options, make
from liescope.detectors.detector_settings import TrainSettings
from liescope.detectors.kinds.tfidf import TfidfDetector, TfidfOptions
from liescope.detectors.study.bench import _contenders
from liescope.detectors.text_form import TextConfig


class WaitingOptions(TfidfOptions):
    glances: int = Field(default=3, ge=1, le=9, description="how often it looks again")


class Waiting(TfidfDetector):
    """Looks again."""

    kind = "waiting"
    options_type = WaitingOptions
    options: WaitingOptions


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> TyperCommand:
    monkeypatch.setitem(DETECTORS, "waiting", Waiting)

    @with_settings(TrainSettings, declared_options())
    def train(*, given: Given) -> None:
        """Train."""

    app = typer.Typer()
    app.command()(completed(train))
    found = get_command(app)
    assert isinstance(found, TyperCommand)
    return found


def test_one_field_is_an_option_a_keyword_a_query_toml_a_check_and_a_line_of_the_docs(
    command: TyperCommand, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command.main(["--help"], standalone_mode=False)
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "Options of waiting" in shown
    assert "--glances" in shown
    assert "How often it looks again (3). [1 to 9]" in shown

    file = tmp_path / "study.toml"
    file.write_text("[train]\nglances = 5\n", encoding="utf-8")
    assert read_config(file, "train", config_parameters(command))["glances"] == 5
    file.write_text("[train]\nglances = 50\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"glances: --glances must be 1 to 9, got 50"):
        read_config(file, "train", config_parameters(command))

    made = make("waiting", TextConfig(), {"glances": 4})
    assert isinstance(made, Waiting)
    assert made.options.glances == 4
    with pytest.raises(UsageError, match=r"waiting: --glances must be 1 to 9, got 10"):
        make("waiting", TextConfig(), {"glances": 10})

    kinds = _contenders(["waiting?glances=5", "waiting"], 0, ["words"], 0)[1]
    assert [each.untrained().options.glances for each in kinds.values()] == [5, 3]  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=r"waiting: --glances must be a whole number, got 'often'"):
        _contenders(["waiting?glances=often"], 0, ["words"], 0)

    (told,) = (each for each in declared_options() if each.name == "glances")
    assert (told.option, told.limits, told.help) == ("--glances", "1 to 9", "How often it looks again (3).")
