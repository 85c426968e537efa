"""The training loop: the Trainer of transformers, in one process or as one of several that `torchrun` started.

Where some items are kept aside to choose the number of steps, a first training chooses it; a second one, which is kept,
then learns from all items for that many steps, with the same learning rate at each step. A killed training can resume:
each training of a command has its own folder of checkpoints, named after its items and options.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from liescope.common.errors import MissingExtra, UsageError
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import read_transformer
from liescope.common.stores import check_not_in_store
from liescope.detectors.detector import DetectorOptions, Progress


def read_body(
    folder: Path, classes: Sequence[str] | None = None, attention: str = ""
) -> tuple[Any, Any, frozenset[str]]:
    """(tokenizer, classifier, its modules that are new) from a folder that has been checked. classes: the names of its
    outputs, for a new head; None for a saved one, which must have every weight (ValueError). attention: the
    implementation, "" for the usual one; ValueError or ImportError for one that it does not have.
    """
    import torch

    settings: dict[str, Any] = {"attn_implementation": attention} if attention else {}
    if classes is not None:
        settings |= {"id2label": dict(enumerate(classes)), "label2id": {name: at for at, name in enumerate(classes)}}
    # By default transformers keeps the dtype of the file, and half precision is too coarse for small steps.
    tokenizer, model, missing = read_transformer(
        "AutoModelForSequenceClassification", folder, classes is None, dtype=torch.float32, **settings
    )
    if tokenizer.pad_token is None:  # of a decoder such as GPT-2, Llama or Qwen: what ends a text pads it
        if tokenizer.eos_token is None:
            raise ValueError("its tokenizer has no token for padding and none that ends a text")
        tokenizer.pad_token = tokenizer.eos_token
    if model.config.pad_token_id is None:  # by which the classifier finds the last word
        model.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer, model, frozenset(key.rpartition(".")[0] for key in missing)


def limit(tokenizer: Any, model: Any, wanted: int) -> int:
    """The most tokens of a text: as wanted, or fewer if the model or its tokenizer takes fewer."""
    positions = getattr(model.config, "max_position_embeddings", None) or wanted
    return min(wanted, int(positions), int(tokenizer.model_max_length))


def with_lora(model: Any, rank: int, new: frozenset[str]) -> Any:
    """The model with low-rank updates beside every linear layer, which alone are learned, and its new modules whole
    (Hu and others 2022). Raises MissingExtra.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise MissingExtra("peft", "lora") from error
    config = LoraConfig(
        r=rank, lora_alpha=2 * rank, target_modules="all-linear", modules_to_save=sorted(new), task_type="SEQ_CLS"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft reads an attribute that transformers has dropped
        return get_peft_model(model, config)


def recompute_activations(model: Any) -> None:
    """Recompute activations in the backward pass instead of storing them. Raises UsageError for a model that cannot."""
    if not model.supports_gradient_checkpointing:
        raise UsageError(f"a {model.config.model_type} encoder cannot recompute activations; leave --checkpointing out")
    enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
    enable({"use_reentrant": False})


def device() -> Any:
    """The GPU, if there is one."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def pad_to(there: Any) -> int | None:
    """The multiple to which lengths are padded. On a GPU every new shape makes each layer plan its attention again: a
    model of BERT-base's shape learned 11,000 tokens a second on an H100 with unpadded lengths, 62,000 with multiples of
    eight.
    """
    return 8 if there.type == "cuda" else None


class FineTuningOptions(DetectorOptions):
    """encoder: "" for the bundled all-MiniLM-L6-v2. checkpoints belong to this machine and are not
    saved.
    """

    encoder: str = Field(default="", description="a Hub id or a folder instead of the bundled all-MiniLM-L6-v2")
    batch_size: int = Field(default=32, ge=1, description="statements at a time")
    epochs: float = Field(default=3.0, gt=0, description="passes over the training statements")
    lr: float = Field(default=5e-5, gt=0, description="peak learning rate")
    max_steps: int = Field(default=0, ge=0, description="stop after this many steps, 0 for no limit")
    held_out: float = Field(
        default=0.1,
        ge=0,
        lt=1,
        description="share of the games kept aside to choose the number of steps, before all are learned from; 0, or "
        "one epoch, for no choice",
    )
    patience: int = Field(
        default=2,
        ge=0,
        description="choose after this many epochs without gain on games kept aside, 0 for after the last",
    )
    scheduler: str = Field(
        default="linear", description="how the learning rate falls, by its name in transformers, as in cosine"
    )
    warmup: float = Field(default=0.1, ge=0, description="steps until the peak, below 1 a share of all")
    weight_decay: float = Field(default=0.01, ge=0, description="of AdamW")
    accumulate: int = Field(default=1, ge=1, description="batches whose gradients are added up for one step")
    checkpointing: bool = Field(default=False, description="less memory for more time: compute activations twice")
    attention: str = Field(
        default="", description="attention of the encoder while it learns, as in eager, sdpa, flash_attention_2"
    )
    lora: int = Field(default=0, ge=0, description="rank of the LoRA updates, 0 to change every weight")
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
"""Points of the curves, in order: `step`, `epoch`, and one of `training` (the mean since the last point), `held_out`,
and `refit` (as `training`, once the number of steps is chosen and all is learned from).
"""


def following(progress: Progress) -> Any:
    """A callback of the Trainer that reports its progress. It raises UsageError for a loss that is not a number."""
    from transformers import TrainerCallback

    def on_step_end(_args: Any, state: Any, _control: Any, **_more: Any) -> None:
        progress("fine-tuning", state.global_step, state.max_steps)

    def on_log(_args: Any, _state: Any, _control: Any, logs: dict[str, float], **_more: Any) -> None:
        if not all(math.isfinite(logs[key]) for key in logs.keys() & {"loss", "eval_loss"}):
            raise UsageError("the fine-tuning diverged: its loss is no longer a number; lower --lr")

    found: Any = TrainerCallback()
    found.on_step_end, found.on_log = on_step_end, on_log
    return found


def curve(history: Sequence[dict[str, float]], name: str) -> Losses:
    """The points of a curve in the Trainer's history. name: of the training loss."""
    return [
        {"step": float(point["step"]), "epoch": float(point["epoch"]), as_: float(point[key])}
        for point in history
        for key, as_ in (("loss", name), ("eval_loss", "held_out"))
        if key in point
    ]


def best_step(history: Sequence[dict[str, float]]) -> int:
    """The step at which the loss on the items kept aside is least; the first of several."""
    checks = [point for point in history if "eval_loss" in point]
    return int(min(checks, key=lambda point: point["eval_loss"])["step"])


_CHOSEN, _STATE = "chosen.json", "trainer_state.json"
_STEP = re.compile(r"checkpoint-(\d+)")
Choice = tuple[int, int, Losses]
"""The number of steps that was chosen, how many were planned, and the curves."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the checkpoints of a training are kept; None for nowhere."""

    folder: Path | None

    @classmethod
    def of(cls, o: FineTuningOptions, *given: object) -> Self:
        """The place of a training with these options on these items. Raises UsageError if it cannot be made."""
        if not o.checkpoints:
            return cls(None)
        check_not_in_store(o.checkpoints)
        digest = hashlib.sha256(o.model_dump_json().encode())
        for one in given:
            for item in one if isinstance(one, Sequence) else [one]:
                digest.update(repr(item).encode())
        folder = Path(o.checkpoints) / digest.hexdigest()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"{folder} cannot be written ({why}); choose another --checkpoints") from error
        return cls(folder)

    def part(self, name: str) -> Path | None:
        """The folder of one of its trainings."""
        return self.folder and self.folder / name

    def chosen(self) -> Choice | None:
        """The number of steps chosen earlier, if any."""
        path = self.folder and self.folder / _CHOSEN
        if path is None or not path.is_file():
            return None
        with Reading(path, "remove it, and the number of steps is chosen again"):
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return int(found["steps"]), int(found["planned"]), list(found["losses"])

    def keep(self, chosen: Choice) -> None:
        """Remember the choice."""
        if self.folder:
            facts = dict(zip(("steps", "planned", "losses"), chosen, strict=True))
            partial = self.folder / f".{_CHOSEN}.partial"
            partial.write_text(json.dumps(facts), encoding="utf-8")
            partial.replace(self.folder / _CHOSEN)

    @staticmethod
    def last(folder: Path | None, steps: int = 0) -> str | None:
        """The last complete checkpoint in a folder, before `steps` if given, so that at least one step is left to
        train.
        """
        found = {
            int(match[1]): path
            for path in (folder.iterdir() if folder and folder.is_dir() else ())
            if (match := _STEP.fullmatch(path.name)) and (path / _STATE).is_file()
        }
        left = [step for step in found if not steps or step < steps]
        return str(found[max(left)]) if left else None


