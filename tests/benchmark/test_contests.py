"""Contests of a deceiver and a judge: counted once where they depend on each other, fitted, told, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy.special import expit, logit

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability import contests
from liescope.benchmark.capability.contests import count_contests
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.benchmark.capability.counts import SCHEMA, schema_of, tally
from liescope.benchmark.capability.fit_report import fit_lines
from liescope.benchmark.capability.forms import CONTESTS
from liescope.benchmark.capability.model import DEFAULT, MARGIN, variant
from liescope.benchmark.capability.posterior import Posterior, sampled
from liescope.benchmark.fitting import fit
from liescope.benchmark.reporting import report
from liescope.common.errors import LiescopeError, UsageError
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.games.shared_rules import Contest, doubted
from liescope.generate.corpus.build import build
from liescope.generate.corpus.open import records
from liescope.generate.runs.play import play

pytestmark = pytest.mark.slow
Floats = npt.NDArray[np.float64]
MODELS = ("ant", "bee", "cat", "dog", "eel", "fly")
SHORT = SamplerOptions(draws=400, tune=400, chains=2)
HEADER = "deceiver,judge,fooled,contests\n"


def drawn(random: np.random.Generator, p: Floats, each: int) -> pl.DataFrame:
    """Counts of so many contests of each pair."""
    rows = [
        (one, other, int(random.binomial(each, p[i, j])), each)
        for (i, one), (j, other) in product(enumerate(MODELS[: len(p)]), repeat=2)
    ]
    return tally(pl.DataFrame(rows, schema_of(CONTESTS), orient="row"))


def held(found: Posterior, truth: dict[str, Floats]) -> list[bool]:
    """Whether the 95% interval of each score holds what was planted."""
    inside = []
    for name, values in truth.items():
        lo, hi = np.quantile(found.flat()[name], (0.025, 0.975), axis=0)
        inside += list((lo <= values) & (values <= hi))
    return inside


@pytest.mark.long
def test_it_is_the_model_of_three_roles_for_one_voter_who_only_compares() -> None:
    counts = drawn(np.random.default_rng(3), np.full((4, 4), 0.4), 30)
    three = counts.select("deceiver", "judge", pl.lit("all"), "fooled", "contests")
    three.columns = list(SCHEMA)
    one, other = sampled(counts, MARGIN, SHORT), sampled(three, replace(DEFAULT, offset=False), SHORT)
    for mine, theirs in (("m", "m"), ("v", "d"), ("rho", "rho")):
        np.testing.assert_allclose(one.draws[mine], other.draws[theirs])
    assert np.allclose(one.flat()["m"].sum(axis=1), 0)
    chances = expit(one.flat()["m"][:, [0]] - one.flat()["v"][:, [1]])
    np.testing.assert_allclose(one.chances(counts.filter(deceiver="ant", judge="bee")), chances)


def test_a_file_of_contests_is_fitted_told_and_written(tmp_path: Path) -> None:
    m, v = np.array([1.2, 0.3, -0.3, -1.2]), np.array([1.0, 0.0, 0.5, 1.5])
    table = tmp_path / "contests.csv"
    drawn(np.random.default_rng(1), expit(m[:, None] - v), 400).write_csv(table)
    result = fit(table, out=tmp_path / "report", draws=500, tune=500)
    assert sum(held(result.fits[0].posterior, {"m": m, "v": v})) >= 7
    assert result.scores.columns[:2] == ["model", "m"]
    assert {"v", "m_contests"} <= set(result.scores.columns)
    assert not {"d", "b", "m_games"} & set(result.scores.columns)
    assert result.findings[0].startswith("ant deceives best as the deceiver")
    assert result.findings[1].startswith("dog is hardest to fool as the judge")
    words = "\n".join(fit_lines(result)) + (tmp_path / "report" / "report.html").read_text()
    assert not [word for word in ("mafi", "detective", "villager", "disclose") if word in words.lower()]


@pytest.mark.parametrize(
    ("text", "settings", "says"),
    [
        (f"{HEADER}a,b,1,0\n", {}, "1 fooled in 0 contests is impossible"),
        (f"{HEADER}a,,1,2\n", {}, "a cell needs the names of a deceiver and a judge"),
        ("deceiver,judge,won,contests\na,b,1,2\n", {}, "there is no column 'fooled'; counts have the columns deceiver"),
        (f"{HEADER}a,b,1,2\n", {"model": "paper"}, "leave --model and --term out"),
        (f"{HEADER}a,b,1,2\n", {"term": ("last",)}, "leave --model and --term out"),
        (f"{HEADER}a,b,2,2\nb,a,2,2\n", {}, "every contest ended alike"),
        (f"{HEADER}a,a,1,2\nb,b,1,2\n", {}, "leave 1 of 3 parameters undetermined"),
        (f"{HEADER}a,a,1,2\n", {}, "a fit compares models"),
    ],
)
def test_what_cannot_be_fitted_is_one_sentence(
    text: str, settings: dict[str, object], says: str, tmp_path: Path
) -> None:
    (tmp_path / "contests.csv").write_text(text)
    with pytest.raises(LiescopeError, match=says):
        fit(tmp_path / "contests.csv", **settings)


def test_a_report_says_that_contests_have_no_standings_and_no_backgrounds(tmp_path: Path) -> None:
    (tmp_path / "contests.csv").write_text(f"{HEADER}a,b,1,2\nb,a,0,2\n")
    told = report(tmp_path / "contests.csv")
    assert told.fit is None
    assert told.findings == ("The judge was fooled in 25.0% of 4 contests.",)
    assert "a deceiver meets a judge" in told.missing["Standings, and scores against backgrounds"]


def test_contests_and_games_of_three_roles_are_not_added(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(f"{HEADER}a,b,1,2\nb,a,1,2\n")
    (tmp_path / "other.csv").write_text(",".join(SCHEMA) + "\na,b,a,1,2\n")
    with pytest.raises(UsageError, match="no common scale; fit them apart"):
        load_conditions([tmp_path / "one.csv", tmp_path / "other.csv"], independent=True)


def test_two_games_are_two_conditions_by_their_names(tmp_path: Path) -> None:
    for game in ("deal", "cheat"):
        play(game, players=["scripted:bold", "scripted:novice"], design="background", games=2, out=tmp_path / game)
    found = load_conditions([tmp_path / "deal", tmp_path / "cheat"])
    assert sorted(name.split()[0] for name in found) == ["cheat", "deal"]


def test_a_game_without_the_roles_and_without_contests_is_refused_by_name(tmp_path: Path) -> None:
    play("one-night-werewolf", games=2, out=tmp_path / "run")
    with pytest.raises(UsageError, match="2 because one-night-werewolf has neither a mafioso, a detective and a vill"):
        fit(tmp_path / "run")


def recorded(number: int, *models: str) -> GameRecord:
    seats = tuple(Seat(f"seat {at}", "", "", None, model, Source.MODEL) for at, model in enumerate(models))
    return GameRecord(f"game {number}", "duel", None, "", seats, (), Status.DONE)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Contest]]:
    """By game, its contests."""
    told: dict[str, list[Contest]] = {}
    rules = SimpleNamespace(contests=lambda game: told[game.game_id])
    monkeypatch.setattr(contests, "GAMES", {"duel": rules})
    return told


def counted(games: list[GameRecord]) -> tuple[pl.DataFrame, dict[str, int], tuple[str, ...]]:
    (found,) = count_contests({game.game_id: (("duel", "{}"), None) for game in games}, games).values()
    return found.cells, dict(found.excluded), found.notes


def test_two_players_count_once_in_a_game_and_those_who_judge_together_are_one(tried: dict[str, list[Contest]]) -> None:
    games = [recorded(n, "ant", "bee", "cat") for n in range(100)]
    for number, game in enumerate(games):
        tried[game.game_id] = [Contest("seat 0", "seat 1", fooled) for fooled in (True, False, True, True)]
        tried[game.game_id] += [Contest("seat 0", "seat 2", False)]
        games[number] = game
    cells, excluded, notes = counted(games)
    (_, _, fooled, of), row = cells.rows()
    assert (of, row) == (100, ("ant", "cat", 0, 100))
    assert 60 < fooled < 90  # three of four
    assert not excluded
    assert "Of 500 contests 200 are counted" in notes[0]
    for number, game in enumerate(games):
        tried[game.game_id] = [Contest("seat 0", f"seat {seat}", number < 30, together=True) for seat in (1, 2)]
    games[1:] = [recorded(number, "ant", "bee", "bee") for number in range(1, 99)] + [recorded(99, "ant", "bee", "bee")]
    cells, excluded, notes = counted(games)
    assert cells.rows() == [("ant", "bee", 29, 99)]
    assert excluded == {"those who judged together were several models": 1}
    assert not notes
    tried[games[0].game_id] = []
    assert counted(games[:1])[1] == {"nobody tried to deceive a judge in them": 1}


def additive(p: Floats) -> dict[str, Floats]:
    """The scores that come nearest to these chances, of a deceiver in a row and a judge in a column."""
    of = logit(p)
    return {"m": of.mean(axis=1) - of.mean(), "v": -of.mean(axis=0)}


def dependent(
    random: np.random.Generator, tried: dict[str, list[Contest]]
) -> tuple[list[GameRecord], dict[str, Floats]]:
    """Sixty games of five seats, in which each lies some ten times to all others. In a game a deceiver has good luck or
    bad, and so has each lie.
    """
    m, v, luck = random.normal(0, 0.8, 6), random.normal(0, 0.8, 6), (1.0, 1.0)
    x, weight = np.polynomial.hermite_e.hermegauss(30)
    away = (m[:, None] - v)[..., None] + np.hypot(*luck) * x
    truth = additive((expit(away) * weight).sum(axis=-1) / weight.sum())
    games = []
    for number in range(60):
        seats = random.integers(0, 6, 5)
        games.append(recorded(number, *(MODELS[seat] for seat in seats)))
        mine = tried[games[-1].game_id] = []
        for i, good in enumerate(random.normal(0, luck[0], 5)):
            for lie in good + random.normal(0, luck[1], random.integers(5, 16)):
                fooled = random.random(5) < expit(m[seats[i]] - v[seats] + lie)
                mine += [Contest(f"seat {i}", f"seat {j}", bool(fooled[j])) for j in range(5) if j != i]
    return games, truth


@pytest.mark.long
def test_intervals_hold_what_was_planted_in_95_of_100_also_where_contests_depend_on_each_other(
    tried: dict[str, list[Contest]],
) -> None:
    inside: dict[str, list[bool]] = {"from the priors": [], "dependent": [], "all contests": []}
    for number in range(40):
        random = np.random.default_rng(number)
        settings = SHORT.model_copy(update={"seed": number + 1})
        m, v = (random.rayleigh() * random.normal(size=6) for _ in "mv")
        truth = {"m": m - m.mean(), "v": v - v.mean() + random.normal(0, 2)}
        rho = random.beta(1, 19)
        p = np.clip(expit(truth["m"][:, None] - truth["v"]), 1e-6, 1 - 1e-6)
        scattered = random.beta(p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho)
        inside["from the priors"] += held(sampled(drawn(random, scattered, 40), MARGIN, settings), truth)
        games, truth = dependent(random, tried)
        inside["dependent"] += held(sampled(counted(games)[0], MARGIN, settings), truth)
        rows = [(*_models(game, one), int(one.fooled), 1) for game in games for one in tried[game.game_id]]
        every = tally(pl.DataFrame(rows, schema_of(CONTESTS), orient="row"))
        inside["all contests"] += held(sampled(every, MARGIN, settings), truth)
    shares = {name: float(np.mean(found)) for name, found in inside.items()}
    print(shares)
    assert 0.9 <= shares["from the priors"] <= 0.99
    assert 0.9 <= shares["dependent"] <= 0.99
    assert shares["all contests"] < 0.9


def _models(game: GameRecord, one: Contest) -> Iterator[str]:
    return (game.seat(name).model for name in (one.deceiver, one.judge))


def skilled(m: float, v: float) -> str:
    return f"scripted:steady?m={m:g}&v={v:g}"


def fooled_in_two_truths(m: float, v: float, d: float = 1.0) -> float:
    """How often a scripted teller's lie is not the one that is guessed: both go by the tone alone."""
    weight = {True: expit(2 * v), False: expit(-2 * v)}  # of a statement that sounds unsure, and of one that does not
    unsure, found = np.array([expit(-1.5 * m), expit(-1.5 * d - 1), expit(-1.5 * d - 1)]), 0.0
    for sounds in product((True, False), repeat=3):
        likely = np.prod(np.where(sounds, unsure, 1 - unsure))
        found += likely * weight[sounds[0]] / sum(weight[one] for one in sounds)
    return 1 - float(found)


