"""One game as readable text: roles, the night, the statements with their labels, votes, outcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from rich.text import Text

from liescope.common.text import plain
from liescope.data_cards.tables.rows import ClaimRow, RatingRow, StatementRow
from liescope.games.core import Event, EventKind
from liescope.games.narration import deed
from liescope.games.record import GameRecord
from liescope.labeling.label import LabelledGame
from liescope.labeling.ledger import LIE, MISTAKE, TRUTHFUL, UNDECIDABLE, UNSUPPORTED

STYLES = {LIE: "red", MISTAKE: "yellow", UNSUPPORTED: "cyan", TRUTHFUL: "green", UNDECIDABLE: "blue"}
_MOST = 4  # most events named as proof; more are only counted


def claim_lines(claims: Sequence[ClaimRow], events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    """One line for each claim, in its normal form, with its verdict and the events that prove it; and its style."""
    for number, claim in enumerate(claims, 1):
        events_named = [proof_words(events[index]) for index in claim.evidence if 0 <= index < len(events)]
        more = [f"and {len(events_named) - _MOST} more"] if len(events_named) > _MOST else []
        proof = "; ".join([*events_named[:_MOST], *more])
        origin = "" if claim.origin == "rules" else f" ({claim.origin})"
        yield (
            f"{number} {claim.normal}{origin}: {verdict_words(claim)}{f' - {proof}' if proof else ''}",
            STYLES[claim.claim_class],
        )


def verdict_words(claim: ClaimRow) -> str:
    if claim.kept is not None:
        return "kept" if claim.kept else "BROKEN"
    words = {
        LIE: "LIE, false and known",
        MISTAKE: "mistake, false and believed",
        TRUTHFUL: "true",
        UNSUPPORTED: f"{claim.verdict}, which the speaker could not know",
        UNDECIDABLE: "undecidable",
    }
    return words[claim.claim_class]


def proof_words(event: Event) -> str:
    """An event that proves a claim."""
    if event.kind is EventKind.ROLE:
        words = f"{event.actor} is {event.data.get('role')}"
    elif event.kind is EventKind.STATEMENT:
        words = f"{event.actor} had said so"
    else:
        words, _ = event_words(event) or (event.kind.value, "")
    return f"event {event.index}: {words}"


_LABEL, _LIE, _FALLBACK, _HEAD, _SECRET = "dim", "red", "yellow", "bold", "magenta"
_NAMED = 4  # most observers shown one by one; more are only counted


def transcript(game: GameRecord, labels: LabelledGame) -> Iterator[Text]:
    """The lines of a game in order of play, styled. labels: `label_game` of the same game."""
    yield _text(f"{game.game_id}  {game.game}{'' if game.seed is None else f'  seed {game.seed}'}", _HEAD)
    if game.cell:
        yield _text(f"cell {game.cell}", _LABEL)
    if rater := game.meta.get("judge"):
        yield _text(f"rater: {rater}, who gave the reports and ratings below after the game", _LABEL)
    width = max(len(plain(seat.name)) for seat in game.seats)
    for seat in game.seats:
        won = "  won" if game.outcome is not None and seat.name in game.outcome.winners else ""
        yield _text(f"  {plain(seat.name):{width}}  {seat.role:10} {seat.model} ({seat.source.value}){won}")
    statements = {row.statement_id: row for row in labels.statements}
    ratings, claims = defaultdict[str, list[RatingRow]](list), defaultdict[str, list[ClaimRow]](list)
    for rating in labels.ratings:
        ratings[rating.statement_id].append(rating)
    for claim in labels.claims:
        claims[claim.statement_id].append(claim)
    bids = defaultdict[Place, list[Event]](list)
    for event in game.events:
        if event.kind is EventKind.BID:
            bids[_place(event)].append(event)
    place: Place = (0, "", 0)
    for event in game.events:
        key = f"{game.game_id}:{event.index}"
        line = _bids(bids.pop(_place(event), ())) if event.kind is EventKind.BID else event_line(event)
        if line is None:
            continue
        if _place(event) != place:
            place = _place(event)
            in_round = f", round {event.round}" if event.round else ""
            yield _text(f"\nDay {event.day}, {event.phase.value}{in_round}", _HEAD)
        yield line
        if event.kind is EventKind.STATEMENT:
            for words, style in claim_lines(claims[key], game.events):
                yield _text(f"      {words}", style)
            if key in statements:
                yield from _labels(statements[key], ratings[key], rated="judge" in game.meta)
    yield Text("")
    yield _ending(game)


Place = tuple[int, str, int]


def _place(event: Event) -> Place:
    return event.day, event.phase.value, event.round


def _bids(bids: Sequence[Event]) -> Text | None:
    """One line for all bids of a turn, highest first; None if they are already shown."""
    if not bids:
        return None
    highest_first = sorted(bids, key=lambda event: -event.data["bid"])
    shown = ", ".join(f"{event.actor} {event.data['bid']}" for event in highest_first)
    unread = sum(1 for event in bids if event.fallback)
    return _text(f"  bids: {shown}", _LABEL).append(f"  (unread: {unread})" if unread else "", _FALLBACK)


def event_line(event: Event) -> Text | None:
    """One event; None if it is not shown."""
    found = event_words(event)
    if found is None:
        return None
    words, style = found
    line = _text(f"  {words}", style)
    if event.kind is EventKind.STATEMENT:
        paragraphs = [one for one in event.text.split("\n") if one.strip()]
        line.append("\n    ".join(map(plain, paragraphs)))  # indented like a wrapped line
    if tied := event.data.get("tied"):
        line.append_text(_text(f"  (drawn from the tied: {', '.join(tied)})", _FALLBACK))
    if event.data.get("drawn"):
        line.append("  (drawn by the rules)", _FALLBACK)
    if "cut" in event.data:
        line.append(f"  (cut from {event.data['cut']} characters)", _FALLBACK)
    if event.fallback:
        line.append_text(_text(f"  (fallback: {event.fallback})", _FALLBACK))
    if event.data.get("notes"):
        line.append_text(_text(f"  (read with: {', '.join(event.data['notes'])})", _LABEL))
    return line


def event_words(event: Event) -> tuple[str, str] | None:
    """What happened, in words and with the style of its line; None if a transcript does not show it. For a statement,
    only who says it to whom.
    """
    who, whom, rater = event.actor or "", event.target or "", f"rater {event.data.get('judge', '')}"
    others, role = ", ".join(name for name in event.audience or () if name != who), event.data.get("role")
    heard_by = "" if event.audience is None else f" (to {others or 'nobody'})"
    suspicions = (f"{name} suspects {suspect}" for name, suspect in event.data.get("suspects", {}).items())
    namer = f"{rater}, in {who}'s seat" if "judge" in event.data else f"{who} believes"
    lines = {
        EventKind.KILLER: (f"{who} makes the kill decision", _SECRET),
        EventKind.LESSONS: (f"{who} begins with the lessons of earlier games", _SECRET),
        EventKind.PROPOSAL: (f"{who} proposes to kill {whom}", _SECRET),
        EventKind.KILL: (f"{who} kills {whom}" if who else f"{whom} is attacked", _SECRET),
        EventKind.PROTECTION: (f"{who} protects {whom}", _SECRET),
        EventKind.INVESTIGATION: (f"{who} investigates {whom}: {role or '?'}", _SECRET),
        EventKind.DISCOVERY: (f"{who} and {whom} know each other's role", _SECRET),
        EventKind.DEATH: (f"{whom} is found dead{f': a {role}' if role else ''}", ""),
        EventKind.QUIET: ("Nobody died", ""),
        EventKind.STATEMENT: (f"{who}{heard_by}: ", ""),
        EventKind.SILENCE: (f"{who} remains silent", ""),
        EventKind.VOTE: (f"{who} votes for {whom}", ""),
        EventKind.ARREST: (f"{whom} is arrested", ""),
        EventKind.EXILE: (f"{whom} is exiled with {event.data.get('votes')} votes", ""),
        EventKind.NO_EXILE: (f"Nobody is exiled: that takes {event.data.get('needed')} votes", ""),
        EventKind.ACT: (deed(event), _SECRET if event.audience else ""),
        EventKind.CHOICE: (deed(event), _SECRET if event.audience else ""),
        EventKind.LESSON: (f"{who} learned ({event.data.get('kind')}): {event.text}", _SECRET),
        EventKind.ROLES_NAMED: (f"{namer}: {_form(event.data.get('roles', {}))}", _LABEL),
        EventKind.BELIEFS: (f"{who} believes: {_form(event.data.get('beliefs', {}))}", _LABEL),
        EventKind.SECOND_ORDER: (f"{who} thinks: {', '.join(suspicions)}", _LABEL),
        EventKind.SUMMARY: (f"{who} sums up: {event.text}", _SECRET),
        EventKind.LESSON_TAGS: (f"{rater} on {who}'s lesson: {_form(event.data.get('tags', {}))}", _LABEL),
    }
    return lines.get(event.kind)


def _form(form: Mapping[str, Sequence[str]]) -> str:
    """A rater's answers, on one line."""
    return ", ".join(f"{key} {'/'.join(values)}" for key, values in form.items())


