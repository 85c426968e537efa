"""What people agree to, what they are called, and how they take their words back."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from liescope.common.errors import BadData, RunPaused, UsageError
from liescope.common.model_names import consent_hash
from liescope.games.core import Ask, AskKind
from liescope.generate.players.human import pseudonym, suggested
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.withdraw import withdraw
from liescope.web.play.game_setup import CONSENT, LONGEST, State, check_players, make_setup, read_consent
from liescope.web.play.hosted_games import HostedGame
from tests.generate.runs.people import MARK
from tests.web.play.person import said, sheets
from tests.web.play.seated import OTTER, get, only, playing, post, seated, server_of, soon, told_nowhere
from tests.web.server import Server


@pytest.mark.parametrize(
    "name",
    [
        *("me@example.org", "https://x.org", "www.me.org", "@handle", "0171 234567", "withdrawn-3", "human", "<b>", ""),
        *("x" * 33, "\u202egnorw", "\u200b", "\x00", "👩‍🚀", " "),
    ],
)
def test_a_pseudonym_is_short_and_plain_and_tells_nobody_how_to_reach_somebody(name: str) -> None:
    with pytest.raises(UsageError, match="pseudonym"):
        pseudonym(name)


@pytest.mark.parametrize("name", ["blue otter", "Blue \u041etter", " Blue  OTTER", "\u0410lice"])
def test_nobody_takes_a_name_that_looks_like_another_player_s(tmp_path: Path, name: str) -> None:
    async def game() -> None:
        async with server_of(tmp_path) as hub:
            table = hub.add(make_setup("mini-mafia", 2, ["scripted:steady"], {}))
            first, second = table.seats
            table.take(first, "Blue Otter", "a text")
            with pytest.raises(UsageError, match="looks like it"):
                table.take(second, name, "a text")
            table.take(second, "Blue Heron", "a text")

    asyncio.run(game())


def test_a_host_s_player_whose_folder_holds_no_model_is_refused_at_once(tmp_path: Path) -> None:
    setup = make_setup("mini-mafia", 1, [f"local:{tmp_path}"], {})
    with pytest.raises(UsageError, match=r"has no config\.json"):
        asyncio.run(check_players(setup))


def test_a_suggested_pseudonym_can_be_taken_and_is_free() -> None:
    taken: set[str] = set()
    while name := suggested(taken):
        assert pseudonym(name) == name
        assert name not in taken
        taken.add(name)
    assert len(taken) > 100


def test_the_host_s_own_text_is_plain_paragraphs_of_a_limited_size(tmp_path: Path) -> None:
    file = tmp_path / "consent.txt"
    file.write_text("We record\nall of it.\n\n\nWrite to <host>.\n", "utf-8")
    consent = read_consent(file)
    assert consent == ("We record all of it.", "Write to <host>.")
    assert consent_hash(consent) != consent_hash(CONSENT)
    for text in ("", "x" * (LONGEST + 1)):
        file.write_text(text, "utf-8")
        with pytest.raises(BadData, match=r"empty|longer"):
            read_consent(file)
    with pytest.raises(BadData, match="cannot be read"):
        read_consent(tmp_path / "none.txt")


def spoken(ask: Ask) -> bool:
    """Whether a person who always speaks has spoken by now."""
    return ask.kind is AskKind.VOTE


def test_whoever_withdraws_leaves_and_their_words_go_once_the_game_has_ended(tmp_path: Path) -> None:
    async def game() -> None:
        async with server_of(tmp_path) as hub:
            table, (name,) = seated(hub)
            await playing(table, name, until=spoken)
            if table.state is State.PLAYING:  # they may have been killed in the night
                assert not told_nowhere(tmp_path, MARK)
            await table.withdraw(name)
            if table.state is State.PLAYING:
                assert table.leaving(name)
                with Journal.open(table.run) as journal:
                    assert journal.plan["held"][name] == f"human:{OTTER}"  # the game goes on as it began
                await playing(table, name)
            assert table.state is State.ENDED
            await soon(lambda: table.person(name) == "withdrawn-1")
            record = table.record()
            assert name in record.meta["withdrawn"]
            assert {seat.model for seat in record.seats} == {"withdrawn-1", "scripted:steady"}
            table.again()  # their seat is a program's now
            await playing(table, name)
            again = table.record()
            assert (table.state, {seat.source.value for seat in again.seats}) == (State.ENDED, {"scripted"})

    asyncio.run(game())
    assert told_nowhere(tmp_path, MARK, OTTER)


def test_words_that_were_to_go_when_the_server_stopped_go_when_the_game_has_ended(tmp_path: Path) -> None:
    async def first() -> str:
        async with server_of(tmp_path) as hub:
            table, (name,) = seated(hub)
            await playing(table, name, until=lambda _: True)
            await table.withdraw(name)
            return name

    async def second(name: str) -> None:
        async with server_of(tmp_path) as hub:
            await playing(only(hub), name)
            await soon(lambda: only(hub).person(name) != OTTER)

    asyncio.run(second(asyncio.run(first())))
    assert told_nowhere(tmp_path, OTTER)


@pytest.mark.parametrize("ended", [True, False])
def test_a_server_forgets_whom_the_command_took_out_of_its_run(ended: bool, tmp_path: Path) -> None:
    async def first() -> None:
        async with server_of(tmp_path) as hub:
            table, (name,) = seated(hub)
            await playing(table, name, until=lambda _: not ended)
            if ended:
                withdraw(table.run, OTTER)
                table.again()
                await playing(table, name)
                assert table.person(name) == "withdrawn-1"
                record = table.record()
                assert {seat.source.value for seat in record.seats} == {"scripted"}
        if not ended:
            withdraw(table.run, OTTER)

    async def second() -> None:
        async with server_of(tmp_path) as hub:
            await soon(lambda: only(hub).state is not State.PLAYING)
            assert only(hub).state is State.ENDED, only(hub).note

    asyncio.run(first())
    asyncio.run(second())
    assert told_nowhere(tmp_path, OTTER)


SHARES = {"suspicion": "50", "confidence": "50"}


async def asked(table: HostedGame, name: str) -> tuple[Ask, dict[str, str]]:
    """What a person is asked next, and fields for its form."""
    while (waiting := table.desk.waiting(table.person(name))) is None:
        await asyncio.sleep(0.005)
    return waiting.ask, {"text": MARK, "choice": str(next(iter(waiting.ask.options), "")), "deceptive": "no", **SHARES}


def key_of(ask: Ask) -> str:
    return f"{ask.step}"


def test_an_answer_that_was_taken_is_in_the_journal(tmp_path: Path) -> None:
    async def game() -> None:
        async with server_of(tmp_path) as hub:
            table, (name,) = seated(hub)
            ask, fields = await asked(table, name)
            taken = [asyncio.create_task(table.answer(name, key_of(ask), fields, key_of)) for _ in range(2)]
            for one in asyncio.as_completed(taken):
                await one
                with Journal.open(table.run) as journal:
                    assert (ask.step, name) in journal.answers(ask.game)

    asyncio.run(game())


def test_an_answer_that_could_not_be_kept_is_not_said_to_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UsageError("the disk is full")

    async def game() -> None:
        async with server_of(tmp_path) as hub:
            table, (name,) = seated(hub)
            ask, fields = await asked(table, name)
            monkeypatch.setattr(Journal, "log_reply", full)
            with pytest.raises(UsageError, match="before your answer was kept"):
                await table.answer(name, key_of(ask), fields, key_of)
            assert table.state is State.PAUSED

    asyncio.run(game())


def test_a_game_that_its_host_closed_goes_as_a_whole(tmp_path: Path) -> None:
    async def closed() -> None:
        async with server_of(tmp_path) as hub:
            table, (name,) = seated(hub)
            await playing(table, name, until=spoken)
            if table.state is State.PLAYING:
                table.end()
                await table.close(RunPaused("closed"))
            await table.withdraw(name)

    asyncio.run(closed())
    assert told_nowhere(tmp_path, MARK, OTTER)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "consent.txt").write_text("All of it is kept.\n\nWrite to <host>.", "utf-8")
    words = ["liescope", "serve", "--out", str(tmp_path / "out"), "--game", "mini-mafia", "--people", "2", "--port"]
    own = Server([*words, "{port}", "--consent", str(tmp_path / "consent.txt")], tmp_path / "log")
    yield own
    own.stop()


def test_the_pages_of_consent_and_withdrawal(server: Server, tmp_path: Path) -> None:
    first, second = said(server, "seat")
    (host,) = said(server, "host")
    page = get(first)
    assert "All of it is kept." in page
    assert "Write to &lt;host&gt;." in page
    assert CONSENT[0] not in unescape(page)
    offered = re.search(r'name="pseudonym" value="([^"]+)"', page)
    taking = sheets(page)[0]
    status, refused = post(first, taking.action, {**taking.fixed, "agree": "yes", "pseudonym": "me@example.org"})
    assert status == 422
    assert "must not be an address" in refused
    status, lobby = post(first, taking.action, {**taking.fixed, "agree": "yes", "pseudonym": offered[1]})
    assert status == 200
    assert offered[1] in lobby
    leaving = get(f"{first}/withdraw")
    assert "<h1>Leave the game</h1>" in leaving
    asked = sheets(leaving)[0]
    assert post(first, asked.action, asked.fixed)[0] == 200
    assert "Take your seat" in get(first), "before the game, the seat is free again"
    for link, name in ((first, "Red Fox"), (second, OTTER)):
        sheet = sheets(get(link))[0]
        post(link, sheet.action, {**sheet.fixed, "agree": "yes", "pseudonym": name})
    page = get(f"{host}/withdraw")
    assert not re.search("Alice|Bob|Charlie|Diana", page), "a host may sit at the table, too"
    sheet = next(one for one in sheets(page) if one.fixed["person"] == OTTER)
    assert post(host, sheet.action, {**sheet.fixed, "form": "of somebody else"})[0] == 403
    status, page = post(host, sheet.action, sheet.fixed)
    assert status == 200
    assert "withdrawn" in page
    with Journal.open(tmp_path / "out" / "table-1") as journal:
        served = journal.plan["served"]
    assert served["consent"] == ["All of it is kept.", "Write to <host>."]
    assert json.loads((tmp_path / "out" / "table-1" / "run.json").read_text("utf-8"))["plan"]["served"] == served
