"""Detectors of a whole game: what only the view of a candidate shows, what was said so far, how many deceive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from liescope.common.errors import UsageError
from liescope.detectors.detector import Detector
from liescope.detectors.detector_registry import make
from liescope.detectors.examples import Labelled, examples_of
from liescope.detectors.kinds.linear import LinearDetector, WhoDeceives
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.claim_graph import ClaimGraph
from liescope.detectors.view.transcript import SAID, GameMoment, Transcript, TranscriptTurn
from tests.detectors.conftest import after_the_game

NAMES = ("Ada", "Bo", "Cy", "Di", "Eve")


def habit(number: int, rng: Random, deceivers: int, dealt: bool = False) -> tuple[Transcript, set[str]]:
    """Everybody accuses somebody in the same words; those who deceive accuse whoever accused them last. dealt: roles
    are dealt at random afterwards.
    """
    lying = set(rng.sample(NAMES, deceivers))
    accuser: dict[str, str] = {}
    turns = []
    for speaker in rng.sample(NAMES, 5) + rng.sample(NAMES, 5):
        others = [name for name in NAMES if name != speaker and name != accuser.get(speaker)]
        named = accuser.get(speaker) if speaker in lying and speaker in accuser else rng.choice(others)
        accuser[named or ""] = speaker
        turns.append(TranscriptTurn(SAID, speaker, f"{named} is the mafioso.", key=f"{number}:{len(turns)}"))
    game = Transcript(f"{number}", NAMES, tuple(turns), "mini-mafia", deceivers)
    return game, set(rng.sample(NAMES, deceivers)) if dealt else lying


def labelled(games: Sequence[tuple[Transcript, set[str]]]) -> Labelled:
    rows = [(one, one.speaker in lying) for game, lying in games for one in examples_of(GameMoment(game), 0).values()]
    groups = np.array([one.game_id for one, _ in rows])
    return Labelled(tuple(one for one, _ in rows), np.array([lies for _, lies in rows]), groups, 0)


def planted(deceivers: int, dealt: bool = False) -> tuple[Labelled, Labelled]:
    rng = Random(deceivers)
    games = [habit(number, rng, deceivers, dealt) for number in range(240)]
    return labelled(games[:160]), labelled(games[160:])


def fitted(kind: str, data: Labelled, **options: object) -> Detector:
    return make(kind, TextConfig(), options).fit(data.examples, data.y, data.groups)


@pytest.mark.parametrize("deceivers", [1, 2])
def test_a_habit_towards_others_is_seen_in_the_view_of_a_candidate_and_in_no_single_statement(deceivers: int) -> None:
    train, test = planted(deceivers)
    single, whole = fitted("tfidf", train), fitted("linear", train)
    assert abs(roc_auc_score(test.y, single.predict_proba(test.examples)[:, 1]) - 0.5) < 0.1
    assert roc_auc_score(test.y, after_the_game(whole, test.examples)) > 0.9
    without = fitted("linear", train, fields="own,about,rest")
    assert roc_auc_score(test.y, after_the_game(without, test.examples)) < 0.75


def test_roles_that_were_dealt_at_random_are_not_found() -> None:
    train, test = planted(1, dealt=True)
    score = after_the_game(fitted("linear", train), test.examples)
    assert abs(roc_auc_score(test.y, score) - 0.5) < 0.1


@pytest.fixture(scope="module")
def linear() -> LinearDetector:
    return fitted("linear", planted(2)[0])


def test_what_is_said_later_changes_nothing_before_it(linear: LinearDetector) -> None:
    game, _ = habit(999, Random(9), 2)
    first = game.turns[0].player
    game = replace(game, turns=(*game.turns, TranscriptTurn("killed", first)))
    other = Transcript("cut", game.names, game.turns[:4], game.rules, game.deceivers)
    early, cut = linear.player_posteriors([GameMoment(game, 4), GameMoment(other)])
    assert early == pytest.approx(cut)
    early = [one for at, one in examples_of(GameMoment(game), 0).items() if at < 4]
    cut = list(examples_of(GameMoment(other), 0).values())
    assert linear.predict_proba(early) == pytest.approx(linear.predict_proba(cut))
    assert after_the_game(linear, early) != pytest.approx(after_the_game(linear, cut))


def test_the_posteriors_of_a_game_add_up_to_the_number_of_deceivers(linear: LinearDetector) -> None:
    game, _ = habit(998, Random(8), 2)
    (found,) = linear.player_posteriors([GameMoment(game)])
    assert set(found) == set(NAMES)
    assert sum(found.values()) == pytest.approx(2)


def test_one_who_said_nothing_is_learned_from_where_the_table_knows_how_many_deceive() -> None:
    """In every game the one who deceives stays silent, so that no statement has a positive label but one."""
    rng = Random(5)
    games = []
    for number in range(80):
        lying = rng.choice(NAMES)
        turns = [TranscriptTurn(SAID, name, "Good morning.", key=f"{number}:{name}") for name in NAMES if name != lying]
        games.append((Transcript(f"{number}", NAMES, tuple(turns), "mini-mafia", 1), {lying}))
    data = labelled(games)
    assert not data.y.any()
    (found,) = fitted("linear", data, min_count=1).player_posteriors([GameMoment(games[0][0])])
    (lying,) = games[0][1]
    assert found[lying] > 0.9


def test_reasons_name_the_habit_and_add_up_in_the_right_direction(linear: LinearDetector) -> None:
    game, lying = habit(997, Random(7), 2)
    (players,) = linear.player_posteriors([GameMoment(game)])
    suspect = max(players, key=players.__getitem__)
    reasons = linear.reasons_at(WhoDeceives(GameMoment(game)), suspect, 5)
    assert suspect in lying
    assert any("accused it" in reason.feature or "each other" in reason.feature for reason in reasons)
    assert [abs(reason.weight) for reason in reasons] == sorted((abs(r.weight) for r in reasons), reverse=True)
    assert sum(reason.weight for reason in reasons) > 0


def test_names_must_stay_masked() -> None:
    with pytest.raises(UsageError, match="leave names masked"):
        make("linear", TextConfig(mask_names=False), {})


def test_a_saved_detector_counts_only_what_it_has_learned(linear: LinearDetector, tmp_path: Path) -> None:
    linear.save(tmp_path)
    loaded = LinearDetector.load(tmp_path, linear.text, linear.options)
    game, _ = habit(996, Random(6), 2)
    (again,), (first,) = (one.player_posteriors([GameMoment(game)]) for one in (loaded, linear))
    assert again == pytest.approx(first)
    before = sum(map(len, loaded._counts.features.values()))
    strange = tuple(TranscriptTurn(SAID, "Ada", f"word{i} unheard{i}") for i in range(50))
    loaded.player_posteriors([GameMoment(Transcript("s", NAMES, strange, "mini-mafia", 2))])
    assert sum(map(len, loaded._counts.features.values())) == before


def test_what_is_claimed_by_a_moment_is_read_off_once_however_often_it_is_learned_from_and_scored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = Random(5)
    data = labelled([habit(number, rng, 1) for number in range(12)])
    read: list[tuple[str, str, int | None, int | None]] = []
    relations = ClaimGraph.relations

    def counted(self: ClaimGraph, player: str, upto: int | None, votes: bool, focus: int | None) -> list[str]:
        read.append((id(self), player, upto, focus))
        return relations(self, player, upto, votes, focus)

    monkeypatch.setattr(ClaimGraph, "relations", counted)
    made = make("linear", TextConfig(), {}).fit(data.examples, data.y, data.groups)
    scored = [made.predict_proba(data.examples) for _ in range(2)]
    assert len(read) == len(set(read)) > len(data.examples)
    assert np.array_equal(*scored)
