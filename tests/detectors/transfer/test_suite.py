"""`transfer --suite`: data sets left out one at a time, in families, beside floors and the judges that came along."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

from liescope.cli import main
from liescope.common.errors import UsageError
from liescope.detectors.transfer import TransferResult, transfer
from liescope.detectors.transfer.cells import MAIN_FIGURE, ONLINE, RETROSPECTIVE
from liescope.detectors.transfer.floors import BEST_WORD, FLOORS, LENGTH
from liescope.detectors.transfer.matrix import TableCorpus, read_table
from tests.detectors.transfer.conftest import Planted
from tests.detectors.transfer.recording import RecordingDetector

DATA = '[[data]]\nname = "{0}"\nfile = "{0}"\nlicence = "MIT"\nfamily = "games"\n'
CHATS = (
    '[[data]]\nname = "chats"\nformat = "chat"\nfile = "chats.jsonl"\nlicence = "MIT"\nfamily = "chats"\n'
    '[[data]]\nname = "gone"\nformat = "chat"\nfile = "gone.jsonl"\nlicence = "MIT"\nfamily = "chats"\n'
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
    """Games from the north and the south, others that detectors are only tested on, chats, and data that are gone."""
    folder = tmp_path_factory.mktemp("suite")
    for name in ("north", "south", "tested"):
        (folder / name).symlink_to(planted(name))
    chats(folder / "chats.jsonl")
    parts = [DATA.format(name) for name in ("north", "south", "tested")]
    (folder / "suite.toml").write_text("".join([*parts, "learn = false\n", CHATS]))
    return folder / "suite.toml"


@pytest.fixture(scope="module")
def found(suite: Path) -> TransferResult:
    return transfer(suite=suite, detector="tfidf", context=0, strength=1.0, draws=20, out=suite.parent / "out")


def main_figures(found: TransferResult, kind: str) -> dict[tuple[str, str], float]:
    chosen = found.cells.filter((pl.col("metric") == MAIN_FIGURE) & (pl.col("kind") == kind))
    return {(row["detector"], row["test"]): row["value"] for row in chosen.to_dicts()}


def test_each_task_of_chats_and_each_corpus_of_games_is_left_out(found: TransferResult) -> None:
    assert {test for _, test in main_figures(found, ONLINE)} == {"north", "south", "tested", "trade", "report", "exam"}
    assert set(found.cells["protocol"]) == {"left out"}


def test_floors_and_judges_stand_beside_detectors_and_what_tells_is_seen(found: TransferResult) -> None:
    chat = {test: {name for name, unit in main_figures(found, ONLINE) if unit == test} for test in ("exam", "north")}
    assert chat["exam"] == {"tfidf", *FLOORS, "judge: wise"}
    assert chat["north"] == {"tfidf", *FLOORS}
    values = main_figures(found, ONLINE)
    assert values["judge: wise", "exam"] == values[BEST_WORD, "exam"] == 1.0
    assert values["tfidf", "exam"] > 0.95
    assert 0.3 < values[LENGTH, "exam"] < 0.7


def test_the_means_of_a_family_leave_out_what_is_only_tested(found: TransferResult) -> None:
    rows = found.headline.filter((pl.col("metric") == MAIN_FIGURE) & (pl.col("detector") == "tfidf"))
    cells = {(row["family"], row["kind"]): row["cells"] for row in rows.to_dicts()}
    assert cells == {(name, kind): n for name, n in (("chats", 3), ("games", 2)) for kind in (ONLINE, RETROSPECTIVE)}
    values = main_figures(found, RETROSPECTIVE)
    mean = rows.filter((pl.col("family") == "games") & (pl.col("kind") == RETROSPECTIVE))["mean"].item()
    assert mean == pytest.approx((values["tfidf", "north"] + values["tfidf", "south"]) / 2, abs=1e-9)


def test_what_is_not_at_hand_is_named_with_where_to_get_it(found: TransferResult) -> None:
    (missing,) = (note for note in found.notes if "gone" in note)
    assert "https://example.org/gone" in missing


def test_a_family_learns_from_its_own_and_never_from_what_is_only_tested(
    suite: Path, recording: type[RecordingDetector]
) -> None:
    found = transfer(suite=suite, detector=recording.kind, draws=10, context=0, smoothing=1.0)
    learned = [{statement.partition("-")[0] for statement in ids} for ids in recording.fits()]
    assert learned
    assert not any("tested" in names for names in learned)
    assert not any("chat" in names and names & {"north", "south"} for names in learned)
    last = found.cells.filter((pl.col("test") == "tested") & (pl.col("metric") == MAIN_FIGURE))
    assert last["value"].null_count() == 0


def test_so_many_games_are_drawn_the_same_each_time_and_none_from_others(planted: Planted) -> None:
    corpus = planted("many")
    few, more, again = (
        set(read_table([TableCorpus(corpus, "many", games=games)], "role").frame["game_id"]) for games in (5, 9, 5)
    )
    assert len(few) == 5
    assert few == again
    assert few < more


def test_the_command_says_of_a_unit_that_all_others_are_only_tested(
    planted: Planted, recording: type[RecordingDetector], tmp_path: Path
) -> None:
    for name in ("alone", "quiet"):
        (tmp_path / name).symlink_to(planted(name))
    (tmp_path / "suite.toml").write_text(DATA.format("alone") + DATA.format("quiet") + "learn = false\n")
    words = ["transfer", "--suite", str(tmp_path / "suite.toml"), "--detector", recording.kind, "--draws", "10"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    why = "what is left without alone: the suite says that detectors are only tested on it"
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
    table = page.partition("## Each task of games left out, side by side: after the whole game")[2].partition("\n##")[0]
    assert "| tfidf |" in table
    assert "| best word |" in table
    assert "tested: detectors are only tested on it, so that no mean and no worst case counts it" in page
    assert page.count("## Each task of chats left out, side by side") == 1
