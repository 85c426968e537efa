"""The options of fit, analyse and report."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from liescope.common.settings import Option, OptionsModel, Several, Switch

DrawnVotes = Literal["keep", "leave-out"]
"""What to do with games that contain a vote drawn by the rules."""

_VOTES = "Games with a vote drawn at random because the reply was unreadable"
_SAMPLER = "The sampler"


class AnalyseSettings(OptionsModel):
    """What `analyse` takes."""

    pool_conditions: Switch = Field(
        default=False,
        description="Add up games with different settings, prompts among them, instead of keeping conditions apart; "
        "notes name them.",
    )
    count_silent: Switch = Field(
        default=False, description="Count games, too, in which no reply of one of the models could be used."
    )
    overwrite: Switch = Field(default=False, description="Replace an existing report at --out.")


class _Fitted(AnalyseSettings):
    drawn_votes: DrawnVotes = Field(default="keep", description=f"{_VOTES}.")
    model: Annotated[str, Option(choices=("offset+dispersion", "paper"))] = Field(
        default="offset+dispersion",
        description="The capability model: offset+dispersion, which goes without offsets where combinations are too "
        "few to tell them, or paper.",
    )
    without: Annotated[Several, Option(metavar="MODEL")] = Field(
        default=(), description="A model whose games are left out; may be repeated."
    )
    independent: Switch = Field(
        default=False, description="Files of counts, which do not say so, hold other games than the other sources."
    )


class _Sampled(OptionsModel):
    heading: ClassVar[str] = _SAMPLER

    draws: int = Field(default=1000, ge=1, description="Draws to keep of each chain.")
    tune: int = Field(default=1000, ge=1, description="Tuning draws of each chain, discarded.")
    seed: int = Field(default=1, ge=0, le=2**32 - 1, description="Seed of the sampler.")


class SamplerOptions(_Sampled):
    """How to sample; chains are of so many draws each."""

    heading: ClassVar[str] = _SAMPLER

    chains: int = Field(default=4, ge=2, description="Chains.")
    target_accept: float = Field(
        default=0.95,
        ge=0.5,
        le=0.999,
        description="Acceptance rate to tune the steps for; higher if transitions diverge.",
    )
    sampler: Literal["hmc", "pymc"] = Field(
        default="hmc", description="What draws: hmc, our own, or pymc, PyMC's NUTS, many times slower, as a check."
    )


class FitSettings(SamplerOptions, _Fitted):
    """What `fit` takes."""

    term: Annotated[Several, Option(metavar="TERM")] = Field(
        default=(), description="A term beside the model: name, last, seat or slips; may be repeated."
    )


class ReportSettings(_Sampled, _Fitted):
    """What `report` takes."""

    title: str = Field(default="", description="The title of the page.")
