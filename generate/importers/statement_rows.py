"""A statement from anywhere as a row of declared columns; and the record of the game that such rows make."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData
from liescope.common.reading import faults
from liescope.games.core import EventKind, Outcome, Phase
from liescope.games.facts import Count, Share
from liescope.games.record import GameRecord, Seat, Source
from liescope.generate.importers.game_reader import NO_WINNER, PERSON, GameWriter, Logged
from liescope.generate.importers.tables import SPLIT_NAMES, listed

UNKNOWN_MODEL = "unknown"
_PHASES = {Phase.DISCUSSION.value, Phase.VOTING.value, Phase.DEFENCE.value, Phase.REVOTE.value}
_TRUE = frozenset({"true", "t", "yes", "y", "1", "1.0", "deceptive", "lie"})
_FALSE = frozenset({"false", "f", "no", "n", "0", "0.0", "honest", "truth"})
_NOTHING = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none"})
_SAID = frozenset({"text", "reasoning", "self_reason", "reason", "quote"})


def present(value: Any) -> bool:
    """Whether a cell has a value: it is not null, NaN or an empty text."""
    return value is not None and value != "" and not (isinstance(value, float) and math.isnan(value))


def stated(value: Any) -> bool:
    """Whether a cell that is no person's words has a value: a table in text may write an absent one as NA or None."""
    return present(value) and not (isinstance(value, str) and value.strip().casefold() in _NOTHING)


def as_text(value: Any) -> Any:
    """Any scalar as text; whole floats, as integers become beside nulls, without the point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str):
        return value.strip()
    return value if isinstance(value, list | dict) else str(value)


def _flag(value: Any) -> bool:
    word = str(value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(f"{word[:40]!r} is neither true nor false")
    return word in _TRUE


def as_list(value: Any) -> Any:
    """A list; in a text, as JSON as Python writes it, or with commas between the items."""
    if isinstance(value, str):
        return listed(value) if value.lstrip().startswith("[") else [item.strip() for item in value.split(",")]
    return value


def _source(value: Any) -> Any:
    """A source by its name; true means a model, false a person."""
    word = str(value).strip().lower()
    named = {"people": Source.HUMAN, "person": Source.HUMAN, "llm": Source.MODEL, "ai": Source.MODEL}
    if word in {*Source, *named}:
        return named.get(word) or Source(word)
    return Source.MODEL if _flag(value) else Source.HUMAN


def _split(value: Any) -> str:
    word = str(value).strip().lower()
    if word not in SPLIT_NAMES:
        raise ValueError(f"{word[:40]!r} is not train, validation or test; leave the column out with --map split=")
    return SPLIT_NAMES[word]


Text = Annotated[str, BeforeValidator(as_text)]
Flag = Annotated[bool, BeforeValidator(_flag)]


class RowCell(BaseModel):
    """A row, or a record within a row. Empty cells count as absent."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    @classmethod
    def of(cls, cells: Mapping[str, Any]) -> Any:
        """The row with these cells. Raises pydantic's ValidationError."""
        here = {name: value for name, value in cells.items() if (present if name in _SAID else stated)(value)}
        return cls.model_validate(here)


def _records(kind: type[RowCell]) -> BeforeValidator:
    """A list of records; a bare text is a record's first field, a list its fields in order."""
    names = tuple(kind.model_fields)

    def fields(record: Any) -> Mapping[str, Any]:
        if isinstance(record, Mapping):
            return record
        return dict(zip(names, record if isinstance(record, list) else [record], strict=False))

    def read(value: Any) -> Any:
        found = as_list(value)
        if not isinstance(found, list):
            return found
        return [kind.of(fields(record)) for record in found]

    return BeforeValidator(read)


class Rating(RowCell):
    """What one player thought of the statement."""

    observer: Text
    flag: Flag | None = None
    type: Text | None = None
    confidence: Share | None = None
    suspicion: Share | None = None
    reason: Text = ""


class VoteColumns(RowCell):
    """One vote."""

    voter: Text
    target: Text | None = None


