"""The players: scripted ones, and models behind an endpoint."""

from liescope.generate.players.player_protocol import Attempt, Player, PlayerContext
from liescope.generate.players.player_registry import PLAYERS, open_player
from liescope.generate.players.run_limits import Price

__all__ = ["PLAYERS", "Attempt", "Player", "PlayerContext", "Price", "open_player"]
