"""How players stand at their table into a linear model of who deceives, in numbers that know no game's vocabulary: who
talks how much, who names, accuses and supports whom, who is answered, and how one speaks.

Each number is compared with the others at the table (centred, over their standard deviation), so that a quiet game and
a loud one, short statements and long ones are alike. Players who have said nothing have the mean of what only words can
tell. Nobody's role is read.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import DetectorOptions, Publication
from liescope.detectors.kinds.whole_game import AnsweredQuestions, GameOptions, LinearInGame, WhoDeceives, solve
from liescope.detectors.textualize import TextConfig, clean, replace_names
from liescope.detectors.view.candidate import Candidate, Reason, strongest, turns_read
from liescope.detectors.view.claim_graph import claim_graph, is_against, is_support
from liescope.detectors.view.transcript import EXILED, KILLED, SAID, SILENT, VOTED, Transcript, TranscriptTurn

_WORDS: Mapping[str, str] = {
    "hedges": "maybe perhaps might may could possibly probably likely seems seem seemed guess think suppose unsure "
    "unclear somewhat kinda feel feels wonder apparently",
    "certainty": "definitely certainly clearly obviously absolutely sure certain confident must know knows always "
    "undoubtedly surely fact proof exactly",
    "second person": "you your yours yourself you're you've u ur",
    "first person": "i me my mine myself i'm i've i'd i'll im",
    "we": "we us our ours ourselves let's we're we've we'll lets",
    "negation": "not no never none nothing nobody don't doesn't didn't isn't aren't wasn't can't cannot couldn't won't "
    "wouldn't shouldn't dont cant",
    "reasons": "because since so therefore thus hence reason reasons why if then",
    "contrast": "but however although though yet still instead rather despite",
    "agreement": "agree agreed yes yeah yep right true indeed same ok okay exactly fair",
    "everybody": "everyone everybody anyone anybody someone somebody all each whoever team group people guys",
    "proposals": "should let let's need needs must propose suggest focus vote voting decide careful carefully",
    "courtesy": "please thanks thank sorry appreciate understand respect hello hi hey",
    "past": "was were did had said saw went been seen noticed heard",
    "suspicion": "suspicious suspect suspects suspicion lying liar lie lies lied sus doubt deceive deceiving deceptive "
    "hiding deflecting deflect deflection defensive accuse accused accusing accusation guilty evil bad fake blame",
    "trust": "trust trusts trusted trustworthy honest innocent good clear cleared believe believes safe support "
    "supports loyal truth truthful",
}
"""Words of each manner of speaking."""
_MANNER = tuple(_WORDS)
_OF_WORD = {word: at for at, words in enumerate(_WORDS.values()) for word in words.split()}
_SUSPICION, _TRUST = _MANNER.index("suspicion"), _MANNER.index("trust")
_FIRST = 0xF0000
_TOKEN = re.compile(r"[^\W_][\w']*")
_NAME = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + 0xFFF)}]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ECHOED = 3  # earlier statements of others that are looked through for echoes

TALK = {
    "share of talk": "its share of the statements",
    "share of words": "its share of the words",
    "length": "the length of its statements",
    "variety": "the variety of its words",
    "word length": "the length of its words",
    "silence": "how often it was silent",
    "first word": "how late it first spoke",
    "last word": "how late it last spoke",
    "in a row": "how often it speaks again at once",
    "questions": "how often it asks",
    "exclamations": "how often it exclaims",
    "echo": "words that others had just said",
    "echoed": "its words that the next to speak says too",
    "new words": "words that nobody had said before",
    "about itself": "how often it names itself",
}
TIES = {
    "named": "how often others name it",
    "named by": "how many others name it",
    "names": "how often it names others",
    "names how many": "how many others it names",
    "named back": "how many whom it names name it too",
    "accuses": "how many others it accuses",
    "accused": "how many others accuse it",
    "accuses first": "being the first to accuse",
    "accuses late": "how late it first accused",
    "returns": "how many of its accusers it accuses",
    "returned": "how many whom it accuses accuse it too",
    "with the table": "accusing whom most others accuse",
    "against the table": "accusing whom nobody else accuses",
    "supports": "how many others it supports",
    "supported": "how many others support it",
    "support returned": "how many whom it supports support it too",
    "votes for it": "votes that others cast for it",
    "votes with the table": "voting for whom most others vote",
    "votes for how many": "how many others it voted for",
}
MANNER = {f"words: {name}": f"words such as {', '.join(words.split()[:2])}" for name, words in _WORDS.items()}
GONE = {"killed": "it was killed", "exiled": "it was voted out"}
FEATURES = {**TALK, **TIES, **MANNER, **GONE}
"""Each feature, with what it is. Those of `GONE` are 0 or 1; the others are compared with the table (length by its
logarithm)."""
_RATED = len(FEATURES) - len(GONE)
_OF_WORDS = {*TALK, *MANNER} - {"share of talk", "share of words", "silence"}


def in_words(feature: str, value: float) -> str:
    """A feature of a player as a phrase, in which "it" is the player. value: as `table_features` gives it."""
    beside = "" if feature in GONE else ", more than others" if value > 0 else ", less than others"
    return FEATURES[feature] + beside


class _Said(NamedTuple):
    """What is counted in one statement. manner: (manners,) words of each; named, suspected, trusted: other players."""

    player: int
    words: int
    letters: int
    different: frozenset[str]
    manner: Floats
    asks: bool
    exclaims: bool
    named: tuple[int, ...]
    suspected: tuple[int, ...]
    trusted: tuple[int, ...]
    itself: int


@dataclass(frozen=True, slots=True)
class _Game:
    """A game, read once. said: by turn; against, support: by turn, (who, whom) that its claims and words tie."""

    turns: Sequence[TranscriptTurn]
    seat: Mapping[str, int]
    said: Mapping[int, _Said]
    against: Mapping[int, Sequence[tuple[int, int]]]
    support: Mapping[int, Sequence[tuple[int, int]]]


_read: WeakKeyDictionary[Transcript, _Game] = WeakKeyDictionary()


def table_features(candidates: Sequence[Candidate], window: int, votes: bool) -> Floats:
    """(n, len(FEATURES)): how each candidate stands at its table at its moment. window: for a question about one
    statement, how many earlier ones are read; votes: read those that are public.
    """
    found: list[Floats] = []
    for (_, upto, focus), group in groupby(
        candidates, lambda one: (id(one.moment.transcript), one.moment.upto, one.focus)
    ):
        own = list(group)
        transcript = own[0].moment.transcript
        game = _read.get(transcript) or _read.setdefault(transcript, _game(transcript))
        places = range(len(transcript.turns[:upto])) if focus is None else turns_read(own[0], window)
        rows, at_table = _table(game, places, votes)
        table = _compared(rows, at_table)
        found += [table[game.seat[one.player]] for one in own]
    return np.array(found).reshape(-1, len(FEATURES))


def _game(transcript: Transcript) -> _Game:
    seat = {name: at for at, name in enumerate(transcript.names)}
    said = {
        at: _said(turn.player, turn.text, seat) for at, turn in transcript.said() if turn.text and turn.player in seat
    }
    against, support = defaultdict[int, list[tuple[int, int]]](list), defaultdict[int, list[tuple[int, int]]](list)
    for tie in claim_graph(transcript).links:
        if tie.source != tie.target and tie.target in seat and transcript.turns[tie.place].kind == SAID:
            found = against if is_against(tie) else support if is_support(tie) else None
            if found is not None:
                found[tie.place].append((seat[tie.source], seat[tie.target]))
    for at, one in said.items():
        against[at] += [(one.player, whom) for whom in one.suspected]
        support[at] += [(one.player, whom) for whom in one.trusted if (one.player, whom) not in against[at]]
    return _Game(transcript.turns, seat, said, against, support)


def _said(player: str, text: str, seat: Mapping[str, int]) -> _Said:
    place = {name.casefold(): at for name, at in seat.items()}
    own, named = seat[player], Counter[int]()
    suspected, trusted = set[int](), set[int]()
    words, manner = list[str](), np.zeros(len(_MANNER))
    for sentence in _SENTENCE.split(replace_names(clean(text), seat, lambda name: f" {chr(_FIRST + place[name])} ")):
        of_it = Counter(ord(one) - _FIRST for one in _NAME.findall(sentence))
        named.update(of_it)
        tokens = [word.lower() for word in _TOKEN.findall(_NAME.sub(" ", sentence))]
        words += tokens
        counted = np.zeros(len(_MANNER))
        for token in tokens:
            if (sort := _OF_WORD.get(token)) is not None:
                counted[sort] += 1
        manner += counted
        if counted[_SUSPICION]:
            suspected.update(of_it)
        elif counted[_TRUST]:
            trusted.update(of_it)
    return _Said(
        own,
        len(words),
        sum(map(len, words)),
        frozenset(words),
        manner,
        "?" in text,
        "!" in text,
        tuple(who for who in named.elements() if who != own),
        tuple(suspected - {own}),
        tuple(trusted - suspected - {own}),
        named[own],
    )


def _table(game: _Game, places: Sequence[int], votes: bool) -> tuple[Floats, Bools]:
    """(players, features) before they are compared, NaN where only words could tell; (players,) who is at the table."""
    turns, seat, n = game.turns, game.seat, len(game.seat)
    found = {name: np.zeros(n) for name in ("silence", "in a row", "echo", "echoed", "new words", *GONE)}
    names, accuses, supports, voted = (np.zeros((n, n)) for _ in range(4))
    at_table, order, accused_at = np.ones(n, bool), 0, dict[int, int]()
    own: list[list[_Said]] = [[] for _ in range(n)]
    first, last, heard, recent = np.zeros(n), np.zeros(n), set[str](), list[_Said]()
    for at in places:
        turn = turns[at]
        if (who := seat.get(turn.player)) is None:
            continue
        if turn.kind == SILENT:
            found["silence"][who] += 1
        elif turn.kind == KILLED:
            found["killed"][who], at_table[who] = 1, False
        elif turn.kind == EXILED and votes:
            found["exiled"][who] = 1
        elif turn.kind == VOTED and votes and turn.target in seat:
            voted[who, seat[turn.target]] += 1
        if turn.kind != SAID or (one := game.said.get(at)) is None:
            continue
        order += 1
        own[who].append(one)
        first[who], last[who] = first[who] or order, order
        found["in a row"][who] += bool(recent) and recent[-1].player == who
        others = [each for each in recent[-_ECHOED:] if each.player != who]
        size = max(len(one.different), 1)
        found["echo"][who] += len(one.different & frozenset[str]().union(*(each.different for each in others))) / size
        if others and (before := recent[-1]).player != who:
            shared = len(one.different & before.different)
            found["echoed"][before.player] += shared / max(len(before.different), 1)
        found["new words"][who] += len(one.different - heard) / size
        heard |= one.different
        recent.append(one)
        for whom in one.named:
            names[who, whom] += 1
        for by, whom in game.against[at]:
            accuses[by, whom] = 1
            accused_at.setdefault(by, order)
        for tie in game.support[at]:
            supports[tie] = 1
    said = np.array([len(each) for each in own], dtype=np.float64)
    found |= _talk(own, said, order) | _ties(names, accuses, supports, voted, said)
    found |= {"first word": first / max(order, 1), "last word": last / max(order, 1)}
    found |= {name: _per(found[name], said) for name in ("in a row", "echo", "echoed", "new words")}
    found["accuses first"] = np.array([accused_at.get(who) == min(accused_at.values(), default=0) for who in range(n)])
    found["accuses late"] = np.array([accused_at[who] / order if who in accused_at else 1.0 for who in range(n)])
    rows = np.column_stack([found[name] for name in FEATURES]).astype(np.float64)
    rows[np.ix_(said == 0, [name in _OF_WORDS for name in FEATURES])] = np.nan
    return rows, at_table


def _talk(own: Sequence[Sequence[_Said]], said: Floats, total: int) -> dict[str, Floats]:
    def mean(value: Callable[[_Said], float]) -> Floats:
        return np.array([np.mean([value(one) for one in each]) if each else 0.0 for each in own])

    words = np.array([sum(one.words for one in each) for each in own], dtype=np.float64)
    letters = np.array([sum(one.letters for one in each) for each in own], dtype=np.float64)
    manner = np.array([sum((one.manner for one in each), np.zeros(len(_WORDS))) for each in own])
    return {
        "share of talk": said / max(total, 1),
        "share of words": words / max(words.sum(), 1),
        "length": np.log1p(_per(words, said)),
        "variety": mean(lambda one: len(one.different) / max(one.words, 1)),
        "word length": _per(letters, words),
        "questions": mean(lambda one: one.asks),
        "exclamations": mean(lambda one: one.exclaims),
        "about itself": mean(lambda one: one.itself),
        **dict(zip(MANNER, (manner / np.maximum(words, 1)[:, None]).T, strict=True)),
    }


def _ties(names: Floats, accuses: Floats, supports: Floats, voted: Floats, said: Floats) -> dict[str, Floats]:
    """Of matrices (who, whom)."""
    by_others = accuses.sum(axis=0)[None, :] - accuses  # how many others accuse whom
    for_others = voted.sum(axis=0)[None, :] - voted
    most, most_voted = by_others.max(axis=1, keepdims=True), for_others.max(axis=1, keepdims=True)
    named, returned = names > 0, (accuses * accuses.T).sum(axis=1)
    return {
        "named": _per(names.sum(axis=0), said.sum() - said),
        "named by": named.sum(axis=0),
        "names": _per(names.sum(axis=1), said),
        "names how many": named.sum(axis=1),
        "named back": _per((named & named.T).sum(axis=1), named.sum(axis=1)),
        "accuses": accuses.sum(axis=1),
        "accused": accuses.sum(axis=0),
        "returns": _per(returned, accuses.sum(axis=0)),
        "returned": _per(returned, accuses.sum(axis=1)),
        "with the table": _per((accuses * (by_others == most) * (most > 0)).sum(axis=1), accuses.sum(axis=1)),
        "against the table": _per((accuses * (by_others == 0)).sum(axis=1), accuses.sum(axis=1)),
        "supports": supports.sum(axis=1),
        "supported": supports.sum(axis=0),
        "support returned": _per((supports * supports.T).sum(axis=1), supports.sum(axis=1)),
        "votes for it": voted.sum(axis=0),
        "votes with the table": _per(
            (voted * (for_others == most_voted) * (most_voted > 0)).sum(axis=1), voted.sum(axis=1)
        ),
        "votes for how many": (voted > 0).sum(axis=1),
    }


def _per(part: Floats, whole: Floats) -> Floats:
    """0 where the whole is."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) > 0)


