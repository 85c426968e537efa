"""Scores of statements as people have them: strings, mappings, frames, files; and of those that hold no words."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import liescope
from liescope import load, score, score_file, train
from liescope.cli import main
from liescope.common.errors import BadData, UsageError
from liescope.detectors import LoadedDetector
from liescope.detectors.classifier import LieDetector
from liescope.detectors.commands import app
from liescope.detectors.examples import make_examples, read_statements
from liescope.detectors.statement_inputs import NO_TEXT
from liescope.generate.corpus.read import read
from liescope.labeling.label import LOST_TEXT
from tests.detectors.conftest import Corpus, Rows

CALM = "calm down and trust me, a random rush is wrong, Bob."
CERTAIN = "I checked Bob last night, the evidence is certain."
COLUMNS = ["text", "score", "flag_at_1pct_fpr", "flag_at_5pct_fpr", "verdict", "abstains", "score_null"]


@pytest.fixture(scope="module")
def folder(model_with_context: Path) -> Path:
    return model_with_context


@pytest.fixture(scope="module")
def model(folder: Path) -> LoadedDetector:
    return load(folder)


def test_strings_get_a_probability_each_in_their_order(model: LoadedDetector) -> None:
    found = model.score([CALM, CERTAIN])
    assert found.columns == COLUMNS
    assert found["text"].to_list() == [CALM, CERTAIN]
    lie, truth = found["score"]
    assert 0 <= truth < 0.5 < lie <= 1
    assert found["score_null"].to_list() == [None, None]


def test_a_folder_a_loaded_model_and_a_single_string_are_taken_too(folder: Path, model: LoadedDetector) -> None:
    assert score(str(folder), CALM).equals(score(model, [CALM]))
    assert score(model, {"text": CALM}).equals(score(model, [CALM]))
    assert score(model, []).height == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", NO_TEXT),
        ("  \n", NO_TEXT),
        (None, NO_TEXT),
        ("\u200b\u202e", NO_TEXT),
        ("\\", LOST_TEXT),
        (" \\ ", LOST_TEXT),
    ],
)
def test_what_holds_no_words_has_no_score_and_a_reason(text: str | None, reason: str, model: LoadedDetector) -> None:
    row = model.score([text, CALM]).row(0, named=True)
    assert row["score"] is None
    assert row["flag_at_5pct_fpr"] is None
    assert row["score_null"] == reason
    assert model.score([text, CALM])["score"][1] is not None


def test_names_that_were_common_in_training_are_names_where_none_are_given(model: LoadedDetector) -> None:
    assert model.file.training.names == ["Alice", "Bob", "Charlie", "Diana"]
    alone = model.score([CERTAIN])["score"][0]
    assert alone == model.score([CERTAIN.replace("Bob", "Diana")])["score"][0]
    given = {"text": CERTAIN.replace("Bob", "Xerxes"), "names": ["Xerxes", "Yve"]}
    assert alone == model.score([given])["score"][0]


@pytest.mark.parametrize(
    "context",
    [
        [("Alice", "calm, calm."), ("Bob", "evidence?")],
        [["Alice", "calm, calm."], ["Bob", "evidence?"]],
        [{"speaker": "Alice", "text": "calm, calm."}, {"speaker": "Bob", "text": "evidence?"}],
        np.array([("Alice", "calm, calm."), ("Bob", "evidence?")]).tolist(),
    ],
)
def test_context_is_read_in_every_form_and_matters(context: Any, model: LoadedDetector) -> None:
    said = {"text": CERTAIN, "speaker": "Diana", "names": ["Alice", "Bob", "Diana"]}
    with_context = model.score([{**said, "context": context}])["score"][0]
    pairs = [("Alice", "calm, calm."), ("Bob", "evidence?")]
    assert with_context == model.score([{**said, "context": pairs}])["score"][0]
    assert with_context != model.score([said])["score"][0]


def test_frames_of_every_library_give_what_the_evaluation_reads(model: LoadedDetector, corpus: Path) -> None:
    """Rows of a corpus, with the game before each as its context, score as `evaluate` scores them."""
    statements = read_statements(corpus, ["test"])
    expected = model.detector.predict_proba(make_examples(statements, 2))[:, 1]
    plain = statements.select("statement_id", "game_id", "speaker", "speaker_model", "text", "names")
    arrow = plain.to_arrow()
    for frame in (plain, plain.lazy(), arrow, arrow.to_pandas(), Dataset(pa.Table.from_pylist(plain.to_dicts()))):
        found = model.score(frame)
        assert found.columns == ["statement_id", *COLUMNS]
        assert found["statement_id"].to_list() == statements["statement_id"].to_list()
        assert np.allclose(found["score"].to_numpy(), expected)


def test_missing_values_of_pandas_are_missing(model: LoadedDetector) -> None:
    frame = pl.DataFrame({"text": [CALM, None], "speaker": [None, "Bob"]}).to_pandas()
    assert model.score(frame)["score_null"].to_list() == [None, NO_TEXT]


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ([7], "statement 1 is of type int"),
        ([CALM, {"said": CALM}], "statement 2 has no 'text'; it has: said"),
        ([{"text": 7}], "statement 1: 'text' is of type int"),
        ([{"text": CALM, "context": "before"}], "'context' must be a list"),
        ([{"text": CALM, "context": [7]}], "each entry of 'context'"),
        (7, "int holds no statements"),
        (pl.DataFrame({"said": [CALM]}), "has no 'text'"),
    ],
)
def test_what_is_no_statement_is_named(statements: Any, words: str, model: LoadedDetector) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        model.score(statements)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.text(max_size=80), max_size=6))
def test_any_text_gets_a_probability_or_a_reason(model: LoadedDetector, texts: list[str]) -> None:
    for row in model.score(texts).iter_rows(named=True):
        assert (row["score"] is None) == (row["score_null"] is not None)
        assert row["score"] is None or 0 <= row["score"] <= 1


def test_a_score_at_the_threshold_is_not_flagged_and_the_next_above_is(model: LoadedDetector, corpus: Path) -> None:
    at = model.thresholds["5pct"]
    validation = model.score(read_statements(corpus, ["validation"]))
    assert (validation["score"] == at).any()
    for row in validation.iter_rows(named=True):
        assert row["flag_at_5pct_fpr"] == (row["score"] > at)
    assert not validation.filter(pl.col("score") == at)["flag_at_5pct_fpr"].any()


@pytest.mark.parametrize("folds", [0, 2])
def test_without_validation_games_nothing_is_flagged_and_one_sentence_says_why(
    folds: int, make_corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def all_train(rows: Rows) -> None:
        for row in (row for table in rows.values() for row in table):
            row["split"] = "train"

    out = train("tfidf", make_corpus(games=20, change=all_train), out=tmp_path / "m", folds=folds).model
    found = load(out)
    assert not found.notes
    assert found.score(["I trust Bob."])["flag_at_1pct_fpr"].to_list() == [None]
    (note,) = found.notes
    assert "chosen on validation games" in note
    assert main(["score", str(out), "I trust Bob."]) == 0
    told = capsys.readouterr()
    assert note in told.err
    assert told.out.split("\t")[1] == "–"


def test_lost_texts_are_left_out_of_training_and_evaluation_and_counted(make_corpus: Corpus, tmp_path: Path) -> None:
    def lose(rows: Rows) -> None:
        for row in rows["statements"][::10]:
            row["text"] = "\\"
        for row in rows["statements"][5::10]:
            row["read_notes"] = ["another note", LOST_TEXT]

    corpus = make_corpus(change=lose)
    lost = {split: int(read(corpus, "statements", split).collect().height) for split in ("train", "test")}
    lost = {split: count - read_statements(corpus, [split]).height for split, count in lost.items()}
    assert lost["train"] > 50
    result = train("tfidf", corpus, out=tmp_path / "m", folds=0)
    assert result.file.training.lost >= lost["train"]
    shown = run("evaluate", str(tmp_path / "m"), "--corpus", str(corpus), "--out", str(tmp_path / "r"))
    assert f"{lost['test']:,} statements of test are left out" in " ".join(shown.split())
    assert "are left out" in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")


def run(*words: str, stdin: str | None = None) -> str:
    return CliRunner().invoke(app, list(words), catch_exceptions=False, input=stdin).stdout


def test_the_command_reads_standard_input_a_line_at_a_time(folder: Path) -> None:
    found = run("score", str(folder), stdin=f"{CALM}\n\nevil \x1b[31mtext\r\n{CERTAIN}").splitlines()
    dash = run("score", str(folder), "-", stdin=f"{CALM}\n\nevil \x1b[31mtext\r\n{CERTAIN}").splitlines()
    assert dash == found
    assert len(found) == 4
    assert found[1].split("\t")[:2] == ["–", NO_TEXT]
    assert "\x1b" not in found[2]


WRITE: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".jsonl": lambda rows, path: rows.write_ndjson(path),
    ".csv": lambda rows, path: rows.write_csv(path),
    ".parquet": lambda rows, path: rows.write_parquet(path),
    ".gz": lambda rows, path: path.write_bytes(gzip.compress(rows.write_ndjson().encode())),
}
READ: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".jsonl": pl.read_ndjson,
    ".csv": pl.read_csv,
    ".parquet": pl.read_parquet,
    ".gz": lambda path: pl.read_ndjson(gzip.decompress(path.read_bytes())),
}


@pytest.mark.parametrize(
    ("into", "out"),
    [
        ("said.jsonl", "scores.csv"),
        ("said.csv", "scores.parquet"),
        ("said.parquet", "scores.jsonl.gz"),
        ("said.jsonl.gz", "scores.jsonl"),
    ],
)
def test_files_of_every_kind_are_scored_in_batches(
    into: str, out: str, folder: Path, model: LoadedDetector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("liescope.detectors.saved.WINDOW", 7)
    rows = [{"text": f'{CALM}, {number} "x"\nnext', "speaker": "Bob"} for number in range(20)]
    WRITE[Path(into).suffix](pl.DataFrame(rows), tmp_path / into)
    said = run("score", str(folder), "--in", str(tmp_path / into), "--out", str(tmp_path / out))
    assert "20 statements scored" in said
    expected = model.score(rows)
    found = READ[Path(out).suffix](tmp_path / out)
    assert found["text"].to_list() == expected["text"].to_list()
    assert np.allclose(found["score"].to_numpy(), expected["score"].to_numpy())


def test_context_goes_on_over_the_border_of_a_batch(
    folder: Path, model: LoadedDetector, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("liescope.detectors.saved.WINDOW", 4)
    statements = read_statements(corpus, ["test"])
    statements.select("statement_id", "game_id", "speaker", "text", "names").write_parquet(tmp_path / "in.parquet")
    run("score", str(folder), "--in", str(tmp_path / "in.parquet"), "--out", str(tmp_path / "out.parquet"))
    assert np.allclose(pl.read_parquet(tmp_path / "out.parquet")["score"], model.score(statements)["score"])


@pytest.mark.parametrize("of", [1, 2, 3])
def test_the_scores_of_the_parts_are_those_of_the_whole(
    folder: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: int
) -> None:
    for module in ("saved", "scoring"):
        monkeypatch.setattr(f"liescope.detectors.{module}.WINDOW", 5)
    said, out = tmp_path / "said.parquet", tmp_path / "out.parquet"
    read_statements(corpus, ["test"]).select("statement_id", "game_id", "speaker", "text").head(23).write_parquet(said)
    score_file(folder, said, out=out)
    parts = [tmp_path / f"{number}.parquet" for number in range(1, of + 1)]
    for number, part in enumerate(parts, 1):
        run("score", str(folder), "--in", str(said), "--part", f"{number}/{of}", "--out", str(part))
    assert pl.concat(map(pl.read_parquet, parts)).equals(pl.read_parquet(out))


def test_a_part_needs_a_file_that_has_it(folder: Path, tmp_path: Path) -> None:
    pl.DataFrame({"text": [CALM]}).write_ndjson(tmp_path / "said.jsonl")
    for words, part, why in (
        (("--in", str(tmp_path / "said.jsonl"), "--out", str(tmp_path / "out.csv")), "1/2", "1 windows of 4,096"),
        (("--in", str(tmp_path / "said.jsonl")), "1/1", "--in and --out"),
        ((CALM, "--out", str(tmp_path / "out.csv")), "1/1", "name one with --in"),
    ):
        with pytest.raises(UsageError, match=why):
            run("score", str(folder), *words, "--part", part)
    with pytest.raises(UsageError, match="not both"):
        run("score", str(folder), CALM, "--in", str(tmp_path / "said.jsonl"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"text": "hello"}\n{"text": ', "line 2: not JSON"),
        ("a.jsonl", b'{"text": "hello"}\n[[[[' + b"[" * 100_000, "line 2: not JSON"),
        ("a.jsonl", b"\xff\xfa\x00", "line 1: not UTF-8"),
        ("a.jsonl", b"\xff\xfe{", "not UTF-16"),
        ("a.jsonl", b'{"said": "hello"}', "has no 'text'"),
        ("a.csv", b"said\nhello\n", "has no 'text'"),
        ("a.csv", b"text\n\xff\xfe\n", "not UTF-8"),
        ("a.parquet", b"PAR1 not", "not Parquet"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "hello"}\n' * 99, mtime=0)[:-9], "ended before"),
        ("a.xlsx", b"PK\3\4", "a.xlsx cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_and_leaves_nothing(
    name: str, content: bytes, words: str, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=words):
        run("score", str(folder), "--in", str(tmp_path / name), "--out", str(tmp_path / "out.jsonl"))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_scores_appear_only_when_the_last_one_is_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("liescope.detectors.saved.WINDOW", 4)
    out = tmp_path / "scores.parquet"

    def said(breaks_off: bool) -> Iterator[str]:
        for _ in range(20):
            assert not out.exists()
            yield CALM
        if breaks_off:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_file(folder, said(True), out=out)
    assert list(tmp_path.iterdir()) == []
    done = score_file(folder, said(False), out=out)
    assert (done.statements, done.scored, pl.read_parquet(out).height) == (20, 20, 20)


def test_a_file_without_statements_gives_a_file_without_scores(folder: Path, tmp_path: Path) -> None:
    pl.DataFrame(schema={"text": pl.String}).write_parquet(tmp_path / "in.parquet")
    done = score_file(folder, tmp_path / "in.parquet", out=tmp_path / "out.parquet")
    assert done.statements == 0
    assert pl.read_parquet(tmp_path / "out.parquet").columns == ["statement_id", *COLUMNS]


def test_columns_that_no_detector_reads_are_not_read(folder: Path, tmp_path: Path) -> None:
    """A value that cannot be turned into Python would raise."""
    far = pa.array([2**62], pa.timestamp("us"))
    pq.write_table(pa.table({"text": [CALM], "transcript": far}), tmp_path / "in.parquet")
    assert score_file(folder, tmp_path / "in.parquet", out=tmp_path / "out.csv").scored == 1


def test_progress_knows_how_many_there_are(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liescope.detectors.saved.WINDOW", 5)
    seen = []
    monkeypatch.setattr("liescope.detectors.scoring.shown", lambda _: nullcontext(lambda *told: seen.append(told[1:])))
    pl.DataFrame({"text": [CALM] * 20}).write_ndjson(tmp_path / "in.jsonl")
    score_file(folder, tmp_path / "in.jsonl", out=tmp_path / "out.csv", progress=True)
    assert seen == [(done, 20) for done in (5, 10, 15, 20)]


def test_a_line_without_end_is_not_read_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liescope.detectors.commands._LONGEST", 1000)
    with pytest.raises(BadData, match="line 2 is longer than 1,000 characters"):
        run("score", str(folder), stdin="short\n" + "x" * 5000)


def test_a_file_of_scores_is_not_overwritten_unless_told(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    out.write_text("years of work", encoding="utf-8")
    with pytest.raises(UsageError, match="add --overwrite"):
        run("score", str(folder), CALM, "--out", str(out))
    assert out.read_text(encoding="utf-8") == "years of work"
    run("score", str(folder), "=HYPERLINK(evil)", "--out", str(out), "--overwrite")
    assert "'=HYPERLINK" in out.read_text(encoding="utf-8")


def test_the_snippets_on_the_model_card_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    card = (folder / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    (command,) = re.findall(r"`liescope (score .*?)`", card)
    (tmp_path / "models").symlink_to(folder.parent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(liescope, "load", load, raising=False)
    exec(compile(code, "README.md", "exec"))
    assert "shape: (1, 7)" in capsys.readouterr().out
    assert "He is the mafioso." in run(*shlex.split(command))


def test_the_name_of_a_file_is_no_statement(tmp_path: Path) -> None:
    (said := tmp_path / "said.csv").write_text("text\nI was at home.\n")
    for texts in ([str(said)], ["I was at home.", str(said)], [str(tmp_path)]):
        with pytest.raises(UsageError, match="is a file or folder, not a statement; read a file with --in"):
            CliRunner().invoke(app, ["score", "models/none", *texts], catch_exceptions=False)


CALM_CHAT = [{"role": "user", "content": "Who was it?"}, {"role": "assistant", "content": CALM}]
CERTAIN_CHAT = [{"role": "user", "content": "Are you sure?"}, {"role": "assistant", "content": CERTAIN}]
TURNS = [{"chat_id": number, **turn} for number, told in enumerate((CALM_CHAT, CERTAIN_CHAT)) for turn in told]


def renamed(rows: list[dict[str, Any]], names: dict[str, str]) -> list[dict[str, Any]]:
    return [{names.get(name, name): value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 1, 3], [2, 0, 3, 1]])
def test_a_turn_a_row_is_scored_with_the_turns_before_it_in_whatever_order_conversations_come(
    order: list[int], model: LoadedDetector, folder: Path, tmp_path: Path
) -> None:
    whole = model.score([CALM_CHAT, CERTAIN_CHAT])
    rows = [TURNS[at] for at in order]
    other = renamed(rows, {"chat_id": "Talk", "role": "who", "content": "words"})
    named = {"conversation": "Talk", "role": "who", "content": "words"}
    other = [{**row, "text": "not this", "messages": "nor this"} for row in other]
    found = [model.score(form) for form in (rows, pl.DataFrame(rows), pl.DataFrame(rows).to_pandas())]
    found += [score(model, other, **named)]
    pl.DataFrame(rows).write_csv(tmp_path / "a.tsv", separator="\t")
    pl.DataFrame(other).write_parquet(tmp_path / "b.parquet")
    for source, columns in {"a.tsv": {}, "b.parquet": named}.items():
        score_file(folder, tmp_path / source, out=tmp_path / "out.parquet", overwrite=True, **columns)
        found.append(pl.read_parquet(tmp_path / "out.parquet").drop("statement_id"))
    with pytest.raises(UsageError, match="statement 2: it belongs to no conversation"):
        model.score([rows[0], {**rows[1], "chat_id": None}])
    for table in found:
        assert table["text"].to_list() == [row["content"] for row in rows]
        judged = table.filter(pl.col("score_null").is_null()).sort("text")
        assert judged.equals(whole.sort("text"))
        assert {*table["score_null"]} == {None, "not the assistant's turn"}


def test_columns_of_any_name_are_scored_as_those_of_the_usual_names_are(
    model: LoadedDetector, folder: Path, tmp_path: Path
) -> None:
    texts, chats = model.score([CALM, CERTAIN]), model.score([CALM_CHAT, CERTAIN_CHAT])
    rows = [{"statement": CALM, "text": "not this"}, {"statement": CERTAIN, "text": "nor this"}]
    assert score(model, rows, text="statement").equals(texts)
    assert score(model, [{"Sentence": row["statement"], "label": 1} for row in rows]).equals(texts)
    pairs = [
        {"ask": chat[0]["content"], "said": chat[1]["content"], "answer": "x"} for chat in (CALM_CHAT, CERTAIN_CHAT)
    ]
    assert score(model, pairs, prompt="ask", response="said").equals(chats)
    nested = {"conversation": {"id": 1, "messages": CALM_CHAT}}
    for row in ({"messages": np.array(CALM_CHAT, dtype=object)}, {"conversations": CALM_CHAT}, nested):
        assert score(model, [row]).equals(model.score([CALM_CHAT]))
    with pytest.raises(UsageError, match="name the column with --text"):
        score(model, [{"conversation": "Hm."}])
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    shown = run("score", str(folder), "--in", str(tmp_path / "a.parquet"), "--text", "statement", "--json")
    assert [row["score"] for row in json.loads(shown)["rows"]] == texts["score"].to_list()
    (tmp_path / "a.tsv").write_text(f"1\ttrue\t{CALM}\n2\tfalse\t{CERTAIN}\n", encoding="utf-8")
    score_file(folder, tmp_path / "a.tsv", columns="id,label,claim", out=tmp_path / "a.csv")
    assert pl.read_csv(tmp_path / "a.csv")["score"].to_list() == pytest.approx(texts["score"].to_list())
    with pytest.raises(BadData, match="give them, as in --columns"):
        score_file(folder, tmp_path / "a.tsv", out=tmp_path / "b.csv")
    with pytest.raises(UsageError, match="statement 1: --text said: there is no such column; it has statement, text"):
        score(model, rows, text="said")
    with pytest.raises(UsageError, match="--text said: there is no such column"):
        score(model, [CALM], text="said")
    with pytest.raises(UsageError, match="answer and response may both hold the response"):
        score(model, [{"question": "Who?", "answer": CALM, "response": CERTAIN}])


def test_names_in_a_text_are_the_names_of_a_list(model: LoadedDetector) -> None:
    said = {"text": "Zoe and Yves saw me.", "speaker": "Xi"}
    listed = model.score([{**said, "names": ["Xi", "Yves", "Zoe"]}])
    for names in ("Xi, Yves,Zoe", '["Xi", "Yves", "Zoe"]', "['Xi' 'Yves'\n 'Zoe']"):
        assert model.score([{**said, "names": names}]).equals(listed)
    assert not model.score([said]).equals(listed)


def test_turns_of_others_are_no_examples_for_a_classifier() -> None:
    with pytest.raises(ValueError, match="2 rows are not the assistant's turns; give each conversation"):
        LieDetector("tfidf").fit(TURNS, [0, 0, 0, 1])
