"""A moment of a recorded game: how it is rebuilt from a run at no cost, and how it is played on without that run.

A game is a function of its options, its seed and the replies, so a moment is these: how the game was made, every reply
before the moment, and where an earlier continuation began (with an id and random draws of its own). A run of
continuations keeps it in its journal, as one text under the hash that its plan names. The prompt of any recorded call
is found in the same way: as it was sent, or rendered again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.text import Text

from liescope.common.errors import BadData, LiescopeError, UsageError
from liescope.common.text import plain
from liescope.games.core import Ask, AskKind, Event, EventKind, Game, Lesson, LessonKind, Replies, Reply
from liescope.games.game_registry import find_game
from liescope.games.judging import Judging
from liescope.games.record import GameRecord, reply_from_json, reply_to_json
from liescope.games.record_checks import NotARecord, check_reply
from liescope.games.session import Session, branch
from liescope.games.withdrawal import check_words
from liescope.generate.players.prompts.render import Prompts, compiled
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import KeptRequest, number_in
from liescope.generate.runs.plan_games import stored_templates
from liescope.generate.runs.run_folder import numbers_of
from liescope.generate.runs.run_plan import Group, JudgePlan, Plan, PlannedGame, RunPlan
from liescope.labeling.beliefs import claims_made

FILE = "moment.json"
MOST_CONTINUATIONS = 1_000_000  # of each group


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a game became one of its own: before the replies of this step."""

    step: int
    game_id: str
    seed: int


class _Made(BaseModel):
    """How a game was made. lessons: (kind, text) of what its learner knew."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: str
    game_id: str
    seed: int
    options: dict[str, Any]
    names: tuple[str, ...]
    roles: tuple[str, ...]
    learning: bool = False
    lessons: tuple[tuple[str, str], ...] = ()


class _WrittenMoment(BaseModel):
    model_config = ConfigDict(extra="forbid")

    made: _Made
    replies: list[list[dict[str, Any]]]
    branches: list[Branch]


@dataclass(frozen=True)
class Moment:
    """made: how the game was made; replies: the batches before the moment; branches: by earlier continuations."""

    made: _Made
    replies: tuple[tuple[Reply, ...], ...]
    branches: tuple[Branch, ...] = ()

    @property
    def step(self) -> int:
        """The step that comes next."""
        return len(self.replies)

    def session(self) -> Session:
        """The game at this moment, replayed at no cost. Raises BadData if the replies do not fit the rules."""
        made = self.made
        try:
            game = find_game(made.game)
            spec = replace(game.restore(made.options), names=made.names, roles=made.roles)
            if made.learning or made.lessons:
                lessons = tuple(Lesson(LessonKind(kind), text) for kind, text in made.lessons)
                learned: dict[str, Any] = {"learning": made.learning, "lessons": lessons}
                spec = replace(spec, **learned)
            session = Session(game.make(spec, made.seed, made.game_id))
            for step, batch in enumerate(self.replies):
                self._branch(session, step)
                session.send(batch)
            self._branch(session, self.step)
        except (LiescopeError, TypeError, ValueError, KeyError, AttributeError) as error:
            raise BadData(f"the recorded moment makes no game ({plain(str(error))}); restore its run") from None
        return session

    def then(self, replies: tuple[tuple[Reply, ...], ...], branches: tuple[Branch, ...] = ()) -> Moment:
        """A later moment of a continuation of this one."""
        return Moment(self.made, (*self.replies, *replies), (*self.branches, *branches))

    def _branch(self, session: Session, step: int) -> None:
        for one in self.branches:
            if one.step == step:
                branch(session, one.game_id, one.seed)

    @cached_property
    def text(self) -> str:
        """As JSON, for the journal of a run."""
        data = {
            "made": self.made.model_dump(mode="json"),
            "replies": [[reply_to_json(reply) for reply in batch] for batch in self.replies],
            "branches": [asdict(one) for one in self.branches],
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    @property
    def hash(self) -> str:
        """16 hexadecimal digits."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def made(plan: Plan, first: PlannedGame, lessons: Sequence[Lesson]) -> Moment:
    """The beginning of a game of a plan. lessons: what its learner knew."""
    return Moment(
        _Made(
            game=plan.game,
            game_id=first.game_id,
            seed=first.seed,
            options=plan.options,
            names=first.seats,
            roles=first.roles,
            learning=first.learning,
            lessons=tuple((lesson.kind.value, lesson.text) for lesson in lessons),
        ),
        (),
    )


