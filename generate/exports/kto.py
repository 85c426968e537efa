"""Unpaired preference data: TRL's prompt, completion and label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from liescope.generate.exports.protocol import Tally
from liescope.generate.exports.rows import ClaimExporter, Row, facts_of
from liescope.generate.exports.source import SourceGame
from liescope.generate.exports.speech import Speeches


class KtoExporter(ClaimExporter):
    """One row for each statement with a checked claim, wanted or not."""

    format: ClassVar[str] = "kto"
    writes: ClassVar[str] = "TRL's unpaired preferences from checked claims (prompt, completion, label)"
    about: ClassVar[str] = (
        "TRL's conversational unpaired preference format, for `KTOTrainer`: one row for each statement with a checked "
        "claim. `prompt` is what the speaker was shown, `completion` its reply, `label` true if the statement is of "
        "the preferred kind."
    )

    def rows(self, speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[Row]:
        for speech, wanted in self.checked(speeches, games, tally):
            turn = speeches.turn(speech)
            reply = [{"role": "assistant", "content": turn.completion}]
            row = {"prompt": turn.prompt, "completion": reply, "label": wanted}
            yield speech.game.split, row | facts_of(speech, turn)
