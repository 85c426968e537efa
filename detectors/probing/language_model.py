"""A causal language model that is looked into: its hidden states at a statement, and what it answers when asked.

A statement passes through the model's chat template as the model's own turn, after what others said, so that it is read
as something that the model says; a model without a template reads plain text. Templates differ in what they take, which
is found by trying: a system prompt moves into the first turn of the user, turns of one role become one, and a turn of
the user comes first, until the template takes the turns.

States are computed once, and remembered while a model is loaded.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import BadData, MissingExtra, UsageError
from liescope.common.reading import Reading, Strict, read_toml
from liescope.common.sentence_encoder import read_transformer, transformer_folder
from liescope.common.stores import local
from liescope.common.text import ASSISTANT
from liescope.detectors.detector import Progress, silent
from liescope.detectors.text_form import by_length, longest_fit

Read = Literal["tokens", "last", "answer", "yes-no"]
"""What is read: the mean state at a statement's tokens, the state at the last of them, the state where the model
answers a question about it, or the log-odds of yes against no as the first word of that answer."""
ANSWER, YES_NO = "answer", "yes-no"
EACH: Final = "each"
"""Not the mean over a statement's tokens, but each of them."""
TOKENS = 32
"""The most tokens of a statement that are read each; of more, so many, evenly spaced."""
ASKS = (ANSWER, YES_NO)
SYSTEM, USER = "system", "user"
Turn = tuple[str, str]
"""A role and its words."""
States = NDArray[np.float16]

_CHOICES = "give the Hub id of a causal language model that you can reach, or its folder"
_WEIGHT_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.jinja")
_BATCH_TOKENS = {"cpu": 2048, "cuda": 2**14}
_LARGEST = float(np.finfo(np.float16).max)
_SETTINGS = {"enable_thinking": False, "thinking": False, "date_string": "01 Jan 2025"}  # of templates: none varies
_QUESTIONS = Path(__file__).with_name("questions.toml")
_OWN = "0wn w0rds stand here"
_GO_ON = "Go on."
_ANSWER_TOKENS = 4
_SAID_YES_OR_NO = re.compile(r"[\W_]*(yes|no)(?![^\W_])", re.IGNORECASE)


class _Questions(Strict):
    questions: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1, max_length=100)]


def read_questions(given: str) -> tuple[str, ...]:
    """What to ask about a statement: the one question of Liescope's own for "", all of them for "several", or those of
    a TOML file. Raises BadData.
    """
    own = _QUESTIONS if given in ("", "several") else local(given)
    found = read_toml(own, _Questions, 2**16, 'give a list, as in questions = ["Was that a lie?"]').questions
    return found if given else found[:1]


class Passage(NamedTuple):
    """before: what a model reads first: text, or the turns of a chat; own: the words whose states are used, in a chat
    the model's own turn.
    """

    before: str | tuple[Turn, ...]
    own: str


