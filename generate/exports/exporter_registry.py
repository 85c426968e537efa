"""The exporters, by format name."""

from __future__ import annotations

from liescope.common.registry import Registry
from liescope.generate.exports.exporter_protocol import Exporter
from liescope.generate.exports.inspect_log import InspectExporter
from liescope.generate.exports.label_studio import LabelStudioExporter
from liescope.generate.exports.preferences import KtoExporter, PairsExporter

EXPORTERS: Registry[type[Exporter]] = Registry(
    "format to export to",
    "liescope.exporters",
    {
        exporter.format: exporter
        for exporter in (  # one line for each
            InspectExporter,
            PairsExporter,
            KtoExporter,
            LabelStudioExporter,
        )
    },
)


def find_exporter(format: str) -> type[Exporter]:
    """The exporter for a format. Raises UnknownName with the available formats."""
    return EXPORTERS[format]