class ClaimColumns(RowCell):
    """A claim found in the statement."""

    kind: Text
    subject: Text | None = None
    object: Text | None = None
    polarity: Literal["affirmed", "denied"] | None = None
    verdict: Annotated[Literal["true", "false", "unverifiable"], BeforeValidator(lambda v: str(v).lower())] | None = (
        None
    )
    start: Count | None = None
    end: Count | None = None
    quote: str = ""
    known: Flag | None = None


class PlayerColumns(RowCell):
    """A player, who may never speak."""

    name: Text
    role: Text = ""
    team: Text = ""
    deceives: Flag | None = None
    model: Text = ""
    source: Annotated[Source, BeforeValidator(_source)] | None = None


class Row(RowCell):
    """One statement. Whatever a source does not have is left out."""

    game_id: Text = Field(description="the game; its rows may be anywhere in the source")
    speaker: Text = Field(description="who speaks, unique in the game")
    text: Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else as_text(value))] = Field(
        default="", description="what was said; empty for a turn that passed in silence"
    )
    index: float | None = Field(
        default=None, description="its place in the game; by default, rows keep the order of the source"
    )
    model: Text = Field(default="", description="the model that speaks")
    source: Annotated[Source, BeforeValidator(_source)] | None = Field(
        default=None, description="`model`, `human` or `scripted`; true means a model, false a person"
    )
    role: Text = Field(default="", description="the speaker's hidden role")
    team: Text = Field(default="", description="the team of that role")
    deceives: Flag | None = Field(default=None, description="whether the role aims to deceive the others")
    label_gold: Flag | None = Field(
        default=None, description="the source's own label: the statement is deceptive; `--means` says in what sense"
    )
    reasoning: Text = Field(default="", description="what the speaker thought before it spoke")
    label_self: Flag | None = Field(default=None, description="the speaker's own report: it was deceptive")
    self_type: Text | None = Field(default=None, description="the type of deception that the speaker reports")
    self_confidence: Share | None = Field(default=None, description="the speaker's confidence in the report, 0 to 1")
    self_reason: Text = Field(default="", description="the speaker's reason")
    ratings: Annotated[tuple[Rating, ...], _records(Rating)] = Field(
        default=(),
        description="the others' ratings: a list of `observer`, `flag`, `type`, `confidence`, `suspicion`, `reason`",
    )
    claims: Annotated[tuple[ClaimColumns, ...], _records(ClaimColumns)] = Field(
        default=(),
        description="claims in it: a list of `kind`, `subject`, `object`, `polarity`, `verdict`, `start`, `end`, "
        "`quote`, `known`",
    )
    votes: Annotated[tuple[VoteColumns, ...], _records(VoteColumns)] = Field(
        default=(),
        description="votes cast after it: a list of `voter`, `target`, or pairs; a list that rows repeat counts once",
    )
    audience: Annotated[tuple[Text, ...], BeforeValidator(as_list)] = Field(
        default=(), description="who heard it; without it, everyone"
    )
    players: Annotated[tuple[PlayerColumns, ...], _records(PlayerColumns)] = Field(
        default=(),
        description="players, also those who never speak: names, or a list of `name`, `role`, `team`, `deceives`, "
        "`model`, `source`",
    )
    day: Count = Field(default=1, description="the day of the game")
    phase: Text = Field(default="discussion", description="`discussion`, `voting` or `defence`")
    round: Count = Field(default=1, description="the round of discussion")
    split: Annotated[str, BeforeValidator(_split)] | None = Field(
        default=None, description="the official split: `train`, `validation` or `test`, the same for a whole game"
    )
    winner: Text | None = Field(default=None, description="the winning team, the same for a whole game")
    canary: Text = Field(default="", description="the mark by which publishers ask that nobody trains on the game")


ALSO = {
    "speaker_role": "role",
    "speaker_team": "team",
    "speaker_model": "model",
    "position": "index",
    "label_role": "deceives",
}
"""Column names of Liescope's own corpora, read where the format's name is not there."""


