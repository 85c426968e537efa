"""Agreement of those who rated the same games."""

from __future__ import annotations

import pytest
from sklearn.metrics import cohen_kappa_score

from liescope.benchmark.analyses.judged import rater_agreement
from tests.benchmark.analyses.made import made


def ratings(rater: str, flags: list[bool | None]) -> list[dict[str, object]]:
    return [
        {
            "game_id": f"g{n % 4}",
            "statement_id": f"s{n}",
            "observer": "Bob",
            "rater": rater,
            "flag": flag,
            "type": "none",
        }
        for n, flag in enumerate(flags)
    ]


FLAGS: dict[str, list[bool | None]] = {
    "players": [True, True, False, False, True, False, None, True],
    "judge": [True, False, False, False, True, True, True, True],
}


def test_kappa_is_cohens_over_what_both_answered() -> None:
    table = rater_agreement(made(ratings=[row for rater in FLAGS for row in ratings(rater, FLAGS[rater])]))
    (row,) = table.filter(question="flag").to_dicts()
    pairs = [(a, b) for a, b in zip(FLAGS["players"], FLAGS["judge"], strict=True) if a is not None and b is not None]
    assert (row["one"], row["other"], row["n"], row["games"]) == ("players", "judge", 7, 4)
    assert row["kappa"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert row["raw"] == pytest.approx(sum(a == b for a, b in pairs) / 7)
    assert (row["share_one"], row["share_other"]) == (4 / 7, 4 / 7)
    assert row["lo"] <= row["kappa"] <= row["hi"]


def test_every_two_of_three_raters_are_compared_and_one_alone_with_nobody() -> None:
    three = [row for rater in ("b", "players", "a") for row in ratings(rater, FLAGS["judge"])]
    table = rater_agreement(made(ratings=three)).filter(question="flag")
    assert table.select("one", "other").rows() == [("a", "b"), ("players", "a"), ("players", "b")]
    assert table["kappa"].to_list() == [1.0, 1.0, 1.0]
    assert rater_agreement(made(ratings=ratings("a", FLAGS["judge"]))).is_empty()


def test_where_everybody_says_the_same_kappa_is_not_defined() -> None:
    same = [row for rater in ("a", "b") for row in ratings(rater, [True] * 8)]
    (row,) = rater_agreement(made(ratings=same)).filter(question="flag").to_dicts()
    assert (row["raw"], row["kappa"], row["lo"]) == (1.0, None, None)


def test_reports_and_named_roles_are_compared_too() -> None:
    statements = [
        {"game_id": "g", "statement_id": f"s{n}", "rater": rater, "label_self": n % 2 == 0}
        for rater in ("players", "j")
        for n in range(4)
    ]
    guesses = [
        {"game_id": "g", "observer": "Bob", "target": name, "rater": rater, "guess": guess}
        for rater, guess in (("j", "villager"), ("k", "jester"))
        for name in ("Alice", "Charlie")
    ]
    rows = {row["question"]: row for row in rater_agreement(made(statements=statements, guesses=guesses)).to_dicts()}
    assert (rows["report"]["kappa"], rows["report"]["one"]) == (1.0, "players")
    assert (rows["role"]["raw"], rows["role"]["share_one"]) == (0.0, None)
