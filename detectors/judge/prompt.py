"""What judges are asked about a statement, and the probability that an answer stands for.

The prompt is in a file that users can replace.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from liescope.common.errors import BadData
from liescope.common.reading import Strict, read_toml
from liescope.detectors.detector_settings import WORDS
from liescope.detectors.examples import TARGETS

if TYPE_CHECKING:
    from liescope.generate.players.openai.completion import Alternatives, Completion

DEFAULT = Path(__file__).with_name("prompt.toml")
RUBRIC = "rubric"
"""The name of Liescope's own prompt with criteria, for users."""
ATTEMPTS = 3
"""New replies to a question until one can be read."""
FRUITLESS = 20
"""Nothing more is asked after so many failures from the first question on."""
_ADVICE = f"write it like {DEFAULT}"
_LARGEST = 2**16  # bytes
_Kind = Literal["label", "confidence", "criteria"]
_KINDS: tuple[_Kind, ...] = ("label", "confidence", "criteria")
_Words = Annotated[list[Annotated[str, Field(min_length=1, max_length=40)]], Field(min_length=1, max_length=20)]


class Criterion(Strict):
    """One of several things that are asked about a statement. question: "" for the target's own, whose answer is yes if
    the statement deceives, as that of every question should be; weight: how much it counts, None to learn that.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    question: Annotated[str, Field(max_length=1000)] = ""
    weight: Annotated[float, Field(gt=0, le=100)] | None = None


class JudgePrompt(Strict):
    """prompt: with {question}, {statement} and {answer}; views: variants of it, by the name of a view of reasoning;
    question: by target; answer: how to answer, with {deceptive} and {honest}; deceptive, honest: the words of either
    answer, the first one to be used; criteria: asked in place of the one question. A prompt with criteria has
    everything else from Liescope's own, unless it brings its own.
    """

    prompt: str
    question: dict[str, str]
    answer: dict[_Kind, str]
    deceptive: _Words
    honest: _Words
    views: dict[str, str] = Field(default_factory=dict)
    criteria: Annotated[tuple[Criterion, ...], Field(max_length=20)] = ()

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: Any) -> Any:
        if not (isinstance(given, Mapping) and given.get("criteria")):
            return given
        return read_toml(DEFAULT, JudgePrompt, _LARGEST, _ADVICE).model_dump() | dict(given)

    def check_has(self, view: str) -> None:
        """Raises BadData if the prompt lacks what questions with this view need."""
        parts = ("{question}", "{statement}", "{answer}")
        wanted: dict[str, tuple[str, tuple[str, ...]]] = {"prompt": (self.prompt, parts)}
        wanted |= {f"question.{target}": (self.question.get(target, ""), ()) for target in TARGETS}
        wanted |= {f"answer.{kind}": (self.answer.get(kind, ""), ()) for kind in _KINDS[: 2 + bool(self.criteria)]}
        if view != WORDS:
            wanted[f"views.{view}"] = self.views.get(view, ""), parts
        for name, (text, needed) in wanted.items():
            lacking = ", ".join(part for part in needed if part not in text)
            if lacking or not text:
                raise BadData(f"the judge's prompt lacks {f'{lacking} in ' * bool(lacking)}{name}; {_ADVICE}")

    @cached_property
    def sides(self) -> dict[str, bool]:
        """Every label word in lower case: whether it means deceptive."""
        return {word.casefold(): lies for lies in (True, False) for word in (self.deceptive if lies else self.honest)}

    def about_statement(self, statement: str, target: str, view: str = WORDS) -> Question:
        """The question about a statement. statement: as a detector reads it; view: what that shows."""
        labels = {"{deceptive}": self.deceptive[0], "{honest}": self.honest[0]}
        own, criteria = self.question[target], tuple(one.name for one in self.criteria)

        def words(kind: _Kind, question: str) -> str:
            filled = {"{question}": question, "{answer}": _filled(self.answer[kind], labels)}
            # The statement comes last, so that placeholders within it are not filled in.
            asked = _filled(self.prompt if view == WORDS else self.views[view], filled)
            return asked.strip().replace("{statement}", statement)

        asked = [one.question or own for one in self.criteria] or [own]
        listed = "\n".join(f"- {name}: {question}" for name, question in zip(criteria, asked, strict=False))
        number = words("criteria", listed) if criteria else words("confidence", own)
        return Question(tuple(words("label", one) for one in asked), number, self.sides, criteria)


@dataclass(frozen=True, slots=True)
class Question:
    """labels: the prompts for a word, one for each criterion; number: the one for all numbers; sides: of the words;
    criteria: their names, () for a plain question.
    """

    labels: tuple[str, ...]
    number: str
    sides: Mapping[str, bool] = field(compare=False)
    criteria: tuple[str, ...] = ()

    def read(self, reply: Completion, stated: bool) -> tuple[float, ...] | None:
        """The probability that the statement is deceptive, by criterion, NaN for one without; None for a reply that
        gives none.
        """
        if self.criteria:
            return stated_criteria(reply.content, self.criteria)
        text, tokens = reply.content, reply.tokens
        found = stated_probability(text, self.sides) if stated else label_probability(tokens, self.sides)
        return None if found is None else (found,)


@dataclass(slots=True, kw_only=True)
class Answers:
    """What a judge said. label: its name in tables; priced: whether its requests have a price; stated: whether it
    states numbers, None while unknown; answers: by place in the questions, the probability of a lie by criterion,
    NaN for one without; failed: questions without an answer, by reason; served: models that the endpoint says it used.
    """

    label: str
    priced: bool = False
    stated: bool | None = None
    answers: dict[int, tuple[float, ...]] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    served: set[str] = field(default_factory=set)


def read_prompt(path: Path | None = None, view: str = WORDS) -> JudgePrompt:
    """The prompt in a TOML file, with what this view needs; by default, or by the name `RUBRIC`, Liescope's own. Raises
    BadData.
    """
    path = path or DEFAULT
    path = DEFAULT.with_name(f"{RUBRIC}.toml") if str(path) == RUBRIC and not path.exists() else path
    prompt = read_toml(path, JudgePrompt, _LARGEST, _ADVICE)
    prompt.check_has(view)
    both = {word.casefold() for word in prompt.deceptive} & {word.casefold() for word in prompt.honest}
    if both:
        raise BadData(f"{path}: {', '.join(sorted(both))} cannot mean both deceptive and honest; {_ADVICE}")
    if len({one.name for one in prompt.criteria}) < len(prompt.criteria):
        raise BadData(f"{path}: two criteria have one name; give each a name of its own")
    return prompt


def _filled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(name, value)
    return text


_DEGREES = {"very high": 0.95, "very low": 0.05, "high": 0.8, "medium": 0.5, "moderate": 0.5, "low": 0.2}
"""What words for a confidence are taken to mean."""
_OWN, _OF_VERDICT = ("probability", "likelihood", "score", "p"), ("confidence", "certainty")
_VERDICT = ("deceptive", "answer", "verdict", "label", "lie")
_MARKS = re.compile(r"[^\w]+|[▁ĠĊ]")
_NUMBER = r"(\d{1,3}(?:[.,]\d{1,6})?|[.,]\d{1,6})\s{0,3}(%|percent|/\s{0,2}100?\b|out of 100?\b)?"
_VALUE = re.compile(_NUMBER + r"(?![\w/])", re.IGNORECASE)
_CUT = re.compile(r"(?<![\d.,])0[.,]$")
"""The beginning of a number at the end of a text: nobody knows how it went on."""
_NAMED = re.compile(
    rf"({'|'.join((*_OWN[:-1], *_OF_VERDICT))})[\"'*_]{{0,3}}\s{{0,3}}(?:of|is|=|:)?[\s*_\"']{{0,4}}"
    rf"({_NUMBER}(?![\w/])|(?:{'|'.join(_DEGREES)})\b)",
    re.IGNORECASE,
)


def label_probability(places: Sequence[Alternatives], sides: Mapping[str, bool]) -> float | None:
    """The probability of deceptive, from the first place where the model writes the beginning of a label; None without
    one. places: of each token, the written one first; sides: label words in lower case, whether they mean deceptive.

    A token counts for a label if it is the label's beginning and no beginning of the other side's. If only one side is
    listed, the other gets its upper bound: the smaller of the least likely listed token's probability and the
    remainder.
    """
    for place in places:
        if not place or not _bare(place[0][0]):
            continue
        if _side(place[0][0], sides) is None:
            return None
        mass = {True: 0.0, False: 0.0}
        for token, logprob in place:
            if (side := _side(token, sides)) is not None:
                mass[side] += exp(logprob)
        left = max(0.0, 1 - sum(exp(logprob) for _, logprob in place))
        least = min(left, *(exp(logprob) for _, logprob in place))
        lies, honest = (mass[side] or least for side in (True, False))
        return lies / (lies + honest)
    return None


def _bare(token: str) -> str:
    return _MARKS.sub("", token).casefold()


def _side(token: str, sides: Mapping[str, bool]) -> bool | None:
    bare = _bare(token)
    found = {side for word, side in sides.items() if bare and word.startswith(bare)}
    return found.pop() if len(found) == 1 else None


def stated_probability(text: str, sides: Mapping[str, bool]) -> float | None:
    """The probability of deceptive that a text states; None if it states none, or several.

    Read as a field of a JSON object, after the name of such a field, or as the only number: 0.8, 80%, 8/10, or a word
    (high: 0.8, medium: 0.5, low: 0.2). A confidence beside an answer of honest is the confidence in that answer.
    """
    answer, data = _answered(text, (*_OWN, *_OF_VERDICT))
    if _CUT.search(answer):
        return None
    if data is not None:
        name = next(name for name in (*_OWN, *_OF_VERDICT) if name in data)
        value = _read(data[name])
        said = next((str(data[key]) for key in _VERDICT if key in data), "true")
        verdict = next(_verdicts(said, {"true": True, "false": False} | dict(sides)), None)
    elif named := _NAMED.search(answer):
        name, value = named[1].casefold(), _read(named[2])
        verdict = next(_verdicts(answer[: named.start()] + answer[named.end() :], sides), True)
    else:
        values = [_share(found[1], found[2]) for found in _VALUE.finditer(answer)]
        return values[0] if len(values) == 1 else None
    if name in _OWN:
        return value
    return None if value is None or verdict is None else value if verdict else 1 - value


def stated_criteria(text: str, names: Sequence[str]) -> tuple[float, ...] | None:
    """The probabilities that a JSON object in a text states, by name, NaN for one that it leaves out; None if it states
    none.
    """
    _, data = _answered(text, names)
    stated = [_read((data or {}).get(name)) for name in names]
    return None if not any(one is not None for one in stated) else tuple(nan if one is None else one for one in stated)


def _answered(text: str, names: Sequence[str]) -> tuple[str, dict[str, Any] | None]:
    """(the answer of a reply; the JSON object in it with any field of these names)."""
    from liescope.generate.players.parsing.choice import clean
    from liescope.generate.players.parsing.reply_forms import find_object

    def wanted(value: Any) -> dict[str, Any] | None:
        known = {str(key).strip().casefold(): item for key, item in value.items()} if isinstance(value, Mapping) else {}
        return known if known.keys() & {*names} else None

    answer = clean(text).answer
    return answer, find_object(answer, [], wanted)


def _read(value: Any) -> float | None:
    if isinstance(value, float) and 0 <= value <= 1:
        return value
    words = str(value).strip().casefold()
    found = None if isinstance(value, bool) else _VALUE.fullmatch(words)
    return _share(found[1], found[2]) if found else _DEGREES.get(words)


def _share(number: str, scale: str | None) -> float | None:
    """A number in [0, 1]; one above 1 needs its scale."""
    value = float(number.replace(",", "."))
    if scale:
        value /= 10 if re.sub(r"\s|/|out of", "", scale.casefold()) == "10" else 100
    return value if 0 <= value <= 1 else None


def _verdicts(text: str, sides: Mapping[str, bool]) -> Iterator[bool]:
    """The label words of a text in order; "not" before one inverts it."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    for before, word in zip(["", *words], words, strict=False):
        if word in sides:
            yield sides[word] != (before == "not")
