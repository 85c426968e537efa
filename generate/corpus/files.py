"""The files of a corpus folder."""

from __future__ import annotations

FORMAT = 5
FACTS_FILE, CARD_FILE, CROISSANT_FILE = "corpus.json", "README.md", "croissant.json"


def data_file(config: str, split: str) -> str:
    """The path of a split's file within a corpus."""
    return f"{config}/{split}-00000.parquet"
