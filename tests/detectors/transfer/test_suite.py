"""`transfer --suite`: data sets left out one at a time, beside floors and the judges that came along."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from liescope.cli import main
from liescope.common.errors import UsageError
from liescope.detectors.study.figures import MEAN
from liescope.detectors.study.transfer import TransferResult, transfer
from liescope.detectors.study.trials import LEFT_OUT
from tests.detectors.transfer.conftest import Planted, rows_of
from tests.detectors.transfer.recording import RecordingDetector

DATA = '[[data]]\nname = "{0}"\nfile = "{0}"\nlicence = "MIT"\n'
CHATS = (
    '[[data]]\nname = "chats"\nformat = "chat"\nfile = "chats.jsonl"\nlicence = "MIT"\n'
    '[[data]]\nname = "gone"\nformat = "chat"\nfile = "gone.jsonl"\nlicence = "MIT"\n'
    'url = "https://example.org/gone"\n'
)
WORDS = ("the", "figures", "of", "this", "year", "are", "in", "my", "report", "as", "you", "asked", "last", "week")


def chats(path: Path) -> None:
    """Three tasks; in each, a lie holds "velvet" and a truth "copper", and the judge `wise` knows."""
    draw, rows = random.Random(0), []
    for number in range(120):
        lie = number % 2 == 0
        words = [*draw.sample(WORDS, 6), "velvet" if lie else "copper"]
        draw.shuffle(words)
        said = [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": " ".join(words)}]
        task = ("trade", "report", "exam")[number % 3]
        rows.append({"id": f"chat-{number}", "task": task, "messages": said, "deceptive": lie,
                     "judges": {"wise": 90 if lie else 10 + number % 5}})  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def suite(planted: Planted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games from the north and the south, and others that detectors are only tested on; beside it, chats.toml: chats,
    and data that are gone.
    """
    folder = tmp_path_factory.mktemp("suite")
    for name in ("north", "south", "tested"):
        (folder / name).symlink_to(planted(name))
    chats(folder / "chats.jsonl")
    parts = [DATA.format(name) for name in ("north", "south", "tested")]
    (folder / "suite.toml").write_text("".join([*parts, "learn = false\n"]))
    (folder / "chats.toml").write_text(CHATS)
    return folder / "suite.toml"


@pytest.fixture(scope="module")
def found(suite: Path) -> TransferResult:
    return transfer(suite=suite, detector="tfidf", context=0, strength=1.0, out=suite.parent / "out")


@pytest.fixture(scope="module")
def of_chats(suite: Path) -> TransferResult:
    return transfer(suite=suite.with_name("chats.toml"), detector="tfidf", context=0, strength=1.0)


def online(found: TransferResult, scorer: str, metric: str = "auroc") -> dict[str, float | None]:
    """By unit; the chats of a task have no game with both classes, and no games are parted by task."""
    return {place.test: row.value for place, row in rows_of(found, LEFT_OUT, metric, scorer)}


def test_each_task_of_chats_and_each_corpus_of_games_is_left_out(
    found: TransferResult, of_chats: TransferResult
) -> None:
    assert set(online(found, "tfidf", "auroc_within")) == {"north", "south", "tested"}
    assert set(online(of_chats, "tfidf")) == {"trade", "report", "exam"}
    assert {place.protocol for place in (found.places | of_chats.places).values()} == {LEFT_OUT}


def test_controls_and_judges_stand_beside_detectors_and_what_tells_is_seen(
    found: TransferResult, of_chats: TransferResult
) -> None:
    north, exam = ({row.scorer for row in one.rows} for one in (found, of_chats))
    controls = {f"control:{name}" for name in ("length", "position", "best_word", "others")}
    assert exam >= {"tfidf", *controls, "judge: wise"}
    assert set(of_chats.scores["scorer"]) == exam
    assert north == exam - {"judge: wise"}
    assert online(of_chats, "judge: wise")["exam"] == online(of_chats, "control:best_word")["exam"] == 1.0
    assert (online(of_chats, "tfidf")["exam"] or 0) > 0.95
    assert 0.3 < (online(of_chats, "control:length")["exam"] or 0) < 0.7


def test_the_first_sentence_knows_what_a_single_word_reaches(of_chats: TransferResult) -> None:
    said = of_chats.findings[0]
    assert "tfidf does better than chance" in said.words
    assert "not shown to do better than control: one word or mark; the difference is 0.00" in said.words
    assert {row.against for row in said.rests_on} == {None, "control:best_word"}


def test_means_leave_out_what_is_only_tested(found: TransferResult, of_chats: TransferResult) -> None:
    for metric, after in (("auroc_within", False), ("player_auroc_within", True)):
        ((place, mean),) = rows_of(found, LEFT_OUT, metric, end=MEAN, after=after)
        values = {place.test: row.value for place, row in rows_of(found, LEFT_OUT, metric, after=after)}
        assert set(values) == {"north", "south", "tested"}
        assert place.cells == 2
        assert mean.value == pytest.approx(((values["north"] or 0) + (values["south"] or 0)) / 2, abs=1e-9)
    ((place, _),) = rows_of(of_chats, LEFT_OUT, "auroc", end=MEAN)
    assert place.cells == 3


def test_what_is_not_at_hand_is_named_with_where_to_get_it(of_chats: TransferResult) -> None:
    (missing,) = (note for note in of_chats.notes if "gone" in note)
    assert "https://example.org/gone" in missing


def test_nothing_is_learned_from_what_is_only_tested(suite: Path, recording: type[RecordingDetector]) -> None:
    found = transfer(suite=suite, detector=recording.kind, context=0, smoothing=1.0)
    learned = [{statement.partition("-")[0] for statement in ids} for ids in recording.fits()]
    assert learned
    assert not any("tested" in names for names in learned)
    ((_, last),) = rows_of(found, LEFT_OUT, "auroc_within", test="tested")
    assert last.value is not None


def test_the_command_says_of_a_unit_that_all_others_are_only_tested(
    planted: Planted, recording: type[RecordingDetector], tmp_path: Path
) -> None:
    for name in ("alone", "quiet"):
        (tmp_path / name).symlink_to(planted(name))
    (tmp_path / "suite.toml").write_text(DATA.format("alone") + DATA.format("quiet") + "learn = false\n")
    words = ["transfer", "--suite", str(tmp_path / "suite.toml"), "--detector", recording.kind]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    why = "what is left without alone: nothing is learned from it, for it carries a canary or is only tested on"
    assert why in (tmp_path / "out" / "report.md").read_text()


def test_a_suite_and_corpora_exclude_each_other_and_corpora_need_units(suite: Path, planted: Planted) -> None:
    with pytest.raises(UsageError, match="name corpora, or a --suite in their place"):
        transfer(planted("both"), suite=suite)
    with pytest.raises(UsageError, match="name corpora, or a --suite in their place"):
        transfer(by="model")
    with pytest.raises(UsageError, match="say with --by what is left out: model, game"):
        transfer(planted("unitless"))


def test_the_report_shows_the_methods_side_by_side(found: TransferResult) -> None:
    page = next(file for file in found.files if file.name == "report.md").read_text()
    table = page.partition("## Tested on a task that was left out of training\n")[2].partition("\n##")[0]
    assert "| tfidf |" in table
    assert "| control: one word or mark |" in table
    assert "tested: detectors are only tested on it, so that no mean and no worst case counts it" in page
