"""The help of a command, made of what its options declare: a page that fits a screen, and all of it on demand.

A page has at most LONGEST lines at 80 columns. `--help` leaves out the options of kinds (of detector, of game …) that
were not named, and then folds whole groups of options, the last first, into a list of their names; `--help-all` leaves
out and folds nothing.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, get_args, get_origin

from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from liescope.common.config_file import Parameter
from liescope.common.settings import Setting, given_type
from liescope.common.text import first_sentence

LONGEST = 60  # lines of a page of help
_USUAL, _WIDEST = 80, 100  # columns of a terminal, and of a page
_LEFT = range(12, 31)  # columns that the names of options may take
_NARROWEST = 20  # columns of what is said of them
_WORDS, ALL = "liescope.words", "liescope.all"
_OPTIONS = "Options"
_OF_ALL = ("config", "help_all", "help")  # options of every command
_METAVARS: Mapping[Any, str] = {int: "N", float: "X", Path: "PATH"}
_NAMED = {  # what stands for a text or a number of these options, where they declare nothing else
    "AMOUNT": ("max_cost",),
    "CODE": ("currency",),
    "COLUMN": ("text", "label", "group"),
    "CONDITION": ("condition",),
    "CORPUS": ("corpus", "base"),
    "GAME": ("game", "rules"),
    "HOST": ("host",),
    "ID": ("judge_game",),
    "LABEL": ("target",),
    "MODEL": ("model", "encoder", "hold_out_models"),
    "NAME": ("design", "roles", "learning", "engine", "preset", "calibrate", "sampler", "scheduler", "attention"),
    "NAMES": ("names", "spared", "fields", "tasks", "members"),
    "PATH": ("prompts", "prompt", "questions", "cache", "checkpoints"),
    "PLAYER": ("players", "background", "others", "judge", "claims_by"),
    "PRICE": ("price",),
    "ROLE": ("deceptive_role",),
    "SECONDS": ("timeout",),
    "SHARE": ("share", "assess_share", "judge_share", "held_out", "coverage", "target_accept"),
    "SPAN": ("give_up_after",),
    "SPLIT": ("split", "judge_split"),
    "THEIRS=OURS": ("map",),
    "TOOL": ("report_to",),
    "URL": ("public", "frames"),
    "USER/NAME": ("repo",),
    "VALUE": ("deceptive",),
    "VARIABLE@HOST": ("allow_key",),
    "VIEW": ("view", "views", "judge_view"),
}
_BY_NAME = {name: word for word, names in _NAMED.items() for name in names}


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of something that a command works with, each with options of its own. parameter: of the command's
    function, which names one; noun: in the plural, for the heading; lines: one for each, by its name.
    """

    parameter: str
    noun: str
    lines: Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Declared:
    """What `with_settings` knows of a command. settings: by name; run_file: see `config_file.read_config`."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    kinds: Kinds | None = None
    run_file: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    """A name with its placeholder, and what is said of it. kept: it stands on every page."""

    left: str
    words: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with rows below it. rare: it is folded before the others are."""

    title: str
    rows: Sequence[_Row]
    rare: bool = False

    def folded(self, left: int) -> _Section:
        """With so many rows left, as far as they are not kept; of the others, the names alone."""
        may_go = [row for row in self.rows if not row.kept]
        gone = may_go[max(len(may_go) - (len(self.rows) - left), 0) :]
        names = ", ".join(row.left.split()[0] for row in gone)
        rows = [row for row in self.rows if row not in gone]
        return replace(self, rows=[*rows, _Row("", f"With --help-all: {names}.")]) if gone else self


