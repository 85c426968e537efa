"""The settings that play, label and fork share, what is made of them, and the file that keeps them.

Every run folder has a `run.toml`, with one section for the command, its keys named as the API names them:
`liescope play --config runs/first/run.toml` resumes that run. Command-line options override the file.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text
from liescope.common.settings import Setting, default_of, split
from liescope.generate.players.openai.spec import check_allowed
from liescope.generate.players.player_protocol import MOST_REQUESTS, PlayerContext, Price
from liescope.generate.players.prices import read_prices
from liescope.generate.runs.run_folder import PLAN_FILE

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
MOST_AT_ONCE = 10_000
MOST_WORKERS = 1024
_CURRENCY = re.compile(r"\w{1,8}|[^\w\s]{1,3}")
_LIMITS = "Limits (may differ each time a run is resumed)"


class RunSettings(TypedDict, total=False):
    """What may differ each time a run is resumed."""

    concurrency: Annotated[
        int,
        Setting(
            "Most requests under way at one endpoint.", MOST_REQUESTS, at_least=1, at_most=MOST_AT_ONCE, group=_LIMITS
        ),
    ]
    workers: Annotated[
        int | None,
        Setting(
            "Processes that share the work when one core is full.",
            shown="1",
            at_least=1,
            at_most=MOST_WORKERS,
            group=_LIMITS,
        ),
    ]
    engine: Annotated[str, Setting("Where the workers are: local or ray, a Ray cluster.", "local", group=_LIMITS)]
    timeout: Annotated[float, Setting("Seconds that a request may take.", 120.0, above=0, group=_LIMITS)]
    hedge: Annotated[
        bool, Setting("Send a request that stalls a second time; the first answer counts.", True, group=_LIMITS)
    ]
    give_up_after: Annotated[
        str | float,
        Setting("Pause the run when an endpoint has not answered for so long: 90s, 10m, 2h.", "30m", group=_LIMITS),
    ]
    max_tokens: Annotated[int | None, Setting("Stop when the run has used so many tokens.", at_least=1, group=_LIMITS)]
    max_cost: Annotated[float | None, Setting("Stop when the run has cost so much.", at_least=0, group=_LIMITS)]
    price: Annotated[
        Sequence[str],
        Setting("Price of a million tokens: MODEL=IN,OUT[,CACHED], or a TOML file.", (), group=_LIMITS),
    ]
    currency: Annotated[str, Setting("Currency of the prices.", "USD", group=_LIMITS)]
    allow_key: Annotated[
        Sequence[str],
        Setting("Let a key go to a host that is not its own: VARIABLE@HOST.", (), group=_LIMITS, saved=False),
    ]
    preflight: Annotated[bool, Setting("Ask each model one small question before the first game.", True, group=_LIMITS)]
    cache: Annotated[
        str | os.PathLike[str] | None,
        Setting(
            "A folder that keeps every reply: what was paid for once is found again by any run with the same games.",
            group=_LIMITS,
        ),
    ]
    batch: Annotated[
        bool,
        Setting(
            "Send requests in files of many, for part of the price, and wait for them: minutes to a day for each step.",
            False,
            group=_LIMITS,
        ),
    ]
    log: Annotated[
        str | os.PathLike[str] | None,
        Setting("Append a line of JSON to this file for everything that happens.", group=_LIMITS),
    ]
    retry_failed: Annotated[
        bool, Setting("Play games again that are recorded as failed.", False, group=_LIMITS, saved=False)
    ]


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that may differ each time a run is resumed, ready for use: see `RunSettings`.

    timeout, give_up_after: seconds; max_tokens, max_cost: of everything the run has ever spent; prices: by model name;
    allowed_keys: as `VARIABLE@HOST`; cache, log: None for none. With `batch`, as many games go at once as there may be.
    """

    concurrency: int = default_of(RunSettings, "concurrency")
    timeout: float = default_of(RunSettings, "timeout")
    hedge: bool = default_of(RunSettings, "hedge")
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Mapping[str, Price] | None = None
    give_up_after: float = field(default_factory=lambda: read_span(default_of(RunSettings, "give_up_after"), ""))
    currency: str = default_of(RunSettings, "currency")
    allowed_keys: tuple[str, ...] = ()
    preflight: bool = default_of(RunSettings, "preflight")
    cache: Path | None = None
    log: Path | None = None
    batch: bool = False

    def context(self, **more: Any) -> PlayerContext:
        """What players need to know of these limits. more: the other fields of `PlayerContext`."""
        return PlayerContext(
            concurrency=self.concurrency,
            timeout=self.timeout,
            hedge=self.hedge,
            give_up_after=self.give_up_after,
            prices=dict(self.prices or {}),
            max_tokens=self.max_tokens,
            max_cost=self.max_cost,
            allowed_keys=self.allowed_keys,
            currency=self.currency,
            **more,
        )


