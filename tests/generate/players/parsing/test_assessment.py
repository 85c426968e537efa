"""An assessment is read from JSON anywhere in the text; what cannot be read is None and never "honest"."""

from __future__ import annotations

import json

import pytest

from liescope.games.core import AskKind, Assessment
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.parsing.reply_forms import CONTRADICTION

WHOLE = {"deceptive": True, "type": "omission", "confidence": 0.8, "suspicion": 0.6, "reason": "He hides a claim."}
READ = Assessment(True, "omission", 0.8, 0.6, "He hides a claim.")


def test_a_json_object_is_read_without_a_note(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.PEER_ASSESSMENT), json.dumps({"reasoning": "Hm.", **WHOLE}))
    assert (reply.assessment, reply.notes, reply.problem) == (READ, (), "")
    assert reply.private == {"reasoning": "Hm."}


def test_a_speaker_has_no_suspicion_of_itself(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.SELF_ASSESSMENT), json.dumps(WHOLE))
    assert reply.assessment == Assessment(True, "omission", 0.8, None, "He hides a claim.")


@pytest.mark.parametrize(
    "raw",
    [
        f"```json\n{json.dumps(WHOLE)}\n```",
        f"<think>Maybe {{not json}}</think>{json.dumps(WHOLE)}",
        f'An example is {{"deceptive": false}}. Mine: {json.dumps(WHOLE)} That is all.',
        json.dumps({**WHOLE, "deceptive": "yes"}),
        json.dumps({**WHOLE, "confidence": "80%", "suspicion": "6/10"}),
        json.dumps({**WHOLE, "confidence": "0.80 (fairly sure)", "suspicion": "0,6"}),
        json.dumps({**WHOLE, "confidence": "80 percent", "suspicion": "6 out of 10"}),
        "{'deceptive': True, 'type': 'omission', 'confidence': 0.8, 'suspicion': 0.6, 'reason': 'He hides a claim.',}",
        "Here it is:\n\n- **Deceptive**: Yes\n- **Type**: `omission`\n- **Confidence**: 8/10\n- **Suspicion**: 60%\n"
        "- **Reason**: He hides a claim.\n\nLet me know if you need more.",
    ],
)
def test_a_lenient_reading_gives_the_same_assessment_and_a_note(make_ask, raw: str) -> None:
    reply = read_reply(make_ask(AskKind.PEER_ASSESSMENT), raw)
    assert reply.assessment is not None
    got = reply.assessment
    assert (got.deceptive, got.type, got.confidence, got.suspicion) == (True, "omission", 0.8, 0.6)
    assert got.reason.rstrip(".") == "He hides a claim"
    assert reply.notes


@pytest.mark.parametrize("value", ["NaN", "Infinity", "[]", "null", "true", '"high"', "1" * 400])
def test_a_confidence_that_is_no_number_is_none(make_ask, value: str) -> None:
    reply = read_reply(make_ask(AskKind.PEER_ASSESSMENT), f'{{"deceptive": false, "confidence": {value}}}')
    assert reply.assessment.confidence is None


@pytest.mark.parametrize("value", [2, 7, 10, 70, 1.2, -0.1, 1e99, "7", "150%", "11/10", "-10%"])
def test_a_number_outside_0_to_1_is_none_with_its_reason(make_ask, value: object) -> None:
    """7 may be out of 10 and 70 a percentage, but 1 and 2 fit either scale as badly: no reader chooses one."""
    reply = read_reply(
        make_ask(AskKind.PEER_ASSESSMENT), json.dumps({**WHOLE, "suspicion": value, "confidence": value})
    )
    assert reply.assessment == Assessment(True, "omission", None, None, "He hides a claim.")
    assert {"confidence outside 0 to 1", "suspicion outside 0 to 1"} <= set(reply.notes)


@pytest.mark.parametrize(
    ("value", "share"),
    [("7/10", 0.7), ("70%", 0.7), ("2/10", 0.2), ("1/10", 0.1), ("1%", 0.01), ("100/100", 1.0), ("0/10", 0.0)],
)
def test_a_scale_that_is_written_beside_the_number_is_read_and_noted(make_ask, value: str, share: float) -> None:
    reply = read_reply(make_ask(AskKind.PEER_ASSESSMENT), json.dumps({**WHOLE, "suspicion": value}))
    assert reply.assessment.suspicion == pytest.approx(share)
    assert reply.notes == ("suspicion not written as a number from 0 to 1",)


@pytest.mark.parametrize("value", ["0.7/10", "0.5%", "3/7", "high", "7-8/10", "", [0.5], {"score": 0.5}])
def test_a_scale_in_doubt_is_none_with_its_reason(make_ask, value: object) -> None:
    reply = read_reply(make_ask(AskKind.PEER_ASSESSMENT), json.dumps({**WHOLE, "suspicion": value}))
    assert reply.assessment.suspicion is None
    assert "suspicion unreadable" in reply.notes


@pytest.mark.parametrize(
    ("suspicion", "confidence", "read"),
    [
        (1, 8, (None, None)),
        ("1", 85, (None, None)),
        (2, 1.0, (None, None)),
        (0, 8, (0.0, None)),
        (0.4, 8, (0.4, None)),
        ("10/10", 8, (1.0, None)),
        (1, 1, (1.0, 1.0)),
        (1, "70%", (1.0, 0.7)),
        (1, -1, (1.0, None)),
    ],
)
def test_a_1_beside_a_number_of_another_scale_is_none(
    make_ask, suspicion: object, confidence: object, read: tuple[float | None, float | None]
) -> None:
    reply = read_reply(
        make_ask(AskKind.PEER_ASSESSMENT), json.dumps({**WHOLE, "suspicion": suspicion, "confidence": confidence})
    )
    assert (reply.assessment.suspicion, reply.assessment.confidence) == read
    assert ("suspicion of 1 beside a number above 1" in reply.notes) == (str(suspicion) == "1" and read[0] is None)


def test_every_field_that_is_none_has_a_note(make_ask) -> None:
    raw = '{"deceptive": "perhaps", "type": "white lie", "suspicion": 1}'
    reply = read_reply(make_ask(AskKind.PEER_ASSESSMENT), raw)
    assert reply.assessment == Assessment(None, None, None, 1.0)
    assert reply.notes == ("flag unreadable", "type unreadable", "no confidence")


@pytest.mark.parametrize(("flag", "kind"), [(False, "omission"), (True, "none")])
def test_a_flag_and_a_type_that_contradict_each_other_are_kept_with_a_note(make_ask, flag: bool, kind: str) -> None:
    for ask in (make_ask(AskKind.SELF_ASSESSMENT), make_ask(AskKind.PEER_ASSESSMENT)):
        reply = read_reply(ask, json.dumps({**WHOLE, "deceptive": flag, "type": kind}))
        assert (reply.assessment.deceptive, reply.assessment.type) == (flag, kind)
        assert reply.notes == (CONTRADICTION,)


@pytest.mark.parametrize(
    "raw",
    ["", "I think he is honest.", "{}", "[1, 2]", '{"reason": "x"}', '{"deceptive": null}', "{" * 5000],
)
def test_an_unreadable_assessment_is_a_problem_and_never_honest(make_ask, raw: str) -> None:
    reply = read_reply(make_ask(AskKind.PEER_ASSESSMENT), raw)
    assert reply.assessment is None
    assert reply.problem
