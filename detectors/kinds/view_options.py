"""What the kinds that read the view of a candidate are asked alike."""

from __future__ import annotations

from pydantic import Field, field_validator

from liescope.detectors.options import DetectorOptions
from liescope.detectors.view.candidate import FIELDS
from liescope.detectors.view.counted import CLAIMS


class ViewOptions(DetectorOptions):
    """What is read of a game."""

    fields: str = Field(
        default="own,before,about,rest,claims",
        description="what is read: the candidate's words, those before the statement in question, others' words about "
        "it, the rest, claims",
    )
    votes: bool = Field(default=True, description="read votes once they are public")
    moments: int = Field(default=1, ge=0, description="moments of each game to learn at, beside its end")
    window: int = Field(default=10, ge=0, description="earlier statements read for a target of single statements")

    @field_validator("fields")
    @classmethod
    def _known_fields(cls, value: str) -> str:
        named = value.split(",")
        if not value or len(set(named)) < len(named) or set(named) - {*FIELDS, CLAIMS}:
            raise ValueError(f"name fields once each, of {', '.join((*FIELDS, CLAIMS))}")
        return value


class WeighedOptions(ViewOptions):
    """For a linear head over the view: how strongly weights are held back."""

    strength: float = Field(default=2.0, gt=0, description="inverse of the L2 penalty, scikit-learn's C")
    claim_weight: float = Field(default=0.3, gt=0, description="weight of a claim beside a field of words, which has 1")
