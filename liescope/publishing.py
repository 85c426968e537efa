"""Publishing a folder to the Hub, whatever it holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from liescope.common.errors import BadData, UsageError
from liescope.generate.corpus import is_corpus
from liescope.generate.corpus import publish as publish_corpus
from liescope.generate.corpus.publish import Published


def publish(
    folder: str | os.PathLike[str],
    repo: str,
    *,
    reports: Sequence[str | os.PathLike[str]] = (),
    public: bool = False,
    gated: bool = False,
    permission: str = "",
    dry_run: bool = False,
    progress: bool = False,
) -> Published:
    """Push a corpus or a model folder to the Hub, as the dataset or the model `repo` ("USER/NAME").

    The repository is made if it does not exist, and is private unless `public`; with `gated`, users must request
    access. First come its settings, then its files, then the card. What an earlier push left and this one replaces is
    removed; an interrupted push resumes. A model is pushed so that plain scikit-learn (skops), sentence-transformers or
    transformers opens it too.

    permission: who permits that words are passed on that may not be otherwise; without it, a corpus with such words is
    refused. A model holds no copy of them. reports: folders of `evaluate` or `transfer` whose figures go on a model's
    card; dry_run: check everything and return what would be pushed, but ask for no token and send nothing; progress:
    name each step on standard error.

    The token comes from HF_TOKEN or from the saved login. Raises MissingExtra, MissingKey, BadData for a folder that is
    neither, incomplete, or changed after it was made, and UsageError if a file is a link, contains something like a
    secret, a report is about another model, or the Hub refuses or cannot be reached.

    Example:
        >>> liescope.publish("models/tfidf", "me/tfidf", reports=["reports/tfidf"], dry_run=True).card
    """
    path = Path(folder)
    if is_corpus(path):
        if reports:
            raise UsageError(f"{path} is a corpus, and reports go on a model's card; leave --report out")
        return publish_corpus(
            path, repo, public=public, gated=gated, permission=permission, dry_run=dry_run, progress=progress
        )
    from liescope.detectors.publish import publish as publish_model
    from liescope.detectors.saved import is_model

    if not is_model(path):
        raise BadData(
            f"{path} is neither a corpus nor a model; make one with: liescope build runs/NAME, or liescope train"
        )
    if permission:
        raise UsageError(f"{path} is a model, which passes no words on; leave --permission out")
    return publish_model(path, repo, reports=reports, public=public, gated=gated, dry_run=dry_run, progress=progress)
