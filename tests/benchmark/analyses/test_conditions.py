"""Games of different settings are cells of their own."""

from __future__ import annotations

from tests.benchmark.analyses.made import made, table_of

win_rates = table_of("win_rates")


def games(condition: str, won: int, of: int) -> list[dict[str, object]]:
    return [
        {
            "game_id": f"{condition}{n}",
            "condition": condition,
            "winner": "mafia" if n < won else "town",
            "lineup": "m",
        }
        for n in range(of)
    ]


def sides(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [
        {"game_id": row["game_id"], "condition": row["condition"], "team": team, "role": team}
        for row in rows
        for team in ("mafia", "town")
    ]


def test_win_rates_are_of_one_condition() -> None:
    played = [*games("rounds 2", 3, 10), *games("rounds 8", 7, 12)]
    frames = made(games=played, seats=sides(played))
    rates = win_rates(frames).filter(faction="mafia", model="m")
    assert rates.select("condition", "wins", "games").rows() == [("rounds 2", 3, 10), ("rounds 8", 7, 12)]
