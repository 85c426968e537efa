"""`bench`: who tells lies from the truth on each data set of a suite, and where words alone do it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import liescope
from liescope.cli import main
from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.examples import read_statements
from liescope.detectors.study.bench_result import WORDS_ALONE, Benched, BenchResult
from liescope.detectors.suite import SuiteData, opened
from liescope.generate.corpus.read import licences_of, read
from tests.detectors.judge_stub import material, with_logprobs
from tests.detectors.transfer.recording import RecordingDetector
from tests.generate.players.openai.stub import Answer, Request, Stub, says

FILLER = ("the", "figures", "of", "this", "year", "are", "in", "my", "report", "as", "you", "asked", "last", "week")
EACH = 60  # conversations of a task


def conversations(tasks: Mapping[str, tuple[str, str]], seed: int = 0, judged: bool = True) -> list[dict[str, Any]]:
    """For each task, lies and truths in turn; a lie holds the first word, a truth the second. The judge `wise` knows,
    `coin` and its copy `same-coin` do not.
    """
    draw = random.Random(seed)
    rows = []
    for task, (lie, truth) in tasks.items():
        for number in range(EACH):
            deceptive = number % 2 == 0
            words = [*draw.sample(FILLER, 6), lie if deceptive else truth]
            draw.shuffle(words)
            turns = [
                {"role": "user", "content": "What do the figures say?"},
                {"role": "assistant", "content": " ".join(words)},
            ]
            row: dict[str, Any] = {"id": f"{task}-{seed}-{number}", "task": task, "model": f"model-{number // 2 % 2}"}
            coin = draw.randint(1, 100)
            judges = {"wise": 90 if deceptive else 10 + number % 5, "coin": coin, "same-coin": coin}
            rows.append(row | {"messages": turns, "deceptive": deceptive} | ({"judges": judges} if judged else {}))
    return rows


def written(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def suite_file(folder: Path, text: str) -> Path:
    path = folder / "suite.toml"
    path.write_text(text)
    return path


def measured(
    folder: Path, rows: Sequence[Mapping[str, Any]], detector: Any = "tfidf", text: str = "", **settings: Any
) -> BenchResult:
    """The detector on these conversations, and on what else the suite names."""
    written(rows, folder / "chats.jsonl")
    suite = suite_file(folder, text or ONE)
    return liescope.bench(detector, suite=suite, **{"leave_out": [], **settings})


def trained(folder: Path, rows: Sequence[Mapping[str, Any]], kind: str = "tfidf", **settings: Any) -> Path:
    """A model that learned from these conversations."""
    liescope.import_games("chat", written(rows, folder / "other.jsonl"), out=folder / "other")
    liescope.train(kind, folder / "other", folds=2, out=folder / "mine", **settings)
    return folder / "mine"


ONE = '[[data]]\nname = "chats"\nformat = "chat"\nfile = "chats.jsonl"\nlicence = "MIT"\n'
TASKS = {"told": ("velvet", "copper"), "bare": ("", ""), "turned": ("silver", "velvet")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tasks: words tell the lies of one, of another, half as large, nothing does, and of the third the truths
    have the word of the first one's lies.
    """
    found, rows = tmp_path_factory.mktemp("suite"), conversations(TASKS)
    written([*rows[: 2 * EACH - 30], *rows[2 * EACH :]], found / "chats.jsonl")
    suite_file(found, ONE)
    return found


