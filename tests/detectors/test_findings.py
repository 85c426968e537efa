"""The first sentence of an evaluation: it answers, and no check, verdict or table of the same report says otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import liescope
from liescope.detectors.study.checks import COPIES, SHUFFLES, Check
from liescope.detectors.study.controls import K_OF_N, ROLE_ORACLE
from liescope.detectors.study.evaluation_report import report
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.findings import NO, OPEN, PARTLY, YES, EvaluationResult
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN
from liescope.detectors.study.scores import ScoringPlan
from tests.detectors.conftest import Corpus

WORDS = [
    *("stone", "river", "paper", "letter", "garden", "window", "morning"),
    *("singer", "doctor", "market", "silver", "winter", "teacher", "orange"),
]


Data = tuple[Any, list[bool] | None]
Judged = Callable[[Callable[..., Data]], EvaluationResult]


def text(draw: np.random.Generator, *more: str) -> str:
    said = [*draw.choice(WORDS, 12), *more]
    return " ".join(draw.permutation(said)).capitalize() + "."


def null(draw: np.random.Generator) -> Data:
    """Labels that mean nothing."""
    return [text(draw) for _ in range(60)], (draw.random(60) < 0.4).tolist()


def copied(draw: np.random.Generator) -> Data:
    """The same, each text three times."""
    texts, labels = [text(draw) for _ in range(60)], (draw.random(60) < 0.5).tolist()
    return [f"{one[:-1]} {end}." for end in ("indeed", "really", "so") for one in texts], labels * 3


def hinted(draw: np.random.Generator) -> Data:
    """Lies have words of their own, which no single word stands for; a few texts stand twice."""
    labels, marks = (draw.random(120) < 0.5).tolist(), ["indeed", "truly", "surely", "really"]
    texts = [text(draw, *draw.choice(marks if lie else WORDS, 2)) for lie in labels]
    return [*texts, *(one[:-1] + " so." for one in texts[:10])], labels + labels[:10]


def marked(draw: np.random.Generator) -> Data:
    """A word that stands in every lie."""
    labels = (draw.random(120) < 0.5).tolist()
    return [text(draw, "perhaps" if lie else draw.choice(WORDS)) for lie in labels], labels


def tasks(draw: np.random.Generator, many: int = 3) -> Data:
    """Conversations of some tasks, all at chance but one that a single letter solves."""
    rows = []
    for number in range(many * 40):
        task, lie = number % many, bool(draw.random() < 0.5)
        said = f"{'B' if lie else 'A'} {text(draw)}" if task == 0 else text(draw)
        messages = [{"role": "user", "content": f"Tell me {task}."}, {"role": "assistant", "content": said}]
        rows.append({"messages": messages, "deceptive": lie, "task": f"task{task}", "model": f"m{number % 2}"})
    return rows, None


def one_class(draw: np.random.Generator) -> Data:
    """Each task has one class, so that knowing the task is knowing the label."""
    rows, _ = tasks(draw, many=4)
    return [{**row, "deceptive": row["task"] < "task2"} for row in rows], None


def languages(draw: np.random.Generator) -> Data:
    """Half of the texts in another script, and lies told by their words there alone."""
    to = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстувцьъз")
    labels = (draw.random(120) < 0.5).tolist()
    other = [text(draw, *draw.choice(["surely", "truly"] if lie else WORDS, 2)).lower() for lie in labels[:60]]
    return [*(one.translate(to) for one in other), *(text(draw) for _ in labels[60:])], labels


KINDS = (null, copied, hinted, marked, tasks, one_class, languages)


def evaluated(folder: Path, rows: Any, labels: Sequence[bool] | None = None) -> EvaluationResult:
    """What anybody gets who trains on their own data and evaluates on it."""
    liescope.train("tfidf", rows, labels, out=folder / "own")
    return liescope.evaluate(folder / "own", rows, labels)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Own data of a kind, evaluated once."""

    @cache
    def once(kind: Callable[..., Data]) -> EvaluationResult:
        return evaluated(tmp_path_factory.mktemp(kind.__name__), *kind(np.random.default_rng(4)))

    return once


QUOTED = re.compile(r"-?\d\.\d\d \(-?\d\.\d\d to -?\d\.\d\d\)")


