"""Games that others published, as game records."""

from generate.importers.mini_mafia import Rejected, read_mini_mafia
from generate.importers.told import Cast, Said, Told, retell

__all__ = ["Cast", "Rejected", "Said", "Told", "read_mini_mafia", "retell"]
