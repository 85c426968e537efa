"""The published games of the Mini-Mafia paper's authors, from either form and every version of it.

Batch configurations tell which model played which role, and with which version of the prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from liescope.common.reading import open_regular
from liescope.common.settings import OptionsModel
from liescope.games.record import GameRecord
from liescope.generate.importers.importer_protocol import Imported, Importer, Rejected, attempt
from liescope.generate.importers.mini_mafia_database import MAGIC, read_database
from liescope.generate.importers.mini_mafia_log import FORMAT, ROLES, UNKNOWN_MODEL, LogGame, record_of
from liescope.generate.importers.mini_mafia_memories import player_list, read_log_game, role_of
from liescope.generate.importers.tables import read_objects

PAPER_NAMES = {
    "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf": "Llama 3.1 8B Instruct",
    "Mistral-7B-Instruct-v0.2-Q4_K_M.gguf": "Mistral 7B Instruct",
    "Mistral-7B-Instruct-v0.3-Q4_K_M.gguf": "Mistral 7B Instruct",
    "Qwen2.5-7B-Instruct-Q4_K_M.gguf": "Qwen2.5 7B Instruct",
    "claude-opus-4-1-20250805": "Claude Opus 4.1",
    "claude-sonnet-4-20250514": "Claude Sonnet 4",
    "deepseek-chat": "DeepSeek V3.1",
    "gemini-2.5-flash-lite": "Gemini 2.5 Flash Lite",
    "gpt-4.1-mini": "GPT-4.1 Mini",
    "gpt-5-mini": "GPT-5 Mini",
    "grok-3-mini": "Grok 3 Mini",
    "mistral.gguf": "Mistral 7B Instruct",  # in the earliest batches
    # The backgrounds of the games with people
    "deepseek": "DeepSeek V3.1",
    "mistral": "Mistral 7B Instruct",
}


def paper_name(logged: str) -> str:
    """The paper's name for a model, or the logged one if the paper has none.

    The database of games with people writes the older backgrounds as `detective_villager`, with "_" for "-" inside a
    name.
    """
    half, even = divmod(len(logged), 2)
    if even and logged[half] == "_" and logged[:half] == logged[half + 1 :]:
        logged = logged[:half]
    return PAPER_NAMES.get(logged) or PAPER_NAMES.get(logged.replace("_", "-"), logged)


MOST_BATCHES = 10_000
_VERSION = re.compile(r"_(v\d+(?:\.\d+)*)$")


def read_batches(file: Path, batches: dict[str, dict[str, Any]]) -> Iterator[Rejected]:
    """Add the batches of a file by id, and by id without its version; yields what is none."""
    for line, entry in read_objects(file):
        if isinstance(entry, Rejected):
            yield entry
        elif not isinstance(entry.get("batch_id"), str) or not isinstance(entry.get("model_configs"), dict):
            yield Rejected(file.name, line, "", "the batch has no batch_id and model_configs")
        elif len(batches) >= 2 * MOST_BATCHES:
            yield Rejected(file.name, line, "", f"there are more than {MOST_BATCHES:,} batches")
            return
        else:
            batches[entry["batch_id"]] = entry
            batches.setdefault(_VERSION.sub("", entry["batch_id"]), entry)


def players_of(
    game: Mapping[str, Any], batches: Mapping[str, Mapping[str, Any]] | None
) -> tuple[dict[str, str], dict[str, Any], list[str]]:
    """A game's models (name to model), what else its record keeps, and notes on what is not known.

    What the game itself says about its models comes first: early versions name them with the players.
    """
    name, known = str(game.get("game_id", "")).partition("_game_")[0], batches or {}
    batch = known.get(name) or known.get(str(game.get("batch_id", "")), {})
    own = game.get("model_configs")
    configs = (own if isinstance(own, dict) else None) or batch.get("model_configs") or {}
    by_role = {role_of(str(role)): _model(config) for role, config in configs.items()}
    meta = {"batch": name, "number": game.get("game_number"), "timestamp": game.get("timestamp")}
    meta |= {"players": configs} if configs else {}
    prompts, found = batch.get("prompt_config"), _VERSION.search(name)
    stated = prompts.get("version") if isinstance(prompts, dict) else None
    if version := stated if isinstance(stated, str) and stated else found and found[1]:
        meta["prompt_version"] = version
    notes = []
    if batches is not None and not batch and not configs:
        notes.append(f"its batch {name!r} is not among the batches given")
    elif missing := [role for role in ROLES if configs and not by_role.get(role)]:
        notes.append(f"its batch names no model for the {', '.join(missing)}")
    models = {}
    for player in player_list(game):
        if isinstance(player, dict) and isinstance(player.get("name"), str):
            role = role_of(str(player.get("role", "")))
            models[player["name"]] = _model(player.get("model")) or by_role.get(role) or UNKNOWN_MODEL
    return models, meta, notes


def _model(config: Any) -> str:
    """The model that a configuration names; of a local model's file, its name. "" if it names none."""
    for key in ("model", "model_name", "model_path") if isinstance(config, dict) else ():
        if isinstance(config.get(key), str) and config[key]:
            return str(config[key] if key == "model" else re.split(r"[/\\]", config[key].rstrip("/\\"))[-1])
    return ""


class MiniMafiaOptions(OptionsModel):
    """batches: without them, models are "unknown" unless the game itself names them."""

    batches: Path | None = Field(default=None, description="The log's batch configurations, which name the models.")
    paper_names: bool = Field(default=False, description="Name models as the paper does, not as the log does.")


class MiniMafiaImporter(Importer):
    """Logs with one JSON object per line (`.jsonl`, optionally gzipped), or a SQLite database."""

    format: ClassVar[str] = FORMAT
    reads: ClassVar[str] = "a log (.jsonl, .jsonl.gz) or a SQLite database"
    origin: ClassVar[str] = "the Mini-Mafia paper's authors, https://github.com/bastoscostadavi/llm-mafia-game"
    licence: ClassVar[str] = "The authors state no licence: for research, not to be redistributed."
    languages: ClassVar[tuple[str, ...]] = ("en",)
    version: ClassVar[int] = 2
    Options: ClassVar[type[OptionsModel]] = MiniMafiaOptions

    def __init__(self, options: MiniMafiaOptions) -> None:
        super().__init__(options)
        self._paper_names = options.paper_names
        self._file = options.batches
        self._batches: dict[str, dict[str, Any]] | None = None

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        with open_regular(source) as file:
            is_database = file.read(len(MAGIC)) == MAGIC
        if is_database:
            for place, game_id, log in read_database(source):
                if isinstance(log, str):
                    yield Rejected(source.name, place, game_id, log)
                else:
                    yield attempt(source.name, place, game_id, partial(self._record, log))
            return
        if self._file is not None and self._batches is None:
            self._batches = {}
            yield from read_batches(self._file, self._batches)
        for line, entry in read_objects(source):
            if isinstance(entry, Rejected):
                yield entry
            else:
                named = entry.get("game_id")
                make = partial(self._from_line, entry)
                yield attempt(source.name, line, named if isinstance(named, str) else "", make)

    def _from_line(self, game: dict[str, Any]) -> GameRecord:
        models, meta, notes = players_of(game, self._batches)
        log = read_log_game(game, models, meta)
        return self._record(replace(log, notes=(*notes, *log.notes)))

    def _record(self, log: LogGame) -> GameRecord:
        if self._paper_names:
            log = replace(log, models={name: paper_name(model) for name, model in log.models.items()})
        return record_of(log)
