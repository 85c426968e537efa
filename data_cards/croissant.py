"""croissant.json: what the Croissant (MLCommons, version 1.0) that the Hub makes of Parquet files lacks: responsible-AI
terms, the citation, and the files with their checksums. The record sets are the Hub's.

Written as plain JSON-LD, so that building needs no extra package; the tests read it with mlcroissant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from liescope.common.text import holding, record_unit, unit_of
from liescope.data_cards.licences import LABELS, SOURCES, citation, hub_licence, languages_of
from liescope.data_cards.tables import TARGETS

# fmt: off
_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject",
    "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path",
    "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator", "source",
    "subField", "transform",
)
# fmt: on
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS},
}
_SOCIAL = (
    "Lie detectors harm people when they are trusted beyond their evidence. This corpus must not be used to judge the "
    "honesty of a person."
)
_LICENCES = {
    "apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "mit": "https://opensource.org/license/mit",
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
}


def croissant(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON-LD of a corpus, for a file next to its configs. facts: as for `render_dataset_card`."""
    licence_id, _ = hub_licence(facts["licences"])
    languages = languages_of(facts["licences"])
    of_games = ["social deduction games"] if _played(facts) else []
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts["name"],
        "description": _description(facts),
        "license": _LICENCES.get(licence_id) or _licence_words(facts["licences"]),
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


def _played(facts: Mapping[str, Any]) -> bool:
    """Whether there are games among the records."""
    return any(unit_of([kind]) == "game" for kind in facts["kinds"])


def _description(facts: Mapping[str, Any]) -> str:
    words = " ".join(f"{name.capitalize()}: {SOURCES[name]}" for name in facts["seat_sources"])
    what = holding(facts["kinds"], facts["games"], sum(facts["rows"]["statements"].values()))
    if _played(facts):
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
    told = _of_games(facts) if _played(facts) else _of_texts(facts)
    targets = TARGETS if _played(facts) else _labelled(facts)
    annotated = [f"{TARGETS[target].name}: {TARGETS[target].meaning}." for target in targets]
    return {
        **told,
        "rai:dataAnnotationProtocol": [*annotated, *told["rai:dataAnnotationProtocol"]],
        "rai:machineAnnotationTools": [f"Liescope {facts['liescope']}"],
        "rai:dataSocialImpact": _SOCIAL,
    }


def _of_texts(facts: Mapping[str, Any]) -> dict[str, Any]:
    unit = record_unit(facts["kinds"], facts["games"], sum(facts["rows"]["statements"].values()))
    return {
        "rai:dataCollection": " ".join(
            f"Taken as they stand from: {one['terms']['origin']}." for one in facts["licences"]
        ),
        "rai:dataCollectionType": ["Existing data"],
        "rai:dataCollectionMissingData": "A missing label is null, with its reason in a column of its own.",
        "rai:dataImputationProtocol": "No label is imputed.",
        "rai:dataAnnotationProtocol": [
            f"{one['name']}: {one['terms']['means']}" for one in facts["licences"] if one["terms"]["means"]
        ],
        "rai:dataBiases": [
            "How often a text is deceptive is the source's choice and does not transfer to other texts."
        ],
        "rai:dataUseCases": [f"Training and testing detectors of deception on {unit}s held out whole."],
        "rai:dataLimitations": [
            "What counts as deceptive is what the source says; a detector trained here is not shown to work elsewhere."
        ],
        "rai:personalSensitiveInformation": ["The texts may contain personal information; nobody has looked for it."],
    }


def _of_games(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "rai:dataCollection": "Games played under fixed rules, every event logged; statements are recorded as the "
        f"players heard them. {facts['failed']:,} games failed; they are listed with the reason, without statements.",
        "rai:dataCollectionType": ["Simulation" if facts["seat_sources"] == ["scripted"] else "Played games"],
        "rai:dataCollectionMissingData": "A missing label is null, with its reason in a column of its "
        "own. A reply that could not be read is never counted as honest.",
        "rai:dataImputationProtocol": "No label is imputed. A vote that could not be read was drawn at random by the "
        "rules, as its column 'fallback' says.",
        "rai:dataAnnotationProtocol": [
            f"{judge} gave reports and ratings of {count:,} games afterwards."
            for judge, count in facts["judges"].items()
        ],
        "rai:dataBiases": [
            "Deceiving roles are rarer than others and speak under the same rules, so prevalence is specific to games "
            "and does not transfer to other conversations.",
            "The rules that find claims miss unusual wordings; a statement without a found claim is not thereby true.",
        ],
        "rai:dataUseCases": [
            "Training and testing detectors of deception on games held out whole, within social-deduction games."
        ],
        "rai:dataLimitations": [
            "Deception in a game is part of its rules; a detector trained here says nothing reliable about people or "
            "about conversations outside such games.",
            *(SOURCES[name] for name in facts["seat_sources"] if name == "scripted"),
        ],
        "rai:personalSensitiveInformation": [
            "Players have in-game names. Words that people typed may still contain personal information."
            if {"human", "imported"} & set(facts["seat_sources"])
            else "None: players have in-game names, and no person typed any of the words."
        ],
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
