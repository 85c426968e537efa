"""The loss of a table: minus the log-likelihood of who deceives at it, as `view/posterior.py` has it, for torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liescope.detectors.view.posterior import Tables

TRUE, FALSE, UNTOLD = 1, 0, -1
_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Table:
    """The candidates of one question. rows: what the encoder reads of each; answers: of each, TRUE for who deceives,
    FALSE or UNTOLD; deceivers: how many do, -1 where that is not known.
    """

    rows: Sequence[dict[str, list[int]]]
    answers: Sequence[int]
    deceivers: int


def collate(tables: Sequence[Table], tokenizer: Any) -> dict[str, Any]:
    """A batch of tables, all candidates in one. labels: (candidates, 3) the number of the table in the batch, how many
    deceive at it, and the answer.
    """
    import torch

    batch = dict(tokenizer.pad([row for table in tables for row in table.rows], return_tensors="pt"))
    seated = [(n, table.deceivers, answer) for n, table in enumerate(tables) for answer in table.answers]
    return {**batch, "labels": torch.tensor(seated)}


def table_loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
    """Minus the log-likelihood of the answers, by candidate."""
    import torch

    number, deceivers, answers = labels.cpu().numpy().T
    _, first, sizes = np.unique(number, return_index=True, return_counts=True)
    tables = Tables.of(sizes.tolist(), [None if k < 0 else int(k) for k in deceivers[first]])
    logits = outputs.logits[:, 0].float()
    value, gradient = tables.loss(logits.detach().double().cpu().numpy(), answers == TRUE, answers == FALSE)
    slope = torch.from_numpy(gradient).to(logits)
    total = value + (logits * slope).sum() - (logits.detach() * slope).sum()  # this value, with this gradient
    return total * _COLUMNS / (labels.numel() if num_items_in_batch is None else num_items_in_batch)
