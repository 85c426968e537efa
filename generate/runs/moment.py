"""A moment of a recorded game: how it is rebuilt from a run at no cost, what was asked then, and how it continues
without that run.

A game is a function of its plan, its seed and the replies, so a moment consists of the plan, the game's number in it
and every earlier reply; in a continuation, also of the moment where that began. A run of continuations keeps it in its
journal, as one text under the hash that its plan names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from liescope.common.errors import BadData, LiescopeError, UsageError
from liescope.common.reading import Reading
from liescope.common.text import plain
from liescope.games.core import SPEECH, Ask, Event, EventKind, Game, Lesson, LessonKind, Replies, Reply
from liescope.games.rated_game import RatedGame
from liescope.games.record import GameRecord, reply_from_json, reply_to_json
from liescope.games.record_checks import check_reply
from liescope.games.session import Session, branch
from liescope.games.withdrawal import check_words
from liescope.generate.players.player_registry import summaries_of
from liescope.generate.players.prompts.render import Prompts, compiled
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import KeptRequest, number_in
from liescope.generate.runs.plan_games import stored_templates
from liescope.generate.runs.run_folder import numbers_of
from liescope.generate.runs.run_plan import Group, Plan, PlannedGame, RatingPlan, RunPlan, drawn
from liescope.labeling.beliefs import claims_made

FILE = "moment.json"
MOST_CONTINUATIONS = 1_000_000  # of each group
SAID = "said for the player"  # the note on a statement that the plan names
SENT, RENDERED = "as it was sent", "rendered again"  # where the prompt of a call comes from


class ForkPlan(RunPlan):
    """Continuations of a moment. fork: the run's name; origin: a hash of its plan; of: the recorded game; root: the
    game, played from its start, that it goes back to; step: where it is continued; moment: the hash of the `Moment`;
    seat: the replayed one; groups; others: the specs of the other seats; times: continuations in each group; options,
    prompts, seating, lessons: as in `Plan`; learning: whether the learner learns; people: by seat, who had spoken
    from it before the moment, if one had.
    """

    KEY = "fork"
    GAMES = "continuations"

    fork: str
    origin: str
    of: str
    root: str
    step: int = Field(ge=0)
    moment: str
    seat: str
    groups: tuple[Group, ...] = Field(min_length=1)
    others: dict[str, str]
    times: int = Field(ge=1, le=MOST_CONTINUATIONS)
    seed: int
    options: dict[str, Any]
    prompts: str
    seating: str
    learning: bool = False
    lessons: str = ""
    terms: dict[str, Any] = Field(default_factory=dict)
    game_texts: dict[str, str] = Field(default_factory=dict)
    people: dict[str, str] = Field(default_factory=dict)

    @property
    def specs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(group.player for group in self.groups), *self.others.values()]))

    @property
    def numbers(self) -> Sequence[int]:
        return numbers_of(len(self.groups), self.times, self.part)

    def planned(self, number: int) -> PlannedGame:
        """The continuation with this number, from 0. Those of one turn have the same draws in every group; groups take
        turns, so that a run stopped early has some of each.
        """
        turn, place = divmod(number, len(self.groups))
        seed, group = drawn(self.seed, self.of, self.step, turn), self.groups[place]
        return PlannedGame(number, self.game_id(number), turn=turn, seed=seed, learning=self.learning, group=group)

    def seats(self, planned: PlannedGame, roles: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        assert planned.group is not None
        return {self.seat: planned.group.player, **self.others}

    def specs_of(self, planned: PlannedGame) -> tuple[str, ...]:
        return tuple(self.seats(planned, {}).values())

    def label(self, planned: PlannedGame) -> str:
        assert planned.group is not None
        return planned.group.label

    def draw(self, game_id: str) -> str:
        """Groups share seeds but must not share cached answers."""
        planned = self.planned(number_in(game_id) or 0)
        return f"{planned.seed} {planned.group}"


class Moment(BaseModel):
    """plan, number: of the game; lessons: kind and text of what its learner knew; before: the moment at which it began,
    if it is a continuation; replies: the batches from its beginning to the moment, as plain JSON data.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    plan: Plan | ForkPlan
    number: int
    lessons: tuple[tuple[LessonKind, str], ...] = ()
    before: Moment | None = None
    replies: tuple[tuple[dict[str, Any], ...], ...] = ()

    @property
    def planned(self) -> PlannedGame:
        return self.plan.planned(self.number)

    def then(self, replies: Sequence[Replies]) -> Moment:
        """A later moment of the game."""
        batches = tuple(tuple(map(reply_to_json, batch)) for batch in replies)
        return self.model_copy(update={"replies": (*self.replies, *batches)})

    def session(self) -> Session:
        """The game at this moment, replayed at no cost. Raises BadData if what was kept makes no game."""
        try:
            if self.before is not None:
                session = self.before.continued(self.plan, self.planned)
            elif isinstance(self.plan, Plan):
                session = Session(self.plan.make(self.planned, tuple(Lesson(*one) for one in self.lessons)))
            else:
                raise ValueError("it goes on from nothing")
            for batch in self.replies:
                replies = tuple(map(reply_from_json, batch))
                for reply in replies:
                    check_reply(reply)
                session.send(replies)
        except (LiescopeError, TypeError, ValueError, KeyError, AttributeError) as error:
            raise BadData(f"the recorded moment makes no game ({plain(str(error))}); restore its run") from None
        return session

    def continued(self, plan: RunPlan, planned: PlannedGame) -> Session:
        """The game at the moment as a continuation of a plan, with the statement of its plan already made."""
        assert planned.group is not None
        session = self.session()
        branch(session, planned.game_id, planned.seed)
        session.game.summaries = summaries_of(plan.seats(planned, session.game.roles))
        if planned.group.say is not None:
            session.send((Reply(text=planned.group.say, notes=(SAID,)),))
        return session

    @cached_property
    def text(self) -> str:
        """As JSON, for the journal of a run."""
        return json.dumps(self.model_dump(mode="json", exclude_defaults=True), separators=(",", ":"))

    @property
    def hash(self) -> str:
        return _hash(self.text)


