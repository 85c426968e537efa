"""`liescope.fork`: play many continuations of one moment of a recorded game."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from liescope.common.errors import UnknownName, UsageError
from liescope.common.settings import Setting, resolve, saved, takes
from liescope.common.text import plain
from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source
from liescope.games.session import Session
from liescope.generate.players.player_registry import files_of, player_names
from liescope.generate.players.prompts import Templates
from liescope.generate.players.run_limits import RunSettings
from liescope.generate.runs.job import Forking
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import number_in
from liescope.generate.runs.moment import (
    MOST_CONTINUATIONS,
    Branch,
    ForkPlan,
    Moment,
    batch_of,
    check_group,
    forced,
    lessons_of,
    made,
    moment_of,
    planned_game,
    rebuild,
)
from liescope.generate.runs.plan_games import stored_templates, templates_for
from liescope.generate.runs.play import RunResult, run_job
from liescope.generate.runs.run_folder import RunConfig, handed_on
from liescope.generate.runs.run_plan import Group, short_hash

if TYPE_CHECKING:
    import polars as pl

    from liescope.common.report.contents import Report


MEASURES = ("won", "votes")


@dataclass(frozen=True, slots=True)
class Ending:
    """How one continuation ended for the seat that was played anew. won: 1.0 or 0.0; votes: the share of the others'
    votes, from the moment on, that named it, without those that the rules drew; None if there are none.
    """

    group: str
    number: int
    won: float
    votes: float | None


def ending(game: GameRecord) -> Ending:
    """The ending of a continuation that was played to the end."""
    fork = game.meta["fork"]
    votes = [
        event.target == fork["seat"]
        for event in game.events[fork["events"] :]
        if event.kind is EventKind.VOTE and event.actor != fork["seat"] and not event.fallback
    ]
    won = game.outcome is not None and fork["seat"] in game.outcome.winners
    return Ending(fork["group"], fork["number"], float(won), fmean(votes) if votes else None)


@dataclass(frozen=True, repr=False)
class ForkResult(RunResult):
    """A run of continuations after `fork`; `effects` compares its groups."""

    @cached_property
    def effects(self) -> pl.DataFrame:
        """One row for each group and measure, in the order of the plan.

        Columns: group; measure: won (the seat's side won) or votes (the share of the others' votes, from the moment on,
        that named the seat); games: counted; mean, lo, hi: with a 95% interval (Wilson's for won, Student's for votes);
        pairs, difference, difference_lo, difference_hi: against the first group, over continuations of one number,
        which share their random draws (Newcombe's interval of paired shares for won, Student's of the differences for
        votes; null in the first group). Intervals are null with fewer than two games; see
        `liescope.common.statistics`.
        """
        import polars as pl

        with Journal.open(self.folder) as journal:
            groups = [group["label"] for group in journal.plan["groups"]]
            endings = [ending(game) for game in journal.records() if game.outcome is not None]
        rows = effects(groups, endings)
        texts, counts = ("group", "measure"), ("games", "pairs")
        kinds = {
            name: pl.String() if name in texts else pl.Int64() if name in counts else pl.Float64() for name in _ROW
        }
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"effects": self.effects.to_dicts()}

    @property
    def report(self) -> Report:
        """The effects as they are printed: what each group is, and its measures with 95% intervals."""
        import polars as pl

        from liescope.common.report.contents import Column, Report, Section, Table

        columns = (
            Column("group"),
            Column("measure"),
            Column("games"),
            Column("mean", "mean, 95%", format=".2f", interval=True),
            Column("difference", "less the first", format="+.2f", interval=True),
        )
        words = {"won": "its side won", "votes": "votes for it"}
        groups = self.effects["group"].unique(maintain_order=True).to_list()
        frame = self.effects.rename({"lo": "mean_lo", "hi": "mean_hi"}).with_columns(
            pl.col("group").replace_strict(groups, [str(number) for number in range(1, len(groups) + 1)]),
            pl.col("measure").replace_strict(words),
        )
        names = tuple(f"{number}: {group}" for number, group in enumerate(groups, 1))
        title = f"{self.about['seat']}, by group"
        section = Section("effects", title, names, table=Table.of(frame, columns), printed=True)
        return Report(sections=(section,), tables={"effects": self.effects})


_ROW = (
    "group",
    "measure",
    "games",
    "mean",
    "lo",
    "hi",
    "pairs",
    "difference",
    "difference_lo",
    "difference_hi",
)


def effects(groups: Sequence[str], endings: Sequence[Ending]) -> list[tuple[Any, ...]]:
    """The rows of `ForkResult.effects`."""
    from liescope.common.statistics import Rows, mean, paired

    by = {name: {one.number: one for one in endings if one.group == name} for name in groups}
    rows = []
    for name in groups:
        for measure in MEASURES:
            own, first = _values(by[name], measure), _values(by[groups[0]], measure)
            shared = sorted(own.keys() & first.keys())
            ones, others = [own[number] for number in shared], [first[number] for number in shared]
            less = [one - other for one, other in zip(ones, others, strict=True)]
            against = (None,) * 4 if name == groups[0] else (len(shared), *_mean(less), *paired(ones, others))
            values = list(own.values())
            rows.append((name, measure, len(values), *_mean(values), *mean(Rows.of(values)), *against))
    return rows


def _values(endings: Mapping[int, Ending], measure: str) -> dict[int, float]:
    found = {number: getattr(one, measure) for number, one in sorted(endings.items())}
    return {number: value for number, value in found.items() if value is not None}


def _mean(values: Sequence[float]) -> tuple[float | None]:
    return (fmean(values) if values else None,)


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
            root = game_id
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


_SHOWN = 200  # characters of a statement in the name of its group


class ContinuationSettings(TypedDict, total=False):
    """What differs from the recorded game from the moment on."""

    players: Annotated[
        Sequence[str],
        Setting(
            "Who plays the seat; may be repeated.", (), shown="who played it", flag="--player", choices=player_names
        ),
    ]
    seat: Annotated[str, Setting("Who is played anew.", "", shown="who is asked", metavar="NAME")]
    say: Annotated[Sequence[str], Setting("What the seat says at that moment; may be repeated, a group for each.", ())]
    others: Annotated[str, Setting("Who plays the other seats.", "", shown="who played them", choices=player_names)]
    times: Annotated[int, Setting("Continuations in each group.", 20, at_least=1, at_most=MOST_CONTINUATIONS)]
    seed: Annotated[int, Setting("Seed of what the rules draw from the moment on.", 0)]
    prompts: Annotated[str, Setting("A set of prompts, or a folder.", "", shown="those of the run")]


class ForkSettings(ContinuationSettings, RunSettings, total=False):
    """What `fork` takes."""


@takes(ForkSettings)
def fork(
    run: str | os.PathLike[str],
    game: str,
    step: int,
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[ForkSettings],
) -> ForkResult:
    """Play a recorded game on from one of its moments, many times, or resume that.

    There is a group of continuations for each player and each text that is said. Those of one number share their
    random draws, so groups are compared in pairs.

    Parameters
    ----------
    run : str or path
        The folder of a run, which is only read.
    game : str
        The game's id, the beginning of it, or its number.
    step : int
        The step that is answered anew, as `liescope show RUN GAME --calls` counts them.
    out : str or path, optional
        The folder of the continuations, by default RUN-fork-GAME-STEP.
    progress : bool
        Show a live display on standard error.
    **settings

    Returns
    -------
    ForkResult
        Its `effects` compare the groups, and its `report` shows them.

    Raises
    ------
    UsageError
        For a moment that does not exist or at which the seat is not asked.
    BadData
        For a run that was not played here or cannot be read.
    PlanChanged
        If the folder holds other continuations.
    """
    source, own = Path(run), resolve(ForkSettings, settings)
    with Journal.open(source) as journal:
        recorded = Recorded.read(journal, journal.find(game), step)
    folder = Path(out) if out is not None else default_folder(source, recorded.game_id, step)
    if folder.resolve() == source.resolve():
        raise UsageError("the continuations need a folder of their own; choose another --out")
    asked = recorded.seat(own["seat"])
    groups = _groups(_once(own["players"]) or [recorded.specs[asked]], _once(own["say"]))
    for group in groups:
        check_group(recorded.session, asked, group)
    templates = templates_for(own["prompts"], recorded.game, folder) if own["prompts"] else recorded.templates
    plan = recorded.plan(asked, groups, own["others"], own["times"], own["seed"], templates)
    options = {"run": source, "game": recorded.game_id, "step": step, **saved(ForkSettings, own)}
    about = {"run": str(folder), "game": plan.game, "fork": plan.of, "step": step, "seat": asked}
    job = Forking(plan, recorded.moment, templates)
    done = run_job(job, folder, own, about, RunConfig("fork", options), progress)
    return ForkResult(done.folder, done.about, done.tally, done.seconds, done.currency)


def default_folder(run: Path, game_id: str, step: int) -> Path:
    """The folder next to the run, named after the moment."""
    return run.with_name(f"{run.resolve().name}-fork-{game_id.rpartition('-')[2].lstrip('0') or '0'}-{step}")


def _groups(players: Sequence[str], say: Sequence[str]) -> tuple[Group, ...]:
    """A group for each player and text; its label names what differs."""
    named, texts = len(players) > 1 or not say, list[str | None](say) or [None]
    found: dict[str, Group] = {}
    for player in players:
        for text in texts:
            label = ": ".join([player] * named + [_quoted(text)] * (text is not None))
            label = label if label not in found else f"{label} ({len(found) + 1})"
            found[label] = Group(label=label, player=player, say=text)
    return tuple(found.values())


def _quoted(text: str | None) -> str:
    line = " ".join((text or "").split())
    return f'"{line}"' if len(line) <= _SHOWN else f'"{line[: _SHOWN - 1]}…"'


def _once(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(words))
