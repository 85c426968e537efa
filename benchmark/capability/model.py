"""The capability model: logit p = v_k (m_i - d_j), the chance that deceiver i wins against discloser j and voter k; or,
for contests, logit p = m_i - v_j, the chance that deceiver i fools judge j.

Mini-Mafia paper, Eq. 2. m is how well a model deceives, d how well it discloses, v how strongly it responds, as the
voter, to the gap; v may be negative. The default adds an offset b_k of each voter, so that one who leans to one side
whatever is said is not mistaken for deaf or keen, and lets counts scatter more than a binomial; where the combinations
are too few to tell offsets, it goes without them. `TERMS` can be added to either.

m and d shifted by one number, and v scaled against m and d, leave every p unchanged. The paper samples all 3I
parameters with priors N(0, 2) (Eq. 7) and rescales afterwards. Here both are fixed before:

    m = ZeroSumNormal(s_m)                 so the sum of m is 0
    d = mean + ZeroSumNormal(s_d)          mean ~ Normal(0, 2)
    v = 1 + ZeroSumNormal(s_v)             so the mean of v is 1, and single v may be negative

With an offset there is a third: m shifted alone, and b shifted back by v times as much. It is fixed by

    b = p (v - 1) + ZeroSumNormal(s_b)     p ~ Normal(0, 0.5), so the sum of b is 0

so that m - d of 0 is where the mean voter has even chances. Voters who respond differently agree at m - d = -p; without
the slope p, that gap would be 0 by mere convention.

The widths s are learned: each has a Rayleigh prior, s exp(-s^2 / 2) (for shifts of scale 0.5 instead of 1). If few
models are the background of all others, the data hardly fix the scales of m, d and v separately, and under N(0, 2) m
and d came out up to three times too far apart (docs/results/capability.md). A prior not 0 at a width of 0, such as a
half-normal, lets the width of v vanish when games are few (Chung et al. 2013, doi:10.1007/s11336-013-9328-2).

`paper` keeps the priors of its publication: every s is 2, and the mean of d is N(0, 2 / sqrt(J)) for J disclosers, so
that each d is N(0, 2). Its means agree with the published ones; the printed standard deviations are larger, as they
divide all draws by one number, the mean of v over the posterior. A mean v of 1 assumes that players listen, on average,
to the better speaker. Scores compare within one fit; across fits the scale differs.

In contests the judge's v stands in the place of d, with its priors, and nothing is multiplied: the mean of all v says
how rarely judges are fooled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_array, hstack

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import DRAWN, Counts
from liescope.benchmark.capability.forms import CONTESTS, DISCLOSER, PLAYERS, THREE_ROLES, VOTER, RoleForm, form_of
from liescope.common.errors import UnknownName, UsageError

Index = npt.NDArray[np.int64]

SHIFTS = ("name", "last", "seat")
"""Terms added to the logit by what a game happened to be dealt: the name of the deceiver (Eq. 8), the role that speaks
last, the place of the deceiver in the order of seats."""
SLIPS = "slips"
"""The term by which the formula predicts the voter's readable vote. Slips of deceiver and discloser, and votes that the
rules drew, have rates of their own, by model, and together they make the win."""
TERMS = (*SHIFTS, SLIPS)
"""They need games, not counts."""

PRIOR_SD = 2.0  # width of m, d and v as published
MEAN_SD = 2.0  # width of the mean of d
PIVOT_SD = 0.5  # width of the slope of b on v
SD_PRIOR = 1.0  # the scale of Rayleigh priors
SHIFT_SD = 0.5
RHO_PRIOR = (1.0, 19.0)  # of a Beta: the correlation of two games of one combination, 0.05 in the mean


@dataclass(frozen=True, slots=True)
class Variant:
    """A capability model. offset: whether each voter has an offset b. dispersed: whether counts are beta-binomial and
    the widths of m, d, v and b learned; otherwise counts are binomial and the widths are the published ones. terms:
    some of TERMS. form: what it is of; contests have neither offset nor terms.
    """

    offset: bool
    dispersed: bool
    terms: tuple[str, ...] = ()
    form: RoleForm = THREE_ROLES

    @property
    def name(self) -> str:
        """What it adds to what, and its terms: "offset+dispersion+last"."""
        core = "margin" if self.form is CONTESTS else "offset" if self.offset else "paper"
        base = f"{core}{'+dispersion' if self.dispersed else ''}"
        return "+".join((base, *self.terms))

    @property
    def formula(self) -> str:
        """The logit, and what else differs, in words."""
        what = f"the {VOTER}'s vote for the {DISCLOSER}" if SLIPS in self.terms else self.form.event
        added = "".join(f" + {name}" for name in self.vectors[len(self.form.parameters) :])
        core = "m - v" if self.form is CONTESTS else "v (m - d)"
        return f"logit of {what} = {core}{added}; {'beta-binomial' if self.dispersed else 'binomial'} counts"

    @property
    def shifts(self) -> tuple[str, ...]:
        """The terms of SHIFTS that it has."""
        return tuple(name for name in self.terms if name in SHIFTS)

    @property
    def vectors(self) -> tuple[str, ...]:
        """The names of the parameter vectors in the logit."""
        return (*self.form.parameters, *(("b",) if self.offset else ()), *self.shifts)

    def prior_sd(self, name: str) -> float:
        """The scale of a vector's Rayleigh prior, or the width itself if not learned."""
        return SHIFT_SD if name in SHIFTS else SD_PRIOR if self.dispersed else PRIOR_SD


