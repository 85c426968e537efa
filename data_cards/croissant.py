"""croissant.json: what the Croissant (MLCommons, version 1.0) that the Hub makes of Parquet files lacks: responsible-AI
terms, the citation, and the files with their checksums. The record sets are the Hub's.

Written as plain JSON-LD, so that building needs no extra package; the tests read it with mlcroissant.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from liescope.common.text import any_games, holding, record_unit
from liescope.data_cards.licences import LABELS, SOURCES, citation, hub_licence, languages_of
from liescope.data_cards.tables import TARGETS

_FIXED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_TYPED = "Players have in-game names. Words that people typed may still contain personal information."
_CONTEXT = {**_FIXED["context"], **{term: f"cr:{term}" for term in _FIXED["terms"]}}


def croissant(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON-LD of a corpus, for a file next to its configs. facts: as for `render_dataset_card`."""
    licence_id, _ = hub_licence(facts["licences"])
    languages = languages_of(facts["licences"])
    of_games = ["social deduction games"] if any_games(facts["kinds"]) else []
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts["name"],
        "description": _description(facts),
        "license": _FIXED["licences"].get(licence_id) or _licence_words(facts["licences"]),
        "citeAs": citation(facts["liescope"]),
        "creator": {"@type": "sc:Organization", "name": "The Liescope authors"},
        "datePublished": facts["built"],
        "version": "1.0.0",
        **({"inLanguage": languages} if languages else {}),
        "keywords": ["deception", "lie detection", *of_games, *facts["kinds"]],
        **_responsible(facts),
        "distribution": [_file(file) for file in facts["files"]],
    }


def _licence_words(licences: Sequence[Mapping[str, Any]]) -> str:
    each = (f"{one['name']} ({one['terms']['origin']}): {one['terms']['licence']}" for one in licences)
    return " ".join((*each, LABELS))


def _description(facts: Mapping[str, Any]) -> str:
    words = " ".join(f"{name.capitalize()}: {SOURCES[name]}" for name in facts["seat_sources"])
    what = holding(facts["kinds"], facts["games"], sum(facts["rows"]["statements"].values()))
    if any_games(facts["kinds"]):
        how = (
            "each labelled for deception in separate ways: by the speaker's role, by claims and by promises checked "
            "against the log, by the speaker's own report and by the other players"
        )
    else:
        how = "labelled for deception by their source" if _labelled(facts) else "without any label"
    return f"{what}, {how}. {words}"


def _labelled(facts: Mapping[str, Any]) -> list[str]:
    """The labels that at least one statement has."""
    return [label["target"] for label in facts["labels"] if label["labelled"]]


def _responsible(facts: Mapping[str, Any]) -> dict[str, Any]:
    told = _of_games(facts) if any_games(facts["kinds"]) else _of_texts(facts)
    targets = TARGETS if any_games(facts["kinds"]) else _labelled(facts)
    annotated = [f"{TARGETS[target].name}: {TARGETS[target].meaning}." for target in targets]
    found = {
        **told,
        "dataAnnotationProtocol": [*annotated, *told["dataAnnotationProtocol"]],
        "machineAnnotationTools": [f"Liescope {facts['liescope']}"],
        **_FIXED["both"],
    }
    return {f"rai:{name}": value for name, value in found.items()}


def _of_texts(facts: Mapping[str, Any]) -> dict[str, Any]:
    unit = record_unit(facts["kinds"], facts["games"], sum(facts["rows"]["statements"].values()))
    fixed = _FIXED["texts"]
    return {
        "dataCollection": " ".join(f"Taken as they stand from: {one['terms']['origin']}." for one in facts["licences"]),
        **fixed,
        "dataAnnotationProtocol": [
            f"{one['name']}: {one['terms']['means']}" for one in facts["licences"] if one["terms"]["means"]
        ],
        "dataUseCases": [words.format(unit=unit) for words in fixed["dataUseCases"]],
    }


def _of_games(facts: Mapping[str, Any]) -> dict[str, Any]:
    fixed, sources = _FIXED["games"], facts["seat_sources"]
    return {
        **fixed,
        "dataCollection": fixed["dataCollection"].format(failed=facts["failed"]),
        **({"dataCollectionType": ["Simulation"]} if sources == ["scripted"] else {}),
        "dataAnnotationProtocol": [
            f"{judge} gave reports and ratings of {count:,} games afterwards."
            for judge, count in facts["judges"].items()
        ],
        "dataLimitations": [*fixed["dataLimitations"], *(SOURCES[name] for name in sources if name == "scripted")],
        **({"personalSensitiveInformation": [_TYPED]} if {"human", "imported"} & set(sources) else {}),
    }


def _file(file: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file["path"],
        "name": file["path"],
        "contentUrl": file["path"],
        "contentSize": f"{file['bytes']} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file["sha256"],
    }
