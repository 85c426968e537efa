"""What pages are tested with and made of: a browser, and scripts of others byte for byte as published."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

import liescope.web
from tests.common.browser import find_browser
from tests.common.find_browser import MISSING
from tests.common.find_browser import __file__ as script


def test_without_a_browser_it_is_said_how_to_get_one(tmp_path: Path) -> None:
    command = [sys.executable, script]
    environment = {name: value for name, value in os.environ.items() if name != "LIESCOPE_CHROMIUM"}
    done = subprocess.run(command, env=environment | {"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (1, MISSING)
    named = environment | {"PATH": str(tmp_path), "LIESCOPE_CHROMIUM": sys.executable}
    done = subprocess.run(command, env=named, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == sys.executable


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_only_in_ci_a_missing_browser_is_an_error(
    ci: str, outcome: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LIESCOPE_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no Chromium"):
        find_browser()


WEB = Path(liescope.web.__file__).parent
VENDORED = json.loads((WEB / "vendored.json").read_text(encoding="utf-8"))


def test_every_minified_file_names_its_source() -> None:
    assert {path.relative_to(WEB).as_posix() for path in WEB.rglob("*.min.*")} == VENDORED.keys()
    for facts in VENDORED.values():
        assert facts["source"].startswith("https://registry.npmjs.org/")
        assert facts["file"]


@pytest.mark.parametrize("name", VENDORED)
def test_a_vendored_file_has_the_recorded_hash(name: str) -> None:
    assert sha256((WEB / name).read_bytes()).hexdigest() == VENDORED[name]["sha256"]