PAPER = Variant(offset=False, dispersed=False)
DEFAULT = Variant(offset=True, dispersed=True)
"""The one that predicts: see docs/results/capability.md for its score on combinations that it has not seen."""
MODELS = {one.name: one for one in (DEFAULT, PAPER)}
MARGIN = Variant(offset=False, dispersed=True, form=CONTESTS)
"""The one for contests."""


def variant(name: str, terms: Sequence[str] = (), form: RoleForm = THREE_ROLES) -> Variant:
    """The model of that name with these terms; for contests, MARGIN in place of the default.

    Raises UnknownName for a name or term that does not exist, UsageError for slips with a shift, and for terms or the
    published model with contests.
    """
    if name not in MODELS:
        raise UnknownName("capability model", name, MODELS)
    for term in terms:
        if term not in TERMS:
            raise UnknownName("term of the capability model", term, TERMS)
    found = replace(MODELS[name], terms=tuple(term for term in TERMS if term in terms))
    if found.shifts and SLIPS in terms:
        raise UsageError(f"the term {SLIPS} cannot be joined with {', '.join(found.shifts)}; leave one out")
    if form is CONTESTS:
        if terms or name != DEFAULT.name:
            raise UsageError(f"contests have one model, {MARGIN.name}; leave --model and --term out")
        return MARGIN
    return found


def rows_for(counts: Counts, terms: Sequence[str] = ()) -> pl.DataFrame:
    """Counts, sorted: a row for each combination; with a shift, for each
    combination and value of it; with slips, also the voter's votes (readable, for one of the other two),
    votes_for_discloser, and for each role ROLE_votes (readable), ROLE_slips (for the voter) and ROLE_drawn.

    Raises UsageError for terms, which need games, if some counts come from a file.
    """
    if not terms:
        return counts.cells
    if counts.played.height < counts.games:
        raise UsageError(
            f"the terms {', '.join(TERMS)} need games, and a file holds counts only; name the runs or corpora that the "
            "counts were made of"
        )
    sums = {"mafia_wins": pl.col("mafia_wins").sum(), "games": pl.len().cast(pl.Int64)}
    if SLIPS in terms:
        for role in PLAYERS:
            vote = pl.col(f"{role}_vote")
            sums[f"{role}_votes"] = vote.is_in(PLAYERS).sum().cast(pl.Int64)
            sums[f"{role}_slips"] = (vote == VOTER).sum().cast(pl.Int64)
            sums[f"{role}_drawn"] = (vote == DRAWN).sum().cast(pl.Int64)
        sums["votes_for_discloser"] = (pl.col(f"{VOTER}_vote") == DISCLOSER).sum().cast(pl.Int64)
    keys = [*PLAYERS, *(term for term in terms if term in SHIFTS)]
    return counts.played.group_by(keys).agg(**sums).sort(keys)