class Command(TyperCommand):
    """A command of Liescope: its help, and what it tells the reader of a config file."""

    @property
    def declared(self) -> Declared:
        """What `with_settings` noted on its function."""
        found = getattr(self.callback, "declared", None)
        return found if isinstance(found, Declared) else Declared()

    @property
    def parameters(self) -> list[Parameter]:
        """What a config file may hold for it."""
        settings, types = self.declared.settings, _types(self.callback)
        return [
            Parameter(each.name, _flag(each).lstrip("-").replace("-", "_"), types[each.name], settings.get(each.name))
            for each in self.params
            if each.name in types
        ]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words, so that the help can tell which kind is meant."""
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        everything = bool(ctx.meta.get(ALL))
        lines = self.declared.kinds.lines() if self.declared.kinds else {}
        words = {part for word in ctx.meta.get(_WORDS, ()) for part in word.replace("=", ",").split(",")}
        named = [] if everything else [kind for kind in lines if kind in {word.partition(":")[0] for word in words}]
        usage = f"Usage: {ctx.command_path} {' '.join(self._usage(named))}"
        paragraphs = [usage, *(self.help or "").split("\n\n"), *(f"{kind}: {lines[kind]}" for kind in named)]
        sections = [*([] if named else self._head(ctx, lines)), *self._options(ctx, lines, named, everything)]
        formatter.write(_shown(paragraphs, sections if everything else _fitting(paragraphs, sections)))

    def _usage(self, named: Sequence[str]) -> Iterator[str]:
        types, kinds = _types(self.callback), self.declared.kinds
        for each in self.params:
            if each.param_type_name == "argument":
                chooses = kinds is not None and kinds.parameter == each.name and len(named) == 1
                name = named[0] if chooses else _argument(each, types)
                yield name if each.required or chooses else f"[{name}]"
        yield from (_left(each, types) for each in self.params if _is_option(each) and each.required)
        yield "[OPTIONS]"

    def _head(self, ctx: Any, lines: Mapping[str, str]) -> Iterator[_Section]:
        """Arguments and kinds."""
        types, kinds = _types(self.callback), self.declared.kinds
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        yield _Section("Arguments", [_Row(_argument(each, types), _words(each), kept=True) for each in arguments])
        if kinds is not None:
            (chooser,) = (each for each in self.params if each.name == kinds.parameter)
            how = _left(chooser, types) if _is_option(chooser) else _argument(chooser, types)
            title = f"{kinds.noun} (options of one: {ctx.command_path} {how} --help)"
            yield _Section(title, [_Row(kind, line, kept=True) for kind, line in lines.items()])

    def _options(self, ctx: Any, lines: Mapping[str, str], named: Sequence[str], everything: bool) -> list[_Section]:
        """The options of all kinds in their groups, those of the named kinds by kind."""
        types, settings = _types(self.callback), self.declared.settings
        by_kind: dict[str, list[_Row]] = {kind: [] for kind in named}
        groups: dict[str, list[_Row]] = {_OPTIONS: []}
        options: list[Any] = [*filter(_is_option, self.params), self.get_help_option(ctx)]
        for each in options:
            setting = settings.get(each.name, Setting(""))
            if not setting.by_kind or everything or (not named and setting.by_kind.keys() >= lines.keys()):
                kept = each.required or each.name in _OF_ALL
                groups.setdefault(setting.group or _OPTIONS, []).append(_Row(_left(each, types), _words(each), kept))
            for kind in setting.by_kind.keys() & by_kind.keys():
                by_kind[kind].append(_Row(_left(each, types), setting.by_kind[kind]))
        own = _Section(_OPTIONS, groups.pop(_OPTIONS))
        return [
            *(_Section(f"Options of {kind}", rows) for kind, rows in by_kind.items()),
            own,
            *(_Section(title, rows, rare=True) for title, rows in groups.items()),
        ]


class Front(TyperGroup):
    """All commands, in groups: the heading of each stands in its `rich_help_panel`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        groups: dict[str, list[_Row]] = {}
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            groups.setdefault(heading, []).append(_Row(name, first_sentence(command.help or "")))
        options = [_Row(_left(each, {}), _words(each)) for each in self.get_params(ctx)]
        sections = [*(_Section(title, rows) for title, rows in groups.items()), _Section(_OPTIONS, options)]
        formatter.write(_shown([f"Usage: {ctx.command_path} COMMAND [ARGS]...", self.help or ""], sections))


def _types(callback: Callable[..., Any] | None) -> dict[str, Any]:
    """The type of each parameter of a command's function, as it is typed in."""
    if callback is None:
        return {}
    parameters = inspect.signature(callback, eval_str=True).parameters.values()
    hints = {each.name: each.annotation for each in parameters}
    return {
        name: given_type(get_args(hint)[0] if hasattr(hint, "__metadata__") else hint) for name, hint in hints.items()
    }