def contradictions(result: EvaluationResult) -> Iterator[str]:
    """What the first sentence says and a check, a verdict or a table of the same report denies."""
    told, found, first = report(result), result.verdict, report(result).findings[0]
    rows, best = result.rows, found.best
    if not first == str(found) == str(result).splitlines()[0]:
        yield f"the page begins otherwise than the terminal: {first}"
    numbers = {f"{row}" for row in rows} | {
        f"{replace(row, value=-row.value, lo=-row.hi, hi=-row.lo)}" for row in rows if row.lo is not None
    }
    yield from (f"no row has {one}" for one in QUOTED.findall(" ".join(told.findings)) if one not in numbers)
    if best is None:
        return
    tables = [[str(cell) for cell in row] for section in told.sections if section.table for row in section.table.values]
    if not any(row[0] == best.scorer and f"{best}" in row for row in tables):
        yield f"no table has {best} of {best.scorer}"
    good, whole, alarms = (
        found.answer in (YES, PARTLY),
        found.answer == YES,
        {one.name for one in result.checks if one.bad},
    )
    if (good and SHUFFLES in alarms) or (whole and COPIES in alarms):
        yield f"{found.answer} over the alarm of {alarms}"
    here = [row for row in rows if row.scorer == best.scorer and row.metric == best.metric]
    if whole and not best.lo > 0.5:
        yield f"yes at {best}"
    leads = [
        row
        for row in rows
        if (row.where, row.metric, row.scorer) == (best.where, best.metric + DIFFERENCE, best.scorer)
    ]
    behind = [row for row in leads if row.lo is not None and row.lo <= 0 and row.against != "control:role_oracle"]
    if whole and [row for row in behind if row.against.startswith("control:")]:
        yield f"yes, and no better than {behind[0].against}"
    if "ahead of the other" in first and [row for row in behind if not row.against.startswith("control:")]:
        yield "a winner of a tie"
    if found.answer == NO and not alarms and best.lo > 0.5 and not behind:
        yield "no without a reason"
    for unit in ("task", "model", "script"):
        parts = [row for row in here if row.where.startswith(f"{best.where}:{unit}=") and row.lo is not None]
        open_ones = [row for row in parts if row.lo <= 0.5]
        sure = [row for row in parts if any(row.lo > other.hi for other in open_ones)]
        if whole and sure and min(p.hi for p in parts) < 0.5:
            yield f"yes, though some {unit} is below chance"
        if (named := re.search(rf"The worst {unit} is (.+?), ", first)) and parts:
            least = min(row.value for row in parts if row.lo != row.hi)
            if next(row.value for row in parts if row.where.endswith(f"={named[1]}")) > least:
                yield f"{named[1]} is not the worst {unit}"
    if result.within == "" and "game" in " ".join(told.findings):
        yield "texts are called games"
    silent = [row for row in rows if (row.scorer, row.metric, row.value) == (best.scorer, "abstained", 1.0)]
    if whole and any(row.where.endswith("promised=90%") for row in silent) and "gives no verdict" not in first:
        yield "yes, and not a word that it never answers"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_first_sentence_contradicts_a_check_a_verdict_or_a_table(kind: Callable[..., Data], judged: Judged) -> None:
    assert list(contradictions(judged(kind))) == []


def test_no_first_sentence_about_games_contradicts_its_report(make_corpus: Corpus, tmp_path: Path) -> None:
    assert list(contradictions(evaluated(tmp_path, make_corpus(games=30)))) == []


@pytest.mark.long
def test_no_first_sentence_contradicts_its_report_whatever_the_draw(make_corpus: Corpus, tmp_path: Path) -> None:
    for seed in range(12):
        for kind in KINDS:
            result = evaluated(tmp_path / f"{kind.__name__}-{seed}", *kind(np.random.default_rng(seed)))
            assert list(contradictions(result)) == [], (kind.__name__, seed)
            if kind is null:
                assert result.verdict.answer not in (YES, PARTLY), seed
    for tell in (0.0, 0.3, 0.9):
        corpus = make_corpus(games=60, tell=tell)
        assert list(contradictions(evaluated(tmp_path / f"games-{tell}", corpus))) == [], tell


def test_texts_that_stand_several_times_with_labels_that_mean_nothing_are_no_success(judged: Judged) -> None:
    found = judged(copied).verdict
    assert found.answer == NO
    assert "repeat texts that own learned from" in found.words
    assert str(judged(copied)).startswith(f"{NO}: ")


def test_a_few_copies_that_explain_nothing_are_said_and_take_no_sentence_away(judged: Judged) -> None:
    result = judged(hinted)
    (found,) = (check for check in result.checks if check.name == COPIES)
    assert not found.bad
    assert found.sentences[0] in result.notes
    assert found.sentences[0] not in result.verdict.words


def test_a_word_that_stands_in_every_lie_is_named_and_is_no_success(judged: Judged) -> None:
    found = judged(marked).verdict
    assert found.answer == NO
    assert 'the word "perhaps" alone' in found.words


