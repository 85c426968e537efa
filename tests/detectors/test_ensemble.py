"""An ensemble: weights earned on unseen games, the mean as the floor, members of any kind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from liescope.common.errors import BadData, UsageError
from liescope.detectors.detector import Detector
from liescope.detectors.detector_registry import load_parts, make
from liescope.detectors.examples import Labelled, labelled, read_statements
from liescope.detectors.kinds.ensemble import EnsembleDetector, Member, MemberLogits, Stack, read_members
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.joint_posterior import SeatedCandidates
from liescope.detectors.view.transcript import Transcript
from tests.detectors.test_whole_game import fitted, habit, planted
from tests.detectors.test_whole_game import labelled as of_games

MIXED = "linear:strength=1.0;tfidf:words=1"


def folds(rows: int, weights: tuple[float, ...], seed: int = 0) -> list[MemberLogits]:
    """Three folds of statements whose log-odds are the members', weighed."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(3):
        logits = rng.normal(size=(rows, len(weights))) * 2
        y = rng.random(rows) < expit(logits @ np.array(weights))
        found.append(MemberLogits(logits, SeatedCandidates.of([1] * rows, [None] * rows), y, ~y))
    return found


def test_members_are_weighed_by_what_they_are_worth() -> None:
    useful, useless, wrong = Stack.chosen(folds(2000, (1.0, 0.0, -0.2)), 3).weights
    assert useful == pytest.approx(1, abs=0.2)
    assert useless < 0.1
    assert wrong == 0


def test_where_the_mean_is_the_truth_few_games_do_not_lead_away_from_it() -> None:
    found = [Stack.chosen(folds(40, (0.5, 0.5), seed), 2) == Stack.mean(2) for seed in range(20)]
    assert sum(found) > 10
    assert Stack.chosen([], 2) == Stack.mean(2)


def test_at_a_table_of_one_deceiver_weights_are_those_of_a_choice_among_its_players() -> None:
    rng, parts = np.random.default_rng(0), []
    for _ in range(3):
        logits = rng.normal(size=(4000, 2))
        chance = np.exp(logits[:, 0] * 1.5).reshape(-1, 4)
        picked = [rng.choice(4, p=row / row.sum()) for row in chance]
        true = np.eye(4, dtype=bool)[picked].ravel()
        parts.append(MemberLogits(logits, SeatedCandidates.of([4] * 1000, [1] * 1000), true, ~true))
    found = Stack.chosen(parts, 2)
    assert found.weights == pytest.approx((1.5, 0), abs=0.15)
    assert found.offset == pytest.approx(0, abs=1e-6)


def test_members_are_read_with_options_of_their_own() -> None:
    found = read_members("linear:fields=own,claims,strength=1;embedding:batch-size=8")
    assert found == (
        Member("linear", {"fields": "own,claims", "strength": "1"}),
        Member("embedding", {"batch_size": "8"}),
    )
    assert read_members(";".join(map(str, found))) == found
    plain = read_members("linear, tfidf")
    assert plain == (Member("linear"), Member("tfidf"))
    assert read_members(";".join(map(str, plain))) == plain