@pytest.fixture(scope="module")
def benched(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> BenchResult:
    out = tmp_path_factory.mktemp("out") / "bench"
    return liescope.bench("tfidf", suite=folder / "suite.toml", out=out)


GROUPS, TASKS_OUT, MODELS_OUT = "tfidf (other groups)", "tfidf (other tasks)", "tfidf (other models)"


def value(found: Benched, scorer: str, task: str = "") -> float:
    row = found.figure(scorer, task=task)
    assert row is not None
    assert row.value is not None
    return row.value


def test_words_alone_are_said_to_do_the_task_whose_lies_have_a_word_of_their_own(benched: BenchResult) -> None:
    (found,) = benched.data
    assert value(found, WORDS_ALONE, "told") > 0.8
    assert value(found, WORDS_ALONE, "bare") < 0.75
    assert "told" in found.solved
    assert "bare" not in found.solved
    first = benched.findings[0]
    assert first.words.startswith("Word counts alone")
    assert "told" in first.words
    assert {row.scorer for row in first.rests_on} == {WORDS_ALONE}


def test_what_learned_the_other_tasks_is_misled_by_one_whose_truths_have_the_word_of_their_lies(
    benched: BenchResult,
) -> None:
    (found,) = benched.data
    assert value(found, GROUPS, "turned") > 0.8
    assert value(found, TASKS_OUT, "turned") < 0.2
    assert value(found, MODELS_OUT, "turned") > 0.8


def test_a_score_counts_each_task_alike(benched: BenchResult) -> None:
    (found,) = benched.data
    each = [value(found, GROUPS, task) for task in TASKS]
    assert value(found, GROUPS) == pytest.approx(sum(each) / 3)


def test_judges_that_came_with_the_data_stand_beside_and_equals_share_a_place(benched: BenchResult) -> None:
    (found,) = benched.data
    assert found.places["judge: wise"] == 1
    assert found.places["judge: coin"] == found.places["judge: same-coin"] > 1
    assert benched.findings[1].words.startswith("On chats, judge: wise, ahead of the other")


def test_no_winner_is_named_where_two_are_equal(folder: Path, tmp_path: Path) -> None:
    rows = conversations({"bare": ("", "")}, seed=1)
    for row in rows:
        row["judges"] = dict.fromkeys(("coin", "same-coin"), row["judges"]["coin"])
    found = measured(tmp_path, rows)
    assert set(found.data[0].places.values()) == {1}
    assert "not told apart from" in found.findings[1].words


def test_the_folder_holds_all_figures_as_page_table_and_data(folder: Path, benched: BenchResult) -> None:
    out, chats = benched.files[0].parent, folder / "chats.jsonl"
    held = json.loads((out / "report.json").read_text())
    assert held == json.loads(json.dumps(benched.to_json()))
    assert held["data"][0]["sha256"] == sha256(chats.read_bytes()).hexdigest()
    assert pl.read_csv(out / "report.csv").height == benched.metrics.height
    assert {row for one in benched.findings for row in one.rests_on} <= set(benched.rows)
    page = (out / "report.html").read_text()
    assert "solved by words" in page


CONTROL = """
[control]
name = "plain"
format = "chat"
file = "plain.jsonl"
most = 30
"""


@pytest.fixture(scope="module")
def with_model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> BenchResult:
    """A detector that was trained on other conversations of the first task, and a control set."""
    place = tmp_path_factory.mktemp("model")
    mine = trained(place, conversations({"told": TASKS["told"], "more": TASKS["told"]}, seed=9, judged=False))
    plain = conversations({"plain": ("copper", "copper")}, seed=4, judged=False)
    written([{**row, "deceptive": None} for row in plain], place / "plain.jsonl")
    text = ONE.replace("name =", 'about = "Chats."\nname =') + CONTROL
    return measured(place, conversations(TASKS, seed=3), mine, text, out=place / "out")


def test_recall_is_at_the_threshold_that_flags_so_many_ordinary_conversations(with_model: BenchResult) -> None:
    (found,) = with_model.data
    assert with_model.control == {"plain": 30}
    row = found.figure("mine", "recall_at_5pct_fpr")
    assert row is not None
    place = with_model.files[0].parents[1]
    mine = liescope.load(place / "mine")
    plain, lies = (
        mine.score([one["messages"] for one in rows])["score"].to_list()
        for rows in (
            [json.loads(line) for line in (place / "plain.jsonl").read_text().splitlines()[:30]],
            [one for one in conversations(TASKS, seed=3) if one["deceptive"]],
        )
    )
    threshold = sorted(plain, reverse=True)[1]  # of 30, 5% are one
    assert row.value == pytest.approx(sum(score > threshold for score in lies) / len(lies))
    assert value(found, "mine", "told") > 0.9
    assert value(found, "mine", "turned") < 0.2


def test_what_cannot_learn_anew_is_measured_as_it_is(tmp_path: Path, tiny_encoder: Path) -> None:
    mine = trained(tmp_path, conversations({"told": TASKS["told"]}, seed=9), "embedding", encoder=str(tiny_encoder))
    result = measured(tmp_path, conversations({"told": TASKS["told"]}), mine)
    assert result.data[0].figure("mine", "auroc") is not None
    assert any("mine is measured as it is alone" in note for note in result.notes)


def test_copies_of_what_a_detector_learned_are_said(folder: Path, tmp_path: Path) -> None:
    rows = conversations({"told": TASKS["told"]}, judged=False)
    again = [{**row, "id": f"other {n}"} for n, row in enumerate(rows)]
    found = measured(tmp_path, again, trained(tmp_path, rows))
    assert any("repeat statements that mine learned from" in words for words in found.data[0].evaluation.warnings)
    assert "repeat statements that" in found.findings[1].words


def test_what_carries_a_canary_is_measured_and_not_learned_from(tmp_path: Path) -> None:
    rows = [{**row, "canary": "do-not-train"} for row in conversations({"told": TASKS["told"]})]
    found = measured(tmp_path, rows)
    judges = ("wise", "coin", "same-coin", "the mean of these")
    assert set(found.data[0].places) == {f"judge: {name}" for name in judges}
    assert any("canary" in note for note in found.notes)


def test_data_that_are_not_at_hand_or_have_one_class_are_named_and_the_others_are_measured(tmp_path: Path) -> None:
    far = '[[data]]\nname = "far"\nformat = "chat"\nfile = "far.jsonl"\nurl = "https://example.org/far"\n'
    rows = conversations({"told": TASKS["told"]})
    written([{**row, "deceptive": False} for row in rows], tmp_path / "honest.jsonl")
    honest = ONE.replace('"chats"', '"honest"').replace("chats.jsonl", "honest.jsonl")
    found = measured(tmp_path, rows, text=honest + ONE + far)
    assert [one.data.name for one in found.data] == ["chats"]
    assert "both classes" in found.missing["honest"]
    assert "https://example.org/far" in found.missing["far"]
    assert {note.partition(" ")[0] for note in found.notes if "could not be measured" in note} == {"honest", "far"}
    with pytest.raises(UsageError, match=r"none of the suite's data .* https://example.org/far"):
        liescope.bench("tfidf", suite=suite_file(tmp_path, far))


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="not the file that the suite means"):
        measured(tmp_path, conversations(TASKS), text=ONE + f'sha256 = "{"0" * 64}"\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[data]]\nname = 'a'\n", "name either hub or file"),
        ("[[data]]\nname = 'a'\nfile = 'x'\nhub = 'u/n'\n", "name either hub or file"),
        (ONE + ONE, "two data sets are called 'chats'"),
        (ONE + "target = 'lies'\n", "target"),
        ("[[data]]\nname = 'a'\nfile = 'a.jsonl.gz'\n", "say what a.jsonl.gz holds"),
        (ONE + "colour = 'red'\n", "colour"),
        ("data = 3\n", "data"),
        ("[[data]\n", "cannot be read .*docs/guides/bench.md"),
    ],
)
def test_a_suite_with_a_mistake_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises((BadData, UnknownName), match=message):
        liescope.bench("tfidf", suite=suite_file(tmp_path, text))


