"""What nobody chose is told from what somebody chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from liescope.common.errors import UsageError
from liescope.games.core import Ask, AskKind, Event, EventKind, Game, Reply
from liescope.games.game_registry import find_game
from liescope.games.mafia.rules import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from liescope.games.record import DRAWN, not_chosen
from liescope.games.session import drive, start
from liescope.games.werewolf.rules import Werewolf, WerewolfSpec

WOLVES = WerewolfSpec(villagers=5, doctors=2, werewolves=3, seers=1, debate_turns=0, defence_turns=0, days=3)
GAMES: dict[str, Callable[[int], Game]] = {
    "mini-mafia": lambda seed: MiniMafia(MINI_MAFIA, seed, "m"),
    "mafia": lambda seed: Mafia(MafiaSpec(mafiosos=2, detectives=2, villagers=5), seed, "m"),
    "werewolf": lambda seed: Werewolf(WOLVES, seed, "w"),
}


def played(make: Callable[[int], Game], seed: int, bad: float) -> list[Event]:
    random = Random(seed)

    def answer(ask: Ask, _view: Sequence[Event]) -> Reply:
        if random.random() < bad:
            return Reply(problem="unreadable")
        return Reply(choice=random.choice(ask.options) if ask.options else None, text="Hm.")

    session = start(lambda: make(seed))
    drive(session, answer)
    return session.events


def test_no_act_of_a_scripted_night_was_chosen() -> None:
    for seed in range(5):
        events = played(GAMES["mini-mafia"], seed, 0.0)
        acts = [event for event in events if event.kind in (EventKind.KILL, EventKind.INVESTIGATION)]
        assert len(acts) == 2
        assert not_chosen(events) == {event.index: DRAWN for event in acts}


def test_what_players_answered_readably_was_chosen_and_an_unusable_reply_keeps_its_reason() -> None:
    for seed in range(10):
        assert not_chosen(played(GAMES["mafia"], seed, 0.0)) == {}
    assert set(not_chosen(played(GAMES["mafia"], 1, 1.0)).values()) == {"unreadable"}


PACK = WerewolfSpec(
    villagers=5,
    doctors=0,
    werewolves=3,
    jesters=0,
    roles=("villager",) * 5 + ("werewolf",) * 3,
    debate_turns=0,
    defence_turns=0,
)


def first_kill(seed: int, proposals: Callable[[Ask], str]) -> tuple[Sequence[Event], Event]:
    """The events of a first night in which the werewolves Frank, Grace and Henry propose so, "" for what cannot be
    read; and its kill.
    """
    session = start(lambda: Werewolf(PACK, seed, "w"))
    while session.game.day < 2 and session.asks:
        session.send(
            tuple(
                Reply(choice=proposals(ask) or None)
                if ask.kind is AskKind.KILL
                else Reply(choice=ask.options[0], text="Hm.")
                for ask in session.asks
            )
        )
    return session.events, next(event for event in session.events if event.kind is EventKind.KILL)


def test_a_victim_that_no_readable_proposal_of_the_last_round_names_is_nobodys_choice() -> None:
    by_chance, chosen = 0, 0
    for seed in range(40):
        events, kill = first_kill(seed, lambda ask: "Bob" if ask.seat == "Henry" else "")
        last = [event.target for event in events if event.kind is EventKind.PROPOSAL][-3:]
        agreed = last.count(kill.target) > 1
        assert bool(kill.data.get("drawn")) == (not agreed or kill.target != "Bob")
        assert (kill.index in not_chosen(events)) == bool(kill.data.get("drawn"))
        by_chance += agreed and kill.target != "Bob"
        chosen += agreed and kill.target == "Bob"
    assert by_chance  # two drawn proposals that happen to agree
    assert chosen


@pytest.mark.parametrize(
    ("proposals", "chosen"),
    [
        ({"Frank": "Alice", "Grace": "Alice", "Henry": "Bob"}, True),  # two of three
        ({"Frank": "Alice", "Grace": "Bob", "Henry": "Charlie"}, False),  # a tie is drawn
        ({}, False),  # nobody could be read
    ],
)
def test_a_victim_is_chosen_if_it_was_agreed_on_readably(proposals: dict[str, str], chosen: bool) -> None:
    for seed in range(10):
        events, kill = first_kill(seed, lambda ask: proposals.get(ask.seat, ""))
        assert (kill.index not in not_chosen(events)) == chosen
        if not chosen:  # nor is what was proposed in the first round a choice of the last
            events, kill = first_kill(seed, lambda ask: proposals.get(ask.seat, "") if ask.round == 1 else "")
            assert kill.index in not_chosen(events)


def test_the_drawn_night_spares_whom_it_is_told_to_while_there_is_another_villager() -> None:
    killed = {}
    for spared in ((), ("Alice",), ("Alice", "Bob", "Charlie", "Diana")):
        spec = MINI_MAFIA.replaced(spared=spared)
        games = [played(lambda seed, spec=spec: MiniMafia(spec, seed, "m"), seed, 0.0) for seed in range(60)]
        deaths = [next(event.target for event in game if event.kind is EventKind.DEATH) for game in games]
        killed[len(spared)] = deaths.count("Alice")
        assert all(len([event for event in game if event.kind is EventKind.DEATH]) == 1 for game in games)
    assert killed[1] == 0
    assert min(killed[0], killed[4]) > 5


def test_nobody_can_be_spared_by_a_mafioso_who_chooses_nor_who_is_not_there() -> None:
    with pytest.raises(UsageError, match="a mafioso chooses"):
        Mafia(MafiaSpec(spared=("Alice",)), 0, "m")
    with pytest.raises(UsageError, match="nobody in this game is called 'Zoe'"):
        find_game("mini-mafia").resolve({"spared": "Alice, Zoe"})
    assert find_game("mini-mafia").resolve({"spared": "Alice, Bob"}).spared == ("Alice", "Bob")
