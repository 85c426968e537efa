"""The published games of the Mini-Mafia paper's authors: a log of a game a line, and the batches that name models.

Every player has a memory, a list of sentences (Appendix A.2 of the paper). All remember the same public events until
they leave the game: who was killed remembers nothing of the day, who was arrested nothing of the vote. A game whose
memories contradict each other, the facts beside them or the rules of Mini-Mafia is refused, since there is no way to
know which is right. The record has the events that our engine logs for such a game.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from liescope.common.errors import BadData
from liescope.common.settings import OptionsModel
from liescope.games.core import Ask, AskKind, EventKind, Phase, Reply
from liescope.games.mafia.rules import DETECTIVE, MAFIOSO, MINI_MAFIA, VILLAGER, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.shared_rules import most_voted, speech
from liescope.generate.importers.game_reader import list_of, read_as, shape
from liescope.generate.importers.importer_protocol import Imported, Importer, Rejected, attempt
from liescope.generate.importers.statement_rows import UNKNOWN_MODEL
from liescope.generate.importers.text_files import read_objects
from liescope.labeling.conditions import IMPORTED, PROMPTS, SETTINGS, setting_words
from liescope.labeling.label import CUT_TEXT, LOST_TEXT, MAYBE_CUT

PAPER_NAMES = {
    "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf": "Llama 3.1 8B Instruct",
    "Mistral-7B-Instruct-v0.2-Q4_K_M.gguf": "Mistral 7B Instruct",
    "Qwen2.5-7B-Instruct-Q4_K_M.gguf": "Qwen2.5 7B Instruct",
    "claude-opus-4-1-20250805": "Claude Opus 4.1",
    "claude-sonnet-4-20250514": "Claude Sonnet 4",
    "deepseek-chat": "DeepSeek V3.1",
    "gemini-2.5-flash-lite": "Gemini 2.5 Flash Lite",
    "gpt-4.1-mini": "GPT-4.1 Mini",
    "gpt-5-mini": "GPT-5 Mini",
    "grok-3-mini": "Grok 3 Mini",
    "mistral.gguf": "Mistral 7B Instruct",  # in the batches of version 4.0
}
"""The paper's name for a model, by the log's."""

ROLES = (MAFIOSO, DETECTIVE, VILLAGER)
SILENCED = "the published log says that the message could not be read"
DRAWN = "the published log says that the vote was drawn, as the answer could not be read"
BLANK = "the published message is blank"
LONGEST_NAME = 60
_IN_SENTENCES = frozenset(':,"()\n.')  # characters that the log's sentences are built with
_VERSION = re.compile(r"_(v\d+(?:\.\d+)*)$")

# The log


_PLAYER = shape(
    name=str,
    role=Literal["mafioso", "detective", "villager"],
    alive=bool,
    imprisoned=bool,
    memory=list[str],
)
_LOG = shape(game_id=str, players=list_of(_PLAYER), game_number=(Any, None), timestamp=(Any, None))


class _Kind(StrEnum):
    """What a sentence says, and in an error what the players remember."""

    ROLE = "their role"
    BEGINS = "the time of day"
    DEATH = "who was killed"
    KILL = "the kill"
    FOUND = "the investigation"
    WARNED = "a warning"
    SAID = "what was said"
    VOTES = "the votes"
    ARREST = "the arrest"


_PUBLIC = frozenset({_Kind.DEATH, _Kind.SAID, _Kind.VOTES, _Kind.ARREST})


@dataclass(frozen=True, slots=True)
class _Message:
    """One turn to speak. text: None if the authors' engine recorded a silence because it could not read the answer."""

    speaker: str
    text: str | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Vote:
    """One vote. drawn: the authors' engine drew it at random because it could not read the answer."""

    voter: str
    target: str
    drawn: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    """name: whom it is about; role: theirs; both "" where it does not say."""

    kind: _Kind
    name: str = ""
    role: str = ""
    message: _Message | None = None
    votes: tuple[_Vote, ...] = ()