def _labels(row: StatementRow, ratings: list[RatingRow], rated: bool) -> Iterator[Text]:
    line = Text("      ")
    role = {True: "role deceives", False: "role is open", None: "role not known"}[row.label_role]
    line.append(role, _LIE if row.label_role else _LABEL)
    if row.planted_type:
        line.append_text(_text(f" · meant {row.planted_type}", _SECRET))
    if row.label_belief is not None:
        believes = "a claim here to be false" if row.label_belief else "what it claims"
        line.append_text(_text(f" · believes {believes}", _SECRET))
    yield line
    outside = [rating for rating in ratings if rated and not rating.observer_role]
    for rating in outside:
        kind = f" ({rating.type})" if rating.type and rating.flag else ""
        yield _text(f"      {rating.observer}: {_flag(rating.flag)}{kind}", _LABEL)
    if (row.label_self is not None or row.label_peer is not None or ratings) and not outside:
        who = "rater in its seat:" if rated else "says itself"
        self_said = "no usable self-report" if row.label_self is None else f"{who} {_flag(row.label_self)}"
        kind = f" ({row.self_type})" if row.self_type and row.label_self else ""
        others = "rater in the others' seats" if rated else "others"
        told = f" · {others}, with suspicion: {_ratings(ratings)}" if ratings else ""
        yield _text(f"      {self_said}{kind}{told}", _LABEL)


