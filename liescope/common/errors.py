"""The one tree of exceptions. Every message says what was wrong and what to do next.

LiescopeError
├── UsageError            the user asked for something that cannot be; the commands print it as one line and exit 1
│   ├── UnknownName       a name outside a known set; lists the choices
│   ├── UndeclaredGame    a game that a room knows nothing of; names what is missing
│   ├── MissingExtra      a package that an extra installs; names the pip command
│   ├── MissingKey        a secret that must come from the environment; names the variable
│   ├── PlanChanged       a run folder that holds another plan; shows the difference
│   ├── BadData           a file, log line, journal or corpus that cannot be read or used
│   └── CardError         a card of a corpus or model with a gap; names the fact that is missing
├── RuleViolation         a program drove a game wrongly (a reply too few, a send after the end)
├── PlayerFailed          a player could not answer at all; the game is recorded as failed with this reason
├── RunPaused             a run cannot go on for now; what it has is kept, and the same command resumes it
│   ├── BudgetSpent       the budget of tokens or money is used up
│   ├── EndpointRefused   an endpoint turns a player down: bad key, unknown model, no credit
│   ├── EndpointSilent    an endpoint has not answered for longer than --give-up-after
│   └── Interrupted       somebody pressed Ctrl-C
└── NotConverged          a sampler whose diagnostics fail; the fit is not shown
"""

from collections.abc import Iterable
from difflib import get_close_matches

from liescope.common.installed import install_command


class LiescopeError(Exception):
    """Root of every error that Liescope raises on purpose."""


class UsageError(LiescopeError):
    """Something a user can mend; the message says how."""


class UnknownName(UsageError):
    """A name outside a known set."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        known = sorted(choices)
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"unknown {kind} {name!r}; the choices are: {', '.join(known) or '(none)'}.{hint}")


class UndeclaredGame(UsageError):
    """A game for which a part is missing that every game must bring."""

    def __init__(self, game: str, part: str, where: str) -> None:
        super().__init__(f"the game {game!r} has no {part}; register it under that name in {where}")


class MissingExtra(UsageError):
    """A package that one of Liescope's extras installs is not here. extra: its name."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs the package {package!r}; install it with: {install_command(extra)}")
        self.extra = extra


class MissingKey(UsageError):
    """A secret that must stand in the environment does not."""

    def __init__(self, variable: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the environment variable {variable}; set it and run the command again")


class PlanChanged(UsageError):
    """A run folder already holds a run with another plan."""


class BadData(UsageError):
    """A file that cannot be read or used as asked."""


class CardError(UsageError):
    """A card that cannot be filled from the facts given."""


class RuleViolation(LiescopeError):
    """A game was driven wrongly by a program."""


class PlayerFailed(LiescopeError):
    """A player could not answer; the game that asked ends as failed, with this reason."""


class RunPaused(LiescopeError):
    """A run cannot go on for now. Everything so far is kept, and the same command resumes it."""


class BudgetSpent(RunPaused):
    """The run's budget is used up; finished games stay, the run can be resumed with a larger one."""


class EndpointRefused(RunPaused):
    """An endpoint turns down every request of a player, and will until somebody changes a key, a name or an account."""


class EndpointSilent(RunPaused):
    """An endpoint has not answered for longer than the run is willing to wait."""


class Interrupted(RunPaused):
    """The user asked the run to stop; requests under way were given a moment to come in."""


class NotConverged(LiescopeError):
    """A posterior sample whose diagnostics fail."""
