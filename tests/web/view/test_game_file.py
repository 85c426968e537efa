"""Games in one file: it opens from disk, holds what it says, and words that may not be passed on stay out."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope import cli
from liescope.common.errors import UsageError
from liescope.labeling.ledger import LIE
from liescope.web.view.game_page import shown
from liescope.web.view.sources import open_games
from tests.web.view.conftest import CHAT, Played, viewed

Context = Callable[..., Any]
VISIBLE = "[...document.querySelectorAll('.step')].filter((one) => one.getClientRects().length).map((one) => one.id)"


def anchors(game: Any) -> list[list[str]]:
    return [[one["anchor"] for one in section["moments"]] for section in shown(game)["sections"]]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser was asked to open, on a machine with a display."""
    asked: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", asked.append)
    return asked


# In a browser


@pytest.mark.long
def test_games_are_found_sorted_opened_and_stepped_through_by_keys_alone(
    werewolf: Played, tmp_path: Path, new_context: Context, expect: Callable[..., Any]
) -> None:
    ids, games = werewolf.games.ids, viewed(werewolf.games)
    address = liescope.view(werewolf.run, out=tmp_path / "games.html").path.as_uri()
    said = next(event.text for event in games[2].record.events if event.text)
    page = new_context().new_page()
    page.goto(address)
    page.get_by_role("button", name="Statements").press("Enter")
    counts = [int(one) for one in page.locator("td[data-label=Statements]").all_inner_texts()]
    assert counts == sorted((len(game.labels.statements) for game in games), reverse=True)
    for words in (ids[2], said):
        page.get_by_label("Filter").fill(words)
        expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name=ids[2]).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(ids[2])
    for key in ("j", "ArrowDown", "ArrowRight", "k"):
        page.keyboard.press(key)
    moments = [anchor for section in anchors(games[2]) for anchor in section]
    expect(page).to_have_url(f"{address}#g3/{moments[1]}")
    expect(page.locator(f"#{moments[1]}")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    last = [anchor for anchor in moments if anchor[0] == "s"][-1]
    page.goto("about:blank")
    page.goto(f"{address}#g3/{last}")
    expect(page.locator(f"#{last}")).to_be_focused()
    expect(page.locator(f"#{last}")).to_be_in_viewport()
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        for place in ("", "#g1"):
            page.goto(f"{address}{place}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_seat_s_eyes_see_what_the_seat_saw_and_no_role_but_its_own(
    mini_mafia: Played, opened: list[str], new_context: Context, expect: Callable[..., Any]
) -> None:
    game = viewed(mini_mafia.games)[0]
    page = new_context(width=390).new_page()
    page.goto(liescope.view(mini_mafia.run, "0").path.as_uri())
    there = {anchor for section in anchors(game) for anchor in section}
    events = {f"{kind}{event.index}": event for event in game.record.events for kind in "se"}
    for place, name in enumerate(["Full view", "Public view", *(seat.name for seat in game.record.seats)]):
        page.get_by_role("navigation", name="View").get_by_role("link", name=name, exact=True).click()
        seen = {
            anchor
            for anchor in there & events.keys()
            if place == 0 or (events[anchor].audience is None if place == 1 else events[anchor].seen_by(name))
        }
        assert {one for one in page.evaluate(VISIBLE) if one[0] in "se"} == seen
        roles = [seat.role for seat in game.record.seats if place == 0 or seat.name == name]
        page.evaluate("document.querySelector('.players').open = true")
        assert page.locator(".seats .role:visible").all_inner_texts() == roles
        assert set(page.locator("details.called:visible").evaluate_all("all => all.map((one) => one.dataset.saw)")) <= (
            {str(at) for at in range(len(game.record.seats))} if place == 0 else {str(place - 2)}
        )
    page.get_by_role("link", name="Full view").click()
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.get_by_label("Prompt", exact=True).first).to_contain_text(game.calls[0].seat)
    page.get_by_role("link", name="hidden").click()
    expect(page.locator(".labels").first).to_be_hidden()


