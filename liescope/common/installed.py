"""How this copy of Liescope was installed (PEP 610), and so how to add an extra to it."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlparse


def install_command(extra: str) -> str:
    """The pip command that adds an extra to this installation, whether from a checkout, a file or the index."""
    try:
        recorded = distribution("liescope").read_text("direct_url.json")
    except PackageNotFoundError:
        recorded = None
    if not recorded:
        return f"pip install 'liescope[{extra}]'"
    origin = json.loads(recorded)
    if "dir_info" not in origin:
        return f"pip install 'liescope[{extra}] @ {origin['url']}'"
    folder = Path(unquote(urlparse(origin["url"]).path))
    editable = "-e " if origin["dir_info"].get("editable") else ""
    pins = folder / "constraints" / "py311.txt"
    return f"pip install {f'-c {pins} ' if pins.exists() else ''}{editable}'{folder}[{extra}]'"