def test_one_task_that_a_letter_solves_is_named_beside_those_at_chance(judged: Judged) -> None:
    found = judged(tasks).verdict
    assert found.answer in (OPEN, PARTLY)
    assert "not shown to be above chance on 2 of 3 tasks" in found.words
    assert "best is task0" in found.words


def figure(scorer: str, metric: str, value: float, lo: float, hi: float, against: str | None = None) -> Figure:
    return Figure(scorer, "role", "test", metric, value, lo, hi, 400, 80, 0.3, against)


def ranked(name: str, value: float, half: float = 0.05) -> Figure:
    return figure(name, WITHIN, value, value - half, value + half)


def lead(name: str, other: str, value: float, half: float = 0.05) -> Figure:
    return figure(name, WITHIN + DIFFERENCE, value, value - half, value + half, other)


STATEMENTS = pl.DataFrame(
    {
        "statement_id": ["1", "2", "3", "4"],
        "game_id": ["a", "a", "b", "b"],
        "siblings": ["a", "a", "b", "b"],
        "game": ["mini-mafia"] * 4,
        "split": ["test"] * 4,
        "speaker_model": ["scripted:bold"] * 4,
        "source": ["scripted"] * 4,
        "task": pl.Series([None] * 4, dtype=pl.String),
        "label_role": [True, False, True, False],
    }
)


def made(*rows: Figure, checks: Sequence[Check] = ()) -> EvaluationResult:
    """An evaluation with these figures."""
    names = {row.scorer for row in rows if not row.scorer.startswith("control:")}
    models = {name: {"corpus": {"name": "mini"}, "text": {}} for name in names}
    told = {"plan": ScoringPlan("test"), "scores": pl.DataFrame(), "statements": STATEMENTS, "thresholds": {}}
    return EvaluationResult(corpus="mini", target="role", models=models, rows=rows, checks=tuple(checks), **told)


GOOD = (ranked("m", 0.8), ranked("control:length", 0.6), lead("m", "control:length", 0.2))


def test_better_than_every_control_is_yes_and_names_the_nearest() -> None:
    near = (ranked("control:form", 0.7), lead("m", "control:form", 0.1))
    found = made(*GOOD, *near).verdict
    assert found.answer == YES
    assert '"capitals, marks" comes closest, 0.10' in found.words
    assert near[1] in found.rests_on


@pytest.mark.parametrize(
    ("value", "half", "answer"),
    [(0.02, 0.06, OPEN), (-0.1, 0.05, NO), (-0.001, 0.005, NO), (0.0, 0.0, NO)],
    ids=["unsettled", "worse", "equal", "certainly equal"],
)
def test_a_control_that_is_not_behind_takes_the_yes_away(value: float, half: float, answer: str) -> None:
    found = made(
        ranked("m", 0.8), ranked("control:length", 0.8 - value), lead("m", "control:length", value, half)
    ).verdict
    assert found.answer == answer
    assert '"length"' in found.words


def test_a_difference_without_width_is_certain() -> None:
    assert (
        made(ranked("m", 0.8), ranked("control:length", 0.5, 0), lead("m", "control:length", 0.3, 0)).verdict.answer
        == YES
    )


def test_who_knows_what_is_to_be_found_is_no_rival() -> None:
    rows = (ranked("control:role_oracle", 1.0, 0), lead("m", f"control:{ROLE_ORACLE}", -0.2))
    assert made(*GOOD, *rows).verdict.answer == YES


def test_no_alarm_of_a_check_leaves_a_yes() -> None:
    without = replace(ranked("m", 0.5), where="test:without-copies")
    copied = Check(
        COPIES, "m", "role", True, ("71% of the statements repeat statements that m learned from.",), (without,)
    )
    leaking = Check(SHUFFLES, "control:shuffled", "role", True, ("The division itself lets labels through.",))
    assert made(*GOOD, checks=[copied]).verdict.answer == NO
    assert (
        made(*GOOD, checks=[replace(copied, figures=(replace(without, value=0.7, lo=0.6, hi=0.8),))]).verdict.answer
        == PARTLY
    )
    assert made(*GOOD, checks=[leaking]).verdict.answer == NO
    quiet = replace(copied, bad=False)
    assert made(*GOOD, checks=[quiet]).verdict.answer == YES


def test_equals_have_no_winner() -> None:
    rows = [*GOOD, ranked("n", 0.8), lead("m", "n", 0.0), lead("n", "control:length", 0.2)]
    found = made(*rows).verdict
    assert "m (not told apart from n)" in found.words
    clear = [*GOOD, ranked("n", 0.6), lead("m", "n", 0.2), lead("n", "control:length", 0.0)]
    assert "ahead of the other detector here" in made(*clear).verdict.words


