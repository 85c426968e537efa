"""The kind `table`: how players stand beside the others, in numbers that know no game's vocabulary."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from liescope.common.errors import UsageError
from liescope.detectors import score, train
from liescope.detectors.examples import read_statements
from liescope.detectors.kinds.table import FEATURES, GONE, MANNER, in_words, table_features
from liescope.detectors.view.candidate import Candidate
from liescope.detectors.view.transcript import KILLED, SAID, VOTED, GameMoment, Transcript, TranscriptTurn
from tests.detectors.conftest import after_the_game
from tests.detectors.test_whole_game import NAMES, fitted, habit, labelled, planted


def game(*turns: tuple[str, str] | TranscriptTurn) -> Transcript:
    """Of (who, what), and of whatever else happened."""
    made = [
        one if isinstance(one, TranscriptTurn) else TranscriptTurn(SAID, *one, key=f"g:{at}")
        for at, one in enumerate(turns)
    ]
    return Transcript("g", NAMES, tuple(made), "mini-mafia", 1)


def seats(transcript: Transcript, votes: bool = True) -> dict[str, dict[str, float]]:
    found = table_features([Candidate(GameMoment(transcript), name) for name in transcript.names], 10, votes)
    return {name: dict(zip(FEATURES, row.tolist(), strict=True)) for name, row in zip(NAMES, found, strict=True)}


def test_a_habit_learned_in_one_game_is_recognised_in_another_whose_words_are_others() -> None:
    train, test = planted(1)
    detector = fitted("table", train, strength=1.0)
    assert roc_auc_score(test.y, after_the_game(detector, test.examples)) > 0.8
    rng = Random(77)
    foreign = []
    for number in range(80):
        told, lying = habit(number, rng, 1)
        turns = [
            replace(turn, text=turn.text.replace("is the mafioso", "seems suspicious to me")) for turn in told.turns
        ]
        foreign.append((replace(told, turns=tuple(turns), rules="another-game"), lying))
    other = labelled(foreign)
    assert roc_auc_score(other.y, after_the_game(detector, other.examples)) > 0.75


def test_who_accuses_whom_is_read_from_plain_words() -> None:
    found = seats(
        game(("Ada", "I think Bo is lying. Cy seems honest."), ("Bo", "Ada is suspicious!"), ("Cy", "Hm, okay."))
    )
    assert found["Bo"]["accused"] > 0 > found["Cy"]["accused"]
    assert found["Ada"]["accuses first"] > 0 > found["Bo"]["accuses first"]
    assert found["Ada"]["returned"] == found["Bo"]["returned"] > 0
    assert found["Cy"]["supported"] > 0 > found["Bo"]["supported"]
    assert found["Bo"]["exclamations"] > 0 > found["Ada"]["exclamations"]


def test_every_number_is_beside_the_table_so_that_what_all_do_alike_is_nothing() -> None:
    found = seats(game(*((name, "Maybe we should wait, I guess.") for name in NAMES)))
    told = {name for name in FEATURES if any(row[name] for row in found.values())}
    assert told <= {"first word", "last word", "echo", "echoed", "new words"}


def test_the_scale_of_a_table_does_not_matter() -> None:
    """Everybody says everything twice as often: who talks most stays who talks most, by as much."""
    said = [
        ("Ada", "Bo lies."),
        ("Bo", "No, I do not."),
        ("Ada", "You do."),
        ("Cy", "Perhaps."),
        ("Di", "Why?"),
        ("Eve", "Hm."),
    ]
    once, twice = seats(game(*said)), seats(game(*said, *said))
    for name in ("share of talk", "share of words", "questions", *MANNER):
        assert [once[who][name] for who in NAMES] == pytest.approx([twice[who][name] for who in NAMES]), name


def test_the_silent_and_the_dead_are_told_from_the_others() -> None:
    dead, silent = TranscriptTurn(KILLED, "Eve"), TranscriptTurn("silent", "Di")
    found = seats(game(dead, ("Ada", "Hello."), ("Bo", "Hi, all."), ("Cy", "Well?"), silent))
    assert [found[name]["killed"] for name in NAMES] == [0, 0, 0, 0, 1]
    assert found["Di"]["silence"] > 0 > found["Ada"]["silence"]
    assert sum(found[name]["share of talk"] for name in NAMES[:4]) == pytest.approx(0)  # the living beside the living
    assert all(found["Di"][name] == 0 for name in MANNER)


def test_votes_are_read_only_where_they_are_asked_for() -> None:
    votes = [TranscriptTurn(VOTED, name, target="Bo") for name in ("Ada", "Cy", "Di")]
    told = game(("Ada", "Hello."), *votes, TranscriptTurn("exiled", "Bo"))
    assert seats(told)["Bo"]["votes for it"] > 0
    assert seats(told)["Bo"]["exiled"] == 1
    blind = seats(told, votes=False)
    assert all(row[name] == 0 for row in blind.values() for name in ("votes for it", "votes with the table", *GONE))


def test_what_is_said_later_changes_nothing_before_it() -> None:
    train, _ = planted(1)
    detector = fitted("table", train)
    told, _ = habit(999, Random(9), 1)
    cut = Transcript("cut", told.names, told.turns[:4], told.rules, told.deceivers)
    assert detector.predict_game(told, upto=4).players == pytest.approx(detector.predict_game(cut).players)


def test_texts_with_nobody_else_at_the_table_are_refused() -> None:
    alone = Transcript("a", ("Ada",), (TranscriptTurn(SAID, "Ada", "Maybe.", key="a:0"),), "text", None)
    data = labelled([(alone, {"Ada"}), (replace(alone, game_id="b"), set())])
    with pytest.raises(UsageError, match="table learns from games of several"):
        fitted("table", data)


def test_reasons_are_in_plain_words() -> None:
    train, test = planted(1)
    (reasons,) = fitted("table", train, strength=1.0).explain(test.examples[-1:], most=3)
    assert reasons
    assert all(reason.feature.endswith((", more than others", ", less than others")) for reason in reasons)
    assert in_words("named by", -0.5) == "how many others name it, less than others"
    assert in_words("killed", 1.0) == "it was killed"
    assert all(np.isfinite(reason.weight) for reason in reasons)


def test_rows_that_name_no_players_are_scored_although_more_speak_later(corpus: Path, tmp_path: Path) -> None:
    said = read_statements(corpus, ["test"]).select("statement_id", "game_id", "speaker", "text")
    model = train("table", corpus, out=tmp_path / "m", folds=0).model
    assert score(model, said)["score"].null_count() == 0


@pytest.mark.parametrize("kind", ["linear", "table"])
def test_what_was_read_of_a_game_does_not_keep_the_game(kind: str) -> None:
    detector = fitted(kind, planted(1)[0])
    told = game(("Ada", "I think Bo is lying."), ("Bo", "No."))
    detector.player_posteriors([GameMoment(told)])
    seen = weakref.ref(told)
    del told
    gc.collect()
    assert seen() is None
