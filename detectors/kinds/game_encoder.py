"""A whole game into a fine-tuned encoder, which reads the view of each candidate; its scores are normalised at the
table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning.detector import FineTunedDetector
from liescope.detectors.fine_tuning.game_loss import FALSE, TRUE, UNTOLD, Table, collate, table_loss
from liescope.detectors.fine_tuning.game_text import ORDER, add_marks, fit_views, game_text
from liescope.detectors.fine_tuning.held_out import held_out_rows
from liescope.detectors.fine_tuning.loop import fine_tune
from liescope.detectors.fine_tuning.options import FineTuningOptions
from liescope.detectors.kinds.whole_game import Lesson, WholeGameDetector, lesson
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.view.candidate import Candidate
from liescope.detectors.view.claim_graph import ClaimGraph, claim_graph
from liescope.detectors.view.posterior import Floats
from liescope.detectors.view.transcript import Transcript


class GameEncoderOptions(FineTuningOptions):
    """What is read of a game, and how the encoder learns."""

    batch_size: int = Field(default=8, ge=1, description="tables at a time")
    max_length: int = Field(default=256, ge=8, description="tokens read of a candidate's view")
    fields: str = Field(
        default="own,before,about,rest,claims",
        description="what is read: the candidate's words, those before the statement in question, others' words about "
        "it, the rest, claims",
    )
    votes: bool = Field(default=True, description="read votes once they are public")
    moments: int = Field(default=2, ge=0, description="moments of each game to learn at, beside its end")
    window: int = Field(default=10, ge=0, description="earlier statements read for a target of single statements")

    @field_validator("fields")
    @classmethod
    def _known_fields(cls, value: str) -> str:
        named = value.split(",")
        if not value or len(set(named)) < len(named) or set(named) - {*ORDER}:
            raise ValueError(f"name fields once each, of {', '.join(ORDER)}")
        return value


class GameEncoderDetector(FineTunedDetector, WholeGameDetector):
    """A fine-tuned encoder that reads whole games."""

    kind = "game-encoder"
    options_type = GameEncoderOptions
    library = "liescope"

    options: GameEncoderOptions

    @property
    def moments(self) -> int:
        return self.options.moments

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        o = self.options
        parts = held_out_rows(examples, y, groups, o.held_out, o.seed, whole_games=True)
        learn, check = (lesson([examples[i] for i in rows], y[rows], o.moments) for rows in parts)
        self._fine_tune(learn, check, progress)
        return self

    def learn(self, lesson: Lesson, progress: Progress) -> None:
        self._fine_tune(lesson, None, progress)

    def scores(self, candidates: Sequence[Candidate], progress: Progress) -> Floats:
        return np.asarray(self._logits(self._views(candidates)[0], progress)[:, 0])

    def _fine_tune(self, learn: Lesson, check: Lesson | None, progress: Progress) -> None:
        """Learn from a lesson, and choose the epoch on another, if there is one."""
        new = self._begin()
        add_marks(self._tokenizer, self._model)
        tables, cut = self._tables(learn)
        others = self._tables(check)[0] if check else []
        if cut:
            self.notes = (
                f"{cut:,} of {len(learn.candidates):,} views hold more words of the candidate than the encoder reads; "
                "their middle was left out",
            )
        make_batch = partial(collate, tokenizer=self._tokenizer)
        o = self.options
        self._finish(fine_tune(self._model, new, tables, others, make_batch, table_loss, o, o.batch_size, progress))

    def _tables(self, lesson: Lesson) -> tuple[list[Table], int]:
        rows, cut = self._views(lesson.candidates)
        answers = np.where(lesson.true, TRUE, np.where(lesson.false, FALSE, UNTOLD))
        seated = [places[places >= 0] for places in lesson.tables.place]
        tables = [
            Table([rows[i] for i in places], answers[places].tolist(), int(deceivers))
            for places, deceivers in zip(seated, lesson.tables.deceivers, strict=True)
        ]
        return tables, cut

    def _views(self, candidates: Sequence[Candidate]) -> tuple[list[dict[str, list[int]]], int]:
        o, graphs = self.options, dict[Transcript, ClaimGraph]()
        texts = []
        for candidate in candidates:
            game = candidate.moment.transcript
            graph = graphs.get(game) or graphs.setdefault(game, claim_graph(game))
            texts.append(game_text(candidate, graph, o.fields.split(","), o.window, o.votes, self.text.mask_role_words))
        return fit_views(texts, self._tokenizer, self._limit(o.max_length))

    def _classes(self) -> list[str]:
        return ["deceptive"]
