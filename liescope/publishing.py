"""Publishing a folder to the Hub, whatever it holds."""

from __future__ import annotations

import os
import re
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text
from liescope.common.report.files import page_of_report
from liescope.common.settings import Option, OptionsModel, Switch, several, takes
from liescope.data_cards.cards import render_space_card
from liescope.generate.corpus.hub import check_repo
from liescope.generate.corpus.publish import Parcel, Published, check_no_links, push
from liescope.generate.corpus.publish import publish as publish_corpus
from liescope.generate.corpus.read import is_corpus


class PublishSettings(OptionsModel):
    """What `publish` takes."""

    reports: Annotated[tuple[Path, ...], BeforeValidator(several), Option(flag="--report")] = Field(
        default=(), description="A report of `evaluate` or `transfer` for a model's card; may be repeated."
    )
    public: Switch = Field(default=False, description="Make it public; by default it is private.")
    gated: Switch = Field(default=False, description="Require access requests for it.")
    permission: Annotated[str, Option(metavar="WHO")] = Field(
        default="", description="Who permits it, if a corpus's words may not be redistributed otherwise."
    )
    dry_run: Switch = Field(default=False, description="Print the files and the card; send nothing, and need no token.")


@takes(PublishSettings)
def publish(folder: str | os.PathLike[str], repo: str, *, progress: bool = False, **settings: Any) -> Published:
    """Push a corpus, a model or a report to the Hub, as the dataset, model or static Space `repo` ("USER/NAME").

    The repository is made if it does not exist. First come its settings, then its files, then the card. What an earlier
    push left and this one replaces is removed; an interrupted push resumes. A model can also be opened with plain
    scikit-learn (skops), sentence-transformers or transformers; it holds no copy of anybody's words. The folder of a
    report is pushed as it stands, its page as index.html. A dry run checks everything and returns what would be pushed.
    The token comes from HF_TOKEN or from the saved login.

    Parameters
    ----------
    folder : str or path
        A corpus that `build` made, a model that `train` made, or a report of any command.
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
    reports, permission = own.reports, own.permission
    public, gated, dry_run = own.public, own.gated, own.dry_run
    path = Path(folder)
    if is_corpus(path):
        if reports:
            raise UsageError(f"{path} is a corpus, and reports go on a model's card; leave --report out")
        return publish_corpus(
            path, repo, public=public, gated=gated, permission=permission, dry_run=dry_run, progress=progress
        )
    if page := page_of_report(path):
        if reports or permission or gated:
            raise UsageError(f"{path} is a report, which a Space shows; leave --report, --permission and --gated out")
        return _publish_report(path, page, repo, public, dry_run, progress)
    from liescope.detectors.model_card import publish as publish_model
    from liescope.detectors.saved import is_model

    if not is_model(path):
        raise BadData(
            f"{path} is no corpus, no model and no report (or holds other files beside one); make one with: liescope "
            "build, train or evaluate"
        )
    if permission:
        raise UsageError(f"{path} is a model, which passes no words on; leave --permission out")
    return publish_model(path, repo, reports=reports, public=public, gated=gated, dry_run=dry_run, progress=progress)


_OF_REPORTS = frozenset((".html", ".md", ".csv", ".json", ".jsonl", ".parquet", ".png", ".svg", ".yaml"))
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_INDEX, _README = "index.html", "README.md"
_LARGEST_PAGE = 64 << 20  # bytes
_WORDS_OF_OTHERS = "a report can quote statements: publish it only if whoever wrote them lets you"


def _publish_report(folder: Path, page: Path, repo: str, public: bool, dry_run: bool, progress: bool) -> Published:
    """Push a report's folder. Raises UsageError for a file that no report holds, a link, or something like a secret."""
    check_repo(repo)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    check_no_links(folder, names, "write the report again")
    if odd := [name for name in names if Path(name).suffix not in _OF_REPORTS or "/." in f"/{name}"]:
        raise UsageError(f"{folder / odd[0]} is no file of a report; move it away, or write the report again")
    found = _TITLE.search(read_text(page, _LARGEST_PAGE))
    about = next((folder / name for name in (_README, "report.md") if name in names), None)
    title = unescape(found[1]) if found else folder.resolve().name
    parcel = Parcel(
        kind="space",
        name=f"{folder.resolve().name}, Liescope {version('liescope')}",
        files={_INDEX if name == page.name else name: folder / name for name in names if name != _README},
        card=render_space_card(title, read_text(about, _LARGEST_PAGE) if about else f"# {title}\n"),
        advice="remove it from the runs and write the report again",
        stale=tuple(f"*{ending}" for ending in sorted(_OF_REPORTS)),
        notices=(_WORDS_OF_OTHERS,),
    )
    return push(parcel, repo, public=public, gated=False, dry_run=dry_run, progress=progress)