def test_of_a_file_and_of_a_run_so_many_games_are_drawn_the_same_each_time(folder: Path, played: Path) -> None:
    for data, at in (({"format": "chat", "file": "chats.jsonl"}, folder), ({"file": played.name}, played.parent)):

        def games(many: int, data: Mapping[str, str] = data, at: Path = at) -> set[str]:
            corpus = opened(SuiteData(name="some", games=many, **data), at).corpus  # type: ignore[arg-type]
            return set(read_statements(corpus)["game_id"])

        few, more = games(3), games(5)
        assert (len(few), games(3)) == (3, few)
        assert few < more < games(0)


def test_games_drawn_from_a_corpus_keep_their_split_and_terms(corpus: Path) -> None:
    whole = liescope.read(corpus, "games").select("game_id", "split").collect()
    drawn = opened(SuiteData(name="some", games=9, file=corpus.name), corpus.parent).corpus
    found = read(drawn, "games").select("game_id", "split").collect()
    assert found.height == 9
    assert found.join(whole, on=["game_id", "split"]).height == 9
    assert licences_of(drawn) == licences_of(corpus)


def test_what_learns_here_reads_no_turn_without_a_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a user says has none, and would cost a language model as much to read as an answer."""
    monkeypatch.setitem(DETECTORS, "recording", "tests.detectors.transfer.recording:RecordingDetector")
    rows = conversations({"told": TASKS["told"]})
    RecordingDetector.seen.clear()
    (found,) = measured(tmp_path, rows, ["recording"]).data
    shown = frozenset[str]().union(*(ids for _, ids in RecordingDetector.seen))
    labelled = found.evaluation.statements.filter(pl.col("label_gold").is_not_null())
    assert shown - {""} == {*labelled["statement_id"]}  # "": what is scored when it is opened
    assert labelled.height == EACH < found.evaluation.statements.height


def test_only_games_that_are_drawn_are_measured_and_it_says_how_many(tmp_path: Path) -> None:
    (found,) = measured(tmp_path, conversations({"told": TASKS["told"]}), text=ONE + "games = 40\n").data
    assert found.evaluation.statements["game_id"].n_unique() == 40
    assert "40 of its 60 games are drawn" in found.evaluation.notes


def test_an_unknown_detector_suite_or_part_is_refused(folder: Path) -> None:
    with pytest.raises(UnknownName, match="tfdif"):
        liescope.bench("tfdif", suite=folder / "suite.toml")
    with pytest.raises(UsageError, match="there is no suite chats"):
        liescope.bench("tfidf", suite="chats")
    with pytest.raises(UnknownName, match="--leave-out"):
        liescope.bench("tfidf", suite=folder / "suite.toml", leave_out=["speaker"])


def test_a_chat_model_is_asked_about_the_same_statements(tmp_path: Path) -> None:
    stub = Stub(with_logprobs)
    rows = conversations({"told": ("calm", "copper"), "bare": ("", "")})
    try:
        found = measured(tmp_path, rows, f"judge:openai:wise@{stub.url}", judge_cache=tmp_path / "cache")
    finally:
        stub.close()
    (judge,) = found.data[0].evaluation.judges
    assert value(found.data[0], judge.name, "told") == 1.0
    assert judge.name in found.data[0].places


def test_the_command_prints_the_ranking_within_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(conversations({"told": TASKS["told"]}), tmp_path / "chats.jsonl")
    words = ["bench", "tfidf", "--suite", str(suite_file(tmp_path, ONE)), "--out", str(tmp_path / "out")]
    assert main([*words, "--leave-out", "model"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("Word counts alone")
    assert any(line.startswith("1 ") and "judge: wise" in line for line in said)
    assert max(len(line) for line in said if not line.startswith(str(tmp_path))) <= 80


def test_games_are_measured_within_games_beside_the_players(played: Path, tmp_path: Path) -> None:
    (tmp_path / "run").symlink_to(played)
    text = '[[data]]\nname = "games"\nfile = "run"\n'
    found = liescope.bench("tfidf", suite=suite_file(tmp_path, text), leave_out=["model"]).data[0]
    assert found.evaluation.within == "games"
    assert not found.tasks
    assert "observers:suspicion" in found.places
    assert value(found, GROUPS) > 0.5


@pytest.mark.long
def test_on_published_chats_words_alone_do_two_of_four_tasks_and_no_detector_passes_the_best_judge(
    shared_data: Path,
) -> None:
    (found,) = liescope.bench("tfidf", suite="chat", data=shared_data, leave_out=["task"]).data
    assert found.solved == ["mask-factual", "sandbagging"]
    assert found.places["judge: gpt-5"] == 1
    assert found.places[TASKS_OUT] > found.places["judge: gpt-4o"]


def test_a_model_is_left_out_under_all_its_names_and_an_unknown_one_is_no_model(tmp_path: Path) -> None:
    rows = conversations({"told": TASKS["told"]})
    for number, row in enumerate(rows):
        row["model"] = ("openai/gpt-oss-120b", "openrouter/openai/gpt-oss-120b", None)[number % 3]
    found = measured(tmp_path, rows, leave_out=["model"]).data[0]
    assert (MODELS_OUT) not in found.places
    assert any("fewer than two models" in note for note in found.evaluation.notes)


def reasoned(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was thought before two thirds of the answers, which gives each lie away."""
    for number, row in enumerate(rows):
        if number % 3:
            thought = "I should mislead this user" if row["deceptive"] else "I shall tell what I know"
            row["messages"][-1]["reasoning_content"] = f"{thought}, number {number}."
    return rows


