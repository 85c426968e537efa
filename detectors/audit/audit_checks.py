"""Every check of an audit, one after the other.

Figures also show how they change with the way statements are divided: whole batches held out, and split by statement.

How closely two things go together is Cramér's V, with an interval over games.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from liescope.common.statistics import Floats, codes, game_weights, resampled, turned
from liescope.common.text import OF_GAMES, Units
from liescope.detectors.audit import audit_findings as f
from liescope.detectors.audit.audit_findings import (
    SEVERITIES,
    AuditPlan,
    AuditResult,
    AuditRow,
    Figure,
    Finding,
    graded,
)
from liescope.detectors.audit.bench import (
    OUT_OF_FOLD,
    SCHEMES,
    TRAIN_TEST,
    Audited,
    Bench,
    folds_for,
    share_of,
)
from liescope.detectors.audit.probes import (
    MASKED,
    SHORTCUTS,
    TAGGED,
    about_words,
    copies,
    shortcut,
    shuffled,
    table_probes,
    texts_of,
    without_copies,
)
from liescope.detectors.audit.reasoning import reasoning
from liescope.detectors.audit.telling import telling
from liescope.detectors.detector import Progress, silent
from liescope.detectors.examples import target_column
from liescope.detectors.folds import fold_of
from liescope.detectors.study.controls import word_probe
from liescope.detectors.study.schemes import Probe
from liescope.generate.corpus.read import silent_turns

_MOST = 20  # values of each column; rarer ones count as one
_ENOUGH = 30  # rows of a value; rarer ones are left out, since their V is mostly chance


def cramers_v(table: pl.DataFrame, one: str, other: str, draws: int, seed: int) -> tuple[float, float, float]:
    """(value, lo, hi) of Cramér's V of two columns of a table with `game_id`, 0 for independent, 1 for one-to-one.

    Chance alone makes V positive, and more so where the rows of a game depend on each other. So its square is corrected
    by what resampling games adds to it, and the interval is the basic bootstrap's. Values of fewer than 30 rows are
    left out.
    """
    table = _frequent(table, one, other)
    if min(table[one].n_unique(), table[other].n_unique()) < 2:
        return 0.0, 0.0, 0.0
    game, games = codes(table["game_id"].to_numpy().astype(np.str_))
    left, right = _numbered(table[one]), _numbered(table[other])
    shape = int(left.max()) + 1, int(right.max()) + 1
    counts = np.zeros((games, shape[0] * shape[1]))
    np.add.at(counts, (game, left * shape[1] + right), 1)
    square = _square((game_weights(games, draws, seed) @ counts).reshape(-1, *shape))
    corrected = [2 * square[0] - resampled(square).mean(), *turned(square, square[0])]
    found = np.sqrt(np.clip(corrected, 0, 1))
    return float(found[0]), float(found[1]), float(found[2])


def _frequent(table: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    return table.filter(pl.len().over(one) >= _ENOUGH, pl.len().over(other) >= _ENOUGH)


def _square(counts: Floats) -> Floats:
    """(draws,): V squared of (draws, a, b) counts; values that a resample lacks do not count as categories."""
    total = counts.sum(axis=(1, 2))
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    expected = rows[:, :, None] * columns[:, None, :] / total[:, None, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        chi = np.nansum((counts - expected) ** 2 / np.where(expected > 0, expected, np.nan), axis=(1, 2))
        least = np.minimum((rows > 0).sum(axis=1), (columns > 0).sum(axis=1)) - 1
        return np.where(least > 0, chi / (total * least), 0.0)


def _numbered(values: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Values numbered by how often they occur; all beyond the most frequent share the last number."""
    name = values.name
    counted = values.value_counts().sort(["count", name], descending=[True, False]).with_row_index("number")
    number = pl.DataFrame({name: values}).join(counted, on=name, how="left", maintain_order="left")["number"]
    return number.clip(upper_bound=_MOST - 1).to_numpy().astype(np.int64)


