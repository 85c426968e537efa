"""Fills in the templates. A placeholder without a fact, or with an empty one, is an error, so no card has gaps."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined, Template, TemplateError, meta

from liescope.common.errors import CardError
from liescope.common.model_names import consent_hash
from liescope.common.text import GAME, OF_GAMES, Units, any_games, holding, record_unit, unit_of
from liescope.data_cards.licences import (
    CLAIM_STUDY,
    LABELS,
    SOURCES,
    citation,
    hub_licence,
    languages_of,
    may_not_be_shared,
    model_licence,
)
from liescope.data_cards.tables import TABLES, columns_markdown, columns_of_games

_PERSON = "human:"
_TAGS, _GAMES = ("deception", "lie-detection"), "social-deduction-games"


def served_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """How people came to play, from the plans in corpus.json.

    consents: each text that people agreed to, with its hash and the runs that it was for; patience: each set of waiting
    times of games; mixed: games that people shared with programs, of how many; unsaid: runs that may hold people's
    games or answers and do not say how people joined.
    """
    served = {run["name"]: run["plan"] for run in facts["runs"] if run["plan"].get("served")}
    texts: dict[tuple[str, ...], list[str]] = {}
    waits: dict[tuple[float, ...], None] = {}
    for name, plan in served.items():
        said = plan["served"]
        texts.setdefault(tuple(said["consent"]), []).append(name)
        waits[said["words"], said["choices"], said["away"]] = None
    mixed = sum(any(not spec.startswith(_PERSON) for spec in plan["held"].values()) for plan in served.values())
    people = "human" in facts["seat_sources"]
    return {
        "people": people,
        "consents": [{"hash": consent_hash(text), "text": text, "runs": runs} for text, runs in texts.items()],
        "patience": list(waits),
        "mixed": mixed,
        "tables_served": len(served),
        "unsaid": [run["name"] for run in facts["runs"] if _unsaid(run["plan"], people)],
    }


def _unsaid(plan: Mapping[str, Any], people: bool) -> bool:
    """Whether a plan says nothing about people although its games may have some."""
    if not people or plan.get("served") or "import" in plan:
        return False
    players = plan.get("players")
    return bool(plan.get("people")) or players is None or any(spec.startswith(_PERSON) for spec in players)


# Underscores within a word are plain text in Markdown; names stay readable.
_MARKUP = re.compile(r"[\\`*{}\[\]<>|#&~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def render_dataset_card(facts: Mapping[str, Any], games: Mapping[str, str]) -> str:
    """README.md of a corpus: YAML metadata that the Hub and `datasets` read, then the card in Markdown.

    facts: the contents of corpus.json; games: a sentence about each game that Liescope plays. Raises CardError if a
    fact is missing or empty.
    """
    try:
        derived = _derive(facts, games)
    except KeyError as error:
        raise CardError(f"the facts of the corpus lack {error}") from error
    return _render("dataset.md.jinja", {**facts, **derived})


class _Words(yaml.SafeDumper):  # type: ignore[misc]
    """Quotes every text that any version of YAML reads as something else; PyYAML knows 1.1, the Hub reads 1.2."""


_Words.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+.\d].*"), list("-+.0123456789"))


def _front_matter(metadata: Mapping[str, Any]) -> str:
    """The YAML at the top of every card, which reads back as what is given; what is None or empty is left out."""
    given = {name: value for name, value in metadata.items() if value}
    return str(yaml.dump(given, Dumper=_Words, sort_keys=False, allow_unicode=True)).strip()


def render_model_card(facts: Mapping[str, Any]) -> str:
    """README.md of a detector: YAML metadata that the Hub reads, then the card in Markdown.

    facts: detector (its name), kind (tfidf, embedding, encoder), target (role, claim, self, peer), corpus (its name),
    training and words (as in model.json), config (name to value), figures, reports (each with rows; may be empty),
    thresholds (false positive rate in words to score; may be empty), ordinary (as in model.json, with its rates, or
    None), place (where code finds the model), said (a statement), plain_use (code that scores it without Liescope, or
    ""), needs (what using it takes, if only Liescope opens it, or ""), extra (of Liescope, or ""), library (the Hub's
    name of the library that opens it), base_model (a Hub id, or ""), results (arguments of the Hub's `EvalResult`),
    liescope (the version). Raises CardError if a fact is missing or empty.
    """
    try:
        training, kinds = facts["training"], [one["name"] for one in facts["words"]]
        called = Units.of(kinds, training["statements"] == training["games"])
        words = model_licence(training["sources"])[2]
        derived = {
            "metadata": _model_metadata(facts),
            "source_words": SOURCES,
            "licence_words": words,
            "called": called,
        }
    except KeyError as error:
        raise CardError(f"the facts of the model lack {error}") from error
    return _render("model.md.jinja", {**facts, **derived}, called)


def _model_metadata(facts: Mapping[str, Any]) -> str:
    """The YAML of a model card, with the figures as a `model-index`."""
    from huggingface_hub import EvalResult, ModelCardData

    licence_id, licence_name, _ = model_licence(facts["training"]["sources"])
    corpus = facts["corpus"]
    results = [EvalResult(**result) for result in facts["results"]]
    data = ModelCardData(
        language=sorted({language for one in facts["words"] for language in one["languages"]}) or None,
        license=licence_id,
        license_name=licence_name if licence_id == "other" else None,
        library_name=facts["library"],
        pipeline_tag="text-classification",
        base_model=facts["base_model"] or None,
        datasets=[corpus] if "/" in corpus else None,
        metrics=sorted({result.metric_type for result in results}) or None,
        tags=[
            *_TAGS,
            *[_GAMES] * any_games(one["name"] for one in facts["words"]),
            "liescope",
            facts["kind"],
        ],
        model_name=facts["detector"],
        eval_results=results or None,
    )
    return _front_matter(data.to_dict())  # type: ignore[no-untyped-call]


def _derive(facts: Mapping[str, Any], games: Mapping[str, str]) -> dict[str, Any]:
    """Derived facts for the dataset card."""
    statements = sum(facts["rows"]["statements"].values())
    unit = record_unit(facts["kinds"], facts["games"], statements)
    played = any_games(facts["kinds"])
    told = GAME if played else unit  # columns that only games fill are described if any record is a game
    licence_id, licence_name = hub_licence(facts["licences"])
    labelled = any(label["labelled"] for label in facts["labels"])
    filled = [config for config in TABLES if any(facts["rows"][config].values())]
    units = sorted({f"{unit_of([kind])}s" for kind in facts["kinds"]} - {"games"})
    sources = [f"source-{source}" for source in facts["seat_sources"]]
    metadata = {
        "pretty_name": facts["name"],
        "language": languages_of(facts["licences"]),
        "license": licence_id,
        "license_name": licence_name,
        "task_categories": ["text-classification"] * labelled,
        "tags": [*_TAGS, *[_GAMES] * played, *units, "liescope", *sources],
        "configs": [_config(facts, config) for config in filled],
    }
    return {
        "metadata": _front_matter(metadata),
        "tables": TABLES,
        "columns": {config: columns_markdown(config, told) for config in TABLES},
        "meanings": {config: table.words(told) for config, table in TABLES.items()},
        "only_games": {} if played else {config: columns_of_games(config) for config in TABLES},
        "filled": filled,
        "statements": statements,
        "holding": holding(facts["kinds"], facts["games"], statements),
        "played": played,
        "unit": unit,
        "units": f"{unit}s",
        "labelled": labelled,
        "label_licence": LABELS,
        "not_shared": may_not_be_shared(facts["licences"]),
        "source_words": SOURCES,
        "claim_study": CLAIM_STUDY,
        "game_words": {
            kind: markdown(facts["game_texts"][kind]) if kind in facts["game_texts"] else games[kind]
            for kind in facts["kinds"]
        },
        "citation": citation(facts["liescope"]),
        **served_facts(facts),
    }


def _config(facts: Mapping[str, Any], config: str) -> dict[str, Any]:
    """What `datasets` reads of a config."""
    # It caches by folder, config and version; with an equal version it would serve an earlier corpus's rows.
    files = [file for file in facts["files"] if file["config"] == config]
    digest = sha256("".join(str(file["sha256"]) for file in files).encode()).digest()
    return {
        "config_name": config,
        **({"default": True} if config == "statements" else {}),
        "version": f"0.{int.from_bytes(digest[:4])}.{int.from_bytes(digest[4:8])}",
        "data_files": [{"split": file["split"], "path": file["path"]} for file in files if file["rows"]],
    }


def _render(template: str, facts: Mapping[str, Any], called: Units = OF_GAMES) -> str:
    try:
        found, needed = _template(template, called)
        if missing := needed - facts.keys():
            raise CardError(f"{template} needs facts that are missing: {', '.join(sorted(missing))}")
        return found.render(facts)
    except TemplateError as error:
        raise CardError(f"{template}: {error}") from error


@cache
def _template(name: str, called: Units) -> tuple[Template, frozenset[str]]:
    """A template, its own words reworded for these units, and the names of the facts that it needs."""
    environment = _environment()
    source, _, _ = PackageLoader("liescope.data_cards").get_source(environment, name)
    parts = re.split(r"(\{[{%].*?[%}]\})", source)
    source = "".join(part if part.startswith("{") else called.say(part) for part in parts)
    return environment.from_string(source), frozenset(meta.find_undeclared_variables(environment.parse(source)))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("liescope.data_cards"),
        undefined=StrictUndefined,
        finalize=_filled,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(md=markdown, sh=_shell, python=_python, share=_share, num=_number)
    environment.filters.update(percent=_percent, interval=_interval)
    return environment


def _filled(value: Any) -> Any:
    """Reject a placeholder without a value; jinja2 calls this for each."""
    if value is None or (isinstance(value, str) and not value.strip()):
        raise CardError("a placeholder has no value")
    if isinstance(value, float) and not math.isfinite(value):
        raise CardError(f"a placeholder has the value {value}")
    return value


def markdown(value: object) -> str:
    """Any text as one line of plain Markdown, with markup, table borders and tags disabled."""
    return _MARKUP.sub(lambda found: f"&#{ord(found.group())};", _printable(value))


def _python(value: object) -> str:
    return json.dumps(_printable(value), ensure_ascii=False)


def _shell(value: object) -> str:
    return shlex.quote(_printable(value))


def _printable(value: object) -> str:
    """One line, without control characters, direction marks and the like."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "not defined"


def _percent(share: float | None) -> str:
    return "not known" if share is None else f"{share:.1%}"


def _interval(low: float | None, high: float | None) -> str:
    return "not defined" if low is None or high is None else f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{_filled(value):.3f}"