def test_what_names_a_file_of_this_machine_is_no_part_of_a_member_that_is_saved() -> None:
    member = Member.of(make("judge", TextConfig(), {"shots": 2, "cache": "/home/me/replies", "prompt": "/home/me/own"}))
    assert str(member) == "judge:shots=2"


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ("linear,ensemble", "no member of an ensemble"),
        ("linear:x=1;ensemble:members=a", "no member of an ensemble"),
        ("linear", "2 to 16"),
        (",".join(["tfidf"] * 17), "2 to 16"),
        ("linear,oracle", "no kind of detector"),
        ("linear:strength;tfidf", "name=value"),
        ("linear:strenth=1;tfidf", "no option --strenth"),
        ("linear:strength=-1;tfidf", "greater than 0"),
    ],
)
def test_members_that_cannot_be_are_refused_before_anything_is_learned(members: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        make("ensemble", TextConfig(), {"members": members})


@pytest.fixture(scope="module")
def games() -> tuple[Labelled, Labelled]:
    return planted(2)


@pytest.fixture(scope="module")
def mixed(games: tuple[Labelled, Labelled]) -> Detector:
    return fitted("ensemble", games[0], members=MIXED)


def test_a_member_that_reads_the_game_outweighs_one_that_reads_statements(
    mixed: Detector, games: tuple[Labelled, Labelled]
) -> None:
    assert isinstance(mixed, EnsembleDetector)
    whole, alone = mixed._players.weights
    assert whole > 2 * alone
    assert any("linear" in note for note in mixed.notes)
    test = games[1]
    linear = fitted("linear", games[0], strength=1.0)
    assert roc_auc_score(test.y, after_the_game(mixed, test.examples)) > 0.9
    assert roc_auc_score(test.y, mixed.predict_proba(test.examples)[:, 1]) == pytest.approx(
        roc_auc_score(test.y, linear.predict_proba(test.examples)[:, 1]), abs=0.02
    )


def test_players_of_a_game_add_up_to_the_number_that_deceives(mixed: Detector) -> None:
    game, _ = habit(995, Random(1), 2)
    assert sum(mixed.predict_game(game).players.values()) == pytest.approx(2)


def test_single_statements_have_a_stack_of_their_own(corpus: Path) -> None:
    train, test = (labelled(read_statements(corpus, [split]), "claim", 0) for split in ("train", "test"))
    both = make("ensemble", TextConfig(), {"members": "tfidf:words=1;tfidf:words=0,chars=3"})
    both.fit(train.examples, train.y, train.groups)
    score = both.predict_proba(test.examples)[:, 1]
    assert roc_auc_score(test.y, score) > 0.7
    assert np.isnan(after_the_game(both, test.examples)).all()
    asked = [replace(one, target="role") for one in test.examples]
    assert not np.array_equal(both.predict_proba(asked)[:, 1], score)


def test_a_saved_ensemble_is_its_members_in_folders_and_is_no_less_careful(mixed: Detector, tmp_path: Path) -> None:
    mixed.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"1-linear", "2-tfidf", "stacks.json"}
    given = mixed.options.model_dump()
    game, _ = habit(994, Random(2), 2)
    loaded = load_parts("ensemble", tmp_path, mixed.text, given)
    assert loaded.predict_game(game) == mixed.predict_game(game)
    for members in ("linear,ensemble", "../linear,tfidf", "tfidf,linear"):
        with pytest.raises(BadData):
            load_parts("ensemble", tmp_path, mixed.text, given | {"members": members})
    stacks = json.loads((tmp_path / "stacks.json").read_text(encoding="utf-8"))
    for weights in ([1.0], [1.0, -1.0], ["a", 1.0], [1.0, 1e999]):
        odd = stacks | {"players": {"weights": weights, "offset": 0}}
        (tmp_path / "stacks.json").write_text(json.dumps(odd), encoding="utf-8")
        with pytest.raises(BadData, match=r"stacks\.json"):
            load_parts("ensemble", tmp_path, mixed.text, given)


def test_members_are_weighed_in_games_of_rules_that_they_did_not_learn() -> None:
    """A word tells who deceives in each of three games, and another word in each: worth much at home, nothing away.
    Who accuses back is worth the same everywhere.
    """
    told: list[tuple[Transcript, set[str]]] = []
    rng = Random(4)
    for rules, words in {
        "north": ("velvet", "copper"),
        "south": ("copper", "silver"),
        "west": ("silver", "velvet"),
    }.items():
        for number in range(50):
            game, lying = habit(number, rng, 1)
            turns = [replace(turn, text=f"{turn.text} {words[turn.player not in lying]}") for turn in game.turns]
            told.append((replace(game, game_id=f"{rules}{number}", rules=rules, turns=tuple(turns)), lying))
    away = fitted("ensemble", of_games(told), members="tfidf;table:strength=1")
    home = fitted("ensemble", of_games(told[:50]), members="tfidf;table:strength=1")
    assert isinstance(away, EnsembleDetector)
    assert isinstance(home, EnsembleDetector)
    assert away._players.weights[0] < away._players.weights[1]
    assert home._players.weights[0] > home._players.weights[1]


def test_a_fold_of_few_games_counts_as_much_as_one_of_many() -> None:
    """The first member is right in the many games of one fold, the second in the few of the other."""

    def answers(games: int, right: int) -> MemberLogits:
        lies = np.tile([True, False, False], games)
        logits = np.zeros((3 * games, 2))
        logits[:, right] = np.where(lies, 2.0, -2.0)
        logits[:, 1 - right] = np.where(np.roll(lies, 1), 2.0, -2.0)
        tables = SeatedCandidates.of([3] * games, [1] * games)
        return MemberLogits(logits, tables, lies, ~lies)

    first, second = Stack.fitted([answers(400, 0), answers(20, 1)], 2).weights
    assert first == pytest.approx(second, abs=1e-3)
