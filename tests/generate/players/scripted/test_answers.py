"""What every answer of a scripted player keeps to, at any table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from liescope.games.core import ASSESSMENTS, CHOICES, Ask, AskKind, Event, EventKind, Phase, Reply
from liescope.games.game_registry import find_game
from liescope.games.mafia.rules import MINI_MAFIA, Mafia, MafiaSpec
from liescope.games.script.hearing import read
from liescope.games.script.persona import parse_spec
from liescope.games.session import drive, start
from liescope.games.taxonomy import DeceptionType
from liescope.games.werewolf.rules import DYADIC, TRIADIC, WerewolfSpec
from liescope.generate.players.scripted import ScriptedPlayer

Play = Callable[..., Any]
Answer = Callable[[ScriptedPlayer, Ask, Sequence[Event]], Reply]
Player = Callable[[str], ScriptedPlayer]


MAFIA = {"mafioso": "bold", "detective": "steady", "villager": "novice"}
WOLVES = {"werewolf": "bold", "villager": "steady", "doctor": "novice", "jester": "steady?j=2", "seer": "bold"}
SEERS = TRIADIC.replaced(seers=1, villagers=5)
TABLES: dict[str, MafiaSpec | WerewolfSpec] = {
    "mini": MINI_MAFIA,
    "two mafiosos": MafiaSpec(mafiosos=2, detectives=1, villagers=4),
    "three mafiosos, two detectives": MafiaSpec(mafiosos=3, detectives=2, villagers=7),
    "no detective": MafiaSpec(mafiosos=2, detectives=0, villagers=4),
    "no villager": MafiaSpec(mafiosos=1, detectives=2, villagers=0),
    "two players": MafiaSpec(mafiosos=1, detectives=0, villagers=1),
    "eight rounds": MINI_MAFIA.replaced(rounds=8),
    "open night, both discovered": MafiaSpec(
        mafiosos=2, detectives=2, villagers=4, mutual_discovery=True, reveal_dead=True
    ),
    "short messages": MINI_MAFIA.replaced(message_limit=40),
    "strange names": MINI_MAFIA.replaced(names=("Dr. O'Neil (x)", "李明", "Anna Ann", "Ann")),
    "names that are words": MINI_MAFIA.replaced(names=("Mafia", "The", "I", "{x}")),
    "triadic": TRIADIC,
    "dyadic": DYADIC,
    "a seer": SEERS,
    "three wolves, two of each other": WerewolfSpec(
        villagers=2, doctors=2, werewolves=3, jesters=2, seers=2, debate_turns=4
    ),
    "three players": WerewolfSpec(villagers=2, doctors=0, werewolves=1, jesters=0),
    "no talk": TRIADIC.replaced(debate_turns=0, defence_turns=0),
    "wolves of few words": TRIADIC.replaced(message_limit=30),
    "wolves with names that are words": WerewolfSpec(
        villagers=2, doctors=1, werewolves=1, jesters=1, names=("Werewolf", "The", "I", "{x}", "李明")
    ),
}


@pytest.mark.parametrize("table", TABLES)
def test_every_reply_is_usable_at_every_table(play: Play, table: str) -> None:
    spec = TABLES[table]
    for seed in range(2 if isinstance(spec, WerewolfSpec) else 6):
        played = play(seed, spec=spec, assess=True, **MAFIA | WOLVES)
        assert played.record.outcome is not None
        assert not [event for event in played.game.events if event.fallback]
        for ask, _, reply in played.views:
            if ask.kind in (AskKind.SPEAK, AskKind.EXPLAINED_VOTE):
                assert reply.text
                assert DeceptionType(reply.private["planted_type"])
                assert reply.private["intent"]
            if ask.kind in ASSESSMENTS:
                assert reply.assessment is not None
            elif ask.kind in CHOICES:
                assert reply.choice in ask.options


@pytest.mark.parametrize(
    ("spec", "evil", "players"),
    [(MafiaSpec(mafiosos=3, detectives=1, villagers=6), "mafioso", MAFIA), (SEERS, "werewolf", WOLVES)],
)
def test_the_evil_spare_each_other_and_who_may_look_uses_what_it_found(
    play: Play, spec: Any, evil: str, players: dict[str, str]
) -> None:
    """Those who look vote for the guilty that they found, and look at nobody twice while others are unknown."""
    told = 0
    for seed in range(15):
        played = play(seed, spec=spec, **players)
        bad = {name for name, role in played.game.roles.items() if role == evil}
        for ask, view, reply in played.views:
            votes = ask.kind in (AskKind.VOTE, AskKind.EXPLAINED_VOTE)
            if ask.seat in bad and ask.kind is AskKind.SPEAK:
                assert not {name for name, _ in read(reply.text or "", played.game.names).accused} & bad, reply.text
            elif ask.seat in bad and votes and set(ask.options) - bad:
                assert reply.choice not in bad
            if played.game.roles[ask.seat] not in ("detective", "seer"):
                continue
            looked = {e.target: e.data["role"] for e in view if e.kind is EventKind.INVESTIGATION}
            culprits = {name for name, role in looked.items() if role == evil} & set(ask.options)
            if votes and culprits:
                assert reply.choice in culprits
            elif ask.kind is AskKind.INVESTIGATE and set(ask.options) - set(looked):
                assert reply.choice not in looked
            told += "/guilty" in reply.private.get("intent", "")
    assert told >= 5


def test_other_games_seats_and_players_draw_anew(play: Play, player: Player, answer: Answer) -> None:
    ask, view, reply = play(1).views[0]
    others = {answer(player("steady"), replace(ask, game=f"g{n}"), view).text for n in range(20)}
    assert len(others) > 15
    assert answer(player("steady?v=1.71"), ask, view) != reply


def test_only_public_text_persuades(player: Player, answer: Answer, play: Play) -> None:
    """Two worlds whose mafioso and detective are exchanged, but all say the same: the villager votes the same."""
    names = ("Alice", "Bob", "Charlie", "Diana")
    villager = player("steady?v=2")
    for seed in range(40):
        texts: dict[tuple[int, str], str] = {}
        votes = []
        for roles in (
            ("mafioso", "detective", "villager", "villager"),
            ("detective", "mafioso", "villager", "villager"),
        ):
            game = Mafia(MINI_MAFIA.replaced(names=names, roles=roles), seed, f"world-{seed}")
            session = start(lambda game=game: game)
            speakers = {"mafioso": player("bold"), "detective": player("novice"), "villager": villager}
            while session.asks[0].kind is AskKind.SPEAK:
                (ask,) = session.asks
                place = ask.step, ask.seat
                if place not in texts:
                    texts[place] = answer(speakers[game.roles[ask.seat]], ask, game.view(ask.seat)).text or ""
                session.send((Reply(text=texts[place]),))
            ask = next(ask for ask in session.asks if game.roles[ask.seat] == "villager")
            votes.append(answer(villager, ask, game.view(ask.seat)))
        assert votes[0] == votes[1]


def test_words_alone_move_a_villager(player: Player, answer: Answer) -> None:
    """The same table and the same draws; only what was said differs."""

    def votes(alice: str, bob: str) -> int:
        count = 0
        for number in range(200):
            game = Mafia(
                MINI_MAFIA.replaced(roles=("mafioso", "detective", "villager", "villager")), number, f"words-{number}"
            )
            session = start(lambda game=game: game)
            while session.asks[0].kind is AskKind.SPEAK:
                said = {"Alice": alice, "Bob": bob}.get(session.asks[0].seat, "Let's talk.")
                session.send((Reply(text=said),))
            ask = next(ask for ask in session.asks if ask.seat in ("Charlie", "Diana"))
            count += answer(player("steady"), ask, game.view(ask.seat)).choice == "Alice"
        return count

    firm = "I'm certain: {} is the mafioso. The evidence is solid and the facts are on the record."
    shaky = "Um, I think maybe {} is the mafioso? I'm not sure, it's a hunch."
    assert votes(shaky.format("Bob"), firm.format("Alice")) > 160
    assert votes(firm.format("Bob"), shaky.format("Alice")) < 40
    assert votes("", firm.format("Alice")) > 140


def test_a_statement_outside_the_view_is_not_rated(player: Player, answer: Answer, play: Play) -> None:
    ask, view, _ = play(0, assess=True).views[1]
    lost = Ask(ask.game, ask.step, ask.seat, AskKind.PEER_ASSESSMENT, 1, Phase.DISCUSSION, about=999)
    reply = answer(player("bold"), lost, view)
    assert reply.assessment is None
    assert reply.problem


Answered = tuple[ScriptedPlayer, Ask, tuple[Event, ...], Reply]


def _played(answer: Answer, game: str, profile: str, seed: int) -> list[Answered]:
    """Every answer of a game; all games have the same id."""
    player = ScriptedPlayer(*parse_spec(profile), game)
    playable = find_game(game)
    answered: list[Answered] = []

    def keep(ask: Ask, view: Sequence[Event]) -> Reply:
        reply = answer(player, ask, view)
        answered.append((player, ask, tuple(view), reply))
        return reply

    spec = playable.resolve({"assess": True, "message_limit": 60})
    drive(start(lambda: playable.make(spec, seed, "one id")), keep)
    return answered


@pytest.mark.parametrize("game", ["mini-mafia", "mafia", "werewolf", "one-night-werewolf"])
def test_answers_are_the_same_in_any_order_and_between_games_of_one_id(game: str, answer: Answer) -> None:
    answered = [
        *_played(answer, game, "bold", 1),
        *_played(answer, game, "steady", 2),
        *_played(answer, game, "bold", 3),
    ]
    Random(5).shuffle(answered)
    for player, ask, view, reply in answered[:300]:
        assert answer(player, ask, list(view)) == reply
