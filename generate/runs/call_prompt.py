"""The prompt of any call: as it was sent if the run kept it, otherwise rendered again from the journal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from liescope.common.errors import BadData, UsageError
from liescope.common.text import plain
from liescope.generate.players.prompts.render import Prompts, compiled
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import KeptRequest
from liescope.generate.runs.rebuild import ask_at
from liescope.generate.runs.stored_templates import stored_templates

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
