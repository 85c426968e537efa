"""From a spec string to a player: `KIND:ARGUMENT`, for example `scripted:bold?m=1.5` or `openai:gpt-4.1-mini`.

Every kind of model player takes these options, whatever runs the model:

    temperature=0.7&top_p=0.9&max_tokens=300     for every kind of ask
    temperature.speak=1&temperature.vote=0       for one kind of ask (`AskKind`), instead of the general value
    persona=liar.txt                             a system message for the seat; {name} and {role} stand for the seat's
    memory=last:12                               of the game, the seat is told the last twelve events alone
    memory=summary:12                            and its own summary of what came before (`liescope.games.memory`)

A file that a spec names is part of the plan with its whole text (`files_of`), so that a changed file is a changed
plan, and a run goes on without the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import parse_qsl

from pydantic import Field, field_validator

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.reading import Reading
from liescope.common.registry import Registry
from liescope.common.settings import OptionsModel, read_query, settings_of
from liescope.games.core import Ask, AskKind, Event, EventKind
from liescope.games.memory import Memory
from liescope.generate.players.player_protocol import Player, PlayerContext

BY_KIND = ("temperature", "top_p", "max_tokens")
KINDS = tuple(kind.value for kind in AskKind)
LONGEST = 65_536  # characters of a file that a spec names


@dataclass(frozen=True, slots=True)
class NamedText:
    """The text of a file that a spec names. name: as the spec has it."""

    name: str
    text: str

    @classmethod
    def of(cls, name: str, files: Mapping[str, str]) -> NamedText | None:
        """The file that a spec names, None for "". files: those that the plan holds; others are read now. Raises
        BadData.
        """
        return cls(name, files[name] if name in files else read_file(name)) if name else None

    @property
    def label(self) -> str:
        """The file's name with a hash of its text: two texts under one name are two players."""
        return f"{Path(self.name).stem}#{sha256(self.text.encode()).hexdigest()[:6]}"

    def filled(self, ask: Ask, view: Sequence[Event]) -> str:
        """A persona for the asked seat: {name} becomes its name, {role} its role ("player" before it knows one)."""
        roles = (event.data["role"] for event in view if event.kind is EventKind.ROLE)
        return self.text.replace("{name}", ask.seat).replace("{role}", next(roles, "player"))


class SeatOptions(OptionsModel):
    """How a model is asked. by_kind: the settings for one kind of ask alone ("temperature.vote"), as they are named."""

    dashed: ClassVar[bool] = False

    temperature: float | None = Field(default=None, ge=0, le=10, description="How freely tokens are drawn.")
    top_p: float | None = Field(
        default=None, ge=0, le=1, description="Draw among the likeliest tokens of this share of the probability."
    )
    max_tokens: int | None = Field(default=None, ge=1, le=10**9, description="Tokens of a reply at most.")
    persona: str = Field(default="", description="A text file: the system message of the seat.")
    memory: str = Field(
        default="full",
        description="full; last:K, the last K events alone; or summary:K, these and the seat's own summary.",
    )
    by_kind: tuple[tuple[str, float], ...] = ()

    @field_validator("memory")
    @classmethod
    def _known_policy(cls, memory: str) -> str:
        if not re.fullmatch(r"full|(last|summary):[1-9]\d{0,5}", memory):
            raise ValueError(f"memory is full, last:K or summary:K, as in memory=last:12; got {memory!r}")
        return memory

    @property
    def remembers(self) -> Memory | None:
        """None for everything."""
        policy, _, last = self.memory.partition(":")
        return Memory(int(last), policy == "summary") if last else None

    @classmethod
    def read(cls, query: str, whose: str) -> Self:
        """The options of a spec string. Raises UsageError, UnknownName."""
        given, by_kind = read_query(query), dict[str, float]()
        for option in [option for option in given if option.partition(".")[0] in BY_KIND and "." in option]:
            name, _, kind = option.partition(".")
            if kind not in KINDS:
                raise UnknownName(f"kind of ask for {name}", kind, KINDS)
            by_kind[option] = replace(settings_of(cls)[name], flag=option).checked(given.pop(option))
        if given.get("persona") == "":
            raise UsageError("persona names a text file, as in persona=liar.txt")
        return cls.of({**given, "by_kind": tuple(sorted(by_kind.items()))}, whose)

    def at(self, kind: AskKind | None = None) -> dict[str, float]:
        """The settings for a kind of ask, by name: temperature, top_p, max_tokens (a whole number)."""
        given = dict(self.by_kind)
        own = {name: given.get(f"{name}.{kind}", getattr(self, name)) for name in BY_KIND}
        return {name: int(value) if name == "max_tokens" else value for name, value in own.items() if value is not None}

    @property
    def shown(self) -> list[str]:
        """The part of it that belongs to the name in tables: everything but token limits and the persona."""
        general = {name: value for name in BY_KIND if (value := getattr(self, name)) is not None}
        given = sorted({**general, **dict(self.by_kind)}.items())
        shown = [f"{name}={value}" for name, value in given if not name.startswith("max_tokens")]
        return shown if self.memory == "full" else [*shown, f"memory={self.memory}"]


