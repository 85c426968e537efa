"""Planted skills: how a spec names them, and that they decide games as the capability model says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from liescope.common.errors import UsageError
from liescope.games.record import Source
from liescope.games.script.persona import PROFILES
from liescope.generate.players.scripted import ScriptedPlayer

WinRate = Callable[..., float]


def test_a_profile_can_be_overridden_skill_by_skill(player: Callable[[str], ScriptedPlayer]) -> None:
    assert player("bold").skills == PROFILES["bold"]
    assert player("bold?m=1.5&v=.4").skills == PROFILES["bold"].model_copy(update={"m": 1.5, "v": 0.4})
    assert player("steady?j=2&b=0.5").skills == PROFILES["steady"].model_copy(update={"j": 2.0, "b": 0.5})
    assert player("bold").source is Source.SCRIPTED


def test_equal_players_have_equal_names(player: Callable[[str], ScriptedPlayer]) -> None:
    assert player("bold?v=.40&m=1.50").model == player("bold?m=1.5&v=0.4").model == "scripted:bold?m=1.5&v=0.4"
    assert player("steady?b=.5&j=2.0").model == "scripted:steady?j=2&b=0.5"
    assert player("steady?b=0").model == "scripted:steady"
    assert player("bold?").model == player(f"bold?m={PROFILES['bold'].m}").model == "scripted:bold"
    assert player("bold?m=0.12345678").model != player("bold?m=0.12345679").model


@pytest.mark.parametrize(
    "argument",
    ["bold?m=", "bold?m=high", "bold?m=nan", "bold?m=inf", "bold?k=1", "bold?m=1&m=2", "bold?j=", "bold?b=x"],
)
def test_a_skill_that_is_none_or_no_number_is_refused(player: Callable[[str], ScriptedPlayer], argument: str) -> None:
    with pytest.raises(UsageError):
        player(argument)


@pytest.fixture(scope="module")
def rates(win_rate: WinRate) -> dict[tuple[float, float], float]:
    """How often the mafia wins at v = 1, by m and d."""
    skills = [(-1.5, 0), (-0.75, 0), (0, 0), (0.75, 0), (1.5, 0), (0, -1.5), (0, -0.75), (0, 0.75), (0, 1.5)]
    return {
        (m, d): win_rate(110, mafioso=f"steady?m={m}", detective=f"steady?d={d}", villager="steady?v=1")
        for m, d in skills
    }


def test_a_better_detector_follows_whoever_speaks_better(win_rate: WinRate) -> None:
    pair = {"mafioso": "steady?m=-1", "detective": "steady?d=1"}
    assert win_rate(110, villager="steady?v=0.3", **pair) - 0.08 > win_rate(110, villager="steady?v=2", **pair)
    pair = {"mafioso": "steady?m=1", "detective": "steady?d=-1"}
    assert win_rate(110, villager="steady?v=0.3", **pair) + 0.08 < win_rate(110, villager="steady?v=2", **pair)


@pytest.mark.parametrize("skill", [-2.0, 2.0])
def test_a_villager_that_detects_nothing_leaves_the_game_to_chance(win_rate: WinRate, skill: float) -> None:
    rate = win_rate(240, mafioso=f"steady?m={skill}", detective=f"steady?d={-skill}", villager="steady?v=0")
    assert rate == pytest.approx(0.5, abs=0.08)


def test_win_rates_follow_the_difference_of_skills(rates: dict[tuple[float, float], float]) -> None:
    """At v = 1 the logit of the mafia's wins has a slope near 1 in m − d, whichever of the two skills makes it."""
    x, y = np.array([(m - d, np.log(rate / (1 - rate))) for (m, d), rate in rates.items()]).T
    slope, offset = np.polyfit(x, y, 1)
    assert 0.7 < slope < 1.2
    assert abs(offset) < 0.6
    assert np.corrcoef(x, y)[0, 1] > 0.97
