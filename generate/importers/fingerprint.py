"""What identifies a source: the hash of its content."""

from __future__ import annotations

import hashlib
from pathlib import Path


def fingerprint(source: Path) -> str:
    """The SHA-256 of a file, or that of the names and hashes of the files in a folder.

    Raises OSError if something cannot be opened.
    """
    if source.is_dir():
        files = sorted(path for path in source.rglob("*") if path.is_file())
        listed = "".join(f"{path.relative_to(source).as_posix()}\0{fingerprint(path)}\n" for path in files)
        return hashlib.sha256(listed.encode()).hexdigest()
    with source.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
