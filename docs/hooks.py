"""What the site's pages take from the code when they are built: the tables of a corpus."""

from __future__ import annotations

from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the declared tables where a page asks for them."""
    if "<!-- tables -->" not in markdown:
        return markdown
    from liescope.data_cards.tables import tables_markdown

    return markdown.replace("<!-- tables -->", tables_markdown())