def associations(data: Audited, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows and sentences for what should not go together."""
    said = data.table.with_columns(label=pl.col(target_column(data.target)).cast(pl.String))
    seats = data.games.select("game_id", "seats").explode("seats").unnest("seats").filter(pl.col("role") != "")
    known = data.spoken.filter(pl.col("speaker_role") != "").with_columns(at=pl.col("position").clip(upper_bound=_MOST))
    rows: list[AuditRow] = []
    found: list[Finding] = []
    pairs: tuple[tuple[str, pl.DataFrame, str, str], ...] = (
        ("label and speaking model", said, "speaker_model", "label"),
        *(
            (
                ("role and name", seats, "name", "role"),
                ("role and model", seats, "model", "role"),
                ("role and position", known, "at", "speaker_role"),
            )
            if data.units.are_games  # who is called assistant, and speaks second, gives no lie away
            else ()
        ),
    )
    for name, table, one, other in pairs:
        if table.is_empty():
            continue
        value, lo, hi = cramers_v(table, one, other, draws, seed)
        counted = table.height, table["game_id"].n_unique()
        rows.append(AuditRow("association", name, "", "cramers_v", value, lo, hi, *counted))
        severity = graded(lo, f.ASSOCIATED, f.LARGE_ASSOCIATION)
        if severity != f.PLAIN:
            strength = f"Cramér's V {value:.2f} ({lo:.2f} to {hi:.2f})"
            words = f"{name[0].upper()}{name[1:]} are associated: {strength}{_extreme(table, one, other)}."
            found.append(Finding("association", name, severity, words))
    return rows, found


def _extreme(table: pl.DataFrame, one: str, other: str) -> str:
    """The cell that strays most from independence, in words."""
    table = _frequent(table, one, other)
    cells = (
        table.group_by(one, other)
        .agg(n=pl.len())
        .with_columns(of_one=pl.col("n").sum().over(one), of_other=pl.col("n").sum().over(other))
    )
    odd = cells.with_columns(share=pl.col("n") / pl.col("of_one"), usual=pl.col("of_other") / table.height)
    stray = (pl.col("share") - pl.col("usual")) ** 2 / pl.col("usual") * pl.col("of_one")
    most = odd.sort(stray, one, other, descending=[True, False, False]).row(0, named=True)
    what = {"true": "deceptive", "false": "honest"}.get(most[other], most[other])
    who = f"speakers in place {most[one]}" if one == "at" else str(most[one])
    verb = "are" if one == "at" else "is"
    return f"; {who} {verb} {what} in {most['share']:.0%} of cases, everybody in {most['usual']:.0%}"


_LEAST_ROWS = 30  # statements or turns of a group that a sentence names
_BY = {"speaker_model": "model", "speaker_role": "role"}


@dataclass(frozen=True, slots=True)
class _Loss:
    """A column of flags that says what a row lacks. what, of: in words."""

    table: pl.DataFrame
    column: str
    what: str
    of: str


def missing(data: Audited, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows for every model and role, and a sentence for each kind of loss; an alarm where it is not alike for all."""
    rows: list[AuditRow] = []
    found: list[Finding] = []
    spoken, units = data.spoken, data.units
    if not units.are_games:  # what a user or a system prompt says has no label, and is no loss
        roles = spoken.filter(~pl.col("missing"))["speaker_role"].unique()
        spoken = spoken.filter(pl.col("speaker_role").is_in(roles.implode()))
    for loss in (
        _Loss(spoken.filter(~pl.col("lost")), "missing", f"no {data.target} label", units.statements),
        _Loss(spoken, "lost", "a lost text", units.statements),
        _Loss(silent_turns(spoken, data.games), "silent", "silence instead of a statement", "turns to speak"),
    ):
        if loss.table.is_empty() or not loss.table[loss.column].any():
            continue
        everyone = share_of(loss.table, loss.table[loss.column].to_numpy(), draws, seed)
        rows.append(everyone.row("missing", f"{loss.what}: all", "", "share"))
        words = f"{everyone:.1%} of the {loss.of} have {loss.what}"
        uneven: list[Finding] = []
        for by, word in _BY.items():
            more, sentences = _by(loss, by, word, draws, seed)
            rows += more
            uneven += [replace(one, sentence=f"{words}, {one.sentence}") for one in sentences]
        whose = "model and role" if units.are_games else "model"
        plain = Finding("missing", loss.what, f.PLAIN, f"{words}, about as many for every {whose}.")
        found += uneven or [plain]
    return rows, found


def _by(loss: _Loss, by: str, word: str, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows for every value of a column, and the end of a sentence if the loss is not alike for them."""
    table, column = loss.table, loss.column
    shares = {
        group or "unknown": share_of(part, part[column].to_numpy(), draws, seed)
        for (group,), part in sorted(table.partition_by(by, as_dict=True).items())
    }
    value, lo, hi = cramers_v(table, by, column, draws, seed)
    name = f"{loss.what}: by {word}"
    rows = [figure.row("missing", f"{loss.what}: {word} {group}", "", "share") for group, figure in shares.items()]
    rows.append(AuditRow("missing", name, "", "cramers_v", value, lo, hi, table.height, table["game_id"].n_unique()))
    enough = {group: figure.value for group, figure in shares.items() if figure.statements >= _LEAST_ROWS}
    severity = graded(lo, f.ASSOCIATED, f.LARGE_ASSOCIATION)
    if severity == f.PLAIN or len(enough) < 2:
        return rows, []
    least, most = min(enough, key=lambda group: enough[group]), max(enough, key=lambda group: enough[group])
    words = (
        f"but not the same share for every {word}: {enough[most]:.0%} for {word} {most}, {enough[least]:.0%} for "
        f"{word} {least} (Cramér's V {value:.2f}, {lo:.2f} to {hi:.2f}). The other figures say least about {most}."
    )
    return rows, [Finding("missing", name, severity, words)]


UNITS = {"batch": ("batch", "batches"), "prompt_version": ("prompt version", "prompt versions"), "run": ("run", "runs")}
"""What games can have in common beside their rules: the column, its name, its plural."""


def units_of(data: Audited) -> list[str]:
    """The units that tell some games apart, each division of the games once."""
    found: dict[tuple[int, ...], str] = {}
    for unit in UNITS:
        values = data.table[unit]
        if values.n_unique() > 1 and not values.has_nulls():
            found.setdefault(tuple(values.rank("dense").to_list()), unit)
    return list(found.values())


def held_out(data: Audited, bench: Bench, probe: Probe, unit: str) -> tuple[list[AuditRow], list[Finding]]:
    """The AUROC of words with whole units held out, beside that with games held out in as many folds."""
    one, many = UNITS[unit]
    values = data.table[unit].to_numpy().astype(np.str_)
    folds = folds_for(bench.data.y, values)
    score = bench.by_fold(probe, fold_of(bench.data.y, values, folds, bench.seed))
    if not np.isfinite(score).all():
        words = f"Whole {many} cannot be held out: what is left then has labels of one class alone."
        return [], [Finding("division", one, f.NOTABLE, words)]
    by_unit = bench.auroc(score)
    by_game = bench.grouped(probe, folds)
    lost = by_game - by_unit
    rows = [
        by_unit.row("division", f"whole {many} held out", OUT_OF_FOLD, "auroc"),
        lost.row("division", f"games minus whole {many} held out", OUT_OF_FOLD, "auroc_difference"),
    ]
    words = f"With whole {many} held out, words reach AUROC {by_unit:.3f}, {lost:.3f} less than with games held out"
    severity = graded(lost.certain, f.DIFFERENCE, f.LARGE_DIFFERENCE)
    if severity != f.PLAIN:
        words += f": that part belongs to the {one}, with the models and prompts that it has"
    words = data.units.say(words)
    known = set(data.texts.filter(pl.col("split") == "train")[unit])
    test = data.texts.filter(pl.col("split") == "test")
    if known and test.height:
        shared = bench.share_of(test, test[unit].is_in(known).to_numpy())
        rows.append(shared.row("division", f"test statements from a {one} that train has too", "", "share"))
        words += f" ({shared.value:.0%} of the test statements come from a {one} that train has too)"
    return rows, [Finding("division", one, severity, f"{words}.")]


def by_statement(
    bench: Bench, probes: Mapping[str, Probe], units: Units = OF_GAMES
) -> tuple[list[AuditRow], list[Finding]]:
    """The AUROC of words when statements, not games, are held out; nothing where each is on its own. probes: by what
    they read; the sentence is about the one that gains most.
    """
    if bench.games == len(bench.data.y):
        return [], []
    from sklearn.model_selection import StratifiedKFold

    y = bench.data.y
    fold = np.empty(len(y), dtype=np.int64)
    for number, (_, rows) in enumerate(StratifiedKFold(bench.folds, shuffle=True, random_state=bench.seed).split(y, y)):
        fold[rows] = number
    figures: list[AuditRow] = []
    found: list[tuple[float, Finding]] = []
    for name, probe in probes.items():
        random, grouped = bench.auroc(bench.by_fold(probe, fold)), bench.grouped(probe, bench.folds)
        gain = random - grouped
        figures += [
            random.row("division", f"random split: {name}", OUT_OF_FOLD, "auroc"),
            gain.row("division", f"random minus grouped split: {name}", OUT_OF_FOLD, "auroc_difference"),
        ]
        severity = graded(gain.certain, f.DIFFERENCE, f.LARGE_DIFFERENCE)
        words = units.say(
            f"Divided by statement, not by game, {name} reach AUROC {random:.3f} instead of {grouped.value:.3f}"
        )
        if severity != f.PLAIN:
            words += units.say(f", {gain:.3f} from leakage alone: statements of one game give each other away")
        found.append((gain.value, Finding("division", "random split", severity, f"{words}.")))
    return figures, [max(found, key=lambda pair: pair[0])[1]]


_WORD_PROBES = 7


class _Notebook:
    """Collects rows and findings; ticks the progress."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.rows: list[AuditRow] = []
        self.findings: list[Finding] = []
        self.done, self.total = 0, 1
        self._show, self._name = progress, name

    def add(self, part: tuple[list[AuditRow], list[Finding]]) -> None:
        self.rows += part[0]
        self.findings += part[1]

    def step(self) -> None:
        self.done += 1
        self._show(self._name, min(self.done, self.total), self.total)


def check_all(data: Audited, name: str, plan: AuditPlan, progress: Progress = silent) -> AuditResult:
    """Audit a corpus that was read. name: as shown; progress: called after each fit."""
    notes = _Notebook(progress, f"audit of {name}")
    split = data.table["split"].to_numpy().astype(np.str_)
    bench = Bench(data.target, data.data, split, SCHEMES[plan.split], plan.draws, plan.seed, notes.step)
    probes, units = table_probes(data), units_of(data)
    each = sum(bench.folds if scheme == OUT_OF_FOLD else 1 for scheme in bench.schemes)
    notes.total = (len(probes) + _WORD_PROBES) * each + (len(units) + 2) * bench.folds + 2 * (1 + plan.shuffles)

    reached: dict[str, Figure] = {}
    kept: dict[str, Probe] = {}
    for probe_name, probe in _all_probes(probes, bench):
        figures = {
            scheme: bench.grouped(probe, bench.folds) if scheme == OUT_OF_FOLD else bench.auroc(bench.on_test(probe))
            for scheme in bench.schemes
        }
        notes.rows += [figure.row("probe", probe_name, scheme, "auroc") for scheme, figure in figures.items()]
        reached[probe_name] = next(iter(figures.values()))
        if probe_name in SHORTCUTS:
            notes.findings += shortcut(probe_name, reached[probe_name], data.units)
        if probe_name in (MASKED, TAGGED):
            kept[probe_name] = probe
    notes.findings += about_words(reached, data.units)
    notes.add(telling(data, bench))
    notes.add(reasoning(data, bench))

    rows, findings, copied = copies(data, bench)
    notes.add((rows, findings))
    if TRAIN_TEST in bench.schemes:
        notes.add(without_copies(bench, bench.on_test(kept[MASKED]), copied[data.labelled], data.units))
    notes.add(by_statement(bench, kept, data.units))
    for unit in units:
        notes.add(held_out(data, bench, kept[MASKED], unit))
    notes.add(missing(data, plan.draws, plan.seed))
    notes.add(associations(data, plan.draws, plan.seed))
    notes.add(shuffled(bench, kept[MASKED], plan.shuffles))
    notes.done = notes.total - 1
    notes.step()
    order = list(SEVERITIES)
    return AuditResult(
        name,
        plan,
        data.units,
        len(bench.data.y),
        bench.games,
        float(bench.data.y.mean()),
        tuple(notes.rows),
        tuple(sorted(notes.findings, key=lambda found: order.index(found.severity))),
        tuple(sorted(data.spoken["source"].unique())),
    )


def _all_probes(probes: dict[str, Probe], bench: Bench) -> Iterator[tuple[str, Probe]]:
    yield from probes.items()
    for name, texts in texts_of(bench.data.examples):
        yield name, word_probe(texts, bench.seed)
