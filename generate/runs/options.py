"""Options that the commands play and label share, each declared once."""

from __future__ import annotations

from typing import Annotated

import typer

from liescope.common.declared_options import DeclaredOption

LIMITS = "Limits (may differ each time a run is resumed)"

LIMIT_OPTIONS = (
    DeclaredOption("concurrency", int, "Most requests under way at one endpoint. [default: 256]", LIMITS, 1),
    DeclaredOption("workers", int, "Processes that share the work when one core is full. [default: 1]", LIMITS, 1),
    DeclaredOption("engine", str, "Where the workers are: local or ray, a Ray cluster. [default: local]", LIMITS),
    DeclaredOption("timeout", float, "Seconds that a request may take. [default: 120]", LIMITS, 0.1),
    DeclaredOption(
        "hedge", bool, "Send a request that stalls a second time; the first answer counts. [default: on]", LIMITS
    ),
    DeclaredOption(
        "give_up_after",
        str,
        "Pause the run when an endpoint has not answered for so long: 90s, 10m, 2h. [default: 30m]",
        LIMITS,
    ),
    DeclaredOption("max_tokens", int, "Stop when the run has used so many tokens.", LIMITS, 1),
    DeclaredOption("max_cost", float, "Stop when the run has cost so much.", LIMITS, 0),
    DeclaredOption("price", list[str], "Price of a million tokens: MODEL=IN,OUT[,CACHED], or a TOML file.", LIMITS),
    DeclaredOption("currency", str, "Currency of the prices. [default: USD]", LIMITS),
    DeclaredOption("allow_key", list[str], "Let a key go to a host that is not its own: VARIABLE@HOST.", LIMITS),
    DeclaredOption("preflight", bool, "Ask each model one small question before the first game. [default: on]", LIMITS),
    DeclaredOption(
        "cache",
        str,
        "A folder that keeps every reply: what was paid for once is found again by any run with the same games.",
        LIMITS,
    ),
    DeclaredOption(
        "batch",
        bool,
        "Send requests in files of many, for part of the price, and wait for them: minutes to a day for each step.",
        LIMITS,
    ),
    DeclaredOption("log", str, "Append a line of JSON to this file for everything that happens.", LIMITS),
    DeclaredOption("retry_failed", bool, "Play games again that are recorded as failed.", LIMITS),
)
PromptsOption = Annotated[str, typer.Option(help="The name of a set of prompts, or a folder of templates.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what it will take (calls, tokens, cost, time); ask and write nothing.")
]
ShowPrompts = Annotated[
    bool, typer.Option("--show-prompts", help="With --dry-run: also print a whole prompt of each kind.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")]
