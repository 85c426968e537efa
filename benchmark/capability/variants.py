"""The family of capability models: the terms of the logit of the mafia's win, and how counts scatter around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_array, hstack

from liescope.benchmark.capability.counts import DECEIVER, DISCLOSER, DRAWN, JUDGE, PLAYERS, Counts
from liescope.common.errors import UnknownName, UsageError


def lacks_games(counts: Counts) -> str:
    """Why terms that need games cannot be fitted, "" if they can."""
    if counts.played.height < int(counts.cells["games"].sum()):
        return f"the terms {', '.join(SHIFTS)} and votes need games, and a file holds counts only"
    return ""


def rows_for(counts: Counts, variant: Variant, drawn_votes: bool = True) -> pl.DataFrame:
    """Counts with the columns of PLAYERS, mafia_wins, games, sorted: a row for each combination; with a shift, for each
    combination and value of it; with votes, also the judge's votes (readable, for one of the other two),
    votes_for_discloser, and for each role ROLE_votes (readable), ROLE_slips (for the judge) and ROLE_drawn.

    drawn_votes: keep games with a vote that the rules drew. Raises UsageError if the term needs games and some counts
    come from a file.
    """
    if not variant.needs_games:
        return counts.cells if drawn_votes else counts.undrawn
    if lacks := lacks_games(counts):
        raise UsageError(f"{lacks}; name the runs or corpora that the counts were made of")
    played = counts.played if drawn_votes else counts.played.filter(~pl.col("drawn"))
    keys = [*PLAYERS, *variant.shifts]
    sums = {"mafia_wins": pl.col("mafia_wins").sum(), "games": pl.len().cast(pl.Int64)}
    if "votes" in variant.terms:
        for role in PLAYERS:
            vote = pl.col(f"{role}_vote")
            sums[f"{role}_votes"] = vote.is_in(PLAYERS).sum().cast(pl.Int64)
            sums[f"{role}_slips"] = (vote == JUDGE).sum().cast(pl.Int64)
            sums[f"{role}_drawn"] = (vote == DRAWN).sum().cast(pl.Int64)
        sums["votes_for_discloser"] = (pl.col(f"{JUDGE}_vote") == DISCLOSER).sum().cast(pl.Int64)
    return played.group_by(keys).agg(**sums).sort(keys)


BASES = {"paper": "v (m - d)", "offset": "v (m - d) + b", "additive": "m - d + b"}
"""The formulas: as published (Mini-Mafia paper, Eq. 2); with an offset b of each judge, so that one who leans to the
mafia or the town whatever they say is no longer read as a deaf or a keen one; main effects alone."""
SHIFTS = {
    "name": f"the name of the {DECEIVER} (Eq. 8)",
    "last": "the role that speaks last",
    "seat": f"the place of the {DECEIVER} in the order of seats",
}
"""Terms added to the logit by what a game happened to be dealt; they need games, not counts."""
TERMS = {
    "dispersion": "beta-binomial counts: the chance differs between combinations more than the formula says",
    **SHIFTS,
    "families": "m and d of models of one family (GPT, Claude ...) drawn from one distribution",
    "votes": f"the {JUDGE}'s readable vote is what the formula predicts; slips of {DECEIVER} and {DISCLOSER}, and "
    "votes that the rules drew, have rates of their own, by model, and together they make the win",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """One model of the family. base: of BASES; terms: of TERMS, in their order."""

    base: str
    terms: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As `variant` reads it: "offset+dispersion"."""
        return "+".join((self.base, *self.terms))

    @property
    def formula(self) -> str:
        """The logit, and what else differs, in words."""
        of = f"the {JUDGE}'s vote for the {DISCLOSER}" if "votes" in self.terms else "the mafia's win"
        shifts = "".join(f" + {name}" for name in self.shifts)
        counts = "beta-binomial" if self.dispersed else "binomial"
        pooled = ", families pooled" if "families" in self.terms else ""
        return f"logit of {of} = {BASES[self.base]}{shifts}; {counts} counts{pooled}"

    @property
    def scaled(self) -> bool:
        """Whether v multiplies the gap."""
        return self.base != "additive"

    @property
    def offset(self) -> bool:
        """Whether each judge has an offset b."""
        return self.base != "paper"

    @property
    def dispersed(self) -> bool:
        """Whether counts are beta-binomial."""
        return "dispersion" in self.terms

    @property
    def learned(self) -> bool:
        """Whether the sds of m, d, v and b are learned from the data; the published formula has those of its paper."""
        return self.offset or self.dispersed or "families" in self.terms

    @property
    def shifts(self) -> tuple[str, ...]:
        """The terms of SHIFTS that it has."""
        return tuple(name for name in self.terms if name in SHIFTS)

    @property
    def needs_games(self) -> bool:
        """Whether counts alone do not do."""
        return bool(self.shifts) or "votes" in self.terms


