"""What judges are asked, about one statement or every player of a game, and the prompt, from a file that users can
replace.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from liescope.common.errors import BadData
from liescope.common.reading import read_toml
from liescope.detectors.examples import TARGETS
from liescope.detectors.judge.answers import label_probability, player_probabilities, stated_probability
from liescope.generate.players.openai.completion import Completion

DEFAULT = Path(__file__).with_name("prompt.toml")
_LARGEST = 2**16  # bytes
_STRICT = ConfigDict(frozen=True, extra="forbid")
_Words = Annotated[list[Annotated[str, Field(min_length=1, max_length=40)]], Field(min_length=1, max_length=20)]


class _Answers(BaseModel):
    model_config = _STRICT

    label: str
    confidence: str


class _Examples(BaseModel):
    """before: what stands before the examples; one: an example of its own, with {shown} and {answer}."""

    model_config = _STRICT

    before: str = ""
    one: str = ""


class _Whole(BaseModel):
    """prompt: with {game}, {players} and {number}; number: with {count}, for a table where it is known how many."""

    model_config = _STRICT

    prompt: str = ""
    number: str = ""


class JudgePrompt(BaseModel):
    """prompt: with {question}, {statement} and {answer}; question: by target; answer: how to answer, with {deceptive}
    and {honest}; deceptive, honest: the words of either answer, the first one to be used. examples and whole: for
    detectors that show examples, or a whole game.
    """

    model_config = _STRICT

    prompt: str
    question: dict[str, str]
    answer: _Answers
    deceptive: _Words
    honest: _Words
    examples: _Examples = _Examples()
    whole: _Whole = _Whole()

    def render(self, statement: str, target: str, stated: bool) -> str:
        """The prompt for one statement. stated: whether to ask for a number instead of a word."""
        answer = self.answer.confidence if stated else self.answer.label
        words = {"{deceptive}": self.deceptive[0], "{honest}": self.honest[0]}
        filled = {"{question}": self.question[target], "{answer}": _filled(answer, words)}
        # The statement comes last, so that nothing in it is filled in.
        return _filled(self.prompt, filled).strip().replace("{statement}", statement)

    def render_game(self, game: str, players: Sequence[str], deceivers: int | None) -> str:
        """The prompt for a game. deceivers: how many of the players deceive, None if not known."""
        number = "" if deceivers is None else self.whole.number.replace("{count}", str(deceivers))
        filled = {"{players}": ", ".join(players), "{number}": number}
        return _filled(self.whole.prompt, filled).strip().replace("{game}", game)

    def after_examples(self, prompt: str, examples: Sequence[tuple[str, str]]) -> str:
        """The prompt with examples before it, each what is shown and the right answer."""
        if not examples:
            return prompt
        given = [
            self.examples.one.strip().replace("{answer}", answer).replace("{shown}", shown)
            for shown, answer in examples
        ]
        return "\n\n".join((self.examples.before.strip(), *given, prompt))

    def check_has(self, examples: bool, whole: bool) -> None:
        """Raises BadData if the prompt lacks what these need."""
        wanted: dict[str, tuple[str, tuple[str, ...]]] = {}
        if examples:
            wanted |= {"examples.one": (self.examples.one, ("{shown}", "{answer}"))}
        if whole:
            wanted |= {"whole.prompt": (self.whole.prompt, ("{game}", "{players}"))}
        for name, (text, parts) in wanted.items():
            if lacking := [part for part in parts if part not in text]:
                raise BadData(f"the judge's prompt lacks {', '.join(lacking)} in {name}; write it like {DEFAULT}")

    @cached_property
    def sides(self) -> dict[str, bool]:
        """Every word in lower case: whether it means deceptive."""
        words = {word.casefold(): True for word in self.deceptive}
        return words | {word.casefold(): False for word in self.honest}


def read_prompt(path: Path | None = None) -> JudgePrompt:
    """The prompt in a TOML file; by default Liescope's own. Raises BadData."""
    path = path or DEFAULT
    advice = f"write it like {DEFAULT}"
    prompt = read_toml(path, JudgePrompt, _LARGEST, advice)
    lacking = [name for name in ("{question}", "{statement}", "{answer}") if name not in prompt.prompt]
    lacking += [f"question.{target}" for target in TARGETS if target not in prompt.question]
    if lacking:
        raise BadData(f"{path} lacks {', '.join(lacking)}; {advice}")
    both = {word.casefold() for word in prompt.deceptive} & {word.casefold() for word in prompt.honest}
    if both:
        raise BadData(f"{path}: {', '.join(sorted(both))} cannot mean both deceptive and honest; {advice}")
    return prompt


def _filled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(name, value)
    return text


Examples = tuple[tuple[str, bool], ...]
"""Statements of other games, as a judge reads them, and whether each is deceptive."""
GameExamples = tuple[tuple[str, tuple[tuple[str, bool], ...]], ...]
"""Other games, as a judge reads them, and whether each player deceives."""


@dataclass(frozen=True, slots=True)
class AboutStatement:
    """statement: as a detector reads it. The answer is the probability that it is deceptive."""

    statement: str
    target: str
    prompt: JudgePrompt
    examples: Examples = ()

    def words(self, stated: bool) -> str:
        words = ("1", "0") if stated else (self.prompt.deceptive[0], self.prompt.honest[0])
        given = [(shown, words[0] if lies else words[1]) for shown, lies in self.examples]
        return self.prompt.after_examples(self.prompt.render(self.statement, self.target, stated), given)

    def read(self, reply: Completion, stated: bool) -> float | None:
        sides = self.prompt.sides
        return stated_probability(reply.content, sides) if stated else label_probability(reply.tokens, sides)


@dataclass(frozen=True, slots=True)
class AboutGame:
    """game: as a judge reads it; players: as they are called there. The answer is the probability that each of the
    players deceives; a reply that leaves one of them out is none.
    """

    game: str
    players: tuple[str, ...]
    deceivers: int | None
    prompt: JudgePrompt
    examples: GameExamples = ()

    def words(self, stated: bool) -> str:  # noqa: ARG002
        given = [(shown, _object(lies)) for shown, lies in self.examples]
        return self.prompt.after_examples(self.prompt.render_game(self.game, self.players, self.deceivers), given)

    def read(self, reply: Completion, stated: bool) -> Mapping[str, float] | None:  # noqa: ARG002
        found = player_probabilities(reply.content, self.players)
        return found if len(found) == len(self.players) else None


def _object(lies: Iterable[tuple[str, bool]]) -> str:
    return json.dumps({player: int(lie) for player, lie in sorted(lies)}, ensure_ascii=False)
