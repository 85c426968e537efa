"""The importers, by the name of their format."""

from __future__ import annotations

from liescope.common.errors import UnknownName
from liescope.generate.importers.mini_mafia.importer import MiniMafiaImporter
from liescope.generate.importers.protocol import Importer

IMPORTERS: dict[str, type[Importer]] = {
    importer.format: importer
    for importer in (  # one line for each
        MiniMafiaImporter,
    )
}


def find_importer(format: str) -> type[Importer]:
    """The importer of a format. Raises UnknownName with the formats there are."""
    if format not in IMPORTERS:
        raise UnknownName("format of published games", format, IMPORTERS)
    return IMPORTERS[format]
