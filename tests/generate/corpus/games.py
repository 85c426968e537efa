"""Games for the tests of the corpus, really played by hashed answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from liescope.data_cards.tables import TABLES
from liescope.games.core import Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.mafia.rules import MINI_MAFIA, MiniMafia
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import GameRecord, Source, Status, record
from liescope.games.session import drive, start
from liescope.games.taxonomy import DeceptionType
from liescope.games.werewolf.rules import TRIADIC, Werewolf
from liescope.generate.corpus.build import CorpusWanted
from liescope.generate.corpus.corpus_facts import CorpusFacts
from liescope.generate.corpus.write import Games

TEXTS = (
    "I investigated Bob and he is the mafioso.",
    "I am the detective, believe me.",
    "I am innocent; I am just a villager.",
    "Charlie is innocent.",
    "I will vote for Diana.",
    "Who knows? Let us hear everyone out.",
    "",
)
WOLF_TEXTS = (
    "I am the doctor and I protected Bob last night.",
    "Bob is a werewolf.",
    "I'm just a villager.",
    "Charlie is the jester, don't exile Charlie!",
    "I am not a wolf. I'm voting for Diana.",
    "Somebody here is acting like a wolf.",
)
LEARNED = {
    "to_do": ("vote like a wolf would", "contradict yourself"),
    "winning_tactic": ("let them think I am a wolf",),
}
MODELS = ("model-a", "model-b", "model-c")


def _answer(ask: Ask, view: Sequence[Event]) -> Reply:
    """A reply that depends on the ask alone; one in nine cannot be used."""
    draw = int.from_bytes(sha256(f"{ask.game} {ask.step} {ask.seat}".encode()).digest()[:4])
    if draw % 9 == 0:
        return Reply(problem="unreadable", raw="???")
    if ask.kind in (AskKind.SELF_ASSESSMENT, AskKind.PEER_ASSESSMENT):
        types = list(DeceptionType)
        flag = bool(draw % 2)
        kind = types[1 + draw % 7] if flag else types[0]
        suspicion = draw % 100 / 100 if ask.kind is AskKind.PEER_ASSESSMENT else None
        return Reply(assessment=Assessment(flag, kind.value, draw % 50 / 50, suspicion, "it seemed so"))
    if ask.kind is AskKind.SPEAK:
        texts = WOLF_TEXTS if ask.game.startswith("wolves") else TEXTS
        return Reply(text=texts[draw % len(texts)])
    if ask.kind is AskKind.REFLECTION:
        return Reply(form=LEARNED)
    text = WOLF_TEXTS[draw % len(WOLF_TEXTS)] if ask.kind is AskKind.EXPLAINED_VOTE else None
    return Reply(choice=ask.options[draw % len(ask.options)], text=text)


@cache
def play(number: int, assess: bool = True, models: Sequence[str] = MODELS, said: str | None = None) -> GameRecord:
    """One finished Mini-Mafia game. said: a text that replaces every statement's."""
    game_id = f"game-{number:05}"
    session = start(lambda: MiniMafia(MINI_MAFIA.replaced(assess=assess, message_limit=None), number, game_id))
    drive(session, _answer)
    drawn = {role: models[(number + place) % len(models)] for place, role in enumerate(MINI_MAFIA.composition())}
    players = {name: (drawn[role], Source.MODEL) for name, role in session.game.roles.items()}
    game = record(session.game, session.outcome, players, cell=f"cell-{number % 3}")
    if said is None:
        return game
    return replace(game, events=tuple(replace(e, text=said) if e.text else e for e in game.events))


@cache
def wolves(number: int, models: Sequence[str] = MODELS, judged: bool = False) -> GameRecord:
    """One finished game of Werewolf, fully assessed, by a jester that learns. judged: and rated again by a judge."""
    spec = TRIADIC.replaced(assess=True, learning=True, days=3)
    session = start(lambda: Werewolf(spec, number, f"wolves-{number:05}"))
    drive(session, _answer)
    drawn = {role: models[(number + place) % len(models)] for place, role in enumerate(spec.composition())}
    players = {name: (drawn[role], Source.MODEL) for name, role in session.game.roles.items()}
    lessons = [
        {"kind": event.data["kind"], "text": event.text, "kept": place == 0, "nearest": 0.9 if place else None}
        for place, event in enumerate(event for event in session.events if event.kind is EventKind.LESSON)
    ]
    meta = {"learning": True, "turn": number, "seating": "balanced", "lessons": lessons}
    game = record(session.game, session.outcome, players, cell="self", meta=meta)
    return judge(game) if judged else game


def judge(game: GameRecord) -> GameRecord:
    """The game with a judge's ratings, roles and tags of lessons in the place of the players' own."""
    session = start(lambda: RatedGame(game, RatingSpec(roles=True, lessons=True), "a judge"))
    drive(session, _judgement)
    assert isinstance(session.game, RatedGame)
    return session.game.record()


def _judgement(ask: Ask, view: Sequence[Event]) -> Reply:
    if ask.kind is AskKind.NAME_ROLES:
        return Reply(form=dict.fromkeys(ask.options, ("villager",)))
    if ask.kind is AskKind.TAG_LESSON:
        return Reply(form={"categories": ("wolf_mimicry",), "order": ("2",)})
    return _answer(ask, view)


def fail(game: GameRecord, reason: str) -> GameRecord:
    """The game broken off half way."""
    half = game.events[: len(game.events) // 2]
    return replace(game, events=half, outcome=None, status=Status.FAILED, failure=reason)


def call(game: GameRecord, step: int = 0, raw: str = "yes") -> dict[str, Any]:
    said = {"game_id": game.game_id, "step": step, "seat": game.seats[0].name, "attempt": 1, "kind": "speak"}
    used = {"model": game.seats[0].model, "prompt_tokens": 12, "completion_tokens": 3, "latency_ms": 1.5}
    told = {"problem": "", "notes": ["unclosed quote"], "raw": raw, "response_id": "chatcmpl-1"}
    return said | used | told | dict.fromkeys(("cached_tokens", "cost", "served_model", "via", "reasoning"))


def stream(games: Iterable[GameRecord]) -> Iterable[tuple[str, GameRecord, list[dict[str, Any]]]]:
    """Games as `read_runs` yields them, each with one call."""
    return (("run", game, [call(game)]) for game in games)


def as_classes(row: dict[str, Any], config: str) -> dict[str, Any]:
    """A row with its labels as the numbers of their classes; nulls stay nulls."""
    classes = {field.name: field.classes for field in TABLES[config].fields if field.classes}

    def number(name: str, value: Any) -> Any:
        if name not in classes or value is None:
            return value
        return int(value) if isinstance(value, bool) else classes[name].index(value)

    return {name: number(name, value) for name, value in row.items()}


def pack(
    games: Games,
    out: Path,
    hold_out: Sequence[str] = (),
    transcript: bool = False,
    heads: Mapping[str, Any] | None = None,
) -> CorpusFacts:
    """`build` from any stream of (run name, game, calls). heads: the plan and the versions of each run, by its name."""
    known = heads or defaultdict(lambda: ({}, {}))
    wanted = CorpusWanted(out, (), known, 0, 0, frozenset(hold_out), frozenset(), transcript, ())
    return wanted.made_of(games).facts
