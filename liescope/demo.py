"""The demo: the whole pipeline with scripted players, offline, through the public Python functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import liescope
from liescope.benchmark.capability.fit_report import fit_lines
from liescope.common.errors import MissingExtra
from liescope.detectors.display import show_evaluation

PLAYERS = ["scripted:novice", "scripted:steady", "scripted:bold"]


def demo(out: Path, games: int, seed: int) -> None:
    """Play, build, train, evaluate and fit into a folder, printing each call; ends with a list of the files it made.

    A step whose packages are not installed is named and left out.
    """
    run, corpus, reports = out / "run", out / "corpus", out / "reports"
    models = [out / "models" / kind for kind in ("linear", "embedding")]
    lacking = [
        _step("play", "mini-mafia", players=PLAYERS, design="full", games=games, seed=seed, assess=True, out=run),
        _step("build", run, out=corpus),
        *(_step("train", model.name, corpus, target="role", out=model, overwrite=True) for model in models),
    ]
    trained = [model for model in models if (model / "model.json").exists()]
    lacking += [
        _step("evaluate", trained, corpus, observers=True, out=reports / "detectors"),
        _step("fit", run, out=reports / "capability", overwrite=True),
    ]
    print("\nThe players were scripts: the results show how the tool works and say nothing\nabout models.\n")
    made = dict(_made(out))
    width = max(len(str(path)) for path in made)
    for path, what in made.items():
        print(f"  {path!s:{width}}  {what}")
    for words in filter(None, lacking):
        print(f"Left out: {words}")


def _step(name: str, *arguments: Any, **options: Any) -> str:
    """Call a function of `liescope`, printing the call before and the result after; returns why it was left out."""
    plain = [*map(_shown, arguments), *(f"{key}={_shown(value)}" for key, value in options.items())]
    call = f">>> liescope.{name}({', '.join(plain)})"
    print("\n" + "\n".join(wrap(call, 80, subsequent_indent="...     ", break_long_words=False)), flush=True)
    function: Callable[..., Any] = getattr(liescope, name)
    try:
        result = function(*arguments, **options, progress=True)
        print(result, flush=True)
        if name == "evaluate":
            show_evaluation(result)
        if name == "fit":
            print("\n".join(fit_lines(result)))
    except MissingExtra as error:
        print(f"left out: {error}", flush=True)
        return f"{name} {_shown(arguments[0])}; {error}"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(str(value) if isinstance(value, Path) else value)


def _made(out: Path) -> Iterator[tuple[Path, str]]:
    for name, what in {
        "run": "plan and journal; `liescope show` reads them",
        "corpus": "load_dataset(folder, 'statements') opens it",
        "models/linear": "a lie detector that reads whole games",
        "models/embedding": "a second one, on sentence embeddings",
        "reports/detectors": "compared with controls and the players themselves",
        "reports/capability": "m, d and v of each player, with plots",
    }.items():
        if (out / name).exists():
            yield out / name, what
