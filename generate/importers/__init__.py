"""Games that others published, as game records."""

from liescope.generate.importers.mini_mafia.log_game import Cast, LogGame, LogMessage, replay_log
from liescope.generate.importers.mini_mafia.reader import Rejected, read_mini_mafia

__all__ = ["Cast", "LogGame", "LogMessage", "Rejected", "read_mini_mafia", "replay_log"]
