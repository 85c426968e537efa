"""What a library raises over somebody's file is one line; what Liescope says itself stays as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from liescope.common.errors import BadData, LiescopeError, MissingExtra
from liescope.common.reading import Reading, check_folder, read_bytes, read_text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no\nsuch luck"), "x.bin cannot be read (no); train again"),
        (RecursionError(), "x.bin cannot be read (RecursionError); train again"),
        (Exception("a" * 1000), f"x.bin cannot be read ({'a' * 200}); train again"),
        (MissingExtra("torch", "train"), str(MissingExtra("torch", "train"))),
        (KeyboardInterrupt("stop"), "stop"),
    ],
)
def test_an_error_of_a_library_becomes_one_line(error: BaseException, words: str) -> None:
    with (
        pytest.raises((LiescopeError, KeyboardInterrupt), match=f"^{re.escape(words)}$"),
        Reading("x.bin", "train again"),
    ):
        raise error


def test_a_folder_of_ordinary_files_and_links_to_them_passes(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.json").write_text("{}")
    (tmp_path / "link.json").symlink_to(tmp_path / "below" / "a.json")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    check_folder(tmp_path)
    assert read_text(tmp_path / "link.json") == "{}"
    (tmp_path / "below" / "b.json").symlink_to("/dev/null")
    with pytest.raises(BadData, match=r"b\.json is not a regular file"):
        check_folder(tmp_path)


def test_a_text_is_read_up_to_its_bound_and_must_be_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"ab\xffd")
    with pytest.raises(BadData, match="not text in UTF-8"):
        read_text(file)
    with pytest.raises(BadData, match="more than"):
        read_bytes(file, 3)
    assert read_bytes(file, 4) == b"ab\xffd"
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "none")
