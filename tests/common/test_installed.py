"""The hint that a missing extra gives is a command that works for this very installation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from liescope.common import errors
from liescope.common.errors import MissingExtra


class Installed:
    """A distribution as `importlib.metadata` gives it, with the record of where it came from."""

    def __init__(self, origin: dict[str, object] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'liescope[train]'"),
        ({"url": "file:///opt/my%20code", "dir_info": {"editable": True}}, "pip install -e '/opt/my code[train]'"),
        ({"url": "file:///opt/code", "dir_info": {}}, "pip install '/opt/code[train]'"),
        (
            {"url": "file:///opt/liescope-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'liescope[train] @ file:///opt/liescope-0.1.0-py3-none-any.whl'",
        ),
    ],
)
def test_the_command_names_what_is_installed(
    origin: dict[str, object] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "distribution", lambda _: Installed(origin))
    assert errors.install_command("train") == command
    assert str(MissingExtra("torch", "train")).endswith(command)


def test_a_checkout_installs_with_its_pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pins = tmp_path / "constraints" / "py311.txt"
    pins.parent.mkdir()
    pins.touch()
    origin = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    monkeypatch.setattr(errors, "distribution", lambda _: Installed(origin))
    assert errors.install_command("bayes") == f"pip install -c {pins} -e '{tmp_path}[bayes]'"
