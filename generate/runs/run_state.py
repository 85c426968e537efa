"""What a run is doing at one moment, as the live display shows it and `status.json` holds it."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, ValidationError

from liescope.common.errors import BadData
from liescope.common.reading import read_bytes
from liescope.generate.runs.folder import write_whole
from liescope.generate.runs.progress import RunProgress

STATE_FILE = "status.json"
Counts = dict[str, NonNegativeInt]


class _State(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class HostState(_State):
    """One endpoint's host; the fields are those of `HostActivity`. waits: seconds until it is asked again."""

    under_way: NonNegativeInt
    limit: NonNegativeInt | None
    answers: NonNegativeInt
    per_second: NonNegativeFloat
    tokens: NonNegativeInt
    cached_tokens: NonNegativeInt
    cost: NonNegativeFloat
    limited: NonNegativeInt
    retries: Counts
    waits: NonNegativeFloat
    waits_because: str
    paused: bool


class RunState(_State):
    """The state of a run; the counts are those of `RunProgress`.

    command: "play" or "label"; at: when this was written, seconds since 1970 (UTC); seconds: since the process began;
    ended: whether it has ended; stopped: why it ended early, or "".
    """

    command: str
    at: NonNegativeFloat
    seconds: NonNegativeFloat
    ended: bool
    stopped: str
    currency: str
    planned: NonNegativeInt
    done: NonNegativeInt
    failed: NonNegativeInt
    before: NonNegativeInt
    playing: NonNegativeInt
    calls: NonNegativeInt
    from_cache: NonNegativeInt = 0
    unrated: NonNegativeInt
    tokens: NonNegativeInt
    cost: NonNegativeFloat
    winners: Counts
    failures: Counts
    fallbacks: Counts
    hosts: dict[str, HostState]

    @property
    def left(self) -> float | None:
        """Estimated seconds until all games have ended, from those that did since the start; None before the first."""
        ended = self.done + self.failed
        if ended <= self.before or ended >= self.planned:
            return None
        return self.seconds / (ended - self.before) * (self.planned - ended)

    def write(self, folder: Path) -> None:
        """Replace the state in a run's folder; without space for it the run goes on."""
        with suppress(OSError):
            write_whole(folder / STATE_FILE, self.model_dump_json(indent=1) + "\n")


def state_of(progress: RunProgress, command: str, seconds: float, currency: str, ended: bool = False) -> RunState:
    """The state that a progress describes."""
    return RunState(
        command=command,
        at=time.time(),
        seconds=seconds,
        ended=ended,
        stopped="" if progress.stop is None else str(progress.stop),
        currency=currency,
        planned=progress.planned,
        done=progress.done,
        failed=progress.failed,
        before=progress.before,
        playing=progress.playing,
        calls=progress.calls,
        from_cache=progress.from_cache,
        unrated=progress.unrated,
        tokens=progress.tokens,
        cost=progress.cost,
        winners=dict(progress.winners.most_common()),
        failures=dict(progress.failures.most_common()),
        fallbacks=dict(progress.fallbacks.most_common()),
        hosts={name: HostState(**host.to_json()) for name, host in progress.activity.hosts.items()},
    )


def read_state(folder: Path) -> RunState | None:
    """The last state written into a run's folder; None if there is none. Raises BadData for a damaged file."""
    file = folder / STATE_FILE
    try:
        return RunState.model_validate_json(read_bytes(file))
    except FileNotFoundError:
        return None
    except (ValidationError, OSError) as error:
        raise BadData(f"{file} cannot be read ({type(error).__name__}); delete it, the run loses nothing") from None
