"""What `transfer` prints: lines of at most 80 columns, safe for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from liescope.common.text import plain
from liescope.detectors.evaluation.score_rows import scripted_warning
from liescope.detectors.transfer.findings import empty_cells, sentences
from liescope.detectors.transfer.run import TransferResult

_WIDTH, _SHOWN = 79, 5


def transfer_lines(result: TransferResult) -> Iterator[str]:
    """What was found for each kind of unit and detector, why cells are empty, and where the report is."""
    if warning := scripted_warning(result.sources):
        yield _wrapped(warning)
    for by in result.settings["by"]:
        for detector in result.settings["detectors"]:
            yield f"\nby {by}, {detector}"
            for sentence in sentences(by, detector, result.headline, result.cells):
                yield _wrapped(sentence, "- ")
    notes = [*result.notes, *(f"empty: {reason}" for reason in empty_cells(result.cells))]
    yield ""
    yield from (_wrapped(f"note: {note}") for note in notes[:_SHOWN])
    if len(notes) > _SHOWN:
        yield f"more notes in the report: {len(notes) - _SHOWN}"
    yield from (str(path) for path in result.files)


def _wrapped(text: str, mark: str = "") -> str:
    """Text in lines that fit; long words such as names of models are not split."""
    return textwrap.fill(
        plain(text),
        _WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
