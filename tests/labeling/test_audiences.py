"""Who heard a statement decides what its transcript and a detector's context may hold."""

from __future__ import annotations

from liescope.labeling.label import audience_of, known_before

EVERYONE = frozenset[str]()
ANN_BEN = frozenset({"Ann", "Ben"})
ALL_THREE = frozenset({"Ann", "Ben", "Cid"})
SAID = [(EVERYONE, "to all"), (ANN_BEN, "to Ben"), (ALL_THREE, "to two"), (frozenset({"Cid", "Dan"}), "to Dan")]


def test_an_audience_of_everyone_is_empty() -> None:
    assert audience_of(None, ["Ann", "Ben"]) == ()
    assert audience_of(("Ben", "Ann"), ["Ann", "Ben"]) == ()
    assert audience_of(("Ben", "Ann"), ["Ann", "Ben", "Cid"]) == ("Ann", "Ben")


def test_before_a_public_statement_only_what_was_public_is_known() -> None:
    assert known_before(SAID, EVERYONE) == ("to all",)


def test_before_a_private_statement_only_what_the_whole_group_heard_is_known() -> None:
    assert known_before(SAID, ANN_BEN) == ("to all", "to Ben", "to two")
    assert known_before(SAID, ALL_THREE) == ("to all", "to two")


def test_the_last_ones_are_kept_oldest_first() -> None:
    assert known_before(SAID, ANN_BEN, 2) == ("to Ben", "to two")
    assert known_before(SAID, ANN_BEN, 0) == ()
