"""Figures that nobody looks at are not drawn: drawing them is most of a report's time, and every page has dozens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from liescope.benchmark.analyses import findings
from liescope.common.report.contents import Report

_DRAW, _LAYOUT = Figure.draw, ConstrainedLayoutEngine.execute


@contextmanager
def empty_figures() -> Iterator[None]:
    """Within the block figures are made and saved, but nothing is drawn on them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "draw", lambda *_, **__: None)
        patch.setattr(ConstrainedLayoutEngine, "execute", lambda *_, **__: None)
        yield


@contextmanager
def drawn_figures() -> Iterator[None]:
    """Within the block figures are drawn, also in one of `empty_figures`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "draw", _DRAW)
        patch.setattr(ConstrainedLayoutEngine, "execute", _LAYOUT)
        yield


def leave_out_figures(patch: pytest.MonkeyPatch) -> None:
    """Until the patch is undone, every report of games is made as `run_analyses(..., draw=False)` makes it."""
    complete = findings.run_analyses

    def undrawn(*args: Any, draw: bool = False, **options: Any) -> Report:
        return complete(*args, **options, draw=False)

    patch.setattr(findings, "run_analyses", undrawn)
