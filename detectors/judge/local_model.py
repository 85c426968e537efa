"""A language model in this process as a judge. Its answer is not written but read: the log-odds that the next token
begins a label which means deceptive against one that means honest. Only what a model thinks first is written, greedily.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.sentence_encoder import transformer_folder
from liescope.common.statistics import expit
from liescope.detectors.detector import Progress
from liescope.detectors.judge.prompt import FRUITLESS, Question
from liescope.detectors.text_form import by_length
from liescope.games.core import Ask
from liescope.generate.players.local.loading import (
    CHOICES,
    Loaded,
    LocalSpec,
    PromptRow,
    Sampling,
    check_model,
    following,
    load,
    read_spec,
    write,
)
from liescope.generate.players.player_registry import joined
from liescope.generate.players.reply_cache import ReplyCache, request_key

KIND = "local:"
_TOKENS, _TOKENS_ON_CPU = 2**15, 2**12  # of a batch, padding included
_IDLE = ("persona", "states", "states_to", "temperature", "top_p", "top_k", "seed")
_ANSWERING = {"revision", "device", "dtype", "think", "reasoning_effort", "max_tokens", "by_kind"}
_held: dict[str, Loaded] = {}
"""The model that was asked last, by its files and options."""


def is_local(spec: str) -> bool:
    """Whether a judge runs in this process, so that nothing is sent and nothing costs."""
    return spec.startswith(KIND)


def local_spec(spec: str) -> LocalSpec:
    """A judge's spec. Raises UsageError or BadData for one that names no model that can be loaded, or options that only
    players have a use for.
    """
    found = read_spec(spec.removeprefix(KIND))
    if idle := [name for name in _IDLE if name in found.options.model_fields_set]:
        raise UsageError(f"{idle[0]} is an option of players; a local judge keeps no states and draws no tokens")
    check_model(found)
    return found


def label_of(spec: LocalSpec) -> str:
    """Its name in tables."""
    return joined(spec.model, spec.shown)


def ask_local(
    spec: LocalSpec, questions: Sequence[Question], cache: ReplyCache, ask: Ask, progress: Progress
) -> tuple[dict[int, tuple[float, ...]], Counter[str], int]:
    """(the probability of a lie by place in the questions and criterion, questions without an answer by reason, how
    many answers were kept from before). Raises as `load`; what was answered until then is kept.
    """
    folder = transformer_folder(spec.name, "language model", CHOICES, spec.options.revision)
    files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.iterdir())]
    about = {"options": spec.options.model_dump(include=_ANSWERING), "files": files}
    prompts = [label for one in questions for label in one.labels]
    labels = sorted(questions[0].sides.items()) if questions else []
    keys = [request_key(KIND, {**about, "prompt": one, "labels": labels}, "", ask) for one in prompts]
    odds = {at: json.loads(kept)["log_odds"] for at, key in enumerate(keys) if (kept := cache.find(key)) is not None}
    new, failed, known = [at for at in range(len(keys)) if at not in odds], dict[int, str](), len(odds)
    if new:
        name = json.dumps(about)
        if name not in _held:
            _held.clear()  # before the next one takes its memory
            _held[name] = load(spec)
        for found in _answers(_held[name], spec, {at: prompts[at] for at in new}, questions[0].sides, ask, failed):
            odds |= found
            for at, value in found.items():
                cache.keep(keys[at], json.dumps({"log_odds": value}))
            progress(f"asking {label_of(spec)}", len(odds) - known + len(failed), len(new))
            if not odds and len(failed) >= FRUITLESS:
                why = next(iter(failed.values()))
                raise UsageError(f"{label_of(spec)} answered none of {FRUITLESS} questions: {why}")
    answers, reasons, start = dict[int, tuple[float, ...]](), Counter[str](), 0
    for number, question in enumerate(questions):
        own = range(start, start := start + len(question.labels))
        if any(at in odds for at in own):
            answers[number] = tuple(float(expit(odds.get(at, nan))) for at in own)
        else:
            reasons[failed[own[0]]] += 1
    return answers, reasons, known


def _answers(
    loaded: Loaded,
    spec: LocalSpec,
    questions: Mapping[int, str],
    sides: Mapping[str, bool],
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
    labels = _labels(loaded, spec, sides)
    budget = _TOKENS_ON_CPU if loaded.model.device.type == "cpu" else _TOKENS
    for part in by_length([min(len(prompts[at]) + most, loaded.context) for at in fits], budget):
        rows = options.batch or len(part)
        for start in range(0, len(part), rows):
            batch = {fits[i]: prompts[fits[i]] for i in part[start : start + rows]}
            batch = _thought(loaded, batch, most, failed) if thinks else batch
            yield _log_odds(loaded, batch, labels) if batch else {}
    if len(fits) < len(prompts):
        why = f"the prompt is longer than the {loaded.context:,} tokens that the model takes"
        failed.update(dict.fromkeys(prompts.keys() - {*fits}, why))
        yield {}


def _log_odds(
    loaded: Loaded, prompts: Mapping[int, NDArray[np.int64]], labels: Sequence[Sequence[int]]
) -> Mapping[int, float]:
    logits = following(loaded, [*prompts.values()])
    lies, honest = (logits[:, ids].logsumexp(1) for ids in labels)
    return dict(zip(prompts, (lies - honest).tolist(), strict=True))


def _thought(
    loaded: Loaded, prompts: Mapping[int, NDArray[np.int64]], most: int, failed: dict[int, str]
) -> dict[int, NDArray[np.int64]]:
    """The prompts with what the model thinks first, up to where its answer begins."""
    rows = [PromptRow(ids, min(most, loaded.context - len(ids)), Sampling(temperature=0)) for ids in prompts.values()]
    found: dict[int, NDArray[np.int64]] = {}
    for (at, ids), reply in zip(prompts.items(), write(loaded, rows), strict=True):
        answer = loaded.answer_at(reply.ids)
        if answer in (0, len(reply.ids)) and not reply.ended:
            failed[at] = f"what it thinks first did not end within {most:,} tokens, or its context"
        else:
            found[at] = np.concatenate([ids, reply.ids[:answer]])
    return found


def _labels(loaded: Loaded, spec: LocalSpec, sides: Mapping[str, bool]) -> list[list[int]]:
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
