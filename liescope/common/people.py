"""People as players."""

from __future__ import annotations

PEOPLE = "people"
"""The name under which all people stand as one player, wherever players are named by their models."""
