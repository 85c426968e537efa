"""Detectors of data at hand: lists, frames and conversations in place of a corpus."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pytest

import liescope
from liescope.common.errors import UsageError
from liescope.detectors.study.metrics import WITHIN
from tests.detectors.conftest import TELLS

LIES = [f"{TELLS[True][n % 4]} words of number {n} are said here" for n in range(40)]
TRUTHS = [f"{TELLS[False][n % 4]} words of number {n} are said here" for n in range(40)]
TEXTS = [text for pair in zip(LIES, TRUTHS, strict=True) for text in pair]
LABELS = [True, False] * 40
GROUPS = [f"speaker {n // 8}" for n in range(80)]


def chat(answer: str, question: str = "What do you say?") -> list[dict[str, str]]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


FORMS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "lists": lambda: (TEXTS, LABELS),
    "mappings": lambda: ([{"text": text, "lie": lie} for text, lie in zip(TEXTS, LABELS, strict=True)], None),
    "polars": lambda: (pl.DataFrame({"text": TEXTS, "deceptive": LABELS}), None),
    "pandas": lambda: (pd.DataFrame({"text": TEXTS, "deceptive": LABELS}), None),
    "datasets": lambda: (
        datasets.Dataset.from_dict(
            {"text": TEXTS, "label": [int(lie) for lie in LABELS]},
            features=datasets.Features(
                {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["honest", "deceptive"])}
            ),
        ),
        None,
    ),
    "conversations": lambda: ([chat(text) for text in TEXTS], LABELS),
}


@pytest.mark.parametrize("form", FORMS)
def test_whatever_holds_texts_and_labels_trains_a_detector_that_tells_them_apart(form: str, tmp_path: Path) -> None:
    data, labels = FORMS[form]()
    trained = liescope.train("tfidf", data, labels, folds=2, out=tmp_path / "m")
    assert trained.file.target == "gold"
    found = liescope.score(tmp_path / "m", [LIES[3], TRUTHS[3]])["score"]
    assert found[0] > 0.5 > found[1]


def test_a_group_stands_on_one_side_of_every_fold(tmp_path: Path) -> None:
    trained = liescope.train("tfidf", TEXTS, LABELS, groups=GROUPS, folds=2, out=tmp_path / "m")
    held_out = trained.scores.filter(pl.col("fold") >= 0)
    folds = held_out.group_by(pl.col("statement_id").str.split(":").list.first()).agg(pl.col("fold").n_unique())
    assert folds.height == trained.file.training.games <= 10
    assert set(folds["fold"]) == {1}


def test_data_at_hand_is_evaluated_on_what_was_kept_for_tests_as_a_corpus_of_it_is(tmp_path: Path) -> None:
    pairs = [f"speaker {n // 2}" for n in range(80)]
    trained = liescope.train("tfidf", TEXTS, LABELS, groups=pairs, folds=2, out=tmp_path / "m")
    found = liescope.evaluate(tmp_path / "m", TEXTS, LABELS, groups=pairs, split="test")
    tested = {*found.plan.evaluated(found.statements)["statement_id"]}
    assert tested
    assert not tested & {*trained.scores["statement_id"]}
    with pytest.raises(UsageError, match="evaluate on --split test"):
        liescope.evaluate(tmp_path / "m", TEXTS, LABELS, groups=pairs, split="all")
    with pytest.raises(UsageError, match="labels and groups go with texts"):
        liescope.evaluate(tmp_path / "m", str(tmp_path), LABELS)


def test_few_groups_are_judged_whole_and_where_none_is_left_for_tests_that_is_advised(tmp_path: Path) -> None:
    liescope.train("tfidf", TEXTS, LABELS, groups=GROUPS, folds=2, out=tmp_path / "m")
    with pytest.raises(UsageError, match="evaluate on --split out-of-fold"):
        liescope.evaluate(tmp_path / "m", TEXTS, LABELS, groups=GROUPS, split="test")
    found = liescope.evaluate(tmp_path / "m", TEXTS, LABELS, groups=GROUPS)
    scores = found.scores.filter(scorer="m")
    assert scores["statement_id"].n_unique() == scores.height == len(TEXTS)


def test_data_at_hand_is_audited(tmp_path: Path) -> None:
    longer = [f"{text} {'and so on ' * 9}" if lie else text for text, lie in zip(TEXTS, LABELS, strict=True)]
    found = liescope.audit(longer, LABELS, groups=GROUPS)
    assert found.corpus == "own data"
    assert any("knows only length" in finding.words for finding in found.alarms)


def test_the_last_answer_of_a_conversation_is_scored_with_the_turns_before_it(tmp_path: Path) -> None:
    told = [chat("Yes.", f"{TELLS[lie][n % 4]} question {n}") for n in range(40) for lie in (True, False)]
    liescope.train("tfidf", told, LABELS, folds=2, context=1, out=tmp_path / "m")
    lie, truth = chat("Yes.", f"{TELLS[True][1]} question"), chat("Yes.", f"{TELLS[False][1]} question")
    found = liescope.score(tmp_path / "m", [lie, truth])
    assert found["text"].to_list() == ["Yes.", "Yes."]
    assert found["score"][0] > found["score"][1]
    assert liescope.score(tmp_path / "m", lie)["score"].to_list() == found["score"][:1].to_list()
    assert liescope.score(tmp_path / "m", {"messages": lie})["score"].to_list() == found["score"][:1].to_list()
    told = {"question": "Well?", "answer": "Nobody was there."}
    listed = [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "Nobody was there."}]
    assert liescope.score(tmp_path / "m", told)["score"].to_list() == (
        liescope.score(tmp_path / "m", listed)["score"].to_list()
    )
    with pytest.raises(
        UsageError, match="statement 1: answer and response may both hold the response; name one with --response"
    ):
        liescope.score(tmp_path / "m", {**told, "response": "I was."})


def test_data_at_hand_leaves_the_receipt_that_an_import_of_it_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = ["lie", "truth", "lie", "truth", "hm", None, "lie", "truth"] * 10
    frame = pl.DataFrame({"text": TEXTS, "label": labels, "group": [f"g{n // 2}" for n in range(80)], "mood": "calm"})
    frame.write_csv(tmp_path / "a.csv")
    told = liescope.import_games("text", tmp_path / "a.csv", out=tmp_path / "run").receipt
    capsys.readouterr()
    trained = liescope.train("tfidf", frame, folds=0, out=tmp_path / "m")
    assert capsys.readouterr() == ("", "")
    assert trained.receipt == told
    assert (told.rows, told.kept, len(told.groups), told.ignored) == (80, 80, 40, ("mood",))
    said = "lie was read as deceptive (30), truth was read as honest (30), "
    assert trained.notes[0] == said + "hm was read as no label (10), (empty) was read as no label (10)"
    assert liescope.audit(frame).receipt == liescope.evaluate(tmp_path / "m", frame).receipt == told
    assert liescope.audit(tmp_path / "run").receipt is None
    liescope.train("tfidf", frame, folds=0, out=tmp_path / "n", progress=True)
    assert str(told) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "labels", "groups", "words"),
    [
        (TEXTS, LABELS[:-1], None, "79 deceptive values for 80 texts"),
        (TEXTS, LABELS, GROUPS[:3], "3 group values for 80 texts"),
        ([], [], None, "no texts to learn from"),
        ([3], [True], None, "text 1 is of type int"),
        (["", "one two"], [True, False], None, "row 1 cannot be used: it has no text"),
        (
            ["one two", "two three"],
            ["half", "full"],
            None,
            "give labels=, True for deceptive; it has half, full$",
        ),
        (
            TEXTS,
            [n / 79 for n in range(80)],
            None,
            "80 different numbers .* of them first, or give labels=, True for",
        ),
        ("corpus/mine", LABELS, None, "labels and groups go with texts"),
        ([[{"role": "user", "content": "Q"}]], [True], None, "no turn of the conversation is the assistant's"),
    ],
)
def test_data_that_cannot_be_learned_from_is_refused_with_the_row(
    data: Any, labels: Any, groups: Any, words: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=words):
        liescope.train("tfidf", data, labels, groups=groups, out=tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.long
@pytest.mark.parametrize(("form", "called"), [("lists", "texts"), ("conversations", "conversations")])
def test_reports_on_what_nobody_played_speak_of_no_game(form: str, called: str, tmp_path: Path) -> None:
    data, labels = FORMS[form]()
    liescope.train("tfidf", data, labels, folds=0, out=tmp_path / "m")
    found = liescope.evaluate(tmp_path / "m", data, labels, out=tmp_path / "evaluated")
    assert not [row for row in found.rows if row.metric == WITHIN and row.value is not None]
    liescope.audit(data, labels, out=tmp_path / "audited")
    for name in ("evaluated", "audited"):
        words = (tmp_path / name / "report.md").read_text(encoding="utf-8")
        assert re.findall(r".*\bgames?\b.*", words.replace("place in the game or talk", "")) == []
        assert re.findall(r".*\btest:\w.*|.*(?:speaker|promised)=.*", words) == []
        assert called in words


FORMATS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
}


def test_a_frame_and_its_files_and_runs_and_corpora_make_one_model(tmp_path: Path) -> None:
    frame = pl.DataFrame({"text": TEXTS, "deceptive": LABELS, "group": [f"pair {n // 2}" for n in range(80)]})
    sources: dict[str, Any] = {"frame": frame, "rows": frame.to_dicts()}
    for ending, write in FORMATS.items():
        write(frame, tmp_path / f"own.{ending}")
        sources[ending] = liescope.import_games("text", tmp_path / f"own.{ending}", out=tmp_path / f"run-{ending}").run
    sources["corpus"] = liescope.build(sources["csv"], out=tmp_path / "corpus").folder
    made = {}
    for name, source in sources.items():
        trained = liescope.train("tfidf", source, folds=2, out=tmp_path / "models" / name / "m")
        file = trained.file.model_dump(exclude={"files": True, "training": {"seconds"}, "corpus": {"name"}})
        weights = {
            path.name: path.read_bytes() for path in sorted(trained.model.glob("*.[jn]*")) if path.stem != "model"
        }
        made[name] = file, trained.scores.to_dicts(), trained.metrics.to_dicts(), weights
    assert all(one == made["frame"] for one in made.values())


ONLY_ITS_OUTPUT = """
import os, sys
import polars as pl
import liescope, liescope.detectors.classifier

