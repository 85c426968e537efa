"""croissant.json: the dataset in the Croissant vocabulary (MLCommons, version 1.0) with its responsible-AI terms.

Written as plain JSON-LD, so that building needs no extra package; the tests read it with mlcroissant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from liescope.data_cards.licences import LABELS, SOURCES, citation, hub_licence
from liescope.data_cards.tables import TABLES, TARGETS, CorpusColumn, CorpusTable

_TYPES = {"text": "sc:Text", "boolean": "sc:Boolean", "integer": "sc:Integer", "number": "sc:Float"}
_PARQUET = "application/x-parquet"
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
_LICENCES = {
    "apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "mit": "https://opensource.org/license/mit",
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
}


def croissant(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON-LD of a corpus, for a file next to its configs. facts: as for `render_dataset_card`."""
    licence_id, _ = hub_licence(facts["licences"])
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
        "inLanguage": "en",
        "keywords": ["deception", "lie detection", "social deduction games", *facts["kinds"]],
        **_responsible(facts),
        "distribution": [_file(file) for file in facts["files"]] + [_file_set(name) for name in TABLES],
        "recordSet": [_record_set(table) for table in TABLES.values()],
    }


def _licence_words(licences: Sequence[Mapping[str, Any]]) -> str:
    each = (f"{one['name']} ({one['terms']['origin']}): {one['terms']['licence']}" for one in licences)
    return " ".join((*each, LABELS))


def _description(facts: Mapping[str, Any]) -> str:
    words = " ".join(f"{name.capitalize()}: {SOURCES[name]}" for name in facts["seat_sources"])
    statements = sum(facts["rows"]["statements"].values())
    return (
        f"{statements:,} statements of {facts['games']:,} games, each labelled for deception in separate ways: by the "
        f"speaker's role, by claims and by promises checked against the log, by the speaker's own report and by the "
        f"other players. {words}"
    )


def _responsible(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "rai:dataCollection": "Games played under fixed rules, every event logged; statements are recorded as the "
        f"players heard them. {facts['failed']:,} games failed; they are listed with the reason, without statements.",
        "rai:dataCollectionType": ["Simulation" if facts["seat_sources"] == ["scripted"] else "Played games"],
        "rai:dataCollectionMissingData": "A missing label is null, with its reason in a column of its "
        "own. A reply that could not be read is never counted as honest.",
        "rai:dataImputationProtocol": "No label is imputed. A vote that could not be read was drawn at random by the "
        "rules, as its column 'fallback' says.",
        "rai:dataAnnotationProtocol": [
            *(f"{column.name}: {column.meaning}." for column in TARGETS.values()),
            *(
                f"{judge} gave reports and ratings of {count:,} games afterwards."
                for judge, count in facts["judges"].items()
            ),
        ],
        "rai:machineAnnotationTools": [f"Liescope {facts['liescope']}"],
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
        "rai:dataSocialImpact": "Lie detectors harm people when they are trusted beyond their evidence. This corpus "
        "must not be used to judge the honesty of a person.",
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
        "encodingFormat": _PARQUET,
        "sha256": file["sha256"],
    }


def _file_set(config: str) -> dict[str, Any]:
    """All splits of a config, as one set of files."""
    return {
        "@type": "cr:FileSet",
        "@id": f"{config}-files",
        "name": f"{config}-files",
        "encodingFormat": _PARQUET,
        "includes": f"{config}/*.parquet",
    }


def _record_set(table: CorpusTable) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "field": [_field(table.name, column) for column in table.fields],
    }


def _field(config: str, column: CorpusColumn) -> dict[str, Any]:
    name = column.name
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{config}/{name}",
        "name": f"{config}/{name}",
        "description": column.words,
        **({"repeated": True} if column.repeated else {}),
    }
    if not column.fields:
        return {**field, "dataType": _TYPES[column.type], "source": _source(config, name)}
    inner = [
        {
            "@type": "cr:Field",
            "@id": f"{config}/{name}/{part.name}",
            "name": f"{config}/{name}/{part.name}",
            "description": part.words,
            "dataType": _TYPES[part.type],
            "source": {**_source(config, name), "transform": {"jsonPath": part.name}},
        }
        for part in column.fields
    ]
    return {**field, "subField": inner}


def _source(config: str, column: str) -> dict[str, Any]:
    return {"fileSet": {"@id": f"{config}-files"}, "extract": {"column": column}}
