"""The training loop: the Trainer of transformers, in one process or as one of several that `torchrun` started.

Where some games are kept aside to choose how long to learn, a first training chooses it, by how well it ranks the
statements within each of those games; a second one, which is kept, then learns from all for as many passes, with the
same learning rate at the same share of its way. A killed training can resume: each training of a command has its own
folder of checkpoints, named after its items and options.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, TypeAdapter

from liescope.common.errors import UsageError
from liescope.common.reading import read_json
from liescope.common.statistics import Bools
from liescope.common.stores import check_not_in_store
from liescope.detectors.detector import Groups, Progress
from liescope.detectors.fine_tuning import processes
from liescope.detectors.fine_tuning.batches import Batches, LabelledTokens, Tokens
from liescope.detectors.fine_tuning.body import with_lora
from liescope.detectors.folds import Rows
from liescope.detectors.precision import NetworkOptions, Precision, device


class FineTuningOptions(NetworkOptions):
    """checkpoints belong to this machine and are not saved."""

    batch_size: int = Field(default=32, ge=1, description="statements at a time on average: more of short ones")
    batch_tokens: int = Field(
        default=0, ge=0, description="tokens at a time at most, padding included, instead of --batch-size"
    )
    epochs: float = Field(default=3.0, gt=0, description="passes over the training statements")
    lr: float = Field(default=5e-5, gt=0, description="peak learning rate")
    max_steps: int = Field(default=0, ge=0, description="stop after this many steps, 0 for no limit")
    held_out: float = Field(
        default=0.1,
        ge=0,
        lt=1,
        description="share of the games kept aside to choose the number of passes; 0, or one epoch, for no choice",
    )
    patience: int = Field(
        default=2,
        ge=0,
        description="choose after this many epochs without gain on games kept aside, 0 for after the last",
    )
    scheduler: str = Field(default="linear", description="how the learning rate falls, as in linear or cosine")
    warmup: float = Field(default=0.1, ge=0, description="steps until the peak, below 1 a share of all")
    weight_decay: float = Field(default=0.01, ge=0, description="of AdamW")
    accumulate: int = Field(default=1, ge=1, description="batches whose gradients are added up for one step")
    checkpointing: bool = Field(default=False, description="less memory for more time: compute activations twice")
    attention: str = Field(default="", description="how it attends as it learns: eager, sdpa, flash_attention_2")
    lora: int = Field(default=0, ge=0, description="rank of the LoRA updates, 0 to change every weight")
    quantize: int = Field(
        default=0,
        ge=0,
        le=8,
        multiple_of=4,
        description="4 or 8 bits for the encoder beside LoRA, on a GPU; 0 for whole weights",
    )
    deterministic: bool = Field(
        default=False, description="the same weights bit for bit from the same seed, on one machine"
    )
    checkpoints: str = Field(
        default="", exclude=True, description="a folder for checkpoints, from which an interrupted training resumes"
    )
    max_length: int = Field(default=256, ge=8, description="tokens read of a statement with its context")

    @property
    def aside(self) -> float:
        """`held_out`, or 0 for a training of one pass, which leaves no number of steps to choose."""
        return self.held_out if self.epochs > 1 else 0.0


Losses = list[dict[str, float]]
"""Points of the curves, in order: `step`, `epoch`, and one of `training` (the mean loss since the last point),
`held_out` (the loss, with `auroc`, by which the number of steps is chosen), and `refit` (as `training`, when all is
learned from).
"""


def curve(history: Sequence[dict[str, float]], name: str) -> Losses:
    """The points of a curve in the Trainer's history. name: of the training loss."""
    names = {"step": "step", "epoch": "epoch", "loss": name, "eval_loss": "held_out", "eval_auroc": "auroc"}
    found = [{as_: float(point[key]) for key, as_ in names.items() if key in point} for point in history]
    return [point for point in found if point.keys() & {name, "held_out"}]


def best_point(history: Sequence[dict[str, float]]) -> dict[str, float]:
    """Where the statements kept aside are ranked best, or the loss on them is least if their ranking is not known or
    equal; the first of several.
    """
    checks = [point for point in history if "eval_loss" in point]
    return min(checks, key=lambda point: (-point.get("eval_auroc", 0.0), point["eval_loss"]))


def ranking(y: Bools, games: Groups) -> Callable[[Any], dict[str, float]] | None:
    """The Trainer's measure of some statements, `auroc`: the mean over games of that within each, or, where too few
    have both classes, over all statements; None where there is only one class. games: (n,), of each.
    """
    if y.all() or not y.any():
        return None
    own = [np.flatnonzero(games == game) for game in np.unique(games)]
    both = [rows for rows in own if 0 < y[rows].mean() < 1]

    def measure(found: Any) -> dict[str, float]:
        from sklearn.metrics import roc_auc_score

        score = found.predictions[:, 1].astype(np.float64) - found.predictions[:, 0]
        parts = both if len(both) >= _FEWEST_GAMES else [slice(None)]
        return {"auroc": float(np.mean([roc_auc_score(y[rows], score[rows]) for rows in parts]))}

    return measure


