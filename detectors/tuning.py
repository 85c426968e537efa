"""A sentence encoder tuned on labelled statements: those of one label are drawn together, those of two are put apart.

The first half of SetFit (Tunstall et al. 2022, "Efficient few-shot learning without prompts"), with the contrastive
loss of Hadsell, Chopra and LeCun (2006). The two statements of a pair are from two games, so that what a game is about
tells nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.common.encoder_folder import encoder_folder
from liescope.common.errors import UsageError
from liescope.common.sentence_encoder import load_encoder
from liescope.detectors.fine_tuning.curves import following
from liescope.detectors.protocol import Progress
from liescope.detectors.sentence_body import BodyOptions, SentenceEncoder

_RATE, _BATCH = 2e-5, 16  # SetFit's


def draw_pairs(
    y: NDArray[np.bool_], groups: NDArray[np.str_], pairs: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(pairs,) rows of the first and of the second statement of each pair: in turn two honest ones, two deceptive ones,
    and one of each, twice. Raises UsageError if the statements of one label are all of one game.
    """
    rows = [np.flatnonzero(y == label) for label in (False, True)]
    if min(len(np.unique(groups[own])) for own in rows) < 2:
        raise UsageError("pairs need statements of either label in two games or more; leave --tune-pairs out")
    rng, turn = np.random.default_rng(seed), np.arange(pairs) % 4
    labels = (np.isin(turn, (1, 2)), np.isin(turn, (1, 3)))
    first, second = (np.empty(pairs, dtype=np.int64) for _ in labels)
    wrong = np.ones(pairs, dtype=bool)
    while wrong.any():
        for drawn, label in zip((first, second), labels, strict=True):
            either = [rng.choice(own, pairs) for own in rows]
            drawn[wrong] = np.where(label, either[1], either[0])[wrong]
        wrong = groups[first] == groups[second]
    return first, second


def tuned(
    texts: Sequence[str],
    y: NDArray[np.bool_],
    groups: NDArray[np.str_],
    options: BodyOptions,
    progress: Progress,
    rate: float = _RATE,
) -> SentenceEncoder:
    """The encoder of the options, tuned on their number of pairs. Repeatable on one CPU by their seed. texts: within
    the encoder's limit; rate: of learning. Raises UsageError, and what opening an encoder raises.
    """
    model = load_encoder(encoder_folder(options.encoder))

    import torch
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import ContrastiveLoss
    from transformers import PrinterCallback

    class _Trainer(SentenceTransformerTrainer):  # type: ignore[misc]
        def add_model_card_callback(self, _default_args: dict[str, Any]) -> None:
            """No card is made of it, and none would show statements of a corpus."""

    first, second = draw_pairs(y, groups, options.tune_pairs, options.seed)
    data = Dataset.from_dict(
        {
            "first": [texts[i] for i in first],
            "second": [texts[i] for i in second],
            "label": (y[first] == y[second]).astype(float).tolist(),
        }
    )
    with tempfile.TemporaryDirectory(prefix="liescope-") as scratch:
        trainer = _Trainer(
            model=model,
            args=SentenceTransformerTrainingArguments(
                output_dir=scratch,
                num_train_epochs=1,
                learning_rate=rate,
                per_device_train_batch_size=_BATCH,
                seed=options.seed,
                dataloader_pin_memory=torch.cuda.is_available(),
                save_strategy="no",
                logging_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=data,
            loss=ContrastiveLoss(model),
            callbacks=[following(progress)],
        )
        trainer.remove_callback(PrinterCallback)  # it prints, but standard output belongs to the command
        trainer.train()
    return SentenceEncoder(model.eval())
