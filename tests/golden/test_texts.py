"""Help, prompts, cards and exports stay as they are, word by word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.frozen import unlike_text
from tests.golden.texts import FOLDERS

FOLDER = Path(__file__).parent
FILES = sorted(path.relative_to(FOLDER).as_posix() for name in FOLDERS for path in (FOLDER / name).iterdir())


@pytest.mark.parametrize("file", FILES)
def test_the_text_is_as_it_was(file: str, texts: dict[str, Callable[[], str]]) -> None:
    assert file in texts, f"{file} is made by nothing any more"
    unlike = unlike_text(file, (FOLDER / file).read_text(encoding="utf-8"), texts[file]())
    assert not unlike, f"\n{unlike}\n\nWhere it is meant: python -m tests.golden.freeze {file}"


def test_every_text_has_its_file(texts: dict[str, Callable[[], str]]) -> None:
    assert sorted(texts) == FILES
