"""The claim extractor against statements of published games, labelled by hand before it first ran on them.

Each line of `hand_labels.jsonl` (200 statements, one a game) and `hand_labels_rare.jsonl` (100 with rarer words) holds
"{game_id}:{n}", the n-th of the game's six messages, and its claims. On the first run, before anything was changed for
what it showed: precision 0.950 and recall 0.916; of the rare ones 0.955 and 0.933. What is asserted here came after.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord
from liescope.games.vocabulary import FoundClaim
from liescope.generate.importers import read_games
from liescope.labeling.claims import find_claims
from liescope.labeling.ledger import RULES, checked_claims, claim_labels, statement_id

HERE = Path(__file__).parent
Claims = set[tuple[str, str, str]]
SETS = ["hand_labels.jsonl", "hand_labels_rare.jsonl"]


def hand_labels(name: str) -> dict[str, Claims]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return {line["id"]: {tuple(claim) for claim in line["claims"]} for line in map(json.loads, lines)}


@pytest.fixture(scope="module")
def records(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, GameRecord]:
    """The games that the hand labels come from, by id."""
    wanted = {statement.split(":")[0] for name in SETS for statement in hand_labels(name)}
    path = tmp_path_factory.mktemp("published") / "games.jsonl"
    with gzip.open(shared_data / "mini_mafia" / "games.jsonl.gz", "rt", encoding="utf-8") as lines:
        path.write_text("".join(line for line in lines if json.loads(line)["game_id"] in wanted), encoding="utf-8")
    read = list(read_games("mini-mafia", path))
    games = {game.game_id: game for game in read if isinstance(game, GameRecord)}
    assert games.keys() == wanted
    return games


def statement(game: GameRecord, place: int) -> Event:
    said = [event for event in game.events if event.kind in (EventKind.STATEMENT, EventKind.SILENCE)]
    return said[place - 1]


def names(game: GameRecord) -> tuple[str, ...]:
    return tuple(seat.name for seat in game.seats)


def label(claims: Claims, event: Event, game: GameRecord) -> bool | None:
    """label_claim of a set of claims, as `label_game` derives it."""
    claimed = [
        FoundClaim(kind, subject, value.removeprefix("not "), value.startswith("not "), 0, 0)
        for kind, subject, value in sorted(claims)
    ]
    rows = checked_claims(game, RULES, [(event, claimed)])
    return claim_labels(game, rows)[statement_id(game.game_id, event.index)].label_claim


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_claims_found_are_the_claims_read_by_hand(name: str, records: dict[str, GameRecord]) -> None:
    right = found = there = 0
    labels: Counter[tuple[bool | None, bool | None]] = Counter()
    for identity, read in hand_labels(name).items():
        game_id, place = identity.split(":")
        game = records[game_id]
        event = statement(game, int(place))
        claims = find_claims(event.text, event.actor or "", names(game), "mini-mafia")
        machine = {(claim.kind, claim.subject, claim.value) for claim in claims}
        right, found, there = right + len(machine & read), found + len(machine), there + len(read)
        labels[label(read, event, game), label(machine, event, game)] += 1
    lies = sum(count for (_, machine), count in labels.items() if machine)
    true_lies = sum(count for (hand, _), count in labels.items() if hand)
    same = sum(count for (hand, machine), count in labels.items() if hand == machine)
    assert right >= 0.95 * found
    assert right >= 0.94 * there
    assert labels[True, True] >= 0.9 * lies
    assert labels[True, True] >= 0.9 * true_lies
    assert same >= 0.96 * labels.total()
