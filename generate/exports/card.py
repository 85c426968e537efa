"""README.md of an export: what it holds, how to open it, its limits, and whose words they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from liescope.common.text import markdown
from liescope.data_cards.licences import hub_licence, may_not_be_shared
from liescope.data_cards.tables import SPLITS
from liescope.generate.exports.protocol import Exporter

CARD_FILE = "README.md"


def export_card(kind: type[Exporter], facts: Mapping[str, Any]) -> str:
    """The card, with the metadata that the Hub and `datasets` read where the export is a data set. facts: those of
    export.json.
    """
    head = [*_metadata(facts)] if kind.tabular else []
    return "\n".join([*head, *_body(kind, facts)]) + "\n"


def _metadata(facts: Mapping[str, Any]) -> Iterator[str]:
    licence, name = hub_licence(facts["licences"])
    made_of = sha256(repr(sorted(facts.items(), key=lambda item: item[0])).encode("utf-8", "replace")).digest()
    yield from ("---", f"license: {licence}", *([f"license_name: {name}"] if licence == "other" else []))
    yield from ("tags:", "- deception", "- liescope", "configs:", "- config_name: default")
    # load_dataset keeps what it read under the folder's name and this version
    yield f"  version: 0.{int.from_bytes(made_of[:2])}.{int.from_bytes(made_of[2:4])}"
    yield "  data_files:"
    for split in SPLITS:
        if facts["rows"].get(split):
            yield from (f"  - split: {split}", f"    path: {split}.jsonl")
    yield from ("---", "")


def _body(kind: type[Exporter], facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {markdown(str(facts['source']))}, exported to {kind.format}"
    yield from ("", f"Made with Liescope {facts['liescope']} from {facts['games']:,} games. {kind.about}", "")
    yield from ("| file | rows |", "|---|---:|")
    for name, rows in facts["rows"].items():
        yield f"| {markdown(name)} | {rows:,} |"
    yield from ("", f"Played by: {markdown(', '.join(facts['models']))}.")
    if facts["options"]:
        chosen = ", ".join(f"{name} = {markdown(str(value))}" for name, value in facts["options"].items())
        yield from ("", f"Options: {chosen}.")
    if facts["left_out"]:
        yield from ("", "Left out:", "")
        yield from (f"- {count:,}: {markdown(reason)}" for reason, count in facts["left_out"].items())
    yield from ("", "## Limits", "", kind.limits, "", "## Whose words these are", "")
    for one in facts["licences"]:
        origin, licence = (markdown(one["terms"][name]) for name in ("origin", "licence"))
        yield f"- {markdown(one['name'])} ({one['games']:,} games): {origin}. {licence}"
    if bound := may_not_be_shared(facts["licences"]):
        yield from ("", f"**Not to be passed on**: {markdown('; '.join(bound))}. Ask whoever published them first.")
