"""Games in the formats of other tools: eval logs, preference and reward data, chat transcripts."""

from liescope.generate.exports.exporting import ExportResult, export
from liescope.generate.exports.protocol import Exporter
from liescope.generate.exports.registry import EXPORTERS

__all__ = ["EXPORTERS", "ExportResult", "Exporter", "export"]
