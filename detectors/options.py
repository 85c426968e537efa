"""A detector's options, apart from the text it reads: declared once, as a pydantic model with descriptions."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from liescope.common.model_options import OptionsModel

MAX_SEED = 2**32 - 1


class DetectorOptions(OptionsModel):
    """The base of every detector's options. A field is an option of `liescope train`, a keyword of `train()`, and an
    entry of model.json; its description is its help.
    """

    general: ClassVar[frozenset[str]] = frozenset({"seed"})

    seed: int = Field(default=0, ge=0, le=MAX_SEED, description="seed of everything that is drawn")
