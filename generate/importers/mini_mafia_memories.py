"""Reading one game of the authors' log: the players' memories are parsed and checked against each other.

Memories follow Appendix A.2 of the Mini-Mafia paper: a list of sentences, which the versions of the authors' engine
word differently. Every player remembers the same public events until they leave the game: a killed player remembers
nothing of the day, an arrested one nothing of the vote. Memories that contradict each other, or the flags stored with
them, make the game unreadable, since there is no way to know which is right. A sentence of unknown form is kept, and
the game's notes say that it was not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from liescope.common.errors import BadData
from liescope.games.mafia import DETECTIVE, MAFIOSO
from liescope.generate.importers.mini_mafia_log import WINNERS, LogDay, LogGame, LogMessage, LogVote
from liescope.labeling.label import CUT_TEXT, LOST_TEXT, MAYBE_CUT

UNCLOSED = "the closing quote is missing"
BROKEN = "characters that are no text were replaced"
BLANK = "the published message is blank"
NOT_MAFIOSO = "not mafioso"
_ROLE_WORDS = {"assassin": MAFIOSO, "evil": MAFIOSO, "good": NOT_MAFIOSO, "innocent": NOT_MAFIOSO}  # of early versions


def role_of(word: str) -> str:
    """The role for a word of the log."""
    return _ROLE_WORDS.get(word.casefold(), word.casefold())


class Kind(StrEnum):
    """What a sentence says, and in an error what the players remember."""

    ROLE = "their role"
    NIGHT = "a night"
    DAY = "a day"
    DEATH = "who was killed"
    KILL = "a kill"
    LEARNED = "an investigation"
    KNOWN = "a known role"
    EXPOSED = "a warning"
    SAID = "what was said"
    VOTES = "the votes"
    ARREST = "the arrest"


PUBLIC = frozenset({Kind.DEATH, Kind.SAID, Kind.VOTES, Kind.ARREST})


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence. name: whom it is about, "" for nobody; role: theirs, "" where it does not say; what: the message or
    the votes.
    """

    kind: Kind
    name: str = ""
    role: str = ""
    what: LogMessage | tuple[LogVote, ...] | None = None


class Wording:
    """Reads the sentences about the players of one table."""

    def __init__(self, names: Sequence[str]) -> None:
        one = f"(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})"
        name, role, warned = f"(?P<name>{one})", r"(?P<role>\w+)", r"(?:(?:Beware|Be careful), )?"
        self._message = re.compile(rf"(You said|You|{one}): ?(.*)", re.DOTALL)
        self._vote = re.compile(rf"(You|{one}) voted for ({one})(?: \(([^()]*)\))?")
        vote = f"(?:{self._vote.pattern})"
        self._votes = re.compile(rf"(?:Day \d+ )?[Vv]otes: ({vote}(?:, {vote})*)\.?")
        forms = (
            (Kind.ROLE, rf"You(?:'re| are) {name}, the {role}"),
            (Kind.NIGHT, r"Night \d+ begins"),
            (Kind.DAY, r"Day \d+ begins"),
            (Kind.DEATH, rf"(?:The {role} )?{name} was found dead(?: this morning)?"),
            (Kind.DEATH, rf"{name} \({role}\) was found dead(?: this morning)?"),
            (Kind.DEATH, r"(?:Nobody|No one) (?:died|was killed|was found dead)[\w ]*"),
            (Kind.KILL, rf"(?:You|{one}) killed {name}"),
            (Kind.LEARNED, rf"You investigated {name}(?::| and discovered that they are(?: the| an?)?) {role}"),
            (Kind.KNOWN, rf"You know {name} is the {role}"),
            (Kind.EXPOSED, rf"{warned}{name} knows (?:that )?you're the \w+"),
            (Kind.EXPOSED, rf"{warned}{name} is the detective and discovered (?:that )?you're the \w+"),
            (Kind.EXPOSED, rf"{name} investigated you and learned (?:that )?you're \w+"),
            (Kind.ARREST, rf"{name} was arrested(?: \({role}\))?"),
        )
        self._silence = re.compile(rf"(?:(?:Night|Day) \d+: )?(You|{one}) remained silent\.?")
        self._forms = [(kind, re.compile(rf"(?:(?:Night|Day) \d+: )?{form}\.?")) for kind, form in forms]

    def read(self, line: str, me: str) -> Entry | None:
        """The entry for a sentence in the memory of `me`; None for a sentence of unknown form."""
        if spoken := self._message.fullmatch(line):
            return Entry(Kind.SAID, what=_message(_self(spoken[1], me), spoken[2]))
        if silent := self._silence.fullmatch(line):
            return Entry(Kind.SAID, what=LogMessage(_self(silent[1], me), None))
        if votes := self._votes.fullmatch(line):
            cast = [*self._vote.finditer(votes[1])]
            if any(vote[3] and "random" not in vote[3] for vote in cast):
                return None  # an unknown remark, which may or may not mean a drawn vote
            return Entry(Kind.VOTES, what=tuple(LogVote(_self(v[1], me), v[2], bool(v[3])) for v in cast))
        for kind, form in self._forms:
            if found := form.fullmatch(line):
                said = found.groupdict()
                return Entry(kind, said.get("name") or "", role_of(said.get("role") or ""))
        return None