class LanguageModel:
    """A tokenizer and a model; made by `language_model`."""

    def __init__(self, folder: Path, tokenizer: Any, model: Any) -> None:
        config = model.config.get_text_config()
        self.folder, self.model, self._tokenizer = folder, model, tokenizer
        self.layers = int(config.num_hidden_layers)
        """How many there are; the last is number `layers`, and 0 would be the tokens' embeddings."""
        self.width = int(config.hidden_size)
        """How many numbers a hidden state has."""
        self.unanswered: set[Passage] = set()
        """Passages about which some question got neither yes nor no."""
        self.remembered: dict[tuple[object, ...], dict[Passage, States]] = {}
        """States of passages, by what is read of them."""
        self._most_tokens = int(getattr(config, "max_position_embeddings", None) or 2**20)

    @property
    def has_template(self) -> bool:
        """Whether it can read a chat."""
        return bool(self._tokenizer.chat_template)

    def states(
        self,
        passages: Sequence[Passage],
        layers: Sequence[int],
        longest: int,
        read: Read | Literal["each"] = "tokens",
        questions: Sequence[str] = (),
    ) -> States:
        """(passages, layers, width): the hidden states of several layers from one pass, averaged over the tokens that
        are read, and over the questions; of EACH (passages, layers, TOKENS, width), NaN where there are no more tokens;
        of YES_NO (passages, 1, questions), log-odds. longest: tokens of a pass. What comes before is cut if it does not
        fit, a chat by whole turns; own words that do not fit are read in several passes, of EACH in the first alone,
        or, where something is asked about them, without their middle.
        """
        asked = [(at, self._question(one, words, longest)) for at, one in enumerate(passages) for words in questions]
        if read == YES_NO:
            return self._log_odds([ids for _, ids in asked]).reshape(len(passages), 1, -1)
        windows = [(at, ids, len(ids) - 1) for at, ids in asked]
        if read != ANSWER:
            windows = [(at, *own) for at, one in enumerate(passages) for own in self._windows(one, longest, read)]
        sums = np.zeros((len(passages), len(layers), TOKENS if read == EACH else 1, self.width), np.float32)
        counts = np.zeros((len(passages), 1, sums.shape[2], 1), np.float32)
        for part in _batches([ids for _, ids, _ in windows], self.model.device):
            at, rows, starts = map(list, zip(*(windows[i] for i in part), strict=True))
            if read == ANSWER:
                found, tokens, said = self._at_answers(rows, layers)
                self.unanswered |= {passages[n] for n, answers in zip(at, said, strict=True) if not answers}
            else:
                found, tokens = self._at_own(rows, starts, layers, sums.shape[2])
            np.add.at(sums, at, found)
            np.add.at(counts, at, tokens)
        states = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
        means: States = np.clip(states, -_LARGEST, _LARGEST).astype(np.float16)
        return means if read == EACH else means[:, :, 0]

    def copy_to(self, folder: Path) -> None:
        """Copy its files."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in _files(self.folder):
            shutil.copyfile(path, folder / path.name)

    def _at_own(
        self, rows: Sequence[list[int]], starts: Sequence[int], layers: Sequence[int], slots: int
    ) -> tuple[Any, Any]:
        """((rows, layers, slots, width) sums of the states from a token on, (rows, 1, slots, 1) how many tokens those
        are). slots: 1 for all of these tokens, or the most of them that are read, evenly spaced, each in its slot.
        """
        import torch

        ids, read = self._padded(rows)
        own = torch.zeros(len(rows), slots, ids.shape[1])
        for row, (words, start) in enumerate(zip(rows, starts, strict=True)):
            places = np.arange(start, len(words))
            if slots > 1:
                places = np.unique(np.linspace(start, len(words) - 1, slots).astype(int))
            own[row, np.arange(len(places)) % slots, places] = 1
        how = {"attention_mask": read, "output_hidden_states": True, "use_cache": False}
        with torch.inference_mode():
            hidden = self._body(max(layers))(input_ids=ids, **how).hidden_states
            pooled = [torch.einsum("bst,bth->bsh", own.to(hidden[n].device), hidden[n].float()).cpu() for n in layers]
        return torch.stack(pooled, 1).numpy(), own.sum(2)[:, None, :, None].numpy()

    def _body(self, layer: int) -> Any:
        """The model up to a layer and one more, whose states alone are normalised, without the probabilities over next
        tokens, which would take more memory than all layers.
        """
        body = copy(self.model.base_model)  # whoever else reads the model at this moment keeps all layers
        body.config = copy(body.config)
        body.config.num_hidden_layers = min(layer + 1, self.layers)
        return body

    def _at_answers(self, rows: Sequence[list[int]], layers: Sequence[int]) -> tuple[Any, Any, list[bool]]:
        """As `_at_own`, at the yes or no that the model answers to each prompt, or, where it answers neither, at the
        prompt's last token; and whether it answers.
        """
        written = self._written(rows, _ANSWER_TOKENS + 1, output_hidden_states=True)
        answers = written.sequences[:, -len(written.hidden_states) :].tolist()
        # A token's states are those of the step that reads it, one after the step that wrote it.
        every = [[step + 1 for step in self._yes_or_no(ids[:_ANSWER_TOKENS])] or [0] for ids in answers]
        found = [
            [[sum(written.hidden_states[step][n][row, -1].float().cpu().numpy() for step in steps)] for n in layers]
            for row, steps in enumerate(every)
        ]
        tokens = np.array([len(steps) for steps in every], np.float32)[:, None, None, None]
        return np.array(found), tokens, [steps != [0] for steps in every]

    def _yes_or_no(self, ids: Sequence[int]) -> list[int]:
        """The places of the tokens with which an answer says yes or no; none if it does not begin so."""
        text = [self._tokenizer.decode(ids[:end]) for end in range(len(ids) + 1)]
        if (said := _SAID_YES_OR_NO.match(text[-1])) is None:
            return []
        begin, end = said.span(1)
        return [at for at, (before, after) in enumerate(pairwise(map(len, text))) if before < end and after > begin]

    def _log_odds(self, prompts: Sequence[list[int]]) -> States:
        """(prompts,): of yes against no, in any spelling, as the next token."""
        found = np.zeros(len(prompts), np.float16)
        for part in _batches(prompts, self.model.device):
            (scores,) = self._written([prompts[i] for i in part], 1, output_logits=True).logits
            yes, no = (scores[:, ids].float().logsumexp(1) for ids in self._spellings)
            found[part] = (yes - no).cpu().numpy()
        return found

    @cached_property
    def _spellings(self) -> tuple[list[int], list[int]]:
        """The tokens that are yes, and those that are no. Raises UsageError."""
        known = range(len(self._tokenizer))
        words = [self._tokenizer.decode([at]).strip().casefold() for at in known]
        yes, no = ([at for at, word in zip(known, words, strict=True) if word == wanted] for wanted in ("yes", "no"))
        if not yes or not no:
            raise UsageError(f"{self.folder.name} has no token for yes or none for no; read its states with --read")
        return yes, no

    def _written(self, rows: Sequence[list[int]], most: int, **wanted: bool) -> Any:
        """What it writes after some prompts, likeliest first."""
        import torch
        from transformers import GenerationConfig

        ids, mask = self._padded(rows, before=True)
        how = GenerationConfig(
            max_new_tokens=most, do_sample=False, return_dict_in_generate=True, pad_token_id=0, **wanted
        )
        with torch.inference_mode():
            return self.model.generate(ids, attention_mask=mask, generation_config=how)

    def _windows(self, passage: Passage, longest: int, read: str) -> list[tuple[list[int], int]]:
        """Token ids of each pass, up to the end of own words, and where those begin that are read."""
        ids, start = self._ids(passage, (), longest)
        room, every = min(longest, self._most_tokens), [(ids, start)]
        if len(ids) > room:
            head, own = ids[: min(start, room // 2)], ids[start:]
            step = room - len(head)
            every = [(head + own[at : at + step], len(head)) for at in range(0, len(own), step)]
        if read == "last":
            return [(ids, len(ids) - 1) for ids, _ in every[-1:]]
        return every[:1] if read == EACH else every

    def _question(self, passage: Passage, words: str, longest: int) -> list[int]:
        """The tokens of a prompt that asks about a passage."""
        ids, _ = self._ids(passage, (words,), longest)
        room = min(longest, self._most_tokens - _ANSWER_TOKENS - 1)
        return ids if len(ids) <= room else ids[: room // 2] + ids[room // 2 - room :]

    def _ids(self, passage: Passage, asked: tuple[str, ...], longest: int) -> tuple[list[int], int]:
        """The tokens of a passage, with a question after it, and where own words begin; the oldest turns, but for the
        first, are left out as long as it is too long.
        """
        room = min(longest, self._most_tokens - (_ANSWER_TOKENS + 1) * len(asked))
        if isinstance(passage.before, str):
            first = [] if self._tokenizer.bos_token_id is None else [self._tokenizer.bos_token_id]
            after = "".join(f"\n\n{words}\nAnswer:" for words in asked)
            own = self._tokens(passage.own + after) or [self._tokenizer.eos_token_id or 0]
            left = max(room - len(first) - len(own), 0)
            begin = first + (self._tokens(passage.before)[-left:] if left else [])
            return begin + own, len(begin)
        turns, own_words = passage.before, passage.own.strip()

        def tokens(kept: int) -> tuple[list[int], int]:
            few = turns if kept == len(turns) else (*turns[:1], *turns[len(turns) - kept + 1 :]) if kept else ()
            before, after = self._rendered(few, asked)
            found = self._tokenizer(before + own_words + after, add_special_tokens=False, return_offsets_mapping=True)
            ends = [end for _, end in found["offset_mapping"]]
            start = next((at for at, end in enumerate(ends) if end > len(before)), len(ends) - 1)
            return found["input_ids"], start

        whole = tokens(len(turns))
        return whole if len(whole[0]) <= room else longest_fit(tokens, len(turns) - 1, lambda one: len(one[0]) <= room)

    def _rendered(self, turns: tuple[Turn, ...], asked: tuple[str, ...]) -> tuple[str, str]:
        """The text of a chat before own words and, if something is asked, after them. Raises BadData for a template
        that takes no chat.
        """
        said = [*turns, (ASSISTANT, _OWN), *((USER, words) for words in asked)]
        why = "it leaves words out"
        for mend in _MENDS:
            said = mend(said)
            chat = [{"role": role, "content": words} for role, words in said]
            try:
                text = self._tokenizer.apply_chat_template(
                    chat, tokenize=False, add_generation_prompt=bool(asked), **_SETTINGS
                )
            except Exception as error:  # noqa: BLE001 - a template raises what it likes
                why = " ".join(str(error).split())[:200]
                continue
            before, found, after = text.rpartition(_OWN)
            if found and said[0][1].strip() in text:
                return before, after if asked else ""
        raise BadData(f"the chat template of {self.folder.name} fails ({why}); read plain text with --form text")

    def _tokens(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

    def _padded(self, rows: Sequence[list[int]], before: bool = False) -> tuple[Any, Any]:
        """(ids, mask) as tensors. Padding comes after the words, where a causal model's words cannot see it, or before
        them, where the model is to go on.
        """
        import torch
        from torch.nn.utils.rnn import pad_sequence

        side, ones = "left" if before else "right", [[1] * len(row) for row in rows]
        ids, mask = (pad_sequence([*map(torch.tensor, one)], True, padding_side=side) for one in (rows, ones))
        return ids.to(self.model.device), mask.to(self.model.device)


_MENDS: tuple[Callable[[list[Turn]], list[Turn]], ...] = (
    list,
    lambda turns: [(USER if role == SYSTEM else role, words) for role, words in turns],
    lambda turns: [
        (who, "\n\n".join(words for _, words in said)) for who, said in groupby(turns, lambda turn: turn[0])
    ],
    lambda turns: turns if turns[0][0] == USER else [(USER, _GO_ON), *turns],
)
"""What is done to the turns of a chat, one after the other, until a template takes them."""


def _batches(rows: Sequence[Sequence[int]], device: Any) -> Iterator[NDArray[np.int64]]:
    return by_length([len(row) for row in rows], _BATCH_TOKENS[device.type])


def language_model(name: str) -> LanguageModel:
    """The causal model of a Hub id or folder, loaded again only if its weights change: safetensors alone, none of its
    code; bf16 and spread over the GPUs where there are any.

    Raises UsageError if there is no such model, BadData if it is more than data or cannot be read, MissingExtra.
    """
    if not name:
        raise UsageError(f"no language model is named; {_CHOICES}, with --model")
    folder = transformer_folder(name, "language model", _CHOICES)
    return _loaded(folder, tuple(path.stat().st_mtime_ns for path in _files(folder)))


@lru_cache(maxsize=1)
def _loaded(folder: Path, _changed: tuple[int, ...]) -> LanguageModel:
    try:
        import torch
        from transformers import GenerationConfig
    except ImportError as error:
        raise MissingExtra((error.name or "torch").partition(".")[0], "train") from error
    gpu = torch.cuda.is_available()
    place: dict[str, Any] = {"dtype": torch.bfloat16, "device_map": "auto"} if gpu else {"dtype": torch.float32}
    with Reading(f"the language model {str(folder)!r}", _CHOICES):
        tokenizer, model, _ = read_transformer("AutoModelForCausalLM", folder, **place)
    model.generation_config = GenerationConfig()  # the makers' settings are about drawing tokens
    with torch.inference_mode():  # states are collected by hooks, which a copy of the body has to find there
        model.base_model(input_ids=torch.zeros(1, 1, dtype=torch.long, device=model.device), output_hidden_states=True)
    return LanguageModel(folder, tokenizer, model.eval())


def _files(folder: Path) -> list[Path]:
    return sorted(path for pattern in _WEIGHT_FILES for path in folder.glob(pattern) if path.is_file())


_AT_ONCE = 256
_MEMORY = 2**30  # bytes to remember of statements that are only scored


@dataclass(frozen=True, slots=True, eq=False)
class Activations:
    """What is read of one model: `LanguageModel.states`, remembered."""

    model: LanguageModel
    layers: tuple[int, ...]
    longest: int
    read: Read | Literal["each"] = "tokens"
    questions: tuple[str, ...] = ()

    def of(self, passages: Sequence[Passage], progress: Progress = silent, remember: bool = False) -> States:
        """(passages, layers, width) float16. remember: keep all of them; else only while there is room."""
        how, found = (self.layers, self.longest, self.read, self.questions), dict[Passage, States]()
        seen = self.model.remembered.setdefault(how, {})
        new = sorted({one for one in passages if one not in seen}, key=lambda one: len(f"{one.before}{one.own}"))
        for start in range(0, len(new), _AT_ONCE):
            progress("reading hidden states", start, len(new))
            part = new[start : start + _AT_ONCE]
            found |= zip(part, self.model.states(part, *how), strict=True)
        if new:
            progress("reading hidden states", len(new), len(new))
        states = np.stack([found[one] if one in found else seen[one] for one in passages])
        if remember or sum(one.nbytes for one in (*seen.values(), *found.values())) <= _MEMORY:
            seen |= found
        return states
