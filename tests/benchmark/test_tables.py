"""Reading counts from files: what is right is read whole, what is wrong is named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from liescope.benchmark.capability.count_sources import parse_counts, published_counts, published_scores, read_counts
from liescope.benchmark.capability.counts import SCHEMA
from liescope.common.errors import BadData, UsageError

HEAD = "mafioso,detective,villager,mafia_wins,games\n"
TABLE = "capability,model,a,b\nDeceive,a,30,20\nDeceive,b,40,50\nDetect,a,70,60\nDetect,b,80,50\nDisclose,a,70,1\n"


def test_columns_may_stand_in_any_order_and_equal_cells_add_up(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    text = "games,note,villager,detective,mafioso,mafia_wins\n10,x,c, b ,a,4\n\n5,,c,b,a,1\n7.0,,c,b,é,0\n"
    path.write_text(text, encoding="utf-8-sig")
    cells = read_counts(path).cells
    assert cells.rows() == [("a", "b", "c", 5, 15), ("é", "b", "c", 0, 7)]
    assert cells.schema == SCHEMA


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "mafioso"),
        (HEAD, "no counts"),
        ("mafioso,detective,villager,wins,games\na,b,c,1,2\n", "'mafia_wins'.*this file has.*wins"),
        (HEAD + "a,b,c,1,2\na,b,c,3,2\n", "line 3: 3 mafia wins in 2"),
        (HEAD + "a,b,c,0,0\n", "line 2"),
        (HEAD + "a,b,c,-1,2\n", "line 2: mafia_wins is '-1'"),
        (HEAD + "a,b,c,1.5,2\n", "line 2: mafia_wins is '1.5'"),
        (HEAD + "a,b,c,1,many\n", "line 2: games is 'many'"),
        (HEAD + "a,b,c,1,\n", "line 2: games"),
        (HEAD + "a,b,c,1," + "9" * 40 + "\n", "line 2: games"),
        (HEAD + "a,,c,1,2\n", "line 2: a cell needs the names"),
        (HEAD + "a,b,c,1\n", "line 2: 4 fields under 5 columns"),
        (HEAD + "a,b,c,1,2,3\n", "line 2: 6 fields under 5 columns"),
        ("games," + HEAD + "1,a,b,c,1,2\n", "two columns with the same name"),
        (HEAD + "a" * 200_000 + ",b,c,1,2\n", "cannot be read as CSV"),
        ("capability,model,a\nCharm,a,3\n", "line 2: capability must be one of deceive"),
        ("capability,model,a\nDeceive,a,101\n", "line 2: 101 wins"),
    ],
)
def test_what_cannot_be_counts_is_named(text: str, names: str) -> None:
    with pytest.raises(BadData, match=names):
        parse_counts(text, "counts.csv")


def test_a_file_that_is_not_there_or_not_text_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*none\.csv"):
        read_counts(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(BadData, match="UTF-8"):
        read_counts(tmp_path / "binary.csv")


def test_the_papers_tables_give_each_cell_once_and_count_mafia_wins() -> None:
    cells = parse_counts(TABLE, "tables.csv")
    assert cells.rows() == [
        ("a", "a", "a", 30, 100),
        ("a", "a", "b", 20, 100),
        ("a", "b", "b", 20, 100),
        ("b", "a", "a", 40, 100),
        ("b", "a", "b", 99, 100),
        ("b", "b", "a", 40, 100),
        ("b", "b", "b", 50, 100),
    ]


def test_tables_that_disagree_on_a_model_against_itself_are_refused_and_every_such_cell_is_named() -> None:
    # The printed paper has these three numbers for the same hundred games.
    printed = "capability,model,GPT-5 Mini\nDeceive,GPT-5 Mini,35\nDetect,GPT-5 Mini,65\nDisclose,GPT-5 Mini,72\n"
    with pytest.raises(BadData) as error:
        parse_counts(printed, "tables.csv")
    assert str(error.value) == (
        "tables.csv says different things about the same 100 games; correct the file. mafioso GPT-5 Mini, detective "
        "GPT-5 Mini, villager GPT-5 Mini: line 2 (deceive) has 35 wins of the mafia; line 3 (detect) has 65 wins of "
        "the town, so 35 of the mafia; line 4 (disclose) has 72 wins of the town, so 28 of the mafia"
    )
    twice = TABLE.replace("Detect,a,70", "Detect,a,71").replace("Detect,b,80,50", "Detect,b,80,49")
    with pytest.raises(BadData, match=r"mafioso a, .* \(detect\) has 71 .*mafioso b, .* \(detect\) has 49 wins"):
        parse_counts(twice, "tables.csv")


def test_a_file_full_of_contradictions_is_named_in_part() -> None:
    rows = [f"{role},m,{','.join([count] * 30)}" for role, count in (("Deceive", "1"), ("Deceive", "2"))]
    text = "\n".join([f"capability,model,{','.join(f'b{n}' for n in range(30))}", *rows])
    with pytest.raises(BadData, match=r"b19, .*and 10 more$"):
        parse_counts(text, "tables.csv")


def test_the_bundled_counts_are_the_papers_fourteen_thousand_games() -> None:
    cells = published_counts()
    assert cells.height == 140
    assert cells["games"].to_list() == [100] * 140
    assert cells["mafia_wins"].sum() / 14_000 == pytest.approx(0.3541, abs=0.0001)


def test_the_bundled_scores_are_rescaled_as_the_fit_is() -> None:
    scores = published_scores()
    assert scores.height == 10
    assert scores["m"].mean() == pytest.approx(0.0, abs=1e-5)
    assert scores["v"].mean() == pytest.approx(1.0, abs=1e-5)


def test_the_bundled_figures_equal_the_published_files(shared_data: Path) -> None:
    assert read_counts(shared_data / "mini_mafia" / "win_counts.csv").cells.equals(published_counts())
    reference = json.loads((shared_data / "mini_mafia" / "reference.json").read_text(encoding="utf-8"))
    for row in published_scores().to_dicts():
        theirs = reference["capability"]["scores"][row["model"]]
        for name, capability in (("m", "Deceive"), ("d", "Disclose"), ("v", "Detect")):
            assert row[name] == pytest.approx(theirs[capability], abs=1e-6)
            assert row[f"{name}_sd"] == pytest.approx(theirs[f"{capability}_Error"], abs=1e-6)
