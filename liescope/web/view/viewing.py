"""`liescope.view`: games in a browser."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Unpack
from urllib.parse import quote

from liescope.common.errors import MissingExtra, UsageError
from liescope.common.settings import resolve, takes
from liescope.web.view.game_file import GameFile, write_games
from liescope.web.view.game_sources import open_source, path_of
from liescope.web.web_settings import ViewSettings


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
    under XDG_CACHE_HOME): nothing is written into the run. Of detectors, all but the controls are shown by default.

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
        Without the packages of the extra `web`, which `out` does not need.

    Examples
    --------
    >>> liescope.view("runs/first", port=0)
    >>> liescope.view("runs/first", "0", "1", out="two-games.html").bytes
    """
    own = resolve(ViewSettings, settings)
    if out is None and (len(games) > 1 or own["permission"]):
        raise UsageError("several games, and a permission, are for a file; name it with --out FILE, or give one game")
    opened = open_source(path, own["scores"], own["detectors"])
    found = tuple(opened.source.find(game) for game in games)
    if out is not None:
        return write_games(opened, found or tuple(opened.source.listed().values()), out, own["permission"])
    try:
        from liescope.web.view.game_site import serve_games
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", "web") from error
    serve_games(opened, f"games/{quote(path_of(found[0]))}" if found else "", told, own)
    return None
