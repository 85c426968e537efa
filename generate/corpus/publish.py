"""Publishing a corpus to the Hub: private unless asked, data first, card last, and never a secret or a journal."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from liescope.common.errors import MissingExtra, MissingKey, UsageError
from liescope.generate.corpus.leaks import check_no_secret, secrets_of
from liescope.generate.corpus.papers import CARD_FILE, CROISSANT_FILE
from liescope.generate.corpus.read import FACTS_FILE, check, read_facts

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_AGAIN = "run the same command again: what has arrived is not sent twice"
_ANSWERS = {
    401: "the Hub does not accept the token (401); set HF_TOKEN to a valid one, or log in again with: hf auth login",
    403: "the token may not do this (403); use one with write permission for {repo}",
    404: "the Hub has no {repo} that this token may see (404); check the name of the user or organisation",
}


@dataclass(frozen=True, slots=True)
class Published:
    """What was published: the dataset's address, its settings, data files and their bytes, and what to mind."""

    repo: str
    url: str
    private: bool
    gated: bool
    files: int
    bytes: int
    notices: tuple[str, ...]


def publish(
    corpus: Path,
    repo: str,
    public: bool = False,
    gated: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Published:
    """Push a corpus folder to the dataset `repo` ("USER/NAME"): settings, then data, then the card.

    The repository is made if it is not there, and is private unless `public`; with `gated`, who wants the data asks
    its owner. Its files are those of the corpus, byte for byte; Parquet of an earlier push that the corpus no longer
    has is removed. A push that broke off goes on where it was. progress is told each step.

    The token comes from HF_TOKEN or from the saved login. Raises MissingExtra, MissingKey, BadData for a corpus that is
    not whole, and UsageError where a file holds a secret of the environment or the Hub refuses or cannot be reached.
    """
    if not _REPO.fullmatch(repo):
        raise UsageError(f"{repo!r} does not name a dataset on the Hub; write it as USER/NAME")
    facts = read_facts(corpus)
    api, token = _client()
    progress("checking the corpus")
    check(corpus)
    data = [file["path"] for file in facts["files"]]
    papers = [FACTS_FILE, CROISSANT_FILE]
    secrets = {**secrets_of(os.environ), "the Hub's token": token}
    check_no_secret([corpus / name for name in (*data, *papers, CARD_FILE)], secrets)
    with _plain_errors(repo, api.endpoint):
        progress("preparing the repository")
        api.create_repo(repo, repo_type="dataset", private=not public, exist_ok=True)
        wish: Literal["manual"] | None = "manual" if gated else None
        api.update_repo_settings(repo, repo_type="dataset", private=not public, gated=wish)
        progress(f"uploading {len(data)} data files")
        api.upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=corpus,
            allow_patterns=[*data, *papers],
            delete_patterns="*/*.parquet",
            commit_message=f"Data of {facts['name']}, Liescope {facts['liescope']}",
        )
        progress("uploading the card")
        api.upload_file(
            path_or_fileobj=corpus / CARD_FILE,
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
        sum(file["bytes"] for file in facts["files"]),
        notices(facts["seat_sources"], public),
    )


def notices(sources: list[str], public: bool) -> tuple[str, ...]:
    """What someone who publishes words of these sources should mind."""
    found = []
    if "imported" in sources:
        found.append(
            "this corpus holds imported games, whose publishers state no licence: it is not yours to redistribute; "
            + ("take the dataset back, or ask them" if public else "keep the dataset private, or ask them first")
        )
    if "human" in sources:
        found.append("this corpus holds words that people wrote: publish it only if they agreed")
    if "scripted" in sources:
        found.append("this corpus holds scripted games: nothing computed on them is a finding about models or people")
    return tuple(found)


def _client() -> tuple[HfApi, str]:
    try:
        from huggingface_hub import HfApi, get_token
    except ImportError as error:
        raise MissingExtra("huggingface_hub", "hub") from error
    token = get_token()
    if not token:
        raise MissingKey("HF_TOKEN", "publishing to the Hub without a saved login (hf auth login)")
    return HfApi(token=token, library_name="liescope"), token


@contextmanager
def _plain_errors(repo: str, endpoint: str) -> Iterator[None]:
    """Turns what the Hub's client raises into one line that says what to do."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    # The root of the HTTP library's own errors; which library that is depends on the client's version.
    http_error = cast(type[Exception], HfHubHTTPError.__bases__[0])
    try:
        yield
    except HfHubHTTPError as error:
        raise _refused(error.response.status_code, error.server_message, repo) from error
    except OfflineModeIsEnabled as error:
        raise UsageError("HF_HUB_OFFLINE is set, so the Hub cannot be reached; unset it to publish") from error
    except HFValidationError as error:
        raise UsageError(f"the Hub's client does not accept {repo!r}: {error}") from error
    except (http_error, ConnectionError, TimeoutError) as error:
        raise UsageError(f"{endpoint} cannot be reached ({error}); {_AGAIN}") from error
    except RuntimeError as error:
        # What a file's upload raised comes wrapped in one of these.
        if isinstance(error.__cause__, HfHubHTTPError):
            cause = error.__cause__
            raise _refused(cause.response.status_code, cause.server_message, repo) from error
        if isinstance(error.__cause__, http_error):
            raise UsageError(f"the upload broke off ({error.__cause__}); {_AGAIN}") from error
        raise


def _refused(code: int, message: str | None, repo: str) -> UsageError:
    if code in _ANSWERS:
        return UsageError(_ANSWERS[code].format(repo=repo))
    return UsageError(f"the Hub answered {code} ({message or 'no message'}); {_AGAIN}")