Course = tuple[Losses, int, int]
"""The curves so far, the number of steps to learn from all for, and how many would be all passes."""


def kept_in(o: FineTuningOptions, items: Items, scratch: str) -> Path:
    """Where the checkpoints and the choice of a training with these options on these items are kept. scratch: that of
    one which keeps nothing. Raises UsageError.
    """
    if not o.checkpoints:
        return Path(scratch)
    check_not_in_store(o.checkpoints)
    digest = hashlib.sha256(o.model_dump_json().encode())
    for one in (items.tokens.ids, items.tokens.ends, items.y, items.learn, items.check):
        digest.update(np.ascontiguousarray(one).data)
    folder = Path(o.checkpoints) / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{folder} cannot be written ({why}); choose another --checkpoints") from error
    return folder


def keep(path: Path, chosen: Course) -> None:
    """Remember the choice of a training, once for all its processes."""
    if processes.is_first():
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text(json.dumps(chosen), encoding="utf-8")
        partial.replace(path)


def last_checkpoint(folder: Path, steps: int = 0) -> str | None:
    """The last complete checkpoint in a folder, before `steps` if given, so that at least one step is left to train."""
    folders = [state.parent for state in folder.glob("checkpoint-*/trainer_state.json")]
    found = {int(one.name.rpartition("-")[2]): str(one) for one in folders}
    return max(((at, one) for at, one in found.items() if not steps or at < steps), default=(0, None))[1]


_CHOOSE_AGAIN = "remove it, and the number of steps is chosen again"
_POINTS = 0.02  # a point of the training curve for each fiftieth of the steps
_SAVES = 0.1  # a checkpoint for each tenth of the steps
_FEWEST_GAMES = 5  # with both classes, for the AUROC within games to choose by
_WORKERS = 2  # that read ahead for a GPU
Body = tuple[Any, frozenset[str]]
"""A model before it has learned, and its modules without weights of their own."""


@dataclass(frozen=True, slots=True)
class Items:
    """n texts to learn from. y: (n,) labels; games: (n,); learn, check: rows for choosing the number of steps, to learn
    from and to choose on; without `check`, there is no choice.
    """

    tokens: Tokens
    y: Bools
    games: Groups
    learn: Rows
    check: Rows

    def batches(self, o: FineTuningOptions, rows: Rows) -> Batches:
        """The batches of some rows, by their places among them, for this process."""
        rank, of = processes.place()
        return Batches(self.tokens.lengths[rows], self.y[rows], o.batch_size, o.seed, o.batch_tokens, rank, of)


