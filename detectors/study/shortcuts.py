"""What an audit says of controls that read no word of a statement, and of its words in several forms."""

from __future__ import annotations

from collections.abc import Iterator

from liescope.detectors.detector import ROLE
from liescope.detectors.study.alarms import BEYOND_CHANCE, CHANCE, GAIN, NOTABLE, PLAIN, Examined, Jackknifed, graded
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.controls import (
    CONTROLS,
    K_OF_N,
    LENGTH,
    NAME_AND_WORDS,
    OPENING,
    OPENINGS,
    OTHERS,
    ROLE_ORACLE,
    WORDS,
    WORDS_NAMED,
    WORDS_WITHOUT_ROLES,
)
from liescope.detectors.study.figures import Figure, Finding
from liescope.detectors.study.metrics import POOLED
from liescope.detectors.study.scores import CONTROL

SCORERS = "scorers"
_NOTHING = "a detector at {value:.2f} may have learned nothing more"
SHORTCUTS = {
    **dict.fromkeys((LENGTH, "form", "position", "round", "audience"), _NOTHING),
    "model_identity": "a detector at {value:.2f} may know only who writes how",
    "name": "roles are not dealt evenly to names",
    "game": "a detector at {value:.2f} may know only the rules",
    OTHERS: "a detector that reads context can repeat what the table thinks",
    K_OF_N: "a detector at {value:.2f} over all games may know nothing within one",
    ROLE_ORACLE: "this target can be had by finding out roles, without reading for lies",
}
"""Controls that do not read what is said, and what follows for detectors if they do well."""
READINGS = (WORDS_NAMED, WORDS, WORDS_WITHOUT_ROLES, OPENINGS, NAME_AND_WORDS)
_ASKED = "a detector that reads context can judge what was asked in place of the answer"
_SHARE = "what share of a game's labelled statements is deceptive, and not which"
_MOST_OF_IT = 0.8  # of what all words reach beyond chance, which openings must certainly exceed to be told


def known(data: Audited) -> list[str]:
    """The controls that can differ between statements here."""
    target = data.plan.target
    found = [name for name in (*SHORTCUTS, *READINGS) if CONTROLS[name].knows(data.labelled)]
    return [name for name in found if (name, target) != (ROLE_ORACLE, ROLE)]


def scorers(data: Audited) -> Examined:
    """What every control reaches wherever it is scored, and what follows; the sentences are about the first place."""
    first, target = data.places[0], data.plan.target
    names = known(data)
    figures = [
        data.reached(name, where).figure(CONTROL + name, target, where, POOLED)
        for name in names
        for where in data.places
    ]
    own = {name: data.reached(name, first) for name in names}
    resting = {figure.scorer.removeprefix(CONTROL): figure for figure in figures if figure.where == first}
    found = [
        sentence for name in names if name in SHORTCUTS for sentence in _shortcut(name, own[name], resting[name], data)
    ]
    return Examined(SCORERS, figures, [*found, *_words(own, resting, data)])


def _shortcut(name: str, reached: Jackknifed, rests_on: Figure, data: Audited) -> Iterator[Finding]:
    beyond = reached.certain - CHANCE
    if beyond <= BEYOND_CHANCE[0]:
        return
    moral = _ASKED if name == OTHERS and not data.units.are_games else SHORTCUTS[name]
    knows = _SHARE if name == K_OF_N and data.plan.target != ROLE else CONTROLS[name].words
    words = f"A scorer that knows only {knows} reaches AUROC {reached:.3f}: {moral.format(value=reached.value)}."
    severity = PLAIN if name == K_OF_N else graded(beyond, BEYOND_CHANCE)  # alike for all of a game: no lie is told
    yield Finding(data.units.say(words), (rests_on,), severity)


def _words(own: dict[str, Jackknifed], resting: dict[str, Figure], data: Audited) -> Iterator[Finding]:
    """What words reach, and how much of it lies in names, in words for roles, and in openings."""
    if WORDS not in own:
        return
    words = own[WORDS]
    said = f"A statement's own words, names masked, reach AUROC {words:.3f}."
    yield Finding(data.units.say(said), (resting[WORDS],), PLAIN)
    for name, gain, sentence in (
        (WORDS_NAMED, own[WORDS_NAMED] - words, "Names in the text add {}: they tell who was dealt which role."),
        (
            WORDS_WITHOUT_ROLES,
            words - own[WORDS_WITHOUT_ROLES],
            "Of that, {} hangs on words for roles and teams, and is lost in a game with other roles.",
        ),
    ):
        severity = graded(gain.certain, GAIN)
        if severity != PLAIN:
            yield Finding(sentence.format(f"{gain:.3f}"), (resting[name], resting[WORDS]), severity)
    first = own[OPENINGS]
    surplus = Jackknifed(first.values - CHANCE - _MOST_OF_IT * (words.values - CHANCE), first.statements, first.games)
    if words.certain > CHANCE + BEYOND_CHANCE[0] and surplus.certain > 0:
        part = (first.value - CHANCE) / (words.value - CHANCE)
        sentence = (
            f"The first {OPENING} words alone reach AUROC {first:.3f}, {part:.0%} of what all words reach beyond "
            f"chance: the {data.units.statements} of one class begin alike."
        )
        yield Finding(sentence, (resting[OPENINGS], resting[WORDS]), NOTABLE)
