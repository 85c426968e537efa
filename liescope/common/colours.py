"""The colours of figures: one for each model, the same on every page, and some with a fixed meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256

from liescope.common.model_names import PEOPLE

COLOURS = {
    "ink": "#333333",
    "grey": "#999999",
    "pale": "#d9d9d9",
    "blue": "#0072B2",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "orange": "#E69F00",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
}
"""Colours for what has a fixed meaning, such as roles: Okabe and Ito's, which colour-blind readers tell apart."""

INK = "#1d2530"
MUTED = "#6b7684"
FAINT = "#c9d0d8"

SERIES = tuple(COLOURS[name] for name in ("blue", "orange", "green", "purple", "vermillion", "sky", "grey"))
"""Colours for things that have none of their own, in this order."""
MODELS = (
    "#0078b4",
    "#d25a00",
    "#8769ff",
    "#78005a",
    "#0000d2",
    "#5a4b00",
    "#d20087",
    "#4ba578",
    "#4b1e96",
    "#5a1eff",
    "#a587c3",
    "#964b4b",
)
"""Colours for models: each has a contrast of at least 3 on white, and readers with protanopia or deuteranopia can tell
them apart.
"""
_GREEN = MODELS.index("#4ba578")  # the place of people, as in the Mini-Mafia paper's figures
_SALT = "4927231"  # chosen so that the models of the Mini-Mafia paper and the scripted players all differ


_on_page: ContextVar[tuple[str, ...]] = ContextVar("_on_page", default=())


@contextmanager
def page_of(models: Iterable[str]) -> Iterator[None]:
    """Within the block, these models have the same colours in every figure, whichever of them it shows."""
    token = _on_page.set(tuple(models))
    try:
        yield
    finally:
        _on_page.reset(token)


def model_colours(names: Iterable[str]) -> dict[str, str]:
    """The colour of each model, in the order of the names.

    A name's place in `MODELS` follows from its hash, so a model has the same colour on every page and in every
    order. Where two models of a page share a place, the one with the later hash takes the next free one; with more
    models than colours, colours repeat. `PEOPLE` are green; on pages that show people, models avoid green where they
    can.
    """
    named = list(dict.fromkeys(names))
    known = set(_on_page.get())
    places = {PEOPLE: _GREEN} if PEOPLE in {*known, *named} else {}
    for name in (*sorted(known - {PEOPLE}, key=_hash), *sorted({*named} - known - {PEOPLE}, key=_hash)):
        place = _hash(name) % len(MODELS)
        tried = [(place + step) % len(MODELS) for step in range(len(MODELS))]
        places[name] = next((at for at in tried if at not in places.values()), place)
    return {name: MODELS[places[name]] for name in named}


def text_on(colour: tuple[float, float, float]) -> str:
    """Black or white, whichever is easier to read on a colour (red, green, blue from 0 to 1; contrast as in WCAG 2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"


def _hash(name: str) -> int:
    return int.from_bytes(sha256(f"{_SALT}:{name}".encode(errors="replace")).digest()[:8], "big")
