"""Exporting games: the exporters, by format name, `export` and its result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from liescope.common.console import progress as bar
from liescope.common.errors import BadData, UsageError
from liescope.common.folders import replacing
from liescope.common.key_finder import secrets_of
from liescope.common.leaks import check_text, key_variables, texts_of
from liescope.common.reading import read_text
from liescope.common.registry import Registry
from liescope.common.stores import stored
from liescope.common.text import markdown
from liescope.data_cards.licences import hub_licence, may_not_be_shared
from liescope.data_cards.tables import SPLITS
from liescope.generate.exports.exporter_protocol import Exporter, GamesSource, SourceGame, Tally, open_source
from liescope.generate.exports.inspect_log import InspectExporter
from liescope.generate.exports.label_studio import LabelStudioExporter
from liescope.generate.exports.preferences import KtoExporter

EXPORTERS: Registry[type[Exporter]] = Registry(
    "format to export to",
    "liescope.exporters",
    {
        exporter.format: exporter
        for exporter in (  # one line for each format
            InspectExporter,
            KtoExporter,
            LabelStudioExporter,
        )
    },
)


CARD_FILE = "README.md"


def _metadata(facts: Mapping[str, Any]) -> Iterator[str]:
    """What the Hub and `datasets` read where the export is a data set. facts: those of export.json."""
    licence, name = hub_licence(facts["licences"])
    made_of = sha256(repr(sorted(facts.items(), key=lambda item: item[0])).encode("utf-8", "replace")).digest()
    yield from ("---", f"license: {licence}", *([f"license_name: {name}"] if licence == "other" else []))
    yield from ("tags:", "- deception", "- liescope", "configs:", "- config_name: default")
    # load_dataset caches by the folder's name and this version, hence a hash of the facts
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


FACTS_FILE = "export.json"
_ADVICE = "and export runs or corpora without the games that hold it"


@dataclass(frozen=True, repr=False)
class ExportResult:
    """An export. folder: its path; format: what it was exported to; source: the name of the run or corpus; games: how
    many were read; models: who played them; rows: how many rows or samples each file holds, by its name without ending;
    left_out: how many statements were left out, by reason; licences: the terms of the words, by origin; options: as
    given.
    """

    folder: Path
    format: str
    source: str
    games: int
    models: list[str]
    rows: Mapping[str, int]
    left_out: Mapping[str, int]
    licences: list[Mapping[str, Any]]
    options: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Everything as plain JSON data, as `--json` prints it and export.json keeps it."""
        facts = asdict(self)
        return {"export": str(facts.pop("folder")), **facts}

    def __repr__(self) -> str:
        return (
            f"<ExportResult {self.folder}: {sum(self.rows.values()):,} rows of {self.games:,} games for {self.format}>"
        )


@stored
def export(
    source: str | os.PathLike[str],
    *,
    to: str,
    out: str | os.PathLike[str],
    progress: bool = False,
    **options: Any,
) -> ExportResult:
    """Write the games of a run or corpus in a format of other tools, into a folder with a README and export.json.

    source: a run's folder, a corpus folder, or a corpus on the Hub ("USER/NAME"); to: a format of
    `liescope.generate.exports.EXPORTERS`; options: those of the format. progress: show a bar on standard error.

    The folder appears when it is complete and replaces an earlier export at `out`. Memory use does not grow with the
    games. The words keep the terms of their publishers, which stand in README and export.json.

    Raises UnknownName for a format; UsageError for an option, a source that holds nothing to export or something like a
    secret (see `common.leaks`), or an `out` that cannot be written; BadData for a source that cannot be read, or a
    corpus where the format needs a run.
    """
    kind = EXPORTERS[to]
    chosen = kind.Options.of(options, to)
    folder, tally = Path(out), Tally()
    with open_source(source) as games:
        if kind.needs_run and games.journal is None:
            raise BadData(
                f"{source} is a corpus, which holds neither prompts nor replies; {to} needs the folder of a run"
            )
        try:
            with replacing(folder, "Liescope export", _is_export) as partial, bar(progress) as shown:
                task = shown.add_task("exporting", total=games.total, note="games")
                read = _counted(games, tally, lambda done: shown.update(task, completed=done))
                kind(chosen).write(games, read, partial, tally)
                if not tally.rows.total():
                    gone = "; ".join(f"{count:,}: {reason}" for reason, count in tally.left_out.most_common(3))
                    left = f" Left out: {gone}." if gone else ""
                    raise UsageError(f"none of {tally.games:,} games gives {to} a row.{left}")
                counts = sorted(tally.models), dict(tally.rows), dict(tally.left_out.most_common())
                options = chosen.model_dump(mode="json")
                result = ExportResult(folder, to, games.name, tally.games, *counts, games.licences, options)
                facts = {"liescope": version("liescope"), **result.to_json(), "export": folder.resolve().name}
                (partial / FACTS_FILE).write_text(json.dumps(facts, ensure_ascii=False, indent=2) + "\n", "utf-8")
                card = [*(_metadata(facts) if kind.tabular else ()), *_body(kind, facts)]
                (partial / CARD_FILE).write_text("\n".join(card) + "\n", "utf-8")
                keys = set() if games.journal is None else key_variables(games.journal.plan)
                secrets = secrets_of(os.environ, keys)
                for path in sorted(partial.iterdir()):
                    for text in texts_of(path):
                        check_text(path.name, text, secrets, _ADVICE, "exported")
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"{out} cannot be written ({why}); make room for it or choose another --out") from error
    return result


def _counted(source: GamesSource, tally: Tally, watch: Callable[[int], None]) -> Iterator[SourceGame]:
    for game in source.games():
        yield game
        tally.games += 1
        tally.models.update(seat.model for seat in game.row.seats)
        watch(tally.games)


def _is_export(folder: Path) -> bool:
    try:
        facts = json.loads(read_text(folder / FACTS_FILE))
    except (BadData, OSError, ValueError, RecursionError):
        return False
    return isinstance(facts, Mapping) and "export" in facts
