"""Whose labels, texts or turns are missing: the share by model and by role, and whether these tell what is missing."""

from __future__ import annotations

import numpy as np
import polars as pl

from liescope.detectors.study.audited import Audited, ranked
from liescope.detectors.study.controls import fitted_on
from liescope.detectors.study.figures import CHANCE, PLAIN, UNEVEN, Examined, Figure, Finding, Jackknifed, graded
from liescope.detectors.study.metrics import POOLED, SHARE
from liescope.detectors.study.schemes import by_group
from liescope.detectors.study.scores import CONTROL
from liescope.generate.corpus.read import silent_turns

_NAMED = 30  # statements or turns of a group that a sentence names, at least
_WHO = {"speaker_model": "model", "speaker_role": "role"}


def missing(data: Audited) -> Examined:
    """Figures for every model and role, and a sentence for each loss; an alarm where it is not alike for all."""
    spoken, units = data.spoken, data.units
    if not units.are_games:  # what a user or a system prompt says has no label, and is no loss
        roles = spoken.filter(~pl.col("missing"))["speaker_role"].unique()
        spoken = spoken.filter(pl.col("speaker_role").is_in(roles.implode()))
    losses = (
        (f"no {data.target} label", "missing", spoken.filter(~pl.col("lost")), units.statements),
        ("a lost text", "lost", spoken, units.statements),
        ("silence instead of a statement", "silent", silent_turns(spoken, data.games), "turns to speak"),
    )
    figures, findings = list[Figure](), list[Finding]()
    for what, column, table, of in losses:
        if table.is_empty() or not table[column].any():
            continue
        everyone, uneven = data.share_of(table, table[column].to_numpy()), list[Finding]()
        words, overall = f"{everyone:.1%} of the {of} have {what}", everyone.figure(what, data.target, "all", SHARE)
        figures.append(overall)
        for by, who in _WHO.items():
            told = _knowing(by, table, column, data)
            rests_on = told.figure(CONTROL + who, what, "all", POOLED)
            shares = {
                name or "unknown": data.share_of(part, part[column].to_numpy())
                for (name,), part in sorted(table.partition_by(by, as_dict=True).items())
            }
            rows = {name: one.figure(what, data.target, f"{who}={name}", SHARE) for name, one in shares.items()}
            figures += [*rows.values(), rests_on]
            severity = graded(told.certain - CHANCE, UNEVEN)
            enough = sorted((one.value, name) for name, one in shares.items() if one.statements >= _NAMED)
            if severity != PLAIN and len(enough) > 1:
                (few, least), (many, most) = enough[0], enough[-1]
                sentence = (
                    f"{words}, but not the same share for every {who}: {many:.0%} for {who} {most}, {few:.0%} for "
                    f"{who} {least} (knowing only the {who} tells which, AUROC {told:.2f}). The other figures say "
                    f"least about {most}."
                )
                uneven.append(Finding(sentence, (rows[most], rows[least], rests_on), severity))
        whose = "model and role" if units.are_games else "model"
        findings += uneven or [Finding(f"{words}, about as many for every {whose}.", (overall,), PLAIN)]
    return Examined(figures, findings)


def _knowing(by: str, table: pl.DataFrame, column: str, data: Audited) -> Jackknifed:
    """How well one column alone tells what is missing, with whole games held out."""
    y, groups = table[column].to_numpy(), table["game_id"].to_numpy().astype(np.str_)
    probe = fitted_on(pl.col(by).fill_null(""), one_hot=True)(table, data.seed)
    scheme = by_group(table["game_id"], groups, y, np.ones(len(y), dtype=bool), data.seed, 1)
    return ranked(y, scheme.scores(probe, data.step), groups, data.seed)
