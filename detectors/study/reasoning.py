"""What reasoning gives away: whether it restates the speaker's role, and what it reaches without that.

A detector of what players thought need not read for lies where the thoughts say who has to lie.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import polars as pl

from liescope.common.text import CHAT, TEXT
from liescope.detectors.examples import keeps_reasoning
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.controls import CONTROLS, REASONING_LENGTH, WORDS, reading
from liescope.detectors.study.figures import GAIN, PLAIN, Examined, Finding, Jackknifed, graded
from liescope.detectors.study.metrics import SHARE
from liescope.detectors.study.scores import OUT_OF_FOLD
from liescope.detectors.textualize import TextConfig

_ALL, _CUT = "reasoning", "reasoning, sentences naming the own role removed"
_UNNAMED = "reasoning, all words for roles removed too"
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
    return "".join(one for one in _SENTENCE.findall(text) if not _own_role(role, team).search(one.strip()))


def reasoning(data: Audited) -> Examined:
    """What reasoning reaches, with and without the sentences that name the speaker's role, on the labelled statements
    that keep some; games held out. Nothing where too few keep any.
    """
    keeps = data.texts.select(keeps_reasoning()).to_series().to_numpy()
    kept, where = keeps & data.known, f"{OUT_OF_FOLD}:with reasoning"
    if kept.sum() < _LEAST or len(np.unique(data.y[kept])) < 2:
        return Examined()
    table, y, thoughts = data.texts.filter(pl.Series(kept)), data.y[kept], TextConfig(view="reasoning")
    hidden = ~pl.col("game").is_in([CHAT, TEXT])  # the assistant's role in a conversation is no secret
    roles = table.select(pl.when(hidden).then(pl.col("speaker_role", "speaker_team")).fill_null("")).rows()
    named = np.array([bool(role or team) for role, team in roles], dtype=bool)
    bare = [without_own_role(text, *who) for text, who in zip(table["reasoning"], roles, strict=True)]
    cut = table.with_columns(reasoning=pl.Series(bare, dtype=pl.String))
    masked = reading(thoughts.model_copy(update={"mask_role_words": True}))
    probes = {
        "words, where there is reasoning": CONTROLS[WORDS].made(table, data.seed),
        _ALL: reading(thoughts)(table, data.seed),
        "length of the reasoning": CONTROLS[REASONING_LENGTH].made(table, data.seed),
    }
    if named.any():
        probes |= {_CUT: reading(thoughts)(cut, data.seed), _UNNAMED: masked(cut, data.seed)}
    scheme, reached = data.by_game.among(table["statement_id"]), list[Jackknifed]()
    for probe in probes.values():
        score = np.full(len(kept), np.nan)
        score[kept] = scheme.scores(probe, data.step)
        reached.append(data.auroc(score))
    share = data.share_of(data.labelled, keeps[data.known])
    figures = [data.row(name, where, one) for name, one in zip(probes, reached, strict=True)]
    figures.append(share.figure(f"labelled {data.units.statements}", data.target, "that keep reasoning", SHARE))
    words, thought, length, *stripped = reached
    said = (
        f"{share.value:.1%} of the labelled statements keep what their speaker thought. On these, reasoning reaches "
        f"AUROC {thought:.3f}, its length alone {length:.3f}, the words {words:.3f}."
    )
    plain = Finding(data.units.say(said), tuple(figures), PLAIN)
    if not stripped:
        return Examined(figures, [plain])
    restates = (cut["reasoning"] != table["reasoning"]).to_numpy()
    among = {"all": named, "deceptive": named & y, "honest": named & ~y}
    shares = {who: data.share_of(table.filter(rows), restates[rows]) for who, rows in among.items() if rows.any()}
    lost = thought - stripped[0]
    mine = (
        *(one.figure("name the own role", data.target, who, SHARE) for who, one in shares.items()),
        data.row(_ALL, where, lost, against=_CUT),
    )
    split = ", ".join(f"{one.value:.1%} of the {who}" for who, one in shares.items() if who != "all")
    severity = graded(lost.certain, GAIN)
    sentence = (
        f"Where reasoning is kept, {shares['all'].value:.1%} names the speaker's own role outright ({split}); without "
        f"such sentences it reaches AUROC {stripped[0]:.3f}, and {stripped[1]:.3f} without any word for a role"
    )
    if severity != PLAIN:
        sentence += f": {lost:.3f} of AUROC only restates the role, which a detector can learn in place of lies"
    return Examined([*figures, *mine], [plain, Finding(f"{sentence}.", mine, severity)])
