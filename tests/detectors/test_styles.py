"""Styles change how a statement is said and not what it says; training and reports use them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liescope import bench, evaluate
from liescope.common.errors import UsageError
from liescope.detectors.detector import Detector
from liescope.detectors.examples import Example, make_examples, read_statements
from liescope.detectors.kinds.probe import ProbeDetector, ProbeOptions
from liescope.detectors.kinds.tfidf import TfidfDetector
from liescope.detectors.probing.styles import STYLES, doubled, in_style, styled
from liescope.detectors.text_form import TextConfig, textualize
from liescope.detectors.view.transcript import SAID, VOTED, GameMoment, Transcript, TranscriptTurn

NAMES = ("Will", "Annabelle", "A", "Ok")
TEXTS = (
    "I'm not the werewolf, and Annabelle can't be one! On day 12 we found 3 votes against Will, never 4.",
    'Ok and A didn\'t trust anyone; yeah, nobody was certain because the detective said "no".',
    "No.",
    "The only thing that isn't true is what Annabelle told you about yesterday's vote of 7 to 5.",
)
KEPT = ("not", "never", "no", "only", "12", "3", "4", "7", "5", "Will", "Annabelle", "A", "Ok")
FRAMED = ("formal", "slang", "foreign frame", "wordy", "Markdown")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("style", STYLES)
def test_names_numbers_and_negations_stay_and_nothing_is_negated_or_hedged(style: str) -> None:
    for seed in range(20):
        for text in TEXTS:
            found = styled(text, style, NAMES, seed)
            assert found != text or style in ("typos", "terse")
            spelled = words(found.replace("n't", " not").replace("N'T", " not").replace("cannot", "can not").casefold())
            plain = words(text.replace("n't", " not").casefold())
            for word in map(str.casefold, KEPT):
                # "a" as an article may go, or come in a frame
                assert spelled.count(word) == plain.count(word) or word in ("a", "ok"), (word, found)
            assert not {"maybe", "perhaps", "probably", "think", "honestly", "truly"} & {*spelled} - {*plain}


def test_a_name_that_is_also_an_article_or_a_casual_word_stays() -> None:
    assert styled("A trusts the doctor.", "terse", NAMES) == "A trusts doctor"
    assert "Ok and A" in styled(TEXTS[1], "formal", NAMES)
    assert not re.search(r"\bOk\b", styled("Ok, I vote.", "formal"))
    for seed in range(40):
        assert "Annabelle" in styled("Annabelle Annabelle", "typos", NAMES, seed)


@pytest.mark.parametrize("style", STYLES)
def test_a_style_shows_is_the_same_again_and_depends_on_its_seed_alone(style: str) -> None:
    text = " ".join(TEXTS)
    found = [styled(text, style, NAMES, seed) for seed in range(12)]
    assert found == [styled(text, style, NAMES, seed) for seed in range(12)]
    assert text not in found or style in FRAMED
    assert (len({*found}) > 1) == (style not in ("terse", "capitals"))
    assert styled("", style) == ""


def test_a_statement_in_a_style_keeps_its_context_and_a_game_is_in_that_style_as_far_as_it_is_said() -> None:
    turns = (TranscriptTurn(SAID, "Will", TEXTS[0], key="1"), TranscriptTurn(VOTED, "Will", target="A"))
    game = Transcript("g", NAMES, (*turns, TranscriptTurn(SAID, "A", TEXTS[1], key="2")))
    one = Example("2", "g", "A", "m", TEXTS[1], NAMES, (("Will", TEXTS[0]),), seen=GameMoment(game, 3))
    found, other = in_style([one, one], "capitals")
    assert (found.text, found.context) == (TEXTS[1].upper()[:-1] + "!!", one.context)
    assert found.seen
    assert found.seen.upto == 3
    assert found.seen.transcript is other.seen.transcript  # type: ignore[union-attr]
    said = [turn.text for turn in found.seen.transcript.turns]
    assert said == [styled(TEXTS[0], "capitals", NAMES), "", found.text]
    assert "player" in textualize(found, TextConfig())  # names are found in capitals too


def test_doubling_adds_each_statement_once_in_another_style_with_its_label_and_group() -> None:
    examples = [Example(f"{at}", "g", "Will", "m", f"{TEXTS[0]} {at}", NAMES) for at in range(60)]
    y, groups = np.arange(60) % 3 == 0, np.array([f"{at // 6}" for at in range(60)])
    more, labels, of = doubled(examples, y, groups, seed=3)
    assert more[:60] == examples
    assert [one.statement_id for one in more[60:]] == [one.statement_id for one in examples]
    assert np.array_equal(labels, np.r_[y, y])
    assert np.array_equal(of, np.r_[groups, groups])
    drawn = {
        name
        for name in STYLES
        for one, new in zip(examples, more[60:], strict=True)
        if styled(one.text, name, NAMES, 3) == new.text
    }
    assert drawn == {*STYLES}


def in_report(rows: Any, scorer: str) -> dict[str, dict[str, Any]]:
    """By style, the ranking within games and the difference from that as written."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        style = row.where.partition("style=")[2]
        if style and row.scorer == scorer and row.metric in ("auroc_within", "auroc_within_difference"):
            found.setdefault(style, {})["apart" if row.against else "value"] = row
    return found


