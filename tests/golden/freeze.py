"""Writes the goldens anew, from the code as it is. Where a change of behaviour is meant:

    python -m tests.golden.freeze                        # all of them
    python -m tests.golden.freeze help/commands.txt tables   # a file, or a folder of them
    python -m tests.golden.freeze reports/fit.json       # of tests/golden_reports; `reports` for all of these
    python -m tests.golden.freeze --dump DIR             # every cell of every table as text, to compare two checkouts

then read `git diff` before committing it. The whole playthroughs (*.jsonl) have a command of their own:
python -m tests.golden.test_golden.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.frozen import as_text, cells, frames, tables_of
from tests.golden.texts import frozen_texts
from tests.golden.world import CORPORA, World
from tests.golden_reports import reports

FOLDER = Path(__file__).parent


def frozen(world: World) -> dict[str, Callable[[], str]]:
    """By file of a golden: what makes its text now."""
    tables = {f"tables/{name}.json": lambda name=name: as_text(tables_of(world.corpus(name))) for name in CORPORA}
    dear = {f"reports/{name}": make for name, make in reports.frozen_reports(world).items()}
    return {**tables, **frozen_texts(world), **dear}


def file_of(name: str) -> Path:
    """Where a golden lies."""
    folder, _, rest = name.partition("/")
    return reports.FOLDER / rest if folder == "reports" else FOLDER / name


def dump(world: World, out: Path) -> None:
    """Every table as a file with a line for each cell."""
    for name in CORPORA:
        for table, frame in frames(world.corpus(name)):
            file = out / name / f"{table}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            columns = {column.name: cells(column) for column in frame.iter_columns()}
            lines = (f"{row} {key}: {values[row]}" for row in range(frame.height) for key, values in columns.items())
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogatepass")


def main(words: list[str]) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder) / "world")
        if words[:1] == ["--dump"]:
            dump(world, Path(words[1]))
            return
        for name, make in frozen(world).items():
            if words and not any(name == word or name.startswith(f"{word.rstrip('/')}/") for word in words):
                continue
            file = file_of(name)
            file.parent.mkdir(exist_ok=True)
            before = file.read_text(encoding="utf-8") if file.exists() else None
            text = make()
            if text != before:
                file.write_text(text, encoding="utf-8")
                print(f"{'new' if before is None else 'changed'}: {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
