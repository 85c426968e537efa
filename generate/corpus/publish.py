"""Publishing a corpus to the Hub: private by default, data first, card last, never a secret or a journal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from liescope.common.errors import BadData, UsageError
from liescope.data_cards.licences import may_not_be_shared
from liescope.data_cards.tables import SPLITS, TABLES
from liescope.generate.corpus.files import CARD_FILE, CROISSANT_FILE, FACTS_FILE, data_file
from liescope.generate.corpus.hub import check_repo, plain_errors, writer
from liescope.generate.corpus.leaks import check_no_secret, secrets_of
from liescope.generate.corpus.read import check, read_facts


@dataclass(frozen=True, slots=True, repr=False)
class Published:
    """What was published: the dataset's address, its settings, data files and their bytes, and warnings."""

    repo: str
    url: str
    private: bool
    gated: bool
    files: int
    bytes: int
    notices: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as `--json` prints it."""
        return asdict(self)

    def __repr__(self) -> str:
        return f"<Published {self.url}: {self.files} data files, {self.bytes / 1e6:.1f} MB>"


def publish(
    corpus: str | os.PathLike[str],
    repo: str,
    *,
    public: bool = False,
    gated: bool = False,
    permission: str = "",
    progress: bool = False,
) -> Published:
    """Push a corpus folder to the dataset `repo` ("USER/NAME"): settings, then data, then the card.

    The repository is made if it does not exist, and is private unless `public`; with `gated`, users must request
    access. Its files are those of the corpus, byte for byte; Parquet files of an earlier push that the
    corpus no longer has are removed. An interrupted push resumes. progress: name each step on standard error.

    A corpus with words that may not be redistributed is not published, privately either, because a copy on the Hub is a
    copy passed on. permission: who permits it nevertheless; it is reported back among the notices.

    The token comes from HF_TOKEN or from the saved login. Raises MissingExtra, MissingKey, BadData for a corpus that is
    incomplete or was changed after it was built, and UsageError if a file is a link, contains something like a secret,
    or the Hub refuses or cannot be reached.
    """
    check_repo(repo)
    folder = Path(corpus)
    facts = read_facts(folder)
    sources = facts.get("seat_sources")
    if not isinstance(sources, list) or not {"name", "liescope", "licences"} <= facts.keys():
        raise BadData(f"{folder / FACTS_FILE} lacks facts of the corpus; build the corpus again")
    _check_permitted(facts["licences"], permission, folder)
    api, token = writer()
    _say("checking the corpus", progress)
    data = [data_file(config, split) for config in TABLES for split in SPLITS]
    papers = [FACTS_FILE, CROISSANT_FILE]
    _check_no_links(folder, [*data, *papers, CARD_FILE])
    check(folder)
    secrets = {**secrets_of(os.environ, _key_variables(facts)), "the Hub's token": token}
    check_no_secret([folder / name for name in (*data, *papers, CARD_FILE)], secrets)
    with plain_errors(repo):
        _say("preparing the repository", progress)
        api.create_repo(repo, repo_type="dataset", private=not public, exist_ok=True)
        wish: Literal["manual"] | None = "manual" if gated else None
        api.update_repo_settings(repo, repo_type="dataset", private=not public, gated=wish)
        _say(f"uploading {len(data)} data files", progress)
        api.upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=folder,
            allow_patterns=[*data, *papers],
            delete_patterns="*/*.parquet",
            commit_message=f"Data of {facts['name']}, Liescope {facts['liescope']}",
        )
        _say("uploading the card", progress)
        api.upload_file(
            path_or_fileobj=folder / CARD_FILE,
            path_in_repo=CARD_FILE,
            repo_id=repo,
            repo_type="dataset",
            commit_message=f"Card of {facts['name']}",
        )
    return Published(
        repo,
        f"{api.endpoint}/datasets/{repo}",
        not public,
        gated,
        len(data),
        sum((folder / name).stat().st_size for name in data),
        notices(sources, permission),
    )


def _check_permitted(licences: Any, permission: str, folder: Path) -> None:
    """Raises UsageError if words may not be redistributed and nobody is said to permit it, BadData for odd facts."""
    try:
        bound = may_not_be_shared(licences)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadData(f"{folder / FACTS_FILE} does not say whose words it holds; build the corpus again") from error
    if bound and not permission.strip():
        raise UsageError(
            f"{folder} holds words that may not be redistributed: {'; '.join(bound)}. Ask whoever published them; if "
            'they agree, say so with --permission "WHO, WHEN". Or build a corpus without these games'
        )


def _check_no_links(folder: Path, names: Iterable[str]) -> None:
    """Raises UsageError if a file, or a folder on its path, is a symbolic link: its target was not built here and must
    not be published.
    """
    for name in names:
        for path in (folder / name, (folder / name).parent):
            if path != folder and path.is_symlink():
                raise UsageError(f"{path} is a symbolic link, and links are not published; build the corpus again")


def _key_variables(facts: Mapping[str, Any]) -> set[str]:
    named = facts.get("key_variables", ())
    return {str(name) for name in named} if isinstance(named, list) else set()


def _say(step: str, progress: bool) -> None:
    if progress:
        sys.stderr.write(f"{step} …\n")


def notices(sources: Sequence[str], permission: str = "") -> tuple[str, ...]:
    """Warnings for publishing words from these sources. permission: who permits it, if that was needed."""
    found = [f"published by the permission of: {permission.strip()}"] if permission.strip() else []
    if "human" in sources:
        found.append("this corpus holds words that people wrote: publish it only if they agreed")
    if "scripted" in sources:
        found.append("this corpus holds scripted games: nothing computed on them is a finding about models or people")
    return tuple(found)
