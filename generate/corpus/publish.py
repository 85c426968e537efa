"""Publishing a corpus to the Hub: its Parquet files, facts and card, and nothing else of its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text
from liescope.data_cards.licences import may_not_be_shared
from liescope.data_cards.tables import SPLITS, TABLES
from liescope.generate.corpus.files import CARD_FILE, CROISSANT_FILE, FACTS_FILE, data_file
from liescope.generate.corpus.hub import check_repo, writer
from liescope.generate.corpus.push import Parcel, Published, check_no_links, push, say
from liescope.generate.corpus.read import check, read_facts

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
    removed. A corpus with words that may not be redistributed is not published, privately either, because a copy on the
    Hub is a copy passed on. permission: who permits it nevertheless; it is reported back among the notices.

    Raises MissingExtra, MissingKey, BadData for a corpus that is incomplete or was changed after it was built, and
    UsageError if a file is a link, contains something like a secret, or the Hub refuses or cannot be reached.
    """
    check_repo(repo)
    folder = Path(corpus)
    facts = read_facts(folder)
    sources = facts.get("seat_sources")
    if not isinstance(sources, list) or not {"name", "liescope", "licences"} <= facts.keys():
        raise BadData(f"{folder / FACTS_FILE} lacks facts of the corpus; {_ADVICE}")
    _check_permitted(facts["licences"], permission, folder)
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
        key_variables=frozenset(_key_variables(facts)),
        notices=notices(sources, permission),
    )
    return push(parcel, repo, public=public, gated=gated, dry_run=dry_run, progress=progress)


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


def _key_variables(facts: Mapping[str, Any]) -> set[str]:
    named = facts.get("key_variables", ())
    return {str(name) for name in named} if isinstance(named, list) else set()


def notices(sources: Sequence[str], permission: str = "") -> tuple[str, ...]:
    """Warnings for publishing words from these sources. permission: who permits it, if that was needed."""
    found = [f"published by the permission of: {permission.strip()}"] if permission.strip() else []
    if "human" in sources:
        found.append("this corpus holds words that people wrote: publish it only if they agreed")
    if "scripted" in sources:
        found.append("this corpus holds scripted games: nothing computed on them is a finding about models or people")
    return tuple(found)
