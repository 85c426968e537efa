"""`leaderboard`: static pages over many reports, the boards on one, and one for each report."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from liescope.benchmark.analyses.analysis_figures import DRAWN
from liescope.benchmark.benchmark_settings import LeaderboardSettings
from liescope.benchmark.capability.counts import DECEIVER, DISCLOSER, JUDGE, UNSTATED
from liescope.benchmark.capability.fit_report import forest
from liescope.benchmark.capability.results import (
    chances_of_first,
    in_the_running,
    left_sentence,
    percent,
    settled,
    warning,
)
from liescope.benchmark.fitting import FitResult
from liescope.benchmark.reporting.board_inputs import BENCHED, EVALUATED, BoardEntry, Inputs, counted, scores, union
from liescope.benchmark.reporting.whole_report import ReportData
from liescope.common.colours import page_of
from liescope.common.console import progress as progress_bars
from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Column, Link, Report, Section, Table, with_interval
from liescope.common.report.files import check_report_folder, csv_text, files_of, write_files
from liescope.common.report.html import page_html
from liescope.common.settings import resolve, takes
from liescope.games.record import Source


@dataclass(frozen=True, slots=True, repr=False)
class LeaderboardResult:
    """What a leaderboard shows.

    scores: m, d and v of each model in each report (`board_inputs.scores`); only those of one
    report and condition compare. joint: the fit of the counts of all reports, on whose scale all models compare; None
    where there is none, for the reason in apart. detectors: each detector of a transfer, evaluate or bench report
    with its worst cell (`board_inputs.detectors`). left_out: reports without a board, with the reason.
    index: the page.
    """

    scores: pl.DataFrame
    joint: FitResult | None
    apart: str
    detectors: pl.DataFrame
    left_out: Mapping[str, str]
    index: Path

    def __repr__(self) -> str:
        return f"<LeaderboardResult: {self.scores['report'].n_unique()} reports, {self.detectors.height} detectors>"

    def to_json(self) -> dict[str, Any]:
        """What `liescope leaderboard --json` prints."""
        return {
            "index": str(self.index),
            "scores": self.scores.to_dicts(),
            "joint": None if self.joint is None else self.joint.to_json(),
            "apart": self.apart,
            "detectors": self.detectors.to_dicts(),
            "left_out": dict(self.left_out),
        }


@takes(LeaderboardSettings)
def leaderboard(
    reports: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    progress: bool = False,
    **settings: Unpack[LeaderboardSettings],
) -> LeaderboardResult:
    """Static pages over many reports: who deceives, detects and discloses, and which detectors hold up.

    A joint fit of the counts of all reports is the only scale on which their models compare; where that cannot be done,
    the boards stay apart and the page says why. The reports may be a stranger's: report.json is checked, all text is
    escaped, nothing else of them is opened.

    Parameters
    ----------
    reports : path, or several
        Folders of `liescope.report`, `transfer`, `evaluate` and `bench`.
    out : str or path
        A folder for index.html, a page for each report, and the data to compute all of it again.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    UsageError
        For a folder that is no report, if there is nothing to show, or if `out` holds something else or cannot be
        written.
    BadData
        For a report.json that cannot be one.
    """
    own = resolve(LeaderboardSettings, settings)
    from liescope.benchmark.reporting.board_inputs import detectors, joint_fit, open_reports, scores

    named = [reports] if isinstance(reports, str | os.PathLike) else list(reports)
    folder = Path(out)
    check_report_folder(folder, own["overwrite"])
    inputs = open_reports(named)
    fitted, apart = None, "it was not asked for"
    if own["joint"]:
        with progress_bars(progress) as bar:
            bar.add_task("fitting all reports together", total=None, note="")
            fitted, apart = joint_fit(inputs.entries, own["draws"], own["tune"], own["seed"])
    result = LeaderboardResult(
        scores(inputs.entries), fitted, apart, detectors(inputs.entries), inputs.left_out, folder / "index.html"
    )
    write_site(folder, own["title"], inputs, result)
    return result


_WIDTH = 2 * 1.96  # of a 95% interval, in standard deviations
_DRAWS = 4000
TITLE = "Who deceives, who detects, who discloses"
MODELS, DETECTORS, DATA = "Players", "Detectors", "The data"
_SCORES = (
    Column("m", "deceive (m)", interval=True),
    Column("v", "detect (v)", interval=True),
    Column("d", "disclose (d)", interval=True),
)
_DETECTORS = (
    *map(Column, ("detector", "target", "by", "protocol", "worst_cell")),
    Column("worst", "AUROC there", interval=True),
    Column("mean", "mean AUROC", interval=True),
    Column("report"),
)
_READING = (
    f"Deceive: how well the model wins as the {DECEIVER}. Detect: how reliably it follows the better speaker as the "
    f"{JUDGE}. Disclose: how well it is believed as the {DISCLOSER}. Posterior means with central 95% intervals; a "
    "dash where a model never held the role. Highest m first; overlapping intervals do not settle an order."
)
_APART = "These scores have their own zero and unit: they do not compare with those of another table."
_JOINT = (
    "One fit of the counts of all reports, so that all models stand on one scale. It takes the games of all reports as "
    "played alike: where settings, prompts or seating differ, it describes the mixture. Counts from files do not say "
    "which games they are; if two reports share such games, these count twice."
)
_KINDS = {
    BENCHED: "The data sets of a suite: the worst cell is the task, or the data set, that is ranked worst. As trained, "
    "a detector knows nothing of them; left out, it has learned from the rest of each.",
    "online": "Scores that use what was said so far.",
    "retrospective": "Scores that use the whole game, so they are known only after it.",
    EVALUATED: "One corpus, no transfer: the worst cell is the model whose statements are ranked worst; mean is the "
    "AUROC on all statements, those of models held out of training where there are any.",
}


def index(
    title: str, inputs: Inputs, board: pl.DataFrame, joint: FitResult | None, apart: str, detectors: pl.DataFrame
) -> Report:
    """The page of the boards. board: `scores` of all reports; joint: the fit of all counts; apart: why none."""
    reports = inputs.of(ReportData)
    with page_of(board["model"].unique()):
        figures = {} if joint else {one.name: _figure(board.filter(pl.col("report") == one.name)) for one in reports}
        first = next((name for name, drawn in figures.items() if drawn), "")
        if joint:
            figure = svg(forest(joint.scores), "joint") if joint.scores["model"].n_unique() <= DRAWN else ""
            alt = "Scores of all models in one fit, with 95% intervals."
        elif first:
            figure, alt = figures.pop(first), f"Scores of the models of {first}, with 95% intervals."
        else:
            figure, alt = (
                ("" if board.height else _worst_cells(detectors)),
                "AUROC of each detector where it does worst.",
            )
        sections = [
            *(_joint(joint, apart, len(reports)) if reports else []),
            *(
                _board(entry, board.filter(pl.col("report") == entry.name), figures.get(entry.name, ""))
                for entry in reports
            ),
            *(_detectors(kind, detectors.filter(pl.col("kind") == kind)) for kind in detectors["kind"].unique().sort()),
            *_data(inputs),
        ]
    return Report(
        title or (TITLE if reports else "Detectors by their worst cell"),
        _findings(inputs, joint, board, detectors),
        figure,
        alt,
        tuple(_warnings(inputs.entries)),
        f"Made of {len(inputs.entries)} reports with Liescope {version('liescope')}. Click a heading to sort by it.",
        tuple(sections),
    )


def report_page(entry: BoardEntry) -> Report:
    """The page of one report of games, made anew from its report.json."""
    data = entry.data
    assert isinstance(data, ReportData)
    board = scores([entry])
    tables = [
        Section(f"table-{name}", name.replace("_", " "), table=Table(table.columns, table.rows), folded=True)
        for name, table in data.tables.items()
    ]
    return Report(
        data.title,
        tuple(data.findings[:3]),
        _figure(board),
        "Scores of the models with their 95% intervals.",
        (*_warnings([entry]), *data.notes),
        f"{_counted(data)} Made with Liescope {data.versions.get('liescope', 'of an unknown version')}.",
        (
            Section("board", "Scores", links=(Link("All reports", "../index.html"),), table=_table(board)),
            *tables,
        ),
        data.missing,
    )


def _joint(joint: FitResult | None, apart: str, reports: int) -> list[Section]:
    if reports == 1:
        return [Section("all", "How to read the scores", (_READING,), chapter=MODELS)]
    if joint is None:
        words = f"There is no board of all reports together: {apart}. Compare models only within a table."
        return [Section("all", "All reports together", (words, _READING), chapter=MODELS)]
    return [
        Section(
            "all",
            "All reports together",
            (_JOINT, *(left for part in joint.fits if (left := left_sentence(part.posterior))), _READING),
            table=_table(joint.scores),
            file="data/joint.csv",
            chapter=MODELS,
        )
    ]


def _board(entry: BoardEntry, board: pl.DataFrame, figure: str) -> Section:
    """The board of one report. figure: of its scores, where that does not head the page."""
    data = entry.data
    assert isinstance(data, ReportData)
    faults = dict.fromkeys(fault for fitted in data.fits for fault in fitted.diagnostics.faults)
    marked = [f"The sampler has only nearly converged: {'; '.join(faults)}."] if faults else []
    marked += filter(None, (warning(fitted.left) for fitted in data.fits))
    unfit = f"No scores: {next(iter(data.missing.values()), 'its games allow none')}."
    return Section(
        f"report-{entry.name}",
        f"{data.title} ({entry.name})",
        (_counted(data), *((*marked, _APART) if board.height else (unfit,))),
        links=(Link("The whole report", f"reports/{entry.name}.html"),),
        figure=figure,
        table=_table(board) if board.height else None,
        file=f"data/{entry.name}/report.json",
        chapter=MODELS,
    )


def _detectors(kind: str, found: pl.DataFrame) -> Section:
    words = "The AUROC of the worst cell says what a detector is worth where it was not trained; 0.5 is chance."
    return Section(
        f"detectors-{kind.split()[0]}",
        f"By their worst cell: {kind}",
        (words, _KINDS.get(kind, "")),
        "In brackets: 95% intervals from resamples of whole games. Highest AUROC of the worst cell first.",
        table=Table.of(found, _DETECTORS),
        file="data/detectors.csv",
        chapter=DETECTORS,
    )


def _data(inputs: Inputs) -> list[Section]:
    links = (Link("How to compute it again", "README.md"),)
    copies = [(entry.name, Link("report.json", f"data/{entry.name}/report.json")) for entry in inputs.entries]
    sections = [
        Section(
            "data", "What these boards are made of", links=links, table=Table(("report", "data"), copies), chapter=DATA
        )
    ]
    if inputs.left_out:
        table = Table(("folder", "why"), list(inputs.left_out.items()))
        sections.append(Section("left-out", "Reports without a board", table=table, chapter=DATA))
    return sections


def _table(board: pl.DataFrame) -> Table:
    """Scores with their intervals: deceive, detect, disclose."""
    several = "condition" in board.columns and board["condition"].n_unique() > 1
    named = board.with_columns(pl.col("condition").replace("", UNSTATED)) if several else board
    return Table.of(named, [*([Column("condition")] if several else []), Column("model"), *_SCORES])


def _figure(board: pl.DataFrame) -> str:
    if board.is_empty() or board["model"].n_unique() > DRAWN:
        return ""
    several = board["condition"].n_unique() > 1
    return svg(forest(board if several else board.drop("condition")), f"scores-{board['report'][0]}")


def _worst_cells(detectors: pl.DataFrame) -> str:
    told = detectors.drop_nulls("worst").head(DRAWN)
    dots = [
        Dot(name, row["worst"], row["worst_lo"], row["worst_hi"], facet=row["kind"])
        for row, name in zip(told.to_dicts(), _named(told), strict=True)
    ]
    return (
        svg(dots_with_intervals(dots, "AUROC on the worst cell (dotted: chance)", reference=0.5), "worst")
        if dots
        else ""
    )


def _named(detectors: pl.DataFrame) -> list[str]:
    """The detectors by name, with what else tells rows of one name apart."""
    apart = [name for name in ("target", "by", "protocol", "report") if detectors[name].n_unique() > 1]
    rows = detectors.to_dicts()
    return [
        f"{row['detector']} ({', '.join(row[name] for name in apart)})" if apart else row["detector"] for row in rows
    ]


def _findings(inputs: Inputs, joint: FitResult | None, board: pl.DataFrame, detectors: pl.DataFrame) -> tuple[str, ...]:
    if joint:
        return joint.findings
    fitted = [entry for entry in inputs.of(ReportData) if entry.name in board["report"]]
    if len(fitted) == 1 and isinstance(fitted[0].data, ReportData):
        return tuple(fitted[0].data.findings[:3])
    said = [
        f"In {entry.name}: {entry.data.findings[0]}"
        for entry in fitted
        if isinstance(entry.data, ReportData) and entry.data.findings
    ][:2]
    if fitted:
        apart = f"No ranking covers all {len(fitted)} reports, since each has a scale of its own."
        said[:1] = [" ".join([apart, *said[:1]])]
    told = detectors.drop_nulls("worst")
    said += [_best_detector(kind, told.filter(pl.col("kind") == kind)) for kind in told["kind"].unique().sort()]
    return tuple(said[:3]) or ("No report here compares players or detectors, so nobody can be called the best.",)


def _best_detector(kind: str, found: pl.DataFrame) -> str:
    """Which detector has the highest AUROC on its worst cell, where that is settled. The AUROCs are drawn from normal
    distributions as wide as their intervals, each on its own; one without an interval settles nothing.
    """
    rows, names = found.to_dicts(), _named(found)
    shown = [
        f"AUROC {with_interval(row['worst'], row['worst_lo'], row['worst_hi'])} on {row['worst_cell']} (0.5 is chance)"
        for row in rows
    ]
    if len(rows) == 1:
        return (
            f"{names[0]} is the only detector of its kind here ({kind}), so it leads nobody: at its worst, {shown[0]}."
        )
    sd = (found["worst_hi"] - found["worst_lo"]).fill_null(4.0).to_numpy() / _WIDTH
    noise = np.random.default_rng(1).standard_normal((_DRAWS, len(rows)))
    chances = chances_of_first(found["worst"].to_numpy() + sd * noise)
    if (best := settled(chances)) is None:
        return (
            f"These reports do not settle which detector ({kind}) is best when each is judged by its worst cell: in "
            f"the running, by the chance to be the best, are {in_the_running(names, chances)}."
        )
    return (
        f"{names[best]} is the best detector ({kind}) when each is judged by its worst cell, {shown[best]}: the chance "
        f"that it is ahead of all others is {percent(float(chances[best]))}."
    )


def _warnings(entries: Sequence[BoardEntry]) -> list[str]:
    """Whose words, where these are scripts."""
    named = []
    for entry in entries:
        words = entry.data.words if isinstance(entry.data, ReportData) else entry.data.sources
        if Source.SCRIPTED.value in words:
            named.append(entry.name)
    if not named:
        return []
    return [f"Scripted players spoke in games of {', '.join(named)}: these figures test the tool, and are no findings."]


def _counted(data: ReportData) -> str:
    games = sum(cell.games for cell in data.counts)
    told = f"{games} games in {len(data.counts)} combinations of players" if games else "No games were counted"
    return f"{told}; from {', '.join(data.sources) or 'sources not named'}."


def write_site(out: Path, title: str, inputs: Inputs, result: LeaderboardResult) -> None:
    """Write index.html, reports/NAME.html, README.md and data/ to the folder, which appears when it is complete.

    Raises UsageError, and leaves an earlier one unchanged, if the folder holds anything else or cannot be written, or
    if a text would contain a secret of this machine.
    """
    page = index(title, inputs, result.scores, result.joint, result.apart, result.detectors)
    texts: dict[str, str | bytes] = {"README.md": _readme(inputs, result)}
    for entry in inputs.entries:
        texts[f"data/{entry.name}/report.json"] = entry.text
        if isinstance(entry.data, ReportData):
            texts[f"reports/{entry.name}.html"] = page_html(report_page(entry))
    counts = counted(inputs.entries)
    for name, cells in counts.items():
        texts[f"data/{name}/counts.csv"] = csv_text(cells)
    if counts:
        texts["data/counts.csv"] = csv_text(union(list(counts.values())))
    tables = {"scores": result.scores, "detectors": result.detectors}
    if result.joint:
        tables["joint"] = result.joint.scores
    texts |= {f"data/{name}.csv": csv_text(table) for name, table in tables.items() if table.height}
    texts["index.html"] = page_html(page, files_of({"index.html", *texts}))
    write_files(out, texts)


def _readme(inputs: Inputs, result: LeaderboardResult) -> str:
    """How to compute the boards again, as Markdown."""
    reports = " ".join(shlex.quote(f"data/{entry.name}") for entry in inputs.entries)
    lines = [
        "# The data of this leaderboard",
        "",
        "`data/NAME/report.json` holds everything that a report found, `data/NAME/counts.csv` the games that it",
        f"counts: who was {DECEIVER}, {DISCLOSER} and {JUDGE}, how many games, how many the mafia won.",
        "`data/scores.csv` and `data/detectors.csv` are the boards.",
        "",
        "All pages again, from these files:",
        "",
        f"    liescope leaderboard {reports} --out site",
    ]
    if result.joint:
        settings = result.joint.fits[0].posterior.settings
        lines += [
            "",
            "The board of all reports together alone:",
            "",
            f"    liescope fit data/counts.csv --draws {settings.draws} --tune {settings.tune} --seed {settings.seed} "
            "--out joint",
        ]
    return "\n".join(lines) + "\n"
