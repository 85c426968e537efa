"""The recorded game that is continued: the moment, who played, and under which plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liescope.common.errors import UnknownName, UsageError
from liescope.common.text import plain
from liescope.games.record import Source
from liescope.games.session import Session
from liescope.generate.players.prompts import Templates
from liescope.generate.players.registry import files_of
from liescope.generate.runs.job import forced
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import Branch, ForkPlan, Moment, made
from liescope.generate.runs.plan import Group, number_in, short_hash
from liescope.generate.runs.rebuild import batch_of, lessons_of, moment_of, planned_game, rebuild
from liescope.generate.runs.stored_templates import stored_templates
from liescope.generate.runs.terms import handed_on

_PERSON = "human:"  # the beginning of the specs of people


@dataclass(frozen=True)
class Recorded:
    """A recorded game, stopped at a moment. root: the game played from its start that it goes back to; specs: of every
    seat; people: those of them who were persons, by seat; learning: whether its learner learns; run: its name;
    run_plan: the plan of its run; templates: those that it was played with.
    """

    game_id: str
    root: str
    moment: Moment
    session: Session
    specs: Mapping[str, str]
    people: Mapping[str, str]
    learning: bool
    run: str
    run_plan: Mapping[str, Any]
    templates: Templates

    @classmethod
    def read(cls, journal: Journal, game_id: str, step: int) -> Recorded:
        """Raises UsageError if nothing is asked at that step, or the recorded replies end before it; BadData for a run
        that was not played here.
        """
        session = rebuild(journal, game_id)
        if ForkPlan.KEY in journal.plan:
            fork = ForkPlan.parse(journal.plan, journal.path)
            planned = fork.planned(number_in(game_id) or 0)
            assert planned.group is not None
            branches = (Branch(fork.step, game_id, planned.seed),)
            begin = moment_of(journal, fork).then(forced(planned.group), branches)
            root, learning = fork.root, fork.learning
            specs, people = fork.cast(planned), fork.people
        else:
            plan, first = planned_game(journal, game_id)
            lessons = tuple((lesson.kind.value, lesson.text) for lesson in lessons_of(journal, first))
            dealt = {"names": first.seats, "roles": first.roles, "learning": first.learning, "lessons": lessons}
            begin, learning = made(plan.game, game_id, first.seed, plan.options, **dealt), first.learning
            again = plan.dealt(first.number)
            root = again.root if again else game_id
            specs = plan.seats(first, session.game.roles)
            people = _people(journal, game_id, specs)
        if step < begin.step:
            raise UsageError(f"game {plain(game_id)} goes on from step {begin.step} of {plain(root)}; fork that game")
        answers, replies = journal.answers(game_id), []
        while session.asks and session.asks[0].step < step:
            replies.append(batch_of(session, answers, game_id))
            session.send(replies[-1])
        if not session.asks:
            raise UsageError(f"game {plain(game_id)} is over after step {begin.step + len(replies) - 1}")
        moment = begin.then(tuple(replies))
        return cls(
            game_id,
            root,
            moment,
            session,
            specs,
            people,
            learning,
            journal.name,
            journal.plan,
            stored_templates(journal),
        )

    @property
    def game(self) -> str:
        return str(self.run_plan["game"])

    def seat(self, name: str) -> str:
        """The seat that is played anew: the one named, or the one that is asked. Raises UsageError."""
        asked = [ask.seat for ask in self.session.asks]
        if name and name not in self.specs:
            raise UnknownName("seat", name, self.specs)
        if not name and len(asked) > 1:
            raise UsageError(f"{len(asked)} seats are asked at once ({', '.join(asked)}); name one with --seat")
        return name or asked[0]

    def plan(
        self, seat: str, groups: Sequence[Group], others: str, times: int, seed: int, templates: Templates
    ) -> ForkPlan:
        """The plan of continuations."""
        specs = {name: others or spec for name, spec in self.specs.items() if name != seat}
        for name, spec in [*((seat, group.player) for group in groups), *specs.items()]:
            if spec.startswith(_PERSON):
                raise UsageError(
                    f"{plain(name)} was played by a person ({plain(spec.removeprefix(_PERSON))}), who cannot be asked "
                    f"again; name who plays on with {'--player' if name == seat else '--others'}"
                )
        files, then = files_of([*(group.player for group in groups), *specs.values()]), self.run_plan.get("files", {})
        for name in files.keys() & then.keys():
            if files[name] != then[name]:
                raise UsageError(f"{plain(name)} has changed since {plain(self.run)} was played; name another file")
        return ForkPlan(
            fork=self.run,
            origin=short_hash(self.run_plan),
            of=self.game_id,
            root=self.root,
            step=self.moment.step,
            moment=self.moment.hash,
            game=self.game,
            seat=seat,
            groups=tuple(groups),
            others=specs,
            times=times,
            seed=seed,
            options=self.run_plan["options"],
            prompts=templates.name,
            seating=str(self.run_plan["seating"]),
            templates=templates.hash,
            learning=self.learning,
            files=files,
            people=dict(self.people),
            **handed_on(self.run_plan),
        )


def _people(journal: Journal, game_id: str, specs: Mapping[str, str]) -> dict[str, str]:
    """The persons in the seats of a game played from its start, by seat."""
    if game_id not in journal.game_ids():
        return {seat: spec.removeprefix(_PERSON) for seat, spec in specs.items() if spec.startswith(_PERSON)}
    return {seat.name: seat.model for seat in journal.record(game_id).seats if seat.source is Source.HUMAN}