def _hash(text: str) -> str:
    """16 hexadecimal digits."""
    return sha256(text.encode()).hexdigest()[:16]


def played_here(journal: Journal) -> bool:
    """Whether the games of a run were played here, from their start or from a moment of another game."""
    return not {ForkPlan.KEY, Plan.KEY}.isdisjoint(journal.plan)


def rebuild(journal: Journal, game_id: str) -> Session:
    """The game as the run began it, at its first answered ask. Raises as `beginning`."""
    if RatingPlan.KEY in journal.plan:
        return Session(_rating(journal, _ended(journal, game_id)))
    return beginning(journal, game_id).session()


def beginning(journal: Journal, game_id: str) -> Moment:
    """The moment at which the run made a game.

    Raises BadData for imported games, which have no replies, and for a plan that does not make this game; UsageError
    for a game under way that cannot be rebuilt before it ends, and for one whose players withdrew words.
    """
    if not played_here(journal):
        raise BadData(f"{journal.path} holds games that were not played here; nobody was asked anything")
    if game_id in journal.game_ids():
        check_words(journal.record(game_id))
    plan = (ForkPlan if ForkPlan.KEY in journal.plan else Plan).parse(journal.plan, journal.path)
    number = number_in(game_id)
    if number is None or number not in plan.numbers or plan.game_id(number) != game_id:
        raise BadData(f"the plan of {journal.path} makes no game {plain(game_id)}; restore the folder from a copy")
    if isinstance(plan, ForkPlan):
        return Moment(plan=plan, number=number, before=_kept(journal, plan.moment))
    events = _ended(journal, game_id).events if plan.planned(number).learning else ()
    known = next((event.data["lessons"] for event in events if event.kind is EventKind.LESSONS), ())
    return Moment(plan=plan, number=number, lessons=tuple((LessonKind(kind), text) for kind, text in known))


def answered(journal: Journal, game_id: str, session: Session, step: int) -> list[Replies]:
    """Answer a game with its recorded replies until it asks at this step, or is over. Raises UsageError if they end
    before.
    """
    answers, replies = journal.answers(game_id), list[Replies]()
    while session.asks and session.asks[0].step < step:
        missing = [ask.step for ask in session.asks if (ask.step, ask.seat) not in answers]
        if missing:
            raise UsageError(f"the replies of game {plain(game_id)} end at step {missing[0]}; choose an earlier one")
        replies.append(tuple(answers[ask.step, ask.seat] for ask in session.asks))
        session.send(replies[-1])
    return replies


def _kept(journal: Journal, digest: str) -> Moment:
    """The moment from which the games of a run go on. Raises BadData if the journal does not hold it."""
    text = journal.templates(digest).get(FILE, "")
    with Reading(f"the moment that the games of {journal.path} go on from", "restore it from a copy"):
        if _hash(text) != digest:
            raise ValueError("it is another than its plan names")
        return Moment.model_validate_json(text)