@lru_cache(maxsize=256)
def wording(names: tuple[str, ...]) -> Wording:
    """The reader for a table of these players."""
    return Wording(names)


def _self(name: str, me: str) -> str:
    return me if name in ("You", "You said") else name


def _message(speaker: str, words: str) -> LogMessage:
    if words.rstrip(".") == "remained silent":
        return LogMessage(speaker, None)
    quoted = words.startswith('"')
    closed = len(words) > 1 and words.endswith('"')
    text = (words[1:-1] if closed else words[1:]) if quoted else words
    # UTF-16 joins surrogate pairs to characters, so that only lone ones are replaced
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    name, escaped = re.escape(speaker), whole.endswith("\\")
    nothing_said = rf"\s*(?:\[|{name}(?:'s \w+|, as {name})?:)?\s*"  # before a quotation: "", "[", "Alice: "
    lost = escaped and re.fullmatch(nothing_said, whole[:-1]) is not None
    facts = {
        LOST_TEXT: lost,
        CUT_TEXT: escaped and not lost,
        BLANK: not whole.strip(),
        UNCLOSED: quoted and not closed,
        MAYBE_CUT: text.endswith("..."),  # added by the authors' parser after an unclosed quote
        BROKEN: whole != text,
    }
    return LogMessage(speaker, whole, tuple(note for note, holds in facts.items() if holds))


MOST_PLAYERS = 50
LONGEST_NAME = 60
_IN_SENTENCES = frozenset(':,"()\n.')  # characters that the log's sentences are built with
_STRANGER = re.compile(r'(?:The \w+ )?(\w[\w -]*?)(?:: "| was found dead| was arrested).*', re.DOTALL)


@dataclass(slots=True)
class _Player:
    """One player of the log. killed, arrested: as the flags beside the memory have it, None if the log has none."""

    name: str
    role: str
    killed: bool | None
    arrested: bool | None
    entries: list[Entry] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)

    @property
    def public(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind in PUBLIC]


