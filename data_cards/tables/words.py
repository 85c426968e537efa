"""Meanings and class names that several tables share."""

from __future__ import annotations

from liescope.data_cards.tables.declare import Column

HONESTY = ("honest", "deceptive")  # the classes of every label: false, true
DECEPTION_TYPES = (
    "none",
    "omission",
    "distortion",
    "fabrication",
    "misdirection",
    "sycophancy",
    "strategic_deception",
    "persuasive_manipulation",
)
GAME_ID = Column("the game; unique in the corpus, the key that joins configs")
STATEMENT_ID = Column("the statement: game_id, a colon, the index of its event in the game")
DAY = Column("the day of the game, from 1")
