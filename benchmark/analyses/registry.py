"""All analyses in report order: what was played, who won, how, and what was learned."""

from __future__ import annotations

from importlib import import_module

from liescope.benchmark.analyses.analysis import Analysis

MODULES = (
    "configuration",
    "outcomes",
    "conditions",
    "endings",
    "votes",
    "accuracy",
    "last_word",
    "names",
    "nights",
    "bidding",
    "silence",
    "disclosure",
    "mishaps",
    "influence",
    "lengths",
    "counter_accusation",
    "first_claim",
    "injection",
    "game_length",
    "deception",
    "suspicion",
    "calibration",
    "detection",
    "moves",
    "lies",
    "forks",
    "people",
    "timeline",
    "fingerprint",
    "predictors",
    "judges",
    "naming",
    "lessons",
)
"""The modules of this package that hold analyses; a new one takes one line here."""

ANALYSES: tuple[Analysis, ...] = tuple(
    analysis for name in MODULES for analysis in import_module(f"liescope.benchmark.analyses.{name}").ANALYSES
)
