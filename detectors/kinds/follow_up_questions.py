"""The questions, from a file that users can replace, and the conversation that they are put at the end of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from liescope.common.reading import read_toml
from liescope.detectors.examples import Example
from liescope.detectors.textualize import SPEAKER_TOKEN, TextConfig, textualize

DEFAULT = Path(__file__).with_name("follow_up_questions.toml")
_LARGEST = 2**16  # bytes

_Word = Annotated[str, Field(min_length=1, max_length=40)]
_Line = Annotated[str, Field(min_length=1, max_length=2000)]


class Questions(BaseModel):
    """intro: before the game, with {speaker}; ask: with {question}, {yes} and {no}; yes, no: the words of either
    answer, the first one to be used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    intro: _Line
    ask: _Line
    yes: Annotated[list[_Word], Field(min_length=1, max_length=20)]
    no: Annotated[list[_Word], Field(min_length=1, max_length=20)]
    questions: Annotated[list[_Line], Field(min_length=1, max_length=200)]

    @model_validator(mode="after")
    def _sound(self) -> Questions:
        if "{question}" not in self.ask:
            raise ValueError("ask lacks {question}")
        if both := {word.casefold() for word in self.yes} & {word.casefold() for word in self.no}:
            raise ValueError(f"{', '.join(sorted(both))} cannot mean both yes and no")
        if len(set(self.questions)) < len(self.questions):
            raise ValueError("a question is asked twice")
        return self

    @property
    def sides(self) -> dict[str, bool]:
        """Every word in lower case: whether it means yes."""
        return {word.casefold(): True for word in self.yes} | {word.casefold(): False for word in self.no}

    def first(self, most: int) -> Questions:
        """Those that are asked; most: how many, 0 for all."""
        return self.model_copy(update={"questions": self.questions[: most or None]})

    def asked(self) -> list[str]:
        """Each question in the words that it is put in."""
        words = self.ask.replace("{yes}", self.yes[0]).replace("{no}", self.no[0])
        return [words.replace("{question}", question) for question in self.questions]


def read_questions(path: Path | None = None) -> Questions:
    """The questions in a TOML file; by default Liescope's own. Raises BadData."""
    return read_toml(path or DEFAULT, Questions, _LARGEST, f"write it like {DEFAULT}")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A game as far as the suspect has heard it, up to its statement. lines: (whether the suspect says it, what is
    said); others' lines begin with their names.
    """

    suspect: str
    lines: tuple[tuple[bool, str], ...]

    def messages(self, intro: str, asked: str) -> list[dict[str, str]]:
        """Chat messages, the suspect's words as the assistant's; users and assistant take turns, the user first."""
        said = [(False, intro.strip().replace("{speaker}", self.suspect)), *self.lines, (False, asked)]
        found: list[dict[str, str]] = []
        for own, line in said:
            role = "assistant" if own else "user"
            if found and found[-1]["role"] == role:
                found[-1]["content"] += f"\n{line}"
            else:
                found.append({"role": role, "content": line})
        return found

    def text(self, intro: str) -> str:
        """All of it as a text that goes on."""
        said = [f"{self.suspect}: {line}" if own else line for own, line in self.lines]
        return "\n".join([intro.strip().replace("{speaker}", self.suspect), "", *said])

    def put(self, asked: str) -> str:
        """What the text goes on with, up to the suspect's answer."""
        return f"\n\n{asked}\n{self.suspect}:"


def conversation(example: Example, config: TextConfig) -> Conversation:
    """What the suspect heard and said, as far as the detector's context reaches."""
    lines = textualize(example, config.model_copy(update={"speaker_tag": True})).split("\n")
    tag = lines[-1].partition(": ")[0]
    return Conversation(tag or SPEAKER_TOKEN, tuple(_line(line, f"{tag}: ") for line in lines))


def _line(line: str, tag: str) -> tuple[bool, str]:
    return (True, line.removeprefix(tag)) if line.startswith(tag) else (False, line)


def first_side(text: str, questions: Questions) -> bool | None:
    """What the first word of a text that is an answer means; None without one."""
    words = "".join(char if char.isalpha() else " " for char in text.casefold()).split()
    sides = questions.sides
    return next((sides[word] for word in words if word in sides), None)