def read_log_game(game: Mapping[str, Any], models: Mapping[str, str], meta: Mapping[str, Any]) -> LogGame:
    """The contents of one game of the log. models: name to model name, for every player.

    Raises BadData with the reason it cannot be read.
    """
    game_id = _field(game, "game_id", str, "the game")
    players = _players(game)
    roles = {player.name: player.role for player in players}
    notes = [f"{player.name}: line {number} was not read" for player in players for number, _ in player.unread]
    for player in players:
        for entry in player.entries:
            _check_role(player, entry, roles)
            if entry.kind is Kind.KNOWN and player.role == DETECTIVE:
                notes.append(f"{player.name} knows the mafioso; the log does not speak of an investigation")
    witness = max(players, key=lambda each: (each.killed is False and not each.arrested, len(each.public)))
    flagged = _flagged(players, notes)
    _check_agreement(witness, players)
    days = [_day(number, told, players) for number, told in enumerate([*_days(witness.entries)] or [[]])]
    for what, names in flagged.items():
        if names and not any(getattr(day, what) for day in days):
            if len(names) > 1:
                raise BadData(f"{len(names)} players are {what} and no line says when")
            notes.append(f"no line says that {names[0]} was {what}; the flag beside the memory does")
            fact: Any = {what: names[0]}
            days[-1] = replace(days[-1], **fact)
    revealed = [entry for entry in witness.public if entry.kind is Kind.DEATH and entry.role]
    winner = WINNERS.get(str(game.get("winner")).casefold(), "")
    if "winner" in game and not winner:
        notes.append(f"the log names the winner {str(game['winner'])[:40]!r}")
    unread = [[player.name, number, line] for player in players for number, line in player.unread]
    return LogGame(
        game_id,
        roles,
        tuple(days),
        models,
        winner=winner,
        reveal_dead=bool(revealed),
        meta={**meta, **({"unread": unread} if unread else {})},
        notes=tuple(notes),
    )


def player_list(game: Mapping[str, Any]) -> list[Any]:
    """The player list of a log, whose key depends on the version."""
    return list(_field(game, "final_state" if "final_state" in game else "players", list, "the game"))


def _players(game: Mapping[str, Any]) -> list[_Player]:
    players: dict[str, _Player] = {}
    listed = player_list(game)
    if not 1 < len(listed) <= MOST_PLAYERS:
        raise BadData(f"the game has {len(listed)} players; a game of 2 to {MOST_PLAYERS} can be read")
    for entry in listed:
        if not isinstance(entry, dict):
            raise BadData("a player is not an object")
        name = _field(entry, "name", str, "a player")
        if not name.strip() or len(name) > LONGEST_NAME or _IN_SENTENCES & set(name) or not name.isprintable():
            raise BadData(
                f"a player has the name {name[:LONGEST_NAME]!r}, which cannot be kept apart from the text of the log"
            )
        if name in players:
            raise BadData(f"two players are named {name}")
        alive, jailed = (_field(entry, key, bool, name) if key in entry else None for key in ("alive", "imprisoned"))
        killed = None if alive is None else not alive
        players[name] = _Player(name, role_of(_field(entry, "role", str, name)), killed, jailed)
    reader = wording(tuple(players))
    for player, entry in zip(players.values(), listed, strict=True):
        for number, line in enumerate(_field(entry, "memory", list, player.name), 1):
            if not isinstance(line, str):
                raise BadData(f"line {number} of {player.name}'s memory is not text")
            if read := reader.read(line, player.name):
                player.entries.append(read)
            elif stranger := _STRANGER.fullmatch(line):
                raise BadData(f"{stranger[1][:LONGEST_NAME]} is in {player.name}'s memory and not in the game")
            else:
                player.unread.append((number, line))
    return list(players.values())


def _check_role(player: _Player, entry: Entry, roles: Mapping[str, str]) -> None:
    """Check that a sentence and the log agree about a role."""
    if entry.kind is Kind.ROLE and entry.role != player.role:
        raise BadData(f"{player.name} is {player.role} in the log and {entry.role} in their own memory")
    what = {
        Kind.DEATH: "was found dead as",
        Kind.ARREST: "was arrested as",
        Kind.LEARNED: f"was found by {player.name} to be",
        Kind.KNOWN: f"was found by {player.name} to be",
    }.get(entry.kind)
    right = roles[entry.name] != MAFIOSO if entry.role == NOT_MAFIOSO else roles.get(entry.name) == entry.role
    if what and entry.role and not right:
        raise BadData(f"{entry.name} {what} {entry.role}; the log has {roles.get(entry.name)}")


