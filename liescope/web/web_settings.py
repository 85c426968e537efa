"""The options of view and serve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from liescope.common.settings import Option, OptionsModel, Several, Switch
from liescope.games.game_registry import GAMES
from liescope.generate.players.player_registry import player_names


class ViewSettings(OptionsModel):
    """What `view` takes."""

    permission: Annotated[str, Option(metavar="WHO")] = Field(
        default="", description="Who permits it, if words for --out may not be passed on otherwise."
    )


class ServeSettings(OptionsModel):
    """What `serve` takes, beside the options of the game."""

    game: Annotated[str | None, Option(choices=GAMES)] = Field(
        default=None, description="Open a game of this kind right away."
    )
    people: int = Field(default=1, ge=1, description="How many people play.")
    players: Annotated[Several, Option(flag="--player", choices=player_names)] = Field(
        default=(), description="Players of its other seats, in turn."
    )
    assess: Switch = Field(default=False, description="Ask for reports and ratings after each statement.")
    host: str = Field(default="127.0.0.1", description="The address to listen at.")
    port: int = Field(default=8000, ge=0, le=65535, description="The port to listen at; 0 for any free one.")
    public: str = Field(
        default="", description="The address by which others reach it, with the path that a proxy shows it under."
    )
    consent: Path | None = Field(
        default=None, description="A text file: what people agree to, in plain paragraphs, instead of ours."
    )
    give_up_after: str | float = Field(
        default="3m", description="How long a game waits for an endpoint that does not answer, before it stops."
    )
