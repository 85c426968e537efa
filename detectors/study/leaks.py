"""What makes a corpus look easier than it is: copies of what was learned, divisions that hold too little out, labels
that leak.
"""

from __future__ import annotations

import numpy as np

from liescope.detectors.examples import make_examples
from liescope.detectors.learned_from import SHORT
from liescope.detectors.study.alarms import COPIED, GAIN, NOTABLE, PLAIN, SERIOUS, Examined, graded
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.checks import across, shuffles
from liescope.detectors.study.controls import NAME_AND_WORDS, WORDS
from liescope.detectors.study.figures import Figure, Finding
from liescope.detectors.study.metrics import SHARE
from liescope.detectors.study.scores import OUT_OF_FOLD, ScoringPlan

UNITS = {"batch": "batches", "prompt_version": "prompt versions", "run": "runs"}
"""What games can have in common beside their rules: the column, and what several are called."""
_NAMED = 3


def copies(data: Audited) -> Examined:
    """What is scored and repeats what was learned from then, names masked, and what that adds to the AUROC of words."""
    where, units = data.first, data.units
    games = data.texts["game_id"].to_numpy().astype(np.str_)
    divisions = [parts for scheme in data.schemes.values() for parts in scheme.repeats]
    found, score = across(make_examples(data.texts, 0), games, divisions), data.scores(WORDS, data.schemes[where])
    use = found.long & np.isfinite(score)
    if not use.any():
        return Examined()
    table = data.texts.filter(use)
    same, alike = data.share_of(table, found.exact[use]), data.share_of(table, found.near[use])
    every = data.texts.unique("game_id", maintain_order=True)
    again = data.share_of(every, every["game_id"].is_in(list(found.games)).to_numpy())
    whole, rest = data.reached(WORDS, where), data.auroc(np.where(found.near, np.nan, score))
    gain, without = whole - rest, f"{where}:without copies"
    *shares, of_games = (
        one.figure("copies", data.target, f"{where}:{units.say(what)}", SHARE)
        for what, one in (("word for word", same), ("at least nearly", alike), ("games", again))
    )
    more = data.row(WORDS, without, rest), data.row(WORDS, f"{where} less {without}", gain, against=WORDS)
    some = ", ".join(map(repr, sorted(found.games)[:_NAMED])) + ", …" * (len(found.games) > _NAMED)
    repeat = "share stock phrases with" if units.are_games and not found.games else "repeat"
    said = (
        (
            SERIOUS if found.games else PLAIN,
            f"{len(found.games):,} of {every.height:,} games repeat a learned one under another id ({some}): "
            "leave all but one of each out.",
            (of_games,),
        ),
        (
            graded(alike.certain, COPIED),
            f"{alike:.1%} of the statements of {SHORT} words or more {repeat} statements that were learned from, and "
            f"{same:.1%} word for word, names masked: their labels may have been learned by heart.",
            tuple(shares),
        ),
        (
            graded(gain.certain, GAIN),
            f"Words reach AUROC {whole.value:.3f}, and {rest:.3f} on statements that repeat nothing learned from: "
            f"copies, learned by heart or just easier, add {gain:.3f}.",
            more,
        ),
    )
    findings = [
        Finding(units.say(words), rests_on, severity) for severity, words, rests_on in said if severity != PLAIN
    ]
    return Examined([*shares, of_games, *more], findings)


def division(data: Audited) -> Examined:
    """What words reach with whole batches, prompt versions or runs held out, and, with the speaker's name, with
    statements held out instead; nothing where each is on its own.
    """
    figures, findings = list[Figure](), list[Finding]()
    several = len(np.unique(data.groups[data.known])) < data.known.sum()
    for unit in (*units_of(data), *(["statement_id"] if several else [])):
        alone = unit == "statement_id"
        control, how = (NAME_AND_WORDS, "by statement") if alone else (WORDS, f"whole {UNITS[unit]} held out")
        scheme, where = data.held_out(data.texts[unit].to_numpy().astype(np.str_)), f"{OUT_OF_FOLD}:{how}"
        score = data.scores(control, scheme)
        if not np.isfinite(score[data.known]).all():
            words = f"Whole {UNITS[unit]} cannot be held out: what is left then has labels of one class alone."
            findings.append(Finding(words, (), NOTABLE))
            continue
        divided, by_game = (
            data.auroc(score),
            data.auroc(data.scores(control, data.held_out(data.groups, len(scheme.repeats[0])))),
        )
        gain = divided - by_game if alone else by_game - divided
        mine = (
            data.row(control, where, divided),
            data.row(control, f"{where} less by game" if alone else f"{OUT_OF_FOLD} less {where}", gain, control),
        )
        severity = graded(gain.certain, GAIN)
        if alone:
            words = "Divided by statement, not by game, the speaker's name and words reach AUROC "
            words += f"{divided:.3f} instead of {by_game.value:.3f}"
            cause = f", {gain:.3f} from leakage alone: statements of one game give each other away"
        else:
            words = f"With {how}, words reach AUROC {divided:.3f}, {gain:.3f} less than with games held out"
            cause = f": that part belongs to the {unit.replace('_', ' ')}, with the models and prompts that it has"
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
    check = shuffles(data.texts, data.by_game, data.target, plan, lambda *_: data.step())
    if check is None:
        return Examined()
    mean = check.figures[0]
    plain = (
        f"With labels dealt to other games, words reach AUROC {mean.value:.2f} ({mean.lo:.2f} to {mean.hi:.2f} in "
        "shuffles), as they must where nothing is to be found."
    )
    words = check.sentences or (data.units.say(plain),)
    return Examined(check.figures, [Finding(one, check.figures, SERIOUS if check.bad else PLAIN) for one in words])
