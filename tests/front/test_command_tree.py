"""Every command alike: its help fits a screen, all of it is to be had, and a config file gives what can be typed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest

from liescope import cli
from liescope.common.command_help import LONGEST, Command
from liescope.common.config_file import NEVER, Parameter

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "transformers", "sentence_transformers", "pymc", "arviz", "nutpie", "matplotlib", "datasets"}
Help = Callable[..., list[str]]


@cache
def tree() -> dict[str, Command]:
    return {name: each for name, each in cli.command_line([]).commands.items() if isinstance(each, Command)}


COMMANDS = list(tree())
KINDS = [
    (name, *(["--" + kinds.parameter] if kinds.parameter in ("to", "detector") else []), kind)
    for name, command in tree().items()
    if (kinds := command.declared.kinds)
    for kind in kinds.lines()
]


@pytest.fixture
def page(capsys: pytest.CaptureFixture[str]) -> Help:
    def shown(*words: str) -> list[str]:
        assert cli.main(words) == 0
        return capsys.readouterr().out.splitlines()

    return shown


def options(command: Command) -> list[str]:
    return [option for param in command.params for option in param.opts if option.startswith("--")]


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS), *KINDS], ids=" ".join)
def test_help_fits_a_screen_of_80_columns_and_60_lines(words: Sequence[str], page: Help) -> None:
    lines = page(*words, "--help")
    assert len(lines) <= LONGEST == 60
    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_stands_in_the_whole_help_beside_what_it_does(name: str, page: Help) -> None:
    lines = page(name, "--help-all")
    assert max(map(len, lines)) <= 80
    shown = [line.split()[0].replace("--[no-]", "--") for line in lines if line.startswith("  --")]
    assert sorted(shown) == sorted([*options(tree()[name]), "--help"])


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_has_no_room_is_named_and_none_is_lost(name: str, page: Help) -> None:
    command, text = tree()[name], " ".join(page(name, "--help")).replace("--[no-]", "--")
    of_kinds = {each.name for each in command.declared.settings.values() if each.by_kind}
    for param in command.params:
        if param.name not in of_kinds:
            assert all(option in text for option in param.opts if option.startswith("--"))


@pytest.mark.parametrize("words", KINDS, ids=" ".join)
def test_the_help_of_a_kind_has_its_options_and_those_of_no_other(words: Sequence[str], page: Help) -> None:
    *_, kind = words
    shown = " ".join(page(*words, "--help"))
    text = re.split(r"[\s,]+|\.\s", shown[shown.index(" Options") :].replace("--[no-]", "--"))
    for setting in tree()[words[0]].declared.settings.values():
        if setting.by_kind:
            assert (setting.option in text) == (kind in setting.by_kind)


def test_the_help_of_all_says_each_command_in_a_sentence_and_in_the_order_of_work(page: Help) -> None:
    lines = page("--help")
    named = [line.split()[0] for line in lines if line.startswith("  ") and line[2:3].islower()]
    assert named == COMMANDS
    order = ["import", "play", "build", "train", "evaluate", "publish"]
    assert [name for name in named if name in order] == order


def test_the_help_of_all_is_that_of_each_command_and_loads_none_of_them() -> None:
    listed = cli.command_line(["--help"]).commands
    assert {name: each.help for name, each in listed.items()} == {name: each.help for name, each in tree().items()}
    code = """
import sys
from liescope import cli
assert cli.main(["--help"]) == 0
print("loaded:", *sys.modules.keys() & {"polars", "scipy", *cli._MODULES.values()})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"


def test_without_a_command_there_is_the_help_of_all(page: Help) -> None:
    assert page() == page("--help")


def test_the_usage_of_a_kind_names_it(page: Help) -> None:
    assert page("train", "linear", "--help")[0].startswith("Usage: liescope train linear --corpus CORPUS --out PATH")
    assert page("train", "--help")[0].startswith("Usage: liescope train [KIND] ")


