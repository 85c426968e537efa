"""People as players."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

PEOPLE = "people"
"""The name under which all people stand as one player, wherever players are named by their models."""


def consent_hash(paragraphs: Sequence[str]) -> str:
    """What tells one text that people agree to from another, 16 hexadecimal digits."""
    return sha256("\n".join(paragraphs).encode()).hexdigest()[:16]
