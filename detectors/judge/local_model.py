"""A language model in this process as a judge. Its answer is not written but read: the log-odds that the next token
begins a label which means deceptive against one that means honest. Only what a model thinks first is written, greedily.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.sentence_encoder import transformer_folder
from liescope.common.statistics import expit
from liescope.detectors.detector import Progress
from liescope.detectors.judge.prompt import FRUITLESS, Answers, Question
from liescope.detectors.text_form import by_length
from liescope.games.core import Ask
from liescope.generate.players.local import loading
from liescope.generate.players.player_registry import joined
from liescope.generate.players.reply_cache import ReplyCache, request_key

_Prompts = Mapping[int, NDArray[np.int64]]

KIND = "local:"
_TOKENS, _TOKENS_ON_CPU = 2**15, 2**12  # of a batch, padding included
_IDLE = ("persona", "states", "states_to", "temperature", "top_p", "top_k", "seed")
_ANSWERING = {"revision", "device", "dtype", "think", "reasoning_effort", "max_tokens", "by_kind"}
_held: dict[str, loading.Loaded] = {}
"""The model that was asked last, by its files and options."""


def is_local(spec: str) -> bool:
    """Whether a judge runs in this process, so that nothing is sent and nothing costs."""
    return spec.startswith(KIND)


def local_spec(spec: str) -> loading.LocalSpec:
    """A judge's spec. Raises UsageError or BadData for one that names no model that can be loaded, or options that only
    players have a use for.
    """
    found = loading.read_spec(spec.removeprefix(KIND))
    if idle := [name for name in _IDLE if name in found.options.model_fields_set]:
        raise UsageError(f"{idle[0]} is an option of players; a local judge keeps no states and draws no tokens")
    loading.check_model(found)
    return found


def ask_local(
    judge: str, questions: Sequence[Question], cache: ReplyCache, ask: Ask, progress: Progress
) -> tuple[Answers, int]:
    """(the answers, how many were kept from before). Raises as `load`; what was answered until then is kept."""
    spec, sides = local_spec(judge), questions[0].sides if questions else {}
    told, failed = Answers(label=joined(spec.model, spec.shown), stated=False), dict[int, str]()
    folder = transformer_folder(spec.name, "language model", loading.CHOICES, spec.options.revision)
    files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.iterdir())]
    about = {"options": spec.options.model_dump(include=_ANSWERING), "files": files, "labels": sorted(sides.items())}
    prompts = [label for one in questions for label in one.labels]
    keys = [request_key(KIND, {**about, "prompt": one}, "", ask) for one in prompts]
    odds = {at: json.loads(kept)["log_odds"] for at, key in enumerate(keys) if (kept := cache.find(key)) is not None}
    new, known = {at: prompts[at] for at in range(len(keys)) if at not in odds}, len(odds)
    if new and (name := json.dumps(about)) not in _held:
        _held.clear()  # before the next one takes its memory
        _held[name] = loading.load(spec)
    for found in _answers(_held[name], spec, new, _labels(_held[name], spec, sides), ask, failed) if new else ():
        odds |= found
        for at, value in found.items():
            cache.keep(keys[at], json.dumps({"log_odds": value}))
        progress(f"asking {told.label}", len(odds) - known + len(failed), len(new))
        if not odds and len(failed) >= FRUITLESS:
            raise UsageError(f"{told.label} answered none of {FRUITLESS} questions: {next(iter(failed.values()))}")
    places = iter(range(len(keys)))
    for number, question in enumerate(questions):
        own = [next(places) for _ in question.labels]
        if why := next((failed[at] for at in own if at in failed), ""):
            told.failed[why] += 1
        else:
            told.answers[number] = tuple(expit([odds[at] for at in own]).tolist())
    return told, known


def _answers(
    loaded: loading.Loaded,
    spec: loading.LocalSpec,
    questions: Mapping[int, str],
    labels: Sequence[Sequence[int]],
    ask: Ask,
    failed: dict[int, str],
) -> Iterator[Mapping[int, float]]:
    """The log-odds of deceptive, by place, of a batch at a time. failed: gets the reasons of those without."""
    template, options = str(loaded.tokenizer.chat_template or ""), spec.options
    if options.think is None and "enable_thinking" in template:
        options = options.model_copy(update={"think": False})
    thinks, end = loaded.thinks(options), "" if template else "\n\nAnswer:"
    most = spec.most_tokens(ask.kind, thinks) if thinks else 1
    chats = {at: [{"role": "user", "content": words + end}] for at, words in questions.items()}
    prompts = {at: loaded.prompt_ids(chat, options) for at, chat in chats.items()}
    fits = [at for at, ids in prompts.items() if len(ids) < loaded.context]
    budget = _TOKENS_ON_CPU if loaded.model.device.type == "cpu" else _TOKENS
    for part in by_length([min(len(prompts[at]) + most, loaded.context) for at in fits], budget):
        for some in np.split(part, range(options.batch or len(part), len(part), options.batch or len(part))):
            batch: _Prompts = {fits[i]: prompts[fits[i]] for i in some}
            batch = _thought(loaded, batch, most, failed) if thinks else batch
            if batch:
                logits = loading.following(loaded, [*batch.values()])
                lies, honest = (logits[:, ids].logsumexp(1) for ids in labels)
            yield dict(zip(batch, (lies - honest).tolist(), strict=True)) if batch else {}
    why = f"the prompt is longer than the {loaded.context:,} tokens that the model takes"
    failed |= dict.fromkeys(prompts.keys() - {*fits}, why)
    yield {}


def _thought(loaded: loading.Loaded, prompts: _Prompts, most: int, failed: dict[int, str]) -> _Prompts:
    """The prompts with what the model thinks first, up to where its answer begins."""
    found, greedy = dict[int, NDArray[np.int64]](), loading.Sampling(temperature=0)
    rows = [loading.PromptRow(ids, min(most, loaded.context - len(ids)), greedy) for ids in prompts.values()]
    for (at, ids), reply in zip(prompts.items(), loading.write(loaded, rows), strict=True):
        answer = loaded.answer_at(reply.ids)
        if answer in (0, len(reply.ids)) and not reply.ended:
            failed[at] = f"what it thinks first did not end within {most:,} tokens, or its context"
        else:
            found[at] = np.concatenate([ids, reply.ids[:answer]])
    return found


def _labels(loaded: loading.Loaded, spec: loading.LocalSpec, sides: Mapping[str, bool]) -> list[list[int]]:
    """The tokens that begin a label, of either side: whole labels if there are any, else the first of several tokens.
    Raises UsageError if both sides begin alike.
    """
    found: dict[bool, set[int]] = {}
    for side in (True, False):
        words = [word for word, lies in sides.items() if lies == side]
        forms = [begin + form for word in words for form in (word, word.title(), word.upper()) for begin in ("", " ")]
        cut = [ids for form in forms if (ids := loaded.tokenizer(form, add_special_tokens=False)["input_ids"])]
        found[side] = {ids[0] for ids in cut if len(ids) == 1} or {ids[0] for ids in cut}
    only = [sorted(found[side] - found[not side]) for side in (True, False)]
    if not all(only):
        raise UsageError(
            f"{spec.name} begins the words for deceptive and for honest with the same token, so that nothing can be "
            "read; give its prompt other words for them"
        )
    return only
