"""What was claimed, by whom, about whom and in which order, as relations to one player.

The claims are those that the rules of `liescope.labeling` find in the words alone: no verdict, role or other hidden
fact is used. A relation is a sentence in which "it" is the player, such as "somebody calls it evil"; `relations` lists
those of a player, and what changes with time (counts, who was first, who contradicts whom) comes from the turns so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from liescope.detectors.view.transcript import EXILED, KILLED, SAID, SILENT, VOTED, Transcript, TranscriptTurn
from liescope.games.game_registry import WORDS, roles_of
from liescope.games.vocabulary import NOT, FoundClaim, Vocabulary
from liescope.labeling.claims import find_claims
from liescope.labeling.label import known_before
from liescope.labeling.ledger import PROMISED

EVIL, GOOD, SEER = "evil", "good", "seer"
_LIKE = "mafia"  # the game whose vocabulary serves for games without one
_MANY = 3
_TELLING = 3  # statements a speaker, before a game has a norm to compare with
_LATE = 12
_ONE, _A_SEER = "somebody", "somebody who claims to be the seer"
_SAYS = {  # each kind of claim has its own sentence, because detectors learn from the sentences
    ("investigation", True): "reports {whom} as {value}",
    ("investigation", False): "speaks of having investigated {whom}",
    ("guilt", True): "calls {whom} {value}",
    ("innocence", True): "judges {whom} {value}",
    ("role", True): "says that {whom} is {value}",
    ("vote", False): "means to vote for {whom}",
    (VOTED, False): "voted for {whom}",
}
_LEFT = {SILENT: "it was silent", KILLED: "it was killed", EXILED: "it was voted out"}


@dataclass(frozen=True, slots=True)
class Tie:
    """A tie between players. place: its turn; kind: of the claim, or `vote`; value: evil, good, seer, a role, ""."""

    place: int
    kind: str
    source: str
    target: str
    value: str

    def said(self, who: str, whom: str) -> str:
        """The tie as a sentence."""
        value = "the seer" if self.value == SEER else self.value
        plain = "has to do with {whom}: " + f"{self.kind} {value}".rstrip()
        return f"{who} {_SAYS.get((self.kind, bool(value)), plain).format(whom=whom, value=value)}"


@dataclass(frozen=True, slots=True)
class ClaimGraph:
    """The turns of a whole game and its links, in order."""

    turns: Sequence[TranscriptTurn]
    links: Sequence[Tie]

    def relations(
        self, player: str, upto: int | None = None, votes: bool = True, focus: int | None = None
    ) -> list[str]:
        """What ties a player to the others after the first `upto` turns. votes: read those cast by then; focus: the
        statement in question, whose claims are marked; only what its whole audience had heard is read.
        """
        read = self.turns[:upto]
        places: Sequence[int] = range(len(read))
        now: list[str] = []
        if focus is not None:
            heard = [(turn.audience, at) for at, turn in enumerate(read)]
            places = known_before(heard, self.turns[focus].audience)
            now = list(_of_statement(self.turns, focus))
        links = [link for link in self.links if link.place in places and (votes or link.kind != VOTED)]
        turns = [self.turns[at] for at in places]
        now += [link.said("here it", _ONE) for link in links if link.place == focus]
        return [*now, *_of_player(player, links), *_of_all(player, links), *_of_turns(player, turns, votes)]


def claim_graph(transcript: Transcript) -> ClaimGraph:
    """The claims and votes of a game, as links between players."""
    rules = transcript.rules if transcript.rules in WORDS else _LIKE
    words = WORDS[rules]
    links: list[Tie] = []
    for place, turn in enumerate(transcript.turns):
        if turn.kind == VOTED:
            links.append(Tie(place, VOTED, turn.player, turn.target, ""))
        elif turn.kind == SAID and turn.text:
            for claim in find_claims(turn.text, turn.player, transcript.names, rules):
                links += _links(place, turn.player, claim, words)
    return ClaimGraph(tuple(transcript.turns), links)


def _links(place: int, speaker: str, claim: FoundClaim, words: Vocabulary) -> Iterator[Tie]:
    if claim.kind in PROMISED:
        if not claim.denied and claim.object:
            yield Tie(place, claim.kind, speaker, claim.object, "")
    else:
        yield Tie(place, claim.kind, speaker, claim.subject, _value(claim, words))


def _value(claim: FoundClaim, words: Vocabulary) -> str:
    """evil, good, seer, another role, each with "not " if denied, unless the opposite is meant."""
    plain = claim.object
    if plain in words.guilt or plain == words.own.get(words.evil) or plain in words.own.values():
        value = EVIL
    elif plain in words.innocence:
        value = GOOD
    else:
        value = SEER if plain in _seers() else plain
    if not claim.denied:
        return value
    return {EVIL: GOOD, GOOD: EVIL}.get(value, f"{NOT}{value}")


@cache
def _seers() -> frozenset[str]:
    return roles_of(lambda game: game.investigators)


def _of_player(player: str, links: Sequence[Tie]) -> Iterator[str]:
    """What the player says of itself and others, what others say of it, and how they stand to it by then."""
    seers, accusers, accused = set[str](), set[str](), set[str]()
    for link in links:
        if link.source == player == link.target:
            yield link.said("it", "itself")
        elif link.source == player:
            yield link.said("it", _ONE)
            if link.target in seers:
                yield link.said("it", _A_SEER)
            if link.target in accusers:
                yield link.said("it", "somebody who accused it")
        elif link.target == player:
            yield link.said(_ONE, "it")
            if link.source in seers:
                yield link.said(_A_SEER, "it")
            if link.source in accused:
                yield link.said("somebody whom it accused", "it")
        if _is_seer(link):
            seers.add(link.source)
        if is_against(link) and player in (link.source, link.target):
            (accused if link.source == player else accusers).add(link.target if link.source == player else link.source)


def _of_all(player: str, links: Sequence[Tie]) -> Iterator[str]:
    """Counts and order: how many accuse the player, who claimed to be the seer, who was first."""
    each = dict.fromkeys((one.source, one.said(_ONE, "it")) for one in links if one.target == player)
    for said, count in Counter(said for _, said in each).items():
        if count > 1:
            yield f"{said} (by {_most(count)})"
    seers = list(dict.fromkeys(link.source for link in links if _is_seer(link)))
    if player in seers:
        alone, first = "it alone claims to be the seer", "it was the first to claim to be the seer"
        later = "it claims to be the seer after somebody else did"
        yield alone if len(seers) == 1 else first if seers[0] == player else later
    else:
        yield f"others claim to be the seer: {_most(len(seers))}" if seers else "nobody claims to be the seer"
    against = [link for link in links if is_against(link) and link.source != link.target]
    for who, whom in {(link.source, link.target): None for link in against}:
        if who == player:
            met = any(link.source == whom and link.target == who for link in against)
            yield "it and another accuse each other" if met else "it accuses somebody who does not accuse it"
        elif whom != player:
            yield "others accuse each other"
    if not against:
        yield "nobody accuses anybody"
        return
    first_of = "it was the first to accuse" if against[0].source == player else "it was the first to be accused"
    mine = player in (against[0].source, against[0].target)
    yield first_of if mine else "the first accusation was between others"
    yield f"players who accuse it: {_most(len({link.source for link in against if link.target == player}))}"
    yield f"players whom it accuses: {_most(len({link.target for link in against if link.source == player}))}"


def _of_turns(player: str, turns: Sequence[TranscriptTurn], votes: bool) -> Iterator[str]:
    said = [turn for turn in turns if turn.kind == SAID]
    own = [turn for turn in said if turn.player == player]
    yield f"times it spoke: {_most(len(own))}"
    for turn in turns:
        if turn.player == player and (turn.kind in (SILENT, KILLED) or (votes and turn.kind == EXILED)):
            yield _LEFT[turn.kind]
    if said and said[0].player == player:
        yield "it spoke first"
    speakers = len({turn.player for turn in said})
    if len(said) < _TELLING * speakers:
        return  # until then, who has said more depends only on whose turn it was
    often = _beside(len(own) * speakers, len(said), "less often than", "about as often as", "more often than")
    yield f"it speaks {often} the others"
    if own:
        length = sum(len(turn.text) for turn in own) / len(own)
        usual = sum(len(turn.text) for turn in said)
        long = _beside(length * len(said), usual, "shorter than is", "about as long as is", "longer than is")
        yield f"its statements are {long} usual in the game"


def _beside(own: float, usual: float, less: str, alike: str, more: str) -> str:
    """Relative to the norm of the game: less than two thirds, more than one and a half times, or between."""
    return less if own * 1.5 < usual else more if own > usual * 1.5 else alike


def _most(count: int) -> str:
    return f"{_MANY} or more" if count >= _MANY else str(count)


def _sized(number: int) -> str:
    """The range of numbers with as many binary digits."""
    digits = number.bit_length()
    return f"{2 ** (digits - 1)} to {2**digits - 1}" if digits > 1 else str(number)


def _of_statement(turns: Sequence[TranscriptTurn], focus: int) -> Iterator[str]:
    """How long a statement is, when it comes, and its place in the conversation of those who hear it."""
    asked = turns[focus]
    heard = [turn for turn in turns[:focus] if turn.kind == SAID and turn.audience == asked.audience]
    yield f"words of the statement: {_sized(len(asked.text.split()))}"
    yield f"it is day {asked.day}" if asked.day < _LATE else f"it is day {_LATE} or later"
    yield f"statements before it in its conversation: {_sized(len(heard))}"
    after = "it answers somebody" if heard and heard[-1].player != asked.player else "it goes on after words of its own"
    yield after if heard else "it opens the conversation"
    if asked.text.rstrip().endswith("?"):
        yield "it asks a question"


def _is_seer(link: Tie) -> bool:
    return link.source == link.target and link.value == SEER


def is_against(link: Tie) -> bool:
    """Whether a claim or a vote speaks against its target."""
    return link.value == EVIL or link.kind in (VOTED, "vote")
