"""What every game, the example of the guides among them, promises to whoever drives it: asks, events, audiences."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from liescope.games.deal.rules import DealSpec
from liescope.games.game_options import BallotSpec, GameSpec
from liescope.games.mafia.rules import MINI_MAFIA, MafiaSpec
from liescope.games.one_night.rules import OneNightSpec
from liescope.games.playable import PlayableGame
from liescope.games.rated_game import RatedGame, RatingSpec
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
from liescope.games.shared_rules import BIDS
from liescope.games.two_truths.rules import TwoTruthsSpec
from liescope.games.werewolf.rules import WerewolfSpec

Maker = Callable[[int], Game]
Answer = Callable[[Ask, Sequence[Event]], Reply]

NAMES = ("Zoë", "Ann Lee", "明", "O'Hara", "a")
SHORT = WerewolfSpec(debate_turns=3, defence_turns=2)
LESSONS = (Lesson(LessonKind.TO_DO, "Vote late."), Lesson(LessonKind.TO_AVOID, "Do not plead."))
TABLES: dict[str, GameSpec] = {  # each begins with the name of its game
    "mafia without a detective": MafiaSpec(mafiosos=2, detectives=0, villagers=4),
    "mafia of two": MafiaSpec(mafiosos=1, detectives=0, villagers=1),
    "mafia without villagers, scripted": MafiaSpec(mafiosos=1, detectives=2, villagers=0, scripted_night=True),
    "mafia of two days": MafiaSpec(mafiosos=2, detectives=1, villagers=5, days=2),
    "mafia assessed": MafiaSpec(mafiosos=2, detectives=1, villagers=3, rounds=1, assess=True),
    "mafia with mutual discovery": MafiaSpec(
        mafiosos=2, detectives=2, villagers=4, mutual_discovery=True, reveal_dead=True
    ),
    "mini-mafia of 8 rounds": MINI_MAFIA.replaced(rounds=8),
    "mini-mafia with both discovered": MINI_MAFIA.replaced(mutual_discovery=True, reveal_dead=True),
    "werewolf with a seer": SHORT.replaced(seers=1, villagers=5),
    "werewolf with three wolves and two doctors": SHORT.replaced(werewolves=3, doctors=2),
    "werewolf without a doctor": SHORT.replaced(doctors=0, villagers=3),
    "werewolf with one wolf": SHORT.replaced(werewolves=1, villagers=2, doctors=0, jesters=0),
    "werewolf with two jesters": SHORT.replaced(jesters=2, villagers=4),
    "werewolf without talk": SHORT.replaced(debate_turns=0, defence_turns=0),
    "werewolf of one day": SHORT.replaced(days=1),
    "werewolf assessed": SHORT.replaced(villagers=4, debate_turns=2, defence_turns=1, assess=True),
    "werewolf assessed in part": SHORT.replaced(assess=True, assess_share=0.3, show_suspicion=True),
    "werewolf asked what the others think": SHORT.replaced(
        villagers=4, second_order=True, show_suspicion=True, assess=True
    ),
    "one-night-werewolf asked what others think": OneNightSpec(second_order=True),
    "deal with one buyer on one day": DealSpec(buyers=1, days=1, rounds=2, assess=True),
    "two-truths with one guesser": TwoTruthsSpec(guessers=1, turns=1),
    "werewolf with a jester who learns": SHORT.replaced(learning=True, lessons=LESSONS),
}


def example() -> PlayableGame:
    """Traitor, of a package that is not installed here."""
    folder = str(Path(__file__).parents[2] / "examples" / "traitor")
    sys.path.insert(0, folder)
    try:
        game = import_module("traitor").GAME
    finally:
        sys.path.remove(folder)
    assert isinstance(game, PlayableGame)
    return game


def frozen(make: Maker, seed: int) -> GameRecord:
    """A game that was played to its end by somebody else."""
    session = played(make, seed, 0.1).session
    return record(session.game, session.outcome, dict.fromkeys(session.game.names, ("someone", Source.MODEL)))


def judging(make: Maker, **asked: bool | float) -> Maker:
    """The judging of a game, which is a game to whoever drives it."""
    log = lru_cache(partial(frozen, make))
    return lambda seed: RatedGame(log(seed), RatingSpec(**asked), "a judge")


def variants(game: PlayableGame) -> dict[str, Maker]:
    """The tables that every registered game must play at."""
    spec, count = game.spec, len(game.spec.seats())
    names = tuple(f"{name}{number}" for number, name in enumerate(NAMES * 3))[:count]
    specs = {
        "": spec,
        " assessed": spec.replaced(
            assess=True, assess_share=0.7, **({"show_suspicion": True} if isinstance(spec, BallotSpec) else {})
        ),
        " with other names, fixed roles, no limit": spec.replaced(
            names=names, roles=tuple(spec.deck()), message_limit=None
        ),
    }
    return {f"{game.name}{words}": table(game, short(spec)) for words, spec in specs.items()}


def table(game: PlayableGame, spec: GameSpec) -> Maker:
    return lambda seed: game.make(spec, seed, f"{game.name}-{seed}")


def short(spec: GameSpec) -> GameSpec:
    """The same table with less talk, where it has a limit of turns."""
    turns: dict[str, Any] = {"debate_turns": 3, "defence_turns": 2}
    return spec.replaced(**{name: most for name, most in turns.items() if hasattr(spec, name)})


OURS: dict[str, Maker] = {
    **{name: make for game in game_registry.GAMES.values() for name, make in variants(game).items()},
    **{name: table(game_registry.GAMES[name.split()[0]], spec) for name, spec in TABLES.items()},
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


def usable(ask: Ask, random: Random) -> Reply:
    """A reply that the rules must take as it is, with things that nobody else may see."""
    hidden = {"notes": (f"{SECRET} note",), "raw": f"{SECRET} raw", "private": {"planted_type": f"{SECRET} type"}}
    if ask.kind is AskKind.SPEAK:
        return Reply(text=random.choice(TEXTS), **hidden)
    if ask.kind is AskKind.EXPLAINED_VOTE:
        return Reply(choice=random.choice(ask.options), text=random.choice(TEXTS), **hidden)
    if ask.kind in ASSESSMENTS:
        return Reply(assessment=Assessment(random.random() < 0.5, "omission", 0.5, 0.25, "a feeling"), **hidden)
    if ask.kind is AskKind.SECOND_ORDER:
        return Reply(form=dict.fromkeys(ask.options, (ask.seat,)), **hidden)
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


@dataclass(frozen=True)
class Batch:
    """Asks that were put at once, what was the case then, and whether each got a reply that can be used."""

    asks: tuple[Ask, ...]
    day: int
    alive: tuple[str, ...]
    bad: tuple[bool, ...]


@dataclass(frozen=True)
class Played:
    """A game that was played to its end; tests of it change nothing."""

    session: Session
    replies: list[Replies]
    batches: list[Batch]

    @property
    def answered(self) -> list[tuple[Ask, bool]]:
        """Each ask, and whether its reply was of no use."""
        return [pair for batch in self.batches for pair in zip(batch.asks, batch.bad, strict=True)]


def player(seed: int, bad: float = 0.0) -> Answer:
    """Random answers from a seed, the given share of them unusable."""
    random = Random(seed)
    return lambda ask, view: (unusable if random.random() < bad else usable)(ask, random)


def played(make: Maker, seed: int, bad: float) -> Played:
    """A game, the given share of whose replies is unusable, with its batches of asks."""
    session, random = start(lambda: make(seed)), Random(seed)
    game, found = session.game, Played(session, [], [])
    while session.asks:
        bads = tuple(random.random() < bad for _ in session.asks)
        found.batches.append(Batch(session.asks, game.day, tuple(game.alive), bads))
        found.replies.append(
            tuple((unusable if bad else usable)(ask, random) for ask, bad in zip(session.asks, bads, strict=True))
        )
        session.send(found.replies[-1])
    return found


@pytest.fixture(scope="module", params=GAMES.values(), ids=GAMES.keys())
def make(request: pytest.FixtureRequest) -> Maker:
    return request.param


@pytest.fixture(scope="module")
def half(make: Maker) -> list[Played]:
    """Games in which some replies can be used and some cannot."""
    return [played(make, seed, 0.4) for seed in SEEDS]


@pytest.fixture(scope="module")
def plays(make: Maker, half: list[Played]) -> list[Played]:
    """Games in which all, some and none of the replies can be used."""
    return [*(played(make, seed, 0.0) for seed in SEEDS), *half, *(played(make, seed, 1.0) for seed in SEEDS)]


def some(steps: int) -> range:
    """Every step of a short game, about ten of a long one, of each kind of ask some."""
    return range(0, steps, max(steps // 10, 1))


def test_any_play_ends_with_one_event_that_names_the_winner(plays: list[Played]) -> None:
    for play in plays:
        session, outcome, game = play.session, play.session.outcome, play.session.game
        (end,) = [event for event in session.events if event.kind is EventKind.END]
        assert end.data == {"winner": outcome.winner}
        assert all(event.audience == (event.actor,) for event in session.events[end.index + 1 :])
        side = tuple(name for name in game.names if game.team(game.roles[name]) == outcome.winner)
        assert set(outcome.winners) <= set(side)
        assert outcome.days == end.day == game.day


def test_equal_seeds_and_replies_give_equal_asks_and_events_and_others_do_not(
    make: Maker, half: list[Played], plays: list[Played]
) -> None:
    for seed, play in enumerate(half):
        again = played(make, seed, 0.4)
        assert again.batches == play.batches
        assert again.session.events == play.session.events
    assert len({str(play.session.events) for play in plays}) > 1


def test_a_game_can_be_replayed_and_resumed_at_any_step(make: Maker, half: list[Played]) -> None:
    session, replies = half[1].session, half[1].replies
    assert replay(lambda: make(1), replies).events == session.events
    for step in (*some(len(replies)), len(replies)):
        again = resume(lambda: make(1), replies[:step])
        assert again.events == session.events[: len(again.events)]
        assert {ask.step for ask in again.asks} == ({step} if step < len(replies) else set())
        for batch in replies[step:]:
            again.send(batch)
        assert (again.events, again.outcome) == (session.events, session.outcome)


def test_a_fork_differs_only_after_its_step(make: Maker, plays: list[Played]) -> None:
    session, replies = plays[2].session, plays[2].replies
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


def test_replies_and_records_survive_json(make: Maker, half: list[Played]) -> None:
    session, replies = half[1].session, half[1].replies
    for reply in (reply for batch in replies for reply in batch):
        assert reply_from_json(json.loads(json.dumps(reply_to_json(reply))), reply.raw) == reply
    players = dict.fromkeys(session.game.names, ("someone", Source.SCRIPTED))
    done = record(session.game, session.outcome, players, "cell", meta={"number": 1})
    stopped = record(start(lambda: make(1)).game, None, players, failure="the endpoint is down")
    assert [seat.name for seat in done.seats] == list(session.game.names)
    assert (done.status, stopped.status, stopped.outcome) == (Status.DONE, Status.FAILED, None)
    for one in (done, stopped):
        assert record_from_json(json.loads(json.dumps(record_to_json(one)))) == one


def test_no_seat_ever_sees_what_is_not_for_it(make: Maker, half: list[Played]) -> None:
    for seed, play in enumerate(half):
        session, seen = start(lambda seed=seed: make(seed)), defaultdict[str, list[Event]](list)
        for replies in play.replies:
            for seat in session.game.names:
                view, before = list(session.game.view(seat)), seen[seat]
                assert [event.index for event in view] == [e.index for e in session.events if e.seen_by(seat)]
                assert view[: len(before)] == before
                assert SECRET not in repr(view[len(before) :])
                assert all(event.audience is None or seat in event.audience for event in view)
                seen[seat] = view
            session.send(replies)


def test_an_event_is_for_its_actor_for_those_it_joins_or_for_all(plays: list[Played]) -> None:
    for play in plays:
        game = play.session.game
        for event in play.session.events:
            if event.kind in OWN:
                assert event.audience == (event.actor,)
            elif event.kind is EventKind.DISCOVERY:
                assert event.audience == (event.actor, event.target)
            elif event.kind in SHARED:
                (role,) = {game.roles[name] for name in event.audience or ()}
                assert event.audience == game.holding(role, alive=False)
            elif event.kind in (EventKind.ACT, EventKind.CHOICE):
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
    EventKind.SECOND_ORDER,
    EventKind.SUMMARY,
}
SHARED = {EventKind.PARTNERS, EventKind.KILLER, EventKind.PROPOSAL, EventKind.KILL}  # by all who hold one role


def test_votes_are_blind(plays: list[Played]) -> None:
    """All who vote are asked at once: nobody is asked again in the same phase before something else was."""
    for play in plays:
        before = None
        for batch in play.batches:
            first = batch.asks[0]
            ballot = (first.day, first.phase) if first.kind in VOTES else None
            assert ballot is None or ballot != before
            assert ballot is None or {ask.kind for ask in batch.asks} <= set(VOTES)
            before = ballot


def test_asks_are_well_formed(plays: list[Played]) -> None:
    for play in plays:
        game, events = play.session.game, play.session.events
        for step, batch in enumerate(play.batches):
            assert {ask.step for ask in batch.asks} == {step}
            assert len({ask.seat for ask in batch.asks}) == len(batch.asks)
            for ask in batch.asks:
                assert ask.game == game.game_id
                assert ask.day == batch.day
                assert ask.seat in batch.alive or ask.kind in (AskKind.REFLECTION, AskKind.TAG_LESSON)
                assert bool(ask.options) == (ask.kind in CHOICES | {AskKind.NAME_ROLES, AskKind.SECOND_ORDER})
                assert len(set(ask.options)) == len(ask.options)
                if ask.kind is AskKind.BID:
                    assert ask.options == BIDS
                elif ask.kind is AskKind.NAME_ROLES:
                    assert set(ask.options) == set(game.names) - {ask.seat}
                elif players := set(ask.options) & set(game.names):
                    assert players == set(ask.options)
                    assert players <= set(batch.alive) - ({ask.seat} if ask.kind is not AskKind.PROTECT else set())
                if ask.kind is AskKind.KILL:
                    assert not {game.roles[name] for name in ask.options} & game_registry.GAMES[game.name].killers
                if ask.kind in ASSESSMENTS:
                    assert events[ask.about].kind is EventKind.STATEMENT
                    assert (events[ask.about].actor == ask.seat) == (ask.kind is AskKind.SELF_ASSESSMENT)
                elif ask.kind is AskKind.TAG_LESSON:
                    assert events[ask.about].kind is EventKind.LESSON
                else:
                    assert ask.about is None


def test_the_log_is_in_order_and_only_the_living_act(plays: list[Played]) -> None:
    for session in (play.session for play in plays):
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


def test_what_the_rules_filled_in_is_flagged_and_nothing_else_is(plays: list[Played]) -> None:
    for play in plays:
        expected = defaultdict[tuple[str, str], list[bool]](list)
        for ask, bad in play.answered:
            expected[ask.seat, ANSWERED[ask.kind]].append(bad)
        found = defaultdict[tuple[str, str], list[bool]](list)
        for event in own_events(play):
            if event.actor and event.kind in SHOWN and (event.kind not in SPOKEN or event.phase is not Phase.VOTING):
                found[event.actor, SHOWN[event.kind]].append(bool(event.fallback))
        assert {key: found[key] for key in expected} == expected
        assert not any(any(found[key]) for key in found.keys() - expected.keys())  # what the rules did unasked


def own_events(play: Played) -> Sequence[Event]:
    """What was logged while it was played: a judging begins with the log of somebody else."""
    game = play.session.game
    return play.session.events[len(game.frozen.events) if isinstance(game, RatedGame) else 0 :]


SPOKEN = {EventKind.STATEMENT, EventKind.SILENCE}  # in the first vote of Werewolf the words that go with the vote
DONE: dict[str, tuple[set[AskKind], set[EventKind]]] = {
    "kill": ({AskKind.KILL}, {EventKind.KILL, EventKind.PROPOSAL}),
    "investigation": ({AskKind.INVESTIGATE}, {EventKind.INVESTIGATION}),
    "protection": ({AskKind.PROTECT}, {EventKind.PROTECTION}),
    "bid": ({AskKind.BID}, {EventKind.BID}),
    "speech": ({AskKind.SPEAK}, SPOKEN),
    "vote": (set(VOTES), {EventKind.VOTE, EventKind.ACT}),  # an act is what a game without ballots logs of a choice
    "move": ({AskKind.CHOOSE}, {EventKind.CHOICE}),
    "self-report": ({AskKind.SELF_ASSESSMENT}, {EventKind.SELF_REPORT}),
    "rating": ({AskKind.PEER_ASSESSMENT}, {EventKind.RATING}),
    "reflection": ({AskKind.REFLECTION}, {EventKind.REFLECTION}),
    "roles": ({AskKind.NAME_ROLES}, {EventKind.ROLES_NAMED}),
    "tags": ({AskKind.TAG_LESSON}, {EventKind.LESSON_TAGS}),
    "summary": ({AskKind.SUMMARY}, {EventKind.SUMMARY}),
    "second order": ({AskKind.SECOND_ORDER}, {EventKind.SECOND_ORDER}),
}
ANSWERED = {ask: name for name, (asks, _) in DONE.items() for ask in asks}
SHOWN = {event: name for name, (_, events) in DONE.items() for event in events}
IN_DATA = (EventKind.BID, EventKind.ACT, EventKind.CHOICE)  # what was chosen, if it is no player


def test_a_choice_is_a_legal_one_also_where_it_could_not_be_read(plays: list[Played]) -> None:
    for play in plays:
        offered = defaultdict[tuple[str, str], list[tuple[str, ...]]](list)
        for ask, _ in play.answered:
            if ask.kind in CHOICES:
                offered[ask.seat, ANSWERED[ask.kind]].append(ask.options)
        for (seat, kind), options in offered.items():
            done = [event for event in own_events(play) if event.actor == seat and SHOWN.get(event.kind) == kind]
            taken = [
                {str(value) for value in event.data.values()} if event.kind in IN_DATA else {event.target}
                for event in done
            ]
            assert len(taken) == len(options)
            assert all(one & set(legal) for one, legal in zip(taken, options, strict=True))


def test_wrong_use_is_refused_and_leaves_the_game_as_it_was(make: Maker, half: list[Played]) -> None:
    session, replies = half[1].session, half[1].replies
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
