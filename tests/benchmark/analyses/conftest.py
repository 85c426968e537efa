"""Random games with all that an analysis may read, and games played to a script."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from zlib import crc32

import pytest

from liescope.benchmark.analyses.frames import Frames, load_games
from liescope.games import drive, record, start
from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.record import GameRecord, Source
from liescope.games.werewolf.rules import DOCTOR, JESTER, VILLAGER, WEREWOLF, DyadicWerewolf, Werewolf, WerewolfSpec
from liescope.generate.importers import import_games
from tests.benchmark.analyses.made import load_frames
from tests.benchmark.random_play import answers, judged, mini_mafia

GAMES_PER_CELL = 7


def herding(seed: int) -> Callable[[Ask, Sequence[Event]], Reply]:
    """A random player that mostly votes with the others, so that somebody is exiled on many a day."""
    random = Random(seed)
    anything = answers(random)

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        if ask.kind in (AskKind.VOTE, AskKind.EXPLAINED_VOTE) and random.random() < 0.8:
            return Reply(choice=min(ask.options, key=lambda name: crc32(f"{seed} {ask.day} {name}".encode())), text="")
        return anything(ask, view)

    return answer


def _played(model: str, learning: bool, turn: int, jester: bool = True) -> GameRecord:
    spec = WerewolfSpec(assess=True, learning=learning and jester, debate_turns=5, defence_turns=3)
    if not jester:
        spec = spec.replaced(villagers=7, jesters=0)
    seed = crc32(f"{model} {learning} {turn} {jester}".encode())
    maker = Werewolf if jester else DyadicWerewolf
    session = start(lambda: maker(spec, seed, f"{maker.name}-{model}-{learning}-{turn}"))
    drive(session, herding(seed))
    players = dict.fromkeys(session.game.names, (model, Source.SCRIPTED))
    meta = {"learning": learning, "turn": turn, "seating": "shuffled", "lessons": []}
    return record(session.game, session.outcome, players, model, meta=meta)


@pytest.fixture(scope="session")
def records() -> tuple[GameRecord, ...]:
    """Triadic games of two models, with learning and without, one of them judged; their controls; Mini-Mafia."""
    cells = [(model, learning) for model in ("alpha", "beta") for learning in (False, True)]
    wolves = [_played(model, learning, turn) for model, learning in cells for turn in range(GAMES_PER_CELL)]
    controls = [_played("alpha", False, turn, jester=False) for turn in range(GAMES_PER_CELL)]
    return (judged(wolves[0]), *wolves[1:], *controls, *(mini_mafia("alpha", seed) for seed in range(6)))


@pytest.fixture(scope="session")
def frames(records: tuple[GameRecord, ...]) -> Frames:
    return load_frames(records)


@pytest.fixture(scope="session")
def mini_mafia_frames(records: tuple[GameRecord, ...]) -> Frames:
    return load_frames(one for one in records if one.game == "mini-mafia")


ROLES = (WEREWOLF, WEREWOLF, JESTER, DOCTOR, *[VILLAGER] * 6)
"""Of a staged game: Alice and Bob are werewolves, Charlie is the jester, Diana the doctor."""

Staged = Callable[..., GameRecord]


@pytest.fixture(scope="session")
def staged() -> Staged:
    """A game without talk whose nights and votes are given.

    victims: whom the werewolves choose, night by night. exiles: whom the village votes for, day by day, "" where every
    vote goes elsewhere; loyal: the werewolves do not join in. protect: whom the doctor protects every night.
    """

    def staged(
        victims: Sequence[str],
        exiles: Sequence[str],
        loyal: bool = False,
        protect: str = "Diana",
        game_id: str = "staged",
        **meta: object,
    ) -> GameRecord:
        spec = WerewolfSpec(roles=ROLES, debate_turns=0, defence_turns=0)
        session = start(lambda: Werewolf(spec, 1, game_id))

        def answer(ask: Ask, view: Sequence[Event]) -> Reply:
            if ask.kind is AskKind.KILL:
                return Reply(choice=victims[ask.day - 1])
            if ask.kind is AskKind.PROTECT:
                return Reply(choice=protect)
            exile = exiles[ask.day - 1] if ask.day <= len(exiles) else ""
            joins = exile in ask.options and not (loyal and ask.seat in ("Alice", "Bob"))
            others = [name for name in ask.options if name != exile]
            scattered = others[sorted(session.game.alive).index(ask.seat) % len(others)]
            return Reply(choice=exile if joins else scattered, text="")

        drive(session, answer)
        players = dict.fromkeys(session.game.names, ("model", Source.SCRIPTED))
        return record(session.game, session.outcome, players, meta={"seating": "fixed", **meta})

    return staged


@pytest.fixture(scope="session")
def published(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Frames:
    """One in eight of the games that the authors of the Mini-Mafia paper published."""
    source, folder = shared_data / "mini_mafia", tmp_path_factory.mktemp("published")
    with gzip.open(source / "games.jsonl.gz", "rt", encoding="utf-8") as lines:
        (folder / "games.jsonl").write_text("".join(islice(lines, 0, None, 8)), encoding="utf-8")
    import_games("mini-mafia", folder / "games.jsonl", out=folder / "run", batches=source / "batches.jsonl.gz")
    return load_games([folder / "run"]).frames