def test_a_claim_shows_its_verdict_and_evidence_to_mouse_and_keyboard(
    werewolf: Played, tmp_path: Path, new_context: Context, expect: Callable[..., Any]
) -> None:
    lies = [one.record.game_id for one in viewed(werewolf.games) if LIE in {c.claim_class for c in one.labels.claims}]
    page = new_context().new_page()
    page.goto(liescope.view(werewolf.run, lies[0], out=tmp_path / "lie.html").path.as_uri())
    mark = page.locator("mark.lie").first
    note = page.locator(".claimed:has(mark.lie) .note").first
    expect(note).to_be_hidden()
    mark.hover()
    expect(note).to_contain_text("LIE")
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    page.mouse.move(0, 0)
    mark.focus()
    expect(note).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.note') !== null")
    page.keyboard.press("Enter")
    assert page.locator(page.evaluate("location.hash")).text_content().strip()
    assert "claim: LIE" in mark.text_content()


@pytest.mark.long
def test_a_long_game_is_folded_and_unfolds_where_it_is_stepped_or_linked_to(
    werewolf: Played, tmp_path: Path, new_context: Context, expect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("liescope.web.view.game_page.LONG", 5)
    parts = anchors(viewed(werewolf.games)[0])
    address = liescope.view(werewolf.run, "0", out=tmp_path / "long.html").path.as_uri()
    page = new_context().new_page()
    page.goto(address)
    expect(page.locator(f"#{parts[1][0]}")).to_be_hidden()
    for _ in range(len(parts[0]) + 1):
        page.keyboard.press("j")
    expect(page.locator(f"#{parts[1][0]}")).to_be_focused()
    page.goto("about:blank")
    page.goto(f"{address}#{parts[-1][-1]}")
    expect(page.locator(f"#{parts[-1][-1]}")).to_be_in_viewport()


@pytest.mark.long
@pytest.mark.parametrize("game", ["mini-mafia", "werewolf", "chat"])
def test_the_first_message_is_on_the_first_screen_of_a_phone(
    game: str, new_context: Context, expect: Callable[..., Any], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    if game == "chat":
        row = {"messages": CHAT, "lie": True, "model": "some/model-70b-instruct", "task": "sales", "judges": {"a": 90}}
        (tmp_path / "chats.jsonl").write_text(json.dumps(row) + "\n")
        liescope.import_games("chat", tmp_path / "chats.jsonl", out=run)
    else:
        liescope.play(game, players=["scripted:bold"], games=1, assess=True, out=run)
    page = new_context(width=390).new_page()
    first = open_games(str(run)).ids[0]
    page.goto(liescope.view(run, first, out=tmp_path / "one.html", permission="us").path.as_uri())
    text = page.locator(".spoken .text").first.bounding_box()
    assert text["y"] + text["height"] <= 844
    assert "–" not in page.locator(".game").inner_text()
    if game == "chat":
        expect(page.locator(".stated")).to_have_text("Labelled deceptive by the source")
        page.get_by_role("link", name="hidden").click()
        expect(page.locator(".stated")).to_be_hidden()


# The file


def test_a_file_is_opened_with_prompts_and_replies_and_one_for_others_is_only_written_without(
    mini_mafia: Played, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = liescope.view(mini_mafia.run, "0")
    assert opened == [here.path.as_uri()]
    assert here.path.parent.stat().st_mode & 0o077 == 0
    assert "The prompt, rendered again" in here.path.read_text(encoding="utf-8")
    out = liescope.view(mini_mafia.run, "0", out=tmp_path / "one.html").path.read_text(encoding="utf-8")
    assert "The prompt" not in out
    assert "No prompts or raw replies: a file has them that is not made by --out, of at most 20 games." in out
    monkeypatch.setattr("liescope.web.view.game_file.MOST_WITH_CALLS", 2)
    assert liescope.view(mini_mafia.run).bytes < here.bytes
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    liescope.view(mini_mafia.run, "0")
    assert len(opened) == 2


def test_a_file_holds_some_games_of_many_and_says_so(
    mini_mafia: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("liescope.web.view.game_file.MOST", 2)
    written = liescope.view(mini_mafia.run, out=tmp_path / "some.html")
    assert written.games == 2
    assert written.notices[-1] == "these are the first 2 of 3 games; name others to see them"
    with pytest.raises(UsageError, match="a file holds 1 to 2 games, not 3"):
        liescope.view(mini_mafia.run, "0", "1", "2", out=tmp_path / "more.html")


def test_words_that_may_not_be_passed_on_are_refused_unless_somebody_permits_it(
    shared_data: Path, tmp_path: Path, opened: list[str]
) -> None:
    run = tmp_path / "imported"
    with gzip.open(shared_data / "mini_mafia" / "games.jsonl.gz", "rt", encoding="utf-8") as lines:
        (tmp_path / "games.jsonl").write_text("".join(islice(lines, 100)), encoding="utf-8")
    liescope.import_games("mini-mafia", tmp_path / "games.jsonl", out=run)
    with pytest.raises(UsageError, match="may not be passed on"):
        liescope.view(run, out=tmp_path / "no.html")
    assert not (tmp_path / "no.html").exists()
    written = liescope.view(run, out=tmp_path / "yes.html", permission="the authors, today")
    assert written.games > 90
    assert written.bytes < 5_000_000
    assert any("the authors, today" in notice for notice in written.notices)
    assert "Not to be passed on" in written.path.read_text(encoding="utf-8")
    assert liescope.view(run, open_games(str(run)).ids[0]).games == len(opened) == 1


def test_the_command_writes_the_named_games_and_says_what_it_wrote(
    mini_mafia: Played, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "two.html"
    assert cli.main(["view", str(mini_mafia.run), "0", "2", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert f"2 games, {out.stat().st_size / 1e6:.2f} MB" in said.out
    assert "note: this file holds scripted games" in said.err
    text = out.read_text(encoding="utf-8")
    assert [game_id in text for game_id in mini_mafia.games.ids] == [True, False, True]
    for words, why in (
        ([str(tmp_path)], "neither a run nor a corpus"),
        ([str(mini_mafia.run), "no-such-game"], "unknown game"),
    ):
        assert cli.main(["view", *words]) == 1
        assert why in capsys.readouterr().err


def test_what_looks_like_a_secret_is_written_to_no_file_for_others(
    mini_mafia: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record, *_) = (one.record for one in viewed(mini_mafia.games))
    monkeypatch.setenv("OPENAI_API_KEY", next(event.text for event in record.events if event.text)[:30])
    with pytest.raises(UsageError, match="so no file was written"):
        liescope.view(mini_mafia.run, "0", out=tmp_path / "one.html")
    assert not (tmp_path / "one.html").exists()


def test_a_file_of_games_replaces_no_file_of_another_kind(mini_mafia: Played, tmp_path: Path) -> None:
    file = tmp_path / "game.html"
    for _ in range(2):
        liescope.view(mini_mafia.run, "0", out=file)
    file.write_text("a letter", "utf-8")
    with pytest.raises(UsageError, match="no file of games"):
        liescope.view(mini_mafia.run, "0", out=file)
    assert file.read_text("utf-8") == "a letter"


def test_a_file_is_the_same_without_the_packages_of_a_server(mini_mafia: Played, tmp_path: Path) -> None:
    code = """
import sys
sys.modules.update(dict.fromkeys(("fastapi", "starlette", "uvicorn", "h11", "multipart", "python_multipart")))
from liescope.cli import main
sys.exit(main(sys.argv[1:]))
"""
    words = ["view", str(mini_mafia.run), "0", "--out", "one.html"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.startswith("one.html: 1 game, "), done.stderr
    other = liescope.view(mini_mafia.run, "0", out=tmp_path / "other.html")
    assert (tmp_path / "one.html").read_bytes() == other.path.read_bytes()
