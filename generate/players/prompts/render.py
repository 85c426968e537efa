"""Prompts from template files: what stays the same first, then what grows at its end, then the question.

Everything before the question is the beginning of the same seat's next prompt, so that an endpoint that keeps prefixes
reads each line of a game once. Templates are jinja2 in a sandbox. Each family of games has its own sets, and any folder
with the same file names replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from liescope.common.errors import BadData, UsageError
from liescope.games.core import Ask, Event, EventKind
from liescope.generate.players.prompts.families import FAMILIES
from liescope.generate.players.prompts.family import EXAMPLE, FIXED, RULES, Family
from liescope.generate.players.prompts.narration import quoted

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Prompt:
    """stem: the beginning of the seat's next stem; question: what only now is told and asked."""

    stem: str
    question: str

    @property
    def text(self) -> str:
        return f"{self.stem}\n{self.question}"


class Prompts:
    """A family's templates, compiled and checked."""

    def __init__(self, family: Family, templates: Mapping[str, Template]) -> None:
        self._family = family
        self._templates = templates
        self._rules = lru_cache(maxsize=4096)(self._render_rules)

    def render(self, ask: Ask, view: Sequence[Event]) -> Prompt:
        """The prompt for an ask from what its seat has seen. Raises BadData for a view without a SETUP event, and for
        a kind of ask that this family of games has not.
        """
        setup = next((event for event in view if event.kind is EventKind.SETUP), None)
        if setup is None:
            raise BadData(f"game {ask.game} shows {ask.seat} no setup; a prompt needs the names and the composition")
        if ask.kind not in self._templates:
            raise BadData(f"the prompts of {self._family.name} have no question for {ask.kind.value}")
        rules = self._rules(tuple(self._family.facts(setup, ask.seat).items()))
        told = self._family.tell(view, ask.seat)
        question = self._templates[ask.kind].render(_facts(ask, view)).strip()
        stem = "\n".join([rules, *told.growing]) + "\n"
        return Prompt(stem, "\n".join([*told.private, question]))

    def _render_rules(self, facts: tuple[tuple[str, Any], ...]) -> str:
        return self._templates[RULES].render(dict(facts)).strip()


def _facts(ask: Ask, view: Sequence[Event]) -> dict[str, Any]:
    """The variables of an ask's template."""
    facts: dict[str, Any] = {
        "name": ask.seat,
        "day": ask.day,
        "phase": ask.phase.value,
        "round": ask.round,
        "rounds": ask.rounds,
        "limit": ask.limit,
        "options": ", ".join(ask.options),
        **FIXED,
    }
    if ask.about is not None:
        about = next(event for event in reversed(view) if event.index == ask.about)
        facts |= {"speaker": about.actor, "statement": quoted(about.text)}
    return facts


def template_folder(where: str | Path, game: str) -> Path:
    """The folder of the set of that name for a game, or the folder given. Raises UsageError where there is none."""
    family = FAMILIES[game]
    folder = HERE / family.name / where if str(where) in family.sets else Path(where)
    if not folder.is_dir():
        sets = " or ".join(family.sets)
        raise UsageError(f"{game} has no prompts {str(where)!r}; use {sets}, or a folder with files like rules.jinja")
    return folder


def load_prompts(where: str | Path, game: str) -> Prompts:
    """The set of that name for a game, or the templates in that folder; a judge's questions that a folder lacks are
    the game's own.

    Raises UsageError for a missing folder or template file, a syntax error, or a variable that a template has not.
    """
    family, folder = FAMILIES[game], template_folder(where, game)
    templates = {}
    for name in family.variables:
        own = (folder / f"{name}.jinja").exists() or name not in family.judges
        templates[name] = _load(folder if own else HERE / family.name / "full", name, family)
    return Prompts(family, templates)


def _load(folder: Path, name: str, family: Family) -> Template:
    """One template, checked by rendering it once."""
    path, known = folder / f"{name}.jinja", family.variables[name]
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, cache_size=-1
    )
    try:
        source = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        needed = ", ".join(f"{name}.jinja" for name in family.variables if name not in family.judges)
        raise UsageError(f"the prompt template {path} is missing; a set needs {needed}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt template {path} cannot be read: {error}") from None
    try:
        unknown = meta.find_undeclared_variables(environment.parse(source)) - known
        if unknown:
            names = ", ".join(sorted(unknown))
            raise UsageError(f"{path} uses {names}, which it is not given; it may use {', '.join(sorted(known))}")
        template = environment.get_template(path.name)
        example = {**EXAMPLE, **family.example}
        template.render({key: example[key] for key in known})
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(f"the prompt template {path} does not work: {error}") from None
    return template
