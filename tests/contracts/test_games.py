"""What every game, the example of the guides among them, promises to whoever drives it: asks, events, audiences."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

from liescope.common.errors import RuleViolation
from liescope.games import game_registry
from liescope.games.core import (
    ASSESSMENTS,
    CHOICES,
    FORMS,
    Ask,
    AskKind,
    Assessment,
    Event,
    EventKind,
    Game,
    Lesson,
    LessonKind,
    Phase,
    Replies,
    Reply,
)
from liescope.games.judging import JudgeSpec, Judging
from liescope.games.mafia import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from liescope.games.playable import PlayableGame
from liescope.games.record import (
    GameRecord,
    Source,
    Status,
    record,
    record_from_json,
    record_to_json,
    reply_from_json,
    reply_to_json,
)
from liescope.games.session import Session, drive, fork, replay, resume, start
from liescope.games.table_options import TableSpec
from liescope.games.table_rules import BIDS
from liescope.games.werewolf import Werewolf, WerewolfSpec

Maker = Callable[[int], Game]
Answer = Callable[[Ask, Sequence[Event]], Reply]

NAMES = ("Zoë", "Ann Lee", "明", "O'Hara", "a")
TABLES: dict[str, MafiaSpec] = {
    "mafia without a detective": MafiaSpec(2, 0, 4),
    "mafia of two": MafiaSpec(1, 0, 1),
    "mafia without villagers, scripted": MafiaSpec(1, 2, 0, scripted_night=True),
    "mafia of two days": MafiaSpec(2, 1, 5, days=2),
    "mafia assessed": MafiaSpec(2, 1, 3, rounds=1, assess=True),
    "mafia with mutual discovery": MafiaSpec(2, 2, 4, mutual_discovery=True, reveal_dead=True),
}
MINIS: dict[str, MafiaSpec] = {
    "mini-mafia of 8 rounds": replace(MINI_MAFIA, rounds=8),
    "mini-mafia with both discovered": replace(MINI_MAFIA, mutual_discovery=True, reveal_dead=True),
}
SHORT = WerewolfSpec(debate_turns=3, defence_turns=2)
LESSONS = (Lesson(LessonKind.TO_DO, "Vote late."), Lesson(LessonKind.TO_AVOID, "Do not plead."))
WOLVES: dict[str, WerewolfSpec] = {
    "werewolf with a seer": replace(SHORT, seers=1, villagers=5),
    "werewolf with three wolves and two doctors": replace(SHORT, werewolves=3, doctors=2),
    "werewolf without a doctor": replace(SHORT, doctors=0, villagers=3),
    "werewolf with one wolf": replace(SHORT, werewolves=1, villagers=2, doctors=0, jesters=0),
    "werewolf with two jesters": replace(SHORT, jesters=2, villagers=4),
    "werewolf without talk": replace(SHORT, debate_turns=0, defence_turns=0),
    "werewolf of one day": replace(SHORT, days=1),
    "werewolf assessed": replace(SHORT, villagers=4, debate_turns=2, defence_turns=1, assess=True),
    "werewolf assessed in part": replace(SHORT, assess=True, assess_share=0.3, show_suspicion=True),
    "werewolf with a jester who learns": replace(SHORT, learning=True, lessons=LESSONS),
}


def example() -> PlayableGame:
    """Two truths and a lie, of a package that is not installed here."""
    folder = str(Path(__file__).parents[2] / "examples" / "two_truths")
    sys.path.insert(0, folder)
    try:
        game = import_module("two_truths").GAME
    finally:
        sys.path.remove(folder)
    assert isinstance(game, PlayableGame)
    return game


def frozen(make: Maker, seed: int) -> GameRecord:
    """A game that was played to its end by somebody else."""
    session, _ = played(make, seed, 0.1)
    return record(session.game, session.outcome, dict.fromkeys(session.game.names, ("someone", Source.MODEL)))


def judging(make: Maker, **asked: bool | float) -> Maker:
    """The judging of a game, which is a game to whoever drives it."""
    log = lru_cache(partial(frozen, make))
    return lambda seed: Judging(log(seed), JudgeSpec(**asked), "a judge")


def variants(game: PlayableGame) -> dict[str, Maker]:
    """The tables that every registered game must play at."""
    spec, count = game.spec, len(game.spec.seats())
    names = tuple(f"{name}{number}" for number, name in enumerate(NAMES * 3))[:count]
    specs = {
        "": spec,
        " assessed": replace(spec, assess=True, assess_share=0.7, show_suspicion=True),
        " with other names, fixed roles, no limit": replace(
            spec, names=names, roles=tuple(spec.deck()), message_limit=None
        ),
    }
    return {
        f"{game.name}{words}": lambda seed, spec=spec: game.make(short(spec), seed, f"{game.name}-{seed}")
        for words, spec in specs.items()
    }


def short(spec: TableSpec) -> TableSpec:
    """The same table with less talk, where it has a limit of turns."""
    turns: dict[str, Any] = {"debate_turns": 3, "defence_turns": 2}
    return replace(spec, **{name: most for name, most in turns.items() if hasattr(spec, name)})


OURS: dict[str, Maker] = {
    **{name: make for game in game_registry.GAMES.values() for name, make in variants(game).items()},
    **{name: lambda seed, spec=spec: MiniMafia(spec, seed, f"mini-{seed}") for name, spec in MINIS.items()},
    **{name: lambda seed, spec=spec: Mafia(spec, seed, f"mafia-{seed}") for name, spec in TABLES.items()},
    **{name: lambda seed, spec=spec: Werewolf(spec, seed, f"wolf-{seed}") for name, spec in WOLVES.items()},
}
OURS |= {
    "mini-mafia judged": judging(OURS["mini-mafia assessed"], roles=True),
    "werewolf judged": judging(OURS["werewolf with a jester who learns"], roles=True, lessons=True, share=0.5),
}
GAMES = OURS | variants(example())
SEEDS = range(3)
SECRET = "SECRET"
TEXTS = ("I am the detective.", "Vote for Bob!\nNow.", "", "word " * 80, "\u202eodd\x00 \ud83d", '“quoted” "twice"')

VOTES = (AskKind.VOTE, AskKind.EXPLAINED_VOTE)

every_game = pytest.mark.parametrize("make", GAMES.values(), ids=GAMES.keys())


def usable(ask: Ask, random: Random) -> Reply:
    """A reply that the rules must take as it is, with things that nobody else may see."""
    hidden = {"notes": (f"{SECRET} note",), "raw": f"{SECRET} raw", "private": {"planted_type": f"{SECRET} type"}}
    if ask.kind is AskKind.SPEAK:
        return Reply(text=random.choice(TEXTS), **hidden)
    if ask.kind is AskKind.EXPLAINED_VOTE:
        return Reply(choice=random.choice(ask.options), text=random.choice(TEXTS), **hidden)
    if ask.kind in ASSESSMENTS:
        return Reply(assessment=Assessment(random.random() < 0.5, "omission", 0.5, 0.25, "a feeling"), **hidden)
    if ask.kind in FORMS:
        return Reply(form={"to_do": ("Wait.", "Vote late."), "order": ("2",), "Alice": ("villager",)}, **hidden)
    return Reply(choice=random.choice(ask.options), **hidden)


def unusable(ask: Ask, random: Random) -> Reply:
    """A reply in which the rules find nothing that was asked for."""
    broken = [Reply(), Reply(problem=f"{SECRET} problem", raw="?")]
    if ask.kind is AskKind.SPEAK:
        broken += [Reply(choice="Alice"), Reply(text="said", problem=f"{SECRET} problem")]
    elif ask.kind in ASSESSMENTS:
        broken += [Reply(text="yes"), Reply(assessment=Assessment(True), problem=f"{SECRET} problem")]
    elif ask.kind in FORMS:
        broken += [Reply(text="yes"), Reply(form={"to_do": ("Wait.",)}, problem=f"{SECRET} problem")]
    else:
        broken += [Reply(choice="Nobody"), Reply(choice="11"), Reply(choice=""), Reply(text=ask.options[0])]
    return random.choice(broken)


def player(seed: int, bad: float = 0.0) -> Answer:
    """Random answers from a seed, the given share of them unusable."""
    random = Random(seed)
    return lambda ask, view: (unusable if random.random() < bad else usable)(ask, random)


@lru_cache(maxsize=64)
def played(make: Maker, seed: int, bad: float = 0.0) -> tuple[Session, list[Replies]]:
    """A game that was played to its end; tests of it change nothing."""
    session = start(lambda: make(seed))
    return session, drive(session, player(seed, bad))


def batches(make: Maker, seed: int, bad: float = 0.3) -> Iterator[Session]:
    """A session before each of its batches of asks, played on in between."""
    session, answer = start(lambda: make(seed)), player(seed, bad)
    while session.asks:
        yield session
        session.send(tuple(answer(ask, ()) for ask in session.asks))


def some(steps: int) -> range:
    """Every step of a short game, about sixteen of a long one, of each kind of ask some."""
    return range(0, steps, max(steps // 16, 1))


@every_game
@pytest.mark.parametrize("bad", [0.0, 0.3, 1.0])
def test_any_play_ends_with_one_event_that_names_the_winner(make: Maker, bad: float) -> None:
    for seed in SEEDS:
        session, _ = played(make, seed, bad)
        outcome, game = session.outcome, session.game
        (end,) = [event for event in session.events if event.kind is EventKind.END]
        assert end.data == {"winner": outcome.winner}
        assert all(event.audience == (event.actor,) for event in session.events[end.index + 1 :])
        side = tuple(name for name in game.names if game.team(game.roles[name]) == outcome.winner)
        assert outcome.winners == side or (set(outcome.winners) <= set(side) and make not in OURS.values())
        assert outcome.days == end.day == game.day


@every_game
def test_equal_seeds_and_replies_give_equal_asks_and_events_step_by_step(make: Maker) -> None:
    for seed in SEEDS:
        for one, other in zip(batches(make, seed), batches(make, seed), strict=True):
            assert one.asks == other.asks
            assert one.events == other.events


@every_game
def test_seeds_matter(make: Maker) -> None:
    plays = [played(make, seed)[0] for seed in range(8)]
    assert len({str(session.events) for session in plays}) > 1


@every_game
def test_a_game_can_be_replayed_and_resumed_at_any_step(make: Maker) -> None:
    session, replies = played(make, 1, 0.3)
    assert replay(lambda: make(1), replies).events == session.events
    for step in (*some(len(replies)), len(replies)):
        again = resume(lambda: make(1), replies[:step])
        assert again.events == session.events[: len(again.events)]
        assert {ask.step for ask in again.asks} == ({step} if step < len(replies) else set())
        for batch in replies[step:]:
            again.send(batch)
        assert (again.events, again.outcome) == (session.events, session.outcome)


@every_game
def test_a_fork_differs_only_after_its_step(make: Maker) -> None:
    session, replies = played(make, 2)
    before = list(session.events)
    changed = 0
    for step in some(len(replies)):
        other = fork(lambda: make(2), replies, step)
        assert {ask.step for ask in other.asks} == {step}
        shared = len(other.events)
        drive(other, player(1000 + step, 0.5))
        assert other.outcome is not None
        assert other.events[:shared] == session.events[:shared]
        changed += other.events != session.events
    assert changed > 0 or len(replies) == 1  # two players: the night's kill has one option and ends the game
    assert session.events == before


@every_game
def test_replies_and_records_survive_json(make: Maker) -> None:
    session, replies = played(make, 3, 0.3)
    for reply in (reply for batch in replies for reply in batch):
        assert reply_from_json(json.loads(json.dumps(reply_to_json(reply))), reply.raw) == reply
    players = dict.fromkeys(session.game.names, ("someone", Source.SCRIPTED))
    done = record(session.game, session.outcome, players, "cell", meta={"number": 1})
    stopped = record(start(lambda: make(1)).game, None, players, failure="the endpoint is down")
    assert [seat.name for seat in done.seats] == list(session.game.names)
    assert (done.status, stopped.status, stopped.outcome) == (Status.DONE, Status.FAILED, None)
    for one in (done, stopped):
        assert record_from_json(json.loads(json.dumps(record_to_json(one)))) == one


@every_game
def test_no_seat_ever_sees_what_is_not_for_it(make: Maker) -> None:
    for seed in SEEDS:
        seen = defaultdict[str, list[Event]](list)
        for session in batches(make, seed):
            for seat in session.game.names:
                view, before = list(session.game.view(seat)), seen[seat]
                assert [event.index for event in view] == [e.index for e in session.events if e.seen_by(seat)]
                assert view[: len(before)] == before
                assert SECRET not in repr(view[len(before) :])
                assert all(event.audience is None or seat in event.audience for event in view)
                seen[seat] = view


@every_game
def test_an_event_is_for_its_actor_for_those_it_joins_or_for_all(make: Maker) -> None:
    for seed in SEEDS:
        session, _ = played(make, seed, 0.3)
        game = session.game
        for event in session.events:
            if event.kind in OWN:
                assert event.audience == (event.actor,)
            elif event.kind is EventKind.DISCOVERY:
                assert event.audience == (event.actor, event.target)
            elif event.kind in SHARED:
                (role,) = {game.roles[name] for name in event.audience or ()}
                assert event.audience == game.holding(role, alive=False)
            elif event.kind is EventKind.ACT:
                assert event.audience is None or {event.actor or event.target} <= set(event.audience)
            else:
                assert event.audience is None


OWN = {
    EventKind.ROLE,
    EventKind.LESSONS,
    EventKind.INVESTIGATION,
    EventKind.PROTECTION,
    EventKind.BID,
    EventKind.SUSPICION,
    EventKind.SELF_REPORT,
    EventKind.RATING,
    EventKind.REFLECTION,
    EventKind.LESSON,
    EventKind.ROLES_NAMED,
    EventKind.LESSON_TAGS,
}
SHARED = {EventKind.PARTNERS, EventKind.KILLER, EventKind.PROPOSAL, EventKind.KILL}  # by all who hold one role


@every_game
def test_votes_are_blind(make: Maker) -> None:
    """All who vote are asked at once: nobody is asked again in the same phase before something else was."""
    before = None
    for session in batches(make, 4):
        first = session.asks[0]
        ballot = (first.day, first.phase) if first.kind in VOTES else None
        assert ballot is None or ballot != before
        assert ballot is None or {ask.kind for ask in session.asks} <= set(VOTES)
        before = ballot


@every_game
def test_asks_are_well_formed(make: Maker) -> None:
    for seed in SEEDS:
        for step, session in enumerate(batches(make, seed)):
            game = session.game
            assert {ask.step for ask in session.asks} == {step}
            assert len({ask.seat for ask in session.asks}) == len(session.asks)
            for ask in session.asks:
                assert ask.game == game.game_id
                assert ask.day == game.day
                assert ask.seat in game.alive or ask.kind in (AskKind.REFLECTION, AskKind.TAG_LESSON)
                assert bool(ask.options) == (ask.kind in CHOICES or ask.kind is AskKind.NAME_ROLES)
                assert len(set(ask.options)) == len(ask.options)
                if ask.kind is AskKind.BID:
                    assert ask.options == BIDS
                elif ask.kind is AskKind.NAME_ROLES:
                    assert set(ask.options) == set(game.names) - {ask.seat}
                elif players := set(ask.options) & set(game.names):
                    assert players == set(ask.options)
                    assert players <= set(game.alive) - ({ask.seat} if ask.kind is not AskKind.PROTECT else set())
                if ask.kind is AskKind.KILL:
                    assert not {game.roles[name] for name in ask.options} & game_registry.GAMES[game.name].killers
                if ask.kind in ASSESSMENTS:
                    statement = session.events[ask.about or 0]
                    assert statement.kind is EventKind.STATEMENT
                    assert (statement.actor == ask.seat) == (ask.kind is AskKind.SELF_ASSESSMENT)
                elif ask.kind is AskKind.TAG_LESSON:
                    assert session.events[ask.about or 0].kind is EventKind.LESSON
                else:
                    assert ask.about is None


@every_game
def test_the_log_is_in_order_and_only_the_living_act(make: Maker) -> None:
    for seed in SEEDS:
        session, _ = played(make, seed, 0.3)
        assert [event.index for event in session.events] == list(range(len(session.events)))
        played_out = [event.day for event in session.events if "judge" not in event.data]
        assert played_out == sorted(played_out)
        for judged in (event for event in session.events if "judge" in event.data and event.about is not None):
            assert judged.day == session.events[judged.about].day
        living = set(session.game.names)
        for event in session.events:
            if event.kind is EventKind.END:
                break
            if event.kind in (EventKind.DEATH, EventKind.ARREST, EventKind.EXILE):
                assert event.target in living
                living.discard(event.target or "")
            elif event.kind is EventKind.INVESTIGATION:  # chosen while the night's victim was still there
                assert event.actor in session.game.names
            elif event.actor is not None:
                assert event.actor in living
                assert event.target is None or event.target in living
        assert living == set(session.game.alive)


@every_game
def test_what_the_rules_filled_in_is_flagged_and_nothing_else_is(make: Maker) -> None:
    for seed in SEEDS:
        random, expected = Random(seed), defaultdict[tuple[str, str], list[bool]](list)

        def answer(ask: Ask, view: Sequence[Event], random: Random = random, expected: Any = expected) -> Reply:
            bad = random.random() < 0.5
            expected[ask.seat, ANSWERED[ask.kind]].append(bad)
            return (unusable if bad else usable)(ask, random)

        session = start(lambda seed=seed: make(seed))
        known = len(session.game.frozen.events) if isinstance(session.game, Judging) else 0
        drive(session, answer)
        found = defaultdict[tuple[str, str], list[bool]](list)
        for event in session.events[known:]:
            if event.actor and event.kind in SHOWN and (event.kind not in SPOKEN or event.phase is not Phase.VOTING):
                found[event.actor, SHOWN[event.kind]].append(bool(event.fallback))
        assert {key: found[key] for key in expected} == expected
        assert not any(any(found[key]) for key in found.keys() - expected.keys())  # what the rules did unasked


SPOKEN = {EventKind.STATEMENT, EventKind.SILENCE}  # in the first vote of Werewolf the words that go with the vote
DONE: dict[str, tuple[set[AskKind], set[EventKind]]] = {
    "kill": ({AskKind.KILL}, {EventKind.KILL, EventKind.PROPOSAL}),
    "investigation": ({AskKind.INVESTIGATE}, {EventKind.INVESTIGATION}),
    "protection": ({AskKind.PROTECT}, {EventKind.PROTECTION}),
    "bid": ({AskKind.BID}, {EventKind.BID}),
    "speech": ({AskKind.SPEAK}, SPOKEN),
    "vote": (set(VOTES), {EventKind.VOTE, EventKind.ACT}),  # an act is what a game without ballots logs of a choice
    "self-report": ({AskKind.SELF_ASSESSMENT}, {EventKind.SELF_REPORT}),
    "rating": ({AskKind.PEER_ASSESSMENT}, {EventKind.RATING}),
    "reflection": ({AskKind.REFLECTION}, {EventKind.REFLECTION}),
    "roles": ({AskKind.NAME_ROLES}, {EventKind.ROLES_NAMED}),
    "tags": ({AskKind.TAG_LESSON}, {EventKind.LESSON_TAGS}),
}
ANSWERED = {ask: name for name, (asks, _) in DONE.items() for ask in asks}
SHOWN = {event: name for name, (_, events) in DONE.items() for event in events}
IN_DATA = (EventKind.BID, EventKind.ACT)  # what was chosen, if it is no player


@every_game
def test_a_choice_that_could_not_be_read_is_still_a_legal_one(make: Maker) -> None:
    for seed in SEEDS:
        offered = defaultdict[tuple[str, str], list[tuple[str, ...]]](list)
        random = Random(seed)

        def answer(ask: Ask, view: Sequence[Event], random: Random = random, offered: Any = offered) -> Reply:
            if ask.kind in CHOICES:
                offered[ask.seat, ANSWERED[ask.kind]].append(ask.options)
            return unusable(ask, random)

        session = start(lambda seed=seed: make(seed))
        if isinstance(session.game, Judging):
            return
        drive(session, answer)
        for (seat, kind), options in offered.items():
            done = [event for event in session.events if event.actor == seat and SHOWN.get(event.kind) == kind]
            taken = [
                {str(value) for value in event.data.values()} if event.kind in IN_DATA else {event.target}
                for event in done
            ]
            assert len(taken) == len(options)
            assert all(one & set(legal) for one, legal in zip(taken, options, strict=True))


@every_game
def test_wrong_use_is_refused_and_leaves_the_game_as_it_was(make: Maker) -> None:
    session, replies = played(make, 1)
    with pytest.raises(RuleViolation, match="is over"):
        session.send(())
    with pytest.raises(RuleViolation, match="end at step"):
        replay(lambda: make(1), replies[:-1])
    for step in (-1, len(replies) + 1):
        with pytest.raises(RuleViolation, match="is not in the recorded game"):
            fork(lambda: make(1), replies, step)
    fresh = start(lambda: make(1))
    before = list(fresh.events)
    with pytest.raises(RuleViolation, match="send one for each"):
        fresh.send((Reply(),) * (len(fresh.asks) + 1))
    assert fresh.events == before
    for batch in replies:
        fresh.send(batch)
    assert fresh.events == session.events