@pytest.mark.parametrize("columns", [20, 40, 140])
def test_help_is_there_for_any_terminal(columns: int, page: Help, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = page("evaluate", "--help")
    assert {line.split()[0] for line in lines if line.startswith("  --")} >= {"--corpus", "--judge", "--help"}
    assert max(map(len, lines)) <= max(min(columns, 100), 60)


def test_no_help_loads_what_it_does_not_need() -> None:
    code = f"""
import sys
from liescope import cli
for name in {COMMANDS!r}:
    assert cli.main([name, "--help"]) == 0
print("loaded:", *sorted(sys.modules.keys() & {HEAVY!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "--corpsu", "x"), "No such option: --corpsu. Did you mean --corpus?"),
        (("train", "linear", "--corpus"), "requires an argument. (see liescope train --help)"),
        (("train", "--zzz"), "No such option: --zzz. (see liescope train --help)"),
        (("trian",), "Did you mean 'train'"),
        (("train", "linaer", "--corpus", "x", "--out", "y"), "Did you mean 'linear'?"),
        (("export", "x", "--to", "inspct", "--out", "y"), "Did you mean 'inspect'?"),
        (("import", "jsnl", "x", "--out", "y"), "Did you mean 'jsonl'?"),
        (("play", "werewolff", "--out", "y"), "Did you mean 'werewolf'?"),
    ],
)
def test_a_slip_is_answered_with_the_name_that_was_meant(
    words: Sequence[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == 1
    assert said in capsys.readouterr().err


def some(parameter: Parameter) -> Any:
    """A value that a parameter may have, as TOML has it."""
    kind, setting = parameter.type, parameter.setting
    if get_origin(kind) is list:
        return [_one(get_args(kind)[0])] * 2
    if get_origin(kind) is tuple:
        return [_one(each) for each in get_args(kind)]
    if setting is not None and get_args(setting.type):
        return get_args(setting.type)[0]
    limits = [each for each in (setting and setting.at_least, setting and setting.at_most) if each is not None]
    return type(_one(kind))(limits[0]) if limits and kind in (int, float) else _one(kind)


def _one(kind: Any) -> Any:
    return {bool: True, int: 3, float: 0.5}.get(kind, "words")


def written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def taken(name: str, *words: str) -> dict[str, Any]:
    """What the function of a command is given for these words; nothing is run."""
    command = tree()[name]
    with command.make_context(name, list(words)) as context:
        return dict(context.params)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_config_file_gives_a_command_all_that_can_be_typed_and_what_is_typed_wins(name: str, tmp_path: Path) -> None:
    file, command = tmp_path / "all.toml", tree()[name]
    given = {each.name: (each, some(each)) for each in command.parameters if each.name not in NEVER}
    assert given
    lines = [f"{each.key} = {written(value)}" for each, value in given.values()]
    file.write_text("\n".join([f"[{name}]", *lines]), encoding="utf-8")
    params = taken(name, "--config", str(file))
    for parameter, value in given.values():
        found = params[parameter.name]
        assert [*map(str, found)] == [*map(str, value)] if isinstance(value, list) else str(found) == str(value)
    out = next((each for each, _ in given.values() if each.key == "out"), None)
    if out is not None:
        assert str(taken(name, "--config", str(file), "--out", "typed")[out.name]) == "typed"


def test_the_file_in_the_docs_is_one(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    file.write_text(page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    assert taken("train", "--config", str(file), "--no-mask-role-words")["strength"] == 2.0
    assert taken("evaluate", "--config", str(file))["observers"] is True


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("key", ["allow_key", "config", "api_key", "hf_token", "no_such_option"])
def test_a_config_file_gives_no_command_a_key_or_what_it_does_not_know(
    name: str, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(f"[{name}]\n{key} = 'words'\n", encoding="utf-8")
    assert cli.main([name, "--config", str(file)]) == 1
    said = capsys.readouterr().err
    assert str(file) in said
    assert key in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[train]\nfolds = 'five'", "[train] folds must be a whole number, got 'five'"),
        ("[train]\nfolds = -1", "[train] folds: --folds must be 0 or more, got -1"),
        ("[train]\nmask_names = 1", "[train] mask_names must be true or false, got 1"),
        ("[train]\nstrength = [1.0]", "[train] strength must be a number, got [1.0]"),
        ("[train]\ntarget = ['role']", "[train] target must be a text, got ['role']"),
        ("[train]\nmask-nmaes = true", "Did you mean 'mask_names'?"),
        ("[train]\nmask-names = true\nmask_names = false", "stands there twice"),
        ("[fit]\ndrawn_votes = 'some'", "unknown value of --drawn-votes 'some'; the choices are: keep, leave-out."),
        ("[show]\nprompt = [1]", "[show] prompt must be a list of 2 values, got [1]"),
        ("[train]\ncorpus = 'hf_abcdefghijklmnopqrstuvwxyz0123456789'", "holds what looks like a Hugging Face token"),
        ("train = 3", "has no section [train]"),
        ("[train", "cannot be read as a config file"),
    ],
)
def test_a_mistake_in_a_config_file_names_file_key_and_what_is_allowed(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mistaken.toml"
    file.write_text(text, encoding="utf-8")
    command = text.strip("[").split("]")[0].split()[0]
    assert cli.main([command, "--config", str(file)]) == 1
    line = capsys.readouterr().err
    assert said in line
    assert str(file) in line
    assert "hf_abc" not in line
