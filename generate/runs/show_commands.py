"""The commands that look at a run, or take words out of it: show, status, withdraw. They open no player."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from liescope.common.command_options import AsJson
from liescope.common.console import emit, print_pages
from liescope.common.errors import UsageError, named
from liescope.common.stores import local
from liescope.common.text import cut, plain
from liescope.games.record import GameRecord, record_to_json
from liescope.generate.players.prompts.render import compiled
from liescope.generate.runs.game_text import transcript
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import KeptRequest
from liescope.generate.runs.moment import RENDERED, SENT, answered, rebuild
from liescope.generate.runs.plan_games import stored_templates
from liescope.generate.runs.run_plan import TABLE
from liescope.generate.runs.run_progress import WIDTH
from liescope.generate.runs.run_progress import status as status_of
from liescope.generate.runs.withdraw import withdraw as withdraw_words

app = typer.Typer()


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="A run's folder.", metavar="runs/NAME")],
    game: Annotated[
        str | None,
        typer.Argument(help="A game: its id, the beginning of it, or its number. Without it, all games are listed."),
    ] = None,
    calls: Annotated[bool, typer.Option("--calls", help="List the game's calls, with step and seat.")] = False,
    prompt: Annotated[
        tuple[int, str] | None,
        typer.Option(help="Show the prompt of one call of the game.", metavar="STEP SEAT"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the games of a run, or show one of them.

    A game is shown with its roles, statements with their labels, votes and outcome.

    Example: liescope show runs/first; then: liescope show runs/first GAME_ID --calls
    """
    if game is None and (calls or prompt):
        raise UsageError("--calls and --prompt show one game; name it: liescope show RUN GAME --calls")
    if calls and prompt:
        raise UsageError("--calls lists the calls and --prompt shows one of them; give one of the two")
    with Journal.open(local(run)) as journal:
        if game is None:
            listing = list_games(journal)
        elif prompt is not None:
            listing = prompt_of_call(journal, journal.find(game), *prompt)
        elif calls:
            listing = list_calls(journal, journal.find(game))
        else:
            record = journal.record(journal.find(game))
            listing = RunListing(record_to_json(record), _in_full(record))
        emit(listing.data) if as_json else print_pages(listing.lines)


def _in_full(game: GameRecord) -> Iterator[Text]:
    from liescope.labeling.label import label_game

    yield from transcript(game, label_game(game))


@dataclass(frozen=True, slots=True)
class RunListing:
    """What `show` lists. data: plain JSON data; lines: the same as text."""

    data: dict[str, Any]
    lines: Iterator[Text]


def list_games(journal: Journal) -> RunListing:
    """The games of a run that have ended, in the run's order, then those that have begun (under way, or unfinished when
    the run stopped); and what was found out about how models were asked. Raises BadData for a damaged journal.
    """
    rows, about = list[dict[str, Any]](), list[str]()
    for game in journal.records():
        winner = None if game.outcome is None else game.outcome.winner
        rows.append({"game_id": game.game_id, "cell": game.cell, "winner": winner, "status": game.status.value})
        about.append("; ".join(filter(None, (" ".join(game.failure.split()), _players(game)))))
    for game_id, replies in sorted(journal.begun_replies().items()):
        rows.append({"game_id": game_id, "cell": "", "winner": None, "status": "begun", "replies": replies})
        about.append(f"{replies} replies so far")
    notes = [words for facts in journal.endpoint_facts() for words in facts.notes.values()]
    lines = _game_lines(named(str(journal.path)), rows, about, max(0, journal.planned() - len(rows)))
    told = (Text(f"note: {plain(words)}") for words in notes)
    return RunListing({"run": journal.name, "games": rows, "notes": notes}, chain(told, lines))


def _game_lines(run: str, rows: Sequence[dict[str, Any]], about: Sequence[str], ahead: int) -> Iterator[Text]:
    """A line for each game, then the total. ahead: games of the plan that have not begun."""
    wide = max([len(plain(row["game_id"])) for row in rows] + [4])
    yield Text(f"{'game':{wide}}  {'status':6}  {'won by':10}  players, role by role", "bold")
    for row, what in zip(rows, about, strict=True):
        yield Text(plain(f"{row['game_id']:{wide}}  {row['status']:6}  {row['winner'] or '–':10}  {what}"))
    counts = ", ".join(f"{number} {status}" for status, number in sorted(Counter(r["status"] for r in rows).items()))
    still = f", {ahead} still to play" if ahead else ""
    yield Text(f"{counts or 'no game has begun yet'}{still}; one game in full:")
    yield Text(plain(f"liescope show {run} GAME_ID"), no_wrap=True)


def _players(game: GameRecord) -> str:
    """The players of a game, grouped by role; with roles where the seats had been taken beforehand."""
    names = game.cell.split(" | ")
    if game.cell == TABLE:
        names = sorted(f"{seat.role}: {seat.model}" for seat in game.seats)
    runs = [(len(list(same)), name) for name, same in groupby(names)]
    return " | ".join(f"{count} × {name}" if count > 1 else name for count, name in runs)


def list_calls(journal: Journal, game_id: str) -> RunListing:
    """The calls of one game in the order of play, with the columns of the corpus's calls. Raises BadData for a damaged
    journal.
    """
    calls = journal.calls(game_id)
    return RunListing({"game_id": game_id, "calls": calls}, _call_lines(calls))


