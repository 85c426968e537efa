"""Games of different settings are cells of their own, and are compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from liescope.common.statistics import newcombe
from tests.benchmark.analyses.made import made, table_of

condition_talk = table_of("condition_talk")
condition_effect = table_of("condition_effect")
model_wins = table_of("model_wins")
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


def test_win_rates_are_of_one_condition_and_their_difference_has_newcombes_interval() -> None:
    played = [*games("rounds 2", 3, 10), *games("rounds 8", 7, 12)]
    frames = made(games=played, seats=sides(played))
    rates = win_rates(frames).filter(faction="mafia", model="m")
    assert rates.select("condition", "wins", "games").rows() == [("rounds 2", 3, 10), ("rounds 8", 7, 12)]
    (row,) = condition_effect(frames).filter(faction="mafia").to_dicts()
    assert (row["one"], row["other"], row["games_one"], row["games_other"]) == ("rounds 2", "rounds 8", 10, 12)
    assert row["difference"] == pytest.approx(0.3 - 7 / 12)
    assert (row["lo"], row["hi"]) == newcombe(3, 10, 7, 12)
    assert condition_effect(made(games=games("", 3, 10), seats=sides(games("", 3, 10)))).is_empty()


def test_other_opponents_are_no_difference_between_conditions() -> None:
    played = [
        {**row, "model": "several models", "lineup": lineup, "game_id": f"{row['game_id']} {lineup}"}
        for condition, won, lineup in (("full", 2, "a | b"), ("minimal", 1, "a | b"), ("minimal", 4, "a | c"))
        for row in games(condition, won, 4)
    ]
    table = condition_effect(made(games=played, seats=sides(played))).filter(faction="mafia")
    assert table.select("rate_one", "games_one", "rate_other", "games_other").rows() == [(0.5, 4, 0.25, 4)]


def test_talk_is_compared_between_conditions_by_the_speakers_role() -> None:
    statements = [
        {
            "game_id": f"{condition}{n}",
            "condition": condition,
            "speaker_role": "mafioso",
            "label_self": n < lies,
            "peer_rate": 0.5,
        }
        for condition, lies in (("full", 4), ("minimal", 1))
        for n in range(5)
    ]
    rows = condition_talk(made(games=games("full", 1, 5) + games("minimal", 1, 5), statements=statements)).to_dicts()
    (lies,) = [row for row in rows if row["metric"] == "reported"]
    assert (lies["mean_one"], lies["mean_other"]) == (0.8, 0.2)
    assert lies["difference"] == pytest.approx(0.6)
    assert lies["lo"] < 0.6 < lies["hi"]
    (flagged,) = [row for row in rows if row["metric"] == "flagged"]
    assert flagged["difference"] == 0


def test_games_between_models_are_counted_by_model_and_role() -> None:
    played = [{"game_id": f"g{n}", "model": "several models", "winner": "mafia"} for n in range(3)]
    seats = [
        {"game_id": f"g{n}", "role": role, "model": model, "won": won}
        for n in range(3)
        for role, model, won in (("mafioso", "a", n < 2), ("detective", "b" if n else "c", n >= 2))
    ]
    alone = [{"game_id": "alone", "role": "mafioso", "model": "a", "won": True}]
    frames = made(games=[*played, {"game_id": "alone", "model": "a"}], seats=[*seats, *alone])
    found = {(row["role"], row["model"]): (row["wins"], row["games"]) for row in model_wins(frames).to_dicts()}
    assert found == {("mafioso", "a"): (2, 3), ("detective", "b"): (1, 2), ("detective", "c"): (0, 1)}
    differ = [*seats, {"game_id": "g0", "role": "mafioso", "model": "a", "won": False}]
    assert model_wins(replace(frames, seats=made(seats=differ).seats)).filter(role="mafioso")["lo"].is_null().all()