def read_file(name: str) -> str:
    """Raises BadData for a file that cannot be read, is empty or too long."""
    named = f"{name!r}, which a player's spec names,"
    with Reading(named, "name a text file"), Path(name).open(encoding="utf-8") as file:
        text = file.read(LONGEST + 1)
    if not text.strip() or len(text) > LONGEST:
        size = "empty" if not text.strip() else f"longer than {LONGEST:,} characters"
        raise BadData(f"{named} is {size}")
    return text


def joined(label: str, shown: Iterable[str]) -> str:
    """A player's name in tables: the model's, with everything that differs from asking it plainly."""
    words = ", ".join(shown)
    return f"{label} ({words})" if words else label


Opener = Callable[[str, PlayerContext], Player]


PLAYERS: Registry[Opener] = Registry(
    "kind of player",
    "liescope.players",
    {
        "scripted": "liescope.generate.players.scripted:open_scripted",
        "openai": "liescope.generate.players.openai.openai_player:open_openai",
        "local": "liescope.generate.players.local.local_player:open_local",
        "human": "liescope.generate.players.human:open_human",
        "agent": "liescope.generate.players.agent:open_agent",
    },
)


def player_names() -> list[str]:
    """Completions for a shell: the beginnings of players' specs, and specs that need nothing more. People and agents
    join live games only.
    """
    from liescope.games.script.persona import PROFILES

    return [
        *(f"scripted:{name}" for name in PROFILES),
        *(f"{kind}:" for kind in PLAYERS if kind not in ("scripted", "human", "agent")),
    ]


FORMS = ("openai:MODEL", "openai:MODEL@URL", "local:FOLDER_OR_HUB_ID")
"""How the specs of players that are no scripts look, for messages."""

NAMING = ("openai", "local")
"""The kinds whose specs name files."""


def open_player(spec: str, context: PlayerContext) -> Player:
    """The player named by a spec string. Raises UsageError if the spec, a key or a package is missing."""
    kind, _, argument = spec.partition(":")
    if kind not in PLAYERS:
        from liescope.games.script.persona import PROFILES

        raise UnknownName("player", spec, [*FORMS, *(f"scripted:{name}" for name in PROFILES)])
    return PLAYERS[kind](argument, context)


def memory_of(spec: str) -> Memory | None:
    """What the player of a spec remembers of a game, None for everything. Raises UsageError."""
    kind, _, argument = spec.partition(":")
    given = dict(parse_qsl(argument.partition("?")[2])) if kind in NAMING else {}
    return SeatOptions.of({"memory": given.get("memory", "full")}, spec).remembers


def summaries_of(seats: Mapping[str, str]) -> dict[str, Memory]:
    """The memories of the seats that write summaries. seats: the players' specs, by name."""
    found = {seat: memory_of(spec) for seat, spec in seats.items()}
    return {seat: memory for seat, memory in found.items() if memory is not None and memory.summed}


def files_of(specs: Iterable[str]) -> dict[str, str]:
    """The texts of all files that the specs name, by name, for the plan. Raises BadData for one that cannot be read."""
    asked = [spec.partition("?")[2] for spec in specs if spec.partition(":")[0] in NAMING]
    options = [dict(parse_qsl(query, keep_blank_values=True)) for query in asked]
    return {name: read_file(name) for given in options for name in map(given.get, ("persona", "extra")) if name}