def _is_option(param: Any) -> bool:
    return bool(param.param_type_name == "option" and not param.hidden)


def _flag(param: Any) -> str:
    return str(max(param.opts, key=len))


def _left(param: Any, types: Mapping[str, Any]) -> str:
    """An option with its placeholder."""
    flag = _flag(param)
    if param.secondary_opts == [f"--no-{flag[2:]}"]:
        return f"--[no-]{flag[2:]}"
    return f"{flag} {_metavar(param, types)}".rstrip()


def _argument(param: Any, types: Mapping[str, Any]) -> str:
    name = _metavar(param, types)
    return f"{name}..." if param.nargs == -1 and not name.endswith(("...", "…")) else name


def _metavar(param: Any, types: Mapping[str, Any]) -> str:
    if param.metavar:
        return str(param.metavar)
    kind = types.get(param.name, bool)
    if param.param_type_name == "argument":
        return str(param.name).upper()
    if kind is bool:
        return ""
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    named = _BY_NAME.get(param.name, "") if kind in (str, float) else ""
    return named or _METAVARS.get(kind, "TEXT")


def _words(param: Any) -> str:
    """What is said of an option, with its limit and default."""
    words = [Text.from_markup(param.help or "").plain]
    least = getattr(param, "min", None)
    if least is not None:
        words.append(f"[{least:,} or more]")
    usual = param.default
    if param.show_default and not isinstance(usual, bool) and usual not in (None, "", (), []):
        words.append(f"[default: {f'{usual:g}' if isinstance(usual, float) else usual}]")
    if param.required and param.param_type_name == "option":
        words.append("[required]")
    return " ".join(filter(None, words))


def _fitting(paragraphs: Sequence[str], sections: Sequence[_Section]) -> list[_Section]:
    """The sections with the last rows folded until the page is short enough: those of rare sections first, whole."""
    fitting = list(sections)
    for rare in (True, False):
        for at in reversed([at for at, section in enumerate(sections) if section.rare == rare]):
            for left in (0,) if rare else reversed(range(len(sections[at].rows))):
                if len(_lines(paragraphs, fitting, _USUAL)) <= LONGEST:
                    return fitting
                fitting[at] = sections[at].folded(left)
    return fitting


def _shown(paragraphs: Sequence[str], sections: Sequence[_Section]) -> str:
    """The page for this terminal."""
    console = Console(highlight=False)
    with console.capture() as captured:
        for line in _lines(paragraphs, sections, min(console.width, _WIDEST)):
            console.print(line, soft_wrap=True)
    return captured.get()


def _lines(paragraphs: Sequence[str], sections: Sequence[_Section], width: int) -> list[Text]:
    """The lines of a page. The column of names is as wide as makes the page shortest."""
    pages = ([*_page(paragraphs, [each for each in sections if each.rows], width, left)] for left in _LEFT)
    return min(pages, key=len)


def _page(paragraphs: Sequence[str], sections: Sequence[_Section], width: int, left: int) -> Iterator[Text]:
    for paragraph in filter(None, paragraphs):
        yield from map(Text, _wrapped(" ".join(paragraph.split()), width))
        yield Text("")
    for number, section in enumerate(sections):
        if number:
            yield Text("")
        yield from (Text(line, style="bold") for line in _wrapped(section.title, width))
        for row in section.rows:
            yield from _printed(row, width, left)


def _printed(row: _Row, width: int, left: int) -> Iterator[Text]:
    name, indent = row.left, left + 4 if row.left else 2
    lines = _wrapped(row.words, width - indent)
    if name:
        first = lines.pop(0) if lines and len(name) <= left else ""
        yield Text("  ").append(f"{name:{left}}" if first else name, style="cyan").append(f"  {first}" if first else "")
    yield from (Text(" " * indent + line) for line in lines)


def _wrapped(words: str, width: int) -> list[str]:
    """Lines of these words; a short note in brackets is not broken."""
    tied = re.sub(r"\[[^\]]{1,24}\]", lambda note: note.group().replace(" ", "\0"), words)
    return [
        line.replace("\0", " ")
        for line in wrap(tied, max(width, _NARROWEST), break_long_words=False, break_on_hyphens=False)
    ]
