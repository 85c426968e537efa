"""A campaign of bad habits that endpoints have: what is theirs never becomes what a player said or did."""

from __future__ import annotations

import json
import re
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from liescope import cli
from liescope.benchmark.analyses.frames import load_games
from liescope.benchmark.capability.counts import UNHEARD, count_by_settings
from liescope.common.errors import LiescopeError, UsageError
from liescope.games.record import Status
from liescope.generate.corpus.open import open_games
from liescope.generate.players.openai import endpoint, openai_player, pace
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from liescope.generate.runs.rating import label
from tests.generate.players.openai.stub import Answer, Request, Script, Stub, fails, says

PERSONA = "You never raise your voice."
USUAL = '"I watched all of you, and Bob was quieter than yesterday."'
TURNS = 9


def words(request: Request) -> str:
    """What a model of good will says, by the kind of the ask."""
    said = request.body["messages"][-1]["content"]
    if said.endswith(openai_player.QUESTION):
        return '{"ready": true}'
    living = re.findall(r"Alice|Bob|Charlie|Diana", said)
    return living[-1] if "ote" in said[-400:] and living else USUAL


def good(request: Request) -> Answer:
    return says(words(request))


def choice(finish: str | None = "stop", content: Any = "", **more: Any) -> dict[str, Any]:
    return {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}, **more}


def whole(*choices: Any, usage: Any = None, **more: Any) -> Answer:
    return Answer({"id": "1", "object": "chat.completion", "choices": list(choices), "usage": usage, **more})


LOST = {"code": 502, "message": "the provider hung up"}
NOTHING = {"prompt_tokens": 0, "completion_tokens": 0}
BILLED = {"prompt_tokens": 100, "completion_tokens": 7}
HALF = '"I think that'


def sometimes(bad: Answer) -> Script:
    """Every third answer is that."""
    return lambda request, number: bad if number % 3 == 1 else good(request)


def always(bad: Answer) -> Script:
    """The first question is answered, nothing else."""
    return lambda request, number: good(request) if number == 0 else bad


def unless(test: Callable[[dict[str, Any]], bool], bad: Answer) -> Script:
    return lambda request, number: good(request) if test(request.body) else bad


def events(*chunks: Any, ended: bool = True) -> Answer:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + (["data: [DONE]\n\n"] if ended else [])
    return Answer("".join(lines), headers={"Content-Type": "text/event-stream"})


