"""What identifies a source: the hash of its content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from liescope.common.reading import check_folder, open_regular


def fingerprint(source: Path) -> str:
    """The SHA-256 of a file, or that of the names and hashes of the files in a folder.

    Raises OSError if something cannot be opened, BadData for a device or a pipe, which can be read once at most.
    """
    if source.is_dir():
        check_folder(source, None)
        files = sorted(path for path in source.rglob("*") if path.is_file())
        listed = "".join(f"{path.relative_to(source).as_posix()}\0{fingerprint(path)}\n" for path in files)
        return hashlib.sha256(listed.encode()).hexdigest()
    with open_regular(source) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
