"""Text from elsewhere, made safe to print, and to write into Markdown and CSV."""

from __future__ import annotations

import re
import unicodedata

_MARKS = re.compile(r"[\\`*_\[\]|~$]|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)


def plain(text: str) -> str:
    """Text that a terminal shows as it is: control characters, direction marks and the like become visible escapes.

    Everything that comes from a model, a file or a person passes through here before it is printed. Line breaks stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else letter.encode("unicode_escape").decode("ascii")
        for letter in text
        if unicodedata.category(letter) != "Cs"
    )


def markdown(text: str) -> str:
    """Text in one line that Markdown shows as it is: no link, image, markup, formula or table cell begins in it."""
    escaped = _MARKS.sub(r"\\\g<0>", plain(text))
    return " ".join(escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def cell(text: str) -> str:
    """Text for a cell of a CSV file that no spreadsheet runs as a formula: a quote stands before what would be one."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
