"""QUACK's games: what happened, who saw it, what was claimed, and what its archive may not do."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest

from liescope.common.errors import PlanChanged
from liescope.games.core import Event, EventKind, Phase
from liescope.games.record import GameRecord, Status
from liescope.games.record_checks import check_record
from liescope.generate.importers import Rejected, game_reader, import_games, read_games
from liescope.generate.runs.run_folder import with_settings
from liescope.labeling.acts import night_act_rows
from liescope.labeling.conditions import IMPORTED
from liescope.labeling.label import label_game
from tests.generate.importers.quack_game import LIED, SAID, as_lines, claims, log, pack, write_folder

KINDS = {
    "discussion_message": EventKind.STATEMENT,
    "free_roam_chat": EventKind.STATEMENT,
    "player_killed": EventKind.KILL,
    "player_ejected": EventKind.EXILE,
    "vote_skipped": EventKind.NO_EXILE,
    "body_reported": EventKind.DAY,
    "meeting_called": EventKind.DAY,
}


def read(source: Path) -> list[GameRecord | Rejected]:
    return list(read_games("quack", source))


def games(source: Path) -> list[GameRecord]:
    return [game for game in read(source) if isinstance(game, GameRecord)]


@pytest.fixture
def game(tmp_path: Path) -> GameRecord:
    return games(write_folder(tmp_path / "games"))[0]


def of(game: GameRecord, *kinds: EventKind) -> list[Event]:
    return [event for event in game.events if event.kind in kinds]


def claimed(game: GameRecord, speaker: str) -> list[dict[str, Any]]:
    said = next(event for event in of(game, EventKind.STATEMENT) if event.actor == speaker and "claims" in event.data)
    return [dict(claim) for claim in said.data["claims"]]


def test_what_happens_in_a_room_is_seen_and_heard_there(game: GameRecord) -> None:
    said = {event.text: event for event in of(game, EventKind.STATEMENT)}
    assert said["Sweeping here."].audience == ("Ben", "Cid", "Dot")
    assert said["Off to the hall."].audience == ("Ann",)
    assert said["Game 1."].audience == ("Ben", "Cid", "Dot"), "Ann is still on her way"
    assert said["Game 1."].phase is Phase.NIGHT
    assert said["Game 1."].round == 2
    assert said[SAID].audience is None
    (kill,) = of(game, EventKind.KILL)
    assert (kill.actor, kill.target, kill.audience) == ("Ben", "Cid", ("Ann", "Ben", "Dot"))
    assert [(act.actor, act.fallback) for act in night_act_rows(game) if act.act == "kill"] == [("Ben", "")]


def test_a_vote_is_secret_one_for_nobody_is_an_act_and_an_empty_message_a_silence(game: GameRecord) -> None:
    assert [(event.actor, event.target, event.audience) for event in of(game, EventKind.VOTE)] == [
        ("Ann", "Ben", ("Ann",)),
        ("Dot", "Ben", ("Dot",)),
    ]
    assert [event.actor for event in of(game, EventKind.ACT) if event.text == "votes for nobody"] == ["Ben"]
    assert [(event.actor, event.phase) for event in of(game, EventKind.SILENCE)] == [("Dot", Phase.DISCUSSION)]
    turns = [event for event in of(game, EventKind.STATEMENT) if event.actor == "Ann" and event.audience is None]
    assert [event.round for event in turns] == [1, 2]


def test_claims_stand_with_their_words_and_with_whether_the_speaker_could_know(game: GameRecord) -> None:
    """What speakers say of themselves they know, unless the verdict is the unreliable false."""
    ann, ben = claimed(game, "Ann"), claimed(game, "Ben")
    assert SAID[ann[0]["start"] : ann[0]["end"]] == "kitchen -> hall -> attic"
    assert ["start" in claim for claim in ann + ben] == [True, *[False] * 9]
    assert [(claim["kind"], claim["subject"], claim["object"], claim["verdict"], claim["known"]) for claim in ann] == [
        ("location", "Ann", "kitchen > hall > attic", "unverifiable", None),  # a near miss decides nothing
        ("sighting", "Ann", "Ben in attic (late)", "false", None),
        ("location", "Dot", "kitchen", "true", False),
        ("accusation", "Ben", "duck", "true", False),
    ]
    assert [(claim["kind"], claim["verdict"], claim["known"]) for claim in ben] == [
        ("accusation", "false", True),
        ("accusation", "false", None),
        ("location", "true", True),
        ("sighting", "false", None),
        ("activity", "true", False),
        ("defense", "unverifiable", None),
    ]


def test_the_ledger_holds_the_claims_with_their_origin_and_says_what_is_not_read(game: GameRecord) -> None:
    labels = label_game(with_settings(game, {IMPORTED: "quack"}))
    assert {claim.origin for claim in labels.claims} == {"import:quack"}
    rows = {row.text: row for row in labels.statements}
    assert (rows[LIED].label_claim, rows[SAID].label_claim) == (True, None)
    assert rows["Sweeping here."].label_claim_null == "the source has no claim of it"
    assert rows[LIED].label_promise_null == "no promises are read in games that Liescope cannot play"


def test_an_archive_and_its_folder_are_the_same_games(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "games", games=3)
    paths = sorted(folder.rglob("*.jsonl"), reverse=True)
    archive = pack(tmp_path / "a.tar.gz", {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in paths})
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in paths:
            packed.writestr(path.relative_to(tmp_path).as_posix(), path.read_bytes())
            packed.writestr(f"__MACOSX/{path.relative_to(tmp_path).as_posix()}", b"\0")
    assert games(archive) == games(tmp_path / "a.zip") == read(tmp_path / "a.zip") == games(folder)
    assert games(folder / "duckling-1" / "g_seed2") == games(folder)[1:2]
    assert import_games("quack", folder, out=tmp_path / "run").games == 3
    (folder / "duckling-1" / "g_seed1" / "game.jsonl").write_bytes(as_lines(log(9)))
    with pytest.raises(PlanChanged, match="sources"):
        import_games("quack", folder, out=tmp_path / "run")


def test_a_table_of_two_models_knows_who_is_whose_and_a_log_that_stops_is_a_failed_game(tmp_path: Path) -> None:
    (game, *_) = games(write_folder(tmp_path, model="geese_grey-2_duck_red-3"))
    assert {seat.role: seat.model for seat in game.seats} == {"goose": "grey-2", "duck": "red-3"}
    (cut,) = games(pack(tmp_path / "a.tar.gz", {"m/g/game.jsonl": as_lines(log()[:-1])}))
    assert (cut.status, cut.failure) == (Status.FAILED, "the published log ends before the game does")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[1:], "does not begin with a game_started"),
        (lambda lines: [*lines, lines[3]], "goes on after the game's end"),
        (lambda lines: [lines[0], *lines], "does not begin with a game_started"),
        (lambda lines: [*lines[:5], {**lines[5], "tick": -1}], "line 6: tick"),
        (lambda lines: [*lines[:5], {**lines[5], "event_type": "quacked"}], "QUACK has no event 'quacked'"),
        (lambda lines: [*lines[:10], *lines[11:]], "'Cid' is found, whom nobody killed"),
        (
            lambda lines: json.loads(json.dumps(lines).replace('"voter": "player_0"', '"voter": "x"')),
            "not in the game",
        ),
    ],
)
def test_a_log_that_contradicts_itself_is_rejected(change: Any, reason: str, tmp_path: Path) -> None:
    (found,) = read(pack(tmp_path / "a.tar.gz", {"m/g/game.jsonl": as_lines(change(log()))}))
    assert reason in found.reason
    assert found.file == "m/g/game.jsonl"


def test_a_claim_that_cannot_be_read_is_listed_and_one_without_its_utterance_is_noted(tmp_path: Path) -> None:
    broken, lost, good = {"meeting": 3}, {**claims()[0], "utterance": {"raw": "Nobody said so."}}, claims()[0]
    lines = {"m/g/game.jsonl": as_lines(log()), "m/g/tier3_claims.jsonl": as_lines([broken, lost, good])}
    bad, game = read(pack(tmp_path / "a.tar.gz", lines))
    assert (bad.file, bad.line) == ("m/g/tier3_claims.jsonl", 1)
    assert game.meta["import_notes"] == ["a claim is about an utterance that is not in the log"]
    assert len(claimed(game, "Ann")) == 1


def test_paths_and_links_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(as_lines(log()))
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as packed:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE):
            link = tarfile.TarInfo("m/g/game.jsonl")
            link.type, link.linkname = kind, str(secret)
            packed.addfile(link)
        outside = tarfile.TarInfo("../../../m/out/game.jsonl")
        content = as_lines(log())
        outside.size = len(content)
        packed.addfile(outside, io.BytesIO(content))
    (tmp_path / "a.tar").write_bytes(stream.getvalue())
    before = sorted(tmp_path.rglob("*"))
    assert [game.game_id for game in games(tmp_path / "a.tar")] == ["m/out"]
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_that_is_too_large_or_damaged_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = pack(tmp_path / "a.tar.gz", {"m/g/game.jsonl": as_lines(log())})

    def reason(source: Path) -> str:
        (found,) = read(source)
        return cast(Rejected, found).reason

    (tmp_path / "cut.tar.gz").write_bytes(archive.read_bytes()[:-300])
    (tmp_path / "other.tar.xz").write_bytes(lzma.compress(bytes(1 << 16)))  # whose unpacked size has no bound
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("m/g/game.jsonl", as_lines(log()))
    whole = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-9])
    (tmp_path / "front.zip").write_bytes(whole[9:])
    (tmp_path / "changed.zip").write_bytes(whole.replace(b"game_started", b"gone_started"))
    for name in ("cut.tar.gz", "other.tar.xz", "cut.zip", "front.zip", "changed.zip"):
        assert "cannot be read as a tar or zip archive" in reason(tmp_path / name)
    bomb = pack(tmp_path / "bomb.tar.gz", {"m/zeros": bytes(1 << 22), "m/g/game.jsonl": as_lines(log())})
    monkeypatch.setattr(game_reader, "LARGEST_ARCHIVE", 1 << 20)
    assert "larger than 1,048,576 bytes" in reason(bomb)
    monkeypatch.setattr(game_reader, "LARGEST_FILE", 100)
    assert "at most 100 are read" in reason(archive)
    assert "at most 100 are read" in reason(tmp_path / "a.zip")


@pytest.fixture(scope="module")
def raw(shared_data: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Game to file to the objects on its lines."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with tarfile.open(shared_data / "quack" / "homogeneous.tar.gz") as packed:
        for member in packed:
            parts = member.name.split("/")
            if member.name.endswith(".jsonl"):
                lines = cast(io.BufferedReader, packed.extractfile(member)).read().splitlines()
                found.setdefault("/".join(parts[-3:-1]), {})[parts[-1]] = [json.loads(line) for line in lines]
    return found


@pytest.fixture(scope="module")
def published(shared_data: Path, raw: dict[str, Any]) -> list[GameRecord]:
    found = [item for item in read(shared_data / "quack" / "homogeneous.tar.gz") if isinstance(item, GameRecord)]
    assert [game.game_id for game in found] == sorted(raw)
    assert Counter(seat.model for game in found for seat in game.seats) == {"gpt5.5": 180, "claude_opus4.7": 180}
    for game in found:
        check_record(game)
        assert not game.meta.get("import_notes")
    return found


@pytest.mark.long
def test_every_event_that_is_counted_in_the_logs_is_counted_in_the_records(
    published: list[GameRecord], raw: dict[str, Any]
) -> None:
    logged = [line for game in raw.values() for line in game["game.jsonl"]]
    wanted = Counter(KINDS[line["event_type"]] for line in logged if line["event_type"] in KINDS)
    votes = [line["data"]["target"] for line in logged if line["event_type"] == "vote_cast"]
    said = Counter(line["data"]["message"] for line in logged if "message" in line["data"])
    silent = sum(count for text, count in said.items() if not text.strip())
    wanted += Counter({EventKind.VOTE: len(votes) - votes.count(None), EventKind.SILENCE: silent})
    wanted[EventKind.STATEMENT] -= silent
    found = Counter(event.kind for game in published for event in game.events)
    assert {kind: found[kind] for kind in wanted} == dict(wanted)
    assert (wanted[EventKind.STATEMENT], wanted[EventKind.VOTE], wanted[EventKind.KILL]) == (1351, 301, 98)
    texts = Counter(event.text for game in published for event in of(game, EventKind.STATEMENT))
    assert texts == Counter({text: count for text, count in said.items() if text.strip()})


@pytest.mark.long
def test_every_claim_is_there_with_its_kind_and_verdict(published: list[GameRecord], raw: dict[str, Any]) -> None:
    merged = {"wrong_room": "false", "near_miss": "unverifiable"}
    audited = [line for game in raw.values() for line in game.get("tier3_claims.jsonl", ())]
    wanted = Counter(
        (
            line["utterance"]["raw"],
            line["structured_claim"]["claim_type"],
            merged.get(line["verification"]["verdict"], line["verification"]["verdict"]),
        )
        for line in audited
    )
    said = [(event, claim) for game in published for event in game.events for claim in event.data.get("claims", ())]
    assert Counter((event.text, claim["kind"], claim["verdict"]) for event, claim in said) == wanted
    assert Counter(claim["verdict"] for _, claim in said) == {"true": 2023, "false": 552, "unverifiable": 411}
    assert sum("start" in claim for _, claim in said) == 242
    own = Counter(
        (game.seat(event.actor or "").role, claim["verdict"] == "false")
        for game in published
        for event in game.events
        for claim in event.data.get("claims", ())
        if claim["kind"] != "accusation" and claim["subject"] == event.actor
    )
    assert own == {("goose", False): 594, ("goose", True): 95, ("duck", False): 171, ("duck", True): 85}
