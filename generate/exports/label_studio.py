"""Tasks for Label Studio, one a statement, with the game so far as a reader would see it; `evaluate --people` reads the
answers from Label Studio's export, which keeps the tasks' data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from liescope.common.settings import OptionsModel
from liescope.data_cards.tables import TARGETS
from liescope.data_cards.tables.rows import StatementRow
from liescope.games.core import Event, EventKind
from liescope.games.narration import counted
from liescope.generate.exports.exporter_protocol import Exporter, GamesSource, SourceGame, Tally, json_line
from liescope.generate.runs.game_text import event_words

OUTSIDE = "outside"
QUESTION, DECEPTIVE, HONEST = "deceptive", "Deceptive", "Honest"
"""The name of the question in the labelling configuration, and its answers."""
_CONFIG = f"""<View>
  <Paragraphs name="so_far" value="$so_far" layout="dialogue" nameKey="author" textKey="text"/>
  <Header value="$speaker"/>
  <Text name="statement" value="$statement"/>
  <Choices name="{QUESTION}" toName="statement" choice="single-radio" required="true" showInline="true">
    <Choice value="{DECEPTIVE}"/>
    <Choice value="{HONEST}"/>
  </Choices>
</View>
"""


class ReaderOptions(OptionsModel):
    """Through whose eyes people read."""

    view: str = Field(
        default=OUTSIDE, description="Read with the eyes of: outside (what everybody heard), a role, or a name."
    )


class LabelStudioExporter(Exporter):
    """One task for each statement that the reader hears from another and that has a label."""

    format: ClassVar[str] = "label-studio"
    tabular: ClassVar[bool] = False
    Options: ClassVar[type[OptionsModel]] = ReaderOptions
    options: ReaderOptions

    def write(self, source: GamesSource, games: Iterator[SourceGame], folder: Path, tally: Tally) -> None:  # noqa: ARG002
        (folder / "labeling-config.xml").write_text(_CONFIG, "utf-8")
        with (folder / "tasks.json").open("wb") as file:
            for game in games:
                for task in self._tasks(game, tally):
                    file.write((b",\n" if tally.rows["tasks"] else b"[\n") + json_line({"data": task}))
                    tally.rows["tasks"] += 1
            file.write(b"\n]\n")

    def _tasks(self, game: SourceGame, tally: Tally) -> Iterator[dict[str, Any]]:
        view = self.options.view
        reader = next((one.name for one in game.record.seats if view in (one.role, one.name)), "")
        if view != OUTSIDE and not reader:
            tally.left_out["in a game without such a role or seat"] += len(game.statements)
            return
        rows = {row.statement_id: row for row in game.statements}
        seen = [{"author": "", "text": "The beginning."}]
        for event in game.record.events:
            row = rows.get(f"{game.row.game_id}:{event.index}")
            heard = event.seen_by(reader) if reader else event.audience is None
            if row is not None and (why := _unasked(row, reader, heard)):
                tally.left_out[why] += 1
            elif row is not None:
                ids = {"statement_id": row.statement_id, "game_id": row.game_id, "view": view}
                yield {**ids, "so_far": seen, "speaker": row.speaker, "statement": row.text}
            # without a rater's later answers, which nobody saw
            if heard and "judge" not in event.data and (words := _told(event)):
                speaker = event.actor if event.kind is EventKind.STATEMENT else None
                seen = [*seen, {"author": speaker or "", "text": words}]


def _unasked(row: StatementRow, reader: str, heard: bool) -> str:
    """Why nobody is asked about a statement, "" if people are."""
    if all(getattr(row, f"label_{target}") is None for target in TARGETS):
        return "without any label"
    return "by the reader" if row.speaker == reader else "" if heard else "not heard by the reader"


def _told(event: Event) -> str | None:
    """What a reader sees of an event; of a statement, its words."""
    match event.kind:
        case EventKind.SETUP:
            names, cards = event.data.get("names", ()), event.data.get("composition", {})
            roles = f" Roles: {counted(sorted(cards.items()))}." if cards else ""  # sorted, to hide the seating
            return f"Players: {', '.join(names)}.{roles}"
        case EventKind.ROLE:
            return f"The role of {event.actor}: {event.data['role']}."
        case EventKind.PARTNERS:
            return f"They know each other: {', '.join(event.data['names'])}."
        case EventKind.NIGHT | EventKind.DAY:
            return f"{event.kind.value.capitalize()} {event.day}"
        case EventKind.STATEMENT:
            return event.text
        case _:
            return next(iter(event_words(event) or ()), None)
