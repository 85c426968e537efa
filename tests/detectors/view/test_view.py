"""What a detector sees of a game: turns in order, a candidate's fields, the claims and votes that tie players."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import liescope
from liescope.detectors.view.candidate import ABOUT, BEFORE, OWN, REST, Candidate, pieces, turns_read
from liescope.detectors.view.claim_graph import claim_graph
from liescope.detectors.view.transcript import (
    KILLED,
    SAID,
    SILENT,
    VOTED,
    GameMoment,
    Transcript,
    TranscriptTurn,
    read_transcripts,
)

NAMES = ("Ada", "Bo", "Cy", "Di")


def game(*turns: TranscriptTurn, names: tuple[str, ...] = NAMES) -> Transcript:
    return Transcript("g", names, turns, "mini-mafia", 1)


def said(player: str, text: str, *audience: str) -> TranscriptTurn:
    return TranscriptTurn(SAID, player, text, audience=frozenset(audience))


DISPUTE = game(
    TranscriptTurn(KILLED, "Di"),
    said("Ada", "I'm the detective. I investigated Bo and he is the mafioso. Poor Di."),
    said("Bo", "Ada lies. I am the detective!"),
    TranscriptTurn(SILENT, "Cy"),
    TranscriptTurn(VOTED, "Cy", target="Bo"),
)


def fields(transcript: Transcript, player: str, focus: int | None = None, window: int = 10) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    candidate = Candidate(GameMoment(transcript), player, focus)
    for at in turns_read(candidate, window):
        for field, text in pieces(candidate, at):
            found.setdefault(field, []).append(text)
    return found


def test_a_view_parts_own_words_from_what_others_say_of_the_candidate_and_the_rest() -> None:
    assert fields(DISPUTE, "Bo") == {
        OWN: ["other lies. I am the detective!"],
        ABOUT: ["I investigated candidate and he is the mafioso."],
        REST: ["I'm the detective. Poor victim."],
    }
    assert fields(DISPUTE, "Cy").keys() == {REST}


def test_no_view_holds_a_name_and_seats_do_not_matter() -> None:
    renamed = {"Ada": "Cy", "Bo": "Di", "Cy": "Ada", "Di": "Bo"}

    def swap(text: str) -> str:
        return "".join(
            renamed.get(word, word) for word in text.replace("Ada", "|Ada|").replace("Bo", "|Bo|").split("|")
        )

    turns = (TranscriptTurn(t.kind, renamed[t.player], swap(t.text.replace("Di", "|Di|")), renamed.get(t.target, ""))
             for t in DISPUTE.turns)  # fmt: skip
    other = game(*turns)
    for old, new in renamed.items():
        assert fields(DISPUTE, old) == fields(other, new)
        assert sorted(claim_graph(DISPUTE).relations(old)) == sorted(claim_graph(other).relations(new))
        assert not any(name in text for texts in fields(DISPUTE, old).values() for text in texts for name in NAMES)


def test_a_name_in_decomposed_unicode_is_still_the_candidates() -> None:
    name = unicodedata.normalize("NFD", "José")
    table = game(said("Bo", f"{name} is the mafioso."), said(name, f"I, {name}, am not."), names=(name, "Bo"))
    assert fields(table, name) == {ABOUT: ["candidate is the mafioso."], OWN: ["I, candidate, am not."]}


def test_a_question_about_a_statement_keeps_it_apart_from_what_was_said_before_and_from_what_its_hearers_missed() -> (
    None
):
    talk = game(said("Ada", "One."), said("Bo", "A secret.", "Bo", "Cy"), said("Ada", "Two."), said("Cy", "Later."))
    assert fields(talk, "Ada", focus=2) == {BEFORE: ["One."], OWN: ["Two."]}
    assert fields(talk, "Ada", focus=2, window=0) == {OWN: ["Two."]}


def test_claims_tie_a_player_to_those_it_names_and_votes_count_once_they_are_cast() -> None:
    graph = claim_graph(DISPUTE)
    first, nobody = "it was the first to claim to be the seer", "players who accuse it: 0"
    told = {"it says that itself is the seer", "it reports somebody as evil", first, nobody}
    assert told <= set(graph.relations("Ada"))
    bo = graph.relations("Bo")
    reported = {f"{who} reports it as evil" for who in ("somebody", "somebody who claims to be the seer")}
    assert {*reported, "it claims to be the seer after somebody else did", "somebody voted for it"} <= set(bo)
    assert {"times it spoke: 0", "it was silent", "others claim to be the seer: 2"} <= set(graph.relations("Cy"))
    assert not any("vote" in word for word in graph.relations("Bo", upto=4))
    assert not any("vote" in word for word in graph.relations("Bo", votes=False))
    assert "it alone claims to be the seer" in graph.relations("Ada", upto=2)


def test_a_question_about_a_statement_reads_no_claim_that_its_hearers_missed() -> None:
    asked = said("Ada", "Trust me.", "Ada", "Bo")
    elsewhere = said("Cy", "I'm the detective. Ada is the mafioso.", "Cy", "Di")
    before = said("Bo", "Cy is the mafioso.", "Ada", "Bo")
    graph, alone = claim_graph(game(elsewhere, before, asked)), claim_graph(game(before, asked))
    assert graph.relations("Ada", focus=2) == alone.relations("Ada", focus=1)
    assert graph.relations("Ada") != alone.relations("Ada"), "who deceives is asked of all that was said"


def test_how_many_deceive_is_unknown_where_cards_lie_face_down(tmp_path: Path) -> None:
    for rules in ("one-night-werewolf", "mini-mafia"):
        liescope.play(rules, players=["scripted:bold"], games=2, out=tmp_path / rules)
        liescope.build(tmp_path / rules, out=tmp_path / f"{rules} corpus")
    hidden, known = (
        {game.deceivers for game in read_transcripts(tmp_path / f"{rules} corpus").values()}
        for rules in ("one-night-werewolf", "mini-mafia")
    )
    assert (hidden, known) == ({None}, {1})


def test_a_transcript_of_a_corpus_has_every_statement_in_order_and_nothing_hidden(corpus: Path) -> None:
    games = read_transcripts(corpus)
    assert games
    for transcript in games.values():
        assert transcript.deceivers == 1
        assert [turn.kind for turn in transcript.turns].count(SAID) == 6
        spoken = [at for at, _ in transcript.said()]
        assert all(at < spoken[0] for at, turn in enumerate(transcript.turns) if turn.kind == KILLED)
        assert all(at > spoken[-1] for at, turn in enumerate(transcript.turns) if turn.kind == VOTED)
        shown = repr([turn for turn in transcript.turns if turn.kind != SAID])
        assert "mafioso" not in shown
        assert "detective" not in shown


def test_how_much_a_player_talks_is_told_beside_the_others() -> None:
    talk = game(*[said("Ada", "A long and winding speech.")] * 8, said("Bo", "No."), said("Cy", "Yes, indeed."))
    graph = claim_graph(talk)
    often, seldom = "it speaks more often than the others", "it speaks less often than the others"
    assert not {often, seldom} & set(graph.relations("Ada", upto=2))
    assert {often, "its statements are about as long as is usual in the game"} <= set(graph.relations("Ada"))
    assert {seldom, "its statements are shorter than is usual in the game"} <= set(graph.relations("Bo"))
    assert seldom in graph.relations("Di")


def test_a_statement_is_told_by_its_place_in_the_talk_of_those_who_hear_it() -> None:
    talk = game(said("Ada", "Peace?", "Ada", "Bo"), said("Cy", "Hello."), said("Bo", "Gladly.", "Ada", "Bo"))
    graph = claim_graph(talk)
    size, place = "words of the statement: 1", "statements before it in its conversation: 0"
    asks = "it asks a question"
    assert {"it opens the conversation", asks, place, size} <= set(graph.relations("Ada", 1, focus=0))
    assert {"it answers somebody", f"{place[:-1]}1"} <= set(graph.relations("Bo", 3, focus=2))
    assert asks not in graph.relations("Ada", 1)
