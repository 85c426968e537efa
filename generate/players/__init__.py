"""The players: scripted ones, and models behind an endpoint."""

from liescope.generate.players.player_protocol import Attempt, Player, PlayerContext, Price
from liescope.generate.players.player_registry import PLAYERS, open_player

__all__ = ["PLAYERS", "Attempt", "Player", "PlayerContext", "Price", "open_player"]
