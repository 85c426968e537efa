"""From a spec string to a player: `KIND:ARGUMENT`, for example `scripted:bold?m=1.5` or `openai:gpt-4.1-mini`.

Every kind of model player takes these options, whatever runs the model:

    temperature=0.7&top_p=0.9&max_tokens=300     for every kind of ask
    temperature.speak=1&temperature.vote=0       for one kind of ask (`AskKind`), instead of the general value
    persona=liar.txt                             a system message for the seat; {name} and {role} stand for the seat's

A file that a spec names is part of the plan with its whole text (`named_files`), so that a changed file is a changed
plan, and a run goes on without the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qsl

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.registry import Registry
from liescope.games.core import Ask, AskKind, Event, EventKind
from liescope.generate.players.player_protocol import Player, PlayerContext

BOUNDS = {"temperature": (0.0, 10.0), "top_p": (0.0, 1.0), "max_tokens": (1.0, 1e9)}
KINDS = tuple(kind.value for kind in AskKind)
PERSONA, EXTRA = "persona", "extra"
LONGEST = 65_536  # characters of a file that a spec names


@dataclass(frozen=True, slots=True)
class NamedText:
    """The text of a file that a spec names. name: as the spec has it."""

    name: str
    text: str

    @property
    def label(self) -> str:
        """The file's name with a hash of its text: two texts under one name are two players."""
        return f"{Path(self.name).stem}#{sha256(self.text.encode()).hexdigest()[:6]}"

    def filled(self, ask: Ask, view: Sequence[Event]) -> str:
        """A persona for the asked seat: {name} becomes its name, {role} its role ("player" before it knows one)."""
        roles = (event.data["role"] for event in view if event.kind is EventKind.ROLE)
        return self.text.replace("{name}", ask.seat).replace("{role}", next(roles, "player"))


@dataclass(frozen=True, slots=True)
class SeatOptions:
    """How a model is asked. settings: by name, with the kind of ask if the value is for that alone
    ("temperature.vote"); persona: the name of its file, "" for none.
    """

    settings: tuple[tuple[str, float], ...] = ()
    persona: str = ""

    def at(self, kind: AskKind | None = None) -> dict[str, float]:
        """The settings for a kind of ask, by name: temperature, top_p, max_tokens (a whole number)."""
        given = dict(self.settings)
        own = {name: given.get(f"{name}.{kind}", given.get(name)) for name in BOUNDS}
        return {name: int(value) if name == "max_tokens" else value for name, value in own.items() if value is not None}

    @property
    def shown(self) -> list[str]:
        """What of it belongs to the name in tables: everything but the limits of tokens and the persona."""
        return [f"{name}={value}" for name, value in self.settings if not name.startswith("max_tokens")]


def read_options(query: str, others: Sequence[str]) -> tuple[SeatOptions, dict[str, str]]:
    """The options of a spec, and those named in others, which only its kind of player has, as words.

    Raises UnknownName for an unknown option or kind of ask, UsageError for a value that makes no sense.
    """
    options = dict(parse_qsl(query, keep_blank_values=True))
    settings, own = {}, {}
    for option, words in options.items():
        name, dot, kind = option.partition(".")
        if dot and name in BOUNDS and kind not in KINDS:
            raise UnknownName(f"kind of ask for {name}", kind, KINDS)
        if name in BOUNDS:
            settings[option] = number(words, option, *BOUNDS[name])
        elif option in others:
            own[option] = words
        elif option != PERSONA:
            raise UnknownName("option", option, (*others, *BOUNDS, PERSONA))
    if PERSONA in options and not options[PERSONA]:
        raise UsageError(f"{PERSONA} names a text file, as in {PERSONA}=liar.txt")
    ordered = sorted(settings, key=lambda option: (list(BOUNDS).index(option.partition(".")[0]), option))
    return SeatOptions(tuple((option, settings[option]) for option in ordered), options.get(PERSONA, "")), own


def number(words: str, name: str, least: float, most: float) -> float:
    """The number in the words. Raises UsageError."""
    try:
        value = float(words)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise UsageError(f"{name} must be a number from {least:.15g} to {most:.15g}, got {words!r}")
    return value


def named_files(argument: str) -> dict[str, str]:
    """The texts of the files that a spec names, by name. Raises BadData for one that cannot be read."""
    options = dict(parse_qsl(argument.partition("?")[2], keep_blank_values=True))
    return {name: read_file(name) for name in map(options.get, (PERSONA, EXTRA)) if name}


def file_text(name: str, files: Mapping[str, str]) -> str:
    """The text of a file that a spec names. files: those that the plan holds. Raises BadData."""
    return files[name] if name in files else read_file(name)


def read_file(name: str) -> str:
    """Raises BadData for a file that cannot be read, is empty or too long."""
    try:
        with Path(name).open(encoding="utf-8") as file:
            text = file.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadData(f"{name!r}, which a player's spec names, cannot be read as a text file: {why}") from None
    if not text.strip() or len(text) > LONGEST:
        size = "empty" if not text.strip() else f"longer than {LONGEST:,} characters"
        raise BadData(f"{name!r}, which a player's spec names, is {size}")
    return text


def joined(label: str, shown: Iterable[str]) -> str:
    """A player's name in tables: the model's, with what differs from asking it plainly."""
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
    },
)


def player_names() -> list[str]:
    """What specs of players begin with, and those that need nothing more, for a shell to complete. People sit down by
    `serve`.
    """
    from liescope.games.script.persona import PROFILES

    return [
        *(f"scripted:{name}" for name in PROFILES),
        *(f"{kind}:" for kind in PLAYERS if kind not in ("scripted", "human")),
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


def files_of(specs: Iterable[str]) -> dict[str, str]:
    """The texts of all files that the specs name, by name, for the plan. Raises BadData for one that cannot be read."""
    found: dict[str, str] = {}
    for spec in specs:
        kind, _, argument = spec.partition(":")
        if kind in NAMING:
            found |= named_files(argument)
    return found
