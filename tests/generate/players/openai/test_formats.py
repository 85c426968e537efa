"""The JSON schema of an assessment: bounds only for endpoints that accept them, the range in words for all."""

from __future__ import annotations

from typing import Any

import pytest

from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.openai.openai_player import takes_bounds
from liescope.generate.players.openai.spec import OPENAI_HOST
from liescope.generate.players.parsing.reply_forms import response_format


def numbers(kind: AskKind, bounds: bool) -> dict[str, dict[str, Any]]:
    schema = response_format(Ask("g", 0, "Amy", kind, 1, Phase.DISCUSSION), bounds)["json_schema"]["schema"]
    assert schema["required"] == list(schema["properties"])
    return {name: field for name, field in schema["properties"].items() if field["type"] == "number"}


@pytest.mark.parametrize("bounds", [False, True])
def test_every_number_says_its_range_and_bounds_it_where_that_is_accepted(bounds: bool) -> None:
    assert numbers(AskKind.SELF_ASSESSMENT, bounds).keys() == {"confidence"}
    fields = numbers(AskKind.PEER_ASSESSMENT, bounds)
    assert fields.keys() == {"confidence", "suspicion"}
    for field in fields.values():
        assert "0 to 1" in field["description"]
        assert ("minimum" in field, field.get("maximum", 1)) == (bounds, 1)


@pytest.mark.parametrize(
    ("host", "model", "takes"),
    [
        (OPENAI_HOST, "gpt-4.1-mini", True),
        (OPENAI_HOST, "ft:gpt-4.1-mini:lab::x", False),
        ("gateway.example", "claude", False),
        ("localhost:8000", "llama", False),
    ],
)
def test_bounds_go_to_openais_own_models_alone(host: str, model: str, takes: bool) -> None:
    assert takes_bounds(host, model) is takes
