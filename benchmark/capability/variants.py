"""The family of capability models: the terms of the logit of the mafia's win, and how counts scatter around it."""

from __future__ import annotations

from dataclasses import dataclass

from liescope.common.errors import UnknownName, UsageError

BASES = {"paper": "v (m - d)", "offset": "v (m - d) + b", "additive": "m - d + b"}
"""The formulas: as published (Mini-Mafia paper, Eq. 2); with an offset b of each villager, so that one who leans to the
mafia or the town whatever they say is no longer read as a deaf or a keen one; main effects alone."""
SHIFTS = {
    "name": "the name of the mafioso (Eq. 8)",
    "last": "the role that speaks last",
    "seat": "the place of the mafioso in the order of seats",
}
"""Terms added to the logit by what a game happened to be dealt; they need games, not counts."""
TERMS = {
    "dispersion": "beta-binomial counts: the chance differs between combinations more than the formula says",
    **SHIFTS,
    "families": "m and d of models of one family (GPT, Claude ...) drawn from one distribution",
    "votes": "the villager's readable vote is what the formula predicts; slips of mafioso and detective, and votes "
    "that the rules drew, have rates of their own, by model, and together they make the win",
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
        of = "the villager's vote for the detective" if "votes" in self.terms else "the mafia's win"
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
        """Whether each villager has an offset b."""
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
FAMILY = tuple(
    map(
        variant,
        (
            "paper",
            "paper+dispersion",
            "additive",
            "additive+dispersion",
            "offset",
            "offset+dispersion",
            "offset+dispersion+families",
            "offset+dispersion+name",
            "offset+dispersion+last",
            "offset+dispersion+seat",
            "offset+dispersion+votes",
        ),
    )
)
"""What `fit --compare` compares."""
