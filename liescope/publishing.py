"""Publishing a folder to the Hub, whatever it holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from liescope.common.errors import BadData, UsageError
from liescope.common.settings import Option, OptionsModel, Switch, several, takes
from liescope.common.stores import local
from liescope.generate.corpus.publish import Published
from liescope.generate.corpus.publish import publish as publish_corpus
from liescope.generate.corpus.read import is_corpus


class PublishSettings(OptionsModel):
    """What `publish` takes."""

    reports: Annotated[tuple[Path, ...], BeforeValidator(several), Option(flag="--report")] = Field(
        default=(), description="A report of `evaluate` for a model's card; may be repeated."
    )
    public: Switch = Field(default=False, description="Make it public; by default it is private.")
    gated: Switch = Field(default=False, description="Require access requests for it.")
    permission: Annotated[str, Option(metavar="WHO")] = Field(
        default="", description="Who permits it, if a corpus's words may not be redistributed otherwise."
    )
    dry_run: Switch = Field(default=False, description="Print the files and the card; send nothing, and need no token.")


@takes(PublishSettings)
def publish(folder: str | os.PathLike[str], repo: str, *, progress: bool = False, **settings: Any) -> Published:
    """Push a corpus or a model to the Hub, as the dataset or model `repo` ("USER/NAME").

    The repository is made if it does not exist. First come its settings, then its files, then the card. What an earlier
    push left and this one replaces is removed; an interrupted push resumes. A model can also be opened with plain
    scikit-learn, sentence-transformers or transformers; it holds no copy of anybody's words. A
    dry run checks everything and returns what would be pushed. The token comes from HF_TOKEN or from the saved login.

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
        For a folder that is none of these, incomplete, or changed after it was made.
    UsageError
        If a file is a link, contains something like a secret, a report is about another model, or the Hub refuses or
        cannot be reached.

    Examples
    --------
    >>> liescope.publish("models/tfidf", "me/tfidf", reports=["reports/tfidf"], dry_run=True).card
    """
    own = PublishSettings.of(settings)
    how = {"public": own.public, "gated": own.gated, "dry_run": own.dry_run, "progress": progress}
    path = local(folder)
    if is_corpus(path):
        if own.reports:
            raise UsageError(f"{path} is a corpus, and reports go on a model's card; leave --report out")
        return publish_corpus(path, repo, permission=own.permission, **how)
    from liescope.detectors.model_card import publish as publish_model
    from liescope.detectors.saved import is_model

    if not is_model(path):
        raise BadData(
            f"{path} is neither a corpus nor a model (or holds other files beside one); make one with: liescope build "
            "or train"
        )
    if own.permission:
        raise UsageError(f"{path} is a model, which passes no words on; leave --permission out")
    return publish_model(path, repo, reports=own.reports, **how)