@pytest.mark.long
def test_planted_players_of_a_game_come_back_from_its_run_and_equally_from_its_corpus(tmp_path: Path) -> None:
    skills = [(-2.0, 0.7), (-0.7, 1.4), (0.4, 0.2)]
    names = [skilled(*each) for each in skills]
    play("two-truths", players=names, design="full", games=60, turns=1, out=tmp_path / "run")
    result = fit(tmp_path / "run", draws=500, tune=500)
    truth = additive(np.array([[fooled_in_two_truths(m, v) for _, v in skills] for m, _ in skills]))
    posterior = result.fits[0].posterior
    order = [names.index(name) for name in posterior.names["m"]]
    assert sum(held(posterior, {name: values[order] for name, values in truth.items()})) >= 5
    assert result.scores["model"].to_list() == names[::-1]
    build(tmp_path / "run", out=tmp_path / "corpus")
    run, corpus = (load_conditions([tmp_path / name])[""] for name in ("run", "corpus"))
    assert run.cells.equals(corpus.cells)
    assert (run.games, run.sources, run.notes) == (9 * 60 * 2, corpus.sources, ())
    without = load_conditions([tmp_path / "run"], without=[names[0]])[""]
    assert without.games == 4 * 60 * 2
    assert f"600 of 1080 contests are left out, in which {names[0]} is." in without.notes


