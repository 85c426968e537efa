"""Corpora, models, reports and tables in a store that fsspec reaches (`s3://…`, `gs://…`): copied here to be read, and
made here to be sent there.

The copies are temporary and go at exit. Credentials are those that the store's package finds; an address has none.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cache, wraps
from pathlib import Path, PosixPath, PurePosixPath
from typing import Any, TypeVar

from liescope.common.errors import BadData, LiescopeError, UsageError, named

F = TypeVar("F", bound=Callable[..., Any])

_ADDRESS = re.compile(r"([a-z][a-z0-9]+):/+(.+)")
_WHOLE_REPO = re.compile(r"hf:/+((datasets|models)/)?[^/@]+/[^/@]+/?")
_NOT_STORES = {"file", "local", "http", "https"}
_SECRET = re.compile(r"[^/]*@|.*:.*@|.*\?")  # an @ further on is of a file's name, or before a revision on the Hub
_HEADS = {".json", ".html"}  # files that say what the others are
_READ = {*_HEADS, ".sqlite"}  # what is read of what is to be replaced or continued


def local(source: str | os.PathLike[str]) -> Path:
    """Where a source lies on this machine: a path as it is, the address of a file or folder in a store as a copy, which
    is made again only if the store's has changed. A whole repository on the Hub is left to `hub_repo`.

    Raises UsageError for an address with a password and for a package that is not installed, BadData if nothing is
    there or it cannot be read.
    """
    if (address := address_of(source)) is None:
        return Path(source)
    from fsspec.utils import tokenize

    with _told(address):
        store, files, facts = _listed(address)
        if not files:
            raise BadData(f"there is nothing at {address}; check the address, and that you may read it")
        folder = _place(address, str(tokenize(facts)))
        if not folder.exists():
            partial = _place(address, "partial")
            shutil.rmtree(_temporary() / "partial", ignore_errors=True)
            for path, name in files.items():
                (partial / path).parent.mkdir(parents=True, exist_ok=True)
                store.get_file(name, str(partial / path))
            folder.parent.mkdir(parents=True, exist_ok=True)
            partial.rename(folder)
    return folder


def stored(function: F) -> F:
    """Let the keyword `out` of a function be an address in a store. The function gets a path on this machine, where
    files stand for those that the address holds. What it writes is sent when it returns, and paths in its result, a
    dataclass, become addresses.

    Raises what the function raises, what `local` raises, and UsageError if something cannot be sent: it is then kept.
    """

    @wraps(function)
    def run(*given: Any, **options: Any) -> Any:
        if options.get("out") is None or (address := address_of(options["out"])) is None:
            return function(*given, **options)
        if address.startswith("hf:"):
            raise UsageError(f"{address} is on the Hub, which liescope publish writes to; choose a folder first")
        scratch = Path(tempfile.mkdtemp(prefix="", dir=_temporary()))
        folder = _place(address, scratch.name)
        try:
            before = _outlined(address, folder)
            result = function(*given, **{**options, "out": folder})
            _deliver(folder, address, before)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        values = {one.name: _sent(getattr(result, one.name), folder, address) for one in fields(result) if one.init}
        return replace(result, **values)

    return run  # type: ignore[return-value]


def send(folder: str | os.PathLike[str], address: str) -> None:
    """Copy a file, or the files of a folder, to an address; those that say what the others are come last. Raises
    anything that the store's package raises.
    """
    store, root = _opened(address)
    files = [path for path in (Path(folder), *Path(folder).rglob("*")) if path.is_file()]
    files.sort(key=lambda path: (path.suffix in _HEADS, path))
    names = [f"{root}/{path.relative_to(folder).as_posix()}".removesuffix("/.") for path in files]
    for parent in dict.fromkeys(name.rpartition("/")[0] for name in names):
        if parent.startswith("/"):  # a store of buckets has no folders, and would make a bucket of a misspelt name
            store.makedirs(parent, exist_ok=True)
    for path, name in zip(files, names, strict=True):
        store.put_file(str(path), name)


def check_not_in_store(path: str | os.PathLike[str]) -> None:
    """Raises UsageError, before any work, for an address in a store where only a folder will do."""
    if (address := address_of(path)) is not None:
        raise UsageError(
            f"{address} is in a store, and this is written piece by piece: name a folder on this machine, and copy it "
            "there afterwards (or here before)"
        )


def address_of(source: str | os.PathLike[str]) -> str | None:
    """The address in a store that a source names, also after Path has taken one of its slashes; None for a path."""
    text = os.fspath(source)
    found = _ADDRESS.fullmatch(text)
    if found is None or found[1] in _NOT_STORES or _WHOLE_REPO.fullmatch(text):
        return None
    from fsspec.registry import known_implementations, registry

    if found[1] not in {*known_implementations, *registry} or Path(text).exists():
        return None
    if _SECRET.match(found[2]):
        raise UsageError(
            f"an address in a store may not hold a name before @, or ?, as it is printed and kept in reports; give a "
            f"name and password as the package for {found[1]}:// reads them, and the address without"
        )
    return f"{found[1]}://{found[2].rstrip('/')}"


def _opened(address: str) -> tuple[Any, str]:
    """The store, and how it calls the address."""
    from fsspec.core import url_to_fs
    from fsspec.registry import known_implementations

    try:
        store, root = url_to_fs(address)
    except ImportError as error:
        package = known_implementations[address.partition(":")[0]]["class"].partition(".")[0]
        remedy = f"install it with: pip install {package}" if package != "fsspec" else str(error)
        raise UsageError(f"{address} needs a package that is not installed; {remedy}") from error
    return store, root.rstrip("/")


def _listed(address: str) -> tuple[Any, dict[PurePosixPath, str], Mapping[str, Any]]:
    """The store; its names of the files at an address, by their path below it; and its facts of them."""
    store, root = _opened(address)
    store.invalidate_cache()
    try:
        facts = {root: store.info(root)} if store.isfile(root) else store.find(root, detail=True)
    except FileNotFoundError:
        facts = {}
    files = {PurePosixPath(name[len(root) :].lstrip("/")): name for name in facts if not name.endswith("/")}
    if any(".." in path.parts for path in (PurePosixPath(address), *files)):
        raise BadData(f"{address} names files outside itself (with ..); rename them in the store")
    return store, files, facts


def _outlined(address: str, folder: Path) -> dict[PurePosixPath, str]:
    """Put files in a folder for those at an address, so that one sees what is there: empty ones, but for heads and
    journals. Their time is 0, until they are written to. Returns the store's names by path.
    """
    with _told(address):
        store, files, _ = _listed(address)
        for path, name in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).touch()
            if (folder / path).suffix in _READ and len(path.parts) < 2:
                store.get_file(name, str(folder / path))
            os.utime(folder / path, (0, 0))
    return files


def _deliver(folder: Path, address: str, before: Mapping[PurePosixPath, str]) -> None:
    """Send what is new in a folder, after removing what it replaces, so that nobody reads half of each."""
    kept = [path for path in before if (folder / path).exists() and not (folder / path).stat().st_mtime]
    for path in kept:
        (folder / path).unlink()
    try:
        for name in (name for path, name in before.items() if path not in kept):
            _opened(address)[0].rm_file(name)
        send(folder, address)
    except BaseException as error:
        safe = Path(tempfile.mkdtemp(prefix="liescope-kept-")) / folder.name
        folder.rename(safe)
        again = shlex.join(["python", "-m", "liescope.common.stores", str(safe), address])
        words = f"{address} cannot be written ({type(error).__name__}); all is kept in {safe}; send it with: {again}"
        if isinstance(error, Exception):
            raise UsageError(words) from None
        sys.stderr.write(f"\n{words}\n")
        raise


class Address(PosixPath):
    """A path in a store, which shows both slashes."""

    def __str__(self) -> str:
        return re.sub(":/+", "://", super().__str__(), count=1)


def _sent(value: Any, folder: Path, address: str) -> Any:
    """A value of a result, with addresses in place of the paths in a folder."""
    if type(value) is tuple:
        return tuple(_sent(one, folder, address) for one in value)
    if isinstance(value, Path) and value.is_relative_to(folder):
        return Address(address) / value.relative_to(folder)
    return named(value) if isinstance(value, str) else value


@contextmanager
def _told(address: str) -> Iterator[None]:
    """Tell the kind of a package's error alone: its words may hold a signed request or a key."""
    try:
        yield
    except Exception as error:  # packages of stores raise anything
        if isinstance(error, LiescopeError):
            raise
        raise BadData(
            f"{address} cannot be read ({type(error).__name__}); check the address, and the credentials that its "
            "package finds in the environment"
        ) from None


def _place(address: str, key: str) -> Path:
    """Where a copy lies. Errors name the address in its place: see `liescope.common.errors.named`."""
    scheme, _, place = address.partition("://")
    return _temporary() / key / f"{scheme}:" / place


@cache
def _temporary() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="liescope-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


if __name__ == "__main__":  # as the message of what was kept says
    send(*sys.argv[1:])
