"""Publishing a corpus to the Hub: its Parquet files, facts and card, and nothing else of its folder."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

from liescope.common.errors import UsageError
from liescope.common.key_finder import secrets_of
from liescope.common.leaks import check_no_secret, check_text
from liescope.common.reading import read_text
from liescope.data_cards.licences import may_not_be_shared
from liescope.data_cards.tables import SPLITS, TABLES
from liescope.generate.corpus.hub import Kind, check_repo, endpoint, plain_errors, saved_token, writer
from liescope.generate.corpus.read import CARD_FILE, CROISSANT_FILE, FACTS_FILE, check, data_file, read_facts

_AT: Mapping[Kind, str] = {"dataset": "datasets/", "model": ""}
_WHAT: Mapping[Kind, str] = {"dataset": "Data", "model": "Model"}


@dataclass(frozen=True, slots=True)
class PushedFile:
    """A file as it stands in the repository: its path there, and its size in bytes."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True, repr=False)
class Published:
    """What was published, or would be with `dry_run`: the repository, its address and settings, its files, the
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
    variables that hold secrets, besides those whose name says so; advice: what to do about a refused file.
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
        url=f"{endpoint()}/{_AT[parcel.kind]}{repo}",
        private=not public,
        gated=gated,
        dry_run=dry_run,
        files=tuple(PushedFile(path, size) for path, size in sorted(sizes.items())),
        notices=parcel.notices,
        card=parcel.card,
    )
    token = saved_token()
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

    api = writer()
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
            commit_message=f"{_WHAT[kind]} of {parcel.name}",
        )
    say("uploading the card", progress)
    api.create_commit(
        repo,
        repo_type=kind,
        operations=[CommitOperationAdd(path_in_repo=CARD_FILE, path_or_fileobj=texts[CARD_FILE])],
        commit_message=f"Card of {parcel.name}",
    )


_ADVICE = "build the corpus again"
_SECRET_ADVICE = "remove it from the runs and build the corpus again"


def publish(
    corpus: str | os.PathLike[str],
    repo: str,
    *,
    public: bool = False,
    gated: bool = False,
    permission: str = "",
    dry_run: bool = False,
    progress: bool = False,
) -> Published:
    """Push a corpus folder to the dataset `repo` ("USER/NAME"); see `liescope.publish`.

    Its files are those of the corpus, byte for byte; Parquet files of an earlier push that the corpus no longer has are
    removed. A corpus with words that may not be redistributed is not published, not even privately, because a copy on
    the Hub is a copy passed on. permission: who permits it nevertheless; it is reported back among the notices.

    Raises MissingExtra, MissingKey, BadData for a corpus that is incomplete or was changed after it was built, and
    UsageError if a file is a link, contains something like a secret, or the Hub refuses or cannot be reached.
    """
    check_repo(repo)
    folder = Path(corpus)
    facts = read_facts(folder)
    if (bound := may_not_be_shared(facts["licences"])) and not permission.strip():
        raise UsageError(
            f"{folder} holds words that may not be redistributed: {'; '.join(bound)}. Ask whoever published them; if "
            'they agree, say so with --permission "WHO, WHEN". Or build a corpus without these games'
        )
    if not dry_run:
        writer()
    say("checking the corpus", progress)
    names = [*(data_file(config, split) for config in TABLES for split in SPLITS), FACTS_FILE, CROISSANT_FILE]
    check_no_links(folder, [*names, CARD_FILE], _ADVICE)
    check(folder)
    parcel = Parcel(
        kind="dataset",
        name=f"{facts['name']}, Liescope {facts['liescope']}",
        files={name: folder / name for name in names},
        card=read_text(folder / CARD_FILE),
        advice=_SECRET_ADVICE,
        stale=("*/*.parquet",),
        key_variables=frozenset(facts["key_variables"]),
        notices=notices(facts["seat_sources"], permission),
    )
    return push(parcel, repo, public=public, gated=gated, dry_run=dry_run, progress=progress)


def notices(sources: Sequence[str], permission: str = "") -> tuple[str, ...]:
    """Warnings for publishing words from these sources. permission: who permits it, if that was needed."""
    found = [f"published by the permission of: {permission.strip()}"] if permission.strip() else []
    if "human" in sources:
        found.append("this corpus holds words that people wrote: publish it only if they agreed")
    if "scripted" in sources:
        found.append("this corpus holds scripted games: nothing computed on them is a finding about models or people")
    return tuple(found)
