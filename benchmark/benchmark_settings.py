"""The settings of fit, analyse and report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

from liescope.common.settings import Setting

DrawnVotes = Literal["keep", "leave-out"]
"""What to do with games that contain a vote drawn by the rules."""

_SAMPLER = "The sampler"
_VOTES = "Games with a vote drawn at random because the reply was unreadable"
PoolConditions = Annotated[
    bool,
    Setting(
        "Add up games with different settings, prompts among them, instead of keeping conditions apart; notes name "
        "them.",
        False,
        flag="--pool-conditions",
    ),
]
Independent = Annotated[
    bool,
    Setting(
        "The sources hold different games, even if their counts agree too well for that.", False, flag="--independent"
    ),
]
Tune = Annotated[int, Setting("Tuning draws of each chain, discarded.", 1000, at_least=1, group=_SAMPLER)]
Seed = Annotated[int, Setting("Seed of the sampler.", 1, at_least=0, at_most=2**32 - 1, group=_SAMPLER)]
Overwrite = Annotated[bool, Setting("Replace an existing report at --out.", False, flag="--overwrite")]


class FitSettings(TypedDict, total=False):
    """What `fit` takes."""

    model: Annotated[
        str,
        Setting(
            "The model to fit: paper, offset+dispersion or paper+dispersion (offset+dispersion where the games allow "
            "it, else paper+dispersion).",
            "",
        ),
    ]
    term: Annotated[
        Sequence[str],
        Setting("A term beside the model: name, last, seat or slips; may be repeated.", (), metavar="TERM"),
    ]
    without: Annotated[
        Sequence[str], Setting("A model whose games are left out; may be repeated.", (), metavar="MODEL")
    ]
    drawn_votes: Annotated[DrawnVotes, Setting(f"{_VOTES}; the report shows both.", "keep")]
    condition: Annotated[
        Sequence[str],
        Setting(
            "A condition to fit, by its name or some of its settings, as in 'rounds 8'; may be repeated. All if none "
            "is named.",
            (),
        ),
    ]
    pool_conditions: PoolConditions
    independent: Independent
    draws: Annotated[int, Setting("Draws to keep of each chain.", 1000, at_least=1, group=_SAMPLER)]
    tune: Tune
    chains: Annotated[int, Setting("Chains.", 4, at_least=2, group=_SAMPLER)]
    seed: Seed
    target_accept: Annotated[
        float,
        Setting(
            "Acceptance rate to tune the steps for; higher if transitions diverge.",
            0.95,
            at_least=0.5,
            at_most=0.999,
            group=_SAMPLER,
        ),
    ]
    sampler: Annotated[
        str, Setting("nutpie or pymc; nutpie if it is installed.", "", group=_SAMPLER, choices=("nutpie", "pymc"))
    ]
    overwrite: Overwrite


class AnalyseSettings(TypedDict, total=False):
    """What `analyse` takes."""

    pool_conditions: PoolConditions
    overwrite: Overwrite


class ReportSettings(TypedDict, total=False):
    """What `report` takes."""

    title: Annotated[str, Setting("The title of the page.", "")]
    model: Annotated[str, Setting("The capability model to fit, as for fit.", "")]
    without: Annotated[
        Sequence[str],
        Setting("A model whose games are left out of fit and backgrounds; may be repeated.", (), metavar="MODEL"),
    ]
    drawn_votes: Annotated[DrawnVotes, Setting(f"{_VOTES}.", "keep")]
    pool_conditions: PoolConditions
    independent: Independent
    draws: Annotated[int, Setting("Draws of the fit to keep of each chain.", 1000, at_least=1, group=_SAMPLER)]
    tune: Tune
    seed: Seed
    overwrite: Overwrite
