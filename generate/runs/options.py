"""Options that play and label share."""

from __future__ import annotations

from typing import Annotated

import typer

LIMITS = "Limits (may differ each time a run goes on)"

PromptsOption = Annotated[str, typer.Option(help="The name of a set (full, or Mafia's minimal), or a folder.")]
Concurrency = Annotated[
    int, typer.Option(help="Games, and requests, under way at once.", min=1, rich_help_panel=LIMITS)
]
Timeout = Annotated[float, typer.Option(help="Seconds that a request may take.", min=0.1, rich_help_panel=LIMITS)]
MaxTokens = Annotated[
    int | None, typer.Option(help="Stop when the run has used so many tokens.", min=1, rich_help_panel=LIMITS)
]
MaxCost = Annotated[
    float | None,
    typer.Option(help="Stop when the run has cost so much (needs --price).", min=0, rich_help_panel=LIMITS),
]
PriceOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Money for a million tokens: MODEL=PROMPT,COMPLETION[,CACHED], repeatable.", rich_help_panel=LIMITS
    ),
]
RetryFailed = Annotated[
    bool, typer.Option(help="Go on with games that are recorded as failed.", rich_help_panel=LIMITS)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")]
