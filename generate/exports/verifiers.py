"""Rewarded rollouts in the layout of verifiers: prompt, completion, reward, info."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from liescope.generate.exports.exporter_protocol import SourceGame, Tally
from liescope.generate.exports.rows import ClaimExporter, Row, Speeches, facts_of


class VerifiersExporter(ClaimExporter):
    """One rollout for each statement with a checked claim."""

    format: ClassVar[str] = "verifiers"
    writes: ClassVar[str] = "rollouts with rewards from checked claims, as verifiers saves them"
    about: ClassVar[str] = (
        "Rollouts as the classic environments of verifiers save them: one row for each statement with a checked claim. "
        "`prompt` is what the speaker was shown, `completion` its reply, `reward` 1 if the statement is of the "
        "preferred kind and 0 if not, `info` what is known of the statement. As the dataset of an environment the "
        "rows give the prompts; the reward is that of the recorded reply, and new replies need a rubric of their own."
    )

    def rows(self, speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[Row]:
        for number, (speech, wanted) in enumerate(self.checked(speeches, games, tally)):
            turn = speeches.turn(speech)
            yield (
                speech.game.split,
                {
                    "example_id": number,
                    "prompt": turn.prompt,
                    "completion": [{"role": "assistant", "content": turn.completion}],
                    "answer": "",
                    "task": speech.said.game,
                    "reward": float(wanted),
                    "info": facts_of(speech, turn),
                },
            )


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
