"""Folders with one writer at a time, replaced atomically.

Both rely on POSIX file locks (`flock`), which the system releases when a process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from liescope.common.errors import UsageError


def take_lock(path: Path) -> int:
    """Lock a folder for this process and return the handle; closing it releases the lock.

    Raises UsageError if another process holds the lock.
    """
    handle = os.open(path, os.O_RDONLY)
    _lock(handle, path)
    return handle


@contextmanager
def replacing(out: Path, kind: str, replaceable: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield an empty folder to fill; at the end of the block it replaces `out`. If the block raises, the
    folder is deleted and `out` stays as it was.

    kind: what the folder holds, for messages ("corpus"); replaceable: whether an existing, non-empty `out` may be
    replaced. A process killed at any point loses nothing: the next call restores the old folder or deletes the
    unfinished one. Raises UsageError if `out` may not be replaced, or another process is building it.
    """
    out = out.resolve()
    partial, old = out.with_name(f".{out.name}.partial"), out.with_name(f".{out.name}.replaced")
    out.parent.mkdir(parents=True, exist_ok=True)
    with _building(out):
        if old.exists() and not out.exists():  # killed between the two renames below
            old.rename(out)
        if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or replaceable(out))):
            raise UsageError(f"{out} exists and is not a {kind}; choose another --out, or move it away")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            yield partial
            shutil.rmtree(old, ignore_errors=True)
            if out.exists():
                out.rename(old)
            partial.rename(out)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _building(out: Path) -> Iterator[None]:
    """Hold a lock file next to `out`, which may not exist yet and is renamed during the block."""
    file = out.with_name(f".{out.name}.lock")
    while True:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        _lock(handle, out)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), file.stat()):
                break
        os.close(handle)  # the previous holder deleted the file after it was opened here
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(f"{path} is being written by another process; wait for it or stop it first") from None
