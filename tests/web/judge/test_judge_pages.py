"""People judge finished games in a browser, and nothing that they may not know reaches them."""

from __future__ import annotations

import re
import urllib.error
from collections.abc import Callable, Sequence
from html import unescape
from http.client import HTTPMessage
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

import liescope
from liescope.common.model_names import consent_hash
from liescope.games.judging import ReaderSpec
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.sitting import Assignment
from liescope.labeling.label import label_game
from liescope.web.judge_mode import JudgeDesk
from liescope.web.play.tables_file import TablesFile
from tests.web.judge.hidden import GAMES, TOKEN, allowed, make
from tests.web.server import Server

OPTIONS = ("liescope", "serve", "--port", "{port}", "--out")


def links(server: Server) -> list[str]:
    return re.findall(r"^judge: (\S+)", server.said(), re.MULTILINE)


def get(address: str, **form: Any) -> tuple[int, HTTPMessage, str]:
    """What a browser gets, after what it sends, if anything."""
    try:
        with urlopen(address, urlencode(form).encode() if form else None) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def fields(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(form|number)" value="([^"]*)"', page))


def sit(link: str, person: str) -> str:
    """The first question, for somebody who has agreed."""
    return get(f"{link}/agree", **fields(get(link)[2]), person=person, agreed="yes")[2]


def answer(link: str, page: str, random: Random) -> str:
    """The next page."""
    players = re.findall(r'name="(player-\d+)"', page)
    said = (
        dict.fromkeys(players, random.randint(0, 100))
        if players
        else {"flag": random.choice(["honest", "deceptive"]), "sure": random.choice([50, 70, 100])}
    )
    return get(f"{link}/answer", **fields(page), **said)[2]


@pytest.mark.parametrize(("view", "seat"), [("outside", ""), ("Bob", "Bob")])
def test_no_byte_that_a_judge_receives_is_hidden_from_its_view_or_comes_later(
    view: str, seat: str, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    records = {record.game_id: record for record in make(tmp_path / "zqrun")}
    server = serve(
        *OPTIONS, str(tmp_path / "out"), "--judge", str(tmp_path / "zqrun"), "--judges", "2", "--judge-view", view
    )
    mine, other = links(server)
    sit(other, "zqother")
    page, random, shown = sit(mine, "ada"), Random(1), []
    while "judge-form" in page:
        status, headers, again = get(mine)
        assert (status, again) == (200, page)
        shown.append(f"{headers} {unescape(page)}")
        page = answer(mine, page, random)
    assert "Thank you" in page
    assert not TOKEN.findall(page)
    with Journal.open(tmp_path / "out" / "zqrun-by-ada") as journal:
        asked = [
            (record.game_id, event.about)
            for record in journal.records()
            for event in record.events
            if event.data.get("judge") == "ada"
        ]
        order = list(dict.fromkeys(game_id for game_id, _ in asked))
    assert len(asked) == len(shown) == GAMES * (7 if not seat else 5)
    by_game = {game_id: [about for game, about in asked if game == game_id] for game_id in order}
    places = iter(shown)
    seen_order = [next(iter(set(re.findall(r"zqsaid(\d)", text)))) for text in shown]
    for text, number in zip(places, seen_order, strict=True):
        game_id = f"zqgame{number}"
        about = by_game[game_id].pop(0)
        expected = allowed(records[game_id], seat, about)
        found = set(TOKEN.findall(text))
        assert found <= expected, found - expected
        assert {token for token in expected if "zqsaid" in token} <= found


def test_a_sent_answer_stays_and_a_form_of_another_link_is_refused(
    tmp_path: Path, serve: Callable[..., Server]
) -> None:
    make(tmp_path / "run")
    server = serve(*OPTIONS, str(tmp_path / "out"), "--judge", str(tmp_path / "run"), "--judges", "2")
    mine, other = links(server)
    assert get(mine[:-1] + "x")[0] == 404
    assert get(mine[:-1] + "x/agree", person="ada")[0] == 404, "whatever else is wrong with it"
    assert get(f"{mine}/agree", person="ada")[0] == 403
    first = sit(mine, "ada")
    taken = get(f"{other}/agree", form=fields(get(other)[2])["form"], person="Ada", agreed="yes")
    assert (taken[0], "taken" in taken[2]) == (400, True)
    assert get(f"{other}/agree", form=fields(first)["form"], person="bo", agreed="yes")[0] == 403
    assert get(f"{mine}/answer", **fields(first), flag="honest", sure=75)[0] == 400
    second = answer(mine, first, Random(1))
    assert get(f"{mine}/answer", **fields(first), flag="deceptive", sure=100)[2] == second == get(mine)[2]


def test_a_judge_can_have_all_answers_deleted_those_to_other_runs_too(
    tmp_path: Path, serve: Callable[..., Server]
) -> None:
    make(tmp_path / "first")
    make(tmp_path / "second")
    out, person, port = tmp_path / "out", "zqWhoever", 0
    for run in ("first", "second"):
        server = serve(*OPTIONS, str(out), "--judge", str(tmp_path / run), "--judges", "2", port=port)
        port = server.port
        mine, other = links(server)
        page = get(mine)[2]
        answer(mine, page if "judge-form" in page else sit(mine, person), Random(1))
        server.kill()
    assert (out / f"first-by-{person.casefold()}").exists()
    server = serve(*OPTIONS, str(out), "--judge", str(tmp_path / "second"), "--judges", "2", port=port)
    sit(other, "bo")
    form = fields(get(f"{mine}/withdraw")[2])
    assert get(f"{other}/withdraw", **form)[0] == 403
    assert "have been deleted" in get(f"{mine}/withdraw", **form)[2]
    server.kill()
    server = serve(*OPTIONS, str(out), "--judge", str(tmp_path / "second"), "--judges", "2", port=port)
    assert links(server) == [mine, other]
    assert "have been deleted" in get(f"{mine}/agree", **form, person="again", agreed="yes")[2]
    assert "judge-form" in get(other)[2], "nobody else is concerned"
    assert [file.name for file in out.iterdir() if file.is_dir()] == ["second-by-bo"]
    assert not [file for file in out.rglob("*") if file.is_file() and person.encode() in file.read_bytes()]


def test_an_answer_to_a_question_that_was_never_shown_has_no_time(tmp_path: Path) -> None:
    make(tmp_path / "run")
    drawn = Assignment.draw(tmp_path / "run", ReaderSpec(), 1)
    desk = JudgeDesk(drawn, TablesFile(tmp_path / "out"), 1)
    (link,) = desk.links
    desk.agree(link, "ada")
    first, sitting = desk.show(link), desk.sitting(link)
    assert first is not None
    assert sitting is not None
    assert desk.taken(link, first) is not None
    sitting.say(True, 0.5, None)
    second = sitting.question()
    assert second is not None
    assert desk.taken(link, second) is None
    desk.close()


def test_judges_agree_to_the_text_of_the_host_and_the_card_tells_it(run: Path, tmp_path: Path) -> None:
    own, drawn = ("We keep <all> of it.",), Assignment.draw(run, ReaderSpec(), 1)
    desk = JudgeDesk(drawn, TablesFile(tmp_path / "out"), 1, consent=own)
    (link,) = desk.links
    desk.agree(link, "ada")
    sitting = desk.sitting(link)
    assert sitting is not None
    while (question := desk.show(link)) is not None:
        if question.about_players:
            sitting.suspect(dict.fromkeys(question.ask.options, 0.5), 1.0)
        else:
            sitting.say(True, 0.5, 1.0)
    desk.close()
    JudgeDesk(drawn, TablesFile(tmp_path / "out"), 1).close()  # another text now holds nobody back
    (judged,) = (tmp_path / "out").glob("*-by-ada")
    liescope.build([judged], out=tmp_path / "corpus")
    card = (tmp_path / "corpus" / "README.md").read_text("utf-8")
    assert "1 person judged games" in card
    assert f"`{consent_hash(own)}`" in card
    assert "all" in card.partition(consent_hash(own))[2]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "small"
    liescope.play("mini-mafia", games=60, players=["scripted:bold"], seed=5, out=folder)
    return folder


def test_people_judge_by_keyboard_through_a_restart_and_evaluate_shows_them_beside_a_detector(
    run: Path, tmp_path: Path, serve: Callable[..., Server], new_context: Callable[..., Any], expect: Callable[..., Any]
) -> None:
    options = ("--judge", str(run), "--judges", "2", "--judge-games", "3", "--judge-split", "test", "--judge-tell")
    server = serve(*OPTIONS, str(tmp_path / "out"), *options)
    mine, other = links(server)
    context = new_context(width=390)
    page = context.new_page()
    page.goto(mine)
    tab_to(page, "person")
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    for _ in range(4):
        by_keyboard(page, expect)
    left = page.locator("#progress").get_attribute("value")
    page.close()
    server.kill()
    server = serve(*OPTIONS, str(tmp_path / "out"), *options, port=server.port)
    assert links(server) == [mine, other]
    page = new_context(width=1280, dark=True, java_script_enabled=False).new_page()
    page.goto(mine)
    expect(page.locator("#progress")).to_have_attribute("value", left)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()
    page = context.new_page()
    page.goto(mine)
    while page.locator(".judge-form").count():
        by_keyboard(page, expect)
    expect(page.get_by_role("heading")).to_have_text("Thank you, ada")
    expect(page.locator("main")).to_contain_text("of your")
    random, answers = Random(2), sit(other, "bo")
    while "judge-form" in answers:
        answers = answer(other, answers, random)
    people = [tmp_path / "out" / f"small-by-{name}" for name in ("ada", "bo")]
    with Journal.open(people[0]) as journal:
        flags = [row.flag for record in journal.records() for row in label_game(record).ratings]
        taken = [call["latency_ms"] for game_id in journal.game_ids() for call in journal.calls(game_id)]
    assert set(flags) == {True, False}
    assert sum(one is None for one in taken) <= 1  # the question that was open when the server was killed
    check_evaluation(run, tmp_path, people)


def check_evaluation(run: Path, tmp_path: Path, people: Sequence[Path]) -> None:
    liescope.train("tfidf", run, out=tmp_path / "model", target="role", folds=0)
    found = liescope.evaluate(tmp_path / "model", run, split="test", people=people, draws=20).metrics
    rows = found.filter(found["split"] == "test:judged-by-people")
    assert {"people", "observer:ada", "observer:bo", "model"} <= set(rows["detector"])
    assert rows.filter(rows["detector"].is_in(["people", "model"]))["statements"].n_unique() == 1
    players = found.filter(found["split"] == "test:players-judged-by-people")
    assert {"people", "observer:ada", "model"} <= set(players["detector"])
    assert {"accuracy", "alpha", "lead_at_people_fpr", "lead_at_own_fpr"} <= set(rows["metric"])


def tab_to(page: Any, name: str) -> None:
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == name:
            return
    raise AssertionError(f"the keyboard does not reach {name}")


def by_keyboard(page: Any, expect: Callable[..., Any]) -> None:
    """Answer the question on the page, and wait for the next one."""
    number = int(page.locator("[name=number]").get_attribute("value"))
    page.wait_for_load_state()  # keys are taken from then on
    players = page.locator("[type=number]").count()
    if players:
        for at in range(players):
            page.keyboard.type("40")
            if at + 1 < players:
                page.keyboard.press("Tab")
    else:
        page.keyboard.press("12"[number % 2])
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(f"[name=number][value='{number}']")).to_have_count(0)
    page.wait_for_load_state()  # until then, nothing may be there yet