class _Wording:
    """Reads the sentences about the players of one table."""

    def __init__(self, names: Sequence[str]) -> None:
        one = f"(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})"
        name, role = f"(?P<name>{one})", r"(?P<role>\w+)"
        vote = rf"(You|{one}) voted for ({one})( \(the vote was cast randomly because of a failed format\))?"
        self._message = re.compile(rf"(You|{one}): (?:remained silent\.|\"(.*)\")", re.DOTALL)
        self._vote, self._votes = re.compile(vote), re.compile(rf"Votes: {vote}(?:, {vote})*")
        forms = (
            (_Kind.ROLE, rf"You're {name}, the {role}\."),
            (_Kind.BEGINS, r"(?:Night|Day) 1 begins\."),
            (_Kind.DEATH, rf"(?:The {role} )?{name} was found dead\."),
            (_Kind.KILL, rf"You killed {name}\."),
            (_Kind.FOUND, rf"You investigated {name} and discovered that they are the {role}\."),
            (_Kind.WARNED, rf"Beware, {name} knows you're the detective\."),
            (_Kind.WARNED, rf"Beware, {name} is the detective and discovered you're the mafioso\."),
            (_Kind.ARREST, rf"{name} was arrested"),
        )
        self._forms = [(kind, re.compile(form)) for kind, form in forms]

    def read(self, line: str, me: str) -> _Sentence | None:
        """The sentence on a line in the memory of `me`; None for one of unknown form."""
        if spoken := self._message.fullmatch(line):
            speaker = me if spoken[1] == "You" else spoken[1]
            return _Sentence(_Kind.SAID, message=_message(speaker, spoken[2]))
        if self._votes.fullmatch(line):
            cast = self._vote.findall(line)
            votes = (_Vote(me if voter == "You" else voter, target, bool(drawn)) for voter, target, drawn in cast)
            return _Sentence(_Kind.VOTES, votes=tuple(votes))
        for kind, form in self._forms:
            if found := form.fullmatch(line):
                facts = found.groupdict(default="")
                return _Sentence(kind, facts.get("name", ""), facts.get("role", ""))
        return None


def _message(speaker: str, text: str | None) -> _Message:
    if text is None:
        return _Message(speaker, None)
    name, escaped = re.escape(speaker), text.endswith("\\")
    nothing_said = rf"\s*(?:\[|{name}(?:'s \w+|, as {name})?:)?\s*"  # before a quotation: "", "[", "Alice: "
    lost = escaped and re.fullmatch(nothing_said, text[:-1]) is not None
    facts = {
        LOST_TEXT: lost,
        CUT_TEXT: escaped and not lost,
        BLANK: not text.strip(),
        MAYBE_CUT: text.endswith("..."),  # added by the authors' parser after an unclosed quote
    }
    return _Message(speaker, text, tuple(note for note, holds in facts.items() if holds))


# The game


@dataclass(frozen=True, slots=True)
class _Game:
    """What a log says about its game. revealed: everyone learned the role of the killed player; warned: the detective
    and the mafioso each learned who the other is.
    """

    roles: Mapping[str, str]
    killed: str
    arrested: str
    said: Sequence[_Message]
    votes: Sequence[_Vote]
    revealed: bool
    warned: bool


def _read(log: Any) -> _Game:
    """Raises BadData if the log contradicts itself or the rules."""
    roles = _roles(log)
    killed = _one([player.name for player in log.players if not player.alive], "killed players")
    arrested = _one([player.name for player in log.players if player.imprisoned], "arrested players")
    memories = _memories(log)
    death, said, votes = _public(log, memories, roles, killed, arrested)
    detective, mafioso = (next(name for name in roles if roles[name] == role) for role in (DETECTIVE, MAFIOSO))
    if roles[killed] != VILLAGER:
        raise BadData(f"{killed}, the {roles[killed]}, was killed; by the rules it is a villager")
    told = {
        kind: {(name, one.name, one.role) for name, memory in memories.items() for one in memory if one.kind is kind}
        for kind in _Kind
    }
    warned = {(detective, mafioso, ""), (mafioso, detective, "")}
    for kind, facts in (
        (_Kind.ROLE, {(name, name, role) for name, role in roles.items()}),
        (_Kind.KILL, {(mafioso, killed, "")}),
        (_Kind.FOUND, {(detective, mafioso, MAFIOSO)}),
        (_Kind.WARNED, warned if told[_Kind.WARNED] else set()),
    ):
        if told[kind] != facts:
            who = min(told[kind] ^ facts)[0]
            raise BadData(f"{who} does not remember {kind.value} as the log and the rules have it")
    return _Game(roles, killed, arrested, said, votes, bool(death.role), bool(told[_Kind.WARNED]))


