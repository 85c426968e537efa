"""Sentences that depend on the sources of a corpus's words: what it is, its licence, its limits."""

from __future__ import annotations

from collections.abc import Collection

SOURCES = {
    "scripted": "text from Liescope's own rule-based players. It is not model text and no person wrote it: nothing "
    "computed from it is a finding about models or people. It is for testing tools and for teaching.",
    "model": "text that language models wrote while they played.",
    "human": "text that people wrote while they played.",
    "imported": "text from games that others played and published, read from their logs.",
}

CLAIM_STUDY = (
    "How well the rules read was measured on 300 statements of Mini-Mafia that they had not been tuned on, labelled by "
    "two readers who saw nothing of the rules: 96% of the claims that the rules find are right, and they find 89% of "
    "those that both readers see (`docs/results/claims.md` in Liescope). Other games were not measured."
)

NO_LICENCE = "none stated: not redistributed"


def licence(sources: Collection[str]) -> tuple[str, str, str]:
    """(Hub licence id, its name where the id is "other", a sentence) for the sources of all seats of a corpus."""
    if {"imported", "human"} & set(sources):
        return (
            "other",
            "none-stated",
            f"Licence of the games' words, {NO_LICENCE}. The people who played or published them have granted none "
            "as far as is known; keep this corpus private unless they do. Labels and layout are Apache-2.0.",
        )
    if "model" in sources:
        return (
            "other",
            "terms-of-the-models",
            "The words were written by the models listed above, under the terms of their providers; check these "
            "before sharing the corpus. Labels and layout are Apache-2.0.",
        )
    return ("apache-2.0", "Apache-2.0", "Apache-2.0, words and labels alike: Liescope generated all of it.")


def citation(version: str) -> str:
    """A BibTeX entry for Liescope."""
    return (
        "@software{liescope,\n"
        "  title = {Liescope: deception datasets from social-deduction games and the lie detectors trained on them},\n"
        "  author = {The {Liescope} authors},\n"
        f"  version = {{{version}}},\n"
        "  year = {2026}\n"
        "}"
    )