def fine_tune(
    fresh: Callable[[], Body], items: Items, o: FineTuningOptions, precision: Precision, progress: Progress
) -> tuple[Any, Course]:
    """(the model that has learned, on its device and ready to score; how). fresh: the model to begin with, the same
    each time; of two, the first is gone before the second comes.

    Raises UsageError for a training that diverges, an option that the Trainer or the encoder cannot take, or
    checkpoints that cannot be written, and MissingExtra for LoRA without its package.
    """
    from accelerate.utils.memory import clear_device_cache
    from transformers import EarlyStoppingCallback, PrinterCallback, set_seed

    def run(part: str, learn: Rows, check: Rows, steps: int = 0, horizon: int = 0) -> tuple[Any, Any]:
        """(the trained model, or None where it only chose; the state of the Trainer). part: which of several trainings
        this is; steps, horizon: how many steps it learns for, and the learning rate is planned for; 0 for the options'.
        """
        model, new = fresh()
        set_seed(o.seed)
        if o.checkpointing:
            if not model.supports_gradient_checkpointing:
                kind = model.config.model_type
                raise UsageError(f"a {kind} encoder cannot recompute activations; leave --checkpointing out")
            enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
            enable({"use_reentrant": False})
        tuned = with_lora(model, o.lora, new) if o.lora else model
        del model
        check = check[np.argsort(items.tokens.lengths[check], kind="stable")]
        measure = ranking(items.y[check], items.games[check]) if len(check) else None
        by = "" if not len(check) else "auroc" if measure else "loss"
        try:
            trainer = _trainer()(
                items.batches(o, learn),
                progress,
                horizon,
                model=tuned,
                args=_arguments(kept / part, o, precision, by, steps),
                train_dataset=LabelledTokens(items.tokens, items.y, learn),
                eval_dataset=LabelledTokens(items.tokens, items.y, check) if len(check) else None,
                data_collator=_collated,
                compute_metrics=measure,
                callbacks=[EarlyStoppingCallback(o.patience)] if o.patience and len(check) else [],
            )
        except (ImportError, RuntimeError, ValueError) as error:
            raise UsageError(f"the encoder cannot be fine-tuned like this ({str(error).strip()[:300]})") from error
        trainer.remove_callback(PrinterCallback)  # it prints, and standard output belongs to the command
        trainer.train(resume_from_checkpoint=last_checkpoint(kept / part, steps))
        return None if len(check) else tuned.to(device()).eval(), trainer.state

    every = np.arange(len(items.tokens))
    with tempfile.TemporaryDirectory(prefix="liescope-") as scratch, _repeatable(o.deterministic):
        kept = kept_in(o, items, scratch)
        losses, steps, planned, chosen = Losses(), 0, 0, kept / "chosen.json"
        known = read_json(chosen, TypeAdapter(Course), 2**24, _CHOOSE_AGAIN) if chosen.is_file() else None
        if len(items.check) and (known := processes.from_first(known)):
            losses, steps, planned = known
        elif len(items.check):
            _, state = run("choosing", items.learn, items.check)
            clear_device_cache(garbage_collection=True)  # the Trainer and the model hold each other
            a_pass = -(-len(items.batches(o, every)) // o.accumulate)
            planned = o.max_steps or math.ceil(o.epochs * a_pass)
            steps = min(max(round(best_point(state.log_history)["epoch"] * a_pass), 1), planned)
            losses = curve(state.log_history, "training")
            keep(chosen, (losses, steps, planned))
        whole, state = run("learning", every, items.check[:0], steps=steps, horizon=planned)
        losses += curve(state.log_history, "refit" if losses else "training")
        return whole, (losses, state.global_step, planned or state.max_steps)


def _collated(batch: Any) -> Any:
    """What a `LabelledTokens` gives is a batch already."""
    return batch


def _trainer() -> Any:
    """A Trainer that learns from given batches, each statement with equal weight, however large its batch, at learning
    rates planned for `horizon` steps (0: for its own), and reports its progress. It raises UsageError for a loss that
    is not a number.
    """
    from torch.utils.data import DataLoader
    from transformers import Trainer, TrainerCallback

    class Loader(DataLoader):  # type: ignore[type-arg]
        def set_epoch(self, epoch: int) -> None:
            self.batch_sampler.set_epoch(epoch)  # type: ignore[union-attr]

    class OfBatches(Trainer):  # type: ignore[misc]
        def __init__(self, batches: Batches, progress: Progress, horizon: int, **given: Any) -> None:
            super().__init__(**given)
            after: Any = TrainerCallback()
            after.on_step_end = lambda _args, at, *_, **__: progress("fine-tuning", at.global_step, at.max_steps)
            self.add_callback(after)
            self.model_accepts_loss_kwargs = False
            self._batches, self._horizon = batches, horizon
            self._told = [0, 0]  # batches and statements since the last point
            self._usual = len(self.train_dataset) / len(batches) / processes.place()[1]

        def get_train_dataloader(self) -> Any:
            return Loader(
                self.train_dataset,
                batch_sampler=self._batches,
                collate_fn=_collated,
                num_workers=self.args.dataloader_num_workers,
                pin_memory=self.args.dataloader_pin_memory,
            )

        def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
            return super().create_scheduler(self._horizon or num_training_steps, optimizer)

        def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_more: Any) -> Any:
            found = model(**inputs)
            loss, statements = found.loss, len(inputs["labels"])
            if model.training:
                loss = loss * (statements / self._usual)
                self._told = [self._told[0] + 1, self._told[1] + statements]
            return (loss, found) if return_outputs else loss

        def log(self, logs: dict[str, float], *rest: Any) -> None:
            if not all(math.isfinite(logs[key]) for key in logs.keys() & {"loss", "eval_loss"}):
                raise UsageError("the fine-tuning diverged: its loss is no longer a number; lower --lr")
            if "loss" in logs:
                batches, statements = self._told
                logs["loss"] *= batches * self._usual / statements
                self._told = [0, 0]
            super().log(logs, *rest)

    return OfBatches


@contextmanager
def _repeatable(wanted: bool) -> Iterator[None]:
    """If wanted, use only algorithms whose results do not depend on the order of threads."""
    import torch

    before = torch.are_deterministic_algorithms_enabled()
    if wanted:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read by cuBLAS
    torch.use_deterministic_algorithms(wanted or before)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def _arguments(folder: Path, o: FineTuningOptions, precision: Precision, by: str, steps: int) -> Any:
    """by: the measure that chooses the number of steps, "" for none."""
    import torch
    from transformers import TrainingArguments

    gpu = torch.cuda.is_available()
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=o.epochs,
        max_steps=steps or o.max_steps or -1,
        learning_rate=o.lr,
        lr_scheduler_type=o.scheduler,
        warmup_steps=o.warmup,
        weight_decay=o.weight_decay,
        per_device_train_batch_size=o.batch_size,
        per_device_eval_batch_size=o.batch_size * 2,
        gradient_accumulation_steps=o.accumulate,
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        use_cpu=not gpu,
        dataloader_pin_memory=gpu,
        dataloader_num_workers=_WORKERS if gpu else 0,
        remove_unused_columns=False,
        seed=o.seed,
        eval_strategy="epoch" if by else "no",
        metric_for_best_model=by or None,
        save_strategy="steps" if o.checkpoints else "no",
        save_steps=_SAVES,
        save_total_limit=2,
        restore_callback_states_from_checkpoint=bool(o.checkpoints),
        logging_strategy="steps",
        logging_steps=_POINTS,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to="none",
    )
