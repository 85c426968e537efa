"""Detectors, controls and observers on a corpus of Werewolf, alone and beside Mini-Mafia."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

from liescope.detectors.examples import TARGETS
from liescope.detectors.study.beside_players import DETECTIVE_CLAIM
from liescope.detectors.study.evaluate import evaluate
from liescope.detectors.training import train
from liescope.games.core import ASSESSMENTS, Ask, Assessment, Game, Reply
from liescope.games.mafia.rules import MINI_MAFIA, MafiaSpec, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import start
from liescope.games.werewolf.rules import Werewolf, WerewolfSpec
from tests.generate.corpus.games import pack

LIES = ("I'm just a villager, trust me.", "I am the doctor, so calm down.", "Why rush? I'm innocent.")
TRUTHS = ("I'm only a villager and I want evidence.", "Look at the votes.", "I'm not a werewolf.")


def answer(game: Game, draw: Random, ask: Ask) -> Reply:
    """Deceivers lie in words of their own; they admit it, and observers see through them more often than not."""
    if ask.kind in ASSESSMENTS:
        speaker = game.events[ask.about or 0].actor or ""
        lies = game.deceives(game.roles[speaker])
        flag = draw.random() < (0.9 if lies else 0.1)
        return Reply(assessment=Assessment(flag, "fabrication" if flag else "none", 0.8, 0.7 if flag else 0.3))
    text = draw.choice(LIES if game.deceives(game.roles[ask.seat]) else TRUTHS)
    return Reply(choice=draw.choice(ask.options) if ask.options else None, text=text)


def play(game: Game) -> GameRecord:
    draw = Random(game.seed)
    session = start(lambda: game)
    while session.asks:
        session.send(tuple(answer(game, draw, ask) for ask in session.asks))
    return record(game, session.outcome, dict.fromkeys(game.names, ("a model", Source.MODEL)))


def wolves(number: int) -> GameRecord:
    spec = WerewolfSpec(villagers=3, werewolves=1, debate_turns=3, defence_turns=2, days=1, assess=True)
    return play(Werewolf(spec, number, f"wolves-{number}"))


def mini(number: int) -> GameRecord:
    table = {"scripted_night": True, "days": 1, "names": MINI_MAFIA.names}
    return play(MiniMafia(MafiaSpec(mafiosos=1, detectives=1, villagers=2, **table), number, f"mini-{number}"))


@pytest.fixture(scope="module")
def werewolf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("corpus") / "wolves"
    pack((("run", wolves(number), []) for number in range(60)), out)
    return out


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("corpus") / "mixed"
    games = [*(wolves(number) for number in range(40)), *(mini(number) for number in range(40))]
    pack((("run", game, []) for game in games), out)
    return out


# No promise is made here, no source labels what is said, and nobody is asked what they believe.
@pytest.mark.parametrize("target", [target for target in TARGETS if target not in ("promise", "gold", "belief")])
def test_every_target_can_be_trained_on(werewolf: Path, tmp_path: Path, target: str) -> None:
    trained = train("tfidf", werewolf, out=tmp_path / target, target=target, mask_role_words=True, folds=2)
    auroc = next(row.value for row in trained.rows if row.metric == "auroc")
    assert auroc > 0.7


def test_observers_stand_beside_a_detector_and_mafias_comparisons_stay_away(werewolf: Path, tmp_path: Path) -> None:
    train("tfidf", werewolf, out=tmp_path / "model", target="role", folds=2)
    done = evaluate([tmp_path / "model"], werewolf, split="test", observers=True)
    rated = {row.where for row in done.rows if row.scorer.startswith("observers:")}
    assert rated == {"test:rated-by-villagers", "test:rated-by-all", "test:voted-on"}
    assert DETECTIVE_CLAIM not in {row.scorer for row in done.rows}
    assert not any("Mini-Mafia" in note for note in done.notes)


def test_in_a_mixed_corpus_the_villagers_seat_is_mini_mafias_alone(mixed: Path, tmp_path: Path) -> None:
    train("tfidf", mixed, out=tmp_path / "model", target="role", folds=2)
    done = evaluate([tmp_path / "model"], mixed, split="test", observers=True)
    seat = [row for row in done.rows if row.metric == "names_mafioso"]
    assert {row.scorer for row in seat} >= {"model", DETECTIVE_CLAIM}
    here = done.statements.filter((pl.col("game") == "mini-mafia") & (pl.col("split") == "test"))
    assert {row.games for row in seat} == {here["game_id"].n_unique()}
