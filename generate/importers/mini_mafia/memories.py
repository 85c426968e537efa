"""From one line of the authors' log to what it tells: the players' memories, read and held against each other.

Memories follow Appendix A.2 of the Mini-Mafia paper. Every player who lived through the night tells the same day, but
the arrested one, who has left before the votes are read out. Memories that contradict each other, or the flags beside
them, make the game unreadable: nobody can say which is right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from liescope.common.errors import BadData
from liescope.generate.importers.mini_mafia.log_game import Cast, LogGame, LogMessage
from liescope.labeling.reading_notes import CUT_TEXT, LOST_TEXT

SILENT = "remained silent."
DRAWN_VOTE = " (the vote was cast randomly because of a failed format)"
MAYBE_CUT = "may have been cut off: it ends in dots"  # which the authors' parser puts after an unclosed quote
UNCLOSED = "the closing quote is missing"
BROKEN = "characters that are no text were replaced"


@dataclass(slots=True)
class _Memory:
    """What one player remembers; None where the memory does not say."""

    role: str | None = None
    dead: str | None = None
    killed: str | None = None
    investigated: str | None = None
    said: list[LogMessage] = field(default_factory=list)
    cast: tuple[Cast, ...] | None = None
    arrested: str | None = None


def read_log_game(game: Mapping[str, Any], models: Mapping[str, str], meta: Mapping[str, Any]) -> LogGame:
    """What one game of the log tells. models: role to model name. Raises BadData with the reason it cannot be read."""
    game_id = _field(game, "game_id", str, "the game")
    players = _field(game, "players", list, game_id)
    roles: dict[str, str] = {}
    for player in players:
        if not isinstance(player, dict):
            raise BadData("a player is not an object")
        name = _field(player, "name", str, "a player")
        if name in roles:
            raise BadData(f"two players are named {name}")
        roles[name] = _field(player, "role", str, name)
    memories = {
        player["name"]: _remember(player["name"], _field(player, "memory", list, player["name"]), [*roles])
        for player in players
    }
    for name, memory in memories.items():
        if memory.role != roles[name]:
            raise BadData(f"{name} is {roles[name]} in the log and {memory.role} in their own memory")
    living = [player["name"] for player in players if _field(player, "alive", bool, player["name"])]
    jailed = [player["name"] for player in players if _field(player, "imprisoned", bool, player["name"])]
    if len(living) != len(roles) - 1:
        raise BadData(f"{len(roles) - len(living)} players are dead; in Mini-Mafia it is one")
    if len(jailed) != 1:
        raise BadData(f"{len(jailed)} players are arrested, so that the winner is not known")
    told = LogGame(
        game_id,
        roles,
        killed=_agreed("who was killed", {name: memories[name].dead for name in living}),
        investigated=_own("investigation", memories, roles, "detective").investigated or "",
        said=tuple(_agreed("what was said", {name: tuple(memories[name].said) for name in living})),
        cast=_agreed("the votes", {name: memories[name].cast for name in living if name not in jailed}),
        arrested=_agreed("the arrest", {name: memories[name].arrested for name in living if name not in jailed}),
        models=models,
        meta=meta,
    )
    if told.killed in living or _own("kill", memories, roles, "mafioso").killed != told.killed:
        raise BadData(f"the players remember that {told.killed} was killed; the log or the mafioso says otherwise")
    if [told.arrested] != jailed:
        raise BadData(f"the players remember that {told.arrested} was arrested; the log has {jailed[0]}")
    return told


def _own(what: str, memories: Mapping[str, _Memory], roles: Mapping[str, str], role: str) -> _Memory:
    for name, memory in memories.items():
        if roles[name] == role:
            return memory
    raise BadData(f"no {role} is at the table, so that the {what} is not known")


def _agreed(what: str, tales: Mapping[str, Any]) -> Any:
    """The one tale that all tell. Raises BadData where two differ or nobody tells it."""
    first = next(iter(tales))
    for name, tale in tales.items():
        if tale != tales[first]:
            raise BadData(f"{first} and {name} remember {what} differently")
    if tales[first] in (None, ()):
        raise BadData(f"nobody remembers {what}; is the game cut off?")
    return tales[first]


def _remember(name: str, lines: Sequence[Any], names: Sequence[str]) -> _Memory:
    memory = _Memory()
    anyone = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str) or not _take(memory, name, line, anyone):
            raise BadData(f"line {number} of {name}'s memory is none of a Mini-Mafia game: {str(line)[:60]!r}")
    return memory


def _take(memory: _Memory, name: str, line: str, anyone: str) -> bool:
    """Write one line into the memory; False for a line of no known form."""
    if line in ("Night 1 begins.", "Day 1 begins."):
        return True
    if spoken := re.fullmatch(rf"(You|{anyone}): (.*)", line, re.DOTALL):
        speaker = name if spoken[1] == "You" else spoken[1]
        memory.said.append(_said(speaker, spoken[2]))
        return spoken[2] == SILENT or spoken[2].startswith('"')
    if own := re.fullmatch(rf"You're {re.escape(name)}, the (\w+)\.?", line):
        memory.role = own[1]
    elif found := re.fullmatch(rf"({anyone}) was found dead\.", line):
        memory.dead = found[1]
    elif kill := re.fullmatch(rf"You killed ({anyone})\.", line):
        memory.killed = kill[1]
    elif look := re.fullmatch(rf"You investigated ({anyone}) and discovered that they are the mafioso\.", line):
        memory.investigated = look[1]
    elif arrest := re.fullmatch(rf"({anyone}) was arrested\.?", line):
        memory.arrested = arrest[1]
    elif line.startswith("Votes: "):
        memory.cast = _votes(line.removeprefix("Votes: "), anyone)
        return bool(memory.cast)
    else:
        return False
    return True


def _said(speaker: str, words: str) -> LogMessage:
    if words == SILENT:
        return LogMessage(speaker, None)
    text = words[1:-1] if len(words) > 1 and words.endswith('"') else words[1:]
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    before, escaped, _ = whole.rpartition("\\") if whole.endswith("\\") else (whole, "", "")
    lost = bool(escaped) and re.fullmatch(_leads_to_a_quote(speaker), before) is not None
    facts = {
        LOST_TEXT: lost,
        CUT_TEXT: bool(escaped) and not lost,
        UNCLOSED: len(words) < 2 or not words.endswith('"'),
        MAYBE_CUT: text.endswith("..."),
        BROKEN: whole != text,
    }
    return LogMessage(speaker, whole, tuple(note for note, holds in facts.items() if holds))


def _leads_to_a_quote(speaker: str) -> str:
    """A pattern of what may stand before a quotation and says nothing by itself: "", "[", "Alice: "."""
    name = re.escape(speaker)
    return rf"\s*(?:\[|{name}(?:'s \w+|, as {name})?:)?\s*"


def _votes(words: str, anyone: str) -> tuple[Cast, ...]:
    one = rf"({anyone}) voted for ({anyone})({re.escape(DRAWN_VOTE)})?"
    if not re.fullmatch(rf"{one}(?:, {one})*", words):
        return ()
    return tuple(Cast(voter, target, bool(drawn)) for voter, target, drawn in re.findall(one, words))


def _field(thing: Mapping[str, Any], key: str, kind: type, whose: str) -> Any:
    value = thing.get(key)
    if not isinstance(value, kind):
        raise BadData(f"{whose} has no {key!r} that is {'an' if kind is int else 'a'} {kind.__name__}")
    return value
