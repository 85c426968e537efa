"""What judges are asked, about a statement or the players of a game, by a prompt in a file that users can replace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from liescope.common.errors import BadData
from liescope.common.reading import read_toml
from liescope.detectors.examples import TARGETS, WORDS
from liescope.detectors.judge.answers import label_probability, player_probabilities, stated_probability
from liescope.generate.players.openai.completion import Completion

DEFAULT = Path(__file__).with_name("prompt.toml")
_ADVICE = f"write it like {DEFAULT}"
_LARGEST = 2**16  # bytes
_STRICT = ConfigDict(frozen=True, extra="forbid")
_Kind = Literal["label", "confidence"]
_KINDS: tuple[_Kind, ...] = ("label", "confidence")
_Words = Annotated[list[Annotated[str, Field(min_length=1, max_length=40)]], Field(min_length=1, max_length=20)]
Examples = Sequence[tuple[str, Sequence[tuple[str, bool]]]]
"""Statements or games as they are shown, and of whom the truth is told: "" for a statement, and whether it deceives."""


class _Whole(BaseModel):
    model_config = _STRICT

    prompt: str = ""
    number: str = ""
    views: dict[str, str] = {}


class JudgePrompt(BaseModel):
    """prompt: with {question}, {statement} and {answer}; views: the same by the name of a view of reasoning; question:
    by target; answer: how to answer, with {deceptive} and {honest}; deceptive, honest: the words of either answer, the
    first one to be used. examples: what stands before them, and one of them, with {shown} and {answer}. whole: the
    prompt for a game, with {game}, {players} and {number}, also about one player by the name of a view of reasoning;
    number: with {count}, for a table where it is known how many deceive.
    """

    model_config = _STRICT

    prompt: str
    question: dict[str, str]
    answer: dict[_Kind, str]
    deceptive: _Words
    honest: _Words
    examples: dict[Literal["before", "one"], str] = {}
    whole: _Whole = _Whole()
    views: dict[str, str] = {}

    def check_has(self, examples: bool, whole: bool, view: str = WORDS) -> None:
        """Raises BadData if the prompt lacks what these need."""
        for_statement = ("{question}", "{statement}", "{answer}")
        wanted: dict[str, tuple[str, tuple[str, ...]]] = {"prompt": (self.prompt, for_statement)}
        wanted |= {f"question.{target}": (self.question.get(target, ""), ()) for target in TARGETS}
        wanted |= {f"answer.{kind}": (self.answer.get(kind, ""), ()) for kind in _KINDS}
        if examples:
            wanted["examples.one"] = self.examples.get("one", ""), ("{shown}", "{answer}")
        if whole:
            shown = self.whole.prompt if view == WORDS else self.whole.views.get(view, "")
            wanted["whole.prompt" if view == WORDS else f"whole.views.{view}"] = shown, ("{game}", "{players}")
        elif view != WORDS:
            wanted[f"views.{view}"] = self.views.get(view, ""), for_statement
        for name, (text, parts) in wanted.items():
            lacking = ", ".join(part for part in parts if part not in text)
            if lacking or not text:
                raise BadData(f"the judge's prompt lacks {f'{lacking} in ' * bool(lacking)}{name}; {_ADVICE}")

    @cached_property
    def sides(self) -> dict[str, bool]:
        """Every word in lower case: whether it means deceptive."""
        return {word.casefold(): lies for lies in (True, False) for word in (self.deceptive if lies else self.honest)}

    def about_statement(self, statement: str, target: str, examples: Examples = (), view: str = WORDS) -> Question:
        """statement, examples: as a detector reads them; view: what that shows."""
        labels = {"{deceptive}": self.deceptive[0], "{honest}": self.honest[0]}

        def words(stated: bool) -> str:
            answer = self.answer["confidence" if stated else "label"]
            filled = {"{question}": self.question[target], "{answer}": _filled(answer, labels)}
            # The statement comes last, so that nothing in it is filled in.
            asked = _filled(self.prompt if view == WORDS else self.views[view], filled)
            asked = asked.strip().replace("{statement}", statement)
            right = ("0", "1") if stated else (self.honest[0], self.deceptive[0])
            return self._after([(shown, right[lies]) for shown, ((_, lies),) in examples], asked)

        return Question(words(False), words(True), self.sides)

    def about_game(
        self,
        game: str,
        players: Sequence[str],
        deceivers: int | None,
        examples: Examples = (),
        view: str = WORDS,
    ) -> Question:
        """game: as a judge reads it; players: those asked about, as they are called there; deceivers: how many of all
        at the table deceive, None if not known; view: what is shown of the one player that it is about, if it is.
        """
        number = "" if deceivers is None else self.whole.number.replace("{count}", f"{deceivers}")
        filled = {"{players}": ", ".join(players), "{number}": number}
        asked = _filled(self.whole.prompt if view == WORDS else self.whole.views[view], filled)
        asked = asked.strip().replace("{game}", game)
        given = [
            (shown, json.dumps({p: int(lie) for p, lie in sorted(who)}, ensure_ascii=False)) for shown, who in examples
        ]
        words = self._after(given, asked)
        return Question(words, words, self.sides, tuple(players))

    def _after(self, examples: Sequence[tuple[str, str]], asked: str) -> str:
        """A prompt after examples, each what is shown and the right answer."""
        if not examples:
            return asked
        one = self.examples["one"].strip()
        given = [one.replace("{answer}", answer).replace("{shown}", shown) for shown, answer in examples]
        return "\n\n".join((self.examples.get("before", "").strip(), *given, asked))


@dataclass(frozen=True, slots=True)
class Question:
    """label, number: the prompt for a word, and for a number; sides: of the words; players: those asked about, none for
    a statement.
    """

    label: str
    number: str
    sides: Mapping[str, bool] = field(compare=False)
    players: tuple[str, ...] = ()

    def words(self, stated: bool) -> str:
        """The prompt. stated: whether to ask for numbers instead of a word."""
        return self.number if stated else self.label

    def read(self, reply: Completion, stated: bool) -> Mapping[str, float] | None:
        """The probability that each of the players deceives, or by "" that the statement is deceptive; None for a reply
        that leaves one of them out.
        """
        if self.players:
            found = player_probabilities(reply.content, self.players)
            return found if len(found) == len(self.players) else None
        sides = self.sides
        one = stated_probability(reply.content, sides) if stated else label_probability(reply.tokens, sides)
        return None if one is None else {"": one}


def read_prompt(path: Path | None = None) -> JudgePrompt:
    """The prompt in a TOML file; by default Liescope's own. Raises BadData."""
    path = path or DEFAULT
    prompt = read_toml(path, JudgePrompt, _LARGEST, _ADVICE)
    prompt.check_has(examples=False, whole=False)
    both = {word.casefold() for word in prompt.deceptive} & {word.casefold() for word in prompt.honest}
    if both:
        raise BadData(f"{path}: {', '.join(sorted(both))} cannot mean both deceptive and honest; {_ADVICE}")
    return prompt


def _filled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(name, value)
    return text