def table() -> str:
    """The columns as a Markdown table."""
    lines, also = ["| column | holds |", "|---|---|"], {ours: theirs for theirs, ours in ALSO.items()}
    for name, field in Row.model_fields.items():
        needed = ", **required**" if name in REQUIRED else f" (also `{also[name]}`)" if name in also else ""
        lines.append(f"| `{name}`{needed} | {field.description} |")
    return "\n".join(lines) + "\n"


REQUIRED = ("game_id", "speaker", "text")
"""Columns that a source must have, under these names or renamed."""

NEEDED = (*REQUIRED, "index", "audience", "split")
"""Columns that cannot be left out of a row where they cannot be read: without its place, its hearers or its split it
would say something else. What the others hold is merely not known then.
"""


def read_row(cells: Mapping[str, Any]) -> tuple[Row, dict[str, str]]:
    """The row with these cells, and the columns that could not be read and are left out, with the reason. Raises
    BadData for a column of `NEEDED`.
    """
    try:
        return Row.of(cells), {}
    except ValidationError as error:
        found = dict(reversed(faults(error)))
        if needed := [why for name, why in found.items() if name in NEEDED]:
            raise BadData(needed[-1]) from error
    return Row.of({name: value for name, value in cells.items() if name not in found}), found


# The record that the rows of a game make


def game_of(
    game_id: str,
    game: str,
    rows: Sequence[Row],
    deceptive_roles: Collection[str],
    notes: Sequence[str],
    left_out: Mapping[str, int],
) -> GameRecord:
    """The record of a game. rows: in the order of the source; deceptive_roles: those that aim to deceive, where the
    rows name roles only; notes: what was noticed before; left_out: by column, the cells that could not be read. Raises
    BadData if the rows contradict each other.
    """
    found = Counter(notes)
    ordered = _in_order(_without_copies(rows, found), found)
    winner = _agreed(f"game {game_id}", "winner", {row.winner for row in ordered}) or ""
    split = _agreed(f"game {game_id}", "split", {row.split for row in ordered}) or ""
    logged = Logged("", 0, game_id, ordered, split=split)
    writer = _RowWriter(game, logged)
    writer.notes = found
    writer.seats = {seat.name: seat for seat in _seats(ordered, {role.casefold() for role in deceptive_roles})}
    writer.write(logged)
    winners = tuple(seat.name for seat in writer.seats.values() if winner and seat.team == winner)
    reason, days = "the source says so" if winner else NO_WINNER, max(row.day for row in ordered)
    writer.outcome = Outcome(winner, winners, reason, days)
    if canary := next((row.canary for row in rows if row.canary), ""):
        writer.meta["canary"] = canary
    if left_out:
        writer.meta["cells_left_out"] = dict(left_out)
    if found:
        writer.meta["import_notes"] = [f"{note} ({n} times)" if n > 1 else note for note, n in found.items()]
    return writer.record()


class _RowWriter(GameWriter):
    """Writes what the rows of a game say. notes: what was noticed."""

    notes: Counter[str]

    def write(self, logged: Logged) -> None:
        rows: list[Row] = logged.entries
        for row, after in zip(rows, [*rows[1:], None], strict=True):
            self.day, self.phase, self.round = row.day, self._phase(row), row.round
            heard = {*row.audience, row.speaker} if row.audience else {*self.seats}
            audience = None if heard == {*self.seats} else tuple(dict.fromkeys((row.speaker, *row.audience)))
            claims = [claim.model_dump(exclude_defaults=True) for claim in row.claims]
            data: dict[str, Any] = {"claims": claims} if claims else {}
            data |= {} if row.label_gold is None else {"gold": row.label_gold}
            data |= {"private": {"reasoning": row.reasoning}} if row.reasoning else {}
            said = self.say(row.speaker, row.text.encode("utf-8", "replace").decode(), audience, data)
            if said is None:
                self.notes["a text is empty: a silence"] += 1
            else:
                self._opinions(row, said)
            self.phase = Phase.VOTING
            for vote in row.votes if after is None or after.votes != row.votes else ():
                if vote.target is None:
                    self.notes["a vote names nobody and is left out"] += 1
                else:
                    self.log(EventKind.VOTE, vote.voter, vote.target)

    def _opinions(self, row: Row, said: int) -> None:
        """The speaker's report and the others' ratings, as far as the row has them."""
        own = _known(deceptive=row.label_self, type=row.self_type, confidence=row.self_confidence)
        if own:
            own |= {"reason": row.self_reason} if row.self_reason else {}
            about: Any = {"about": said, "data": {"assessment": own}}
            self.log(EventKind.SELF_REPORT, row.speaker, row.speaker, (row.speaker,), **about)
        for one in row.ratings:
            rated = one.model_dump(include={"type", "confidence", "suspicion"})
            view = _known(deceptive=one.flag, **rated, reason=one.reason or None)
            about = {"about": said, "data": {"assessment": view}}
            self.log(EventKind.RATING, one.observer, row.speaker, (one.observer,), **about)

    def _phase(self, row: Row) -> Phase:
        word = row.phase.casefold()
        if word in _PHASES:
            return Phase(word)
        self.notes[f"the phase {row.phase[:40]!r} is not known and counts as discussion"] += 1
        return Phase.DISCUSSION