def test_players_of_a_game_of_one_role_meet_seat_by_seat_and_take_turns_over_the_seats(tmp_path: Path) -> None:
    players, out = ["scripted:bold", "scripted:novice"], tmp_path / "run"
    play("cheat", players=players, games=3, turns=9, out=out)
    assert play("cheat", players=players, games=3, turns=9, out=out).tally.before == 12
    lineups = {tuple(sorted(seat.model for seat in game.seats)) for game in records(out)}
    assert len(lineups) == 4  # each alone, and with two of the other
    held = Counter((place, seat.model) for game in records(out) for place, seat in enumerate(game.seats))
    assert set(held.values()) == {6}
    (counts,) = load_conditions([out]).values()
    assert counts.cells.select("deceiver", "judge").rows() == list(product(players, repeat=2))
    every = sum(len([*doubted(game)]) for game in records(out))
    assert counts.notes[0].startswith(f"Of {every} contests {counts.games} are counted")


@pytest.mark.long
def test_the_jester_meets_all_others_where_they_are_one_model(tmp_path: Path) -> None:
    players = ["scripted:bold", "scripted:novice"]
    result = play("werewolf", players=players, design="background", games=4, debate_turns=2, out=tmp_path / "run")
    (counts,) = load_conditions([tmp_path / "run"]).values()
    assert counts.form is CONTESTS
    assert counts.games + counts.excluded["those who judged together were several models"] == result.tally.done
    assert counts.cells["contests"].to_list() == [4] * 4
    assert variant(DEFAULT.name, (), counts.form) is MARGIN