def test_views_are_compared_on_the_statements_that_keep_reasoning(tmp_path: Path) -> None:
    found = measured(tmp_path, reasoned(conversations({"bare": ("", "")})), view=["words", "reasoning", "both"]).data[0]
    words, thoughts, both = (f"tfidf{view} (other groups)" for view in ("", " (reasoning)", " (both)"))
    assert {row.statements for name in (words, thoughts, both) if (row := found.figure(name))} == {EACH * 2 // 3}
    assert value(found, thoughts) > 0.95
    assert value(found, GROUPS) < 0.75
    assert found.places[thoughts] < found.places[words]
    assert any("that keep some" in note for note in found.evaluation.notes)


def thinks_aloud(request: Request, _number: int) -> Answer:
    """A judge that takes for a lie what it is shown to be meant as one."""
    return says(f"{0.9 if 'mislead' in material(request) else 0.1}")


@pytest.mark.long
def test_judges_are_shown_reasoning_where_a_data_set_keeps_some(tmp_path: Path) -> None:
    stub = Stub(thinks_aloud)
    rows = reasoned(conversations({"bare": ("", "")}, judged=False))
    written(conversations({"bare": ("", "")}, seed=3, judged=False), tmp_path / "silent.jsonl")
    silent = ONE.replace('"chats"', '"silent"').replace("chats.jsonl", "silent.jsonl")
    named, views = [f"judge:openai:wise@{stub.url}"], ["words", "reasoning"]
    try:
        found = measured(tmp_path, rows, named, ONE + silent, judge_cache=tmp_path / "cache", view=views)
    finally:
        stub.close()
    chats, without = found.data
    shown = {judge.name: value(chats, judge.name) for judge in chats.evaluation.judges}
    assert len(shown) == 2
    assert {"reasoning" in name: figure for name, figure in shown.items()} == {True: 1.0, False: 0.5}
    assert not any("reasoning" in name for name in without.places)
    assert any("no labelled statement here keeps any" in note for note in without.evaluation.notes)


@pytest.mark.long
def test_a_trained_detector_of_reasoning_is_measured_by_what_it_can_read(tmp_path: Path) -> None:
    bare = conversations({"bare": ("", "")})
    mine = trained(tmp_path, reasoned(conversations({"bare": ("", "")}, seed=7, judged=False)), view="reasoning")
    none = measured(tmp_path, bare, mine).data[0]
    found = measured(tmp_path, reasoned(bare), mine).data[0]
    assert value(found, "mine") > 0.95
    assert "mine" not in none.places
    assert any("no evaluated statement keeps any" in note for note in none.evaluation.notes)


def test_texts_that_are_nearly_copied_with_random_labels_are_not_said_to_be_told_by_words(tmp_path: Path) -> None:
    """A copy has the label of what it repeats, and words learn it by heart."""
    draw, rows = random.Random(2), conversations({"bare": ("", "")}, judged=False)
    again = []
    for row in rows:
        text = " ".join(f"word{draw.randrange(300)}" for _ in range(20))
        for n in ("one", "two", "three"):
            messages = [row["messages"][0], {"role": "assistant", "content": f"{text} {n}"}]
            again.append({**row, "id": f"{row['id']} {n}", "messages": messages})
    found = measured(tmp_path, again)
    row = found.data[0].figure(WORDS_ALONE)
    assert row is not None
    assert (row.value or 0) > 0.8
    assert "repeat statements that words alone learned from" in found.findings[0].words
    assert "better than any control" not in str(found)


def test_whoever_has_the_first_place_alone_is_said_to_be_ahead(benched: BenchResult, with_model: BenchResult) -> None:
    for result in (benched, with_model):
        for one, said in zip(result.data, result.findings[1:], strict=True):
            first = [name for name, place in one.places.items() if place == 1]
            assert said.rests_on[0].scorer in first
            assert ("ahead of the other" in said.words) == (len(first) == 1)
