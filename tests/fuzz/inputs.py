"""How many mutated inputs each reader gets."""

import pytest

INPUTS = {
    "runs": 100,
    "corpora": 120,
    "models": 150,
    "logs": 500,
    "packed logs": 60,
    "importers": 10,
    "quack": 150,
    "avalon": 150,
    "config files": 60,
    "specs": 300,
    "options": 300,
    "replies": 700,
}


def seeds(name: str) -> pytest.MarkDecorator:
    """A fifth of a reader's inputs each time, and the others where there is time for them."""
    some = INPUTS[name] // 5
    parts = [range(some), pytest.param(range(some, INPUTS[name]), marks=pytest.mark.long)]
    return pytest.mark.parametrize("seeds", parts, ids=["some", "the others"])
