"""What a library raises over somebody's file is one line; what Liescope says itself stays as it is."""

from __future__ import annotations

import re

import pytest

from liescope.common.errors import LiescopeError, MissingExtra
from liescope.common.reading import Reading


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
