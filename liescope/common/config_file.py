"""Config files: the options of commands in TOML, a section for each command, as in the run.toml of a run.

    [train]
    kind = "linear"
    corpus = "corpus/first"
    out = "models/linear"
    mask_role_words = true

A key is an option without its dashes, or an argument by its name. The command line wins over the file. The file is
checked before anything is done, against the declarations of the options.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.key_finder import secrets_of
from liescope.common.leaks import check_text
from liescope.common.reading import read_text
from liescope.common.settings import Setting

NEVER = frozenset({"config", "help", "allow_key"})
"""Options that no file gives; a file may not decide where keys go."""

_ADVICE = "a config file holds no secrets; keep them in the environment"
_ANY_SECRET = "a value of some length"
_WORDS: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a file may give to a command. name: of the function's parameter; key: as typed, without dashes; setting: its
    declaration, None for a parameter that is not a setting.
    """

    name: str
    key: str
    type: Any
    setting: Setting | None = None


def read_config(file: Path, command: str, parameters: Sequence[Parameter], run_file: str = "") -> dict[str, Any]:
    """The options that a file has for a command, by the names of its parameters.

    run_file: the file that marks a folder as one that the command goes on with; for a config file in such a folder,
    `out` is that folder.

    Raises BadData for a file that cannot be read, is not TOML or has no section for the command, UnknownName for a key
    that is no option, UsageError for a value of another type or beyond its limits, and for a secret.
    """
    by_key = {spelled: each for each in parameters for spelled in (each.key, each.name)}
    options: dict[str, Any] = {}
    for key, value in _section(file, command).items():
        spelled = key.replace("-", "_")
        if spelled in NEVER or secrets_of({spelled: _ANY_SECRET}):
            where = "the command line" if spelled in NEVER else "the environment"
            raise UsageError(f"{file}, [{command}]: {key} is read from {where} alone; leave it out")
        if spelled not in by_key:
            raise UnknownName(f"option in {file}", key, [each.key for each in parameters if each.key not in NEVER])
        found = by_key[spelled]
        if found.name in options:
            raise UsageError(f"{file}, [{command}]: {found.key} stands there twice, as {found.name}, too; keep one")
        options[found.name] = _checked(value, found, f"{file}, [{command}] {key}")
    if run_file and "out" not in options and (file.parent / run_file).exists():
        options["out"] = str(file.parent)
    return options


def _section(file: Path, command: str) -> Mapping[str, Any]:
    try:
        text = read_text(file, given=True)
        data = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise BadData(f"{file} cannot be read as a config file: {error}") from None
    check_text(file, text, secrets_of(os.environ), _ADVICE, "done")
    section = data.get(command)
    if not isinstance(section, dict):
        raise BadData(f"{file} has no section [{command}]; its sections are: {', '.join(data) or '(none)'}")
    return section


def _checked(value: Any, parameter: Parameter, where: str) -> Any:
    """The value; a list for an option that takes several. Raises UsageError."""
    kinds, most = _kinds(parameter.type)
    values = value if isinstance(value, list) and most != 1 else [value]
    if most is not None and len(values) != most:
        raise UsageError(f"{where} must be a list of {most} values, got {value!r}")
    read = [_one(each, kinds[at % len(kinds)], where) for at, each in enumerate(values)]
    if parameter.setting is not None and most == 1:
        try:
            parameter.setting.checked(read[0])
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
    return read[0] if most == 1 else read


def _kinds(type: Any) -> tuple[tuple[Any, ...], int | None]:
    """The types that are accepted, and how many values; None for any number of one type."""
    if get_origin(type) is list:
        return get_args(type), None
    return (get_args(type), len(get_args(type))) if get_origin(type) is tuple else ((type,), 1)


def _one(value: Any, kind: Any, where: str) -> Any:
    """One value; where a text is wanted, a number becomes its digits."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is bool:
        right = isinstance(value, bool)
    elif kind in (int, float):
        right = number and (kind is float or isinstance(value, int))
    else:
        right = number or isinstance(value, str)
    if not right:
        raise UsageError(f"{where} must be {_WORDS.get(kind, 'a text')}, got {value!r}")
    return value if kind in (bool, int) else float(value) if kind is float else str(value)
