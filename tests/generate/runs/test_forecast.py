"""A forecast is what the run then takes, asks nobody and writes nothing; unknown prices are said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope import cli
from liescope.common.errors import BadData, PlanChanged, UnknownName, UsageError
from liescope.generate.players.run_limits import Limits, Price, bundled_price, bundled_prices, price_of, read_prices
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from tests.generate.players.openai.stub import Answer, Request, Stub, says


@pytest.fixture
def server(serve_stub: Callable[..., Stub]) -> Stub:
    """Answers as a model would, and counts four characters a token."""

    def answer(request: Request, number: int) -> Answer:
        sent = len(request.body["messages"][0]["content"]) // 4
        rating = {"deceptive": False, "type": "none", "confidence": 0.7, "suspicion": 0.3, "reason": "Nothing odd."}
        words = json.dumps(rating) if "response_format" in request.body else '"I would like to hear more from Bob."'
        return says(words, usage={"prompt_tokens": sent, "completion_tokens": 50})

    return serve_stub(answer)


def test_it_tells_the_calls_and_prompts_that_the_run_then_has(server: Stub, tmp_path: Path) -> None:
    options: dict[str, Any] = {"players": [f"openai:m@{server.url}"], "games": 6, "design": "self", "assess": True}
    found = liescope.forecast("mini-mafia", out=tmp_path / "run", **options)
    assert not server.requests
    assert not (tmp_path / "run").exists()
    play("mini-mafia", out=tmp_path / "run", preflight=False, **options)
    with Journal.open(tmp_path / "run") as journal:
        calls = [call for game_id in journal.game_ids() for call in journal.calls(game_id)]
    assert {ask.kind: round(ask.calls) for ask in found.asks} == Counter(call["kind"] for call in calls)
    spent = sum(call["prompt_tokens"] for call in calls)
    assert sum(ask.prompt_tokens for ask in found.asks) == pytest.approx(spent, rel=0.2)  # scripts say more or less


def test_of_a_run_that_has_begun_it_tells_what_is_left_from_what_was_counted(server: Stub, tmp_path: Path) -> None:
    options: dict[str, Any] = {"players": [f"openai:m@{server.url}"], "games": 6, "design": "self"}
    fresh = liescope.forecast("mini-mafia", price=["m=1,2"], **options)
    assert play("mini-mafia", out=tmp_path / "run", max_tokens=30_000, concurrency=1, **options).tally.stop
    left = liescope.forecast("mini-mafia", out=tmp_path / "run", price=["m=1,2"], **options)
    assert 0 < left.left < left.planned == 6
    assert left.calls == pytest.approx(fresh.calls * left.left / 6)
    answers = sum(ask.completion_tokens for ask in left.asks)
    assert answers == pytest.approx(50 * left.calls)
    prompts = sum(ask.prompt_tokens for ask in left.asks)
    assert left.cost == pytest.approx((prompts + 2 * answers) / 1e6, rel=1e-3)
    with pytest.raises(PlanChanged):
        liescope.forecast("mini-mafia", out=tmp_path / "run", **(options | {"games": 7}))


@pytest.mark.long
def test_where_there_are_many_cells_each_player_counts_by_its_games_all_the_same() -> None:
    def calls(games: int) -> dict[str, float]:
        players = [f"openai:m{number}@http://localhost/v1" for number in range(9)]
        found = liescope.forecast("mini-mafia", players=players, games=games, design="full")
        return {model: sum(ask.calls for ask in found.asks if ask.model == model) for model in found.unpriced}

    once, twice = calls(1), calls(2)
    assert len(once) == 9
    assert sum(twice.values()) == pytest.approx(2 * sum(once.values()))
    assert max(once.values()) < 1.4 * min(once.values())


def test_each_player_is_counted_in_its_own_roles_and_scripts_are_free() -> None:
    players = ["openai:gpt-4.1-mini", "scripted:bold"]
    found = liescope.forecast("mini-mafia", players=players, games=5, currency="USD")
    alone = liescope.forecast("mini-mafia", players=players[:1], games=10 * 5, design="self")
    assert {ask.model for ask in found.asks} == {"gpt-4.1-mini"}
    assert 0 < found.calls < alone.calls
    assert found.unpriced == []
    free = liescope.forecast("mini-mafia", players=["scripted:bold"])
    assert (free.calls, free.asks, free.cost) == (0, (), None)


def test_a_limit_on_answers_bounds_them_and_a_budget_to_think_raises_them() -> None:
    def answers(options: str) -> float:
        found = liescope.forecast("mini-mafia", players=[f"openai:m@http://localhost/v1?{options}"], design="self")
        return sum(ask.completion_tokens for ask in found.asks)

    assert answers("max_tokens=20") < answers("") < answers("thinking=2000")


@pytest.mark.parametrize("game", ["mini-mafia", pytest.param("werewolf", marks=pytest.mark.long)])
def test_the_command_fits_one_screen_asks_nobody_and_needs_no_key(
    game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    players = ["--player", "openai:gpt-4.1-mini", "--player", f"openai:{'x' * 60}@http://127.0.0.1:9/v1"]
    words = ["play", game, *players, "--games", "3", "--assess", "--out", str(tmp_path / "run"), "--dry-run"]
    assert cli.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert "no price known" in "\n".join(lines)
    assert not (tmp_path / "run").exists()
    assert cli.main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unpriced"] == ["x" * 60]
    assert found["cost"] > 0


def test_bundled_prices_hold_for_their_host_alone() -> None:
    for known in bundled_prices().values():
        assert known.completion > known.prompt > (known.cached or 0) > 0
    openai = "api.openai.com"
    known = bundled_price(openai, "gpt-4.1-mini")
    assert bundled_price(openai, "gpt-4.1-mini-2025-04-14") == known
    assert bundled_price("openrouter.ai", "gpt-4.1-mini") is None
    assert price_of({}, "USD", openai, "gpt-4.1-mini") == known
    assert price_of({}, "EUR", openai, "gpt-4.1-mini") is None
    own = Price(1.0, 2.0)
    assert price_of({"gpt-4.1-mini": own}, "USD", openai, "gpt-4.1-mini (temperature=1)", "gpt-4.1-mini") == own


def test_a_file_of_prices_is_read(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[prices]\n"a" = [1, 2]\n"b/c:d" = [0.5, 1.5, 0.1]\n')
    assert read_prices(str(file)) == {"a": Price(1, 2), "b/c:d": Price(0.5, 1.5, 0.1)}
    found = liescope.forecast("mini-mafia", players=["openai:a@http://localhost/v1"], price=[str(file)])
    assert found.unpriced == []
    for text in ('[prices]\n"a" = [1]', "[other]", "[prices", '[prices]\n"a" = [-1, 2]', '[prices]\n"a" = [nan, 1]'):
        file.write_text(text)
        with pytest.raises(BadData, match="prices"):
            read_prices(str(file))
    with pytest.raises(BadData, match="cannot be read"):
        read_prices(str(tmp_path / "none.toml"))
    assert read_prices("b=c=1,2,0.5") == {"b=c": Price(1, 2, 0.5)}


def test_a_budget_in_money_works_for_models_that_the_table_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    unknown = ["openai:m@http://127.0.0.1:9/v1"]
    with pytest.raises(UsageError, match="--price m=PROMPT,COMPLETION"):
        play("mini-mafia", out=tmp_path / "run", players=unknown, max_cost=1.0)
    from liescope.generate.players.openai.openai_player import open_openai
    from liescope.generate.players.player_protocol import PlayerContext

    context = PlayerContext(log=lambda _: None, game="mini-mafia", limits=Limits(max_cost=1.0))
    assert open_openai("gpt-4.1-mini", context)._opened.price == Price(0.4, 1.6, 0.1)


def test_what_the_run_would_refuse_the_forecast_refuses() -> None:
    with pytest.raises(UnknownName):
        liescope.forecast("mini-mafia", players=["openai:m?temprature=1"])
    with pytest.raises(UsageError):
        liescope.forecast("mini-mafia", learning="on", design="full")
    with pytest.raises(UsageError, match="memory is full"):
        liescope.forecast("mini-mafia", players=["openai:m?memory=summary:all"])
