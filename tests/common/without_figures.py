"""Reports of games without their figures, for tests that look at none: drawing them is most of a report's time."""

from __future__ import annotations

from typing import Any

import pytest

from liescope.benchmark.analyses import report


def leave_out_figures(patch: pytest.MonkeyPatch) -> None:
    """Until the patch is undone, every report of games is made as `run_analyses(..., draw=False)` makes it."""
    complete = report.run_analyses

    def undrawn(*args: Any, draw: bool = False, **options: Any) -> report.Findings:
        return complete(*args, **options, draw=False)

    patch.setattr(report, "run_analyses", undrawn)
