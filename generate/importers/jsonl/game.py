"""The rows of one game as a record: what they say of seats, statements, opinions and votes, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from liescope.common.errors import BadData
from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.generate.importers.jsonl.columns import Player, Rating, Row

UNKNOWN_MODEL = "unknown"
PERSON = "human"
NO_WINNER = "the source does not say who won"
_PHASES = {Phase.DISCUSSION.value, Phase.VOTING.value, Phase.DEFENCE.value, Phase.REVOTE.value}


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
    seats = _seats(ordered, {role.casefold() for role in deceptive_roles})
    events = tuple(_numbered(_events(ordered, [seat.name for seat in seats], found)))
    winner = _agreed(f"game {game_id}", "winner", {row.winner for row in ordered}) or ""
    split = _agreed(f"game {game_id}", "split", {row.split for row in ordered}) or ""
    winners = tuple(seat.name for seat in seats if winner and seat.team == winner)
    days = max(row.day for row in ordered)
    return GameRecord(
        game_id,
        game,
        None,
        "",
        seats,
        events,
        Status.DONE,
        Outcome(winner, winners, "the source says so" if winner else NO_WINNER, days),
        meta={
            **({"split": split} if split else {}),
            **({"cells_left_out": dict(left_out)} if left_out else {}),
            **({"import_notes": [_counted(note, found[note]) for note in found]} if found else {}),
        },
    )


def _counted(note: str, times: int) -> str:
    return note if times < 2 else f"{note} ({times} times)"


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
    """The one value that rows give, None if none does. Raises BadData if they give several."""
    given = values - {None, ""}
    if len(given) > 1:
        named = " and ".join(sorted(map(str, given))[:3])
        advice = "; leave the column out with --map split=" if what == "split" else ""
        raise BadData(f"{whose} has more than one {what}: {named}{advice}")
    return next(iter(given), None)


def _seats(rows: Sequence[Row], deceptive: Collection[str]) -> tuple[Seat, ...]:
    """Everyone who is named, in the order of the first mention; speakers before those who are only mentioned."""
    said: dict[str, list[Player]] = {}
    for row in rows:
        for player in row.players:
            said.setdefault(player.name, []).append(player)
    for row in rows:
        own = Player(
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


def _seat(name: str, players: Sequence[Player], deceptive: Collection[str]) -> Seat:
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


def _numbered(facts: Iterator[dict[str, Any]]) -> Iterator[Event]:
    """The events; a report or rating is about the last statement before it."""
    statement = -1
    for index, fact in enumerate(facts):
        if fact["kind"] in (EventKind.SELF_REPORT, EventKind.RATING):
            fact["about"] = statement
        elif fact["kind"] is EventKind.STATEMENT:
            statement = index
        yield Event(index, **fact)


def _events(rows: Sequence[Row], names: Sequence[str], found: Counter[str]) -> Iterator[dict[str, Any]]:
    for place, row in enumerate(rows):
        at = {"day": row.day, "phase": _phase(row, found), "round": row.round}
        text = row.text.encode("utf-8", "replace").decode()
        heard = tuple(dict.fromkeys((row.speaker, *row.audience))) if row.audience else None
        whole = heard is not None and len(heard) == len(names)
        audience = None if heard is None or whole else heard
        if text.strip():
            claims = [claim.model_dump(exclude_defaults=True) for claim in row.claims]
            data = {"claims": claims} if claims else {}
            yield {
                "kind": EventKind.STATEMENT,
                **at,
                "actor": row.speaker,
                "text": text,
                "audience": audience,
                "data": data,
            }
            yield from _opinions(row, at)
        else:
            found["a text is empty: a silence"] += 1
            yield {"kind": EventKind.SILENCE, **at, "actor": row.speaker, "audience": audience}
        after = rows[place + 1] if place + 1 < len(rows) else None
        if row.votes and (after is None or after.votes != row.votes):
            for vote in row.votes:
                if vote.target is None:
                    found["a vote names nobody and is left out"] += 1
                else:
                    ballot = {**at, "phase": Phase.VOTING, "actor": vote.voter, "target": vote.target}
                    yield {"kind": EventKind.VOTE, **ballot}


def _opinions(row: Row, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The speaker's report and the others' ratings, as far as the row has them."""
    about = {**at, "target": row.speaker}
    report = {"deceptive": row.label_self, "type": row.self_type, "confidence": row.self_confidence}
    said = {name: value for name, value in report.items() if value is not None}
    if said:
        said |= {"reason": row.self_reason} if row.self_reason else {}
        facts = {"actor": row.speaker, "audience": (row.speaker,), "data": {"assessment": said}}
        yield {"kind": EventKind.SELF_REPORT, **about, **facts}
    for rating in row.ratings:
        facts = {"actor": rating.observer, "audience": (rating.observer,), "data": {"assessment": _view(rating)}}
        yield {"kind": EventKind.RATING, **about, **facts}


def _view(rating: Rating) -> dict[str, Any]:
    found = {
        "deceptive": rating.flag,
        "type": rating.type,
        "confidence": rating.confidence,
        "suspicion": rating.suspicion,
        "reason": rating.reason or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _phase(row: Row, found: Counter[str]) -> Phase:
    word = row.phase.casefold()
    if word in _PHASES:
        return Phase(word)
    found[f"the phase {row.phase[:40]!r} is not known and counts as discussion"] += 1
    return Phase.DISCUSSION
