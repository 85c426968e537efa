"""Claims are found in what speakers state as facts, whatever the players are called, and in nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liescope.labeling.accusing import accused
from liescope.labeling.claims import find_claims
from liescope.labeling.masking import MaskedText

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin")
SENTENCES = [
    json.loads(line)
    for name in ("claims_of_sentences.jsonl", "words_of_others.jsonl")
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
]


def found(text: str, game: str = "mafia", names: tuple[str, ...] = NAMES) -> set[tuple[str, str, str]]:
    """The claims of the first of the players."""
    return {(claim.kind, claim.subject, claim.value) for claim in find_claims(text, names[0], names, game)}


@pytest.mark.parametrize("row", SENTENCES, ids=lambda row: row["text"])
def test_what_is_stated_is_found_and_nothing_that_is_asked_supposed_reported_or_only_thought(row) -> None:
    expected = set(map(tuple, row["claims"]))
    assert found(row["text"], row["game"]) == expected
    if row["game"] == "werewolf":  # whose other rules read alike
        assert found(row["text"], "dyadic-werewolf") == expected


@pytest.mark.parametrize(
    "names",
    [
        ("Will", "May", "Mark", "Hope", "Joy"),
        ("Zoë", "O’Brien", "李雷", "Ann-Marie", "X"),
        ("a.b", "(x)", "A+", "x|y", "[z]"),
    ],
)
def test_renaming_the_players_renames_the_claims(names: tuple[str, ...]) -> None:
    swap = dict(zip(NAMES, names, strict=True))
    for row in SENTENCES:
        renamed = row["text"]
        for old, new in swap.items():
            renamed = renamed.replace(old, new)
        expected = {(kind, swap[subject], swap.get(value, value)) for kind, subject, value in row["claims"]}
        assert found(renamed, row["game"], names) == expected, renamed


def test_a_name_inside_a_name_is_not_that_name() -> None:
    names = ("Ann", "Anna", "Ann Lee")
    assert found("Anna is the mafioso. Ann Lee is innocent.", names=names) == {
        ("guilt", "Anna", "mafia"),
        ("innocence", "Ann Lee", "town"),
    }


def test_marks_that_nobody_sees_change_nothing() -> None:
    assert found("\u200fI\u202a am\u0007 the\tdetective\u2069.\x00") == {("role", "Alice", "detective")}
    assert found("**Bob** is the *mafioso*.") == {("guilt", "Bob", "mafia")}


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("Well, Bob is the mafioso!", ["Bob is the mafioso"]),
        ("Hmm\u2026 I\u2019m the **detective**, and Bob is mafia.", ["I\u2019m the **detective", "Bob is mafia"]),
        ('"I am innocent."', ["I am innocent"]),
        ('Bob said "I am the detective" but\u200b Bob is   the _mafioso_.', ["Bob is   the _mafioso"]),
        ("I investigated Bob last night. He is the mafioso.", ["I investigated Bob last night. He is the mafioso"]),
        ("I will vote for Bob. I\u2019m voting with Diana!", ["I will vote for Bob", "I\u2019m voting with Diana"]),
    ],
)
def test_a_claim_says_where_in_its_statement_it_was_read(text: str, quotes: list[str]) -> None:
    assert [text[claim.start : claim.end] for claim in find_claims(text, "Alice", NAMES, "mafia")] == quotes


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([*NAMES, "\u2026", "**", "\u200b", '"', " ", "a", "\u2019", ". "]), max_size=30).map(
        "".join
    )
)
def test_every_part_of_a_masked_text_comes_from_a_part_of_the_text(text: str) -> None:
    masked = MaskedText(text, NAMES)
    places = [masked.said(at, at + 1) for at in range(len(masked.text))]
    assert all(0 <= start <= end <= len(text) for start, end in places)
    assert [start for start, _ in places] == sorted(start for start, _ in places)
    named = [
        text[start:end] for (start, end), letter in zip(places, masked.text, strict=True) if letter >= "\U000f0000"
    ]
    assert all(name in NAMES for name in named)


@pytest.mark.parametrize("name", ["BOB", "bob", "Player 2", "PLAYER 2", "lime"])
def test_a_label_may_spell_a_name_as_players_do(name: str) -> None:
    names = ("Alice", "Bob", "Player 2: lime")
    assert found(f"I saw nothing.\n{name}: I am the mafioso.", names=names) == set()


def test_whose_words_a_label_marks_depends_on_who_speaks() -> None:
    log = "Alice: I am the detective.\nBob: I am the mafioso. Alice: I killed nobody.\nErin said: I am innocent."
    claimed = {who: {(claim.subject, claim.value) for claim in find_claims(log, who, NAMES, "mafia")} for who in NAMES}
    assert claimed["Alice"] == {("Alice", "detective")}
    assert claimed["Bob"] == {("Bob", "mafioso")}
    assert claimed["Erin"] == {("Erin", "town")}
    assert claimed["Charlie"] == set()


def test_whom_another_accuses_in_a_replayed_line_the_speaker_does_not_accuse() -> None:
    replayed = 'I trust nobody.\n[12:30] Bob: Diana is the mafioso.\nErin: "I suspect Diana."\n> Vote for Diana!'
    assert accused(replayed, "Alice", NAMES, "mafia") == set()
    assert accused(f"{replayed}\nAlice: 'Erin is the mafioso.'", "Alice", NAMES, "mafia") == {"Erin"}


def test_a_repeated_claim_counts_once() -> None:
    assert len(find_claims("Bob is mafia. Listen: Bob is the mafioso!", "Alice", NAMES, "mafia")) == 1


PIECES = (
    "I I'm you he is not the mafioso detective innocent investigated my investigation and if ? . , - voting for think "
    'killed as because " ’ :'
)
words = st.sampled_from([*NAMES, *PIECES.split()])


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.lists(words, max_size=40).map(" ".join)), st.sampled_from([*NAMES, "nobody", ""]))
def test_any_text_is_read_without_an_error_and_claims_are_about_players(text: str, speaker: str) -> None:
    for claim in find_claims(text, speaker, NAMES, "mafia"):
        assert claim.kind in {"role", "investigation", "innocence", "guilt", "vote", "vote_with"}
        assert claim.subject in {*NAMES, speaker}
        assert (claim.kind in {"role", "vote", "vote_with"}) or claim.subject != speaker
        assert not claim.kind.startswith("vote") or claim.value in {*NAMES, speaker, ""}
        assert 0 <= claim.start < claim.end <= len(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=6, unique=True))
def test_any_names_are_read_without_an_error_and_claims_are_about_them(names: list[str]) -> None:
    text = f"{names[0]} is the mafioso. I investigated {names[-1]} and they are innocent."
    for claim in find_claims(text, names[0], names, "mafia"):
        assert claim.subject in names
        assert 0 <= claim.start < claim.end <= len(text)
    plain = f"I'm the detective. {text}"
    assert ("role", names[0]) in {(claim.kind, claim.subject) for claim in find_claims(plain, names[0], names, "mafia")}


PIECES_WITHOUT_END = (
    *("a", " ", "I ", "Bob ", "Bob is the ", "Bob, ", '"', "I investigated Bob and ", "as the detective ", "my "),
    *("Bob: ", "\n> ", "\n[12:30] ", "<Bob> ", ". 1 2 3 ", "Bob said a ", "'I ", "```\n", 'Alice: "'),
    *("not ", "I protected ", "one of the wolves ", "the other wolf is Bob, ", "Bob and Erin "),
)


@pytest.mark.parametrize("piece", PIECES_WITHOUT_END)
@pytest.mark.timeout(30)
def test_a_hundred_kilobytes_come_to_an_end(piece: str) -> None:
    """Work grows with the length; a pattern that backtracks over the whole text would take hours."""
    for game in ("mafia", "werewolf"):
        text = "mafia investigated vote kill wolf jester protected " + piece * (100_000 // len(piece))
        assert isinstance(find_claims(text, "Alice", NAMES, game), tuple)
