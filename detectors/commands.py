"""The commands of detectors as they are: score, evaluate, bench, audit. None loads a kind before it works."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from liescope.common.command_options import AsJson, Given, say, with_settings
from liescope.common.console import emit, let_interrupts_end_reads, put, standard_input
from liescope.common.errors import BadData, UsageError
from liescope.common.stores import address_of
from liescope.common.text import plain
from liescope.detectors import detector_settings as settings

if TYPE_CHECKING:
    from liescope.detectors.study.figures import StudyResult

app = typer.Typer()
_LONGEST = 2**24  # characters of a line
Corpus = Annotated[str, typer.Option(help="A corpus that `liescope build` made, USER/NAME on the Hub, or a run.")]


@app.command()
@with_settings(settings.ScoreFileSettings)
def score(
    *,
    model: Annotated[str, typer.Argument(help="A model folder that `liescope train` made, or USER/NAME on the Hub.")],
    texts: Annotated[
        list[str] | None, typer.Argument(help="Statements; without any, or with -, standard input, one a line.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--in", help="Read statements from a file: .jsonl, .csv, .tsv, .parquet, packed or not."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write scores to a .jsonl(.gz), .parquet or .csv file.")] = None,
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Score statements: how probable is it that each is deceptive?

    Each gets that probability, whether it is above the model's thresholds, and a verdict, which may be to abstain. A
    row of a file may also have `speaker`, `names` (of every player) and `context` (earlier statements, oldest first);
    rows with a `game_id` have the rows of that game before them as their context. A file of chats has `messages`,
    `prompt` and `response`, or a turn a row, in order (`conversation_id`, `role`, `content`).

    Example: liescope score models/tfidf "I investigated Bob. He is the mafioso."
    """
    from liescope.detectors.scoring import opened, rows_of, score_file, score_lines

    texts = None if texts == ["-"] else texts
    if texts and file:
        raise UsageError("give statements either as arguments or with --in, not both")
    # unlike a Path, os.path takes a text of any length
    if there := next((one for one in texts or () if os.path.exists(one) or address_of(one)), ""):  # noqa: PTH110
        raise UsageError(f"{there} is a file or folder, not a statement; read a file with --in {there}")
    if out is not None:
        said: Path | Iterable[str] = file or texts or _typed()
        done = score_file(model, said, out=out, progress=True, **given)
        rate = done.statements / max(done.seconds, 1e-9)
        say(done, as_json, lambda done: [f"{done.statements:,} statements scored ({rate:,.0f} a second): {done.out}"])
        _say_notes(done.notes)
        return
    if "part" in given:
        raise UsageError("--part scores a share of a file into another; give --in and --out")
    own = settings.ScoreFileSettings.of(given)
    loaded = opened(model, own.cache, own.states)
    tables = loaded.score_stream(
        rows_of(file, own) if file else texts or _typed(), coverage=own.coverage, reasons=own.reasons, columns=given
    )
    if as_json:
        rows = [row for table in tables for row in table.iter_rows(named=True)]
        emit({"model": model, "rows": rows, "notes": list(loaded.notes)})
    else:
        for table in tables:
            print("\n".join(score_lines(table, 80 if sys.stdout.isatty() else None)))
    _say_notes(loaded.notes)


def _typed() -> Iterator[str]:
    """The lines of standard input. Raises BadData for text that is not UTF-8 and for a line of 16 million characters.

    Ctrl-C while waiting for a line prints a message besides setting the exit code.
    """
    number, stream = 0, standard_input("statements, one a line,")
    try:
        while True:
            let_interrupts_end_reads()
            if not (line := stream.readline(_LONGEST)):
                return
            number += 1
            if len(line) == _LONGEST:
                raise BadData(f"line {number} is longer than {_LONGEST:,} characters; give one statement a line")
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadData(f"line {number + 1} is not UTF-8; convert the file first") from error
    except KeyboardInterrupt:
        typer.echo("interrupted while reading standard input", err=True)
        raise


def _say_notes(notes: Iterable[str]) -> None:
    for words in notes:
        typer.echo(f"note: {words}", err=True)


@app.command("import probe")
@with_settings(settings.ImportProbeSettings)
def import_probe(
    *,
    source: Annotated[str, typer.Argument(help="A probe.pt, a folder with one, or USER/NAME on the Hub.")],
    out: Annotated[Path, typer.Option(help="The folder for the model.")],
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Read a published probe, so that score and evaluate use it.

    It is a checkpoint as `lie-detectors` reads it; no code in it runs. It keeps its threshold, for ordinary chats.

    Example: liescope import probe me/apollo-smollm2 --model models/smollm2 --out models/apollo
    """
    from liescope.detectors.probing.importing import import_probe as read_probe

    done = read_probe(source, out=out, **given).file
    if as_json:
        emit({"model": str(out), **done.model_dump()})
    elif done.ordinary:
        put(f"{out}: reads {done.options['read']}; at most 1% of ordinary chats are above {done.ordinary.at:.3g}")


@app.command()
@with_settings(settings.EvaluateSettings)
def evaluate(
    *,
    models: Annotated[list[str], typer.Argument(help="Model folders that `liescope train` made.")],
    corpus: Corpus,
    out: Annotated[Path, typer.Option(help="The folder for the report.")],
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Compare detectors with controls, chat models and people.

    The controls are cheap ones, such as length; players are compared with --observers, and people who annotated
    statements with --people. Writes a report.

    Example: liescope evaluate models/tfidf --corpus corpus/mini --observers --out reports/tfidf
    """
    from liescope.detectors.study.evaluate import evaluate as evaluate_detectors

    say(evaluate_detectors(models, corpus, out=out, progress=True, **given), as_json, report_lines)


@app.command()
@with_settings(settings.BenchSettings)
def bench(
    *,
    detectors: Annotated[
        list[str],
        typer.Argument(
            metavar="DETECTOR...",
            help="Models (folders, or USER/NAME on the Hub), kinds (tfidf, tfidf?words=3), or judge:openai:NAME.",
        ),
    ],
    suite: Annotated[str, typer.Option(help="chat, games, all, or a TOML file of your own.")] = "chat",
    out: Annotated[Path, typer.Option(help="The folder for the report.")],
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Measure detectors on a suite of data sets, beside what words alone do there.

    Judges that came with the data stand beside them, too. Trained detectors are scored as they are; they, and kinds
    that are named, also learn anew from each data set with groups, tasks and speaking models left out. Writes a report.
    Data that are not at hand are left out, with where to get them.

    Example: liescope bench tfidf models/mine --suite chat --data downloads --out reports/bench
    """
    from liescope.detectors.study.bench import bench as measure

    say(measure(detectors, suite=suite, out=out, progress=True, **given), as_json, report_lines)


@app.command()
@with_settings(settings.AuditSettings)
def audit(
    *,
    corpus: Annotated[str, typer.Argument(help="A corpus that `liescope build` made, USER/NAME on the Hub, or a run.")],
    given: Given,
    out: Annotated[Path | None, typer.Option(help="The folder for the report.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find what a detector could exploit without detecting deception.

    Shortcuts, leaks and gaps of a corpus.

    Example: liescope audit corpus/mini --out reports/audit
    """
    from liescope.detectors.study.audit import audit as audit_corpus

    say(audit_corpus(corpus, out=out, progress=True, **given), as_json, report_lines)


def report_lines(result: StudyResult) -> Iterator[str]:
    """The report in short, and its files."""
    from liescope.common.report.contents import terminal

    yield from terminal(result.told) if result.told else ()
    yield from (plain(str(path)) for path in result.files)
