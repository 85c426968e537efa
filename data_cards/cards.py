"""Filling the templates. A placeholder that has no fact, or an empty one, is an error: no card has a gap."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateError, meta

from liescope.data_cards.columns import COLUMNS, CONFIGS
from liescope.data_cards.games import GAME_TEXTS
from liescope.data_cards.words import SOURCES, citation, licence

_GAP = re.compile(r"\{\{|\}\}|\{%|%\}|\[More Information Needed\]|\bTODO\b")
# Underscores within a word are plain text in Markdown; names stay readable.
_MARKUP = re.compile(r"[\\`*{}\[\]<>|#&~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_SIZES = [(10**power, f"{low}<n<{high}") for power, low, high in (
    (4, "1K", "10K"),
    (5, "10K", "100K"),
    (6, "100K", "1M"),
    (7, "1M", "10M"),
    (8, "10M", "100M"),
)]  # fmt: skip


class CardError(ValueError):
    """A card that cannot be filled from the facts given."""


def render_dataset_card(facts: Mapping[str, Any], columns: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """README.md of a corpus: YAML metadata that the Hub and `datasets` read, then the card in Markdown.

    facts: what corpus.json keeps; columns: config to its columns, each with name, type, repeated and fields, in order.
    Raises CardError where a fact is missing or empty, or a column has no meaning in `liescope.data_cards.columns`.
    """
    try:
        derived = _derive(facts, columns)
    except KeyError as error:
        raise CardError(f"the facts of the corpus lack {error}") from error
    return _render("dataset.md.jinja", {**facts, **derived})


def render_model_card(facts: Mapping[str, Any]) -> str:
    """README.md of a detector.

    facts: detector (its name), kind (tfidf, embedding, encoder), target (role, claim, self, peer), corpus (its name),
    sources (where the words of the training statements come from), config (name to value), metrics (rows with split,
    metric, value, lo, hi, statements, games; may be empty), liescope (the version).
    Raises CardError where a fact is missing or empty.
    """
    return _render("model.md.jinja", {**facts, "source_words": SOURCES})


def type_words(column: Mapping[str, Any]) -> str:
    """A column's type in words: "text", "list of integers", "list of records"."""
    return f"list of {column['type']}" if column["repeated"] else str(column["type"])


def _derive(facts: Mapping[str, Any], columns: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """What the dataset card says beside the facts themselves."""
    statements = sum(facts["rows"]["statements"].values())
    licence_id, licence_name, licence_words = licence(facts["seat_sources"])
    return {
        "tables": {
            config: [(column["name"], type_words(column), _meaning(config, column["name"])) for column in described]
            for config, described in columns.items()
        },
        "filled": [config for config in columns if any(facts["rows"][config].values())],
        "config_words": CONFIGS,
        "statements": statements,
        "size": "n<1K" if statements < 1000 else next((words for top, words in _SIZES if statements < top), "n>100M"),
        "licence_id": licence_id,
        "licence_name": licence_name,
        "licence_words": licence_words,
        "source_words": SOURCES,
        "game_words": GAME_TEXTS,
        "citation": citation(facts["liescope"]),
    }


def _meaning(config: str, column: str) -> str:
    if column not in COLUMNS.get(config, {}):
        raise CardError(f"column {column!r} of config {config!r} has no meaning in data_cards/columns.py")
    return COLUMNS[config][column]


def _render(template: str, facts: Mapping[str, Any]) -> str:
    environment = _environment()
    try:
        source, _, _ = PackageLoader("liescope.data_cards").get_source(environment, template)
        if missing := meta.find_undeclared_variables(environment.parse(source)) - facts.keys():
            raise CardError(f"{template} needs facts that are missing: {', '.join(sorted(missing))}")
        text = environment.get_template(template).render(facts)
    except TemplateError as error:
        raise CardError(f"{template}: {error}") from error
    if gap := _GAP.search(text):
        raise CardError(f"{template}: {gap.group()!r} is left in the filled card")
    return text


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
    environment.filters.update(md=markdown, yaml=yaml_text, sh=_shell, share=_share, num=_number)
    return environment


def _filled(value: Any) -> Any:
    """Refuses a placeholder whose value is nothing; jinja2 calls it on each."""
    if value is None or (isinstance(value, str) and not value.strip()):
        raise CardError("a placeholder has no value")
    if isinstance(value, float) and not math.isfinite(value):
        raise CardError(f"a placeholder has the value {value}")
    return value


def markdown(value: object) -> str:
    """Any text as one line of plain Markdown: no markup, table border or tag in it takes effect."""
    return _MARKUP.sub(lambda found: f"&#{ord(found.group())};", _printable(value))


def yaml_text(value: object) -> str:
    """A double-quoted YAML scalar on one line."""
    return json.dumps(_printable(value), ensure_ascii=False)


def _shell(value: object) -> str:
    return shlex.quote(_printable(value))


def _printable(value: object) -> str:
    """One line, without control characters, direction marks and the like."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "not defined"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{_filled(value):.3f}"
