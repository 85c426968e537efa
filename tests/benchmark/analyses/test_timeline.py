"""What changes within a game: counted by hand."""

from __future__ import annotations

import pytest

from tests.benchmark.analyses.made import made, table_of

position_thirds = table_of("position_thirds")
self_tagged_by_day = table_of("self_tagged_by_day")


def test_reports_are_counted_by_day() -> None:
    rows = [(1, True), (1, False), (2, True), (2, None)]
    statements = [{"game_id": "g0", "speaker_role": "doctor", "day": day, "label_self": own} for day, own in rows]
    table = self_tagged_by_day(made(statements=statements)).to_dicts()
    assert [(row["day"], row["mean"], row["n"]) for row in table] == [(1, 0.5, 2), (2, 1.0, 1)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 28])
def test_a_day_is_cut_into_thirds_of_its_statements(count: int) -> None:
    statements = [
        {"game_id": "g0", "statement_id": str(at), "position": at, "statements_of_day": count}
        for at in range(1, count + 1)
    ]
    ratings = [
        {"game_id": "g0", "statement_id": str(at), "speaker_role": "jester", "suspicion": at / 100}
        for at in range(1, count + 1)
    ]
    table = position_thirds(made(statements=statements, ratings=ratings))
    held = dict(table.select("third", "n").iter_rows())
    assert sum(held.values()) == count
    assert max(held.values()) - min(held.values()) <= 1
    means = table["mean"].to_list()
    assert table["third"].to_list() == [name for name in ("early", "mid", "late") if name in held]
    assert means == sorted(means)
