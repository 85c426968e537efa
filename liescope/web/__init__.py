"""Pages in a browser: look at games, play them. FastAPI (extra `web`) is imported only where it is used.

Here are the templates and static files of all pages, served or written to a file.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from liescope.common.text import plain

_HERE = Path(__file__).parent
STATIC = _HERE / "static"


@cache
def templates() -> Environment:
    """The templates of all pages. All text is escaped; the filter `clean` also makes invisible characters visible, for
    whoever looks at games. Players see messages as they were written.
    """
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = lambda text: plain(str(text))
    return environment
