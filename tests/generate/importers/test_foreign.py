"""Games and transcripts of other projects come in as they were played: who said what to whom, and what was true."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from shutil import make_archive
from typing import Any, cast

import pytest

from liescope.data_cards.tables.rows import StatementRow
from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Status
from liescope.generate.importers import Rejected, read_games
from liescope.labeling.label import label_game
from liescope.labeling.ledger import NO_PROMISE
from tests.generate.importers import foreign
from tests.generate.importers.foreign import BLUE, GREY, LIME, RED, as_json


def only(format: str, source: Any, **options: Any) -> GameRecord:
    (game,) = read_games(format, source, **options)
    assert isinstance(game, GameRecord), game
    return game


def statements(game: GameRecord) -> tuple[StatementRow, ...]:
    return label_game(game).statements


def kinds(game: GameRecord, *wanted: EventKind) -> list[tuple[str | None, str | None]]:
    return [(event.actor, event.target) for event in game.events if event.kind in wanted]


# Kaggle's Werewolf


def test_a_replay_has_each_statement_once_with_its_thought_and_the_lie_in_it(tmp_path: Path) -> None:
    game = only("kaggle-werewolf", as_json(tmp_path / "7.json", foreign.replay()))
    assert {seat.name: (seat.role, seat.deceives, seat.model) for seat in game.seats} == {
        name: (role.lower(), role == "Werewolf", f"{name}'s model") for name, role in foreign.ROLES.items()
    }
    seer, wolf = statements(game)
    assert (seer.speaker, seer.text, seer.reasoning) == (
        "Noor",
        "(voice: firm) I am the Seer. Mara is a werewolf!",
        "Noor thinks.",
    )
    assert (seer.label_claim, wolf.label_claim, seer.label_role, wolf.label_role) == (False, True, False, True)
    (result,) = [event for event in game.events if event.kind is EventKind.INVESTIGATION]
    assert (result.actor, result.target, result.audience, result.data["role"]) == (
        "Noor",
        "Mara",
        ("Noor",),
        "werewolf",
    )
    assert kinds(game, EventKind.QUIET, EventKind.DEATH) == [(None, None)]
    assert kinds(game, EventKind.EXILE) == [(None, "Mara")]
    assert kinds(game, EventKind.VOTE) == [("Mara", "Noor"), *((name, "Mara") for name in ("Noor", "Otis", "Quin"))]
    assert game.outcome is not None
    assert (game.outcome.winner, len(game.outcome.winners)) == ("villagers", 4)


@pytest.mark.parametrize(
    ("said", "lie"),
    [
        ("I am (voice: low) the doctor.", True),
        ("(sound: laughs) I'm (voice: sure) a werewolf, fine.", False),
        ("(voice: like a werewolf) Let us wait.", None),
    ],
)
def test_directions_for_the_voice_are_kept_but_not_read_as_said(said: str, lie: bool | None, tmp_path: Path) -> None:
    game = only("kaggle-werewolf", as_json(tmp_path / "7.json", foreign.replay(said=said)))
    row = statements(game)[1]
    assert (row.text, row.label_claim) == (said, lie)


@pytest.mark.parametrize(("shown", "lie"), [("role", True), ("team", True), ("nothing", None)])
def test_a_player_knows_what_an_exile_revealed(shown: str, lie: bool | None, tmp_path: Path) -> None:
    replay = foreign.replay(shown=shown, after="Mara was a villager.")
    row = statements(only("kaggle-werewolf", as_json(tmp_path / "7.json", replay)))[-1]
    assert (row.speaker, row.day, row.label_claim) == ("Pia", 2, lie)


def test_a_replay_in_which_a_program_failed_is_kept_as_failed(tmp_path: Path) -> None:
    replay = foreign.replay(terminated_with_agent_error=True)
    game = only("kaggle-werewolf", as_json(tmp_path / "7.json", replay))
    assert (game.status, game.outcome) == (Status.FAILED, None)
    assert game.meta["import_notes"] == ["the source says that a player's program failed in it"]


@pytest.mark.parametrize("kind", ["", "zip", "gztar"])
def test_a_folder_or_an_archive_of_replays_keeps_what_can_be_read(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    as_json(folder / "a" / "1.json", foreign.replay(1))
    as_json(folder / "b" / "2.json", {"info": {}})
    (folder / "b" / "3.json").write_text("{", encoding="utf-8")
    source = Path(make_archive(str(tmp_path / "all"), kind, folder)) if kind else folder
    found = sorted(read_games("kaggle-werewolf", source), key=lambda one: isinstance(one, Rejected))
    good, other, cut = found[0], *sorted(found[1:], key=lambda one: cast(Rejected, one).file)
    assert isinstance(good, GameRecord)
    assert isinstance(other, Rejected)
    assert "MODERATOR_OBSERVATION" in other.reason
    assert isinstance(cut, Rejected)
    assert (cut.file, cut.reason[:8]) == ("3.json", "not JSON")


# AI_Diplomacy


@pytest.mark.parametrize(
    ("words", "broken"),
    [
        ("I will play F LON - ENG.", False),
        ("I'll send A LVP -> WAL, trust me.", True),
        ("We will hold: F EDI S F LON - NTH, F LON-NTH.", True),
        ("My orders are F EDI S F LON - NTH and A LVP - YOR.", False),
        ("I am moving F MAO - SPA, west of you.", False),
        ("If you agree, I will play F LON - NTH.", None),
        ("I will not play F LON - NTH.", None),
        ("I will watch your A PAR - BUR.", None),
        ("Perhaps F LON - NTH?", None),
    ],
)
def test_a_message_that_promises_an_order_is_kept_or_broken_by_the_log(
    words: str, broken: bool | None, tmp_path: Path
) -> None:
    game = only(
        "ai-diplomacy",
        as_json(tmp_path / "lmvsgame.json", foreign.campaign(ITALY="I will play F EDI H.", FRANCE=words)),
    )
    row = next(row for row in statements(game) if row.text == words)
    assert (row.label_promise, row.label_promise_null) == (broken, "" if broken is not None else NO_PROMISE)
    assert {seat.name: seat.model for seat in game.seats} == {"ENGLAND": "one", "FRANCE": "three"}


def test_who_hears_a_message_of_a_campaign(tmp_path: Path) -> None:
    campaign = foreign.campaign(FRANCE="Hm.", GLOBAL="Peace!", OBSERVER="Look.")
    campaign["phases"][0]["messages"].append({"sender": "SYSTEM", "recipient": "GLOBAL", "message": "The year ends."})
    campaign["phases"][0]["state"]["units"]["ITALY"] = ["A ROM"]
    rows = statements(only("ai-diplomacy", as_json(tmp_path / "lmvsgame.json", campaign)))
    assert [row.audience for row in rows] == [("ENGLAND", "FRANCE"), (), ("ENGLAND",)]


# The Among Us sandbox


@pytest.mark.parametrize("indent", [2, None])
def test_a_log_of_turns_becomes_a_game_of_who_said_what_to_whom(indent: int | None, tmp_path: Path) -> None:
    game = only("amongus", foreign.stream(tmp_path / "agent-logs.json", foreign.crew(), indent))
    first, second, third = statements(game)
    assert (first.text, first.audience, first.reasoning) == ('"I fixed it all."', (BLUE, RED), f"{BLUE} thinks.")
    assert [(row.speaker, row.label_role) for row in (second, third)] == [(BLUE, True), (LIME, False)]
    assert (second.audience, third.text, third.phase) == ((), "It was blue.", "discussion")
    assert kinds(game, EventKind.KILL) == [(BLUE, RED)]
    assert kinds(game, EventKind.SILENCE) == [(RED, None)]  # the game takes the last action on offer: to speak
    assert kinds(game, EventKind.VOTE, EventKind.EXILE) == [(LIME, BLUE), (None, BLUE)]
    assert {seat.name: seat.role for seat in game.seats} == {
        BLUE: "impostor",
        RED: "crewmate",
        LIME: "crewmate",
        GREY: "",  # it never had a turn
    }
    move, _ = [event for event in game.events if event.kind is EventKind.ACT]
    assert (move.actor, move.text, move.audience) == (LIME, "MOVE from Weapons to O2", (LIME,))


def test_reading_a_stream_goes_on_after_a_damaged_object(tmp_path: Path) -> None:
    whole = [json.dumps(one, indent=2) for one in foreign.crew()]
    text = "\n".join([*whole[:2], whole[2][:-30], *whole[3:]])
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(text.encode()))
    bad, game = read_games("amongus", tmp_path / "a.json.gz")
    assert isinstance(bad, Rejected)
    assert (bad.line, bad.reason[:8]) == (1 + sum(part.count("\n") + 1 for part in whole[:2]), "not JSON")
    assert isinstance(game, GameRecord)
    assert len(statements(game)) == 3


# Secret Mafia


def test_rows_of_all_players_are_one_game_in_its_order() -> None:
    rows = foreign.trajectories()
    game = only("secret-mafia", rows)
    assert game == only("secret-mafia", rows[::-1])
    said = statements(game)
    assert [(row.speaker, row.label_claim) for row in said] == [
        ("Player 1", False),
        ("Player 5", True),
        ("Player 0", True),
        ("Player 4", False),
        ("Player 1", None),
        ("Player 2", None),
    ]
    assert (said[1].text, said[1].reasoning) == ("I am the detective, and Player 1 lies.", "Stay calm.")
    votes = [("Player 4", "Player 0"), ("Player 1", "Player 0"), ("Player 0", "Player 1")]
    votes += [("Player 5", "Player 0"), ("Player 2", "Player 0")]
    assert kinds(game, EventKind.DEATH, EventKind.VOTE, EventKind.EXILE) == [
        (None, "Player 3"),
        *votes,
        (None, "Player 0"),
    ]
    assert kinds(game, EventKind.INVESTIGATION, EventKind.PROTECTION) == [
        ("Player 2", "Player 4"),
        ("Player 1", "Player 0"),
    ]
    assert game.outcome is not None
    assert game.outcome.winners == ("Player 0", "Player 5")


@pytest.mark.parametrize("missing", [{1}, {0, 4}, {1, 4, 5}])
def test_what_players_without_a_row_said_is_read_from_the_others(missing: set[int]) -> None:
    rows = foreign.trajectories()
    whole = only("secret-mafia", rows)
    game = only("secret-mafia", [row for row in rows if row["player_id"] not in missing])
    mine = [(row.speaker, row.text.split("</think>")[-1]) for row in statements(game)]
    assert mine == [(row.speaker, row.text) for row in statements(whole)]
    assert [seat.team for seat in game.seats] == [seat.team for seat in whole.seats]
    assert [seat.model for seat in game.seats] == [seat.model for seat in whole.seats]
    assert kinds(game, EventKind.VOTE) == kinds(whole, EventKind.VOTE)
    assert game.meta["import_notes"] == [f"rows of {len(missing)} players are missing and read from the others"]


def test_rows_of_another_environment_are_rejected() -> None:
    row = {**foreign.trajectories()[0], "env_name": "Codenames-v0"}
    (bad,) = read_games("secret-mafia", [row])
    assert isinstance(bad, Rejected)
    assert bad.reason == "it is of another game, Codenames-v0"


# Transcripts of Scout


def test_transcripts_are_conversations_with_a_score_as_their_label(tmp_path: Path) -> None:
    lied, honest = read_games("scout", foreign.transcripts(tmp_path), label="lied")
    assert isinstance(lied, GameRecord)
    assert isinstance(honest, GameRecord)
    assert (lied.game_id, honest.game_id, lied.cell) == ("ann", "bo", "cars")
    last = statements(lied)[-1]
    assert (last.text, last.speaker_model, last.label_gold) == ("Ask ann.", "m", True)
    assert statements(honest)[-1].label_gold is False
