"""The commands that make data and look at it: play, fork, show, status, label, withdraw, import, build, export."""

from __future__ import annotations

import typer

from liescope.generate.corpus.commands import app as corpus_commands
from liescope.generate.exports.commands import app as export_commands
from liescope.generate.importers.commands import app as import_commands
from liescope.generate.runs.fork_command import app as fork_commands
from liescope.generate.runs.label_command import app as label_commands
from liescope.generate.runs.play_command import app as play_commands
from liescope.generate.runs.show_command import app as show_commands
from liescope.generate.runs.status_command import app as status_commands
from liescope.generate.runs.withdraw_command import app as withdraw_commands

app = typer.Typer()
for commands in (
    play_commands,
    fork_commands,
    show_commands,
    status_commands,
    label_commands,
    import_commands,
    corpus_commands,
    export_commands,
    withdraw_commands,
):
    app.add_typer(commands)
