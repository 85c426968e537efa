"""The training loop: the Trainer of transformers, in one process or as one of several that `torchrun` started."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from liescope.detectors.fine_tuning.bodies import device, recompute_activations, with_lora
from liescope.detectors.fine_tuning.epochs import Epochs, Losses
from liescope.detectors.fine_tuning.options import FineTuningOptions
from liescope.detectors.protocol import Progress

_POINTS = 0.02  # a point of the training curve for each fiftieth of the steps


def fine_tune(
    model: Any,
    new: frozenset[str],
    learn: Sequence[Any],
    check: Sequence[Any],
    collate: Callable[[list[Any]], dict[str, Any]],
    loss: Callable[..., Any],
    o: FineTuningOptions,
    batch_size: int,
    progress: Progress,
    **arguments: Any,
) -> tuple[Any, Losses]:
    """(the model with what it has learned, on its device and ready to score; its curves).

    new: its modules without weights of their own yet; learn, check: items to learn from, and to choose the best epoch
    on, if any; collate: makes a batch of items, with `labels`; loss: of (outputs, labels, num_items_in_batch), where
    that is the number of labels that are not -100; batch_size: items at a time; arguments: more for the Trainer.

    Raises UsageError for a training that diverges or an encoder that cannot do as the options say, MissingExtra for
    LoRA without its package.
    """
    from transformers import PrinterCallback, Trainer, set_seed

    set_seed(o.seed)
    if o.checkpointing:
        recompute_activations(model)
    tuned = with_lora(model, o.lora, new) if o.lora else model
    epochs = Epochs(o.patience, progress)
    with tempfile.TemporaryDirectory(prefix="liescope-") as scratch, _repeatable(o.deterministic):
        trainer = Trainer(
            model=tuned,
            args=_arguments(scratch, o, batch_size, choose=len(check) > 0, **arguments),
            train_dataset=learn,
            eval_dataset=check or None,
            data_collator=collate,
            compute_loss_func=loss,
            callbacks=[epochs.callback()],
        )
        trainer.remove_callback(PrinterCallback)  # it prints, but standard output belongs to the command
        trainer.train()
    epochs.restore_best(tuned)
    whole = tuned.merge_and_unload() if o.lora else tuned
    return whole.to(device()).eval(), epochs.losses


@contextmanager
def _repeatable(wanted: bool) -> Iterator[None]:
    """If wanted, only algorithms whose results do not depend on the order of threads."""
    import torch

    if not wanted:
        yield
        return
    before = torch.are_deterministic_algorithms_enabled()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS reads it
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def _arguments(scratch: str, o: FineTuningOptions, batch_size: int, choose: bool, **more: Any) -> Any:
    import torch
    from transformers import TrainingArguments

    gpu = torch.cuda.is_available()
    return TrainingArguments(
        output_dir=scratch,
        num_train_epochs=o.epochs,
        max_steps=o.max_steps or -1,
        learning_rate=o.lr,
        warmup_steps=0.1,
        weight_decay=0.01,
        per_device_train_batch_size=batch_size,
        per_device_eval_batch_size=batch_size * 2,
        gradient_accumulation_steps=o.accumulate,
        bf16=gpu and torch.cuda.is_bf16_supported(),
        use_cpu=not gpu,
        dataloader_pin_memory=gpu,
        remove_unused_columns=False,
        seed=o.seed,
        eval_strategy="epoch" if choose else "no",
        save_strategy="no",
        logging_strategy="steps",
        logging_steps=_POINTS,
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        **more,
    )
