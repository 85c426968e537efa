"""The words: variety, shared vocabulary, deception of every kind, and that listeners read what speakers mean."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from liescope.games.core import EventKind
from liescope.games.mafia.script import WORDS
from liescope.games.script.grammar import CLOSERS, FRAMES, OPENERS, REASONS, REMARKS, compose
from liescope.games.script.hearing import read, tone
from liescope.games.script.persona import PROFILES
from liescope.games.taxonomy import DeceptionType
from liescope.games.werewolf.script import WORDS as WOLVES

Play = Callable[..., Any]
MOVES = WORDS.moves
NAMES = ("Alice", "Bob", "Charlie", "Diana")
WHO = {"x": "Bob", "y": "Charlie", "dead": "Diana"}


@pytest.fixture(scope="module")
def said(play: Play) -> list[tuple[str, str, dict[str, str]]]:
    """(role, text, private) of every statement of 450 games between all profiles."""
    found = []
    names = list(PROFILES)
    for seed in range(450):
        draw = Random(seed)
        players = {role: draw.choice(names) for role in ("mafioso", "detective", "villager")}
        played = play(seed, **players)
        for event in played.game.events:
            if event.kind is EventKind.STATEMENT:
                found.append((played.game.roles[event.actor], event.text, event.data["private"]))
    return found


@pytest.mark.parametrize("move", MOVES)
def test_every_move_has_hundreds_of_surface_forms(move: str) -> None:
    random = Random(1)
    texts = {compose([move], [WHO], random.gauss(0, 1), random, WORDS).text(None) for _ in range(2000)}
    assert len(texts) >= 500


def test_statements_fit_a_message_and_are_written_out(said: list[tuple[str, str, dict[str, str]]]) -> None:
    assert all(len(text) <= 200 for _, text, _ in said)
    assert not [text for _, text, _ in said if re.search(r"[{}<>]|  |\.\.|,\.", text)]
    assert all(text[0].isupper() and text[-1] in ".?!" for _, text, _ in said)
    assert len({text for _, text, _ in said}) > 0.95 * len(said)


def test_short_limits_keep_the_core() -> None:
    random = Random(2)
    for _ in range(100):
        text = compose(["vote_promise"], [WHO], 1.0, random, WORDS).text(60)
        assert len(text) <= 60
        assert "vot" in text.lower()
        assert "Bob" in text


def test_no_single_word_gives_the_role_away(said: list[tuple[str, str, dict[str, str]]]) -> None:
    """AUROC of "the word occurs" for "the speaker is a mafioso" stays within 0.06 of chance for every word."""
    counts = {True: Counter[str](), False: Counter[str]()}
    size = Counter[bool]()
    for role, text, _ in said:
        lies = role == "mafioso"
        size[lies] += 1
        counts[lies].update(set(re.findall(r"[\w']+", text.lower())))
    worst = {
        word: abs(counts[True][word] / size[True] - counts[False][word] / size[False]) / 2
        for word in counts[True] | counts[False]
    }
    assert max(worst.values()) < 0.06


def test_all_eight_types_occur_and_mafiosos_also_say_true_things(said: list[tuple[str, str, dict[str, str]]]) -> None:
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for role, _, private in said:
        types[role][private["planted_type"]] += 1
    everything = {kind.value for kind in DeceptionType}
    assert set(types["mafioso"]) == everything
    assert min(types["mafioso"].values()) > 0.03 * types["mafioso"].total()
    for role in ("detective", "villager"):
        assert types[role]["none"] > 0.7 * types[role].total()
        assert types[role]["none"] < types[role].total()


def test_every_move_is_made_by_every_role(said: list[tuple[str, str, dict[str, str]]]) -> None:
    moves: dict[str, set[str]] = defaultdict(set)
    for role, _, private in said:
        moves[role].update(move.split("/")[0] for move in private["intent"].split("+"))
    everything = {move.split("/")[0] for move in MOVES}
    assert moves["mafioso"] == everything
    assert everything - moves["villager"] <= {"report_investigation"}
    assert moves["detective"] == everything


def test_a_hiding_detective_omits_and_a_better_discloser_hides_less(play: Play) -> None:
    def hidden(d: float) -> int:
        return sum(
            event.data["private"]["planted_type"] == "omission"
            for seed in range(80)
            for played in [play(seed, detective=f"steady?d={d}")]
            for event in played.game.events
            if event.kind is EventKind.STATEMENT and played.game.roles[event.actor] == "detective"
        )

    assert hidden(-1.5) > 2 * hidden(1.5) > 0


@pytest.mark.parametrize("fragments", [OPENERS, FRAMES, REASONS, REMARKS, CLOSERS])
def test_fragments_sound_firm_shaky_or_neither(fragments: tuple[str, ...]) -> None:
    tones = Counter(map(tone, fragments))
    assert set(tones) == {-1, 0, 1}
    assert min(tones.values()) >= 7


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("strength", [-1.5, -0.5, 0.0, 0.8, 1.5])
def test_a_statement_sounds_as_strong_as_meant(move: str, strength: float) -> None:
    random = Random(3)
    heard = [read(compose([move], [WHO], strength, random, WORDS).text(200), NAMES).strength for _ in range(300)]
    assert sum(heard) / len(heard) == pytest.approx(strength, abs=0.2)


CHARGES = ("accuse", "doubt", "vote_promise", "report_investigation/guilty", "report/guilty", "vote/")
SUPPORT = ("defend", "agree", "report_investigation/clean", "report/clean")
NEITHER = ("suspect_jester", "odd", "claim_villager", "small_talk", "question")


@pytest.mark.parametrize(
    ("words", "move"), [(words, move) for words in (WORDS, WOLVES) for move in sorted(words.moves)]
)
def test_listeners_hear_charges_and_support_as_they_are_meant(words: Any, move: str) -> None:
    random = Random(4)
    heard = [read(compose([move], [WHO], 0.5, random, words).text(200), NAMES) for _ in range(300)]
    accused, cleared, others = (
        sum(map(said, heard)) / len(heard)
        for said in (
            lambda reading: "Bob" in dict(reading.accused),
            lambda reading: "Bob" in reading.cleared,
            lambda reading: bool(dict(reading.accused).keys() - {"Bob"}),
        )
    )
    if move.startswith(CHARGES):
        assert accused > 0.9
        assert others < 0.05
    elif move in SUPPORT:
        assert cleared > 0.85
        assert accused < 0.05
    elif move in NEITHER:
        assert accused < 0.1


@pytest.mark.parametrize(
    ("text", "accused", "cleared", "role"),
    [
        ("I'm the detective, and I investigated Bob: he is the mafioso!", {"Bob"}, set(), "detective"),
        ("Bob is not the mafioso, Charlie is.", set(), {"Bob"}, ""),
        ("I agree with Bob that Charlie is mafia", {"Charlie"}, {"Bob"}, ""),
        ("**Bob** looks suspicious to me; I'm voting for Bob", {"Bob"}, set(), ""),
        ("I’m just a villager. I don't trust Charlie.", {"Charlie"}, set(), "villager"),
        ("Bob says Charlie is the mafioso", set(), set(), ""),
        ("I'm not voting for Bob, there is no doubt that Charlie spoke first", set(), set(), ""),
        ("Bobby is guilty", set(), set(), ""),
        ("What a lovely day", set(), set(), ""),
        ("", set(), set(), ""),
    ],
)
def test_other_peoples_words_are_read_too(text: str, accused: set[str], cleared: set[str], role: str) -> None:
    reading = read(text, NAMES)
    assert {name for name, _ in reading.accused} == accused
    assert set(reading.cleared) == cleared
    assert reading.role == role


def test_hostile_text_is_read_in_bounds() -> None:
    for text in ("\x00\u202e" * 1000, "Bob " * 20000, "certain " * 10000, "I'm not " * 10000):
        assert abs(read(text, NAMES).strength) <= 2.5
