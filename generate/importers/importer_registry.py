"""The importers, by format name."""

from __future__ import annotations

from liescope.common.registry import Registry
from liescope.generate.importers.avalon_nlu import AvalonImporter
from liescope.generate.importers.diplomacy import DiplomacyImporter
from liescope.generate.importers.importer_protocol import Importer
from liescope.generate.importers.inspect_logs import InspectImporter
from liescope.generate.importers.jsonl.jsonl_importer import JsonlImporter
from liescope.generate.importers.mini_mafia.mini_mafia_importer import MiniMafiaImporter
from liescope.generate.importers.own_data import ChatImporter, TextImporter
from liescope.generate.importers.quack import QuackImporter

IMPORTERS: Registry[type[Importer]] = Registry(
    "format of published games",
    "liescope.importers",
    {
        importer.format: importer
        for importer in (  # one line for each
            TextImporter,
            ChatImporter,
            InspectImporter,
            JsonlImporter,
            MiniMafiaImporter,
            AvalonImporter,
            DiplomacyImporter,
            QuackImporter,
        )
    },
)


def find_importer(format: str) -> type[Importer]:
    """The importer for a format. Raises UnknownName with the available formats."""
    return IMPORTERS[format]
