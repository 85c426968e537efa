"""A recorded game as a live game object: rebuilt from the run's plan and replayed up to any ask, at no cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.text import Text

from liescope.common.errors import BadData, UsageError
from liescope.common.text import plain
from liescope.games.core import Ask, Event, EventKind, Game, Lesson, LessonKind, Reply
from liescope.games.judging import Judging, Reader
from liescope.games.record import GameRecord
from liescope.games.session import Session
from liescope.games.withdrawal import check_words
from liescope.generate.players.prompts.render import Prompts, compiled
from liescope.generate.runs.job import JudgePlan, continued
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import KeptRequest, number_in
from liescope.generate.runs.moment import FILE, ForkPlan, Moment, read_moment
from liescope.generate.runs.plan import Plan, PlannedGame, RunPlan
from liescope.generate.runs.planning import stored_templates


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
    moment = read_moment(text, journal.path)
    if moment.hash != fork.moment:
        raise BadData(f"{journal.path} holds another moment than its plan names; restore the run from a copy")
    return moment


def lessons_of(journal: Journal, planned: PlannedGame) -> tuple[Lesson, ...]:
    """What the learner of a game knew when it began. Raises UsageError for a game that has not ended."""
    return _lessons(_ended(journal, planned.game_id)) if planned.learning else ()


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
    if number is None or number >= len(plan) or plan.game_id(number) != game_id:
        raise BadData(f"the plan of {journal.path} makes no game {plain(game_id)}; restore the folder from a copy")
    return plan.planned(number)


def _ended(journal: Journal, game_id: str) -> GameRecord:
    if game_id not in journal.game_ids():
        raise UsageError(f"game {plain(game_id)} has not ended; what it began with is known once it has")
    return journal.record(game_id)


def _lessons(game: GameRecord) -> tuple[Lesson, ...]:
    for event in game.events:
        if event.kind is EventKind.LESSONS:
            return tuple(Lesson(LessonKind(kind), text) for kind, text in event.data["lessons"])
    return ()


def _judging(journal: Journal, judged: GameRecord) -> Game:
    plan = JudgePlan.parse(journal.plan, journal.path)
    judge = str(judged.meta.get("judge", ""))
    # A source may hold the ratings of judges of its own.
    played = (e for e in judged.events if "judge" not in e.data or (judge and e.data["judge"] != judge))
    frozen = replace(judged, events=tuple(played))
    return Judging(frozen, plan.asked, judge) if plan.read is None else Reader(frozen, plan.read, judge)


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
