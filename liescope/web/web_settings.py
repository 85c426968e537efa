"""The settings of view and serve."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, TypedDict

from liescope.common.settings import Setting
from liescope.games.game_registry import GAMES
from liescope.generate.players.player_registry import player_names

AnyPath = str | os.PathLike[str]


class SiteSettings(TypedDict, total=False):
    """Where pages are served."""

    host: Annotated[str, Setting("The address to listen at.", "127.0.0.1")]
    port: Annotated[int, Setting("The port to listen at; 0 for any free one.", 8000, at_least=0, at_most=65535)]
    public: Annotated[
        str, Setting("The address by which others reach it, with the path that a proxy shows it under.", "")
    ]


class ViewSettings(TypedDict, total=False):
    """What `view` takes."""

    permission: Annotated[
        str, Setting("Who permits it, where words for --out may not be passed on without.", "", metavar="WHO")
    ]
    scores: Annotated[AnyPath | None, Setting("A report of `evaluate`, or a file of `score`, to lay over the games.")]
    detectors: Annotated[
        Sequence[str],
        Setting("A detector of it to show; may be repeated.", (), flag="--detector", metavar="NAME"),
    ]


class TableSettings(TypedDict, total=False):
    """The table that is opened right away."""

    game: Annotated[str | None, Setting("Open a table of this game right away.", choices=GAMES)]
    people: Annotated[int, Setting("How many people sit at it.", 1, at_least=1)]
    players: Annotated[
        Sequence[str], Setting("Players of its other seats, in turn.", (), flag="--player", choices=player_names)
    ]


class PeopleSettings(TypedDict, total=False):
    """How people are let in, and how long games wait."""

    frames: Annotated[Sequence[str], Setting("A site that may show these pages in a frame.", (), flag="--frame")]
    consent: Annotated[
        AnyPath | None,
        Setting("A text file: what people agree to, in plain paragraphs, instead of ours."),
    ]
    mortal: Annotated[
        bool,
        Setting("A first night that is drawn may kill people, not only programs.", False, flag="--mortal"),
    ]
    pace: Annotated[bool, Setting("Programs answer at the pace of people.", False, flag="--pace")]
    give_up_after: Annotated[
        str | float,
        Setting("How long a game waits for an endpoint that does not answer, before it stops.", "3m"),
    ]


class ServeSettings(TableSettings, SiteSettings, PeopleSettings, total=False):
    """What `serve` takes, beside the options of the game."""