def _ratings(ratings: Sequence[RatingRow]) -> str:
    """A few ratings one by one, many as counts of their flags and the mean suspicion."""
    if len(ratings) <= _NAMED:
        return ", ".join(f"{rating.observer} {_flag(rating.flag)} {_number(rating.suspicion)}" for rating in ratings)
    flags = [_flag(rating.flag) for rating in ratings]
    counts = ", ".join(f"{flags.count(flag)} {flag}" for flag in dict.fromkeys(sorted(flags)))
    given = [rating.suspicion for rating in ratings if rating.suspicion is not None]
    return f"{counts}; mean {_number(fmean(given) if given else None)}"


def _flag(flag: bool | None) -> str:
    return "unread" if flag is None else "deceptive" if flag else "honest"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _ending(game: GameRecord) -> Text:
    if game.outcome is None:
        return _text(f"failed: {game.failure}", _FALLBACK)
    drawn = sum(1 for event in game.events if event.fallback)
    won = f"won by {game.outcome.winner}" if game.outcome.winner else "winner not known"
    return _text(f"{won}: {game.outcome.reason}", _HEAD).append(f"  (fallbacks: {drawn})" if drawn else "", _FALLBACK)


def _text(words: str, style: str = "") -> Text:
    """A line of a transcript; all text from a model or a file reaches the terminal through here."""
    return Text(plain(words), style)
