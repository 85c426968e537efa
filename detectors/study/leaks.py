"""What makes a corpus look easier than it is: copies between splits, how statements are divided, labels that leak."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from liescope.detectors.examples import make_examples
from liescope.detectors.learned_from import SHORT, LearnedStatements, copied_games, is_long, normal
from liescope.detectors.study.alarms import COPIED, GAIN, NOTABLE, PLAIN, SERIOUS, Examined, graded
from liescope.detectors.study.audited import TEST, Audited
from liescope.detectors.study.checks import dealt, lets_through, reached
from liescope.detectors.study.controls import NAME_AND_WORDS, SHUFFLED, WORDS
from liescope.detectors.study.figures import Figure, Finding
from liescope.detectors.study.metrics import DIFFERENCE, OF_SHUFFLES, POOLED, SHARE
from liescope.detectors.study.schemes import Part
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD

COPIES, DIVISION, SHUFFLES = "copies", "division", "shuffled"
UNITS = {"batch": ("batch", "batches"), "prompt_version": ("prompt version", "prompt versions"), "run": ("run", "runs")}
"""What games can have in common beside their rules: the column, its name, its plural."""


def copies(data: Audited) -> Examined:
    """What test and validation share with train, names masked, and what that adds to the AUROC of words on test."""
    target, examples = data.plan.target, make_examples(data.texts, 0)
    long = np.array([is_long(text) for text in normal(examples)], dtype=bool)
    games, split = (data.texts[name].to_numpy().astype(np.str_) for name in ("game_id", "split"))
    every, names = LearnedStatements.of(examples, games), np.unique(games)
    train, copied = every.part(split[long] == "train"), np.zeros(len(long), dtype=bool)
    figures, found = list[Figure](), list[Finding]()
    for name in ("test", "validation"):
        there = long & (split == name)
        if not there.any() or not len(train.text):
            continue
        own, table = every.part(split[long] == name), data.texts.filter(pl.Series(there))
        exact, near = train.repeats(own)
        copied[there] = near
        same, alike = data.share_of(table, exact), data.share_of(table, near)
        each = table.unique("game_id", maintain_order=True)
        again = {str(names[one]): str(names[other]) for one, other in copied_games(train.texts, own.texts).items()}
        whole = data.share_of(each, each["game_id"].is_in(list(again)).to_numpy())
        mine = tuple(
            one.figure(COPIES, target, f"{name}:{data.units.say(what)}", SHARE)
            for what, one in (("word for word", same), ("at least nearly", alike), ("games", whole))
        )
        figures += mine
        if again:
            one, other = min(again.items())
            words = f"In {name}, {len(again):,} of {each.height:,} games repeat a game of train under another id"
            advice = f" (such as {one!r} and {other!r}): leave them out of one of the splits."
            found.append(Finding(data.units.say(words) + advice, mine[2:], SERIOUS))
        severity = graded(alike.certain, COPIED)
        if severity != PLAIN:
            words = (
                f"With names masked, {same:.1%} of the statements of {name} appear word for word in train, and "
                f"{alike:.1%} at least nearly (statements of {SHORT} words or more): their labels may have been "
                "learned by heart."
            )
            found.append(Finding(data.units.say(words), mine[:2], severity))
    if TEST not in data.places or not copied.any():
        return Examined(COPIES, figures, found)
    every_one, rest = data.reached(WORDS, TEST), data.auroc(data.scores(WORDS, data.train_test), ~copied)
    gain, without = every_one - rest, f"{TEST}:without copies"
    more = (
        rest.figure(CONTROL + WORDS, target, without, POOLED),
        gain.figure(CONTROL + WORDS, target, f"{TEST} less {without}", POOLED + DIFFERENCE, CONTROL + WORDS),
    )
    severity = graded(gain.certain, GAIN)
    if severity != PLAIN:
        words = (
            f"On test, words reach AUROC {every_one.value:.3f}, and {rest:.3f} on statements without a copy in train: "
            f"copies, learned by heart or just easier, add {gain:.3f}."
        )
        found.append(Finding(data.units.say(words), more, severity))
    return Examined(COPIES, [*figures, *more], found)


def division(data: Audited) -> Examined:
    """What words reach with whole batches, prompt versions or runs held out, and with statements held out instead."""
    parts = [_by_statement(data), *(_held_out(data, unit) for unit in units_of(data))]
    return Examined(
        DIVISION,
        [figure for part in parts for figure in part.figures],
        [found for part in parts for found in part.findings],
    )


def units_of(data: Audited) -> list[str]:
    """The units that tell some games apart, each division of the games once."""
    found: dict[tuple[int, ...], str] = {}
    for unit in UNITS:
        values = data.labelled[unit]
        if values.n_unique() > 1 and not values.has_nulls():
            found.setdefault(tuple(values.rank("dense").to_list()), unit)
    return list(found.values())


def _held_out(data: Audited, unit: str) -> Examined:
    """The AUROC of words with whole units held out, beside that with games held out in as many folds."""
    one, many = UNITS[unit]
    scheme = data.held_out(data.texts[unit].to_numpy().astype(np.str_))
    score = data.scores(WORDS, scheme)
    if not np.isfinite(score[data.known]).all():
        words = f"Whole {many} cannot be held out: what is left then has labels of one class alone."
        return Examined(DIVISION, (), [Finding(words, (), NOTABLE)])
    by_unit = data.auroc(score)
    lost = data.auroc(data.scores(WORDS, data.held_out(data.groups, len(scheme.repeats[0])))) - by_unit
    target, where = data.plan.target, f"{OUT_OF_FOLD}:whole {many} held out"
    figures = [
        by_unit.figure(CONTROL + WORDS, target, where, POOLED),
        lost.figure(CONTROL + WORDS, target, f"{OUT_OF_FOLD} less {where}", POOLED + DIFFERENCE, CONTROL + WORDS),
    ]
    words = f"With whole {many} held out, words reach AUROC {by_unit:.3f}, {lost:.3f} less than with games held out"
    severity = graded(lost.certain, GAIN)
    if severity != PLAIN:
        words += f": that part belongs to the {one}, with the models and prompts that it has"
    train, test = (data.texts.filter(pl.col("split") == split) for split in ("train", "test"))
    if train.height and test.height:
        shared = data.share_of(test, test[unit].is_in(train[unit].unique().implode()).to_numpy())
        figures.append(shared.figure(one, target, "test:in train too", SHARE))
        words += f" ({shared.value:.0%} of the test statements come from a {one} that train has too)"
    return Examined(DIVISION, figures, [Finding(data.units.say(f"{words}."), tuple(figures), severity)])


def _by_statement(data: Audited) -> Examined:
    """What the speaker's name and words reach when statements, not games, are held out; nothing where each is on its
    own.
    """
    from sklearn.model_selection import StratifiedKFold

    at = np.flatnonzero(data.known)
    if len(np.unique(data.groups[at])) == len(at):
        return Examined(DIVISION)
    y, folds = data.y[at], StratifiedKFold(len(data.by_game.repeats[0]), shuffle=True, random_state=data.plan.seed)
    parts = [Part(at[learn], at[score], number) for number, (learn, score) in enumerate(folds.split(y, y))]
    random = data.auroc(data.scores(NAME_AND_WORDS, replace(data.by_game, repeats=[parts])))
    grouped, scorer, where = data.reached(NAME_AND_WORDS), CONTROL + NAME_AND_WORDS, f"{OUT_OF_FOLD}:by statement"
    gain = random - grouped
    figures = (
        random.figure(scorer, data.plan.target, where, POOLED),
        gain.figure(scorer, data.plan.target, f"{where} less by game", POOLED + DIFFERENCE, scorer),
    )
    severity = graded(gain.certain, GAIN)
    words = (
        f"Divided by statement, not by game, the speaker's name and words reach AUROC {random:.3f} instead of "
        f"{grouped.value:.3f}"
    )
    if severity != PLAIN:
        words += f", {gain:.3f} from leakage alone: statements of one game give each other away"
    return Examined(DIVISION, figures, [Finding(data.units.say(f"{words}."), figures, severity)])


def shuffled(data: Audited) -> Examined:
    """Words on labels dealt to other games, many times, learned and scored on the same dealt labels: what the protocol
    finds where nothing is to be found. The folds are merged into two, for speed, for the real labels too.
    """
    fold, known, target, probe = data.by_game.fold % 2, data.known, data.plan.target, data.probe(WORDS)
    halves = [Part(np.flatnonzero(known & (fold != half)), np.flatnonzero(fold == half), half) for half in (0, 1)]
    scheme = replace(data.by_game, repeats=[halves])
    real, values = reached(scheme, known, probe), list[float]()
    for number in range(data.plan.shuffles):
        values.append(reached(dealt(scheme, known, data.plan.seed + number), known, probe))
        data.step()
    values = [value for value in values if np.isfinite(value)]  # in few games, all lies may be dealt to one half
    if not values or not np.isfinite(real):
        return Examined(SHUFFLES)
    mean, counted = float(np.mean(values)), (int(known.sum()), len(np.unique(data.groups[known])))
    where = f"{OUT_OF_FOLD}:in two folds"
    figures = (
        Figure(CONTROL + WORDS, target, where, POOLED, real, None, None, *counted),
        Figure(CONTROL + SHUFFLED, target, where, OF_SHUFFLES, mean, min(values), max(values), *counted),
    )
    spread = (
        f"{len(values)} shuffles of the labels give AUROC {mean:.3f} on average ({min(values):.3f} to "
        f"{max(values):.3f})"
    )
    if lets_through(values):
        words = f"{spread}: labels that mean nothing are found, so the protocol itself leaks."
        return Examined(SHUFFLES, figures, [Finding(words, figures, SERIOUS)])
    below = sum(value < real for value in values)
    where = f"above all {len(values)}" if below == len(values) else f"above {below} of the {len(values)}"
    words = f"{spread}; the real labels' {real:.3f} lies {where}."
    return Examined(SHUFFLES, figures, [Finding(words, figures, PLAIN)])
