"""What holds in every study: nothing is scored by what learned from it, and who cannot know is at chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope.detectors.detector import posteriors_of_scores
from liescope.detectors.examples import read_statements
from liescope.detectors.study.controls import BESIDE_DETECTORS, CONTROLS, K_OF_N, ROLE_ORACLE, with_k_of_n
from liescope.detectors.study.evaluation_report import report
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.findings import YES
from liescope.detectors.study.metrics import WITHIN, within_games
from liescope.detectors.study.schemes import by_group
from liescope.detectors.study.scores import CONTROL, ScoringPlan, scored, with_script, with_tasks
from liescope.detectors.study.study import scheme_of
from liescope.detectors.view import transcript
from liescope.detectors.view.transcript import SAID, GameMoment, Transcript, TranscriptTurn, read_transcripts
from tests.common.without_figures import drawn_figures
from tests.detectors.conftest import Corpus, Rows
from tests.detectors.test_findings import GOOD, figure, made, ranked


@pytest.fixture(scope="module")
def statements(corpus: Path) -> pl.DataFrame:
    return read_statements(corpus)


@pytest.mark.parametrize("split", ["test", "all", "out-of-fold"])
def test_nothing_is_scored_by_what_learned_from_its_group(split: str, statements: pl.DataFrame) -> None:
    plan = ScoringPlan(split)
    scheme = scheme_of(statements, "role", plan)
    asked = set(plan.evaluated(statements)["statement_id"])
    for parts in scheme.repeats:
        found = set()
        for part in parts:
            assert not set(scheme.groups[part.learn]) & set(scheme.groups[part.score])
            found |= set(scheme.ids[part.score])
        assert asked <= found


def test_few_groups_are_divided_several_times_and_each_time_otherwise(statements: pl.DataFrame) -> None:
    scheme = scheme_of(statements, "role", ScoringPlan("out-of-fold"))
    assert len(scheme.repeats) > 1
    divisions = [sorted(tuple(part.score.tolist()) for part in parts) for parts in scheme.repeats]
    assert all(one != other for at, one in enumerate(divisions) for other in divisions[:at])


@pytest.mark.parametrize("name", [name for name in BESIDE_DETECTORS if name not in (K_OF_N, ROLE_ORACLE)])
def test_a_control_never_learns_the_labels_that_it_is_scored_on(name: str, statements: pl.DataFrame) -> None:
    table = statements.head(180)
    y, groups = table["label_role"].to_numpy(), table["siblings"].to_numpy().astype(np.str_)
    scheme = by_group(table["statement_id"], groups, y, np.ones(len(y), dtype=bool), 0, 1, 3)
    probe, mine = CONTROLS[name].made(table, 0), scheme.repeats[0][0].score
    turned = y.copy()
    turned[mine] = ~turned[mine]
    assert (scheme.scores(probe)[mine] == replace(scheme, y=turned).scores(probe)[mine]).all()


def test_who_knows_the_share_of_lies_of_a_task_is_at_chance_within_tasks_however_these_are_split() -> None:
    draw = np.random.default_rng(0)
    task, split = draw.integers(4, size=400), draw.choice(["train", "test"], 400)
    lies = draw.random(400) < 0.2 + 0.15 * task + 0.2 * (split == "test")
    table = pl.DataFrame(
        {"statement_id": map(str, range(400)), "game_id": map(str, range(400)), "task": task.astype(str)}
    ).with_columns(split=pl.Series(split), label_gold=pl.Series(lies), y=pl.Series(lies))
    told = with_tasks(with_k_of_n(table, "gold").with_columns(score=K_OF_N), pl.col("y"))
    for part in (told, told.filter(split="test")):
        assert within_games(scored(part), np.ones((1, part.height), dtype=np.float32))[0] == 0.5


def test_how_many_deceive_is_not_told_from_labels_where_the_rules_are_not_known(make_corpus: Corpus) -> None:
    def elsewhere(rows: Rows) -> None:
        for row in (*rows["games"], *rows["statements"]):
            row["game"] = "a-game-of-strangers"

    assert {one.deceivers for one in read_transcripts(make_corpus(games=5)).values()} == {1}
    assert {one.deceivers for one in read_transcripts(make_corpus(games=5, change=elsewhere)).values()} == {None}


def test_turns_are_the_same_in_whatever_order_games_are_asked_for(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {name: [*game.turns] for name, game in read_transcripts(corpus).items()}
    monkeypatch.setattr(transcript, "_TOGETHER", 3)
    monkeypatch.setattr(transcript, "_KEPT", 2)
    games = read_transcripts(corpus)
    asked = [*np.random.default_rng(0).permutation(sorted(games))] * 2
    assert len(games) > 12
    assert all([*games[name].turns] == whole[name] for name in asked)
    assert all(games[name].turns[1:3] == tuple(whole[name][1:3]) for name in asked)
    assert all(len(games[name].turns) == len(whole[name]) > 0 for name in asked)
    said = pl.scan_parquet(corpus / "statements" / "*.parquet").select("statement_id", "text").collect().rows()
    turns = {turn.key: turn.text for game in games.values() for turn in game.turns if turn.kind == SAID}
    assert turns == dict(said)


@pytest.mark.parametrize("deceivers", [None, 1])
def test_a_score_that_is_alike_for_all_suspects_nobody_more_however_much_each_says(deceivers: int | None) -> None:
    turns = tuple(TranscriptTurn(SAID, name, "Hm.") for name in "aaaaab")
    game = Transcript("g", ("a", "b", "c"), turns, "", deceivers)
    (found,) = posteriors_of_scores([GameMoment(game)], [dict.fromkeys(range(6), 1 / 3)])
    assert len(set(found.values())) == 1  # to the bit, since players are ranked by it
    assert found["a"] == pytest.approx(1 / 3)


def test_statements_of_several_scripts_are_told_apart_by_most_of_their_letters() -> None:
    texts = ["we talk, да"] * 30 + ["говорим, ok 🙂"] * 30 + ["只是说"] * 3 + ["12 !"] * 5
    found = with_script(pl.DataFrame({"text": texts}))["script"].to_list()
    assert found == ["Latin"] * 30 + ["Cyrillic"] * 30 + [None] * 8
    assert with_script(pl.DataFrame({"text": texts[:30]}))["script"].null_count() == 30


@pytest.mark.parametrize("unit", ["task", "model", "script"])
def test_the_worst_task_model_or_script_stands_in_the_first_sentence(unit: str) -> None:
    parts = [replace(ranked("m", value, 0.1), where=f"test:{unit}={name}") for name, value in (("a", 0.9), ("b", 0.7))]
    assert f"The worst {unit} is b, 0.70" in made(*GOOD, *parts).verdict.words


def test_a_promise_out_of_reach_does_not_take_away_the_one_that_is_kept() -> None:
    rows = [Figure("m", "role", f"test:promised={at}%", "abstained", *by, 400, 80) for at, by in PROMISES]
    found = made(*GOOD, *rows).verdict
    assert found.answer == YES
    assert "no verdict" not in found.words


PROMISES: Sequence[tuple[int, tuple[float, float, float]]] = ((90, (0.2, 0.1, 0.3)), (95, (1.0, 0.95, 1.0)))


@pytest.mark.parametrize("tried", [1, 3, 12])
def test_however_many_are_tried_where_nothing_is_to_be_found_one_is_seldom_above_chance(tried: int) -> None:
    draw, error, worlds = np.random.default_rng(tried), 0.03, 300
    yes = 0
    for _ in range(worlds):
        rows = [
            figure(f"m{at}", WITHIN, value, value - 1.99 * error, value + 1.99 * error)  # Student's of 80 games
            for at, value in enumerate(draw.normal(0.5, error, tried))
        ]
        yes += made(*rows).verdict.answer == YES
    assert yes / worlds <= 0.05


def test_the_true_role_stands_in_no_figure_of_rivals_and_the_page_says_why() -> None:
    with drawn_figures():
        page = report(made(*GOOD, ranked(CONTROL + ROLE_ORACLE, 1.0, 0)))
    assert "length" in page.figure
    assert CONTROLS[ROLE_ORACLE].words not in page.figure
    assert any("true role is no rival" in words for section in page.sections for words in section.paragraphs)