def _call_lines(calls: Sequence[dict[str, Any]]) -> Iterator[Text]:
    """A line for each request: its place in the game, its kind, and whether it could be used."""
    yield Text(f"{'step':>4}  {'seat':12}  {'try':>3}  {'kind':15}  {'tokens':>11}  problem", "bold")
    for call in calls:
        tokens = "–" if call["prompt_tokens"] is None else f"{call['prompt_tokens']}+{call['completion_tokens']}"
        problem = " ".join(call["problem"].split())
        if call["via"] is not None:
            problem = "; ".join(filter(None, (f"from the {call['via']}", problem)))
        where = f"{call['step']:>4}  {call['seat']:12}  {call['attempt']:>3}  {call['kind'] or '–':15}"
        yield Text(plain(f"{where}  {tokens:>11}  {problem}"))
    yield Text(f"{len(calls)} calls; the prompt of one: --prompt STEP SEAT")


def prompt_of_call(journal: Journal, game_id: str, step: int, seat: str) -> RunListing:
    """The prompt of the call to a seat at a step of a game: as it was sent, with the requests that the run kept and
    their parameters, or rendered again.

    Raises UsageError if the game has no such call, BadData if nothing was kept and the templates are gone.
    """
    requests = tuple(journal.requests(game_id, step, seat))
    origin, templates = SENT, None
    sent = next((request.body for request in reversed(requests) if request.body is not None), None)
    if sent is not None:
        kinds = {call["kind"] for call in journal.calls(game_id) if (call["step"], call["seat"]) == (step, seat)}
        kind = str(next(iter(kinds - {None}), "?"))
        text = "\n\n".join(str(message.get("content") or "") for message in sent.get("messages", ()))
    else:
        session = rebuild(journal, game_id)
        answered(journal, game_id, session, step)
        asked = {ask.seat: ask for ask in session.asks if ask.step == step}
        if seat not in asked:
            who = f"at step {step}, those asked are {', '.join(asked)}" if asked else f"it has no step {step}"
            raise UsageError(f"game {plain(game_id)} asks {plain(seat)} nothing: {plain(who)}; --calls lists the calls")
        prompts = compiled(stored_templates(journal), str(journal.plan["game"]))
        text = prompts.render(asked[seat], session.game.view(seat)).text
        origin, templates, kind = RENDERED, str(journal.plan["templates"]), asked[seat].kind.value
    data = {"game_id": game_id, "step": step, "seat": seat, "kind": kind, "origin": origin, "prompt": text}
    made = [{"request" if name == "body" else name: value for name, value in asdict(one).items()} for one in requests]
    return RunListing({**data, "templates": templates, "requests": made}, _prompt_lines(data, templates, requests))


def _prompt_lines(data: dict[str, Any], templates: str | None, requests: Sequence[KeptRequest]) -> Iterator[Text]:
    """The prompt as text, under lines that say where it comes from."""
    yield Text(plain("{game_id}, step {step}, {seat}: {kind}".format(**data)), "bold")
    if templates is not None:
        yield Text(
            f"No request was kept. Rendered again from the journal with the templates {templates}; "
            "a player that asks no endpoint never saw it.",
            "yellow",
        )
    for request in requests:
        served = f", served by {request.served_model}" if request.served_model else ""
        name = f", response {request.response_id}" if request.response_id else ""
        problem = f": {' '.join(request.problem.split())}" if request.problem else ""
        via = f", from the {request.via}" if request.via else ""
        yield Text(plain(f"Request {request.attempt} to {request.model}{served}{name}{via}{problem}"), "dim")
    if requests and requests[-1].body:
        rest = {name: value for name, value in requests[-1].body.items() if name != "messages"}
        yield Text(plain(f"Parameters: {json.dumps(rest, ensure_ascii=False)}"), "dim")
    yield Text("")
    yield Text(plain(data["prompt"]))


@app.command()
def status(
    run: Annotated[Path, typer.Argument(help="A run's folder.", metavar="runs/NAME")],
    as_json: AsJson = False,
) -> None:
    """Say what a run is doing: games, hosts, tokens, cost, time left.

    Works while it goes on elsewhere.

    Example: liescope status runs/first
    """
    found = status_of(run)
    if as_json:
        emit(found.to_json())
        return
    for line in found.lines():
        typer.echo(cut(line, WIDTH))


@app.command()
def withdraw(
    run: Annotated[Path, typer.Argument(help="A run's folder, changed for good.", metavar="runs/NAME")],
    pseudonym: Annotated[str, typer.Argument(help="Whose words go, by the name that show has for them.")],
    as_json: AsJson = False,
) -> None:
    """Take the words of a person out of a run, for good.

    Their text goes, and every request that may have held it. Roles, votes and what others said stay. Judged games and
    recordings made of the run are runs of their own: withdraw from each. Corpora and models built before are not
    changed.

    Example: liescope withdraw people/table-1 "Blue Otter"
    """
    done = withdraw_words(run, pseudonym)
    if as_json:
        emit(done.to_json())
        return
    typer.echo(f"statements that are gone: {done.statements}, of {done.games} games; who wrote them is now {done.name}")
    if done.dropped:
        typer.echo(f"{done.dropped} games under way could not go on without, and are gone")