def _roles(log: Any) -> dict[str, str]:
    for player in log.players:
        name = player.name
        if not name.strip() or len(name) > LONGEST_NAME or _IN_SENTENCES & {*name} or not name.isprintable():
            raise BadData(
                f"a player has the name {name[:LONGEST_NAME]!r}, which cannot be kept apart from the text of the log"
            )
    roles = {player.name: player.role for player in log.players}
    if len(roles) < len(log.players):
        raise BadData(f"{len(log.players)} players have {len(roles)} names")
    if sorted(roles.values()) != sorted(MINI_MAFIA.deck()):
        held = ", ".join(f"{count} {role}" for role, count in sorted(Counter(roles.values()).items()))
        raise BadData(f"the players are {held}; Mini-Mafia has a mafioso, a detective and two villagers")
    return roles


def _one(found: Sequence[str], what: str) -> str:
    if len(found) != 1:
        raise BadData(f"the log has {len(found)} {what}; a game has one")
    return found[0]


def _memories(log: Any) -> dict[str, list[_Sentence]]:
    wording = _Wording([player.name for player in log.players])
    memories: dict[str, list[_Sentence]] = {}
    for player in log.players:
        memory = memories[player.name] = []
        for number, line in enumerate(player.memory, 1):
            sentence = wording.read(line, player.name)
            if sentence is None:
                raise BadData(
                    f"line {number} of {player.name}'s memory is no sentence about these players that is known"
                )
            memory.append(sentence)
    return memories


def _public(
    log: Any, memories: Mapping[str, Sequence[_Sentence]], roles: Mapping[str, str], killed: str, arrested: str
) -> tuple[_Sentence, Sequence[_Message], Sequence[_Vote]]:
    """What everyone saw, as whoever stayed to the end remembers it: who was killed, what was said, the votes."""
    stayed = [player.name for player in log.players if player.alive and not player.imprisoned]
    public = {name: [one for one in memory if one.kind in _PUBLIC] for name, memory in memories.items()}
    witness = max(stayed, key=lambda name: len(public[name]))
    told = public[witness]
    for name, mine in public.items():
        for at in range(len(told) if name in stayed else len(mine)):
            if mine[at : at + 1] != told[at : at + 1]:
                what = (mine[at : at + 1] or told[at : at + 1])[0].kind.value
                raise BadData(f"{witness} and {name} remember {what} differently")
    talk = len(told) - 3
    if [one.kind for one in told] != [_Kind.DEATH, *[_Kind.SAID] * talk, _Kind.VOTES, _Kind.ARREST]:
        raise BadData(f"{witness} does not remember one death, what was said, the votes and an arrest, in this order")
    death, *said, votes, arrest = told
    for one, name, what in ((death, killed, "killed"), (arrest, arrested, "arrested")):
        if one.name != name:
            raise BadData(f"the players remember that {one.name} was {what}; the log has {name}")
    if death.role not in ("", roles[killed]):
        raise BadData(f"{killed} was found dead as {death.role}; the log has {roles[killed]}")
    messages = [one.message for one in said if one.message]
    living = sorted(roles.keys() - {killed})
    for at in range(0, talk, len(living)):
        speakers = [message.speaker for message in messages[at : at + len(living)]]
        if sorted(speakers) != living:
            number = at // len(living) + 1
            raise BadData(
                f"in round {number} speak {', '.join(speakers)}; by the rules it is each of {', '.join(living)}"
            )
    if sorted(vote.voter for vote in votes.votes) != living:
        raise BadData(f"the votes are not one by each of {', '.join(living)}")
    if odd := [vote for vote in votes.votes if vote.target in (vote.voter, killed)]:
        raise BadData(f"{odd[0].voter} votes for {odd[0].target}, who cannot be voted for")
    if arrested not in (top := most_voted([vote.target for vote in votes.votes])):
        raise BadData(f"the log says that {arrested} was arrested, its votes arrest {' or '.join(top)}")
    return death, messages, votes.votes


