"""Werewolf with and without a jester, for the dataset card."""

_DEBATE = (
    "Werewolves, a doctor and villagers, whose roles are hidden, debate by bidding for the floor, vote with a reason "
    "that everybody hears, answer, and vote again; a strict majority exiles. "
)
WEREWOLF = (
    f"{_DEBATE}A jester wins alone, and at once, by being exiled, so that looking suspicious may mean either of two "
    "things."
)
DYADIC_WEREWOLF = f"{_DEBATE}There is no jester."
