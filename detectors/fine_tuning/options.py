"""The options of every detector that fine-tunes an encoder."""

from __future__ import annotations

from pydantic import Field

from liescope.detectors.options import DetectorOptions


class FineTuningOptions(DetectorOptions):
    """encoder: "" for the bundled all-MiniLM-L6-v2. checkpoints and report_to are of this machine and this run, so they
    are not saved.
    """

    encoder: str = Field(default="", description="a Hub id or a folder instead of the bundled all-MiniLM-L6-v2")
    epochs: float = Field(default=3.0, gt=0, description="passes over the training statements")
    lr: float = Field(default=5e-5, gt=0, description="peak learning rate")
    max_steps: int = Field(default=0, ge=0, description="stop after this many steps, 0 for no limit")
    held_out: float = Field(
        default=0.1,
        ge=0,
        lt=1,
        description="share of the games kept aside to choose the number of steps, before all are learned from; 0 for "
        "no choice",
    )
    patience: int = Field(
        default=2,
        ge=0,
        description="choose after this many epochs that are no better on games kept aside, 0 for after the last",
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
    compile: bool = Field(default=False, description="learn with torch.compile")
    lora: int = Field(default=0, ge=0, description="rank of the LoRA updates, 0 to change every weight")
    deterministic: bool = Field(
        default=False, description="the same weights bit for bit from the same seed, on one machine"
    )
    checkpoints: str = Field(
        default="", exclude=True, description="a folder for checkpoints, from which a training that was ended goes on"
    )
    report_to: str = Field(
        default="", exclude=True, description="what transformers reports the training to, as in tensorboard"
    )
