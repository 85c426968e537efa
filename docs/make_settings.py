"""Writes docs/settings.md, the tables of all options, from their declarations: python docs/make_settings.py"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from liescope.cli import command_line
from liescope.common.settings import Setting, settings_of
from liescope.games.script.persona import Skills
from liescope.generate.players.local.loading import LocalOptions
from liescope.generate.players.openai.spec import EndpointOptions

FILE = Path(__file__).with_name("settings.md")
PLAYERS = {"scripted:NAME": Skills, "openai:MODEL": EndpointOptions, "local:MODEL": LocalOptions}

CONFIG = """\
## A config file

Every command takes its options from a file, too: `liescope train --config study.toml`. The file is TOML, with a section
for each command that it is for:

```toml
[train]
kind = "linear"             # an argument, by its name
corpus = "corpus/first"     # an option, without its dashes
out = "models/linear"
strength = 2.0              # an option of the kind
mask-role-words = true      # false is --no-mask-role-words; mask_role_words is the same

[evaluate]
models = ["models/linear"]  # what may be repeated is a list
corpus = "corpus/first"
out = "reports/linear"
observers = true            # a switch
```

What is typed wins over the file; a list that is typed replaces that of the file. Paths are those of the folder in which
the command runs. Texts are in quotes, numbers and `true` or `false` are not. A key that is no option, a value of
another type or beyond its limits is an error that names the file, the key and what is allowed, before anything is done.

A file holds no secrets: one with a key or token in it is refused, and keys of models come from the environment. Where a
key may go is typed as well: `allow_key` is refused in a file.

The `run.toml` that `play`, `fork` and `label` write into a run is such a file. In the folder of a run, `out` is that
folder where the file says nothing else, so that `liescope play --config runs/first/run.toml` goes on with the run.
"""


def page() -> str:
    """The page, made of the declarations."""
    lines = [
        "# Settings",
        "",
        "The settings of each command and of the function of its name, which takes them as keywords: `--max-cost` is",
        "`max_cost`, and what may be repeated is a list (`--player` is `players`). This page is made of the",
        "declarations.",
        "",
        *CONFIG.splitlines(),
    ]
    known: dict[str, str] = {}
    for name, command in command_line([]).commands.items():
        if declared := getattr(command.callback, "settings", {}):
            lines += ["", f"## {name}", "", *_table(name, declared.values(), known)]
    lines += ["", "## Players", "", "These stand in the spec string: `openai:MODEL?temperature=0.7&persona=liar.txt`."]
    for spec, model in PLAYERS.items():
        lines += ["", f"`{spec}`", "", *_table(spec, settings_of(model).values(), known)]
    return "\n".join(lines) + "\n"


def _row(each: Setting) -> str:
    """The setting as a line of a Markdown table: option, default with limits, what it does."""
    switch = isinstance(each.default, bool)
    plain = ("on" if each.default else "off") if switch else "" if each.default in (None, ()) else str(each.default)
    usual = "; ".join(filter(None, (each.shown or plain, each.limits)))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in (f'`{each.option}`', usual, each.help))} |"


def _table(name: str, settings: Iterable[Setting], known: dict[str, str]) -> Iterator[str]:
    """The table of a command or player. known: the rows of the tables above, and in whose each stands."""
    groups = {"": list[Setting]()}
    for each in settings:
        groups.setdefault(each.group, []).append(each)
    yield from ("| option | default; limits | what it does |", "|---|---|---|")
    again: dict[str, list[str]] = {}
    for heading, group in groups.items():
        new = [f"| **{heading}** | | |"] if heading else []
        for each in group:
            row = _row(each)
            if known.setdefault(row, name) != name:
                again.setdefault(known[row], []).append(f"`{each.option}`")
            else:
                yield from [*new, row]
                new.clear()
    for other, options in again.items():
        yield f"| **As for {other}** | | {', '.join(options)} |"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
