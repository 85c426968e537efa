"""A sandbox for untrusted templates: what they may use, and how much of it.

On top of jinja2's immutable sandbox, which keeps a template from touching Python's insides: no macros, no inheritance,
no namespaces; no filters, methods or operators that turn a little input into a lot of output; at most ITERATIONS passes
through all loops and LONGEST characters in one rendering. Files are read only from the set's folder, and never through
a link that leads out of it. Breaking a rule raises jinja2's SecurityError.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined, Template, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from liescope.common.errors import UsageError

ITERATIONS = 10_000
LONGEST = 100_000  # characters of a rendering, and of any text or list built along the way
LARGEST_FILE = 65_536  # bytes
MOST_FILES = 200
SECONDS = 2.0

FAILURES = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)  # anything a template can raise when it is compiled or rendered

_REFUSED = (nodes.Macro, nodes.CallBlock, nodes.Extends, nodes.Block, nodes.Import, nodes.FromImport, nodes.Pow)
_FILTERS = frozenset(
    {"abs", "capitalize", "count", "d", "default", "e", "escape", "first", "float", "int", "items", "last", "length"}
    | {"list", "lower", "max", "min", "reverse", "round", "sort", "string", "title", "trim", "unique", "upper"}
    | {"wordcount"}
)
_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset({"capitalize", "count", "endswith", "find", "lower", "lstrip", "rstrip", "split", "startswith"})
    | {"strip", "title", "upper"},
    dict: frozenset(["get", "items", "keys", "values"]),
    list: frozenset({"count", "index"}),
    tuple: frozenset({"count", "index"}),
}


class GuardedTemplates(ImmutableSandboxedEnvironment):
    """The templates of one set. `render_guarded` renders one within the limits. read: returns the source of a template
    by file name, None if there is none.
    """

    intercepted_binops = frozenset({"+", "*", "%"})

    def __init__(self, read: Callable[[str], str | None]) -> None:
        super().__init__(
            loader=FunctionLoader(read),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            cache_size=400,
        )
        self.globals.clear()
        self.filters = {name: made for name, made in self.filters.items() if name in _FILTERS}
        self.filters |= {"join": _join, "replace": _replace, "_counted": self._counted, "_together": _together}
        self._left = 0
        self._deadline = 0.0

    def compile(self, source: Any, *args: Any, **options: Any) -> Any:
        """Check the syntax, then compile with every loop counted and every joined text measured."""
        if isinstance(source, str):
            source = self.parse(source, *args[:2])
        for refused in source.find_all(_REFUSED):
            raise SecurityError(f"{type(refused).__name__.lower()} is not allowed here (line {refused.lineno})")
        for loop in source.find_all(nodes.For):
            if loop.recursive:
                raise SecurityError(f"a recursive loop is not allowed here (line {loop.lineno})")
            loop.iter = _filtered(loop.iter, "_counted")
        _measure_joined(source)
        return super().compile(source, *args, **options)

    def get_template(self, name: str | Template, *args: Any, **options: Any) -> Template:
        """Any template of the set; each inclusion counts as a pass through a loop."""
        self._tick()
        return super().get_template(name, *args, **options)

    def load(self, name: str) -> Template:
        """A template of the set, compiled."""
        self._begin()
        return self.get_template(name)

    def render_guarded(self, template: Template, facts: Mapping[str, Any]) -> str:
        """The text of a template. Raises one of FAILURES."""
        self._begin()
        parts, length = [], 0
        for part in template.generate(dict(facts)):
            length += len(part)
            if length > LONGEST:
                raise SecurityError(f"the text grows beyond {LONGEST:,} characters")
            parts.append(part)
        return "".join(parts)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, LoopContext):
            return not attr.startswith("_")
        allowed = next((names for kind, names in _METHODS.items() if isinstance(obj, kind)), frozenset())
        return attr in allowed and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> None:
        """No wrapper for `str.format`: the method is not allowed here, as a width can make a text of any length."""

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            if _size(left) + _size(right) > LONGEST:
                raise SecurityError(f"a text or list grows beyond {LONGEST:,}")
        elif not all(isinstance(side, int | float) and abs(side) < 1e9 for side in (left, right)):
            raise SecurityError(f"{operator} takes numbers here, below a thousand million")
        return super().call_binop(context, operator, left, right)

    def _begin(self) -> None:
        self._left, self._deadline = ITERATIONS, time.monotonic() + SECONDS

    def _tick(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise SecurityError(f"more than {ITERATIONS:,} passes through loops")
        if time.monotonic() > self._deadline:
            raise SecurityError(f"it takes more than {SECONDS:g} seconds")

    def _counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self._tick()
            yield item


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


def template_files(folder: Path) -> list[str]:
    """The names of all templates in a folder and its subfolders, in order. Raises UsageError for too many."""
    names = []
    for file in folder.rglob("*.jinja"):
        names.append(file.relative_to(folder).as_posix())
        if len(names) > MOST_FILES:
            raise UsageError(f"{folder} holds more than {MOST_FILES} prompt templates; give a folder with one set")
    return sorted(names)


def _filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _measure_joined(node: nodes.Node) -> None:
    """Replace every `~` with the measuring filter."""
    for field, value in node.iter_fields():
        if isinstance(value, nodes.Node):
            _measure_joined(value)
            if isinstance(value, nodes.Concat):
                setattr(node, field, _filtered(nodes.List(value.nodes, lineno=value.lineno), "_together"))
        elif isinstance(value, list):
            for place, item in enumerate(value):
                if isinstance(item, nodes.Node):
                    _measure_joined(item)
                    if isinstance(item, nodes.Concat):
                        value[place] = _filtered(nodes.List(item.nodes, lineno=item.lineno), "_together")


def _together(parts: list[Any]) -> str:
    return _join(parts, "")


def _join(items: Iterable[Any], between: str = "") -> str:
    texts = [str(item) for item in items]
    if sum(map(len, texts)) + len(texts) * len(between) > LONGEST:
        raise SecurityError(f"a text grows beyond {LONGEST:,} characters")
    return between.join(texts)


def _replace(text: str, old: str, new: str) -> str:
    if len(text) + text.count(old) * len(new) > LONGEST:
        raise SecurityError(f"a text grows beyond {LONGEST:,} characters")
    return text.replace(old, new)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple) else 1
