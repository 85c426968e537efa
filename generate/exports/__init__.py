"""Games in the formats of other tools: eval logs, preference and reward data, chat transcripts."""

from liescope.generate.exports.exporter_registry import EXPORTERS
from liescope.generate.exports.exporting import ExportResult, export
from liescope.generate.exports.protocol import Exporter

__all__ = ["EXPORTERS", "ExportResult", "Exporter", "export"]
