"""The members of an ensemble as one line of text: `linear,embedding`, or `linear:strength=1;embedding:batch_size=8`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from liescope.detectors.protocol import Detector
from liescope.detectors.registry import DETECTORS, detector_class
from liescope.detectors.textualize import TextConfig

_FEWEST, _MOST = 2, 16


@dataclass(frozen=True, slots=True)
class Member:
    """A kind of detector with the options that are not its defaults, as text or as values."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.kind}:{given}" if given else self.kind

    @property
    def type(self) -> type[Detector]:
        return detector_class(self.kind)

    @classmethod
    def of(cls, detector: Detector) -> Member:
        """What a detector is after it has learned, without what names a file of this machine."""
        fields, now = type(detector.options).model_fields, detector.options
        changed = {name: value for name, value in now.model_dump().items() if value != fields[name].default}
        changed.pop("seed", None)
        return cls(detector.kind, changed)

    def untrained(self, text: TextConfig, seed: int) -> Detector:
        """Raises UsageError for an option, MissingExtra."""
        from liescope.detectors.registry import make

        return make(self.kind, text, {**self.options, "seed": seed})


def read_members(line: str) -> tuple[Member, ...]:
    """Members are separated by `;`, or by `,` where none has options; options by `,`, and what has no `=` goes on with
    the value before it. Raises ValueError.
    """
    parts = line.split(";" if ";" in line or ":" in line else ",")
    found = tuple(_member(part.strip()) for part in parts if part.strip())
    if not _FEWEST <= len(found) <= _MOST:
        raise ValueError(f'name {_FEWEST} to {_MOST} kinds of detector, as in "linear,embedding"')
    return found


def _member(part: str) -> Member:
    kind, _, given = part.partition(":")
    if kind == "ensemble":
        raise ValueError("an ensemble is no member of an ensemble; name its members instead")
    if kind not in DETECTORS:
        raise ValueError(f"{kind[:50]!r} is no kind of detector; there are {', '.join(DETECTORS)}")
    return Member(kind, dict(_options(given)))


def _options(given: str) -> Iterator[tuple[str, str]]:
    name, value = "", ""
    for piece in given.split(",") if given else ():
        if "=" in piece:
            if name:
                yield name, value
            name, _, value = piece.partition("=")
        elif name:
            value += f",{piece}"
        else:
            raise ValueError(f"{piece[:50]!r} is no option; write them as name=value")
    if name:
        yield name.strip().replace("-", "_"), value
