"""Prompts from template files: first the constant part, then the part that grows, then the question.

Everything before the question is the beginning of the same seat's next prompt, so that an endpoint that caches prefixes
reads each line of a game once. Each family of games has its own sets, and any folder with the same file names can
replace them. A run stores the templates that it began with, and keeps using them.

Templates are rendered in jinja2's immutable sandbox: none can reach Python, change what it is given, or read a file
outside its folder. What players say is only ever a value in them. Their time and memory are not bounded: whoever names
a folder of prompts trusts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined, Template, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from liescope.common.errors import BadData, PlayerFailed, UsageError
from liescope.games.core import ASSESSMENTS, CHOICES, FORMS, Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.game_registry import PROMPTS, find_game
from liescope.games.memory import Memory, summary
from liescope.games.narration import QUESTIONS, RULES, STRATEGY, TYPES, PromptFamily, quoted
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import Source, record
from liescope.games.session import Session, drive
from liescope.games.vocabulary import FoundClaim
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS

STATEMENT = 'I say "100%": {{ name }} — ein Lügner? 嘘つき! ' * 3
_LESSON = "Stay vague."


def sample_asks(game: str, seeds: Sequence[int] = (1, 2)) -> Iterator[tuple[Ask, Sequence[Event]]]:
    """Every ask of some games played at random, and of a rater afterwards, each with its seat's view."""
    played = find_game(game)
    for seed in seeds:
        rng, found = Random(seed), list[tuple[Ask, Sequence[Event]]]()

        def answer(
            ask: Ask,
            view: Sequence[Event],
            rng: Random = rng,
            found: list[tuple[Ask, Sequence[Event]]] = found,
        ) -> Reply:
            found.append((ask, tuple(view)))
            return _reply(ask, rng)

        options: dict[str, Any] = {"learning": True} if played.learner else {}
        limit = None if seed % 2 else played.spec.message_limit
        spec = played.spec.replaced(assess=True, message_limit=limit, **options)
        made = played.make(spec, seed, f"sample-{seed}")
        made.summaries = dict.fromkeys(made.names[:1], Memory(2, summed=True))
        session = Session(made)
        drive(session, answer)
        seats = dict.fromkeys(made.names, ("sample", Source.SCRIPTED))
        log = record(session.game, session.outcome, seats)
        drive(Session(RatedGame(log, RatingSpec(0.1, roles=True, lessons=True), "judge")), answer)
        yield from found


def _reply(ask: Ask, rng: Random) -> Reply:
    if ask.kind in ASSESSMENTS:
        return Reply(assessment=Assessment(True, "omission", 0.5, 0.5, "so"))
    if ask.kind is AskKind.REFLECTION:
        return Reply(form={"to_do": (_LESSON,)})
    if ask.kind in FORMS:
        return Reply(problem="not needed")
    return Reply(choice=rng.choice(ask.options) if ask.kind in CHOICES else None, text=STATEMENT)


HERE = Path(__file__).parent
LARGEST_FILE = 65_536  # bytes of a template
MOST_FILES = 200
OWN = "own"  # the name of any set given as a folder
STANDARD = "standard:"  # prefix for templates that a set lacks and takes from the game's first set
_FAILURES: tuple[type[Exception], ...] = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)  # whatever a template can raise when it is compiled or rendered

FIXED: dict[str, Any] = {
    "types": TYPES,
    "categories": tuple(CATEGORIES.items()),
    "orders": tuple(ORDERS.items()),
}  # variables common to all questions
SHARED = {
    AskKind.FIND_CLAIMS: frozenset({"names", "speaker", "statement", "options"}),
    AskKind.BELIEFS: frozenset({"name", "day", "phase", "claims"}),
    AskKind.SECOND_ORDER: frozenset({"name", "day", "phase", "options"}),
    AskKind.SUMMARY: frozenset({"name", "day", "phase", "limit"}),
}
"""Questions with one template for all games, which a set may replace."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """stem: the beginning of the seat's next stem; question: what is private, or part of this ask only."""

    stem: str
    question: str

    @property
    def text(self) -> str:
        return f"{self.stem}\n{self.question}"


