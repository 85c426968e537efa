"""The authors' batch configurations: which model played which role, and with which version of the prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from liescope.generate.importers.json_lines import read_objects
from liescope.generate.importers.mini_mafia.log_game import ROLES, UNKNOWN_MODEL
from liescope.generate.importers.mini_mafia.memories import player_list
from liescope.generate.importers.mini_mafia.wording import role_of
from liescope.generate.importers.protocol import Rejected

MOST_BATCHES = 10_000
_VERSION = re.compile(r"_(v\d+(?:\.\d+)*)$")
_FILE_KEYS = ("model_name", "model_path")  # of local models, which earlier versions name by file


class Batches:
    """The batches of a log by id, once read."""

    def __init__(self) -> None:
        self._given = False
        self._batches: dict[str, dict[str, Any]] = {}

    def read(self, file: Path) -> Iterator[Rejected]:
        """Add the batches of a file; yields entries that are not batches as rejections."""
        self._given = True
        for line, entry in read_objects(file):
            if isinstance(entry, Rejected):
                yield entry
            elif len(self._batches) >= 2 * MOST_BATCHES:
                yield Rejected(file.name, line, "", f"there are more than {MOST_BATCHES:,} batches")
                return
            elif isinstance(entry.get("batch_id"), str) and isinstance(entry.get("model_configs"), dict):
                self._batches[entry["batch_id"]] = entry
                self._batches.setdefault(_VERSION.sub("", entry["batch_id"]), entry)
            else:
                yield Rejected(file.name, line, "", "the batch has no batch_id and model_configs")

    def of_game(self, game: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any], list[str]]:
        """A game's models (name to model), what else its record keeps, and notes on what is not known.

        What the game itself says about its models comes first: early versions name them with the players.
        """
        name = str(game.get("game_id", "")).partition("_game_")[0]
        batch = self._batches.get(name) or self._batches.get(str(game.get("batch_id", "")), {})
        configs = game.get("model_configs") if isinstance(game.get("model_configs"), dict) else None
        configs = configs or batch.get("model_configs") or {}
        by_role = {role_of(str(role)): _model(config) for role, config in configs.items()}
        meta = {"batch": name, "number": game.get("game_number"), "timestamp": game.get("timestamp")}
        if configs:
            meta["players"] = configs
        if version := _version(batch, name):
            meta["prompt_version"] = version
        notes = []
        if self._given and not batch and not configs:
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
    """The model name in a configuration; for a local file, the file's name. "" if there is no name."""
    if isinstance(config, dict):
        if isinstance(config.get("model"), str) and config["model"]:
            return str(config["model"])
        for key in _FILE_KEYS:
            if isinstance(config.get(key), str) and config[key]:
                return str(re.split(r"[/\\]", config[key].rstrip("/\\"))[-1])
    return ""


def _version(batch: Mapping[str, Any], name: str) -> str:
    prompts = batch.get("prompt_config")
    stated = prompts.get("version") if isinstance(prompts, dict) else None
    if isinstance(stated, str) and stated:
        return stated
    found = _VERSION.search(name)
    return found[1] if found else ""
