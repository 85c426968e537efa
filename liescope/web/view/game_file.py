"""`liescope.view`: games as one HTML file that opens from disk, offline.

A single game is plain HTML. Several are each packed (gzip, base64) and unpacked by the browser one at a time, so that a
file of hundreds opens at once; once unpacked, a game is the same page, complete for keyboards and screen readers.
"""

from __future__ import annotations

import base64
import gzip
import os
import sys
import tempfile
import webbrowser
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from liescope.common.errors import UsageError
from liescope.common.key_finder import find_secret, secrets_of
from liescope.common.settings import takes
from liescope.common.stores import stored
from liescope.common.text import GAME, number_of, plain, unit_of
from liescope.data_cards.licences import OURS, Terms, own_terms
from liescope.games.core import EventKind
from liescope.games.record import Source
from liescope.generate.corpus.corpus_facts import NOT_SAID
from liescope.generate.corpus.publish import notices
from liescope.generate.importers.statement_rows import UNKNOWN_MODEL
from liescope.generate.runs.journal_reader import find_game_id
from liescope.labeling.conditions import origin_of
from liescope.web import STATIC, templates
from liescope.web.view.game_page import shown
from liescope.web.view.sources import Games, ViewedGame, open_games
from liescope.web.web_settings import ViewSettings

MOST = 1000  # games in one file
MOST_WITH_CALLS = 20  # games with all prompts and replies, of which one game can have a thousand
_GENERATOR = "liescope view"  # marks our own files


@dataclass(frozen=True, slots=True)
class GameFile:
    """A file that was written. unit: what one of its games is called, as "conversation"; bytes: its size; notices: what
    to know before passing it on.
    """

    path: Path
    games: int
    unit: str
    bytes: int
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<GameFile {self.path}: {self.contents}>"

    @property
    def contents(self) -> str:
        """How many games there are, and how large the file is."""
        return f"{number_of(self.games, self.unit)}, {self.bytes / 1e6:.2f} MB"