def _check_agreement(witness: _Player, players: Sequence[_Player]) -> None:
    """Check that every player remembers what the witness does up to some point; whoever stayed to the end, all of
    it.
    """
    told = witness.public
    for player in players:
        mine = player.public
        stayed = player.killed is False and player.arrested is False
        upto = max(len(mine), len(told)) if stayed else len(mine)
        for at in range(upto):
            if mine[at : at + 1] != told[at : at + 1]:
                what = (mine[at : at + 1] or told[at : at + 1])[0].kind.value
                raise BadData(f"{witness.name} and {player.name} remember {what} differently")


def _days(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """A player's memory, split where a night begins."""
    day: list[Entry] = []
    started = False  # whether this part's day has begun; if so, the next death belongs to another night
    for entry in entries:
        if started and entry.kind in (Kind.DEATH, Kind.KILL, Kind.NIGHT):
            yield day
            day, started = [], False
        day.append(entry)
        started = started or entry.kind in (Kind.SAID, Kind.VOTES, Kind.ARREST)
    if day:
        yield day


def _day(number: int, entries: Sequence[Entry], players: Sequence[_Player]) -> LogDay:
    """One night and day: the public part from the witness, the rest from the players concerned."""
    roles = {player.name: player.role for player in players}
    own = [(player, entry) for player in players for entry in [*_days(player.entries), *[[]] * (number + 1)][number]]
    killed = _only([entry.name for entry in entries if entry.kind is Kind.DEATH], "deaths in one night", "")
    victims = {entry.name for _, entry in own if entry.kind is Kind.KILL}
    if victims - {killed} and (killed or len(victims) > 1):
        raise BadData(f"the players remember that {killed or 'nobody'} was killed; the mafioso says otherwise")
    findings, exposed = dict[str, str](), set[str]()
    for player, entry in own:
        learned = entry.kind in (Kind.LEARNED, Kind.KNOWN)
        if learned and player.role == DETECTIVE:
            findings[player.name] = entry.name
        elif entry.kind is Kind.EXPOSED or (learned and player.role == MAFIOSO):
            if {player.role, roles[entry.name]} != {MAFIOSO, DETECTIVE}:
                raise BadData(f"{player.name}, a {player.role}, is warned of {entry.name}, a {roles.get(entry.name)}")
            exposed.add(player.name)
    return LogDay(
        killed or next(iter(victims), ""),
        findings,
        frozenset(exposed),
        tuple(entry.what for entry in entries if isinstance(entry.what, LogMessage)),
        _only([entry.what for entry in entries if entry.kind is Kind.VOTES], "votes in one day", ()),
        _only([entry.name for entry in entries if entry.kind is Kind.ARREST], "arrests in one day", ""),
    )


def _only(found: Sequence[Any], what: str, missing: Any) -> Any:
    if len(found) > 1:
        raise BadData(f"the log has {len(found)} {what}")
    return found[0] if found else missing


def _flagged(players: Sequence[_Player], notes: list[str]) -> dict[str, list[str]]:
    """Who was killed and who arrested by the flags. Raises BadData where lines and flags disagree."""
    found: dict[str, list[str]] = {}
    for what, kind in (("killed", Kind.DEATH), ("arrested", Kind.ARREST)):
        flags = {player.name: getattr(player, what) for player in players}
        if None in flags.values():
            notes.append(f"the log does not flag who was {what}")
            continue
        found[what] = [name for name, flag in flags.items() if flag]
        stated = {entry.name for player in players for entry in player.entries if entry.kind is kind} - {""}
        if stated and stated != {*found[what]}:
            names, others = ", ".join(sorted(stated)), ", ".join(sorted(found[what])) or "nobody"
            raise BadData(f"the players remember that {names} was {what}; the log has {others}")
    return found


def _field(thing: Mapping[str, Any], key: str, kind: type, whose: str) -> Any:
    value = thing.get(key)
    if not isinstance(value, kind):
        raise BadData(f"{whose} has no {key!r} that is a {kind.__name__}")
    return value
