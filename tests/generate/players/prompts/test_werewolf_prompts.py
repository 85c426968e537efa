"""Werewolf's prompts: what all seats share comes first, and no seat is told what another one holds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import pytest

from liescope.common.errors import BadData
from liescope.games import (
    Ask,
    AskKind,
    Event,
    EventKind,
    Game,
    Mafia,
    MafiaSpec,
    Reply,
    Werewolf,
    WerewolfSpec,
    drive,
    start,
)
from liescope.generate.players.prompts.render import Prompt
from tests.generate.players.prompts.random_games import SHORT, TABLES, play, prompts

GAMES = 24
ROLE = re.compile(r"mafios\w+|detective|villager|doctor|seer|werewol\w+|jester", re.IGNORECASE)


def may_know(game: Game, seat: str) -> dict[str, str]:
    """Whose role a seat is ever told, and as what."""
    known = {seat: game.roles[seat]}
    evil = [name for name in game.names if game.roles[name] in ("werewolf", "mafioso")]
    if seat in evil:
        known |= {name: game.roles[name] for name in evil}
    for event in game.events:
        if event.kind is EventKind.INVESTIGATION and event.actor == seat:
            known[event.target or ""] = str(event.data["role"])
    return known


def told(prompt: Prompt) -> list[str]:
    """The lines behind the rules."""
    return re.split(r"# What has happened\n|# Your memory\n", prompt.text)[1].splitlines()


def test_no_prompt_of_24_games_holds_what_its_seat_may_not_know() -> None:
    checked = 0
    for seed in range(GAMES):
        searched: set[tuple[str, str]] = set()
        for shown in play(seed):
            game, ask, text = shown.game, shown.ask, shown.prompt.text
            checked += 1
            assert "SECRET" not in text
            assert "0.123" not in text
            assert "0.789" not in text
            known = may_know(game, ask.seat)
            role = game.roles[ask.seat]
            for line in told(shown.prompt):
                if line.startswith("#") or (ask.seat, line) in searched:
                    continue
                searched.add((ask.seat, line))
                roles = {word.lower().replace("wolves", "wolf").removesuffix("s") for word in ROLE.findall(line)}
                named = {name for name in game.names if re.search(rf"\b{name}\b", line)}
                if roles and not line.startswith("The game is over") and "werewolves attacked" not in line:
                    assert named <= known.keys(), line
                    allowed = {word for name in named for word in known[name].split()}
                    assert not named or roles <= allowed, line
                if role != "werewolf":
                    assert not re.search(r"propos|attacked", line), line
                if role != "doctor":
                    assert "protected" not in line
                if game.name == "mafia" and role != "mafioso":
                    assert not re.search(r"decides? the mafia's kill|\w+ killed \w+", line), line
                assert not re.search(r"\bbid\w* (?:of )?\d", line), line
                if "OWN lesson" in line:
                    assert role == "jester"
    assert checked > 2_400


def test_suspicions_are_shown_to_their_own_seat_alone_and_only_before_it_votes() -> None:
    shown = [one for seed in range(3, 21, len(TABLES)) for one in play(seed)]
    lines = [(one, line) for one in shown for line in told(one.prompt) if line.startswith("How suspicious")]
    assert lines
    for one, line in lines:
        assert one.ask.kind in (AskKind.VOTE, AskKind.EXPLAINED_VOTE)
        events = [e for e in one.game.events if e.kind is EventKind.SUSPICION and e.actor == one.ask.seat]
        numbers = {name: float(value) for name, value in re.findall(r"(\w+) (\d\.\d\d)", line)}
        assert numbers in [event.data["suspicion"] for event in events]


def rules(**table: int) -> str:
    spec = WerewolfSpec().replaced(**table)
    session = start(lambda: Werewolf(spec, 1, "g"))
    ask = session.asks[0]
    return prompts("werewolf").render(ask, session.game.view(ask.seat)).stem


def test_the_rules_speak_of_the_roles_that_are_dealt() -> None:
    triadic, dyadic = rules(), rules(villagers=7, jesters=0)
    assert "6 villagers, 1 doctor, 2 werewolves and 1 jester" in triadic
    assert "jester wins only by being exiled" in triadic
    assert "jester" not in dyadic
    assert "seer" not in triadic
    assert "seer learns" in rules(seers=1)
    assert "doctor" not in rules(doctors=0)
    assert "each other" not in rules(werewolves=1).partition("# How to answer")[0]


def private(spec: WerewolfSpec, seed: int = 1) -> dict[str, list[str]]:
    """What each role reads in its private part, in any question while the game is on."""
    found: defaultdict[str, list[str]] = defaultdict(list)

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        found[session.game.roles[ask.seat]].append(prompts("werewolf").render(ask, view).question)
        return Reply(choice=ask.options[-1] if ask.options else None, text="Hm.", form={})

    session = start(lambda: Werewolf(spec, seed, "g"))
    drive(session, answer)
    return found


def test_every_role_reads_how_to_play_it_and_no_other_role_does() -> None:
    found = private(SHORT.replaced(seers=1))
    advice = {
        role: {text.partition("# How to play your role\n")[2].partition("\n\n#")[0] for text in texts}
        for role, texts in found.items()
    }
    assert all(len(texts) == 1 for texts in advice.values()), advice
    assert len({next(iter(texts)) for texts in advice.values()}) == 5
    assert all("How to play your role" not in rules(jesters=jesters) for jesters in (0, 1))


def test_all_but_the_jester_are_warned_of_the_jester_and_nobody_where_there_is_none() -> None:
    for role, texts in private(SHORT).items():
        assert all(("Beware of the jester" in text) == (role != "jester") for text in texts)
    for texts in private(SHORT.replaced(villagers=7, jesters=0)).values():
        assert not any("jester" in text for text in texts)


def test_a_question_that_a_game_has_not_is_refused_by_name() -> None:
    session = start(lambda: Mafia(MafiaSpec(), 1, "g"))
    ask = replace(session.asks[0], kind=AskKind.BID)
    with pytest.raises(BadData, match="no question for bid"):
        prompts("mafia").render(ask, session.game.view(ask.seat))
