"""The players of a run that cost tokens, from their spec strings alone: nobody is asked, and no key is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from liescope.games.core import AskKind
from liescope.generate.players.openai.key_rules import default_url, host_of
from liescope.generate.players.openai.spec import read_spec
from liescope.generate.players.replay import read_replay
from liescope.generate.players.seat_options import SeatOptions, file_text
from liescope.generate.runs.forecast.result import Range
from liescope.generate.runs.forecast.tokens import answer_tokens


@dataclass(frozen=True, slots=True)
class AskedModel:
    """label: its name in tables; name: as the endpoint calls it; host: "" for a model in this process; persona: the
    characters of its system message; thinking: its budget for reasoning.
    """

    label: str
    name: str
    host: str
    options: SeatOptions
    persona: int = 0
    thinking: int = 0

    def answer(self, kind: AskKind) -> Range:
        return answer_tokens(kind, self.options.at(kind).get("max_tokens"), self.thinking)


def asked_model(spec: str, files: Mapping[str, str]) -> AskedModel | None:
    """The model behind a spec; None for players whose answers cost nothing. files: the texts that specs name.

    Raises UsageError, UnknownName or BadData for a spec that cannot be read.
    """
    kind, _, argument = spec.partition(":")
    if kind == "openai":
        read = read_spec(argument)
        host = host_of(read.base_url or default_url())
        persona = len(file_text(read.options.persona, files)) if read.options.persona else 0
        return AskedModel(read.label, read.name, host, read.options, persona, read.thinking or 0)
    if kind == "local":
        from liescope.generate.players.local.spec import read_spec as read_local

        local = read_local(argument)
        persona = len(file_text(local.seat.persona, files)) if local.seat.persona else 0
        return AskedModel(local.name, local.name, "", local.seat, persona)
    if kind == "replay":  # at most: whatever is on the record costs nothing
        then = read_replay(argument)[1]
        return asked_model(then, files) if then else None
    return None