def test_a_report_tells_what_each_style_costs_with_a_paired_interval(model: Path, corpus: Path, tmp_path: Path) -> None:
    """Word counts mind no capitals, and mistyped words are others."""
    out = tmp_path / "report"
    found = evaluate(model, corpus, split="test", styles=True, out=out)
    shifts = in_report(found.rows, model.name)
    assert list(shifts) == ["as written", *STYLES]
    plain = shifts["as written"]["value"]
    whole = next(
        row for row in found.rows if (row.scorer, row.metric, row.where) == (model.name, "auroc_within", "test")
    )
    assert (plain.value, plain.statements) == (whole.value, whole.statements)
    for style in STYLES:
        row, apart = shifts[style]["value"], shifts[style]["apart"]
        assert apart.value == pytest.approx(row.value - plain.value)
        assert apart.statements == plain.statements
        assert apart.lo <= apart.value <= apart.hi
    assert shifts["capitals"]["apart"].value == 0
    assert shifts["typos"]["value"].value < plain.value
    assert "less as written" in (out / "report.md").read_text()
    with pytest.raises(UsageError, match="leave --states or --styles out"):
        evaluate(model, corpus, styles=True, states="runs/kept")
    assert not in_report(evaluate(model, corpus, split="test").rows, model.name)


@pytest.mark.long
def test_a_detector_that_learns_in_a_bench_learns_the_statements_as_written_and_is_tried_in_every_style(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    fit = TfidfDetector.fit

    def listening(self: TfidfDetector, examples: Any, *more: Any) -> Detector:
        heard.extend(one.text for one in examples)
        return fit(self, examples, *more)

    monkeypatch.setattr(TfidfDetector, "fit", listening)
    suite = tmp_path / "suite.toml"
    suite.write_text(f'[[data]]\nname = "own"\nfile = "{corpus.name}"\ntarget = "role"\n')
    found = bench("tfidf", suite=suite, data=corpus.parent, styles=True, leave_out=["model"], out=tmp_path / "out")
    shifts = in_report(found.rows, "tfidf (other groups)")
    assert list(shifts) == ["as written", *STYLES]
    assert shifts["capitals"]["apart"].value == 0
    assert shifts["typos"]["apart"].hi < 0
    assert {*heard} <= {one.text for one in every_example(corpus)}
    page = (tmp_path / "out" / "report.md").read_text()
    assert "In other styles" in page
    assert f"Tried on at most {len(every_example(corpus)):,} statements" in page


def every_example(corpus: Path) -> tuple[Example, ...]:
    return make_examples(read_statements(corpus), 0)


def test_a_probe_reads_each_statement_of_its_training_in_a_second_style_and_no_other(
    corpus: Path, tiny_lm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    reads = ProbeDetector._read

    def counted(self: ProbeDetector, examples: Any, *more: Any, **named: Any) -> Any:
        read.append(len(examples))
        return reads(self, examples, *more, **named)

    monkeypatch.setattr(ProbeDetector, "_read", counted)
    some = every_example(corpus)[:30]
    y, groups = np.arange(30) % 2 == 0, np.array([f"{at // 3}" for at in range(30)])
    for styles in (False, True):
        detector = ProbeDetector(TextConfig(), ProbeOptions(model=str(tiny_lm), layer=1, styles=styles))
        detector.fit(some, y, groups).predict_proba(some)
    assert read == [30, 30, 60, 30]
