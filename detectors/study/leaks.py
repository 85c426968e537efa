"""What makes a corpus look easier than it is: copies of what was learned, divisions that hold too little out, labels
that leak.
"""

from __future__ import annotations

import numpy as np

from liescope.detectors.examples import make_examples
from liescope.detectors.learned_from import SHORT, Copies, LearnedStatements, copied_games, is_long, normal
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.checks import shuffles
from liescope.detectors.study.controls import NAME_AND_WORDS, WORDS
from liescope.detectors.study.figures import COPIED, GAIN, NOTABLE, PLAIN, SERIOUS, Examined, Figure, Finding, graded
from liescope.detectors.study.metrics import SHARE
from liescope.detectors.study.scores import OUT_OF_FOLD, ScoringPlan

UNITS = {"batch": "batches", "prompt_version": "prompt versions", "run": "runs"}
"""What games can have in common beside their rules: the column, and what several are called."""
_NAMED = 3


def copies(data: Audited) -> Examined:
    """What is scored and repeats what was learned from then, names masked, and what that adds to the AUROC of words."""
    where, say = data.first, data.units.say
    found, score = _repeated(data), data.scores(WORDS, data.schemes[where])
    use = found.long & np.isfinite(score)
    if not use.any():
        return Examined()
    table, every = data.texts.filter(use), data.texts.unique("game_id", maintain_order=True)
    same, alike = data.share_of(table, found.exact[use]), data.share_of(table, found.near[use])
    again = data.share_of(every, every["game_id"].is_in(list(found.games)).to_numpy())
    whole, rest = data.reached(WORDS, where), data.auroc(np.where(found.near, np.nan, score))
    gain, without = whole - rest, f"{where}:without copies"
    shares = tuple(
        one.figure("copies", data.target, f"{where}:{say(what)}", SHARE)
        for what, one in (("word for word", same), ("at least nearly", alike), ("games", again))
    )
    more = data.row(WORDS, without, rest), data.row(WORDS, f"{where} less {without}", gain, against=WORDS)
    findings = []
    if found.games:
        some = ", ".join(map(repr, sorted(found.games)[:_NAMED])) + ", …" * (len(found.games) > _NAMED)
        words = say(f"{len(found.games):,} of {every.height:,} games repeat a learned one under another id")
        findings.append(Finding(f"{words} ({some}): leave all but one of each out.", shares[2:], SERIOUS))
    if (severity := graded(alike.certain, COPIED)) != PLAIN:
        repeat = "share stock phrases with" if data.units.are_games and not found.games else "repeat"
        words = (
            f"{alike:.1%} of the statements of {SHORT} words or more {repeat} statements that were learned from, and "
            f"{same:.1%} word for word, names masked: their labels may have been learned by heart."
        )
        findings.append(Finding(say(words), shares[:2], severity))
    if (severity := graded(gain.certain, GAIN)) != PLAIN:
        words = (
            f"Words reach AUROC {whole.value:.3f}, and {rest:.3f} on statements that repeat nothing learned from: "
            f"copies, learned by heart or just easier, add {gain:.3f}."
        )
        findings.append(Finding(say(words), more, severity))
    return Examined([*shares, *more], findings)


def _repeated(data: Audited) -> Copies:
    """Which texts repeat one that was learned from when they were scored, anywhere."""
    examples, games = make_examples(data.texts, 0), data.texts["game_id"].to_numpy().astype(np.str_)
    long = np.array([is_long(text) for text in normal(examples)], dtype=bool)
    exact, near, again = np.zeros(len(long), dtype=bool), np.zeros(len(long), dtype=bool), set[str]()
    every, at, ids = LearnedStatements.of(examples, games), np.flatnonzero(long), np.unique(games)
    for part in (part for scheme in data.schemes.values() for parts in scheme.repeats for part in parts):
        scored = np.isin(at, part.score)
        learned, mine = every.part(np.isin(at, part.learn)), every.part(scored)
        same, alike = learned.repeats(mine)
        exact[at[scored]] |= same
        near[at[scored]] |= alike
        again |= {str(ids[game]) for game in copied_games(learned.texts, mine.texts)}
    return Copies(long, exact, near, frozenset(again))


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
            gain, less = by_game - divided, f"{OUT_OF_FOLD} less {where}"
            words = f"With {how}, words reach AUROC {divided:.3f}, {gain:.3f} less than with games held out"
            cause = f": that part belongs to the {unit.replace('_', ' ')}, with the models and prompts that it has"
        else:
            gain, less = divided - by_game, f"{where} less by game"
            words = (
                f"By statement, not by game, names and words reach AUROC {divided:.3f} instead of {by_game.value:.3f}"
            )
            cause = f", {gain:.3f} from leakage alone: statements of one game give each other away"
        mine = data.row(control, where, divided), data.row(control, less, gain, against=control)
        severity = graded(gain.certain, GAIN)
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
