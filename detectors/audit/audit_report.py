"""An audit as a report."""

from __future__ import annotations

from collections.abc import Iterator

from liescope.common.colours import INK, MODELS
from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Report, Section, Table, with_interval
from liescope.common.text import number_of
from liescope.detectors.audit.audit_findings import CHANCE, PLAIN, SEVERITIES, AuditResult, AuditRow
from liescope.detectors.audit.bench import OUT_OF_FOLD, TRAIN_TEST
from liescope.detectors.study.scores import scripted_warning

TITLES = {
    "probe": "What cheap scorers reach",
    "telling": "Single words and characters",
    "reasoning": "What speakers thought",
    "copies": "Copies across splits",
    "division": "How statements are divided",
    "missing": "Who is missing",
    "association": "What is associated",
    "shuffled": "Shuffled labels",
}
"""The parts of an audit, by the `check` of their rows, in order."""
_MEANINGS = {
    "probe": "AUROC; 0.5 is chance. A detector that does no better than a row here may know no more than it.",
    "telling": "AUROC of having it, or of lacking it; and the share of the statements that have it. Chosen as the most "
    "telling of all that pass an exact test, which the intervals do not allow for.",
    "reasoning": "TF-IDF of reasoning and of words on the statements that keep reasoning, out of fold by game; and the "
    "share in which a sentence names the speaker's own role or team, as in 'I am the mafioso'.",
    "copies": "Statements of five words or more, names masked. Nearly: they share 80% of their 5-character pieces.",
    "division": "TF-IDF of words, divided by game (as every other figure), by whole batches, and by statement.",
    "missing": "Shares of statements or turns; Cramér's V says how unevenly they are spread, from 0 to 1.",
    "association": "Cramér's V, from 0 (independent) to 1 (one gives the other), less what chance adds.",
    "shuffled": "Labels dealt to other games; the interval of the shuffles is from the lowest to the highest.",
}
_METRICS = {
    "auroc": "AUROC",
    "auroc_difference": "difference of AUROCs",
    "auroc_of_shuffles": "mean AUROC (lowest to highest)",
    "share": "share",
    "cramers_v": "Cramér's V",
}
FEW = 30
"""Below so many games the headline says that little can be found."""
_SCHEMES = {OUT_OF_FOLD: "out of fold", TRAIN_TEST: "train to test", "": ""}


def headline(audit: AuditResult) -> tuple[str, ...]:
    """Three sentences: how much was found, and the two findings that matter most."""
    counts = {severity: sum(found.severity == severity for found in audit.findings) for severity in SEVERITIES}
    found = [f"{count} {severity}" for severity, count in counts.items() if count and severity != PLAIN]
    first = (
        f"The audit found {' and '.join(found)} {'way' if len(audit.alarms) == 1 else 'ways'} in which a detector "
        "could do well here without detecting deception."
        if found
        else "None of these checks found a way to do well here without detecting deception."
    )
    if audit.games < FEW:
        first += audit.units.say(f" With {number_of(audit.games, 'game')}, only large effects can be found.")
    return first, *[found.sentence for found in audit.findings][:2]


def counted(audit: AuditResult) -> str:
    """What was audited, in words."""
    said = audit.units.counted(audit.statements, audit.games, "labelled")
    return f"label_{audit.plan.target}: {said}, {audit.prevalence:.1%} deceptive"


def how(audit: AuditResult) -> str:
    """How the figures were made, in words."""
    return audit.units.say(
        "Out of fold: folds by game over the whole corpus; train to test: the corpus's own split. Words are counted "
        "once over all texts, without labels, and the classifier is fitted anew. Intervals: 95%, "
        f"{audit.plan.draws:,} resamples of games, seed {audit.plan.seed}. A figure is an alarm "
        "only if it passes a margin by three standard errors."
    )


def shown(row: AuditRow) -> str:
    """A figure with its interval."""
    return with_interval(row.value, row.lo, row.hi, 3)


def probe_table(audit: AuditResult) -> Iterator[tuple[str, str, str]]:
    """(name, out of fold, train to test) of every probe."""
    rows = {(row.name, row.scheme): row for row in audit.rows if row.check == "probe"}
    for name in dict.fromkeys(name for name, _ in rows):
        cells = [shown(rows[name, scheme]) if (name, scheme) in rows else "–" for scheme in (OUT_OF_FOLD, TRAIN_TEST)]
        yield audit.units.say(name), cells[0], cells[1]


def _tables(audit: AuditResult) -> Iterator[tuple[str, tuple[str, ...], list[tuple[object, ...]]]]:
    """(check, columns, rows) of every part that has rows."""
    for check in TITLES:
        rows = [row for row in audit.rows if row.check == check]
        if check == "probe":
            yield check, ("probe", "out of fold", "train to test"), list(probe_table(audit))
        elif rows:
            name = audit.units.say if check in ("copies", "division", "shuffled") else str
            values: list[tuple[object, ...]] = [
                (
                    name(row.name),
                    shown(row),
                    _METRICS[row.metric],
                    _SCHEMES[row.scheme],
                    row.statements,
                    row.games,
                )
                for row in rows
            ]
            yield check, ("what", "value (95%)", "figure", "scheme", "rows", audit.units.games), values


def report(audit: AuditResult) -> Report:
    """The audit as a report: what was found, by how serious it is, and a table for each check."""
    from liescope.detectors.audit.probes import SHORTCUTS

    probes = [row for row in audit.rows if row.check == "probe"]
    schemes = list(dict.fromkeys(row.scheme for row in probes))
    series = {scheme: _SCHEMES[scheme] if len(schemes) > 1 else "" for scheme in schemes}
    facets = {True: audit.units.say("Without reading the statement"), False: "Its words"}
    dots = [
        Dot(audit.units.say(row.name), row.value, row.lo, row.hi, series[row.scheme], facets[is_shortcut])
        for is_shortcut in facets
        for row in probes
        if (row.name in SHORTCUTS) == is_shortcut
    ]
    colours = {series[OUT_OF_FOLD]: INK, series[TRAIN_TEST]: MODELS[1]} if len(schemes) > 1 else None
    lowest = min([0.4, *(dot.lo for dot in dots if dot.lo is not None)])
    figure = dots_with_intervals(dots, "AUROC (95%; 0.5 is chance)", colours, CHANCE, (lowest, 1.01))
    told = tuple(
        Section(
            severity,
            f"{severity.capitalize()}: {meaning}",
            tuple(found.sentence for found in audit.findings if found.severity == severity) or ("None.",),
        )
        for severity, meaning in SEVERITIES.items()
    )
    tables = tuple(
        Section(
            check,
            audit.units.say(TITLES[check]),
            caption=audit.units.say(_MEANINGS[check]),
            table=Table(columns, values),
            folded=check == "missing",
            file="report.csv",
        )
        for check, columns, values in _tables(audit)
    )
    warning = scripted_warning(audit.sources)
    return Report(
        f"What a detector could exploit in {audit.corpus}",
        headline(audit),
        svg(figure, "probes"),
        "A row for each cheap scorer: the AUROC that it reaches, with its 95% interval.",
        (warning,) if warning else (),
        f"{counted(audit)}. {how(audit)}",
        (*told, *tables),
        tables={"report": audit.table},
        files={"report.json": {"audit": audit.to_json()}},
    )
