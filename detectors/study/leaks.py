"""What makes a corpus look easier than it is: copies of what was learned, divisions that hold too little out, labels
that leak.
"""

from __future__ import annotations

import numpy as np

from liescope.detectors.study import checks
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.controls import NAME_AND_WORDS, WORDS
from liescope.detectors.study.figures import (
    CHANCE,
    COPIED,
    GAIN,
    NOTABLE,
    PLAIN,
    SERIOUS,
    Examined,
    Figure,
    Finding,
    graded,
)
from liescope.detectors.study.schemes import by_group
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD, ScoringPlan

UNITS = {"batch": "batches", "prompt_version": "prompt versions", "run": "runs"}
"""What games can have in common beside their rules: the column, and what several are called."""
_DIVISIONS = 5
"""Two copies that are always held out together are never found, which hardly happens in so many."""


def copies(data: Audited) -> Examined:
    """What is scored and repeats what was learned from then, names masked, and what words reach on the rest."""
    name, plan = CONTROL + WORDS, ScoringPlan(OUT_OF_FOLD, seed=data.seed)
    scores = data.by_game.table(data.probe(WORDS), name, data.target, data.step)
    divisions = by_group(data.texts["statement_id"], data.groups, data.y, data.known, data.seed, _DIVISIONS)
    for found in checks.copies({name: None}, scores, data.texts, plan, {data.target: divisions}):
        (rest,) = found.figures
        many = 1 - rest.statements / data.known.sum() > COPIED[0]
        severity = SERIOUS if found.bad else NOTABLE if many else PLAIN
        *games, shared = found.sentences
        words = f"{shared} On the rest, words reach an AUROC of {rest:.3f}."
        return Examined(found.figures, [Finding(one, found.figures, severity) for one in (*games, words)])
    return Examined()


def division(data: Audited) -> Examined:
    """What words reach with whole batches, prompt versions or runs held out; and, with the speaker's name, with
    statements held out instead of games, unless each is a game of its own.
    """
    figures, findings = list[Figure](), list[Finding]()
    several = len(np.unique(data.groups[data.known])) < data.known.sum()
    for unit in units_of(data) + ["statement_id"] * int(several):
        control, how = (WORDS, f"whole {UNITS[unit]} held out") if unit in UNITS else (NAME_AND_WORDS, "by statement")
        scheme, where = data.held_out(data.texts[unit].to_numpy().astype(np.str_)), f"{OUT_OF_FOLD}:{how}"
        score = data.scores(control, scheme)
        if not np.isfinite(score[data.known]).all():
            words = f"Whole {UNITS[unit]} cannot be held out: what is left then has labels of one class alone."
            findings.append(Finding(words, (), NOTABLE))
            continue
        divided, as_many = data.auroc(score), data.held_out(data.groups, len(scheme.repeats[0]))
        by_game = data.auroc(data.scores(control, as_many))
        if unit in UNITS:
            gain, less, higher = by_game - divided, f"{OUT_OF_FOLD} less {where}", by_game
            words = f"With {how}, words reach AUROC {divided:.3f}, {gain:.3f} less than with games held out"
            cause = f": that part belongs to the {unit.replace('_', ' ')}, with the models and prompts that it has"
        else:
            gain, less, higher = divided - by_game, f"{where} less by game", divided
            words = (
                f"By statement, not by game, names and words reach AUROC {divided:.3f} instead of {by_game.value:.3f}"
            )
            cause = f", {gain:.3f} from leakage alone: statements of one game give each other away"
        mine = data.row(control, where, divided), data.row(control, less, gain, against=control)
        severity = graded(min(gain.certain, higher.certain - CHANCE), GAIN)  # what is not found is no leak
        figures += mine
        findings.append(Finding(data.units.say(f"{words}{cause * (severity != PLAIN)}."), mine, severity))
    return Examined(figures, findings)


def units_of(data: Audited) -> list[str]:
    """The units that tell some games apart, each division of the games once."""
    found: dict[tuple[int, ...], str] = {}
    for unit in UNITS:
        values = data.labelled[unit]
        if values.n_unique() > 1 and not values.has_nulls():
            found.setdefault(tuple(values.rank("dense").to_list()), unit)
    return list(found.values())


def shuffled(data: Audited) -> Examined:
    """What words reach on labels dealt to other games: what the protocol finds where nothing is to be found."""
    plan = ScoringPlan(OUT_OF_FOLD, seed=data.seed)
    found = checks.shuffles(data.texts, data.by_game, data.target, plan, lambda *_: data.step())
    if found is None:
        return Examined()
    plain = f"With labels dealt to other games, where nothing can be found, words reach AUROC {found.figures[0]:.2f}."
    words = found.sentences or (data.units.say(plain),)
    return Examined(found.figures, [Finding(one, found.figures, SERIOUS if found.bad else PLAIN) for one in words])
