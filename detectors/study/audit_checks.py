"""The checks of an audit: what scorers that know one thing reach, what leaks, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from liescope.detectors.detector import ROLE
from liescope.detectors.examples import keeps_reasoning
from liescope.detectors.study import checks, controls
from liescope.detectors.study.audited import Audited, Examined, ranked
from liescope.detectors.study.controls import CONTROLS, MARK, OPENING, WORDS, fitted_on, most_telling, reading
from liescope.detectors.study.figures import CHANCE, GAIN, NOTABLE, PLAIN, SERIOUS, Figure, Finding, Jackknifed, graded
from liescope.detectors.study.metrics import POOLED, SHARE
from liescope.detectors.study.schemes import by_group
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD, ScoringPlan
from liescope.detectors.text_form import TextConfig
from liescope.generate.corpus.read import silent_turns

_NOTHING = "a detector at {value:.2f} may have learned nothing more"
SHORTCUTS = {
    **dict.fromkeys((controls.LENGTH, "form", "position", "round", "audience"), _NOTHING),
    "model_identity": "a detector at {value:.2f} may know only who writes how",
    "name": "roles are not dealt evenly to names",
    "game": "a detector at {value:.2f} may know only the rules",
    "task": "a detector at {value:.2f} may know only what was asked",
    controls.OTHERS: "a detector that reads context can repeat what the others think",
    controls.K_OF_N: "a detector at {value:.2f} over all games may know nothing within one",
    controls.ROLE_ORACLE: "this target can be had by finding out roles, without reading for lies",
}
"""Controls that do not read what is said, and what follows for detectors if they do well."""
BEYOND_CHANCE, WORDS_BEYOND, UNEVEN = (0.02, 0.15), (0.15, 0.35), (0.05, 0.15)
"""Beyond what a figure is notable, and serious; a word may tell by what it means, so that more is asked of it."""
_SHARE = "what share of a game's labelled statements is deceptive, and not which"
_COPIED = 0.02  # a larger share of copies is notable
_MOST_OF_IT = 0.8  # openings are reported if they certainly reach this share of what all words reach beyond chance


def known(data: Audited) -> list[str]:
    """The controls that can differ between statements here."""
    found = [name for name in (*SHORTCUTS, *controls.READINGS) if CONTROLS[name].knows(data.labelled)]
    return [name for name in found if (name, data.target) != (controls.ROLE_ORACLE, ROLE)]


def scorers(data: Audited) -> Examined:
    """What every control reaches in each place, and what follows from it; the sentences are about the first place."""
    places, names = list(data.schemes), known(data)
    reached: dict[str, dict[str, Jackknifed]] = {where: {} for where in places}
    for name in names:
        for where, score in zip(places, data.scores(name, *data.schemes.values()), strict=True):
            reached[where][name] = data.auroc(score)
    figures = {
        (name, at): reached[at][name].figure(CONTROL + name, data.target, at, POOLED) for name in names for at in places
    }
    found = [
        Finding(data.units.say(words), tuple(figures[name, places[0]] for name in about), severity)
        for say in (_of_shortcuts, _of_words, _of_tokens)
        for severity, words, *about in say(reached[places[0]], data)
    ]
    return Examined(list(figures.values()), found)


def _of_shortcuts(own: dict[str, Jackknifed], data: Audited) -> Iterator[tuple[str, ...]]:
    """Severity, sentence, and the control that it is about."""
    for name, moral in SHORTCUTS.items():
        severity = graded(own[name].certain - CHANCE, BEYOND_CHANCE) if name in own else PLAIN
        if severity == PLAIN:
            continue
        if name == controls.OTHERS and not data.units.are_games:
            moral = "a detector that reads context can judge what was asked in place of the answer"
        knows = _SHARE if name == controls.K_OF_N and data.target != ROLE else CONTROLS[name].words
        said = f"A scorer that knows only {knows} reaches AUROC {own[name]:.3f}"
        blames = name != controls.K_OF_N  # constant within a game, so it cannot single out a lie
        yield severity if blames else PLAIN, f"{said}: {moral.format(value=own[name].value)}.", name


def _of_words(own: dict[str, Jackknifed], _data: Audited) -> Iterator[tuple[str, ...]]:
    """Severity, sentence, and the controls that it is about."""
    if WORDS not in own:
        return
    words, named, unnamed, first = (
        own[name] for name in (WORDS, controls.WORDS_NAMED, controls.WORDS_WITHOUT_ROLES, controls.OPENINGS)
    )
    yield PLAIN, f"A statement's own words, names masked, reach AUROC {words:.3f}.", WORDS
    if (severity := graded((named - words).certain, GAIN)) != PLAIN:
        gained = f"Names in the text add {named - words:.3f}: they tell who was dealt which role."
        yield severity, gained, controls.WORDS_NAMED, WORDS
    if (severity := graded((words - unnamed).certain, GAIN)) != PLAIN:
        lost = f"Of that, {words - unnamed:.3f} hangs on words for roles and teams, and is lost in a game with others."
        yield severity, lost, controls.WORDS_WITHOUT_ROLES, WORDS
    surplus = Jackknifed(first.values - CHANCE - _MOST_OF_IT * (words.values - CHANCE), first.statements, first.games)
    if words.certain > CHANCE + BEYOND_CHANCE[0] and surplus.certain > 0:
        part = (first.value - CHANCE) / (words.value - CHANCE)
        alike = (
            f"The first {OPENING} words alone reach AUROC {first:.3f}, {part:.0%} of what all words reach beyond "
            "chance: the statements of one class begin alike."
        )
        yield NOTABLE, alike, controls.OPENINGS, WORDS


def _of_tokens(own: dict[str, Jackknifed], data: Audited) -> Iterator[tuple[str, ...]]:
    """Severity, sentence, and the control that it is about."""
    said = set[str]()
    for name in (one for one in (controls.BEST_WORD, controls.BEST_MARK) if one in own):
        if (best := most_telling(data.labelled, data.target, marks=name == controls.BEST_MARK)) is None:
            continue
        token, lies, others = best
        severity = graded(own[name].certain - CHANCE, BEYOND_CHANCE if token.kind == MARK else WORDS_BEYOND)
        if token.unusual and severity == PLAIN and own[name].certain > CHANCE:
            severity = NOTABLE
        if token.words in said or (severity == PLAIN and name == controls.BEST_MARK):
            continue
        said.add(token.words)
        what = f"{token.words[0].upper()}{token.words[1:]} alone: AUROC {own[name]:.3f}"
        why = "No other tells more; it may tell by what it means"
        if severity != PLAIN:
            why = "Whether the speakers or the making of the corpus put it there is for a reader to find out"
        if token.unusual:
            why = "Nobody types such a character: what wrote or changed these texts put it there"
        yield severity, f"{what}, in {lies} deceptive and {others} honest {data.units.statements}. {why}.", name


_KEPT = 30  # the fewest statements with reasoning for saying anything about it


def reasoning(data: Audited) -> Examined:
    """What reasoning reaches, with words for roles and without, where there is some; nothing if too few have any."""
    keeps = data.texts.select(keeps_reasoning()).to_series().to_numpy()
    kept, where = keeps & data.known, f"{OUT_OF_FOLD}:with reasoning"
    if kept.sum() < _KEPT or len(np.unique(data.y[kept])) < 2:
        return Examined()
    table, scheme = data.texts.filter(pl.Series(kept)), data.by_game.among(data.texts["statement_id"].filter(kept))
    made = {
        "words, where there is reasoning": CONTROLS[WORDS].made,
        "length of the reasoning": CONTROLS[controls.REASONING_LENGTH].made,
        "reasoning": reading(TextConfig(view="reasoning")),
        "reasoning, words for roles masked": reading(TextConfig(view="reasoning", mask_role_words=True)),
    }
    figures, reached = list[Figure](), list[Jackknifed]()
    for name, make in made.items():
        score = np.full(len(kept), np.nan)
        score[kept] = scheme.scores(make(table, data.seed), data.step)
        reached.append(data.auroc(score))
        figures.append(data.row(name, where, reached[-1]))
    words, length, thought, masked = reached
    share = data.share_of(data.labelled, keeps[data.known])
    figures.append(share.figure(f"labelled {data.units.statements}", data.target, "that keep reasoning", SHARE))
    said = (
        f"{share.value:.1%} of the labelled statements keep what their speaker thought. On these, reasoning reaches "
        f"AUROC {thought:.3f}, its length alone {length:.3f}, the words {words:.3f}."
    )
    findings = [Finding(data.units.say(said), tuple(figures), PLAIN)]
    if (severity := graded((lost := thought - masked).certain, GAIN)) != PLAIN:
        figures.append(data.row("reasoning", where, lost, against="reasoning, words for roles masked"))
        hangs = f"{lost:.3f} of the AUROC of reasoning hangs on words for roles and teams: thoughts that name the"
        findings.append(
            Finding(f"{hangs} speaker's role can be learned in place of lies.", tuple(figures[-1:]), severity)
        )
    return Examined(figures, findings)


BATCHES = {"batch": "batches", "prompt_version": "prompt versions", "run": "runs"}
"""What games can have in common beside their rules: the column, and what several are called."""
_DIVISIONS = 5
"""Two copies that are always held out together are never found, which hardly happens in so many."""


def copies(data: Audited) -> Examined:
    """The scored statements that copy learned ones, names masked, and what words reach on the rest."""
    name, plan = CONTROL + WORDS, ScoringPlan(OUT_OF_FOLD, seed=data.seed)
    scores = data.by_game.table(data.probe(WORDS), name, data.target, data.step)
    divisions = by_group(data.texts["statement_id"], data.groups, data.y, data.known, data.seed, _DIVISIONS)
    for found in checks.copies({name: None}, scores, data.texts, plan, divisions):
        (rest,) = found.figures
        many = 1 - rest.statements / data.known.sum() > _COPIED
        severity = SERIOUS if found.bad else NOTABLE if many else PLAIN
        *games, shared = found.sentences
        words = f"{shared} On the rest, words reach an AUROC of {rest:.3f}."
        return Examined(found.figures, [Finding(one, found.figures, severity) for one in (*games, words)])
    return Examined()


def division(data: Audited) -> Examined:
    """What words reach with whole batches, prompt versions or runs held out."""
    figures, findings = list[Figure](), list[Finding]()
    for unit in units_of(data):
        how = f"whole {BATCHES[unit]} held out"
        scheme, where = data.held_out(data.texts[unit].to_numpy().astype(np.str_)), f"{OUT_OF_FOLD}:{how}"
        (score,) = data.scores(WORDS, scheme)
        if not np.isfinite(score[data.known]).all():
            words = f"Whole {BATCHES[unit]} cannot be held out: what is left then has labels of one class alone."
            findings.append(Finding(words, (), NOTABLE))
            continue
        # Compared with as many folds by game: more folds learn from more data, which would look like a leak.
        divided, as_many = data.auroc(score), data.held_out(data.groups, len(scheme.repeats[0]))
        by_game = data.auroc(*data.scores(WORDS, as_many))
        gain = by_game - divided
        words = f"With {how}, words reach AUROC {divided:.3f}, {gain:.3f} less than with games held out"
        cause = f": that part belongs to the {unit.replace('_', ' ')}, with the models and prompts that it has"
        mine = (data.row(WORDS, where, divided), data.row(WORDS, f"{OUT_OF_FOLD} less {where}", gain, against=WORDS))
        severity = graded(min(gain.certain, by_game.certain - CHANCE), GAIN)  # a probe at chance has no leak
        figures += mine
        findings.append(Finding(data.units.say(f"{words}{cause * (severity != PLAIN)}."), mine, severity))
    return Examined(figures, findings)


def units_of(data: Audited) -> list[str]:
    """The units that divide the games, each distinct division once."""
    found: dict[tuple[int, ...], str] = {}
    for unit in BATCHES:
        values = data.labelled[unit]
        if values.n_unique() > 1 and not values.has_nulls():
            found.setdefault(tuple(values.rank("dense").to_list()), unit)
    return list(found.values())


def shuffled(data: Audited) -> Examined:
    """What words reach on labels dealt to other games: what the protocol finds where there is nothing to find."""
    plan = ScoringPlan(OUT_OF_FOLD, seed=data.seed)
    found = checks.shuffles(data.texts, data.by_game, data.target, plan, lambda *_: data.step())
    if found is None:
        return Examined()
    plain = f"With labels dealt to other games, where nothing can be found, words reach AUROC {found.figures[0]:.2f}."
    words = found.sentences or (data.units.say(plain),)
    return Examined(found.figures, [Finding(one, found.figures, SERIOUS if found.bad else PLAIN) for one in words])


_NAMED = 30  # the fewest statements or turns of a group that a sentence names
_WHO = {"speaker_model": "model", "speaker_role": "role"}


def missing(data: Audited) -> Examined:
    """Whose labels, texts or turns are missing: an alarm if the model or the role alone predicts which."""
    spoken, units = data.spoken, data.units
    if not units.are_games:  # users and system prompts never have labels, so nothing is missing there
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
        words = f"{everyone:.1%} of the {of} have {what}"
        figures.append(everyone.figure(what, data.target, "all", SHARE))
        for by, who in _WHO.items():
            told = _knowing(by, table, column, data)
            figures.append(told.figure(CONTROL + who, what, "all", POOLED))
            shares = table.group_by(by).agg(pl.col(column).mean(), pl.len()).filter(pl.col("len") >= _NAMED)
            most = shares.sort(column, by)[by].to_list()[-1:]
            if (severity := graded(told.certain - CHANCE, UNEVEN)) != PLAIN and most:
                sentence = (
                    f"{words}, but not the same share for every {who}: most of {who} {most[0] or 'unknown'} (knowing "
                    f"only the {who} tells which, AUROC {told:.2f}), of whom the other figures say least."
                )
                uneven.append(Finding(sentence, tuple(figures[-1:]), severity))
        whose = "model and role" if units.are_games else "model"
        overall = next(row for row in figures if (row.scorer, row.metric) == (what, SHARE))
        findings += uneven or [Finding(f"{words}, about as many for every {whose}.", (overall,), PLAIN)]
    return Examined(figures, findings)


def _knowing(by: str, table: pl.DataFrame, column: str, data: Audited) -> Jackknifed:
    """How well one column alone predicts what is missing, with whole games held out."""
    y, groups = table[column].to_numpy(), table["game_id"].to_numpy().astype(np.str_)
    probe = fitted_on(pl.col(by).fill_null(""), one_hot=True)(table, data.seed)
    scheme = by_group(table["game_id"], groups, y, np.ones(len(y), dtype=bool), data.seed, 1)
    return ranked(y, scheme.scores(probe, data.step), groups, data.seed)