def limits_of(given: Mapping[str, Any]) -> Limits:
    """The limits that settings make. given: those that are not at their default, and maybe others, which are ignored.

    Raises UsageError for values that cannot be read.
    """
    settings, _ = split(RunSettings, given)
    prices = {model: price for words in settings["price"] for model, price in read_prices(words).items()}
    if not _CURRENCY.fullmatch(settings["currency"]):
        raise UsageError(f"--currency must be a short name such as USD or EUR, got {settings['currency']!r}")
    check_allowed(settings["allow_key"])
    return Limits(
        concurrency=MOST_AT_ONCE if settings["batch"] else settings["concurrency"],
        timeout=settings["timeout"],
        hedge=settings["hedge"],
        max_tokens=settings["max_tokens"],
        max_cost=settings["max_cost"],
        prices=prices,
        give_up_after=read_span(settings["give_up_after"], "--give-up-after"),
        currency=settings["currency"],
        allowed_keys=tuple(settings["allow_key"]),
        preflight=settings["preflight"],
        cache=_path(settings["cache"]),
        log=_path(settings["log"]),
        batch=settings["batch"],
    )


def _path(given: str | os.PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)


def read_span(words: str | float, option: str) -> float:
    """Seconds in a span such as 90s, 10m or 2h, or in a plain number of seconds. Raises UsageError."""
    found = _SPAN.fullmatch(str(words).strip())
    seconds = float(found[1]) * _SECONDS[found[2] or "s"] if found else 0.0
    if not 0 < seconds <= 1e9:
        raise UsageError(f"{option} must be a span of time such as 90s, 10m or 2h, got {words!r}")
    return seconds


CONFIG_FILE = "run.toml"
NEVER = ("config", "help", "allow_key")  # a file may not decide where keys go


@dataclass(slots=True)
class RunConfig:
    """The options given to a command. options: None and empty ones are not written."""

    command: str
    options: Mapping[str, Any]
    _written: bool = field(default=False, init=False)

    def write(self, folder: Path) -> None:
        """Write the file into a run folder, once."""
        if self._written:
            return
        file = folder / CONFIG_FILE
        kept = {
            name: value for name, value in self.options.items() if name not in NEVER and value not in (None, (), [], "")
        }
        lines = [f"# Go on with this run: liescope {self.command} --config {file}", f"[{self.command}]"]
        lines += [f"{name} = {_toml(value)}" for name, value in kept.items()]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._written = True


def read_config(file: Path, command: str) -> dict[str, Any]:
    """The options in a config file. For a file in a run folder, `out` is that folder.

    Raises BadData for a file that cannot be read, is not TOML, or has no section for the command.
    """
    try:
        data = tomllib.loads(read_text(file, given=True))
    except (OSError, ValueError) as error:
        raise BadData(f"{file} cannot be read as a config file: {error}") from None
    section = data.get(command)
    if not isinstance(section, dict):
        raise BadData(f"{file} has no section [{command}]; its sections are: {', '.join(data) or '(none)'}")
    options = {name.replace("-", "_"): value for name, value in section.items()}
    if "out" not in options and (file.parent / PLAN_FILE).exists():
        options["out"] = str(file.parent)
    return options


def _toml(value: Any) -> str:
    """A value as TOML. JSON strings are valid TOML strings except for the character DEL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
