"""What the page of a game shows, from a run, a corpus or a report: all of it, and of what is missing, why."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord, Status
from liescope.generate.importers import Imported, read_games
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import find_game_id
from liescope.labeling.acts import FATES
from liescope.labeling.label import label_game
from liescope.web.view.game_page import shown
from liescope.web.view.sources import ViewedGame, open_games
from tests.web.view.conftest import CHAT, Played, viewed

Shown = dict[str, Any]


@pytest.fixture(scope="module", params=["mini-mafia", "werewolf", "one-night-werewolf"])
def game(request: pytest.FixtureRequest, played: Callable[[str], Played]) -> ViewedGame:
    return viewed(played(request.param).games)[0]


def moments(page: Shown, kind: str) -> list[Shown]:
    return [one for section in page["sections"] for one in section["moments"] if one["kind"] == kind]


def of(run: Path) -> Shown:
    return shown(viewed(open_games(str(run)))[0])


def test_every_statement_is_shown_word_for_word_with_all_its_labels(game: ViewedGame) -> None:
    spoken = [event for event in game.record.events if event.kind is EventKind.STATEMENT]
    page = moments(shown(game), "said")
    assert [("".join(piece["text"] for piece in one["pieces"]), one["actor"]) for one in page] == [
        (event.text, event.actor) for event in spoken
    ]
    rows = game.labels.statements
    for one, row in zip(page, rows, strict=True):
        told = [(name, said) for name, said, *_ in one["labels"] if name != "Scripted"]
        assert told[0] == ("Role", "deceives" if row.label_role else "honest")
        assert len(told) == 5  # with the reason where there is none
        assert ("", row.label_promise_null) in told or ("Promise", "broken" if row.label_promise else "kept") in told
        assert {name for name, _ in told} <= {"Role", "Claims", "Promise", "Self-report", "Peers", ""}
    rated = [rating for one in page for rating in one["ratings"]]
    assert sum(not rating["own"] for rating in rated) == len(game.labels.ratings)
    marked = {claim["normal"] for one in page for piece in one["pieces"] for claim in piece["claims"]}
    assert marked == {claim.normal for claim in game.labels.claims}


def test_all_that_happened_says_who_saw_it(game: ViewedGame) -> None:
    names, events = [seat.name for seat in game.record.seats], {event.index: event for event in game.record.events}
    page = shown(game)
    for one in [*moments(page, "said"), *moments(page, "happened")]:
        audience = events[one["index"]].audience
        assert one["saw"] == (None if audience is None else tuple(map(names.index, audience)))
    for one in moments(page, "said"):
        assert all(rating["saw"] == (names.index(rating["observer"]),) for rating in one["ratings"])


def test_each_event_leads_to_the_call_that_brought_it_with_its_prompt(game: ViewedGame) -> None:
    page = shown(game)
    for one in moments(page, "said"):
        assert one["call"].seat == one["actor"]
        assert one["call"].tries[0]["kind"] in ("speak", "explained_vote")
        assert one["call"].seat in one["call"].prompt
        assert all(rating["call"].step > one["call"].step for rating in one["ratings"])
    for one in moments(page, "ballot"):
        assert all(vote["call"] and vote["call"].seat == vote["actor"] for vote in one["entries"])


def test_labels_that_nobody_could_have_are_not_shown_and_others_say_why_they_are_missing(tmp_path: Path) -> None:
    liescope.play("mini-mafia", players=["scripted:bold"], games=1, out=tmp_path / "run")
    for one in moments(of(tmp_path / "run"), "said"):
        assert len(one["labels"]) == 4  # the role, claims, promises, and what the script meant; nobody was asked
        assert all(said and said != "–" and "not asked" not in said for _, said, *_ in one["labels"])
    some = {"players": ["scripted:bold"], "games": 1, "assess": True, "assess_share": 0.3, "seed": 1}
    liescope.play("werewolf", out=tmp_path / "some", **some)
    said = [label for one in moments(of(tmp_path / "some"), "said") for label in one["labels"]]
    assert {"not asked", "honest"} <= {words for name, words, *_ in said if name == "Self-report"}


def test_a_conversation_is_told_in_its_own_words(tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    rows = [
        {"id": "a", "model": "m-70b", "task": "sales", "deceptive": True, "messages": CHAT, "judges": {"j": 80}},
        {"id": "b", "model": "m-70b", "task": "sales", "deceptive": None, "messages": CHAT},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    liescope.import_games("chat", file, out=tmp_path / "run")
    page, other = map(shown, viewed(open_games(str(tmp_path / "run"))))
    assert (page["unit"], page["title"], page["status"]) == ("conversation", "Conversation", "")
    assert page["stated"] == "Labelled deceptive by the source"
    assert page["facts"] == [("Task", "sales"), ("Model", "m-70b")]
    turns = moments(page, "said")
    assert [[(name, said) for name, said, *_ in one["labels"]] for one in turns] == [
        [],
        [],
        [("Source", "deceptive"), ("Judges", "1 of 1 say deceptive")],
    ]
    assert [(one["observer"], one["problem"]) for one in turns[-1]["ratings"]] == [("j", "")]
    assert other["stated"] == "Not labelled by the source"
    assert not any(one["labels"] for one in moments(other, "said"))


def test_who_survived_is_told_only_where_the_source_tells_how_it_ended(game: ViewedGame) -> None:
    assert "survived" in {seat["fate"] for seat in shown(game)["seats"]}
    silent = tuple(event for event in game.record.events if event.kind not in (*FATES, EventKind.END))
    told = replace(game.record, events=silent, outcome=None)
    assert {seat["fate"] for seat in shown(ViewedGame(told, label_game(told)))["seats"]} == {""}


def test_the_order_in_which_roles_are_listed_tells_nobody_s_seat(game: ViewedGame) -> None:
    def listed(record: GameRecord) -> list[tuple[str, str]]:
        return [fact for fact in shown(replace(game, record=record))["facts"] if fact[0] == "Roles"]

    def turned(event: Event) -> Event:
        cards = dict(reversed(event.data.get("composition", {}).items()))
        return replace(event, data={**event.data, "composition": cards}) if cards else event

    assert listed(game.record) == listed(replace(game.record, events=tuple(map(turned, game.record.events)))) != []


def test_a_fork_says_where_it_comes_from(mini_mafia: Played, tmp_path: Path) -> None:
    root = mini_mafia.games.ids[0]
    fork = of(liescope.fork(mini_mafia.run, root, 0, times=1, out=tmp_path / "forks").folder)["fork"]
    assert (fork["game"], fork["step"]) == (root, 0)


def test_a_failed_game_says_why_and_shows_what_there_is(mini_mafia: Played) -> None:
    (record, *_) = (one.record for one in viewed(mini_mafia.games))
    failed = replace(record, events=record.events[:12], status=Status.FAILED, outcome=None, failure="no answer")
    page = shown(ViewedGame(failed, label_game(failed)))
    assert (page["failed"], page["status"]) == (True, "Failed: no answer")
    assert page["sections"]


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("quack", "quack/homogeneous.tar.gz"),
        ("avalon-nlu", "avalon_nlu/games.jsonl.gz"),
        ("diplomacy", "diplomacy/test.jsonl.gz"),
    ],
)
def test_imported_games_are_shown_with_what_their_source_says(form: str, file: str, shared_data: Path) -> None:
    found = (one.game for one in read_games(form, shared_data / file) if isinstance(one, Imported))
    for record in islice(found, 2):
        spoken = sum(event.kind is EventKind.STATEMENT for event in record.events)
        assert len(moments(shown(ViewedGame(record, label_game(record))), "said")) == spoken


@pytest.mark.parametrize("game", ["mini-mafia", "werewolf"])
def test_a_corpus_gives_back_the_games_of_its_run_in_their_order(game: str, played: Callable[[str], Played]) -> None:
    run, corpus = played(game).games, open_games(str(played(game).corpus))
    assert list(corpus.ids) == list(run.ids)
    for known, found in zip(viewed(run), viewed(corpus), strict=True):
        assert found.record == known.record
        assert found.labels == known.labels
        assert [one.tries[0]["raw"] for one in found.calls] == [one.tries[0]["raw"] for one in known.calls]
        assert all(one.prompt for one in known.calls)
        assert {one.origin for one in known.calls} == {"rendered again"}
        assert not any(one.prompt for one in found.calls)
        assert all("in the run" in one.origin for one in found.calls)


def test_what_a_model_thought_is_shown_from_its_run_and_from_a_corpus(mini_mafia: Played, tmp_path: Path) -> None:
    with Journal.open(mini_mafia.run) as journal:
        game = next(iter(journal.records()))
    said = next(event for event in game.events if event.kind is EventKind.STATEMENT)
    data = {**said.data, "private": {"reasoning": "Say <b>nothing</b> of it.", "planted_type": "omission"}}
    events = tuple(replace(event, data=data) if event is said else event for event in game.events)
    with Journal.create(tmp_path / "thinking", {"import": "elsewhere"}) as journal:
        journal.add_record(replace(game, events=events))
    liescope.build([tmp_path / "thinking"], out=tmp_path / "corpus")
    for source in (tmp_path / "thinking", tmp_path / "corpus"):
        (page,) = map(shown, viewed(open_games(str(source))))
        (found,) = (one for part in page["sections"] for one in part["moments"] if one["index"] == said.index)
        assert found["meant"] == [("reasoning", "Say <b>nothing</b> of it.")]


def test_a_path_is_opened_as_what_it_holds(mini_mafia: Played, tmp_path: Path) -> None:
    for path, why in ((tmp_path / "nothing", "does not exist"), (mini_mafia.run.parent, "is a folder of runs")):
        with pytest.raises(UsageError, match=why):
            open_games(str(path))
    with pytest.raises(BadData, match="neither a run nor a corpus"):
        open_games(str(tmp_path))
    for source in (mini_mafia.games, open_games(str(mini_mafia.corpus))):
        first = source.ids[1]
        assert find_game_id("1", source.ids, source.name) == find_game_id(first, source.ids, source.name) == first
        with pytest.raises(UnknownName, match="game in"):
            find_game_id("no-such-game", source.ids, source.name)
