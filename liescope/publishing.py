"""Publishing a folder to the Hub, whatever it holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict, Unpack

from liescope.common.errors import BadData, UsageError
from liescope.common.settings import Setting, resolve, takes
from liescope.generate.corpus import is_corpus
from liescope.generate.corpus import publish as publish_corpus
from liescope.generate.corpus.publish import Published


class PublishSettings(TypedDict, total=False):
    """What `publish` takes."""

    reports: Annotated[
        Sequence[str | os.PathLike[str]],
        Setting("A report of `evaluate` or `transfer` for a model's card; may be repeated.", (), flag="--report"),
    ]
    public: Annotated[bool, Setting("Make it public; by default it is private.", False, flag="--public")]
    gated: Annotated[bool, Setting("Require access requests for it.", False, flag="--gated")]
    permission: Annotated[
        str,
        Setting("Who permits it, where a corpus's words may not be redistributed without.", "", metavar="WHO"),
    ]
    dry_run: Annotated[
        bool, Setting("Print the files and the card; send nothing, and need no token.", False, flag="--dry-run")
    ]


@takes(PublishSettings)
def publish(
    folder: str | os.PathLike[str], repo: str, *, progress: bool = False, **settings: Unpack[PublishSettings]
) -> Published:
    """Push a corpus or a model folder to the Hub, as the dataset or the model `repo` ("USER/NAME").

    The repository is made if it does not exist. First come its settings, then its files, then the card. What an earlier
    push left and this one replaces is removed; an interrupted push resumes. A model is pushed so that plain
    scikit-learn (skops), sentence-transformers or transformers opens it too; it holds no copy of anybody's words.
    A dry run checks everything and returns what would be pushed. The token comes from HF_TOKEN or from the saved login.

    Parameters
    ----------
    folder : str or path
        A corpus that `build` made, or a model that `train` made.
    repo : str
        "USER/NAME".
    progress : bool
        Name each step on standard error.
    **settings

    Raises
    ------
    MissingExtra, MissingKey
        Without the package or the token.
    BadData
        For a folder that is neither, incomplete, or changed after it was made.
    UsageError
        If a file is a link, contains something like a secret, a report is about another model, or the Hub refuses or
        cannot be reached.

    Examples
    --------
    >>> liescope.publish("models/tfidf", "me/tfidf", reports=["reports/tfidf"], dry_run=True).card
    """
    own = resolve(PublishSettings, settings)
    reports, permission = own["reports"], own["permission"]
    public, gated, dry_run = own["public"], own["gated"], own["dry_run"]
    path = Path(folder)
    if is_corpus(path):
        if reports:
            raise UsageError(f"{path} is a corpus, and reports go on a model's card; leave --report out")
        return publish_corpus(
            path, repo, public=public, gated=gated, permission=permission, dry_run=dry_run, progress=progress
        )
    from liescope.detectors.model_card import publish as publish_model
    from liescope.detectors.saved import is_model

    if not is_model(path):
        raise BadData(
            f"{path} is neither a corpus nor a model; make one with: liescope build runs/NAME, or liescope train"
        )
    if permission:
        raise UsageError(f"{path} is a model, which passes no words on; leave --permission out")
    return publish_model(path, repo, reports=reports, public=public, gated=gated, dry_run=dry_run, progress=progress)
