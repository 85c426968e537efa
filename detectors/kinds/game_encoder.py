"""A whole game into a fine-tuned encoder, which reads the view of each candidate; its scores are normalised at the
table.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.reading import Reading
from liescope.detectors.detector import TRAIN_AGAIN, DetectorOptions, Progress, silent
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning.fine_tuned import FineTunedDetector, held_out_rows
from liescope.detectors.fine_tuning.loop import Body, FineTuningOptions, Items, fine_tune
from liescope.detectors.kinds.whole_game import AnsweredQuestions, ViewOptions, WholeGameDetector, lesson, prevalent
from liescope.detectors.textualize import TextConfig, fit_plain, hide_roles
from liescope.detectors.view.candidate import ABOUT, BEFORE, CLAIMS, OWN, REST, Candidate, view
from liescope.detectors.view.claim_graph import ClaimGraph, claim_graph
from liescope.detectors.view.joint_posterior import Floats, SeatedCandidates
from liescope.detectors.view.transcript import Transcript

ORDER = (OWN, CLAIMS, BEFORE, ABOUT, REST)
"""What an encoder reads first; what does not fit is taken from the end."""

MARKS = {name: f"[{name.upper()}]" for name in ORDER}
_MARK = re.compile("|".join(map(re.escape, MARKS.values())), re.IGNORECASE)
_SIGNS = re.compile(r"[:=]")


@dataclass(frozen=True, slots=True)
class CandidateText:
    """What the candidate said, and the other fields in their order, each piece after the mark of its field."""

    own: str
    others: str

    @property
    def whole(self) -> str:
        return f"{self.own} {self.others}".strip()


def game_text(
    candidate: Candidate, graph: ClaimGraph, fields: Sequence[str], window: int, votes: bool, mask_role_words: bool
) -> CandidateText:
    """The view of a candidate. Words of others are latest first, so that the oldest are at the end. window, votes: see
    `view` and `ClaimGraph.relations`.
    """
    words: dict[str, list[str]] = defaultdict(list)
    for piece in view(candidate, window):
        text = _MARK.sub(lambda found: found.group()[1:-1], piece.text)  # nobody at the table can say a mark
        words[piece.field].append(hide_roles(text) if mask_role_words else text)
    relations = graph.relations(candidate.player, candidate.moment.upto, votes, candidate.focus)
    words[CLAIMS] = [", ".join(_SIGNS.sub(" ", relation) for relation in relations)]
    own = _marked(OWN, words[OWN]) if OWN in fields else ""
    others = [_marked(name, words[name][::-1]) for name in ORDER[1:] if name in fields and words[name]]
    return CandidateText(own, " ".join(others))


def fit_views(texts: Sequence[CandidateText], tokenizer: Any, limit: int) -> tuple[list[dict[str, list[int]]], int]:
    """(what the encoder reads of each, at most `limit` tokens; how many candidates lost words of their own). What is at
    the end goes first; of the candidate's words, the middle, if they are too long by themselves.
    """
    rows = _read([text.whole for text in texts], tokenizer, limit)
    full = [i for i, row in enumerate(rows) if len(row["input_ids"]) >= limit]
    own = fit_plain([texts[i].own for i in full], tokenizer, limit)
    shortened = [i for i, text in zip(full, own.texts, strict=True) if text != texts[i].own]
    kept = dict(zip(full, own.texts, strict=True))
    for i, row in zip(shortened, _read([kept[i] for i in shortened], tokenizer, limit), strict=True):
        rows[i] = row
    return rows, own.cut


def add_marks(tokenizer: Any, model: Any) -> None:
    """Teach a tokenizer the marks of the fields, and give the model embeddings for them."""
    tokenizer.add_tokens(list(MARKS.values()), special_tokens=True)
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(len(tokenizer))


def _marked(name: str, pieces: Sequence[str]) -> str:
    return " ".join(f"{MARKS[name]} {piece}" for piece in pieces)


def _read(texts: Sequence[str], tokenizer: Any, limit: int) -> list[dict[str, list[int]]]:
    if not texts:
        return []
    tokenizer.truncation_side = "right"
    found = tokenizer(list(texts), truncation=True, max_length=limit, return_attention_mask=False)["input_ids"]
    return [{"input_ids": ids} for ids in found]


TRUE, FALSE, UNTOLD = 1, 0, -1
_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """The candidates of one question. rows: what the encoder reads of each; answers: of each, TRUE for who deceives,
    FALSE or UNTOLD; deceivers: how many do, -1 where that is not known.
    """

    rows: Sequence[dict[str, list[int]]]
    answers: Sequence[int]
    deceivers: int


def collate(tables: Sequence[CandidateTable], tokenizer: Any) -> dict[str, Any]:
    """A batch of tables, all candidates in one. labels: (candidates, 3) the number of the table in the batch, how many
    deceive at it, and the answer.
    """
    import torch

    batch = dict(tokenizer.pad([row for table in tables for row in table.rows], return_tensors="pt"))
    seated = [(n, table.deceivers, answer) for n, table in enumerate(tables) for answer in table.answers]
    return {**batch, "labels": torch.tensor(seated)}


def measured(tables: Sequence[CandidateTable]) -> list[dict[str, Any]]:
    """Tables as the Trainer groups them, so that little of a batch is padding: with the longest of their rows."""
    return [{"input_ids": max((row["input_ids"] for row in one.rows), key=len), "table": one} for one in tables]


def collate_measured(items: Sequence[dict[str, Any]], tokenizer: Any) -> dict[str, Any]:
    """`collate` of what `measured` made."""
    return collate([item["table"] for item in items], tokenizer)


def table_loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
    """Minus the log-likelihood of the answers, by candidate."""
    import torch

    number, deceivers, answers = labels.cpu().numpy().T
    _, first, sizes = np.unique(number, return_index=True, return_counts=True)
    tables = SeatedCandidates.of(sizes.tolist(), [None if k < 0 else int(k) for k in deceivers[first]])
    logits = outputs.logits[:, 0].float()
    value, gradient = tables.loss(logits.detach().double().cpu().numpy(), answers == TRUE, answers == FALSE)
    slope = torch.from_numpy(gradient).to(logits)
    total = value + (logits * slope).sum() - (logits.detach() * slope).sum()  # this value, with this gradient
    return total * _COLUMNS / (labels.numel() if num_items_in_batch is None else num_items_in_batch)


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
    needs = (
        "It reads a whole game. AutoModelForSequenceClassification of transformers opens its encoder, but a logit of "
        "that is no probability: Liescope writes the text that it reads, the view of each candidate with fields after "
        "marks such as `[OWN]` and `[CLAIMS]`, and turns the logits of all at a table into probabilities together."
    )

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
        learn, check = held_out_rows(examples, y, groups, o.aside, o.seed, whole_games=True)
        whole, *parts = (
            lesson([examples[i] for i in rows], y[rows], o.moments) for rows in (np.arange(len(y)), learn, check)
        )
        self._fine_tune(whole, parts if len(check) else (), [examples[i] for i in check], progress)
        return self

    def learn(self, lesson: AnsweredQuestions, progress: Progress) -> None:
        self._fine_tune(lesson, (), (), progress)

    def scores(self, candidates: Sequence[Candidate], progress: Progress) -> Floats:
        return np.asarray(self._logits(self._views(candidates)[0], progress)[:, 0]) + self._offset

    def _begin(self) -> Body:
        model, new = super()._begin()
        add_marks(self._tokenizer, model)
        return model, new

    def _fine_tune(
        self, whole: AnsweredQuestions, parts: Sequence[AnsweredQuestions], aside: Sequence[Example], progress: Progress
    ) -> None:
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
        collated = partial(collate_measured, tokenizer=self._tokenizer)
        items = Items(measured(every), measured(learn), measured(check), collated)
        o, trackers = self.options, self._trackers()
        tuned = fine_tune(
            self._begin,
            items,
            table_loss,
            o,
            o.batch_size,
            progress,
            trackers,
            train_sampling_strategy="group_by_length",
        )
        self._finish(tuned, aside)
        self._offset = 0.0
        if (whole.tables.deceivers >= 0).all():  # nothing that was learned says where a score alone stands
            self._offset = prevalent(self.scores(whole.candidates, progress), whole.tables)

    def save(self, folder: Path) -> None:
        super().save(folder)
        (folder / _OFFSET).write_text(json.dumps(self._offset), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = super().load(folder, text, options)
        with Reading(folder / _OFFSET, TRAIN_AGAIN):
            detector._offset = float(json.loads((folder / _OFFSET).read_text(encoding="utf-8")))
            if not math.isfinite(detector._offset):
                raise ValueError("it is not a number")
        return detector

    def _tables(self, lesson: AnsweredQuestions) -> tuple[list[CandidateTable], int]:
        rows, cut = self._views(lesson.candidates)
        answers = np.where(lesson.true, TRUE, np.where(lesson.false, FALSE, UNTOLD))
        seated = [places[places >= 0] for places in lesson.tables.place]
        tables = [
            CandidateTable([rows[i] for i in places], answers[places].tolist(), int(deceivers))
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