def code_rows(rows: pl.DataFrame, variant: Variant) -> tuple[dict[str, tuple[str, ...]], dict[str, Index]]:
    """(the entries of each parameter vector, sorted; for each row the index into it), by name of the vector."""
    names, index = {}, {}
    for name in variant.vectors:
        column = rows[variant.form.roles.get(name, name)]
        names[name] = tuple(sorted(set(column)))
        place = {level: number for number, level in enumerate(names[name])}
        index[name] = np.array([place[level] for level in column], dtype=np.int64)
    return names, index


def logits(rows: pl.DataFrame, names: Mapping[str, tuple[str, ...]], draws: Mapping[str, Array]) -> Array:
    """The logit of each row in each draw, shape (draws, rows). draws: flat, shape (draws, names), by parameter."""
    values, form = {}, form_of(rows)
    for name, drawn in draws.items():
        if name != "rho":
            place = {one: number for number, one in enumerate(names[name])}
            values[name] = drawn[:, [place[one] for one in rows[form.roles.get(name, name)]]]
    one, other, *by = (values.pop(name) for name in form.parameters)
    return np.asarray(sum(values.values(), math.prod(by, start=one - other)))


def identified(cells: pl.DataFrame, variant: Variant) -> Variant:
    """The model, without offsets where the combinations are too few to tell them."""
    return replace(variant, offset=False) if variant.offset and undetermined(cells, variant)[0] else variant


def check_identified(cells: pl.DataFrame, variant: Variant = PAPER) -> None:
    """Raises UsageError if data of this shape, or these counts, cannot identify the parameters of a model."""
    form = form_of(cells)
    models = sorted(set().union(*(cells[column] for column in form.players)))
    if len(models) < 2:
        raise UsageError(
            f"a fit compares models, and these counts have {len(models) or 'none'}; play games of at least two models"
        )
    if cells[form.won].sum() in (0, cells[form.of].sum()):
        every = "one side won every game" if form is THREE_ROLES else "every contest ended alike"
        raise UsageError(f"{every}, which says nothing about how models differ; play more games")
    missing, free = undetermined(cells, variant)
    if missing:
        guilty = [model for model in models if undetermined(leave_out(cells, model), variant)[0] < missing]
        options = " ".join(f"--without {model!r}" for model in guilty)
        advice = f" (or leave out those who do not: {options})" if 0 < len(guilty) <= len(models) - 2 else ""
        raise UsageError(
            f"{cells.height} cells leave {missing} of {free} parameters undetermined: each model must meet others in "
            f"each role it has a score in; play with --design background or --design full{advice}"
        )


def undetermined(cells: pl.DataFrame, variant: Variant = PAPER) -> tuple[int, int]:
    """(how many of the parameters cannot be determined from these cells, how many there are apart from the symmetries).

    Read from the rank of the derivative of logit p at a point in general position: every parameter must move some cell.
    """
    if cells.is_empty():
        return 0, 0
    names, index = code_rows(cells, replace(variant, terms=()))
    random = np.random.default_rng(0)
    one, other, *by = (random.normal(size=len(names[name]))[index[name]] for name in variant.form.parameters)
    keen = math.prod(by, start=np.ones(cells.height))
    by_each = (keen, -keen, *(one - other for _ in by), np.ones(cells.height))
    moves = dict(zip((*variant.form.parameters, "b"), by_each, strict=False))
    rows = np.arange(cells.height)
    slopes = hstack(
        [csr_array((moves[name], (rows, at)), (cells.height, len(names[name]))) for name, at in index.items()]
    )
    free = max(slopes.shape[1] - (1 + len(by) + variant.offset), 0)
    rank = int(np.linalg.matrix_rank((slopes.T @ slopes).toarray(), hermitian=True))
    return free - rank, free


def leave_out(cells: pl.DataFrame, model: str) -> pl.DataFrame:
    """The cells without this model in any role."""
    return cells.filter(~pl.any_horizontal(pl.col(form_of(cells).players) == model))
