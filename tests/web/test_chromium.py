"""The browser that pages are tested in: it does what a person does, and its complaints are heard."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.common.browser import find_browser
from tests.common.find_browser import MISSING
from tests.common.find_browser import __file__ as script
from tests.web.server import Server

PAGE = """<!doctype html><title>A page</title><meta charset=utf-8>
<meta http-equiv=Content-Security-Policy content="default-src 'none'; script-src 'self'; img-src data:">
<link rel=icon href="data:,"><h1>Hello</h1><label>Name <input></label>{}"""


@pytest.fixture
def site(serve: Callable[..., Server], tmp_path: Path) -> Callable[[str], str]:
    """site(html): the address of a page with it, served on loopback."""
    server = serve("http.server", "{port}", "--bind", "127.0.0.1", "--directory", str(tmp_path))

    def show(html: str) -> str:
        (tmp_path / "page.html").write_text(PAGE.format(html), encoding="utf-8")
        return f"{server.url}/page.html"

    return show


@pytest.mark.long
@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        ("<script>document.title = 'fired'</script>", "Content Security Policy"),
        ("<p style='color: red'>red", "Content Security Policy"),
        ("<script src=/missing.js></script>", "404"),
    ],
)
def test_what_a_page_does_wrong_is_heard(
    new_context: Callable[..., Any],
    complaints: list[str],
    site: Callable[[str], str],
    html: str,
    complaint: str,
) -> None:
    page = new_context().new_page()
    page.goto(site(html))
    assert page.title() == "A page"
    assert complaint in complaints.pop()


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
