"""A whole game into a fine-tuned encoder, which reads the view of each candidate; its scores are normalised at the
table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.reading import Reading
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning.detector import FineTunedDetector
from liescope.detectors.fine_tuning.game_loss import FALSE, TRUE, UNTOLD, Table, collate, table_loss
from liescope.detectors.fine_tuning.game_text import add_marks, fit_views, game_text
from liescope.detectors.fine_tuning.held_out import held_out_rows
from liescope.detectors.fine_tuning.loop import Body, Items, fine_tune
from liescope.detectors.fine_tuning.options import FineTuningOptions
from liescope.detectors.kinds.table_head import prevalent
from liescope.detectors.kinds.view_options import ViewOptions
from liescope.detectors.kinds.whole_game import Lesson, WholeGameDetector, lesson
from liescope.detectors.options import DetectorOptions
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.candidate import Candidate
from liescope.detectors.view.claim_graph import ClaimGraph, claim_graph
from liescope.detectors.view.posterior import Floats
from liescope.detectors.view.transcript import Transcript

_OFFSET = "offset.json"


class GameEncoderOptions(ViewOptions, FineTuningOptions):
    """What is read of a game, and how the encoder learns."""

    batch_size: int = Field(default=8, ge=1, description="tables at a time")
    max_length: int = Field(default=512, ge=8, description="tokens read of a candidate's view")


class GameEncoderDetector(FineTunedDetector, WholeGameDetector):
    """A fine-tuned encoder that reads whole games."""

    kind = "game-encoder"
    options_type = GameEncoderOptions
    library = "liescope"

    options: GameEncoderOptions
    _offset: float = 0.0

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
        learn, check = held_out_rows(examples, y, groups, o.held_out, o.seed, whole_games=True)
        whole, *parts = (
            lesson([examples[i] for i in rows], y[rows], o.moments) for rows in (np.arange(len(y)), learn, check)
        )
        self._fine_tune(whole, parts if len(check) else (), [examples[i] for i in check], progress)
        return self

    def learn(self, lesson: Lesson, progress: Progress) -> None:
        self._fine_tune(lesson, (), (), progress)

    def scores(self, candidates: Sequence[Candidate], progress: Progress) -> Floats:
        return np.asarray(self._logits(self._views(candidates)[0], progress)[:, 0]) + self._offset

    def _begin(self) -> Body:
        model, new = super()._begin()
        add_marks(self._tokenizer, model)
        return model, new

    def _fine_tune(self, whole: Lesson, parts: Sequence[Lesson], aside: Sequence[Example], progress: Progress) -> None:
        """Learn from a lesson. parts: two of it, to learn from and to choose the number of steps on, if it is chosen;
        aside: the examples of the second.
        """
        self._begin()
        every, cut = self._tables(whole)
        learn, check = (self._tables(part)[0] for part in parts) if parts else ([], [])
        self.notes = ()
        if cut:
            self.notes = (
                f"{cut:,} of {len(whole.candidates):,} views hold more words of the candidate than the encoder reads; "
                "their middle was left out",
            )
        items = Items(every, learn, check, partial(collate, tokenizer=self._tokenizer))
        self._finish(fine_tune(self._begin, items, table_loss, self.options, self.options.batch_size, progress), aside)
        self._offset = 0.0
        if (whole.tables.deceivers >= 0).all():  # nothing that was learned says where a score alone stands
            self._offset = prevalent(self.scores(whole.candidates, progress), whole.tables)

    def save(self, folder: Path) -> None:
        super().save(folder)
        (folder / _OFFSET).write_text(json.dumps(self._offset), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = super().load(folder, text, options)
        with Reading(folder / _OFFSET, "train the detector again"):
            detector._offset = float(json.loads((folder / _OFFSET).read_text(encoding="utf-8")))
            if not math.isfinite(detector._offset):
                raise ValueError("it is not a number")
        return detector

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
