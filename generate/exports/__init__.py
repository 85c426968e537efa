"""Games in the formats of other tools: eval logs, training data, tasks for people."""

from liescope.generate.exports.exporter_protocol import Exporter
from liescope.generate.exports.exporting import EXPORTERS, ExportResult, export

__all__ = ["EXPORTERS", "ExportResult", "Exporter", "export"]
