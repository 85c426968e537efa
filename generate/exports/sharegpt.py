"""Chat transcripts, one for each seat: what it was shown, and what it said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from liescope.games.core import Event, EventKind
from liescope.generate.exports.exporter_protocol import SourceGame, Tally
from liescope.generate.exports.rows import (
    FROM_TRANSCRIPT,
    Row,
    RowExporter,
    Speech,
    Speeches,
    introduction,
    line,
    question,
)
from liescope.generate.exports.shown import AskShown, Shown
from liescope.generate.runs.moment import RENDERED, SENT


class SharegptExporter(RowExporter):
    """One conversation for each seat that spoke."""

    format: ClassVar[str] = "sharegpt"
    writes: ClassVar[str] = "ShareGPT-like transcripts, one for each seat (conversations of from and value)"
    about: ClassVar[str] = (
        "ShareGPT-like conversations, one for each seat that spoke: `system` is what it knew before it first spoke, "
        "each `human` what it saw since then and the question, each `gpt` what it said, as the others heard it. "
        "TRL reads them with `maybe_convert_to_chatml`."
    )
    limits: ClassVar[str] = (
        "Only speech is in it: bids, votes and assessments are left out, and silences too; of an explained vote it has "
        "the reason. In a run the human turns are rendered from the run's prompts, a part at a time; a model played "
        "each turn from one prompt that held all of them. In a corpus, and for imported games, they are the words of "
        "the others alone."
    )

    def rows(self, speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[Row]:
        for game in games:
            by_seat: dict[str, list[Speech]] = {}
            for speech in speeches.of(game):
                by_seat.setdefault(speech.said.speaker, []).append(speech)
            if silent := len(game.row.seats) - len(by_seat):
                tally.left_out["seats that never spoke"] += silent
            for name, said in by_seat.items():
                seat = next(seat for seat in game.row.seats if seat.name == name)
                rendered = all(speech.asked is not None for speech in said)
                turns = _rendered(speeches, said) if rendered else _heard(game, name, said)
                yield (
                    game.split,
                    {
                        "id": f"{game.row.game_id}:{name}",
                        "conversations": list(turns),
                        "game_id": game.row.game_id,
                        "game": game.row.game,
                        "seat": name,
                        "role": seat.role,
                        "team": seat.team,
                        "deceives": {True: "yes", False: "no", None: "not known"}[seat.deceives],
                        "won": {True: "yes", False: "no", None: "not known"}[seat.won],
                        "model": seat.model,
                        "source": seat.source,
                        "origin": game.row.origin,
                        "prompt_origin": RENDERED if rendered else FROM_TRANSCRIPT,
                        "statement_ids": [speech.said.statement_id for speech in said],
                    },
                )


def _rendered(speeches: Speeches, said: Sequence[Speech]) -> Iterator[dict[str, Any]]:
    """The run's prompts, each without what the seat's last one said already."""
    shown, before = speeches.shown, ""
    assert shown is not None
    for speech in said:
        assert speech.asked is not None
        prompt = shown.rendered(speech.asked, _without_own_words(speech.asked.view, speech.said.speaker))
        new = prompt.stem.removeprefix(before).strip("\n")
        if before:
            yield {"from": "human", "value": f"{new}\n\n{prompt.question}" if new else prompt.question}
        else:
            yield {"from": "system", "value": "\n\n".join([*_system(shown, speech.asked), new])}
            yield {"from": "human", "value": prompt.question}
        before = prompt.stem
        yield {"from": "gpt", "value": speech.said.text}


def _system(shown: Shown, asked: AskShown) -> list[str]:
    """The system messages that a seat was sent before its prompt, such as a persona."""
    messages, origin = shown.messages(asked, shown.requests(asked.ask))
    return [message["content"] for message in messages if origin == SENT and message["role"] == "system"]


def _without_own_words(view: Sequence[Event], name: str) -> list[Event]:
    return [event for event in view if not (event.kind is EventKind.STATEMENT and event.actor == name)]


def _heard(game: SourceGame, name: str, said: Sequence[Speech]) -> Iterator[dict[str, Any]]:
    """What the others said since the seat's last words, as far as it heard it."""
    yield {"from": "system", "value": introduction(game.row, name)}
    own = {speech.said.statement_id for speech in said}
    lines: list[str] = []
    for row in game.statements:
        if row.statement_id in own:
            yield {"from": "human", "value": "\n".join([*lines, *([""] if lines else []), question(row)])}
            yield {"from": "gpt", "value": row.text}
            lines = []
        elif not row.audience or name in row.audience:
            lines.append(line(row))
