"""Scripts of others that pages are made of are here byte for byte as published."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

import liescope.web

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