def _ended(journal: Journal, game_id: str) -> GameRecord:
    if game_id not in journal.game_ids():
        raise UsageError(f"game {plain(game_id)} has not ended; what it began with is known once it has")
    return journal.record(game_id)


def _rating(journal: Journal, rated: GameRecord) -> Game:
    plan = RatingPlan.parse(journal.plan, journal.path)
    rater = str(rated.meta.get("judge", ""))
    # The source game may itself hold ratings.
    played = (e for e in rated.events if "judge" not in e.data or (rater and e.data["judge"] != rater))
    frozen = replace(rated, events=tuple(played))
    asked = {event.about for event in rated.events if event.kind is EventKind.BELIEFS}
    made = {at: claims for at, claims in claims_made(frozen).items() if at in asked} if asked else {}
    return RatedGame(frozen, plan.asked, rater, made)


# What the players of a run were shown and replied

Message = dict[str, str]
"""One message of a chat: its role ("system", "user" or "assistant") and its content."""


@dataclass(frozen=True, slots=True)
class AskShown:
    """One ask, what its seat had seen by then, and the reply (None if the run ended before it came)."""

    ask: Ask
    view: Sequence[Event]
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class Step:
    """Simultaneous asks and what their replies led to. The first step of a game has no asks: it is its beginning."""

    asked: tuple[AskShown, ...]
    events: tuple[Event, ...]


def steps(journal: Journal, record: GameRecord) -> Iterator[Step]:
    """A recorded game step by step; only its beginning, with all events, if nobody was asked anything here.

    Raises BadData if this version of the rules makes a different game of the recorded replies.
    """
    if not (played_here(journal) or RatingPlan.KEY in journal.plan):
        yield Step((), record.events)
        return
    session = rebuild(journal, record.game_id)
    answers = journal.answers(record.game_id)
    yield Step((), tuple(session.events))
    while session.asks:
        asked = tuple(
            AskShown(ask, tuple(session.game.view(ask.seat)), answers.get((ask.step, ask.seat))) for ask in session.asks
        )
        replies = [one.reply for one in asked if one.reply is not None]
        before = len(session.events)
        if len(replies) == len(asked):
            session.send(tuple(replies))
        events = tuple(session.events[before:])
        if [*map(_what, events)] != [*map(_what, record.events[before : before + len(events)])]:
            raise BadData(
                f"{journal.path}: game {plain(record.game_id)} goes another way when it is replayed with this version; "
                "export it with the version that played it"
            )
        yield Step(asked, events)
        if len(replies) < len(asked):
            return


def spoken(journal: Journal, record: GameRecord) -> Iterator[tuple[AskShown, Event]]:
    """The statements of a game, each with the ask that it answers. Votes' reasons are asked for together but heard one
    by one, so a seat's statement answers its latest ask for speech.
    """
    waiting: dict[str, AskShown] = {}
    for step in steps(journal, record):
        waiting |= {one.ask.seat: one for one in step.asked if one.ask.kind in SPEECH}
        for event in step.events:
            if event.kind is EventKind.STATEMENT and event.actor in waiting:
                yield waiting.pop(event.actor), event


def _what(event: Event) -> tuple[object, ...]:
    return event.kind, event.actor, event.target, event.text


class Shown:
    """The prompts of a run: as they were sent where the run kept them, else rendered with the run's templates."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def requests(self, ask: Ask) -> list[KeptRequest]:
        """The requests that were made for an ask, in order; none for players that ask no endpoint."""
        return list(self._journal.requests(ask.game, ask.step, ask.seat))

    def messages(self, one: AskShown, requests: Sequence[KeptRequest]) -> tuple[list[Message], str]:
        """The messages of the last of an ask's requests and SENT; or the prompt rendered again and RENDERED."""
        for request in reversed(requests):
            if request.body is not None:
                return messages_of(request), SENT
        return [{"role": "user", "content": self._templates.render(one.ask, one.view).text}], RENDERED

    @cached_property
    def _templates(self) -> Prompts:
        """The run's prompt templates."""
        return compiled(stored_templates(self._journal), str(self._journal.plan["game"]))


def messages_of(request: KeptRequest) -> list[Message]:
    """The messages of a request that was kept."""
    kept = (request.body or {}).get("messages", ())
    return [{"role": str(one.get("role") or "user"), "content": str(one.get("content") or "")} for one in kept]
