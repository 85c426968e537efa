"""The documents of a corpus: dataset card, croissant.json and corpus.json, filled in from its facts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from liescope.data_cards import croissant, render_dataset_card
from liescope.games.registry import CARDS
from liescope.generate.corpus.files import CARD_FILE, CROISSANT_FILE, FACTS_FILE


def write_papers(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write README.md, croissant.json and corpus.json. Raises CardError if the card would have a gap."""
    (folder / CARD_FILE).write_text(render_dataset_card(facts, CARDS), encoding="utf-8")
    for name, data in ((CROISSANT_FILE, croissant(facts)), (FACTS_FILE, facts)):
        (folder / name).write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
