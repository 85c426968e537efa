"""Published games from other projects, as game records."""

from liescope.generate.importers.importer_protocol import Imported, Importer, Rejected
from liescope.generate.importers.importing import IMPORTERS, ImportResult, import_games, read_games

__all__ = ["IMPORTERS", "ImportResult", "Imported", "Importer", "Rejected", "import_games", "read_games"]