_POINTS = 0.02  # a point of the training curve for each fiftieth of the steps
_SAVES = 0.1  # a checkpoint for each tenth of the steps
Body = tuple[Any, frozenset[str]]
"""A model before it has learned, and its modules without weights of their own."""


@dataclass(frozen=True, slots=True)
class Items:
    """The items to learn from. every: in the final training; learn, check: for choosing the number of steps, to learn
    from and to choose on; without `check`, there is no choice. collate: makes a batch of items, with `labels`.
    """

    every: Sequence[Any]
    learn: Sequence[Any]
    check: Sequence[Any]
    collate: Callable[[list[Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Tuned:
    """model: on its device and ready to score; losses: its curves; steps: how many it has learned for; planned: how
    many it would have without the choice.
    """

    model: Any
    losses: Losses
    steps: int
    planned: int


def fine_tune(
    fresh: Callable[[], Body],
    items: Items,
    o: FineTuningOptions,
    progress: Progress,
) -> Tuned:
    """Learn. fresh: the model to begin with, the same each time.

    Raises UsageError for a training that diverges, an option that the Trainer or the encoder cannot take, or
    checkpoints that cannot be written, and MissingExtra for LoRA without its package.
    """
    kept = Kept.of(o, items.every, items.learn, items.check)
    run = partial(_train, fresh, items.collate, o)
    if not items.check:
        whole, state = run("training", items.every, (), kept, progress)
        return Tuned(whole, curve(state.log_history, "training"), state.global_step, state.max_steps)
    chosen = kept.chosen()
    if chosen is None:
        _, state = run("choosing", items.learn, items.check, kept, progress)
        chosen = best_step(state.log_history), state.max_steps, curve(state.log_history, "training")
        kept.keep(chosen)
    steps, planned, losses = chosen
    whole, state = run("learning", items.every, (), kept, progress, steps=steps, horizon=planned)
    return Tuned(whole, losses + curve(state.log_history, "refit"), steps, planned)


def _train(
    fresh: Callable[[], Body],
    collate: Callable[[list[Any]], dict[str, Any]],
    o: FineTuningOptions,
    part: str,
    learn: Sequence[Any],
    check: Sequence[Any],
    kept: Kept,
    progress: Progress,
    steps: int = 0,
    horizon: int = 0,
) -> tuple[Any, Any]:
    """(the trained model, the state of the Trainer). part: which of several trainings this is; steps, horizon: how many
    steps it learns for, and how many the learning rate is planned for; 0 for the options'.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, set_seed

    model, new = fresh()
    folder = kept.part(part)
    set_seed(o.seed)
    if o.checkpointing:
        recompute_activations(model)
    tuned = with_lora(model, o.lora, new) if o.lora else model
    callbacks = [following(progress), *([EarlyStoppingCallback(o.patience)] if o.patience and len(check) else [])]
    with tempfile.TemporaryDirectory(prefix="liescope-") as scratch, _repeatable(o.deterministic):
        with _refusals():
            trainer = Trainer(
                model=tuned,
                args=_arguments(folder, scratch, o, len(check) > 0, steps),
                train_dataset=learn,
                eval_dataset=check or None,
                data_collator=collate,
                callbacks=callbacks,
            )
        trainer.remove_callback(PrinterCallback)  # it prints, and standard output belongs to the command
        if horizon:
            trainer.create_scheduler = _planned_for(horizon, trainer.create_scheduler)
        trainer.train(resume_from_checkpoint=Kept.last(folder, steps))
    whole = tuned.merge_and_unload() if o.lora else tuned
    return whole.to(device()).eval(), trainer.state


def _planned_for(horizon: int, create: Callable[..., Any]) -> Callable[..., Any]:
    """A replacement for `Trainer.create_scheduler`, with the schedule of a training of this many steps."""

    def created(num_training_steps: int, optimizer: Any = None) -> Any:  # noqa: ARG001
        return create(horizon, optimizer)

    return created


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn the Trainer's errors about an option into a UsageError."""
    try:
        yield
    except (ImportError, RuntimeError, ValueError) as error:
        raise UsageError(f"the encoder cannot be fine-tuned like this ({str(error).strip()[:300]})") from error


@contextmanager
def _repeatable(wanted: bool) -> Iterator[None]:
    """If wanted, use only algorithms whose results do not depend on the order of threads."""
    import torch

    if not wanted:
        yield
        return
    before = torch.are_deterministic_algorithms_enabled()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read by cuBLAS
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def _arguments(folder: Path | None, scratch: str, o: FineTuningOptions, choose: bool, steps: int) -> Any:
    import torch
    from transformers import TrainingArguments

    gpu = torch.cuda.is_available()
    return TrainingArguments(
        output_dir=str(folder or scratch),
        num_train_epochs=o.epochs,
        max_steps=steps or o.max_steps or -1,
        learning_rate=o.lr,
        lr_scheduler_type=o.scheduler,
        warmup_steps=o.warmup,
        weight_decay=o.weight_decay,
        per_device_train_batch_size=o.batch_size,
        per_device_eval_batch_size=o.batch_size * 2,
        gradient_accumulation_steps=o.accumulate,
        train_sampling_strategy="group_by_length",
        bf16=gpu and torch.cuda.is_bf16_supported(),
        use_cpu=not gpu,
        dataloader_pin_memory=gpu,
        remove_unused_columns=False,
        seed=o.seed,
        eval_strategy="epoch" if choose else "no",
        metric_for_best_model="loss" if choose else None,
        save_strategy="steps" if folder else "no",
        save_steps=_SAVES,
        save_total_limit=2,
        restore_callback_states_from_checkpoint=folder is not None,
        logging_strategy="steps",
        logging_steps=_POINTS,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to="none",
    )