def _known(**opinion: Any) -> dict[str, Any]:
    """What is known of an opinion."""
    return {name: value for name, value in opinion.items() if value is not None}


def _without_copies(rows: Sequence[Row], found: Counter[str]) -> list[Row]:
    """The rows, of which one with the same index and content as another is kept once."""
    kept: list[Row] = []
    seen: dict[float, list[Row]] = {}
    for row in rows:
        same = seen.setdefault(row.index, []) if row.index is not None else []
        if row in same:
            found["a row occurs twice and counts once"] += 1
            continue
        if same:
            found["two statements have one index and stand in the order of the source"] += 1
        same.append(row)
        kept.append(row)
    return kept


def _in_order(rows: list[Row], found: Counter[str]) -> list[Row]:
    placed = sum(row.index is not None for row in rows)
    if 0 < placed < len(rows):
        found["some rows have no index, so all stand in the order of the source"] += 1
    return sorted(rows, key=lambda row: row.index or 0) if placed == len(rows) else rows


def _agreed(whose: str, what: str, values: set[Any]) -> Any:
    """The one value that rows give, None if there is none. Raises BadData if they differ."""
    given = values - {None, ""}
    if len(given) > 1:
        named = " and ".join(sorted(map(str, given))[:3])
        advice = "; leave the column out with --map split=" if what == "split" else ""
        raise BadData(f"{whose} has more than one {what}: {named}{advice}")
    return next(iter(given), None)


def _seats(rows: Sequence[Row], deceptive: Collection[str]) -> tuple[Seat, ...]:
    """Everyone who is named, in order of first mention; speakers before those who are only mentioned."""
    said: dict[str, list[PlayerColumns]] = {}
    for row in rows:
        for player in row.players:
            said.setdefault(player.name, []).append(player)
    for row in rows:
        own = PlayerColumns(
            name=row.speaker, role=row.role, team=row.team, deceives=row.deceives, model=row.model, source=row.source
        )
        said.setdefault(row.speaker, []).append(own)
    for name in _mentioned(rows):
        said.setdefault(name, [])
    return tuple(_seat(name, players, deceptive) for name, players in said.items())


def _mentioned(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield from row.audience
        yield from (rating.observer for rating in row.ratings)
        for vote in row.votes:
            yield from filter(None, (vote.voter, vote.target))


def _seat(name: str, players: Sequence[PlayerColumns], deceptive: Collection[str]) -> Seat:
    role, team, deceives, model, source = (
        _agreed(name, what, {getattr(player, what) for player in players})
        for what in ("role", "team", "deceives", "model", "source")
    )
    if deceives is None and role and deceptive:
        deceives = role.casefold() in deceptive
    if source is None:
        source = Source.IMPORTED if not model else Source.HUMAN if model.casefold() == PERSON else Source.MODEL
    model = model or (PERSON if source is Source.HUMAN else UNKNOWN_MODEL)
    return Seat(name, role or "", team or "", deceives, model, source)
