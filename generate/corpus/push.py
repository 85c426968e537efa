"""Pushing files and a card to the Hub: private by default, data first, card last, never a link or a secret."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

from liescope.common.errors import UsageError
from liescope.common.leaks import check_no_secret, check_text, secrets_of
from liescope.generate.corpus.files import CARD_FILE
from liescope.generate.corpus.hub import Kind, endpoint, plain_errors, saved_token, writer


@dataclass(frozen=True, slots=True)
class PushedFile:
    """A file as it stands in the repository: its path there, and its size in bytes."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True, repr=False)
class Published:
    """What was published, or with `dry_run` what would be: the repository, its address and settings, its files, the
    card, and warnings. kind: "dataset" or "model".
    """

    kind: str
    repo: str
    url: str
    private: bool
    gated: bool
    dry_run: bool
    files: tuple[PushedFile, ...]
    notices: tuple[str, ...]
    card: str

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as `--json` prints it."""
        return {**asdict(self), "bytes": self.bytes}

    def __repr__(self) -> str:
        sent = "would be sent (dry run)" if self.dry_run else "sent"
        return f"<Published {self.url}: {len(self.files)} files, {self.bytes / 1e6:.1f} MB {sent}>"


@dataclass(frozen=True, slots=True)
class Parcel:
    """What to push. name: for messages; files: path in the repository to local file; texts: path in the repository to
    its text; stale: patterns of files that an earlier push may have left and this one replaces; key_variables: names of
    variables that hold secrets, besides those whose name says so; advice: what to do about a file that is refused.
    """

    kind: Kind
    name: str
    files: Mapping[str, Path]
    card: str
    advice: str
    texts: Mapping[str, str] = field(default_factory=dict)
    stale: tuple[str, ...] = ()
    key_variables: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()


def push(parcel: Parcel, repo: str, *, public: bool, gated: bool, dry_run: bool, progress: bool) -> Published:
    """Push a parcel to `repo` ("USER/NAME"), whose name is valid: settings, then files, then the card.

    dry_run: check everything, but ask for no token and send nothing. Raises MissingExtra, MissingKey, and UsageError if
    a file is a link or holds something like a secret, or the Hub refuses or cannot be reached.
    """
    texts = {path: text.encode() for path, text in (*parcel.texts.items(), (CARD_FILE, parcel.card))}
    sizes = {path: local.stat().st_size for path, local in parcel.files.items()}
    sizes |= {path: len(text) for path, text in texts.items()}
    done = Published(
        kind=parcel.kind,
        repo=repo,
        url=f"{endpoint()}/{'datasets/' if parcel.kind == 'dataset' else ''}{repo}",
        private=not public,
        gated=gated,
        dry_run=dry_run,
        files=tuple(PushedFile(path, size) for path, size in sorted(sizes.items())),
        notices=parcel.notices,
        card=parcel.card,
    )
    token = saved_token() if dry_run else writer()[1]
    secrets = secrets_of(os.environ, parcel.key_variables) | ({"the Hub's token": token} if token else {})
    check_no_secret(parcel.files.values(), secrets, parcel.advice)
    for path, text in texts.items():
        check_text(path, text.decode(), secrets, parcel.advice)
    if not dry_run:
        with plain_errors(repo):
            _send(parcel, repo, texts, done, progress)
    return done


def check_no_links(folder: Path, names: Iterable[str], advice: str) -> None:
    """Raises UsageError if a file, or a folder on its path, is a symbolic link: its target was not made here and must
    not be published.
    """
    for name in names:
        path = folder / name
        for part in (path, *path.parents[: len(Path(name).parts) - 1]):
            if part.is_symlink():
                raise UsageError(f"{part} is a symbolic link, and links are not published; {advice}")


def say(step: str, progress: bool) -> None:
    """Name a step on standard error."""
    if progress:
        sys.stderr.write(f"{step} …\n")


def _send(parcel: Parcel, repo: str, texts: Mapping[str, bytes], done: Published, progress: bool) -> None:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    api, _ = writer()
    kind = parcel.kind
    say("preparing the repository", progress)
    api.create_repo(repo, repo_type=kind, private=done.private, exist_ok=True)
    wish: Literal["manual"] | None = "manual" if done.gated else None
    api.update_repo_settings(repo, repo_type=kind, private=done.private, gated=wish)
    say(f"uploading {len(parcel.files)} files", progress)
    content: dict[str, Path | bytes] = {**parcel.files, **{p: t for p, t in texts.items() if p != CARD_FILE}}
    left = [
        path
        for path in api.list_repo_files(repo, repo_type=kind)
        if path not in content and path != CARD_FILE and any(fnmatch(path, pattern) for pattern in parcel.stale)
    ]
    removed = [CommitOperationDelete(path_in_repo=path) for path in left]
    added = [CommitOperationAdd(path_in_repo=path, path_or_fileobj=what) for path, what in sorted(content.items())]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "It seems that you are about to commit a data file")  # a model's own scores
        api.create_commit(
            repo,
            repo_type=kind,
            operations=[*removed, *added],
            commit_message=f"{'Data' if kind == 'dataset' else 'Model'} of {parcel.name}",
        )
    say("uploading the card", progress)
    api.create_commit(
        repo,
        repo_type=kind,
        operations=[CommitOperationAdd(path_in_repo=CARD_FILE, path_or_fileobj=texts[CARD_FILE])],
        commit_message=f"Card of {parcel.name}",
    )
