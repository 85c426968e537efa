"""Whose words a corpus holds, and what may be done with them: origins, licences, the Hub's licence tag."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liescope.common.text import TEXT, number_of, unit_of

OURS = "liescope"
PROMPTED = ("en",)
"""The languages of the prompts and scripts of our games."""
LABELS = "Labels and layout are Apache-2.0."
NOT_STATED = "none stated: not redistributed"
# Licences of the Hub's list that let anyone pass a text on, with changes such as labels.
OPEN = frozenset(
    (
        *("afl-3.0", "apache-2.0", "bsd", "bsd-2-clause", "bsd-3-clause", "bsl-1.0", "c-uda", "cc", "cc0-1.0"),
        *("cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-2.0"),
        *(
            "cc-by-nc-3.0",
            "cc-by-nc-4.0",
            "cc-by-nc-sa-2.0",
            "cc-by-nc-sa-3.0",
            "cc-by-nc-sa-4.0",
            "cdla-permissive-1.0",
        ),
        *("cdla-permissive-2.0", "cdla-sharing-1.0", "gfdl", "gpl-2.0", "gpl-3.0", "isc", "mit", "mpl-2.0", "odbl"),
        *("odc-by", "pddl", "unlicense", "wtfpl", "zlib"),
    )
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What may be done with the words of one origin. origin: who published them and where; licence: a sentence;
    licence_id: the Hub's id of the licence, "" if it has none; redistributable: anyone may pass the words on; means:
    what the source's own label says and who decided, "" if it has none; languages: codes of the languages of the words,
    such as en, as far as known.
    """

    origin: str
    licence: str
    licence_id: str = ""
    redistributable: bool = False
    means: str = ""
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Licensed:
    """The terms of some games of a corpus. name: `liescope`, or the format that they were imported from."""

    name: str
    terms: Terms
    games: int


def own_terms(sources: str) -> Terms:
    """The terms of games that Liescope played. sources: of the seats of a game, joined by +."""
    if "imported" in sources:
        return Terms("games whose run does not say where they come from", f"Licence {NOT_STATED}.")
    if "human" in sources:
        return Terms(
            "games played here with people",
            f"Licence of what people wrote {NOT_STATED}, unless they agree.",
            languages=PROMPTED,
        )
    if "model" in sources:
        words = "The words were written by the models listed above, under the terms of their providers; check these."
        return Terms("games played here by models", words, "", True, languages=PROMPTED)
    ours = "Apache-2.0: Liescope generated all of it."
    return Terms("games played here by scripts", ours, "apache-2.0", True, languages=PROMPTED)


def languages_of(licences: Sequence[Mapping[str, Any]]) -> list[str]:
    """The languages of a corpus, as far as they are known. licences: those of corpus.json."""
    return sorted({language for one in licences for language in one["terms"]["languages"]})


def hub_licence(licences: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The Hub's licence id for a corpus, and the licence's name if the id is "other". licences: those of
    corpus.json. An id stands only if all words have it.
    """
    terms = [one["terms"] for one in licences]
    ids = {one["licence_id"] for one in terms}
    if len(ids) == 1 and "" not in ids:
        return ids.pop(), ""
    if not all(one["redistributable"] for one in terms):
        return "other", "not-redistributable"
    return "other", "terms-of-the-models" if ids == {""} else "several"


def may_not_be_shared(licences: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each origin whose words may not be passed on, its name, records and licence in words."""
    kinds = {one["name"]: unit_of([one["name"]]).replace(TEXT, "record") for one in licences}  # texts may be in groups
    return [
        f"{one['name']} ({number_of(one['games'], kinds[one['name']])}; {one['terms']['licence'].rstrip('.')})"
        for one in licences
        if not one["terms"]["redistributable"]
    ]


SOURCES = {
    "scripted": "text from Liescope's own rule-based players. It is not model text and no person wrote it: nothing "
    "computed from it is a finding about models or people. It is for testing tools and for teaching.",
    "model": "text that language models wrote.",
    "human": "text that people wrote.",
    "imported": "text from elsewhere, read from the files of whoever published it.",
}

CLAIM_STUDY = (
    "How well the rules read was measured on three samples of 300 statements of Mini-Mafia that they had not been "
    "tuned on, each labelled by two readers (language models) who saw nothing of the rules: 97% of the claims that the "
    "rules find are right, and they find 90% of those that both readers see (`docs/results/claims.md` in Liescope). "
    "Other games were not measured."
)


def model_licence(sources: Collection[str]) -> tuple[str, str, str]:
    """(Hub licence id, its name if the id is "other", a sentence) for a detector that learned from such words."""
    if {"imported", "human"} & set(sources):
        return (
            "other",
            "terms-of-the-training-data",
            "The parameters are the publisher's own work. They are no copy of the words that they were learned from, "
            "but they hold traces of them (above). Those words have licences of their own, or none: see the card of "
            "the corpus, and ask the people who wrote or published them before you build on this model in public.",
        )
    if "model" in sources:
        return (
            "other",
            "terms-of-the-models",
            "The parameters were learned from words of the language models named above; the terms of their providers "
            "may limit what may be trained on them.",
        )
    return ("apache-2.0", "Apache-2.0", "Apache-2.0: everything that it learned from was generated by Liescope.")


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
