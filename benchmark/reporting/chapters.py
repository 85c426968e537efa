"""The chapters of a report, in the order of the Mini-Mafia paper's sections, and what stands in each."""

from __future__ import annotations

from dataclasses import dataclass

from liescope.benchmark.reporting.methods import Method, backgrounds, ratings


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter. To add a method on counts, put its function into `method`; to move an analysis here, name its
    module.

    title: its heading. method: of counts (`liescope.benchmark.reporting.methods`). modules: of
    `liescope.benchmark.analyses`, whose analyses stand here. rest: also those that no chapter names.
    """

    title: str
    method: Method | None = None
    modules: tuple[str, ...] = ()
    rest: bool = False


CAPABILITIES = "Who deceives, who detects, who discloses"
PEOPLE = "People"
SETTINGS = "Games and settings"
MISSING = "What cannot be shown, and why"

CHAPTERS = (
    Chapter(CAPABILITIES),
    Chapter("Against fixed backgrounds", backgrounds),
    Chapter("Ratings", ratings),
    Chapter("Votes, names and the last word", modules=("accuracy", "names", "last_word")),
    Chapter(
        "What players disclose, claim and leave unsaid",
        modules=("disclosure", "counter_accusation", "first_claim", "injection", "lengths", "bidding", "fingerprint"),
    ),
    Chapter("Silences, unusable replies and drawn votes", modules=("silence", "mishaps", "influence")),
    Chapter(
        "Does the lie work",
        modules=(
            "moves",
            "lies",
            "forks",
            "deception",
            "suspicion",
            "calibration",
            "detection",
            "predictors",
            "judges",
        ),
    ),
    Chapter("Who wins, and who is voted out", rest=True),
    Chapter("The same games under other conditions", modules=("conditions",)),
    Chapter(PEOPLE, modules=("people",)),
    Chapter(SETTINGS, modules=("configuration",)),
)
