"""The jester's first day, and wins over the games of a cell."""

from __future__ import annotations

from liescope.benchmark.analyses.conduct import cumulative_wins
from tests.benchmark.analyses.made import made, table_of

jester_silence = table_of("jester_silence")


def test_a_jester_that_does_not_take_the_floor_on_day_one_is_silent() -> None:
    winners = {"spoke": "jester", "voted": "villagers", "later": "villagers", "dead": "werewolves"}
    seats = [
        {"game_id": game, "role": "jester", "fate": "killed" if game == "dead" else "alive", "day_out": 1}
        for game in winners
    ]
    statements = [
        {"game_id": game, "speaker_role": role, "day": day, "phase": phase}
        for game, role, day, phase in (
            ("spoke", "jester", 1, "discussion"),
            ("voted", "jester", 1, "voting"),
            ("voted", "villager", 1, "discussion"),
            ("later", "jester", 2, "discussion"),
        )
    ]
    games = [{"game_id": game, "winner": winner, "triadic": True} for game, winner in winners.items()]
    table = jester_silence(made(games=games, seats=seats, statements=statements))
    assert table.select("spoke", "wins", "games").rows() == [(False, 0, 2), (True, 1, 1)]


def test_wins_add_up_over_the_games_of_a_cell_in_the_order_of_play() -> None:
    winners = ["jester", "villagers", "jester", "jester"]
    games = [
        {"game_id": f"g{n}", "turn": n, "winner": winner, "lineup": "m", "model": "m"}
        for n, winner in enumerate(winners)
    ]
    seats = [{"game_id": f"g{n}", "team": team} for n in range(4) for team in ("jester", "villagers")]
    table = cumulative_wins(made(games=games[::-1], seats=seats)).filter(faction="jester")
    assert table.select("place", "wins", "games").rows() == [(1, 1, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4)]
    assert cumulative_wins(made(games=games[:1], seats=seats[:2])).is_empty()
