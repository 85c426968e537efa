"""`liescope.view`: games in a browser."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Unpack
from urllib.parse import quote, urlsplit

from liescope.common.errors import MissingExtra, UsageError
from liescope.common.settings import resolve, takes
from liescope.web.view.game_sources import Opened, open_source, path_of
from liescope.web.web_settings import ViewSettings

try:
    from fastapi import FastAPI

    from liescope.web.server import listen, public_address, run_server
    from liescope.web.site import LOOPBACK, make_site
    from liescope.web.view.doubtful_labels import MarkFile, doubt_routes
    from liescope.web.view.game_file import GameFile, write_games
    from liescope.web.view.game_index import Index
    from liescope.web.view.game_list import list_routes
    from liescope.web.view.game_routes import game_routes
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "fastapi", "web") from error


@takes(ViewSettings)
def view(
    path: str | os.PathLike[str],
    *games: str,
    out: str | os.PathLike[str] | None = None,
    told: Callable[[str], None] = print,
    **settings: Unpack[ViewSettings],
) -> GameFile | None:
    """Show games in a browser, until Ctrl-C: those of a run (also while it is played), a corpus, or a report of
    `evaluate`. With `out`, write games to one HTML file instead, which opens offline, and return what was written.

    The file holds everybody's roles, models, words and labels, but no prompts; without `permission`, one with words
    that may not be passed on is refused. What is listed is indexed in the background, in `~/.cache/liescope/view` (or
    under XDG_CACHE_HOME): nothing is written into the run. Of detectors, all but the controls are shown by default;
    `marks` gets what people think of doubtful labels, one line of JSON each.

    Parameters
    ----------
    path : str or path
        A run's folder, a corpus folder, a corpus on the Hub ("USER/NAME") or a report.
    *games : str
        An id, the beginning of one or a number: the one whose address is told, or those for the file, by default all.
    out : str or path, optional
        The HTML file.
    told : callable
        Gets the lines that say where the site is.
    **settings

    Raises
    ------
    UsageError
        For a path that holds no games, an unknown game, an address that cannot be listened at, a file that cannot be
        written and words that may not be passed on.
    MissingExtra
        Without the packages of the extra `web`.

    Examples
    --------
    >>> liescope.view("runs/first", port=0)
    >>> liescope.view("runs/first", "0", "1", out="two-games.html").bytes
    """
    own = resolve(ViewSettings, settings)
    permission, host, public = own["permission"], own["host"], own["public"]
    public = public_address(public) if public else ""
    if host not in LOOPBACK and not public:
        raise UsageError(
            f"at {host} everybody who reaches this machine can read these games, with all roles and prompts; if that "
            "is meant, say by which address they come, with --public http://NAME:PORT"
        )
    opened = open_source(path, own["scores"], own["detectors"])
    found = [opened.source.find(game) for game in games]
    if out is not None:
        return write_games(opened, found or tuple(opened.source.listed().values()), out, permission)
    if len(found) > 1 or permission:
        raise UsageError("several games, and a permission, are for a file; name it with --out FILE, or give one game")
    begin = f"games/{quote(path_of(found[0]))}" if found else ""
    second = None if own["beside"] is None else open_source(own["beside"])
    kept = None if own["marks"] is None else MarkFile(Path(own["marks"]), opened.source.path)
    site = site_of(opened, second, kept, public)
    bound = listen(host, own["port"])
    name = f"[{host}]" if ":" in host else host
    told(f"{opened.source.name}: {public or f'http://{name}:{bound.getsockname()[1]}'}/{begin}")
    told("Ctrl-C ends this.")
    with suppress(KeyboardInterrupt):
        run_server(site, bound)
    return None


def site_of(opened: Opened, beside: Opened | None = None, marks: MarkFile | None = None, public: str = "") -> FastAPI:
    """The site of what was opened; its index grows while the site is up. marks: where labels are marked; public: as in
    `view`.

    Raises UsageError for a cache folder that cannot be written.
    """
    index = Index(opened)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        index.start()
        try:
            yield
        finally:
            await asyncio.to_thread(index.close)

    name = urlsplit(public).hostname
    hosts = [*LOOPBACK, name] if name else LOOPBACK
    routers = [list_routes(index), doubt_routes(index, marks), game_routes(opened, beside)]
    return make_site(routers, hosts, (), lifespan, urlsplit(public).path)
