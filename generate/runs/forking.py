"""Playing continuations of one moment of a recorded game: the job behind `liescope fork`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.games.core import AskKind, Game, Outcome, Replies, Reply
from liescope.games.facts import ForkMeta
from liescope.games.record import GameRecord, record
from liescope.games.session import Session, branch
from liescope.generate.players.protocol import Player, named
from liescope.generate.runs.fork_plan import KEY, Continuation, ForkPlan, Group, read_fork_plan
from liescope.generate.runs.moment import FILE, Moment

SAID = "said for the player"  # the note on a statement that the plan names


class Forking:
    """The job of playing the continuations of a moment."""

    def __init__(self, plan: ForkPlan, moment: Moment) -> None:
        self.game = plan.game
        self.players = plan.players
        self._plan = plan
        self.moment = moment
        self._events = len(moment.session().events)

    def __len__(self) -> int:
        return len(self._plan)

    def plan(self) -> dict[str, Any]:
        return self._plan.to_json()

    def check(self, plan: Mapping[str, Any], where: Path) -> None:
        if KEY not in plan:
            raise BadData(f"{where} holds other games than continuations; choose another --out")
        read_fork_plan(plan, where)

    def kept(self) -> Mapping[str, Mapping[str, str]]:
        return {self.moment.hash: {FILE: self.moment.text}}

    def chains(self, ended: Set[str]) -> Iterator[Sequence[Continuation]]:
        for planned in map(self._plan.planned, range(len(self))):
            if planned.game_id not in ended:
                yield (planned,)

    def draw(self, game_id: str) -> str:
        planned = self._plan.planned(int(game_id.rpartition("-")[2]))
        return f"{planned.seed} {planned.group}"  # groups share seeds, and must not share answers

    def origin(self, game_id: str) -> str:  # noqa: ARG002
        return self._plan.root

    def specs(self, planned: Continuation) -> Collection[str]:
        return self._plan.seats(planned.group).values()

    def planned(self, number: int) -> Continuation:
        return self._plan.planned(number)

    def begin(self, planned: Continuation, players: Mapping[str, Player]) -> Session:  # noqa: ARG002
        return continued(self.moment, planned)

    def seats(self, planned: Continuation, game: Game) -> Mapping[str, str]:  # noqa: ARG002
        return self._plan.seats(planned.group)

    async def end(
        self, planned: Continuation, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        plan = self._plan
        fork = ForkMeta(
            run=plan.fork,
            game=plan.of,
            step=plan.step,
            root=plan.root,
            seat=plan.seat,
            group=planned.group.label,
            number=planned.turn,
            events=self._events,
        )
        if plan.people:
            fork["people"] = plan.people
        meta: dict[str, Any] = {"turn": planned.turn, "seating": plan.seating, "fork": fork}
        if plan.learning:
            meta["learning"] = True
        who = {name: named(player, planned.game_id, name) for name, player in players.items()}
        return record(game, outcome, who, planned.group.label, failure, meta)


def continued(moment: Moment, planned: Continuation) -> Session:
    """The game at the moment as a continuation, with what the plan says there already said."""
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
