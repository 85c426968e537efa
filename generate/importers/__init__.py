"""Published games from other projects, as game records."""

from liescope.generate.importers.importer_protocol import Imported, Importer, Rejected
from liescope.generate.importers.importer_registry import IMPORTERS
from liescope.generate.importers.importing import ImportResult, import_games, read_games

__all__ = ["IMPORTERS", "ImportResult", "Imported", "Importer", "Rejected", "import_games", "read_games"]
