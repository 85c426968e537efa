"""Plug-ins by name: games, players, detectors, importers, exporters, analyses; our own and those of installed packages.

A package declares its plug-ins as entry points; Liescope itself need not change:

    [project.entry-points."liescope.games"]
    traitor = "traitor:GAME"

Every process that imports Liescope finds them: workers of a run, and whoever scores with a saved model.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cache, cached_property
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar, cast

from liescope.common.errors import MissingPackage, UnknownName, UsageError

T = TypeVar("T")


class Registry(MutableMapping[str, T]):
    """The plug-ins of one kind. kind: in words; group: of the entry points; own: Liescope's, each as an object or as
    "module:name", imported when it is first asked for. A package cannot replace a plug-in of ours.
    """

    def __init__(self, kind: str, group: str, own: Mapping[str, T | str]) -> None:
        self.kind = kind
        self.group = group
        self._own: dict[str, T | str] = dict(own)

    def __getitem__(self, name: str) -> T:
        """The plug-in. Raises UnknownName, or UsageError if its package fails to load."""
        if name in self._own:
            plugin = self._own[name]
            return cast(T, resolve_name(plugin)) if isinstance(plugin, str) else plugin
        if name in self._others:
            return cast(T, _loaded(self._others[name], self.kind))
        raise UnknownName(self.kind, name, self)

    def __setitem__(self, name: str, plugin: T | str) -> None:
        self._own[name] = plugin

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._own, *self._others]))

    def __len__(self) -> int:
        return len({*self._own, *self._others})

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._others

    def get(self, name: str, default: Any = None) -> Any:
        """The plug-in, or the default for an unknown name."""
        if name not in self:
            return default
        return self[name]

    def package_of(self, name: str) -> str:
        """The package that a plug-in comes with, "" for our own and for one that the running program added."""
        found = None if name in self._own else self._others.get(name)
        return found.dist.name if found is not None and found.dist is not None else ""

    @cached_property
    def _others(self) -> Mapping[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}


def describe(plugin: Any, file: Path) -> None:
    """Give a class what a file of a room (TOML) tells of its format, unless it says that itself; lists are tuples."""
    for name, value in _told(file).get(plugin.__dict__.get("format", ""), {}).items():
        if name not in plugin.__dict__:
            setattr(plugin, name, tuple(value) if isinstance(value, list) else value)


@cache
def _told(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text("utf-8"))


def check_installed(packages: Iterable[str], what: str) -> None:
    """Raises MissingPackage for the first package that is not installed. what: needs it, in words."""
    for package in packages:
        try:
            version_of(package)
        except PackageNotFoundError:
            raise MissingPackage(package, what) from None


version_of = cache(version)
"""Looking a version up takes a millisecond, and every run that is opened asks."""


@cache
def _loaded(point: EntryPoint, kind: str) -> Any:
    package = point.dist.name if point.dist else point.value
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"the {kind} {point.name!r} of the package {package} does not load ({error}); mend or uninstall the package"
        ) from error