def variant(name: str) -> Variant:
    """The model of that name: a base of BASES, then terms of TERMS, joined by +.

    Raises UnknownName for a word that is neither, UsageError for a term named twice or votes with a shift.
    """
    base, *terms = name.split("+")
    if base not in BASES:
        raise UnknownName("capability model", base, BASES)
    for term in terms:
        if term not in TERMS:
            raise UnknownName("term of a capability model", term, TERMS)
    if len(set(terms)) < len(terms):
        raise UsageError(f"{name} names a term twice; name it once")
    found = Variant(base, tuple(term for term in TERMS if term in terms))
    if found.shifts and "votes" in terms:
        raise UsageError(f"{name}: the term votes cannot be joined with {', '.join(found.shifts)}; leave one out")
    return found


PAPER = variant("paper")
DEFAULT = variant("offset+dispersion")
"""The one that predicts: see docs/results/capability.md for its score on combinations that it has not seen."""
FALLBACK = variant("paper+dispersion")
"""Where the combinations are too few to tell offsets."""
PARAMETERS = ("m", "d", "v")

Index = npt.NDArray[np.int64]


def code(cells: pl.DataFrame) -> tuple[dict[str, tuple[str, ...]], dict[str, Index]]:
    """(names of the models of m, d and v, sorted; for each cell the index of its model among them)."""
    names: dict[str, tuple[str, ...]] = {}
    index: dict[str, Index] = {}
    for parameter, column in zip(PARAMETERS, PLAYERS, strict=True):
        models = tuple(sorted(set(cells[column])))
        place = {model: number for number, model in enumerate(models)}
        names[parameter] = models
        index[parameter] = np.array([place[model] for model in cells[column]], dtype=np.int64)
    return names, index


def identified_variant(cells: pl.DataFrame) -> Variant:
    """The default model where these counts identify it, else `FALLBACK`, which has fewer parameters. Raises UsageError
    if they identify neither.
    """
    try:
        check_identified(cells, DEFAULT)
    except UsageError:
        check_identified(cells, FALLBACK)
        return FALLBACK
    return DEFAULT


def check_identified(cells: pl.DataFrame, variant: Variant = PAPER) -> None:
    """Raises UsageError if data of this shape, or these counts, cannot identify the parameters of a model."""
    models = _models(cells)
    if len(models) < 2:
        raise UsageError(
            f"a fit compares models, and these counts have {len(models) or 'none'}; play games of at least two models"
        )
    if cells["mafia_wins"].sum() in (0, cells["games"].sum()):
        raise UsageError("one side won every game, which says nothing about how models differ; play more games")
    missing, free = undetermined(cells, variant)
    if missing:
        guilty = [model for model in models if undetermined(leave_out(cells, model), variant)[0] < missing]
        advice = f" (or leave out those who do not: {_options(guilty)})" if 0 < len(guilty) <= len(models) - 2 else ""
        raise UsageError(
            f"{cells.height} cells leave {missing} of {free} parameters undetermined: each model must meet others in "
            f"each role it is judged in; play with --design background or --design full{advice}"
        )


def undetermined(cells: pl.DataFrame, variant: Variant = PAPER) -> tuple[int, int]:
    """(how many of m, d, v and b cannot be determined from these cells, how many there are apart from the symmetries).

    Read from the rank of the derivative of logit p at a point in general position: every parameter must move some cell.
    """
    if cells.is_empty():
        return 0, 0
    names, index = code(cells)
    random = np.random.default_rng(0)
    m, d, v = (random.normal(size=len(names[name])) for name in PARAMETERS)
    v = v if variant.scaled else np.ones_like(v)
    i, j, k = (index[name] for name in PARAMETERS)
    moves = {"m": (i, v[k]), "d": (j, -v[k])}
    if variant.scaled:
        moves["v"] = k, m[i] - d[j]
    if variant.offset:
        moves["b"] = k, np.ones(cells.height)
    size = {**{name: len(names[name]) for name in PARAMETERS}, "b": len(names["v"])}
    rows = np.arange(cells.height)
    slopes = hstack([csr_array((by, (rows, at)), (cells.height, size[name])) for name, (at, by) in moves.items()])
    symmetries = 1 + variant.scaled + variant.offset
    free = max(slopes.shape[1] - symmetries, 0)
    rank = int(np.linalg.matrix_rank((slopes.T @ slopes).toarray(), hermitian=True))
    return free - rank, free


def leave_out(cells: pl.DataFrame, model: str) -> pl.DataFrame:
    """The cells in which a model plays no role."""
    return cells.filter(~pl.any_horizontal(pl.col(PLAYERS) == model))


def _models(cells: pl.DataFrame) -> list[str]:
    return sorted(set().union(*(cells[column] for column in PLAYERS)))


def _options(models: list[str]) -> str:
    return " ".join(f"--without {model!r}" for model in models)
