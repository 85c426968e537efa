"""Games as one file that opens from disk, offline: for a paper, an issue, a colleague.

One game stands in it as it is. Several are packed each (gzip, base64) and unpacked by the browser one at a time, which
keeps 100 of them small; what is unpacked is the same page, so that keyboards and screen readers find all of it.
"""

from __future__ import annotations

import base64
import gzip
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from liescope.common.errors import UsageError
from liescope.common.leaks import find_secret, secrets_of
from liescope.common.text import plain
from liescope.games.record import GameRecord
from liescope.web.site import HERE, templates
from liescope.web.view.moments import ShownGame
from liescope.web.view.opening import Opened
from liescope.web.view.passing_on import check_permitted, warnings, whose_words
from liescope.web.view.shown import shown
from liescope.web.view.sight import all_looks

MOST = 1000  # games in one file: beyond that, a corpus is what to pass on
_GENERATOR = "liescope view"  # by which a file of ours is known
_NO_CALLS = "Prompts and raw replies are not in this file; they are in the run."


@dataclass(frozen=True, slots=True)
class GameFile:
    """A file that was written. bytes: its size; notices: what must be known before it is passed on."""

    path: Path
    games: int
    bytes: int
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<GameFile {self.path}: {self.games} games, {self.bytes / 1e6:.2f} MB>"

    def to_json(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "games": self.games,
            "bytes": self.bytes,
            "notices": list(self.notices),
        }


@dataclass(frozen=True, slots=True)
class _Entry:
    """A game in the file's list. body: its page, as it is or packed."""

    game: ShownGame
    players: str
    body: Markup


def write_games(opened: Opened, game_ids: Sequence[str], out: str | os.PathLike[str], permission: str = "") -> GameFile:
    """Write some games to one HTML file, with all roles, models and labels. permission: who permits that words are
    passed on that may not be otherwise.

    Raises UsageError for words without a permission, for what looks like a secret, for no or too many games, and for a
    file that cannot be written or exists and is none of ours; UnknownName for an unknown game.
    """
    if not 0 < len(game_ids) <= MOST:
        raise UsageError(f"a file holds 1 to {MOST} games, not {len(game_ids)}; name those that you want")
    path = Path(out)
    _check_ours(path)
    records: list[GameRecord] = []
    entries: list[_Entry] = []
    for game_id in game_ids:
        viewed = opened.game(game_id)
        records.append(viewed.record)
        game = shown(viewed)
        body = _body(game, viewed.record)
        if what := find_secret(body, secrets_of(os.environ)):
            raise UsageError(f"game {plain(game_id)} holds {what}, so no file was written; revoke that secret")
        players = ", ".join(dict.fromkeys(seat.model for seat in viewed.record.seats))
        entries.append(_Entry(game, players, Markup(body) if len(game_ids) == 1 else _packed(body)))
    words = whose_words(opened.source, records)
    check_permitted(words, str(opened.source.path), permission)
    notices = warnings(records, permission)
    text = _page(entries, source=opened.source.name, words=words, notices=notices)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    return GameFile(path, len(entries), path.stat().st_size, notices)


def _check_ours(path: Path) -> None:
    try:
        with path.open("rb") as file:
            ours = f'content="{_GENERATOR}"'.encode() in file.read(2000)
    except OSError:  # writing says what is wrong, if anything is
        return
    if not ours:
        raise UsageError(f"{path} exists and is no file of games; choose another --out")


def _body(game: ShownGame, record: GameRecord) -> str:
    return (
        templates()
        .get_template("game_body.html")
        .render(
            game=game,
            looks=tuple(all_looks(record)),
            to_look=lambda *_: "#top",
            to_call=None,
            to_compare=None,
            no_calls=_NO_CALLS,
        )
    )


def _packed(body: str) -> Markup:
    return Markup(base64.b64encode(gzip.compress(body.encode(), 9, mtime=0)).decode())


def _page(entries: Sequence[_Entry], **values: Any) -> str:
    style, script = _joined("style.css", "game.css"), _joined("game.js", "game_file.js")
    return (
        templates()
        .get_template("game_file.html")
        .render(
            entries=entries,
            style=Markup(style),
            script=Markup(script),
            style_hash=_hash(style),
            script_hash=_hash(script),
            generator=_GENERATOR,
            **values,
        )
    )


def _joined(*names: str) -> str:
    return "\n".join((HERE / "static" / name).read_text(encoding="utf-8") for name in names)


def _hash(text: str) -> str:
    """By which the file's policy knows its own style and script."""
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
