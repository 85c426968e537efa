"""Prompts from template files: the rules first, then memory that only grows at its end, then the question.

Everything before the question is thus the beginning of the same seat's next prompt, so that an endpoint that keeps
prefixes reads each line of a game once. Templates are jinja2 in a sandbox; two sets ship, `full` and `minimal`
(Mini-Mafia paper, Appendices A and C), and any folder with the same file names replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from games.core import Ask, AskKind, Event, EventKind
from games.errors import BadData, UsageError
from generate.prompts.memory import listing, memory, quoted
from labeling.taxonomy import DeceptionType

RULES = "rules"
SETS = ("full", "minimal")
HERE = Path(__file__).parent

_TYPES = tuple((kind.value, kind.definition) for kind in DeceptionType)
_EXAMPLE: dict[str, Any] = {
    "name": "Alice",
    "others": "Bob and Charlie",
    "composition": "1 mafioso and 2 villagers",
    "day": 1,
    "round": 1,
    "rounds": 2,
    "limit": 200,
    "options": "Bob, Charlie",
    "speaker": "Bob",
    "statement": "I am a villager.",
    "types": _TYPES,
}
_CHOICE = frozenset({"name", "day", "options"})

# The variables of each template, which is the file of that name with ".jinja".
VARIABLES: Mapping[str, frozenset[str]] = {
    RULES: frozenset({"name", "others", "composition", "rounds"}),
    AskKind.SPEAK: frozenset({"name", "day", "round", "rounds", "limit"}),
    AskKind.VOTE: _CHOICE,
    AskKind.KILL: _CHOICE,
    AskKind.INVESTIGATE: _CHOICE,
    AskKind.SELF_ASSESSMENT: frozenset({"name", "statement", "types"}),
    AskKind.PEER_ASSESSMENT: frozenset({"name", "speaker", "statement", "types"}),
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """stem: rules and memory, the beginning of the seat's next stem; question: what is asked now."""

    stem: str
    question: str

    @property
    def text(self) -> str:
        return f"{self.stem}\n{self.question}"


class Prompts:
    """A set of templates, compiled and checked."""

    def __init__(self, templates: Mapping[str, Template]) -> None:
        self._templates = templates
        self._rules = lru_cache(maxsize=4096)(self._render_rules)

    def render(self, ask: Ask, view: Sequence[Event]) -> Prompt:
        """The prompt for an ask from what its seat has seen. Raises BadData for a view without a SETUP event."""
        setup = next((event for event in view if event.kind is EventKind.SETUP), None)
        if setup is None:
            raise BadData(f"game {ask.game} shows {ask.seat} no setup; a prompt needs the names and the composition")
        counts = tuple(setup.data["composition"].items())
        rules = self._rules(ask.seat, tuple(setup.data["names"]), counts, setup.data["rounds"])
        stem = "\n".join([rules, *memory(view, ask.seat)]) + "\n"
        return Prompt(stem, self._templates[ask.kind].render(_facts(ask, view)).strip())

    def _render_rules(self, seat: str, names: tuple[str, ...], counts: tuple[tuple[str, int], ...], rounds: int) -> str:
        others = listing(name for name in names if name != seat)
        roles = listing(f"{count} {role}{'' if count == 1 else 's'}" for role, count in counts if count)
        return self._templates[RULES].render(name=seat, others=others, composition=roles, rounds=rounds).strip()


def _facts(ask: Ask, view: Sequence[Event]) -> dict[str, Any]:
    """The variables of an ask's template."""
    if ask.about is None:
        return {
            "name": ask.seat,
            "day": ask.day,
            "round": ask.round,
            "rounds": ask.rounds,
            "limit": ask.limit,
            "options": ", ".join(ask.options),
        }
    statement = next(event for event in reversed(view) if event.index == ask.about)
    return {"name": ask.seat, "speaker": statement.actor, "statement": quoted(statement.text), "types": _TYPES}


def load_prompts(where: str | Path) -> Prompts:
    """The set of that name, or the templates in that folder.

    Raises UsageError for a missing folder or template file, a syntax error, or a variable that a template has not.
    """
    folder = HERE / where if str(where) in SETS else Path(where)
    if not folder.is_dir():
        raise UsageError(f"no prompts {str(where)!r}; use {' or '.join(SETS)}, or a folder with files like rules.jinja")
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, cache_size=-1
    )
    return Prompts({name: _load(environment, folder, name) for name in VARIABLES})


def _load(environment: ImmutableSandboxedEnvironment, folder: Path, name: str) -> Template:
    """One template, checked by rendering it once."""
    path, known = folder / f"{name}.jinja", VARIABLES[name]
    try:
        source = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"the prompt template {path} is missing; a set needs {', '.join(_files())}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt template {path} cannot be read: {error}") from None
    try:
        unknown = meta.find_undeclared_variables(environment.parse(source)) - known
        if unknown:
            names = ", ".join(sorted(unknown))
            raise UsageError(f"{path} uses {names}, which it is not given; it may use {', '.join(sorted(known))}")
        template = environment.get_template(path.name)
        template.render({key: _EXAMPLE[key] for key in known})
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(f"the prompt template {path} does not work: {error}") from None
    return template


def _files() -> list[str]:
    return [f"{name}.jinja" for name in VARIABLES]
