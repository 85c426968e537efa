"""Corpora, models and tables in a store that fsspec reaches (`s3://…`, `gs://…`), brought to a folder of this process.

The copy is temporary and goes at exit. Credentials are those that the store's package finds; an address has none.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from liescope.common.errors import BadData, UsageError

_ADDRESS = re.compile(r"([a-z][a-z0-9]+):/+(.+)")
_WHOLE_REPO = re.compile(r"hf:/+((datasets|models)/)?[^/]+/[^/]+/?")
_NOT_STORES = {"file", "local", "http", "https"}


def local(source: str | os.PathLike[str]) -> Path:
    """Where a source lies on this machine: a path as it is, the address of a file or folder in a store as a copy, which
    is made again only if the store's has changed. A whole repository on the Hub is left to `hub_repo`.

    Raises UsageError for an address with a password and for a package that is not installed, BadData if nothing is
    there or it cannot be read.
    """
    if (address := address_of(source)) is None:
        return Path(source)
    from fsspec.utils import tokenize

    scheme, place = address.split("://")
    store = _store(scheme, address)
    try:
        store.invalidate_cache()
        root = store._strip_protocol(address)
        files = {root: store.info(root)} if store.isfile(root) else store.find(root, detail=True)
    except Exception as error:  # noqa: BLE001 - packages of stores raise anything
        raise _unreadable(address, error) from None
    if not files:
        raise BadData(f"there is nothing at {address}; check the address, and that you may read it")
    inside = {name: PurePosixPath(name[len(root) :].lstrip("/")) for name in files}
    if ".." in PurePosixPath(place).parts or any(".." in path.parts for path in inside.values()):
        raise BadData(f"{address} names files outside itself (with ..); rename them in the store")
    folder = _temporary() / str(tokenize(files)) / f"{scheme}:" / place
    if not folder.exists():
        partial = _temporary() / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        try:
            for name, path in inside.items():
                (partial / "all" / path).parent.mkdir(parents=True, exist_ok=True)
                store.get_file(name, str(partial / "all" / path))
        except Exception as error:  # noqa: BLE001 - packages of stores raise anything
            raise _unreadable(address, error) from None
        folder.parent.mkdir(parents=True, exist_ok=True)
        (partial / "all").rename(folder)
    return folder


def check_not_in_store(out: str | os.PathLike[str]) -> None:
    """Raises UsageError, before any work, if something is to be written to the address of a store."""
    if (address := address_of(out)) is not None:
        raise UsageError(f"{address} can be read and not written: choose a folder for --out, and copy it there after")


def address_of(source: str | os.PathLike[str]) -> str | None:
    """The address in a store that a source names, also after Path has taken one of its slashes; None for a path."""
    text = os.fspath(source)
    found = _ADDRESS.fullmatch(text)
    if found is None or found[1] in _NOT_STORES or _WHOLE_REPO.fullmatch(text):
        return None
    from fsspec.registry import known_implementations

    if found[1] not in known_implementations or Path(text).exists():
        return None
    if re.search(r"[@?]", found[2]):
        raise UsageError(
            f"an address in a store may not hold @ or ?, as it is printed and kept in reports; give a name and "
            f"password as the package for {found[1]}:// reads them, and the address without"
        )
    return f"{found[1]}://{found[2].rstrip('/')}"


def _store(scheme: str, address: str) -> Any:
    import fsspec
    from fsspec.registry import known_implementations

    try:
        return fsspec.filesystem(scheme)
    except ImportError as error:
        package = known_implementations[scheme]["class"].partition(".")[0]
        remedy = f"install it with: pip install {package}" if package != "fsspec" else str(error)
        raise UsageError(f"{address} needs a package that is not installed; {remedy}") from error
    except Exception as error:  # noqa: BLE001 - packages of stores raise anything
        raise _unreadable(address, error) from None


def _unreadable(address: str, error: Exception) -> BadData:
    """Names the kind of error alone: its words may hold a signed request or a key."""
    return BadData(
        f"{address} cannot be read ({type(error).__name__}); check the address, and the credentials that its package "
        "finds in the environment"
    )


@cache
def _temporary() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="liescope-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
