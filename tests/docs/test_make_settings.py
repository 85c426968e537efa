"""The tables of settings in the documentation are those of the declarations."""

from __future__ import annotations

import importlib

import pytest

from tests.docs.examples import ROOT


def test_the_page_is_made_of_the_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    script = importlib.import_module("make_settings")
    assert script.FILE.read_text(encoding="utf-8") == script.page(), "python docs/make_settings.py"
