"""What reasoning gives away: whether it restates the speaker's role, and what it reaches without that.

A detector of what players thought need not read for lies where the thoughts say who has to lie.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import polars as pl

from liescope.common.statistics import Floats
from liescope.common.text import CHAT, TEXT
from liescope.detectors.audit import audit_findings as f
from liescope.detectors.audit.audit_findings import AuditRow, Figure, Finding, graded
from liescope.detectors.audit.bench import OUT_OF_FOLD, Audited, Bench, Bools
from liescope.detectors.examples import REASONING, Example
from liescope.detectors.folds import Rows
from liescope.detectors.study.controls import CONTROLS, word_probe
from liescope.detectors.study.schemes import Probe
from liescope.detectors.textualize import TextConfig, textualize

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


def reasoning(data: Audited, bench: Bench) -> tuple[list[AuditRow], list[Finding]]:
    """What reasoning reaches, with and without the sentences that name the speaker's role, on the labelled statements
    that keep some; games held out. Nothing where too few keep any.
    """
    kept = np.array([example.can_be_read(REASONING) for example in bench.data.examples], dtype=bool)
    y, table = bench.data.y, data.table
    if kept.sum() < _LEAST or y[kept].all() or not y[kept].any():
        return [], []
    keeps = bench.share_of(table, kept)
    hidden = ~pl.col("game").is_in([CHAT, TEXT])  # the assistant's role in a conversation is no secret
    roles = table.select(pl.when(hidden).then(pl.col("speaker_role", "speaker_team")).fill_null("")).rows()
    bare = [
        replace(one, reasoning=without_own_role(one.reasoning, *who))
        for one, who in zip(bench.data.examples, roles, strict=True)
    ]
    restates = np.array(
        [one.reasoning != was.reasoning for one, was in zip(bare, bench.data.examples, strict=True)], dtype=bool
    )
    reads = TextConfig(view="reasoning")
    known = np.array([bool(role or team) for role, team in roles], dtype=bool) & kept
    probes: dict[str, Probe] = {
        "words, where there is reasoning": _words(bench.data.examples, TextConfig(), bench.seed),
        "reasoning": _words(bench.data.examples, reads, bench.seed),
        "length of the reasoning": CONTROLS["reasoning_length"].made(table, bench.seed),
    }
    if known.any():
        masked = reads.model_copy(update={"mask_role_words": True})
        probes["reasoning, sentences naming the own role removed"] = _words(bare, reads, bench.seed)
        probes["reasoning, all words for roles removed too"] = _words(bare, masked, bench.seed)
    figures = {name: bench.auroc(bench.by_fold(_among(kept, probe), bench.fold)) for name, probe in probes.items()}
    rows = [figure.row("reasoning", name, OUT_OF_FOLD, "auroc") for name, figure in figures.items()]
    rows.append(keeps.row("reasoning", "labelled statements that keep reasoning", "", "share"))
    words, thought, length, *cut = figures.values()
    said = (
        f"{keeps.value:.1%} of the labelled statements keep what their speaker thought. On these, reasoning reaches "
        f"AUROC {thought:.3f}, its length alone {length:.3f}, the words {words:.3f}"
    )
    if not cut:
        return rows, [Finding("reasoning", "reasoning", f.PLAIN, f"{said}.")]
    shares = {
        who: bench.share_of(table.filter(pl.Series(among)), restates[among])
        for who, among in (("all", known), ("deceptive", known & y), ("honest", known & ~y))
        if among.any()
    }
    rows += [share.row("reasoning", f"name the own role: {who}", "", "share") for who, share in shares.items()]
    lost = thought - cut[0]
    rows.append(lost.row("reasoning", "reasoning minus without naming the own role", OUT_OF_FOLD, "auroc_difference"))
    split = ", ".join(f"{share.value:.1%} of the {who}" for who, share in shares.items() if who != "all")
    restated = f"Where reasoning is kept, {shares['all'].value:.1%} names the speaker's own role outright ({split})"
    severity = graded(lost.certain, f.DIFFERENCE, f.LARGE_DIFFERENCE)
    return rows, [
        Finding("reasoning", "reasoning", f.PLAIN, f"{said}."),
        Finding("reasoning", "naming the own role", severity, f"{restated}; {_without(lost, cut, severity)}."),
    ]


def _without(lost: Figure, cut: Sequence[Figure], severity: str) -> str:
    left = f"without such sentences it reaches AUROC {cut[0]:.3f}, and {cut[1]:.3f} without any word for a role"
    if severity == f.PLAIN:
        return left
    return f"{left}: {lost:.3f} of AUROC only restates the role, which a detector can learn in place of lies"


def _words(examples: Sequence[Example], config: TextConfig, seed: int) -> Probe:
    return word_probe([textualize(example, config) for example in examples], seed)


def _among(kept: Bools, probe: Probe) -> Probe:
    """The probe on the statements that are kept alone; NaN for others, and where those have one class."""

    def found(learn: Rows, score: Rows, y: Bools) -> Floats:
        mine, scored = learn[kept[learn]], kept[score]
        result = np.full(len(score), np.nan)
        if scored.any() and y[mine].any() and not y[mine].all():
            result[scored] = probe(mine, score[scored], y)
        return result

    return found