@takes(ViewSettings)
@stored
def view(
    path: str | os.PathLike[str],
    *games: str,
    out: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> GameFile:
    """Write the games of a run or a corpus to one HTML file and open it in the browser, where there is a display. With
    `out`, only write it, there.

    The file holds everybody's roles, models, words and labels; without `out` also prompts and replies, if the source
    has them. With `out`, words that may not be passed on need `permission`.

    Parameters
    ----------
    path : str or path
        A run's folder, a corpus folder or a corpus on the Hub ("USER/NAME").
    *games : str
        An id, the beginning of one or a number; by default all games that ended, up to 1,000.
    out : str or path, optional
        The HTML file; by default one in a new folder for temporary files.
    **settings

    Raises
    ------
    UsageError
        For a path that holds no games, an unknown game, a file that cannot be written or is none of ours, words that
        may not be passed on, and for `out` what looks like a secret.

    Examples
    --------
    >>> liescope.view("runs/first", "0", "1", out="two-games.html").bytes
    """
    own = ViewSettings.of(settings)
    source = open_games(str(path))
    wanted = [find_game_id(game, source.ids, source.name) for game in games] or source.ids[:MOST]
    if not 0 < len(wanted) <= MOST:
        raise UsageError(f"a file holds 1 to {MOST:,} games, not {len(wanted):,}; name those that you want")
    if out is None:
        file = Path(tempfile.mkdtemp(prefix="liescope-view-")) / "games.html"
    else:
        file = Path(out)
        _check_ours(file)
    with_calls = out is None and len(wanted) <= MOST_WITH_CALLS
    viewed = [*source.read(wanted, with_calls)]
    words = _whose_words(source, viewed)
    if out is not None:
        _check_permitted(words, str(source.path), own.permission)
    kinds = sorted({seat.source.value for game in viewed for seat in game.record.seats})
    told = [notice.replace("this corpus", "this file") for notice in notices(kinds, own.permission)]
    if not games and len(source.ids) > MOST:
        told.append(f"these are the first {MOST:,} of {len(source.ids):,} games; name others to see them")
    unit = unit_of(game.record.game for game in viewed)
    why = "" if with_calls else f"a file has them that is not made by --out, of at most {MOST_WITH_CALLS} games"
    entries = [_entry(game, why) for game in viewed]
    for entry in entries:
        if out is not None and (what := find_secret(entry["body"], secrets_of(os.environ))):
            game_id = plain(entry["game"]["game_id"])
            raise UsageError(f"game {game_id} holds {what}, so no file was written; revoke that secret")
        if len(entries) > 1:
            entry["body"] = base64.b64encode(gzip.compress(entry["body"].encode(), 9, mtime=0)).decode()
    values = {"unit": unit, "source": source.name, "with_calls": with_calls}
    text = _page(entries, values | {"words": words, "notices": told})
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    if out is None and (sys.platform in ("darwin", "win32") or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()):
        webbrowser.open(file.resolve().as_uri())
    return GameFile(file, len(entries), unit, file.stat().st_size, tuple(told))


def _check_ours(path: Path) -> None:
    try:
        with path.open("rb") as file:
            ours = f'content="{_GENERATOR}"'.encode() in file.read(2000)
    except OSError:  # writing says what is wrong, if anything is
        return
    if not ours:
        raise UsageError(f"{path} exists and is no file of games; choose another --out")


def _whose_words(source: Games, games: Sequence[ViewedGame]) -> list[tuple[Terms, int]]:
    """The terms of the words in these games, with the number of games under each. Where a corpus has one origin under
    several terms, all of them count.
    """
    counts = Counter[Terms]()
    for game in games:
        origin = origin_of(game.record)
        own = own_terms("+".join(sorted({seat.source.value for seat in game.record.seats})))
        counts.update((own,) if origin == OURS else source.terms.get(origin, (NOT_SAID,)))
    return [*counts.items()]


def _check_permitted(words: Sequence[tuple[Terms, int]], name: str, permission: str) -> None:
    bound = [
        f"{one.origin} ({games:,} games; {one.licence.rstrip('.')})" for one, games in words if not one.redistributable
    ]
    if bound and not permission.strip():
        raise UsageError(
            f"{name} holds words that may not be passed on, and a file is made to be: {'; '.join(bound)}. Ask whoever "
            'published them; if they agree, say so with --permission "WHO, WHEN". To look at them here, leave --out '
            f"out: liescope view {name}"
        )


def _entry(viewed: ViewedGame, why: str) -> dict[str, Any]:
    """A game in the file's list. body: its page; words: all that was said, for the filter; why: there are no prompts
    and replies, if the game's source does not say it.
    """
    game, record = shown(viewed), viewed.record
    imported = any(seat.source is Source.IMPORTED for seat in record.seats)
    why = f"No prompts or raw replies: {why or ('its source keeps none' if imported else 'none were kept')}."
    models = dict.fromkeys(seat.model for seat in record.seats)
    return {
        "game": game,
        "players": ", ".join(model for model in models if game["unit"] == GAME or model != UNKNOWN_MODEL),
        "words": " ".join(event.text for event in record.events if event.kind is EventKind.STATEMENT),
        "lies": sum(row.label_claim is True for row in viewed.labels.statements),
        "body": templates().get_template("game_body.html").render(game=game, no_calls=why),
    }


def _page(entries: Sequence[dict[str, Any]], values: dict[str, Any]) -> str:
    values |= {"generator": _GENERATOR, "entries": entries}
    for name, files in (("style", ("style.css", "game.css")), ("script", ("game.js", "game_file.js"))):
        text = "\n".join((STATIC / file).read_text(encoding="utf-8") for file in files)
        # The file's policy allows its own style and script by their hashes.
        values[f"{name}_hash"] = f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
        values[name] = Markup(text)
    return templates().get_template("game_file.html").render(values)
