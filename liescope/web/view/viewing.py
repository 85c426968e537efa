"""`liescope.view`: games in a browser."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import quote

from liescope.common.errors import MissingExtra, UsageError
from liescope.web.view.opening import open_source


def view(
    path: str | os.PathLike[str],
    game: str = "",
    *,
    beside: str | os.PathLike[str] | None = None,
    scores: str | os.PathLike[str] | None = None,
    detectors: Sequence[str] = (),
    host: str = "127.0.0.1",
    port: int = 8000,
    public: str = "",
    told: Callable[[str], None] = print,
) -> None:
    """Show games in a browser, until Ctrl-C: those of a run (also while it is played), a corpus, or a report of
    `evaluate`.

    path: a run's folder, a corpus folder, a corpus on the Hub ("USER/NAME") or a report; game: an id, the beginning of
    one or a number, whose address is told; beside: another such path, to compare games with; scores: a report of
    `evaluate`, or a file that `score` wrote, whose scores are laid over the games; detectors: those of it to show, by
    default all but the controls. host, port: where to listen; 0 takes any free port. public: the address under which
    others reach the site, with the path under which a proxy shows it; by default only this machine's own. told: gets
    the lines that say where the site is.

    What is listed is indexed in the background, in `~/.cache/liescope/view` (or under XDG_CACHE_HOME): nothing is
    written into the run.

    Raises UsageError for a path that holds no games, an unknown game and an address that cannot be listened at;
    MissingExtra.

    Example:
        >>> liescope.view("runs/first", port=0)
    """
    try:
        from liescope.web.server import listen, public_address, run_server
        from liescope.web.site import LOOPBACK
        from liescope.web.view.view_site import site_of
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", "web") from error
    public = public_address(public) if public else ""
    if host not in LOOPBACK and not public:
        raise UsageError(
            f"at {host} everybody who reaches this machine can read these games, with all roles and prompts; if that "
            "is meant, say by which address they come, with --public http://NAME:PORT"
        )
    opened = open_source(path, scores, detectors)
    found = f"games/{quote(opened.source.find(game))}" if game else ""
    site = site_of(opened, None if beside is None else open_source(beside), public)
    bound = listen(host, port)
    name = f"[{host}]" if ":" in host else host
    told(f"{opened.source.name}: {public or f'http://{name}:{bound.getsockname()[1]}'}/{found}")
    told("Ctrl-C ends this.")
    with suppress(KeyboardInterrupt):
        asyncio.run(run_server(site, bound))