class Prompts:
    """A family's templates, compiled and checked."""

    def __init__(self, family: PromptFamily, templates: Mapping[str, Template]) -> None:
        self._family = family
        self._templates = templates
        self._rules = lru_cache(maxsize=4096)(self._render_rules)

    def render(self, ask: Ask, view: Sequence[Event], memory: Memory | None = None) -> Prompt:
        """The prompt for an ask, built from what its seat has seen. memory: what of it is told, None for everything.

        Raises BadData for a view without a SETUP event, or a kind of ask that this family of games lacks; PlayerFailed
        if a template fails on this ask.
        """
        setup = next((event for event in view if event.kind is EventKind.SETUP), None)
        if setup is None:
            raise BadData(f"game {ask.game} shows {ask.seat} no setup; a prompt needs the names and the composition")
        # from the statement alone: the seat's view would also show what its speaker knows
        if ask.kind is AskKind.FIND_CLAIMS:
            names = ", ".join(setup.data["names"])
            return Prompt("", self._render(ask.kind, {**_facts(ask, view), "names": names}))
        if ask.kind not in self._templates:
            raise BadData(f"the prompts of {self._family.name} have no question for {ask.kind.value}")
        facts = self._family.facts(setup, ask.seat)
        known = view if memory is None else memory.of(view, ask.about)
        narration = self._family.narrate(known, ask.seat)
        question = self._render(ask.kind, _facts(ask, view))
        if memory is not None and len(known) < len(view):
            question = f"{_remembering(memory, view)}\n{question}"
        stem = "\n".join([self._rules(tuple(facts.items())), *narration.growing]) + "\n"
        return Prompt(stem, "\n".join([*narration.private, *self._strategy(ask, view, facts), question]))

    def _render_rules(self, facts: tuple[tuple[str, Any], ...]) -> str:
        return self._render(RULES, dict(facts))

    def _strategy(self, ask: Ask, view: Sequence[Event], facts: Mapping[str, Any]) -> Sequence[str]:
        """A role's advice during the game, in its seat's private part."""
        role = next((event.data["role"] for event in view if event.kind is EventKind.ROLE), None)
        if STRATEGY not in self._templates or role is None or ask.kind in FORMS:
            return ()
        return self._render(STRATEGY, {**facts, "name": ask.seat, "role": role}), ""

    def _render(self, name: str, facts: Mapping[str, Any]) -> str:
        try:
            return self._templates[name].render(facts).strip()
        except _FAILURES as error:
            raise PlayerFailed(f"the prompt template {name}.jinja fails in this game: {error}") from error


def _remembering(memory: Memory, view: Sequence[Event]) -> str:
    if memory.summed and (written := summary(view)):
        return f'(You remember only the last events of the game, and your summary: "{quoted(written.text)}")'
    return f"(You remember only the last {memory.last} events of the game.)"


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
        "question": QUESTIONS.get(ask.kind, ""),
        **FIXED,
    }
    if ask.kind is AskKind.BELIEFS:
        facts["claims"] = tuple(FoundClaim.of(claim).sentence(ask.seat) for claim in ask.options)
    if ask.about is not None:
        about = next(event for event in reversed(view) if event.index == ask.about)
        facts |= {"speaker": about.actor, "statement": quoted(about.text)}
    return facts


@dataclass(frozen=True)
class Templates:
    """A set of templates in full. name: of the set, OWN for a folder; sources: by file name, with the prefix STANDARD
    for those that the set lacks; where: their folder, for errors.
    """

    name: str
    sources: Mapping[str, str]
    where: Path

    @cached_property
    def hash(self) -> str:
        """A hash over the names and contents of the set's own templates, 16 hexadecimal digits."""
        digest = sha256()
        for name in sorted(name for name in self.sources if not name.startswith(STANDARD)):
            digest.update(f"{name}\0".encode())
            digest.update(sha256(self.sources[name].encode("utf-8", "surrogatepass")).digest())
        return digest.hexdigest()[:16]


def template_folder(where: str | Path, game: str) -> Path:
    """The folder of a set, given as "full" (or another set of the game) or as a folder. Raises UsageError if it does
    not exist.
    """
    family = PROMPTS[game]
    folder = family.folder / where if where in family.sets else Path(where)
    if not folder.is_dir():
        sets = " or ".join(family.sets)
        raise UsageError(f"{game} has no prompts {str(where)!r}; use {sets}, or a folder with files like rules.jinja")
    return folder


