"""The Hugging Face Hub, with errors that say what to do."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from liescope.common.errors import BadData, MissingExtra, MissingKey, UsageError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
Kind = Literal["dataset", "model"]
_SCHEMES: Mapping[Kind, tuple[str, ...]] = {  # Path turns hf:// into hf:/
    "dataset": ("hf://datasets/", "hf:/datasets/", "https://huggingface.co/datasets/"),
    "model": ("hf://models/", "hf:/models/", "hf://", "hf:/", "https://huggingface.co/"),
}
_AGAIN = "run the same command again: uploaded files are not sent twice"
_ANSWERS = {
    401: "the Hub does not accept the token (401); set HF_TOKEN to a valid one, or log in again with: hf auth login",
    403: "the token may not do this (403); use one with the permission for {repo}",
    404: "the Hub has no {repo} that this token may see (404); check the name of the user or organisation",
}


def hub_repo(source: str | os.PathLike[str], kind: Kind = "dataset") -> str | None:
    """The repository on the Hub that a source names, as "USER/NAME"; None if it can only be a path."""
    text = os.fspath(source)
    scheme = next((scheme for scheme in _SCHEMES[kind] if text.startswith(scheme)), "")
    text = text.removeprefix(scheme)
    return text.rstrip("/") if _REPO.fullmatch(text.rstrip("/")) else None


def check_repo(repo: str) -> None:
    """Raises UsageError for a name that no repository on the Hub can have."""
    if not _REPO.fullmatch(repo):
        raise UsageError(f"{repo!r} does not name a repository on the Hub; write it as USER/NAME")


def download(repo: str, patterns: Sequence[str], kind: Kind = "dataset") -> Path:
    """The folder in the Hub's cache that holds these files of a repository, downloaded if needed.

    Raises BadData if there is no such local folder and no such repository on the Hub, MissingExtra, UsageError.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled, RepositoryNotFoundError
    except ImportError as error:
        raise BadData(
            f"there is no folder {repo}, and a {kind} on the Hub needs the package 'huggingface_hub'"
        ) from error
    try:
        with plain_errors(repo):
            return Path(snapshot_download(repo, repo_type=kind, allow_patterns=list(patterns)))
    except UsageError as error:
        if isinstance(error.__cause__, LocalEntryNotFoundError | OfflineModeIsEnabled):
            raise BadData(
                f"there is no folder {repo}, and the Hub cannot be reached for a {kind} of that name"
            ) from error
        if isinstance(error.__cause__, RepositoryNotFoundError):
            raise BadData(
                f"there is no folder {repo}, and no {kind} of that name that you may see on the Hub"
            ) from error
        raise


def endpoint() -> str:
    """The address of the Hub; makes no request."""
    from huggingface_hub.constants import ENDPOINT

    return ENDPOINT


def saved_token() -> str | None:
    """The token in HF_TOKEN or of the saved login, if there is one."""
    from huggingface_hub import get_token

    return get_token()


def writer() -> HfApi:
    """A client that can write. Raises MissingExtra, MissingKey."""
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise MissingExtra("huggingface_hub", "hub") from error
    if not (token := saved_token()):
        raise MissingKey("HF_TOKEN", "publishing to the Hub without a saved login (hf auth login)")
    return HfApi(token=token, library_name="liescope")


@contextmanager
def plain_errors(repo: str) -> Iterator[None]:
    """Turn the errors of the Hub's client into one line that says what to do."""
    import httpx2
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
    )

    try:
        yield
    except HfHubHTTPError as error:
        raise _refused(error.response.status_code, error.server_message, repo) from error
    except OfflineModeIsEnabled as error:
        raise UsageError("HF_HUB_OFFLINE is set, so the Hub cannot be reached; unset it") from error
    except HFValidationError as error:
        raise UsageError(f"the Hub's client does not accept {repo!r}: {error}") from error
    except (httpx2.HTTPError, ConnectionError, TimeoutError, LocalEntryNotFoundError) as error:
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise UsageError(f"{ENDPOINT} cannot be reached ({why}); try again later") from error
    except RuntimeError as error:
        # An error in a file's upload is wrapped in one of these.
        if isinstance(error.__cause__, HfHubHTTPError):
            cause = error.__cause__
            raise _refused(cause.response.status_code, cause.server_message, repo) from error
        if isinstance(error.__cause__, httpx2.HTTPError):
            raise UsageError(f"the upload broke off ({error.__cause__}); {_AGAIN}") from error
        raise


def _refused(code: int, message: str | None, repo: str) -> UsageError:
    if code in _ANSWERS:
        return UsageError(_ANSWERS[code].format(repo=repo))
    return UsageError(f"the Hub answered {code} ({message or 'no message'}); {_AGAIN}")