class ForkPlan(RunPlan):
    """Continuations of a moment. fork: the run's name; origin: a hash of its plan; of: the recorded game; root: the
    game played from its start that it goes back to; step: where it is continued; moment: the hash of the `Moment`;
    seat: who is played anew; groups; others: the specs of the other seats; times: continuations in each group; options,
    prompts, seating: as in `Plan`; learning: whether the learner learns; people: who had spoken from a seat before the
    moment, by seat, where that was a person.
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
        """The continuation with this number, from 0. Those of one turn draw the same in every group; groups take turns,
        so that a run stopped early has some of each.
        """
        turn, place = divmod(number, len(self.groups))
        parts = json.dumps([self.seed, self.root, self.of, self.step, turn]).encode()
        seed = int.from_bytes(sha256(parts).digest()[:6], "big")
        return PlannedGame(number, self.game_id(number), turn=turn, seed=seed, group=self.groups[place])

    def seats(self, planned: PlannedGame, roles: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        assert planned.group is not None
        return {self.seat: planned.group.player, **self.others}

    def specs_of(self, planned: PlannedGame) -> tuple[str, ...]:
        return tuple(self.seats(planned, {}).values())

    def label(self, planned: PlannedGame) -> str:
        assert planned.group is not None
        return planned.group.label

    def draw(self, game_id: str) -> str:
        """Groups share seeds, and must not share answers."""
        planned = self.planned(number_in(game_id) or 0)
        return f"{planned.seed} {planned.group}"


SAID = "said for the player"  # the note on a statement that the plan names


def continued(moment: Moment, planned: PlannedGame) -> Session:
    """The game at the moment as a continuation, with what the plan says there already said."""
    assert planned.group is not None
    session = moment.session()
    branch(session, planned.game_id, planned.seed)
    for batch in forced(planned.group):
        session.send(batch)
    return session


def forced(group: Group) -> tuple[Replies, ...]:
    """What is answered at the moment itself without asking the player."""
    return () if group.say is None else ((Reply(text=group.say, notes=(SAID,)),),)


def check_group(session: Session, seat: str, group: Group) -> None:
    """Raises UsageError if the seat cannot be made to speak at this moment."""
    asks = session.asks
    if group.say is None or (len(asks) == 1 and asks[0].seat == seat and asks[0].kind is AskKind.SPEAK):
        return
    asked = ", ".join(f"{ask.seat} to {ask.kind.value}" for ask in asks)
    raise UsageError(f"--say needs a step at which {seat} alone speaks; this one asks {asked}")


def played_here(journal: Journal) -> bool:
    """Whether the games of a run were played here, from their start or from a moment of another game."""
    return not {ForkPlan.KEY, Plan.KEY}.isdisjoint(journal.plan)


def can_rebuild(journal: Journal) -> bool:
    """Whether the games of a run were played or judged here, so that its plan and replies make them again."""
    return played_here(journal) or JudgePlan.KEY in journal.plan


def rebuild(journal: Journal, game_id: str) -> Session:
    """The game as the run made it, at the first ask that it had answered.

    Raises BadData for imported games, which have no replies, and for a plan that does not make this game; UsageError
    for a game under way that cannot be rebuilt before it ends, and for one whose players withdrew words.
    """
    if played_here(journal) and game_id in journal.game_ids():
        check_words(journal.record(game_id))
    if JudgePlan.KEY in journal.plan:
        return Session(_judging(journal, _ended(journal, game_id)))
    if ForkPlan.KEY in journal.plan:
        fork = ForkPlan.parse(journal.plan, journal.path)
        return continued(moment_of(journal, fork), _planned(journal, fork, game_id))
    plan, planned = planned_game(journal, game_id)
    return Session(plan.make(planned, lessons_of(journal, planned)))


def planned_game(journal: Journal, game_id: str) -> tuple[Plan, PlannedGame]:
    """The plan of a run that played games from their start, and the game in it. Raises BadData for another run."""
    if Plan.KEY not in journal.plan:
        raise BadData(f"{journal.path} holds games that were not played here; nobody was asked anything")
    plan = Plan.parse(journal.plan, journal.path)
    return plan, _planned(journal, plan, game_id)


def moment_of(journal: Journal, fork: ForkPlan) -> Moment:
    """The moment from which the games of a run go on. Raises BadData if the journal does not hold it."""
    text = journal.templates(fork.moment).get(FILE, "")
    try:
        written = _WrittenMoment.model_validate_json(text)
        replies = tuple(tuple(map(reply_from_json, batch)) for batch in written.replies)
        for reply in (reply for batch in replies for reply in batch):
            check_reply(reply)
    except (ValidationError, NotARecord, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        line = " ".join(plain(str(error)).split())[:160]
        raise BadData(
            f"{journal.path} holds no moment of a recorded game ({line}); restore the run from a copy"
        ) from None
    moment = Moment(written.made, replies, tuple(written.branches))
    if moment.hash != fork.moment:
        raise BadData(f"{journal.path} holds another moment than its plan names; restore the run from a copy")
    return moment


def lessons_of(journal: Journal, planned: PlannedGame) -> tuple[Lesson, ...]:
    """What the learner of a game knew when it began. Raises UsageError for a game that has not ended."""
    events = _ended(journal, planned.game_id).events if planned.learning else ()
    known = next((event.data["lessons"] for event in events if event.kind is EventKind.LESSONS), ())
    return tuple(Lesson(LessonKind(kind), text) for kind, text in known)


def ask_at(journal: Journal, game_id: str, step: int, seat: str) -> tuple[Ask, Sequence[Event], Game]:
    """The ask to a seat at a step, the events the seat had seen, and the game at that moment.

    Raises UsageError if no seat of that name is asked at that step, or if the replies end before it.
    """
    session = rebuild(journal, game_id)
    answers = journal.answers(game_id)
    while session.asks and session.asks[0].step < step:
        session.send(batch_of(session, answers, game_id))
    asked = {ask.seat: ask for ask in session.asks if ask.step == step}
    if seat not in asked:
        who = f"at step {step}, those asked are {', '.join(asked)}" if asked else f"it has no step {step}"
        raise UsageError(f"game {plain(game_id)} asks {plain(seat)} nothing: {plain(who)}; --calls lists the calls")
    return asked[seat], session.game.view(seat), session.game


def batch_of(session: Session, answers: Mapping[tuple[int, str], Reply], game_id: str) -> tuple[Reply, ...]:
    """The recorded replies to the waiting asks. Raises UsageError if there are none."""
    try:
        return tuple(answers[ask.step, ask.seat] for ask in session.asks)
    except KeyError:
        step = session.asks[0].step
        raise UsageError(f"the replies of game {plain(game_id)} end at step {step}; choose an earlier one") from None


def _planned(journal: Journal, plan: RunPlan, game_id: str) -> PlannedGame:
    number = number_in(game_id)
    if number is None or number not in plan.numbers or plan.game_id(number) != game_id:
        raise BadData(f"the plan of {journal.path} makes no game {plain(game_id)}; restore the folder from a copy")
    return plan.planned(number)


def _ended(journal: Journal, game_id: str) -> GameRecord:
    if game_id not in journal.game_ids():
        raise UsageError(f"game {plain(game_id)} has not ended; what it began with is known once it has")
    return journal.record(game_id)


def _judging(journal: Journal, judged: GameRecord) -> Game:
    plan = JudgePlan.parse(journal.plan, journal.path)
    judge = str(judged.meta.get("judge", ""))
    # A source may hold the ratings of judges of its own.
    played = (e for e in judged.events if "judge" not in e.data or (judge and e.data["judge"] != judge))
    frozen = replace(judged, events=tuple(played))
    asked = {event.about for event in judged.events if event.kind is EventKind.BELIEFS}
    made = {at: claims for at, claims in claims_made(frozen).items() if at in asked} if asked else {}
    return Judging(frozen, plan.asked, judge, made)


SENT, RENDERED = "as it was sent", "rendered again"


@dataclass(frozen=True, slots=True)
class CallPrompt:
    """The prompt of one call. origin: SENT or RENDERED; text: the prompt; requests: those the run kept, with their
    parameters; templates: the hash of the templates used for a rendered prompt.
    """

    game_id: str
    step: int
    seat: str
    kind: str
    origin: str
    text: str
    requests: tuple[KeptRequest, ...] = ()
    templates: str = ""

    def __repr__(self) -> str:
        return f"<CallPrompt {self.game_id}, step {self.step}, {self.seat}: {self.kind}, {self.origin}>"

    def to_json(self) -> dict[str, Any]:
        return {
            "game_id": self.game_id,
            "step": self.step,
            "seat": self.seat,
            "kind": self.kind,
            "origin": self.origin,
            "prompt": self.text,
            "templates": self.templates or None,
            "requests": [
                {
                    "attempt": request.attempt,
                    "model": request.model,
                    "request": request.body,
                    "response_id": request.response_id,
                    "served_model": request.served_model,
                    "problem": request.problem,
                    "via": request.via,
                }
                for request in self.requests
            ],
        }

    def lines(self) -> Iterator[Text]:
        """The prompt as text, under lines that say where it comes from."""
        yield Text(plain(f"{self.game_id}, step {self.step}, {self.seat}: {self.kind}"), "bold")
        if self.origin == RENDERED:
            yield Text(
                f"No request was kept. Rendered again from the journal with the templates {self.templates}; "
                "a player that asks no endpoint never saw it.",
                "yellow",
            )
        for request in self.requests:
            served = f", served by {request.served_model}" if request.served_model else ""
            name = f", response {request.response_id}" if request.response_id else ""
            problem = f": {' '.join(request.problem.split())}" if request.problem else ""
            via = f", from the {request.via}" if request.via else ""
            yield Text(plain(f"Request {request.attempt} to {request.model}{served}{name}{via}{problem}"), "dim")
        if self.requests and self.requests[-1].body:
            rest = {name: value for name, value in self.requests[-1].body.items() if name != "messages"}
            yield Text(plain(f"Parameters: {json.dumps(rest, ensure_ascii=False)}"), "dim")
        yield Text("")
        yield Text(plain(self.text))


def prompt_of_call(journal: Journal, game_id: str, step: int, seat: str) -> CallPrompt:
    """The prompt of the call to a seat at a step of a game.

    Raises UsageError if the game has no such call, BadData if nothing was kept and the templates are gone.
    """
    requests = tuple(journal.requests(game_id, step, seat))
    kept = [request for request in requests if request.body is not None]
    if kept and kept[-1].body is not None:
        kinds = {call["kind"] for call in journal.calls(game_id) if (call["step"], call["seat"]) == (step, seat)}
        messages = kept[-1].body.get("messages", ())
        text = "\n\n".join(str(message.get("content") or "") for message in messages)
        return CallPrompt(game_id, step, seat, str(next(iter(kinds - {None}), "?")), SENT, text, requests)
    ask, view, _ = ask_at(journal, game_id, step, seat)
    text = templates_of(journal, str(journal.plan["game"])).render(ask, view).text
    return CallPrompt(game_id, step, seat, ask.kind.value, RENDERED, text, requests, str(journal.plan["templates"]))


def templates_of(journal: Journal, game: str) -> Prompts:
    """The templates of a run, ready to render. Raises BadData if it does not hold them, or if they do not work."""
    try:
        return compiled(stored_templates(journal), game)
    except BadData:
        raise
    except UsageError as error:
        raise BadData(f"the templates that {journal.path} kept do not work: {error}") from error