def delta(**part: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": part, "finish_reason": None}]}


def streamed(request: Request) -> Answer:
    """The usual answer in pieces, with its counts in the last."""
    pieces = [delta(content=piece) for piece in re.findall(r".{1,7}", words(request))]
    last = {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}
    thoughts = [delta(reasoning_content=piece) for piece in ("Who is ", "it?")]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return events(delta(role="assistant"), *thoughts, *pieces, end, last)


def stream_only(message: str) -> Script:
    return lambda request, number: streamed(request) if request.body.get("stream") else fails(400, message)


def uncounted(status: int, error: Any, needs: bool = True) -> Script:
    """It takes no stream_options; needs: and only streams."""

    def script(request: Request, number: int) -> Answer:
        if needs and not request.body.get("stream"):
            return fails(400, "non-streaming requests are turned off here")
        return Answer(error, status) if "stream_options" in request.body else streamed(request)

    return script


def unknown_field(*place: str) -> dict[str, Any]:
    return {"detail": [{"type": "extra_forbidden", "loc": place, "msg": "Extra inputs are not permitted"}]}


def no_system(status: int, message: str) -> Script:
    return unless(lambda body: all(one["role"] != "system" for one in body["messages"]), fails(status, message))


@dataclass(frozen=True)
class Habit:
    """again: how the requests sent again begin, "" for none; said: in the sentence of the end, "" for a run that is
    whole; options: of the spec; fallbacks: turns that the rules had to fill in.
    """

    script: Script
    again: str = ""
    said: str = ""
    options: str = ""
    fallbacks: int = 0
    limits: dict[str, Any] = field(default_factory=dict)


AGAIN = "the answer broke off"
HABITS: dict[str, Habit] = {
    "good": Habit(lambda request, number: good(request)),
    # the upstream is lost after the status was sent
    "error in the choice": Habit(sometimes(whole(choice("error", error=LOST))), "502"),
    "error in the choice after half a sentence": Habit(sometimes(whole(choice("error", HALF, error=LOST))), "502"),
    "error in the choice without a code": Habit(sometimes(whole(choice("error", HALF, error={"message": "x"}))), AGAIN),
    "error in the choice as words": Habit(sometimes(whole(choice(None, HALF, error="gone"))), AGAIN),
    "error beside the choices": Habit(sometimes(whole(choice("stop", HALF), error=LOST)), "502"),
    "error instead of choices": Habit(sometimes(Answer({"error": LOST})), "502"),
    "finish: error": Habit(sometimes(whole(choice("error", HALF))), AGAIN),
    "finish: network_error": Habit(sometimes(whole(choice("network_error"))), AGAIN),
    "finish: no resources": Habit(sometimes(whole(choice("insufficient_system_resource", HALF))), AGAIN),
    "0 tokens": Habit(sometimes(whole(choice(), usage=NOTHING)), "the answer is empty"),
    "0 tokens, null": Habit(sometimes(whole(choice("stop", None), usage=NOTHING)), "the answer is empty"),
    "no choices": Habit(sometimes(whole(usage=BILLED)), "the response holds no message"),
    "null choices": Habit(sometimes(Answer({"choices": None, "usage": BILLED})), "the response holds no message"),
    "a choice that is null": Habit(sometimes(whole(None)), "the response holds no message"),
    "error as words": Habit(sometimes(Answer({"error": "the worker died"})), "the response holds no message"),
    "rate limit as words": Habit(sometimes(Answer({"error": "Rate limit exceeded, slow down"})), "it limits the rate"),
    "rate limit as 400": Habit(sometimes(fails(400, "Rate limit reached", code="rate_limit_exceeded")), "400"),
    "rate limit as 403": Habit(sometimes(fails(403, "Too many requests")), "403"),
    "rate limit as 429": Habit(sometimes(fails(429, "busy")), "429"),
    "bad gateway": Habit(sometimes(Answer("<html>Bad gateway</html>", 502)), "502"),
    "overloaded": Habit(sometimes(fails(529, "Overloaded")), "529"),
    "choices of another shape": Habit(sometimes(Answer({"choices": [7]})), "the response holds no message"),
    "deep nesting": Habit(sometimes(Answer("[" * 100_000)), "the response is not valid JSON"),
    "an empty body": Habit(sometimes(Answer("")), "the response is empty"),
    "not JSON": Habit(sometimes(Answer("OK")), "the response is not valid JSON"),
    "cut in the middle": Habit(sometimes(Answer("{" * 99, cut=True)), "the response broke off"),
    "not HTTP": Habit(sometimes(Answer(raw=b"220 mail\r\n")), "the "),
    # answers of another form
    "content in a part": Habit(lambda request, number: says({"type": "text", "text": words(request)})),
    "content in parts": Habit(lambda request, number: says([{"type": "text", "text": words(request)}])),
    "text completion": Habit(lambda request, number: whole({"index": 0, "text": words(request)}, usage=BILLED)),
    # streams
    "streams only": Habit(stream_only("This model only support stream mode"), "", options="?json=none"),
    "streams only when thinking": Habit(stream_only("enable_thinking must be false for non-streaming calls")),
    "streams only, and counts nothing": Habit(
        uncounted(400, {"error": {"message": "Unrecognized request argument supplied: stream_options"}})
    ),
    "streams only, and counts nothing (422)": Habit(uncounted(422, unknown_field("body", "stream_options"))),
    "streams when asked, and counts nothing": Habit(
        uncounted(400, {"message": "unknown field `include_usage`"}, needs=False), options="?stream=true"
    ),
    "streams unasked": Habit(lambda request, number: streamed(request)),
    "streams when asked": Habit(
        lambda request, number: streamed(request) if request.body.get("stream") else fails(404), options="?stream=true"
    ),
    "a stream with comments": Habit(
        lambda request, number: Answer(": ping\n\n" + streamed(request).body, headers={"X-A": "b"})
    ),
    "a stream with an error in it": Habit(sometimes(events(delta(content=HALF), {"error": LOST})), "502"),
    "a stream that ends in the middle": Habit(sometimes(events(delta(content=HALF), ended=False)), AGAIN),
    # what is sent is not what it takes
    "no system role (400)": Habit(no_system(400, "System role not supported"), options="?persona=PERSONA"),
    "no system role (500)": Habit(
        no_system(500, "Conversation roles must alternate user/assistant/user/assistant/..."),
        options="?persona=PERSONA",
    ),
    "no developer instruction": Habit(
        no_system(400, "Developer instruction is not enabled for models/g"), options="?persona=PERSONA"
    ),
    "a newer name of the limit": Habit(
        unless(
            lambda body: "max_tokens" not in body, fails(400, "Use 'max_completion_tokens' instead of 'max_tokens'.")
        ),
        options="?max_tokens=90",
    ),
    "a newer name of the limit, of statements alone": Habit(
        unless(lambda body: "max_tokens" not in body, fails(422, "max_tokens: deprecated, see max_completion_tokens")),
        options="?max_tokens.speak=90",
    ),
    "games fail alike with 500": Habit(always(fails(500, "list index out of range")), "500", "given no answer"),
    "long prompts fail alike with 500": Habit(
        unless(lambda body: len(str(body["messages"])) < 300, fails(500, "list index out of range")),
        "500",
        "fails alike",
    ),
    "never a word": Habit(always(says(None)), said="8 of 8 replies of m could not be used", fallbacks=TURNS),
    "never a readable word": Habit(always(says("[]")), said="8 of 8 replies of m could not be used", fallbacks=TURNS),
    "every answer broken": Habit(always(whole(choice("error", error=LOST))), "502", "given no answer"),
}


def campaign(habit: Habit, folder: Path) -> dict[str, Any]:
    """One game of Mini-Mafia with four seats of one model at an endpoint with that habit, and what became of it."""
    persona = folder / "persona.txt"
    persona.write_text(PERSONA, encoding="utf-8")
    stub = Stub(habit.script)
    out, sentence = folder / "run", ""
    spec = f"openai:m@{stub.url}{habit.options.replace('PERSONA', str(persona))}"
    asked = {"design": "self", "games": 1, "seed": 3, "give_up_after": 1.5, "price": ("m=1,1",), **habit.limits}
    try:
        result = play("mini-mafia", out=out, players=[spec], **asked)
        sentence = str(result.tally.stop or next(iter(result.tally.failures), ""))
    except LiescopeError as error:
        return {"answered": 0, "again": {}, "fallbacks": 0, "exit": 1, "sentence": str(error), "said": []}
    finally:
        stub.close()
    with Journal.open(out) as journal:
        games = list(journal.records())
        spent = journal.spent()
    tally = result.tally
    return {
        "answered": tally.calls - sum(tally.fallbacks.values()),
        "again": dict(tally.activity.retries),
        "fallbacks": sum(tally.fallbacks.values()),
        "exit": int(tally.stop is not None or bool(tally.failed)),
        "sentence": sentence,
        "said": [event.text for game in games if game.status is Status.DONE for event in game.events if event.text],
        "notes": result.to_json().get("notes", []),
        "sent": stub.requests,
        "spent": spent,
    }


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(openai_player, "AGAIN", 0.05)
    for name in ("FIRST_PAUSE", "FIRST_PROBE", "LONGEST_PROBE"):
        monkeypatch.setattr(pace, name, 0.005)


@pytest.fixture(scope="module")
def plainly(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The game with an endpoint without bad habits."""
    return campaign(HABITS["good"], tmp_path_factory.mktemp("good"))


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in HABITS if name != "good"])
def test_what_an_endpoint_does_wrong_is_no_turn_of_a_player(name: str, plainly: dict[str, Any], tmp_path: Path) -> None:
    habit = HABITS[name]
    found = campaign(habit, tmp_path)
    assert found["fallbacks"] == habit.fallbacks
    assert habit.said in found["sentence"], found["sentence"]
    assert found["exit"] == bool(habit.said)
    assert all(reason.startswith(habit.again) for reason in found["again"])
    assert bool(found["again"]) == bool(habit.again)
    if not habit.said:
        assert (found["answered"], found["said"]) == (TURNS, plainly["said"])


COUNTED = {"choices": [], "usage": BILLED}
UNUSABLE = {
    "an error inside a choice": whole(choice("error", HALF, error=LOST), usage=BILLED),
    "an error beside the choices": whole(choice("stop", HALF), error=LOST, usage=BILLED),
    "a finish reason": whole(choice("network_error", HALF), usage=BILLED),
    "no choices": whole(usage=BILLED),
    "an empty answer": whole(choice(), usage={"prompt_tokens": 107, "completion_tokens": 0}),
    "a status": Answer({"error": LOST, "usage": BILLED}, 502),
    "a rate limit": Answer({"error": {"message": "busy"}, "usage": BILLED}, 429),
    "a refusal": Answer({"error": {"message": "no"}, "usage": BILLED}, 400),
    "an error in a stream": events(delta(content=HALF), COUNTED, {"error": LOST}),
    "an error in a stream, which ends there": events(delta(content=HALF), {**COUNTED, "error": LOST}, ended=False),
    "a stream that ends in the middle": events(delta(content=HALF), COUNTED, ended=False),
    "an error in a choice of a stream": events(delta(content=HALF), COUNTED, whole(choice("error", error=LOST)).body),
    "a stream whose connection breaks": replace(
        events(delta(content=HALF), COUNTED, delta(content="x" * 999)), cut=True
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_was_billed_counts_although_it_cannot_be_used(name: str, tmp_path: Path, plainly: dict[str, Any]) -> None:
    found = campaign(Habit(sometimes(UNUSABLE[name])), tmp_path)
    assert (found["answered"], found["said"]) == (TURNS, plainly["said"])
    broken = len(found["sent"]) - len(plainly["sent"])
    assert broken == sum(found["again"].values()) > 0
    assert found["spent"][0] == plainly["spent"][0] + broken * 107
    assert found["spent"][1] == pytest.approx(plainly["spent"][1] + broken * 107e-6)


@pytest.mark.parametrize("limit", [{"max_tokens": 600}, {"max_cost": 600e-6}])
@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_used_is_in_the_budget(name: str, limit: dict[str, float], tmp_path: Path) -> None:
    found = campaign(Habit(always(UNUSABLE[name]), limits=limit), tmp_path)
    assert "budget" in found["sentence"]
    assert 600 <= found["spent"][0] < 600 + 4 * 110


def test_a_persona_goes_into_the_first_turn_where_there_is_no_system_role(tmp_path: Path) -> None:
    found = campaign(HABITS["no system role (500)"], tmp_path)
    games = [request.body["messages"] for request in found["sent"] if len(request.body["messages"]) == 1]
    assert games
    assert all(one["content"].startswith(f"{PERSONA}\n\n") for (one,) in games)
    assert [note for note in found["notes"] if "takes no system message" in note]
    # the first question found it out
    assert sum(len(request.body["messages"]) == 2 for request in found["sent"]) == 1


def test_a_stream_is_asked_for_with_its_counts_once_it_is_known(tmp_path: Path, plainly: dict[str, Any]) -> None:
    found = campaign(HABITS["streams only"], tmp_path)
    assert [request.body.get("stream", False) for request in found["sent"]] == [False] + [True] * (TURNS + 1)
    assert all(request.body["stream_options"] == {"include_usage": True} for request in found["sent"][1:])
    assert found["spent"] == plainly["spent"]


def test_what_was_found_out_is_kept_in_the_run_told_and_known_when_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = Stub(uncounted(400, {"message": "stream_options: not a field"}))
    asked = {"players": [f"openai:m@{stub.url}"], "design": "self", "out": tmp_path / "run", "max_tokens": 1}
    assert play("mini-mafia", games=1, **asked).tally.stop is not None
    known = ["m streams its answers", "m takes no stream_options: a budget estimates its tokens"]
    refused = [request for request in stub.requests if "stream_options" in request.body or "stream" not in request.body]
    assert len(refused) == 2
    gone_on = play("mini-mafia", games=1, **{**asked, "max_tokens": None})
    stub.close()
    assert len(stub.requests) > 9
    assert not [request for request in stub.requests[3:] if "stream_options" in request.body]
    assert all(request.body["stream"] for request in stub.requests[2:])
    shown = []
    for command in ("show", "status"):
        cli.main([command, str(tmp_path / "run")])
        shown.append(" ".join(capsys.readouterr().out.split()))
    kept = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["endpoints"][0]["notes"].values()
    for words in known:
        assert f"note: {words}" in shown[0]
        assert words[:60] in shown[1]
        assert any(note.startswith(words) for note in kept)
        assert any(note.startswith(words) for note in gone_on.to_json()["notes"])


def test_raters_are_asked_in_the_form_that_an_endpoint_takes(tmp_path: Path) -> None:
    campaign(HABITS["good"], tmp_path)
    refuses = no_system(400, "System role not supported")
    only_streams = stream_only("This model only support stream mode")
    takes_system: Script = lambda request, number: refuses(request, number).status == 200  # noqa: E731
    stub = Stub(lambda request, n: (only_streams if takes_system(request, n) else refuses)(request, n))
    spec = f"openai:judge@{stub.url}?persona={tmp_path / 'persona.txt'}"
    try:
        rated = label(tmp_path / "run", judge=spec, out=tmp_path / "rated", max_fallbacks=1, give_up_after=1.5)
    finally:
        stub.close()
    assert rated.complete
    assert rated.tally.unrated == 0
    # the first two, refused, found out how to ask
    assert all(request.body["stream"] and len(request.body["messages"]) == 1 for request in stub.requests[2:])
    assert all(request.body["messages"][0]["content"].startswith(PERSONA) for request in stub.requests[2:])


def test_replies_of_no_use_count_over_all_processes_of_a_run(tmp_path: Path) -> None:
    mute = True
    stub = Stub(lambda request, number: says("[]") if mute else good(request))
    asked = {"players": [f"openai:m@{stub.url}"], "design": "self", "games": 3, "preflight": False, "concurrency": 1}
    try:
        first = play("mini-mafia", out=tmp_path / "run", **asked).tally
        second = play("mini-mafia", out=tmp_path / "run", **asked).tally
        mute = False
        third = play("mini-mafia", out=tmp_path / "run", **asked)
    finally:
        stub.close()
    assert "8 of 8 replies of m" in str(first.stop)
    assert "9 of 9 replies of m" in str(second.stop)
    assert second.calls < 8
    assert third.complete


def test_a_game_that_a_model_was_silent_in_is_marked_and_counts_nowhere_and_it_is_said(tmp_path: Path) -> None:
    silent = Habit(always(says(None)), limits={"max_fallbacks": 1, "games": 2})
    found = campaign(silent, tmp_path)
    assert (found["exit"], found["fallbacks"]) == (0, 2 * TURNS)
    with Journal.open(tmp_path / "run") as journal:
        assert all(game.meta["silent"] for game in journal.records())
    with pytest.raises(UsageError, match=r"analyse .2 are left out, because no reply .*--count-silent"):
        load_games([tmp_path / "run"])
    (counts,) = count_by_settings(open_games(tmp_path / "run").tables).values()
    assert (counts.games, counts.excluded) == (0, {UNHEARD: 2})


def test_prompts_that_a_server_cuts_are_told_and_marked(tmp_path: Path) -> None:
    def counted(most: int) -> Script:
        def script(request: Request, number: int) -> Answer:
            size = sum(len(one["content"]) for one in request.body["messages"]) // 4
            return says(words(request), usage={"prompt_tokens": min(size, most), "completion_tokens": 5})

        return script

    marked = []
    for most in (256, 10**6):
        (tmp_path / str(most)).mkdir()
        found = campaign(Habit(counted(most), limits={"games": 2}), tmp_path / str(most))
        with Journal.open(tmp_path / str(most) / "run") as journal:
            marked.append([game.meta.get("cut_prompts") for game in journal.records()])
        assert [note for note in found["notes"] if "cuts prompts at 256 tokens" in note] == found["notes"]
        assert bool(found["notes"]) == (most == 256)
    assert marked == [[["m"]] * 2, [None] * 2]


def test_a_certificate_of_an_unknown_authority_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signed = tmp_path / "own.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(signed), "-out", str(tmp_path / "ca.pem")]
    subprocess.run(["openssl", *words.split(), *files], check=True, capture_output=True)
    signed.write_bytes(signed.read_bytes() + (tmp_path / "ca.pem").read_bytes())
    stub = Stub(lambda request, number: good(request))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(signed)
    stub._server.socket = context.wrap_socket(stub._server.socket, server_side=True)
    asked = {"players": [f"openai:m@{stub.url.replace('http', 'https', 1)}"], "design": "self", "games": 1}
    try:
        with pytest.raises(LiescopeError, match=r"is not trusted \(self.signed certificate\): .* SSL_CERT_FILE$"):
            play("mini-mafia", out=tmp_path / "run", timeout="8s", **asked)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        assert play("mini-mafia", out=tmp_path / "run", timeout="8s", **asked).complete
    finally:
        stub.close()
