"""What judges are asked, about one statement or every player of a game, and the prompt, from a file that users can
replace; and a judge's answer as a probability: from the probabilities of its first word, or from a number or word in
its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from liescope.common.errors import BadData
from liescope.common.reading import read_toml
from liescope.detectors.examples import TARGETS, WORDS
from liescope.generate.players.openai.completion import Alternatives, Completion
from liescope.generate.players.parsing.choice import clean
from liescope.generate.players.parsing.reply_forms import find_object

_DEGREES = {"very high": 0.95, "very low": 0.05, "high": 0.8, "medium": 0.5, "moderate": 0.5, "low": 0.2}
"""What words for a confidence are taken to mean."""
_OWN = ("probability", "likelihood", "score", "p")
_OF_VERDICT = ("confidence", "certainty")
_VERDICT = ("deceptive", "answer", "verdict", "label", "lie")
_MARKS = re.compile(r"[^\w]+|[▁ĠĊ]")
_NUMBER = r"(\d{1,3}(?:[.,]\d{1,6})?|[.,]\d{1,6})\s{0,3}(%|percent|/\s{0,2}100?\b|out of 100?\b)?"
_VALUE = re.compile(_NUMBER + r"(?![\w/])", re.IGNORECASE)
_CUT = re.compile(r"(?<![\d.,])0[.,]$")
"""The beginning of a number at the end of a text: nobody knows how it went on."""
_NAMED = re.compile(
    rf"({'|'.join((*_OWN[:-1], *_OF_VERDICT))})[\"'*_]{{0,3}}\s{{0,3}}(?:of|is|=|:)?[\s*_\"']{{0,4}}"
    rf"(?:{_NUMBER}(?![\w/])|({'|'.join(_DEGREES)})\b)",
    re.IGNORECASE,
)


def label_probability(places: Sequence[Alternatives], sides: Mapping[str, bool]) -> float | None:
    """The probability of deceptive, from the first place where the model writes the beginning of a label; None without
    one. places: of each token, the written one first; sides: label words in lower case, whether they mean deceptive.

    A token counts for a label if it is the label's beginning and no beginning of the other side's. Where only one side
    is listed, the other has at most the probability of the least likely token listed, and of what is left over: that is
    what it is given.
    """
    for place in places:
        if not place or not (written := _bare(place[0][0])):
            continue
        if _side(written, sides) is None:
            return None
        mass = {True: 0.0, False: 0.0}
        for token, logprob in place:
            side = _side(_bare(token), sides)
            if side is not None:
                mass[side] += exp(logprob)
        left = max(0.0, 1 - sum(exp(logprob) for _, logprob in place))
        least = min(left, *(exp(logprob) for _, logprob in place))
        lies, honest = (mass[side] or least for side in (True, False))
        return lies / (lies + honest)
    return None


def stated_probability(text: str, sides: Mapping[str, bool]) -> float | None:
    """The probability of deceptive that a text states; None if it states none, or several.

    Read as a field of a JSON object, after the name of such a field, or as the only number: 0.8, 80%, 8/10, or a word
    (high: 0.8, medium: 0.5, low: 0.2). A confidence beside an answer of honest is the confidence in that answer.
    """
    answer = clean(text).text
    if _CUT.search(answer):
        return None
    data = find_object(answer, [], _fields)
    if data is not None:
        return _of_fields(data, sides)
    named = _NAMED.search(answer)
    if named is not None:
        value = _share(named[2], named[3]) if named[2] else _DEGREES[named[4].casefold()]
        verdict = next(_verdicts(answer[: named.start()] + answer[named.end() :], sides), True)
        return _turned(value, verdict if named[1].casefold() in _OF_VERDICT else True)
    values = [_share(found[1], found[2]) for found in _VALUE.finditer(answer)]
    return values[0] if len(values) == 1 else None


def player_probabilities(text: str, players: Sequence[str]) -> dict[str, float]:
    """By player, the probability that a text states: in a JSON object, or after the player's name on lines such as
    `Alice: 0.8`. Players without one, or with several, are left out.
    """
    known = {player.casefold(): player for player in players}

    def named(value: Any) -> dict[str, Any] | None:
        if not isinstance(value, Mapping):
            return None
        found = {known[name]: item for key, item in value.items() if (name := str(key).strip().casefold()) in known}
        for inside in value.values() if not found else ():
            if one := named(inside):
                return one
        return found or None

    answer = clean(text).text
    given = find_object(answer, [], named)
    if given is None and ("{" in answer or _CUT.search(answer)):
        return {}
    if given is None:
        return {player: value for player in players if (value := _after(player, answer)) is not None}
    read = {player: _stated(item) for player, item in given.items()}
    return {player: value for player, value in read.items() if value is not None}


def _stated(item: Any) -> float | None:
    fields = _fields(item)
    return _read(item if fields is None else next(fields[name] for name in (*_OWN, *_OF_VERDICT) if name in fields))


def _after(player: str, text: str) -> float | None:
    pattern = rf"(?<!\w){re.escape(player)}[\"'*_`]{{0,4}}\s{{0,3}}[:=|–—-]\s{{0,4}}[\"'*_`]{{0,4}}{_NUMBER}(?![\w/])"
    values = {_share(found[1], found[2]) for found in re.finditer(pattern, text, re.IGNORECASE)}
    return values.pop() if len(values) == 1 else None


def _bare(token: str) -> str:
    return _MARKS.sub("", token).casefold()


def _side(token: str, sides: Mapping[str, bool]) -> bool | None:
    found = {side for word, side in sides.items() if token and word.startswith(token)}
    return found.pop() if len(found) == 1 else None


def _fields(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    known = {str(key).strip().casefold(): item for key, item in value.items()}
    return known if known.keys() & {*_OWN, *_OF_VERDICT} else None


def _of_fields(data: Mapping[str, Any], sides: Mapping[str, bool]) -> float | None:
    name = next(name for name in (*_OWN, *_OF_VERDICT) if name in data)
    value = _read(data[name])
    if name in _OWN:
        return value
    said = next((data[key] for key in _VERDICT if key in data), True)
    verdict = said if isinstance(said, bool) else next(_verdicts(str(said), sides), None)
    return None if verdict is None else _turned(value, verdict)


def _read(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 <= value <= 1 else None
    words = str(value).strip().casefold()
    if words in _DEGREES:
        return _DEGREES[words]
    found = _VALUE.fullmatch(words)
    return _share(found[1], found[2]) if found else None


def _share(number: str, scale: str | None) -> float | None:
    """A number in [0, 1]; one above 1 needs its scale."""
    value = float(number.replace(",", "."))
    if scale:
        value /= 10 if re.sub(r"\s|/|out of", "", scale.casefold()) == "10" else 100
    return value if 0 <= value <= 1 else None


def _verdicts(text: str, sides: Mapping[str, bool]) -> Iterator[bool]:
    """The label words of a text in turn; "not" before one turns it around."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    for before, word in zip(["", *words], words, strict=False):
        if word in sides:
            yield sides[word] != (before == "not")


