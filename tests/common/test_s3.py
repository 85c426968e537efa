"""Corpora, models and scores in buckets of S3: a server of its own process that speaks its protocol, and s3fs."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import polars as pl
import pytest

import liescope
from liescope.common.errors import BadData, UsageError

pytest.importorskip("s3fs", reason="needs s3fs and moto: make stores")
pytest.importorskip("moto.server", reason="needs s3fs and moto: make stores")
pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of these packages' own
SECRET = "a-key-that-nobody-may-see"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The address of a bucket."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "me")
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        while server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        fsspec.filesystem("s3").mkdir("own")
        yield "s3://own"
        server.kill()
        server.wait()


def test_what_is_made_and_read_in_a_bucket_is_what_folders_hold(
    bucket: str, played: Path, played_corpus: Path, tmp_path: Path
) -> None:
    corpus, model = f"{bucket}/corpora/first", f"{bucket}/models/words"
    liescope.build(played, out=corpus)
    for table in ("statements", "games", "events"):
        assert liescope.read(corpus, table).collect().equals(liescope.read(played_corpus, table).collect())
    made = liescope.train("tfidf", corpus, target="role", out=model)
    alone = liescope.train("tfidf", played_corpus, target="role", out=tmp_path / "words")
    assert str(made.model) == model
    assert made.scores.equals(alone.scores)
    said = liescope.read(played_corpus, "statements").select("statement_id", "text").collect()
    with fsspec.open(f"{bucket}/said.parquet", "wb") as file:
        said.write_parquet(file)
    liescope.score_file(model, f"{bucket}/said.parquet", out=f"{bucket}/scores.parquet")
    with fsspec.open(f"{bucket}/scores.parquet", "rb") as file:
        assert pl.read_parquet(file).equals(liescope.score(tmp_path / "words", said))
    assert liescope.audit(corpus).rows == liescope.audit(played_corpus).rows
    with pytest.raises(UsageError, match=f"{model} holds a model already"):
        liescope.train("tfidf", corpus, target="role", out=model)


@pytest.mark.parametrize("place", ["own/nothing", "no-such-bucket/first"])
def test_what_is_not_there_is_told_by_its_address_and_without_a_key(bucket: str, place: str, played: Path) -> None:
    with pytest.raises(BadData, match=f"s3://{place}") as told:
        liescope.audit(f"s3://{place}")
    assert SECRET not in str(told.value)


def test_a_bucket_that_is_not_there_is_not_made_and_the_work_is_kept(bucket: str, played: Path) -> None:
    with pytest.raises(UsageError, match=r"all is kept in (\S+); send it with") as told:
        liescope.build(played, out="s3://no-such-bucket/first")
    kept = Path(str(told.value).partition("kept in ")[2].partition(";")[0])
    assert (kept / "corpus.json").is_file()
    assert not fsspec.filesystem("s3").exists("no-such-bucket")
    shutil.rmtree(kept.parent)
