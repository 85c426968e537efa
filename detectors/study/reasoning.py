"""What reasoning gives away: whether it restates the speaker's role, and what it reaches without that.

A detector of what players thought need not read for lies where the thoughts say who has to lie.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import polars as pl

from liescope.common.statistics import Bools
from liescope.common.text import CHAT, TEXT
from liescope.detectors.examples import REASONING, keeps_reasoning
from liescope.detectors.study.alarms import GAIN, PLAIN, Examined, Jackknifed, graded
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.controls import CONTROLS, REASONING_LENGTH, reading
from liescope.detectors.study.figures import Finding
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, SHARE
from liescope.detectors.study.schemes import Probe
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD
from liescope.detectors.textualize import TextConfig

_LEAST = 30  # statements with reasoning, below which nothing is said of it

_ALIKE = (
    r"mafios[oi]s?|mafias?|mobsters?",
    r"werewol(?:f|ves)|wol(?:f|ves)",
    r"villagers?|village|town(?:s?folk|s?people|ies?|s)?|civilians?",
    r"ducks?",
    r"goose|geese",
)
"""Words for one role or team, beside its own name."""
_FILL = r"(?:(?:actually|really|secretly|also|only|just|still|a|an|the|fellow|lone|last|hidden|secret)\s+){0,3}"
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]*\s*")


@lru_cache(maxsize=256)
def _own_role(role: str, team: str) -> re.Pattern[str]:
    """Words by which a speaker names its own role, or its team, outright."""
    known = [word.casefold() for word in (role, team) if word]
    words = [rf"{re.escape(word).replace('_', ' ')}s?" for word in known]
    words += [alike for alike in _ALIKE if any(re.fullmatch(alike, word) for word in known)]
    own = rf"(?:{'|'.join(words)})(?!\w)"
    am = r"i(?:\s+am|\s*['’]m|\s+was\s+(?:dealt|assigned))|we(?:\s+are|\s*['’]re)|being|playing(?:\s+as)?|fellow"
    mine = r"(?:my|our)(?:\s+\w+){0,2}?\s+(?:role|team|side|faction|identity)\s*(?:is|are|as|of|:|=)"
    start = r"(?:^|[,;:(*–—-]\s*|\b(?:and|so|but|since|because|that|think|remember|here|now)\s+)"
    return re.compile(
        rf"(?<!\w)(?:{am}|{mine}|my|our|role\s*[:=])\s+{_FILL}{own}"
        rf"|{start}as\s+{_FILL}{own}"
        rf"|(?<!\w)as\s+{_FILL}{own}\s*,?\s+(?:i|my|we)(?!\w)"
        rf"|(?<!\w){own}\s+(?:is|are)\s+(?:me|us)(?!\w)",
        re.IGNORECASE,
    )


def without_own_role(text: str, role: str, team: str) -> str:
    """A text without the sentences in which its speaker names its own role or team outright; as it was, where none
    does, or where the role is not known.
    """
    if not (role or team):
        return text
    pattern = _own_role(role, team)
    sentences = _SENTENCE.findall(text)
    kept = [sentence for sentence in sentences if not pattern.search(sentence.strip())]
    return text if len(kept) == len(sentences) else "".join(kept)


_WHERE = f"{OUT_OF_FOLD}:with reasoning"


def reasoning(data: Audited) -> Examined:
    """What reasoning reaches, with and without the sentences that name the speaker's role, on the labelled statements
    that keep some; games held out. Nothing where too few keep any.
    """
    keeps = data.texts.select(keeps_reasoning()).to_series().to_numpy()
    kept, target, seed = keeps & data.known, data.plan.target, data.plan.seed
    if kept.sum() < _LEAST or data.y[kept].all() or not data.y[kept].any():
        return Examined(REASONING)
    table = data.texts.filter(pl.Series(kept))
    hidden = ~pl.col("game").is_in([CHAT, TEXT])  # the assistant's role in a conversation is no secret
    roles = table.select(pl.when(hidden).then(pl.col("speaker_role", "speaker_team")).fill_null("")).rows()
    bare = [without_own_role(text, *who) for text, who in zip(table["reasoning"], roles, strict=True)]
    stripped = table.with_columns(reasoning=pl.Series(bare, dtype=pl.String))
    thoughts = TextConfig(view="reasoning")
    probes: dict[str, Probe] = {
        "words, where there is reasoning": reading(TextConfig())(table, seed),
        "reasoning": reading(thoughts)(table, seed),
        "length of the reasoning": CONTROLS[REASONING_LENGTH].made(table, seed),
    }
    named = np.array([bool(role or team) for role, team in roles], dtype=bool)
    if named.any():
        masked = thoughts.model_copy(update={"mask_role_words": True})
        probes["reasoning, sentences naming the own role removed"] = reading(thoughts)(stripped, seed)
        probes["reasoning, all words for roles removed too"] = reading(masked)(stripped, seed)
    drawn = {name: _reached(probe, table, kept, data) for name, probe in probes.items()}
    figures = [one.figure(CONTROL + name, target, _WHERE, POOLED) for name, one in drawn.items()]
    share = data.share_of(data.labelled, keeps[data.known])
    figures.append(share.figure(f"labelled {data.units.statements}", target, "that keep reasoning", SHARE))
    words, thought, length, *cut = drawn.values()
    said = (
        f"{share.value:.1%} of the labelled statements keep what their speaker thought. On these, reasoning reaches "
        f"AUROC {thought:.3f}, its length alone {length:.3f}, the words {words:.3f}."
    )
    plain = Finding(data.units.say(said), tuple(figures), PLAIN)
    if not cut:
        return Examined(REASONING, figures, [plain])
    restates = np.array([one != was for one, was in zip(bare, table["reasoning"], strict=True)], dtype=bool)
    y = data.y[kept]
    shares = {
        who: data.share_of(table.filter(pl.Series(among)), restates[among])
        for who, among in (("all", named), ("deceptive", named & y), ("honest", named & ~y))
        if among.any()
    }
    figures += [one.figure("name the own role", target, who, SHARE) for who, one in shares.items()]
    lost, whole, stripped_of = thought - cut[0], figures[1].scorer, figures[3].scorer
    figures.append(lost.figure(whole, target, _WHERE, POOLED + DIFFERENCE, stripped_of))
    split = ", ".join(f"{one.value:.1%} of the {who}" for who, one in shares.items() if who != "all")
    severity = graded(lost.certain, GAIN)
    sentence = (
        f"Where reasoning is kept, {shares['all'].value:.1%} names the speaker's own role outright ({split}); without "
        f"such sentences it reaches AUROC {cut[0]:.3f}, and {cut[1]:.3f} without any word for a role"
    )
    if severity != PLAIN:
        sentence += f": {lost:.3f} of AUROC only restates the role, which a detector can learn in place of lies"
    return Examined(REASONING, figures, [plain, Finding(f"{sentence}.", tuple(figures[-len(shares) - 1 :]), severity)])


def _reached(probe: Probe, table: pl.DataFrame, kept: Bools, data: Audited) -> Jackknifed:
    """The AUROC of what learned from statements with reasoning alone, in the folds of all."""
    score = np.full(len(kept), np.nan)
    score[kept] = data.by_game.among(table["statement_id"]).scores(probe, data.step)
    return data.auroc(score)