def _played(game_id: str, told: _Game) -> MiniMafia:
    """The game with its events up to the arrest. Raises BadData for a table that the rules do not allow."""
    spec = MINI_MAFIA.replaced(
        names=tuple(told.roles),
        roles=tuple(told.roles.values()),
        rounds=len(told.said) // 3,
        message_limit=None,
        reveal_dead=told.revealed,
        mutual_discovery=told.warned,
    )
    game = MiniMafia(spec, 0, game_id)
    (detective,), (mafioso,) = game.holding(DETECTIVE), game.holding(MAFIOSO)
    game.set_up()
    game.day = 1
    game.log(EventKind.NIGHT, Phase.NIGHT)
    game.acted(mafioso, told.killed, "", [(detective, mafioso, "")], drawn=True)  # by the authors' engine, at random
    game.log(EventKind.DAY, Phase.DISCUSSION)
    for at, message in enumerate(told.said):
        ask = Ask(game_id, 0, message.speaker, AskKind.SPEAK, 1, Phase.DISCUSSION, at // 3 + 1)
        problem = SILENCED if message.text is None else ""
        game.log(**speech(ask, Reply(text=message.text, problem=problem, notes=message.notes)))
    for vote in told.votes:
        fallback = DRAWN if vote.drawn else ""
        game.log(EventKind.VOTE, Phase.VOTING, actor=vote.voter, target=vote.target, fallback=fallback)
    game.arrest(told.arrested, most_voted([vote.target for vote in told.votes]))
    return game


# The importer


class MiniMafiaOptions(OptionsModel):
    """batches: without them, models are "unknown"."""

    batches: Path | None = Field(default=None, description="The log's batch configurations, which name the models.")
    paper_names: bool = Field(default=False, description="Name models as the paper does, not as the log does.")


class MiniMafiaImporter(Importer):
    """Logs with one JSON object per line (`.jsonl`, optionally gzipped)."""

    format: ClassVar[str] = "mini-mafia"
    version: ClassVar[int] = 2
    Options: ClassVar[type[OptionsModel]] = MiniMafiaOptions
    options: MiniMafiaOptions

    def __init__(self, options: MiniMafiaOptions) -> None:
        super().__init__(options)
        self._batches: dict[str, dict[str, Any]] | None = None

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        if self.options.batches is not None and self._batches is None:
            self._batches = {}
            yield from _read_batches(self.options.batches, self._batches)
        for line, entry in read_objects(source):
            if isinstance(entry, Rejected):
                yield entry
            else:
                named = entry.get("game_id")
                yield attempt(source.name, line, named if isinstance(named, str) else "", partial(self._record, entry))

    def _record(self, entry: Mapping[str, Any]) -> GameRecord:
        log = read_as(_LOG, entry)
        told = _read(log)
        game = _played(log.game_id, told)
        batch = log.game_id.partition("_game_")[0]
        configs = (self._batches or {}).get(batch, {})
        models = {role: self._model(configs.get(role)) for role in ROLES}
        notes = self._notes(batch, configs)
        meta = {"batch": batch, "number": log.game_number, "timestamp": log.timestamp}
        meta |= {"players": configs} if configs else {}
        settings = {IMPORTED: self.format, "rounds": setting_words(game.options.rounds)}
        settings |= {name: setting_words(getattr(game.options, name)) for name in ("reveal_dead", "mutual_discovery")}
        if version := _VERSION.search(batch):
            meta["prompt_version"] = settings[PROMPTS] = version[1]
        meta |= {"import_notes": notes} if notes else {}
        made = record(
            game,
            game.over(last_day=True),
            {name: (models[role], Source.IMPORTED) for name, role in told.roles.items()},
            cell=" | ".join(models[role] for role in ROLES),  # named like the cells of a tournament
            meta={**meta, SETTINGS: settings},
        )
        return replace(made, seed=None)  # the draws were not ours

    def _model(self, config: Any) -> str:
        """The model that a configuration names; for a local model, its file."""
        given = config if isinstance(config, dict) else {}
        logged = str(given.get("model") or Path(str(given.get("model_path") or "")).name) or UNKNOWN_MODEL
        return PAPER_NAMES.get(logged, logged) if self.options.paper_names else logged

    def _notes(self, batch: str, configs: Mapping[str, Any]) -> list[str]:
        if self._batches is None:
            return []
        if not configs:
            return [f"its batch {batch!r} is not among the batches given"]
        missing = [role for role in ROLES if self._model(configs.get(role)) == UNKNOWN_MODEL]
        return [f"its batch names no model for the {', '.join(missing)}"] if missing else []


def _read_batches(file: Path, batches: dict[str, dict[str, Any]]) -> Iterator[Rejected]:
    """Add the models of a file's batches by the batch's id; yields rejections for anything else."""
    for line, entry in read_objects(file):
        if isinstance(entry, Rejected):
            yield entry
        elif not isinstance(entry.get("batch_id"), str) or not isinstance(entry.get("model_configs"), dict):
            yield Rejected(file.name, line, "", "the batch has no batch_id and model_configs")
        else:
            batches[entry["batch_id"]] = entry["model_configs"]
