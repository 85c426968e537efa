"""Sentences that depend on the sources of a corpus's words: what it is, its limits."""

from __future__ import annotations

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