def test_the_best_of_many_is_corrected_for_having_been_picked() -> None:
    alone = made(figure("m0", WITHIN, 0.56, 0.503, 0.62))
    assert "chance, 0.5" not in alone.verdict.words
    many = made(*(figure(f"m{at}", WITHIN, 0.56 - at / 100, 0.503 - at / 100, 0.62) for at in range(6)))
    assert many.verdict.answer == OPEN
    assert "not shown to do better than chance" in many.verdict.words


def test_the_worst_part_stands_beside_the_whole() -> None:
    parts = [replace(ranked("m", value, 0.1), where=f"test:model={name}") for name, value in (("a", 0.9), ("b", 0.75))]
    found = made(*GOOD, *parts).verdict
    assert found.answer == YES
    assert "The worst model is b, 0.75" in found.words
    torn = [parts[0], replace(ranked("m", 0.5, 0.1), where="test:model=b")]
    found = made(*GOOD, *torn).verdict
    assert found.answer == PARTLY
    assert torn[1] in found.rests_on


def test_a_detector_that_never_answers_says_so_in_the_same_sentence() -> None:
    row = Figure("m", "role", "test:promised=90%", "abstained", 1.0, 0.95, 1.0, 400, 80)
    found = made(*GOOD, row).verdict
    assert "It gives no verdict on any of these statements." in found.words


def test_a_figure_over_some_of_the_games_says_over_how_many() -> None:
    pooled = replace(figure("m", POOLED, 0.7, 0.6, 0.8), statements=604, games=300)
    found = made(*GOOD, pooled).findings
    assert "AUROC within games 0.80 (0.75 to 0.85) over the 80 games that have both" in found[0].words
    assert "Tried on 604 statements (30% deceptive) from 300 games" in found[1].words
    assert found[1].rests_on == (pooled,)


def test_people_are_no_model() -> None:
    human = pl.when(pl.col("game_id") == "b")
    mixed = STATEMENTS.with_columns(source=human.then(pl.lit("human")).otherwise("source"))
    people = STATEMENTS.with_columns(source=pl.lit("human"))
    both, alone = (replace(made(*GOOD), statements=table).findings[1].words for table in (mixed, people))
    assert both.count(" model and people") == 1
    assert "model" not in alone


def test_a_promise_that_is_not_kept_names_every_model_of_which_it_is_not() -> None:
    rows = [
        Figure("m", "role", f"test:promised=90%{at}", metric, *value, 400, 80)
        for at, metric, value in (
            ("", "abstained", (0.2, 0.1, 0.3)),
            (":model=d", "honest_covered", (0.76, 0.7, 0.83)),
            (":model=a:b", "deceptive_covered", (0.69, 0.6, 0.78)),
            (":model=c", "deceptive_covered", (0.89, 0.8, 0.95)),
        )
    ]
    said = "leaves open lies of a:b in 69% (60% to 78%), honest ones of d in 76% (70% to 83%) only."
    assert said in str(made(*GOOD, *rows))
    whole = Figure("m", "role", "test:promised=90%", "deceptive_covered", 0.75, 0.7, 0.8, 400, 80)
    assert "leaves open lies in 75% (70% to 80%) only." in str(made(*GOOD, *rows, whole))


def test_texts_are_called_texts_and_their_independence_is_a_condition() -> None:
    texts = STATEMENTS.with_columns(game=pl.lit("text"), game_id="statement_id", siblings="statement_id")
    rows = [replace(row, metric=row.metric.replace(WITHIN, POOLED)) for row in GOOD]
    first, on_whom, _ = (found.words for found in replace(made(*rows), statements=texts).findings)
    assert "if no two texts share an author or topic" in first
    assert "game" not in first + on_whom
    assert "AUROC 0.80" in first


def test_no_sentence_contradicts_the_row_that_it_rests_on() -> None:
    """Whatever the figures: a yes has every interval above chance and every lead above nothing."""
    draw = np.random.default_rng(3)
    for _ in range(300):
        value, half = draw.uniform(0.3, 1), draw.uniform(0, 0.2)
        rows = [figure("m", WITHIN, value, max(value - half, 0), min(value + half, 1))]
        for name in ("length", "form", K_OF_N):
            control, width = draw.uniform(0.4, 0.9), draw.uniform(0, 0.2)
            rows += [ranked(f"control:{name}", control), lead("m", f"control:{name}", value - control, width)]
        found = made(*rows).verdict
        assert found.best is not None
        leads = [row.lo for row in rows if row.against]
        surely = (rows[0].lo or 0) > 0.5 and min(leads) > 0
        assert (found.answer == YES) == surely, str(found)
        assert all(row in rows for row in found.rests_on)