def read_templates(where: str | Path, game: str) -> Templates:
    """A set (see `template_folder`) as it is now, with the game's own questions to a rater where the set has none.

    Raises UsageError for a missing folder or unreadable templates.
    """
    family, folder = PROMPTS[game], template_folder(where, game)
    own = {name: read_template(folder, name) or "" for name in _template_files(folder)}
    shared = {
        *(HERE / f"{name}.jinja" for name in SHARED),
        *(family.folder / family.sets[0] / f"{name}.jinja" for name in family.rating),
    }
    standard = {
        f"{STANDARD}{file.name}": read_template(file.parent, file.name) or "" for file in shared if file.name not in own
    }
    return Templates(str(where) if where in family.sets else OWN, {**own, **standard}, folder)


def read_template(folder: Path, name: str) -> str | None:
    """The text of a template file in a folder, None if there is none.

    Raises UsageError for a file that is too large, is not text, or is a link to somewhere else.
    """
    path = folder / name
    if not path.exists():
        return None
    real = path.resolve()
    if not real.is_relative_to(folder.resolve()):
        raise UsageError(f"the prompt template {path} is a link out of its folder; copy the file there")
    if not real.is_file():
        raise UsageError(f"the prompt template {path} is not a file")
    if real.stat().st_size > LARGEST_FILE:
        raise UsageError(f"the prompt template {path} is larger than {LARGEST_FILE:,} bytes")
    try:
        return real.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt template {path} cannot be read: {error}") from None


def _template_files(folder: Path) -> list[str]:
    """The names of all templates in a folder and its subfolders, in order. Raises UsageError for too many."""
    names = []
    for file in folder.rglob("*.jinja"):
        names.append(file.relative_to(folder).as_posix())
        if len(names) > MOST_FILES:
            raise UsageError(f"{folder} holds more than {MOST_FILES} prompt templates; give a folder with one set")
    return sorted(names)


def load_prompts(where: str | Path | Templates, game: str) -> Prompts:
    """The set of that name for a game (see `template_folder`), or the templates in that folder; if a folder lacks a
    rater's questions, the game's are used. A custom folder is first tried on whole games.

    Raises UsageError for a missing folder or template file, a syntax error, an unknown variable in a template, and a
    template that fails on one of the game's questions.
    """
    found = where if isinstance(where, Templates) else read_templates(where, game)
    prompts = compiled(found, game)
    if found.name == OWN:
        try_out(prompts, game, found.where)
    return prompts


def compiled(found: Templates, game: str) -> Prompts:
    """The templates, checked. Raises UsageError like `load_prompts`."""
    family = PROMPTS[game]
    own = _environment(found.sources.get)
    standard = _environment(lambda name: found.sources.get(f"{STANDARD}{name}"))
    templates = {}
    for name in (*family.variables, *SHARED):
        file = f"{name}.jinja"
        if file in found.sources:
            templates[name] = _load(own, found.where / file, found.sources[file], family, name)
        elif f"{STANDARD}{file}" in found.sources:
            templates[name] = standard.get_template(file)
        elif name not in family.optional and name not in SHARED:
            lacking = family.rating | family.optional
            needed = ", ".join(f"{name}.jinja" for name in family.variables if name not in lacking)
            raise UsageError(f"the prompt template {found.where / name}.jinja is missing; a set needs {needed}")
    return Prompts(family, templates)


def try_out(prompts: Prompts, game: str, folder: Path) -> None:
    """Render every question of a whole sample game. Raises UsageError for the first that fails."""
    for ask, view in sample_asks(game):
        try:
            prompts.render(ask, view)
        except PlayerFailed as error:
            raise UsageError(f"{folder}: {error}") from None


def _environment(read: Callable[[str], str | None]) -> ImmutableSandboxedEnvironment:
    """The templates of one set. read: returns the source of one by file name, None if there is none."""
    return ImmutableSandboxedEnvironment(
        loader=FunctionLoader(read), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _load(
    environment: ImmutableSandboxedEnvironment, path: Path, source: str, family: PromptFamily, name: str
) -> Template:
    """One template, compiled, with a check of its variables."""
    known = family.variables.get(name) or SHARED[AskKind(name)]
    try:
        unknown = meta.find_undeclared_variables(environment.parse(source)) - known
        if unknown:
            names = ", ".join(sorted(unknown))
            raise UsageError(f"{path} uses {names}, which it is not given; it may use {', '.join(sorted(known))}")
        return environment.get_template(path.name)
    except _FAILURES as error:
        raise UsageError(f"the prompt template {path} does not work: {error}") from None