def _turned(value: float | None, verdict: bool) -> float | None:
    return value if value is None or verdict else 1 - value


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
    """prompt: with {game}, {players} and {number}; number: with {count}, for a table where it is known how many; views:
    the same as prompt, about one player, by the name of a view of reasoning.
    """

    model_config = _STRICT

    prompt: str = ""
    number: str = ""
    views: dict[str, str] = {}


class JudgePrompt(BaseModel):
    """prompt: with {question}, {statement} and {answer}; views: the same by the name of a view of reasoning; question:
    by target; answer: how to answer, with {deceptive} and {honest}; deceptive, honest: the words of either answer, the
    first one to be used. examples and whole: for detectors that show examples, or a whole game.
    """

    model_config = _STRICT

    prompt: str
    question: dict[str, str]
    answer: _Answers
    deceptive: _Words
    honest: _Words
    examples: _Examples = _Examples()
    whole: _Whole = _Whole()
    views: dict[str, str] = {}

    def render(self, statement: str, target: str, stated: bool, view: str = WORDS) -> str:
        """The prompt for one statement. stated: whether to ask for a number instead of a word; view: what is shown of
        it.
        """
        answer = self.answer.confidence if stated else self.answer.label
        words = {"{deceptive}": self.deceptive[0], "{honest}": self.honest[0]}
        filled = {"{question}": self.question[target], "{answer}": _filled(answer, words)}
        # The statement comes last, so that nothing in it is filled in.
        prompt = self.prompt if view == WORDS else self.views[view]
        return _filled(prompt, filled).strip().replace("{statement}", statement)

    def render_game(self, game: str, players: Sequence[str], deceivers: int | None, view: str = WORDS) -> str:
        """The prompt for a game. deceivers: how many of all at the table deceive, None if not known; view: what is
        shown of the one player that it is about, where it is not about all.
        """
        number = "" if deceivers is None else self.whole.number.replace("{count}", str(deceivers))
        filled = {"{players}": ", ".join(players), "{number}": number}
        prompt = self.whole.prompt if view == WORDS else self.whole.views[view]
        return _filled(prompt, filled).strip().replace("{game}", game)

    def after_examples(self, prompt: str, examples: Sequence[tuple[str, str]]) -> str:
        """The prompt with examples before it, each what is shown and the right answer."""
        if not examples:
            return prompt
        given = [
            self.examples.one.strip().replace("{answer}", answer).replace("{shown}", shown)
            for shown, answer in examples
        ]
        return "\n\n".join((self.examples.before.strip(), *given, prompt))

    def check_has(self, examples: bool, whole: bool, view: str = WORDS) -> None:
        """Raises BadData if the prompt lacks what these need."""
        wanted: dict[str, tuple[str, tuple[str, ...]]] = {}
        if examples:
            wanted |= {"examples.one": (self.examples.one, ("{shown}", "{answer}"))}
        if view != WORDS and whole:
            wanted[f"whole.views.{view}"] = self.whole.views.get(view, ""), ("{game}", "{players}")
        elif view != WORDS:
            wanted[f"views.{view}"] = self.views.get(view, ""), ("{question}", "{statement}", "{answer}")
        elif whole:
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
    """statement: as a detector reads it; view: what that shows. The answer is the probability that it is deceptive."""

    statement: str
    target: str
    prompt: JudgePrompt
    examples: Examples = ()
    view: str = WORDS

    def words(self, stated: bool) -> str:
        words = ("1", "0") if stated else (self.prompt.deceptive[0], self.prompt.honest[0])
        given = [(shown, words[0] if lies else words[1]) for shown, lies in self.examples]
        return self.prompt.after_examples(self.prompt.render(self.statement, self.target, stated, self.view), given)

    def read(self, reply: Completion, stated: bool) -> float | None:
        sides = self.prompt.sides
        return stated_probability(reply.content, sides) if stated else label_probability(reply.tokens, sides)


@dataclass(frozen=True, slots=True)
class AboutGame:
    """game: as a judge reads it; players: those asked about, as they are called there; view: what it shows of them. The
    answer is the probability that each of the players deceives; a reply that leaves one of them out is none.
    """

    game: str
    players: tuple[str, ...]
    deceivers: int | None
    prompt: JudgePrompt
    examples: GameExamples = ()
    view: str = WORDS

    def words(self, stated: bool) -> str:  # noqa: ARG002
        given = [(shown, _object(lies)) for shown, lies in self.examples]
        asked = self.prompt.render_game(self.game, self.players, self.deceivers, self.view)
        return self.prompt.after_examples(asked, given)

    def read(self, reply: Completion, stated: bool) -> Mapping[str, float] | None:  # noqa: ARG002
        found = player_probabilities(reply.content, self.players)
        return found if len(found) == len(self.players) else None


def _object(lies: Iterable[tuple[str, bool]]) -> str:
    return json.dumps({player: int(lie) for player, lie in sorted(lies)}, ensure_ascii=False)