def _compared(rows: Floats, at_table: Bools) -> Floats:
    """Each feature less the mean of those at the table, over their standard deviation; 0 where they are all alike."""
    found = rows.copy()
    rated = rows[:, :_RATED]
    for column in range(_RATED):
        known = ~np.isnan(rated[:, column])
        among = rated[known & at_table, column]
        spread = among.std() if len(among) else 0.0
        found[:, column] = np.where(known, (rated[:, column] - among.mean()) / spread, 0.0) if spread > 1e-9 else 0.0
    return found


class TableOptions(GameOptions):
    """What is read of a table."""

    strength: float = Field(default=0.01, gt=0, description="inverse of the L2 penalty, scikit-learn's C")


class TableDetector(LinearInGame):
    """How players talk, accuse and vote, beside the others at the table, into a linear model of who deceives."""

    kind = "table"
    options_type = TableOptions
    packages = ("scipy",)
    publication = Publication(
        needs="It reads a whole game: who spoke how much, who named, accused and supported whom, and the votes, each "
        "beside the others at the table. It knows English words for hedges, reasons, suspicion and the like, and no "
        "others. A statement without its game, or a conversation with one speaker, tells it nothing."
    )

    options: TableOptions

    def learn(self, lesson: AnsweredQuestions) -> None:
        features = self.features(lesson.candidates)
        if not features.any():
            raise UsageError(
                "nobody at these tables differs from anybody else there; table learns from games of several"
            )
        self._weights, self._offset = solve(features, lesson, np.full(features.shape[1], 1 / self.options.strength))

    def features(self, candidates: Sequence[Candidate]) -> Floats:
        return table_features(candidates, self.options.window, self.options.votes)

    def reasons_at(self, asked: WhoDeceives, player: str, most: int) -> list[Reason]:
        (seat,) = self.features([Candidate(asked.moment, player, asked.focus)])
        added, named = seat * self._weights, list(FEATURES)
        return [Reason(self.kind, in_words(named[i], seat[i]), float(added[i])) for i in strongest(added, most)]

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        detector.read_weights(folder, len(FEATURES))
        return detector
