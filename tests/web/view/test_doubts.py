"""The queue of doubtful labels: its order, what it hides, and the file of marks, which never loses one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from liescope.common.errors import BadData, UsageError
from liescope.detectors.audit.marks import Mark, read_marks
from liescope.web.view.doubtful_labels import MarkFile, in_context, judged, most_doubtful, next_unmarked, queue_length
from liescope.web.view.game_index import Index
from liescope.web.view.game_sources import open_source
from tests.web.view.conftest import Played

MARK = Mark("game:5", "claim", True, "right", "a\nnote", "anna", "2026-11-22T06:00:00+00:00", False, 1)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def index(mini_mafia: Played) -> Iterator[Index]:
    made = Index(open_source(mini_mafia.run))
    made.catch_up()
    yield made
    made.close()


def test_the_most_doubtful_come_first_by_the_labels_that_were_chosen(index: Index) -> None:
    for opinions in (("claim", "self"), ("role", "claim", "self", "peer")):
        total = queue_length(index.store, opinions)
        queue = most_doubtful(index.store, opinions, 1, total + 5)
        assert len(queue) == total > 0
        assert [one.place for one in queue] == list(range(1, total + 1))
        doubts = [one.doubt for one in queue]
        assert doubts == sorted(doubts, reverse=True)
        assert doubts[-1] > 0
        first = in_context(index.opened.game(queue[0].game_id), queue[0].statement_id, ())
        says = {label.key: label.says for label in first.labels}
        assert len({says[one] for one in opinions if one in says}) == 2
    done = {one.statement_id for one in queue[:3]}
    assert next_unmarked(index.store, opinions, 1, done) == 4
    assert next_unmarked(index.store, opinions, 1, {one.statement_id for one in queue}) is None


def test_a_statement_stands_behind_what_its_listeners_had_heard(index: Index, mini_mafia: Played) -> None:
    game = index.opened.game(most_doubtful(index.store, ("role", "self"), 1, 1)[0].game_id)
    rows = game.labels.statements
    last = in_context(game, rows[-1].statement_id, ())
    assert last.before == rows[:-1][-5:]
    assert last.hidden == max(0, len(rows) - 6)
    with pytest.raises(UsageError, match="unknown statement"):
        in_context(game, "game:999", ())


def test_what_was_answered_blind_is_judged_by_the_label() -> None:
    assert [judged(True, "yes"), judged(False, "no"), judged(True, "no"), judged(False, "unsure")] == [
        "right",
        "right",
        "wrong",
        "unsure",
    ]


def test_marks_are_kept_behind_an_end_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    MarkFile(path, tmp_path / "run").add([MARK])
    with path.open("ab") as file:
        file.write(b'{"statement_id": "lost')
    marks = MarkFile(path, tmp_path / "run")
    marks.add([replace(MARK, pass_number=2)])
    assert read_marks(path) == (MARK, replace(MARK, pass_number=2))
    assert marks.of_session("anna", 2) == (replace(MARK, pass_number=2),)


def add_many(path: Path, who: str) -> None:
    marks = MarkFile(path, path.parent / "run")
    for number in range(20):
        marks.add([replace(MARK, who=who, statement_id=f"game:{number}")])


def test_several_people_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(partial(add_many, path), ["anna", "bert"]))
    assert sorted((mark.who, mark.statement_id) for mark in read_marks(path)) == sorted(
        (who, f"game:{number}") for who in ("anna", "bert") for number in range(20)
    )


def test_no_mark_is_written_into_a_run_or_over_another_file(mini_mafia: Played, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="left as it is"):
        MarkFile(mini_mafia.run / "marks.jsonl", mini_mafia.run)
    (tmp_path / "notes.txt").write_text("my notes\n")
    with pytest.raises(BadData, match="line 1 is no mark"):
        MarkFile(tmp_path / "notes.txt", mini_mafia.run)
    with pytest.raises(UsageError, match="cannot be written"):
        MarkFile(tmp_path / "no" / "folder" / "marks.jsonl", mini_mafia.run)


def test_the_queue_is_gone_through_by_forms(index: Index, mini_mafia: Played, tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from liescope.web.site import make_site
    from liescope.web.view.doubtful_labels import doubt_routes

    path = tmp_path / "marks.jsonl"
    site = TestClient(make_site([doubt_routes(index, MarkFile(path, mini_mafia.run))]), "http://localhost")
    html = site.get("/doubts", params={"who": "anna", "blind": "yes", "of": ["role", "self"]}).text
    first = most_doubtful(index.store, ("role", "self"), 1, 1)[0]
    assert first.game_id not in re.sub(r"<input[^>]*>", "", html)
    assert "honest" not in html
    assert re.findall(r"<input[^>]*mark-role[^>]*yes[^>]*autofocus", html)  # each page is ready for the keys
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', html))
    sent = {**fields, "of": ["role", "self"], "mark-role": "yes", "mark-self": "unsure", "note": "hm"}
    done = site.post("/doubts", data=sent, follow_redirects=False)
    assert (done.status_code, "place=2" in done.headers["location"]) == (303, True)
    role, own = read_marks(path)
    assert (role.label, role.mark, role.blind, role.note) == ("role", "right" if role.value else "wrong", True, "hm")
    assert (own.label, own.mark) == ("self", "unsure")
    assert json.loads(path.read_text().splitlines()[0])["when"].endswith("+00:00")
    assert site.post("/doubts", data={**sent, "token": "forged"}).status_code == 403
    assert site.post("/doubts", data={**sent, "who": ""}).status_code == 400
    assert site.post("/doubts", data={**sent, "mark-role": "right"}).status_code == 400
    assert len(read_marks(path)) == 2
    without = TestClient(make_site([doubt_routes(index, None)]), "http://localhost")
    page = without.get("/doubts").text
    assert "--marks marks.jsonl" in page
    assert 'type="radio"' not in page
