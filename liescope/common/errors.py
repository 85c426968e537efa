"""The one tree of exceptions. Every message says what was wrong and what to do next.

LiescopeError
├── UsageError            the user asked for something impossible; the commands print it as one line and exit 1
│   ├── UnknownName       an unknown name; lists the choices
│   ├── UndeclaredGame    a game that lacks a part another package needs; names the part
│   ├── MissingExtra      a missing optional package; names the pip command
│   ├── MissingPackage    a missing package of others that brings a game, player or detector
│   ├── MissingKey        a secret that must come from the environment; names the variable
│   ├── PlanChanged       a run folder that holds a different plan; shows the difference
│   ├── BadData           a file, log line, journal or corpus that cannot be read or used
│   └── CardError         a corpus or model card with a gap; names the missing fact
├── RuleViolation         a program drove a game wrongly (a missing reply, a send after the end)
├── PlayerFailed          a player could not answer at all; the game is recorded as failed with this reason
├── RunPaused             a run cannot continue for now; finished work is kept, and the same command resumes it
│   ├── BudgetSpent       the budget of tokens or money is used up
│   ├── EndpointRefused   an endpoint rejects a player: bad key, unknown model, no credit
│   ├── EndpointSilent    an endpoint has been silent for longer than --give-up-after
│   └── Interrupted       the user pressed Ctrl-C
└── NotConverged          a sampler whose diagnostics fail; the fit is not shown
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import gettempdir
from urllib.parse import unquote, urlparse

from liescope.common.key_finder import hide_secrets


def install_command(extra: str) -> str:
    """The pip command that adds an extra to this installation, whether from a checkout, a file or the index."""
    try:
        recorded = distribution("liescope").read_text("direct_url.json")
    except PackageNotFoundError:
        recorded = None
    if not recorded:
        return f"pip install 'liescope[{extra}]'"
    origin = json.loads(recorded)
    if "dir_info" not in origin:
        return f"pip install 'liescope[{extra}] @ {origin['url']}'"
    folder = Path(unquote(urlparse(origin["url"]).path))
    editable = "-e " if origin["dir_info"].get("editable") else ""
    pins = folder / "constraints" / "py311.txt"
    return f"pip install {f'-c {pins} ' if pins.exists() else ''}{editable}'{folder}[{extra}]'"


def named(text: str) -> str:
    """A text with addresses in place of the copies of what lies in a store (see `liescope.common.stores`)."""
    if "/liescope-" not in text:  # the folder of copies is asked for only then: asking writes a file to try it
        return text
    folder = re.escape(os.path.realpath(gettempdir()))
    return re.sub(rf"{folder}/liescope-\w{{8}}/\w+/([a-z][a-z0-9]+:)/", r"\1//", text)


class LiescopeError(Exception):
    """Root of every error that Liescope raises on purpose. No message holds a key."""

    def __init__(self, *words: object) -> None:
        super().__init__(*(hide_secrets(named(one)) if isinstance(one, str) else one for one in words))


class UsageError(LiescopeError):
    """A mistake that the user can fix; the message says how."""


class UnknownName(UsageError):
    """An unknown name. choices: the names to show; others: how many more there are."""

    def __init__(self, kind: str, name: str, choices: Iterable[str], others: int = 0) -> None:
        known = sorted(choices)
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        more = f" and {others:,} more" if others else ""
        super().__init__(f"unknown {kind} {name!r}; the choices are: {', '.join(known) or '(none)'}{more}.{hint}")


class UndeclaredGame(UsageError):
    """A game that lacks something another package needs. part: what, in words; field: of its manifest."""

    def __init__(self, game: str, part: str, field: str) -> None:
        super().__init__(f"the game {game!r} has no {part}; give it as `{field}` of its PlayableGame")


class MissingExtra(UsageError):
    """An optional package is not installed. extra: the Liescope extra that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs the package {package!r}; install it with: {install_command(extra)}")
        self.extra = extra


class MissingPackage(UsageError):
    """A third-party package is not installed. what: needs it, in words."""

    def __init__(self, package: str, what: str) -> None:
        super().__init__(f"{what} needs the package {package!r}, which is not installed; install it and try again")


class MissingKey(UsageError):
    """A secret is missing from the environment."""

    def __init__(self, variable: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the environment variable {variable}; set it and run the command again")


class PlanChanged(UsageError):
    """A run folder already holds a run with a different plan."""


class BadData(UsageError):
    """A file that cannot be read or used as requested."""


class CardError(UsageError):
    """A card that cannot be completed from the given facts."""


class RuleViolation(LiescopeError):
    """A program drove a game wrongly."""


class PlayerFailed(LiescopeError):
    """A player could not answer; its game is recorded as failed, with this reason."""


class RunPaused(LiescopeError):
    """A run cannot continue for now. Everything so far is kept, and the same command resumes it."""


class BudgetSpent(RunPaused):
    """The run's budget is used up; finished games are kept, and the run can be resumed with a larger budget."""


class EndpointRefused(RunPaused):
    """An endpoint rejects every request of a player, and will until a key, a model name or an account is changed."""


class EndpointSilent(RunPaused):
    """An endpoint has not answered for longer than the run is willing to wait. host: the endpoint's."""

    def __init__(self, message: str, host: str = "") -> None:
        super().__init__(message)
        self.host = host


class Interrupted(RunPaused):
    """The run was asked to stop; requests in flight were given a moment to finish. number: of the signal."""

    number = 2  # SIGINT


class NotConverged(LiescopeError):
    """A posterior sample whose diagnostics fail."""
