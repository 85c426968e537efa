"""Config files of `play` and `label`: TOML with one section for the command, its keys named as the API names them.

Every run folder gets one, `run.toml`: `liescope play --config runs/first/run.toml` resumes that run. Command-line
options override the file.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.common.reading import read_text
from liescope.generate.runs.folder import PLAN_FILE

CONFIG_FILE = "run.toml"
NEVER = ("config", "help", "allow_key")  # a file may not decide where keys go


@dataclass(slots=True)
class RunConfig:
    """The options given to a command. options: None and empty ones are not written."""

    command: str
    options: Mapping[str, Any]
    _written: bool = field(default=False, init=False)

    def write(self, folder: Path) -> None:
        """Write the file into a run folder, once."""
        if self._written:
            return
        file = folder / CONFIG_FILE
        kept = {
            name: value for name, value in self.options.items() if name not in NEVER and value not in (None, (), [], "")
        }
        lines = [f"# Go on with this run: liescope {self.command} --config {file}", f"[{self.command}]"]
        lines += [f"{name} = {_toml(value)}" for name, value in kept.items()]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._written = True


def read_config(file: Path, command: str) -> dict[str, Any]:
    """The options in a config file. For a file in a run folder, `out` is that folder.

    Raises BadData for a file that cannot be read, is not TOML, or has no section for the command.
    """
    try:
        data = tomllib.loads(read_text(file, given=True))
    except (OSError, ValueError) as error:
        raise BadData(f"{file} cannot be read as a config file: {error}") from None
    section = data.get(command)
    if not isinstance(section, dict):
        raise BadData(f"{file} has no section [{command}]; its sections are: {', '.join(data) or '(none)'}")
    options = {name.replace("-", "_"): value for name, value in section.items()}
    if "out" not in options and (file.parent / PLAN_FILE).exists():
        options["out"] = str(file.parent)
    return options


def _toml(value: Any) -> str:
    """A value as TOML. JSON strings are valid TOML strings except for the character DEL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
