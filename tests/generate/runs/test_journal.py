"""The journal keeps what it was given, in one commit a turn, and says clearly what is wrong with a damaged one."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from liescope.common.errors import BadData, UsageError
from liescope.data_cards.tables import TABLES
from liescope.games import MINI_MAFIA, MiniMafia, drive, start
from liescope.games.core import Ask, AskKind, Assessment, Phase, Reply
from liescope.games.record import GameRecord, Source, Status, record
from liescope.generate.players.player_protocol import Attempt, EndpointFacts
from liescope.generate.runs.journal import Journal, read_runs

ASK = Ask("g", 0, "Bob", AskKind.VOTE, 1, Phase.VOTING, options=("Alice", "Diana"))
ATTEMPT = Attempt("g", 0, "Bob", 1, "raw", "", 10, 4, 5, 0.5, 12.5)


def played(number: int, journal: Journal | None = None) -> GameRecord:
    """A game of players who choose the first option and repeat themselves, its replies in the journal."""
    game_id = f"game-{number}"

    def answer(ask: Ask, view: object) -> Reply:
        reply = Reply(choice=ask.options[0]) if ask.options else Reply(text=f"Word {ask.step}.", raw=f"raw {ask.step}")
        if journal is not None:
            journal.log_reply(ask, "m", reply)
        return reply

    session = start(lambda: MiniMafia(MINI_MAFIA, number, game_id))
    drive(session, answer)
    who = dict.fromkeys(session.game.names, ("m", Source.SCRIPTED))
    return record(session.game, session.outcome, who, "m | m | m")


def test_records_come_back_equal_and_in_the_runs_order(tmp_path: Path) -> None:
    games = [played(number) for number in range(5)]
    failed = replace(games[3], status=Status.FAILED, outcome=None, failure="no answer")
    with Journal.create(tmp_path / "r", {"seed": 1}) as journal:
        for number in (4, 0, 2, 1):
            journal.add_record(games[number], number)
        journal.add_record(failed, 3)
    with Journal.open(tmp_path / "r") as journal:
        assert journal.plan == {"seed": 1}
        assert journal.name == "r"
        assert list(journal.records()) == [*games[:3], failed, games[4]]
        assert journal.record("game-2") == games[2]
        assert journal.counts() == {"done": 4, "failed": 1}


def test_games_without_a_number_are_kept_in_the_order_of_arrival(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal:
        for number in (7, 3, 5):
            journal.add_record(played(number))
        assert journal.game_ids() == ["game-7", "game-3", "game-5"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(choice="Alice", notes=("name in bold",), raw="**Alice**"),
        Reply(text="", private={"planted_type": "omission"}),
        Reply(problem="the endpoint sent nothing"),
        Reply(assessment=Assessment(True, None, 0.25, None, "so")),
        Reply(
            text="zero \x00, escape \x1b[31m, right-to-left \u202e, a lone half \ud83d, and é 漢 🎭", raw="\x00é\u202e"
        ),
        Reply(text="long " * 20_000, raw="x" * 100_000),
    ],
)
def test_any_reply_comes_back_as_it_was(reply: Reply, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal:
        journal.log_reply(ASK, "m", reply)
    with Journal.open(tmp_path / "r") as journal:
        assert journal.answers("g") == {(0, "Bob"): reply}


def test_half_a_surrogate_in_a_raw_response_is_kept_as_an_escape(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal:
        journal.log_reply(ASK, "m", Reply(problem="illegible", raw="\ud83d"))
        assert journal.answers("g")[0, "Bob"].raw == "\\ud83d"


def test_replies_of_a_batch_come_back_in_the_order_of_its_asks(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal:
        for place, seat in [(2, "C"), (0, "A"), (1, "B")]:
            journal.log_reply(replace(ASK, seat=seat), "m", Reply(text=seat), place)
        assert [reply.text for reply in journal.answers("g").values()] == ["A", "B", "C"]


def test_a_call_is_a_row_of_the_corpus_for_requests_and_for_players_without_a_wire(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal:
        journal.log_attempt(replace(ATTEMPT, problem="429", raw="slow down"))
        # numbered anew by the command that goes on
        journal.log_attempt(replace(ATTEMPT, attempt=1, response_id="id-2", served_model="m-2026"))
        journal.log_reply(ASK, "m", Reply(problem="no name in it", notes=("bold",), raw="raw"))
        thought = {"reasoning": "Diana is quiet."}
        journal.log_reply(replace(ASK, step=1), "scripted:bold", Reply(choice="Diana", raw="Diana", private=thought))
        calls = journal.calls("g")
        assert journal.spent() == (30, 1.0)
    assert all(list(call) == list(TABLES["calls"].columns[:-1]) for call in calls)
    told = [(c["step"], c["attempt"], c["kind"], c["model"], c["problem"], c["notes"], c["raw"]) for c in calls]
    assert told == [
        (0, 1, "vote", "m", "429", [], "slow down"),
        (0, 2, "vote", "m", "no name in it", ["bold"], "raw"),
        (1, 1, "vote", "scripted:bold", "", [], "Diana"),
    ]
    assert [call["latency_ms"] for call in calls] == [12.5, 12.5, None]
    assert [call["response_id"] for call in calls] == [None, "id-2", None]
    assert [call["served_model"] for call in calls] == [None, "m-2026", None]
    assert [call["reasoning"] for call in calls] == [None, None, "Diana is quiet."]


PROMPTS = (
    '# Rules\nLie.\n\n# Log\nBob: "a"\n\nYou are Bob.\nSpeak.',
    '# Rules\nLie.\n\n# Log\nBob: "a"\nAnn: "b"\n\nYou are Bob.\nVote.',
    "",
    "\n\n",
    "one line",
    '# Rules\nLie.\n\n# Log\nBob: "a"\n\nYou are Bob.\nSpeak.',
    "é 漢 🎭 \x00 \x1b[31m \r\n\u2028",
)


def test_every_request_comes_back_as_it_was_sent_also_over_several_processes(tmp_path: Path) -> None:
    def body(text: str) -> dict[str, object]:
        messages = [{"role": "system", "content": "Play."}, {"role": "user", "content": text}]
        return {"model": "m", "messages": messages, "temperature": 0.7, "response_format": {"type": "json_object"}}

    with Journal.create(tmp_path / "r", {}) as journal:
        for step, text in enumerate(PROMPTS):
            journal.log_attempt(replace(ATTEMPT, step=step, request=body(text), problem="429"))
            journal.log_reply(replace(ASK, step=step), "m", Reply(choice="Alice"))
    with Journal.open(tmp_path / "r", write=True) as journal:
        for step, text in enumerate(PROMPTS):
            again = replace(ATTEMPT, step=step, request=body(text), response_id=f"id-{step}", served_model="m-2026")
            journal.log_attempt(again)
        for step, text in enumerate(PROMPTS):
            first, second = journal.requests("g", step, "Bob")
            assert first.body == second.body == body(text)
            assert (first.attempt, first.model, first.problem, first.response_id) == (1, "m", "429", None)
            assert (second.attempt, second.response_id, second.served_model) == (2, f"id-{step}", "m-2026")
        assert journal.requests("g", 99, "Bob") == []


def test_a_prompt_costs_only_what_the_seats_last_one_lacks(tmp_path: Path) -> None:
    log = "\n".join(
        f'Player {n}: "I have nothing to hide, and here are {n} more reasons to believe me."' for n in range(200)
    )

    def size(requests: bool) -> int:
        run = tmp_path / str(requests)
        with Journal.create(run, {}) as journal:
            for step in range(300):
                text = f"{log[: 9000 + 20 * step]}\nYou are Bob.\nSpeak now."
                request = {"model": "m", "messages": [{"role": "user", "content": text}]}
                journal.log_attempt(replace(ATTEMPT, step=step, request=request if requests else None))
        return (run / "journal.sqlite").stat().st_size

    assert size(True) - size(False) < 0.05 * 300 * 9000


def test_attempts_that_led_to_no_reply_still_say_whose_they_were(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal:
        journal.log_attempt(replace(ATTEMPT, problem="500"))
        journal.log_failure(ASK, "m")
        (call,) = journal.calls("g")
    assert (call["kind"], call["model"], call["problem"]) == ("vote", "m", "500")


def test_what_comes_in_one_turn_of_the_loop_is_committed_at_its_end_and_together(tmp_path: Path) -> None:
    """A reader sees an attempt and its reply both or not at all, and the next turn finds them durable."""
    seen: list[tuple[int, int]] = []

    async def main() -> None:
        with Journal.create(tmp_path / "r", {}) as journal, Journal.open(tmp_path / "r") as reader:

            def look() -> None:
                seen.append((len(reader.answers("g")), reader.spent()[0]))

            journal.log_attempt(ATTEMPT)
            look()
            journal.log_reply(ASK, "m", Reply(choice="Alice"))
            look()
            await asyncio.sleep(0)
            look()

    asyncio.run(main())
    assert seen == [(0, 0), (0, 0), (1, 15)]


def test_without_a_loop_everything_is_durable_at_once(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal, Journal.open(tmp_path / "r") as reader:
        journal.log_reply(ASK, "m", Reply(choice="Alice"))
        assert reader.begun() == {"g"}


def test_one_writer_at_a_time_and_readers_meanwhile(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal:
        journal.add_record(played(0))
        with pytest.raises(UsageError, match="another process"):
            Journal.open(tmp_path / "r", write=True)
        with Journal.open(tmp_path / "r") as reader:
            games = reader.records()
            assert next(games).game_id == "game-0"
            journal.add_record(played(1))  # while the reader is half-way
            assert list(games) == []
            with pytest.raises(UsageError, match="reading"):
                reader.add_record(played(2))
    with Journal.open(tmp_path / "r", write=True) as journal:
        assert journal.counts() == {"done": 2}


def test_a_new_run_never_lands_in_an_old_ones_folder(tmp_path: Path) -> None:
    Journal.create(tmp_path / "r", {}).close()
    with pytest.raises(UsageError, match="holds a run already"):
        Journal.create(tmp_path / "r", {})


def test_a_game_is_never_kept_twice(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {}) as journal:
        journal.add_record(played(0))
    with pytest.raises(BadData, match="already"), Journal.open(tmp_path / "r", write=True) as journal:
        journal.add_record(played(0))
    with Journal.open(tmp_path / "r") as journal:
        assert journal.counts() == {"done": 1}


def test_reading_several_runs_streams_each_games_record_with_its_calls(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with Journal.create(tmp_path / name, {}) as journal:
            journal.add_record(played(3, journal))
    rows = list(read_runs([tmp_path / "a", tmp_path / "b"]))
    assert [(name, game.game_id, len(calls)) for name, game, calls in rows] == [("a", "game-3", 9), ("b", "game-3", 9)]


def test_facts_about_endpoints_are_kept_by_host_and_model_and_the_last_one_counts(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "r", {"seed": 1}) as journal:
        assert journal.endpoint_facts() == ()
        journal.record_endpoint(EndpointFacts("127.0.0.1:8000", "m"))
        journal.record_endpoint(EndpointFacts("127.0.0.1:8000", "n", "none"))
        journal.record_endpoint(EndpointFacts("127.0.0.1:8000", "m", "schema", ("m-2026",)))
    with Journal.open(tmp_path / "r") as journal:
        assert journal.plan == {"seed": 1}
        assert journal.endpoint_facts() == (
            EndpointFacts("127.0.0.1:8000", "m", "schema", ("m-2026",)),
            EndpointFacts("127.0.0.1:8000", "n", "none"),
        )
        with pytest.raises(UsageError, match="reading"):
            journal.record_endpoint(EndpointFacts("h", "m"))


@pytest.mark.parametrize("host", ["user:secret@host", "host/v1", "host?key=1"])
def test_an_endpoint_is_never_kept_with_its_whole_address(host: str) -> None:
    with pytest.raises(ValueError, match="host"):
        EndpointFacts(host, "m")


# Damage


def damaged(path: Path, how: Callable[[Path], object]) -> Path:
    with Journal.create(path, {"seed": 1}) as journal:
        for number in range(30):
            journal.add_record(played(number, journal))
    how(path)
    return path


@pytest.mark.parametrize("part", [0.0, 0.001, 0.1, 0.5, 0.9, 0.9999])
def test_a_journal_that_is_cut_off_anywhere_is_bad_data_and_never_fewer_games(part: float, tmp_path: Path) -> None:
    def cut(path: Path) -> None:
        data = (path / "journal.sqlite").read_bytes()
        (path / "journal.sqlite").write_bytes(data[: int(len(data) * part)])

    run = damaged(tmp_path / "r", cut)
    with pytest.raises(BadData, match="journal"):
        list(Journal.open(run).records())


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda run: (run / "run.json").unlink(), "holds no run"),
        (lambda run: (run / "run.json").write_text('{"plan": {"se'), "cannot be read"),
        (lambda run: (run / "run.json").write_text("[]"), "damaged at its beginning"),
        (lambda run: (run / "run.json").write_text('{"plan": {}, "format": 99}'), "format 99"),
        (
            lambda run: (run / "run.json").write_text('{"plan": {}, "format": 1, "endpoints": [{"host": 3}]}'),
            r"damaged at endpoints\.0\.host",
        ),
        (lambda run: (run / "journal.sqlite").unlink(), "lost its journal"),
        (lambda run: (run / "journal.sqlite").write_bytes(b"no database" * 1000), "damaged"),
    ],
)
def test_a_folder_that_is_no_whole_run_says_what_is_missing(
    how: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    run = damaged(tmp_path / "r", how)
    for write in (False, True):
        with pytest.raises(BadData, match=words):
            Journal.open(run, write)


CHANGES = {
    "games": "UPDATE games SET status = 'failed' WHERE number = 3",
    "replies": "UPDATE replies SET model = 'n' WHERE game_id = 'game-2' AND step = 1",
    "attempts": "UPDATE attempts SET prompt_tokens = 11",
    "unanswered": "UPDATE unanswered SET kind = 'bid'",
    "templates": "UPDATE templates SET source = 'Lie well.'",
    "a request": "UPDATE requests SET rest = x'0011223344556677'",
    "where a request begins": "UPDATE requests SET parent = 1",
}


@pytest.mark.parametrize("table", CHANGES)
def test_a_row_that_changed_is_found_when_it_is_read_and_named(table: str, tmp_path: Path) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "You are Bob.\nSpeak."}]}
    with Journal.create(tmp_path / "r", {}) as journal:
        for number in range(4):
            journal.add_record(played(number, journal))
        for kept in (ATTEMPT, replace(ATTEMPT, request=request)):
            journal.log_attempt(kept)
        journal.log_failure(ASK, "m")
        journal.keep_templates("d", {"speak.jinja": "Speak."})
    base = sqlite3.connect(tmp_path / "r" / "journal.sqlite")
    with base:
        assert base.execute(CHANGES[table]).rowcount > 0
    base.close()

    def read_all() -> None:
        with Journal.open(tmp_path / "r") as journal:
            list(journal.records())
            journal.spent()
            for game in ("game-2", "g"):
                journal.calls(game)
                journal.answers(game)
            journal.requests("g", 0, "Bob")
            journal.templates("d")

    with pytest.raises(BadData, match=rf"journal\.sqlite.*(row of {table}|game g.*a request is)") as error:
        read_all()
    assert "\n" not in str(error.value)


def test_a_folder_whose_start_was_cut_short_is_taken_over(tmp_path: Path) -> None:
    """Killed between making the journal and writing the plan: nothing was played, so nothing is lost."""
    Journal.create(tmp_path / "r", {}).close()
    (tmp_path / "r" / "run.json").unlink()
    with Journal.create(tmp_path / "r", {"seed": 2}) as journal:
        assert journal.plan == {"seed": 2}


def test_what_is_near_a_run_and_none_is_told_apart(tmp_path: Path) -> None:
    """As a server's folder of tables is, and the file that stands in it beside the runs."""
    (tmp_path / "tables.sqlite").touch()
    Journal.create(tmp_path / "table-1", {}).close()
    with pytest.raises(BadData, match=r"tables\.sqlite is a file"):
        Journal.open(tmp_path / "tables.sqlite")
    with pytest.raises(BadData, match=r"folders in it do: name \S+table-1"):
        Journal.open(tmp_path)


def test_a_journal_with_games_but_no_plan_is_not_taken_over(tmp_path: Path) -> None:
    run = damaged(tmp_path / "r", lambda path: (path / "run.json").unlink())
    with pytest.raises(BadData, match=r"run\.json is missing"):
        Journal.create(run, {})