sys.dont_write_bytecode = True
texts, folder, opened = pl.read_ndjson(sys.argv[1]), sys.argv[2], set()
chats = [[{"role": "user", "content": "Well?"}, {"role": "assistant", "content": text}] for text in texts["text"]]

def watch(event, given):
    written = event == "open" and given[2] & (os.O_WRONLY | os.O_RDWR)
    if written or event in ("os.mkdir", "os.rename", "sqlite3.connect"):
        opened.add(str(given[0]))

sys.addaudithook(watch)
liescope.train("tfidf", texts, folds=2, out=f"{folder}/m")
print(*(path for path in opened if path.startswith(folder)), sep="\\n", file=sys.stderr)
liescope.evaluate(f"{folder}/m", texts, split="test")
liescope.evaluate(f"{folder}/m", chats, texts["deceptive"].to_list(), split="all")
liescope.audit(texts, split="out-of-fold")
liescope.score(f"{folder}/m", chats)
print(*(path for path in opened if not path.startswith((folder, ":memory:", "/dev/null"))), sep="\\n")
"""


@pytest.mark.long
def test_nothing_is_written_but_what_was_asked_for(tmp_path: Path) -> None:
    pl.DataFrame({"text": TEXTS, "deceptive": LABELS}).write_ndjson(tmp_path / "own.jsonl")
    words = [sys.executable, "-c", ONLY_ITS_OUTPUT, str(tmp_path / "own.jsonl"), str(tmp_path / "models")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
    assert "model.json" in done.stderr  # what is written is seen
