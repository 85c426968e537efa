"""The command line: help, slips, exit codes, completion, and a config file that gives what can be typed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from typer.core import TyperCommand

from liescope import cli
from liescope.common.command_options import config_parameters
from liescope.common.config_file import NEVER, Parameter
from liescope.common.text import first_sentence
from liescope.detectors.detector_registry import DETECTORS
from liescope.games.game_registry import GAMES
from liescope.generate.exports.exporting import EXPORTERS
from liescope.generate.importers.importing import IMPORTERS
from liescope.generate.runs.journal import Journal

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "transformers", "sentence_transformers", "pymc", "arviz", "matplotlib", "datasets"}
HEAVY |= {"scipy", "sklearn", "pandas", "aiohttp", "openai", "httpx"}
MOST_MODULES = 980
KINDS = {"train": DETECTORS, "play": GAMES, "import": IMPORTERS, "export": EXPORTERS}


@cache
def tree() -> dict[str, TyperCommand]:
    return {name: each for name, each in cli.command_line([]).commands.items() if isinstance(each, TyperCommand)}


COMMANDS = list(tree())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_has_its_example_and_each_option_under_its_heading_in_80_columns(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([name, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    text = " ".join(lines)
    assert f"liescope {name}" in text.partition("Example: ")[2]
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if re.search("[a-z]…", re.sub(r"--no-[\w-]*…", "", line))]
    assert all(option in text for param in tree()[name].params for option in param.opts if option.startswith("--"))
    groups = {setting.group for setting in getattr(tree()[name].callback, "settings", {}).values()}
    assert all(f"─ {group[:60]}" in text for group in groups if group)
    assert all(f"{kind}: " in text for kind in KINDS.get(name, ()))


def test_the_help_of_all_says_each_command_in_the_first_sentence_of_its_own_and_loads_none() -> None:
    listed = cli.command_line(["--help"]).commands
    assert {name: each.short_help for name, each in listed.items()} == {
        name: first_sentence(each.help or "") for name, each in tree().items()
    }
    order = ["import", "play", "build", "train", "evaluate", "publish"]
    assert [name for name in listed if name in order] == order
    code = """
import sys
from liescope import cli
assert cli.main([]) == cli.main(["--help"]) == 0
print("loaded:", *sys.modules.keys() & {"polars", "numpy", *cli._MODULES.values()})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    first, second = done.stdout.split("loaded:")[0].split("Usage: ")[1:]
    assert first.split() == second.split()
    assert done.stdout.splitlines()[-1].strip() == "loaded:"


def test_the_help_of_a_command_loads_few_modules_and_nothing_that_only_work_needs() -> None:
    code = f"""
import os, sys
from liescope import cli
for name in {COMMANDS!r}:
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0
        continue
    sys.stdout = open(os.devnull, "w")
    assert cli.main([name, "--help"]) == 0
    found = [len(sys.modules), *sorted(sys.modules.keys() & {HEAVY!r}), name]
    print(*found, sep="\\t", file=sys.stderr, flush=True)
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    found = [line.split("\t") for line in done.stderr.splitlines()]
    loaded = {name: (int(number), heavy) for number, *heavy, name in found}
    assert loaded.keys() == set(COMMANDS)
    assert {name: found for name, found in loaded.items() if found[0] > MOST_MODULES or found[1]} == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "--corpsu", "x"), "No such option: --corpsu (Possible options: --chars, --corpus, --words)"),
        (("train", "linear", "--corpus"), "requires an argument. (see liescope train --help)"),
        (("train", "--zzz"), "No such option: --zzz (see liescope train --help)"),
        (("export", "x", "--to", "inspct", "--out", "y"), "Did you mean 'inspect'?"),
        (("import", "jsnl", "x", "--out", "y"), "Did you mean 'jsonl'?"),
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
    given = {each.name: (each, some(each)) for each in config_parameters(command) if each.name not in NEVER}
    assert given
    lines = [f"{each.key} = {written(value)}" for each, value in given.values()]
    file.write_text("\n".join([f'["{name}"]', *lines]), encoding="utf-8")
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
    file.write_text(f'["{name}"]\n{key} = "words"\n', encoding="utf-8")
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


def test_an_error_is_wrapped_on_a_terminal_and_a_command_in_it_stands_on_its_own_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    lines = []
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        assert cli.main(["score", str(tmp_path / "model"), "Hi."]) == 1
        lines.append(capsys.readouterr().err.splitlines())
    (plainly,), (*said, command) = lines
    assert " ".join((*said, command)) == plainly
    assert command == "liescope train"
    assert len(said) > 1


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"liescope {cli.__version__}\n"


def test_a_reader_that_leaves_ends_a_command_as_it_ends_any_tool_and_loses_no_game(tmp_path: Path) -> None:
    words = ["play", "mini-mafia", "--player", "scripted:bold", "--games", "5", "--out", str(tmp_path / "run")]
    with subprocess.Popen(
        [sys.executable, "-m", "liescope", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as playing:
        playing.stdout.close()
        said = playing.stderr.read()
        assert playing.wait(60) == 128 + signal.SIGPIPE
    assert "Traceback" not in said
    assert "Broken" not in said
    assert "error" not in said
    with Journal.open(tmp_path / "run") as journal:
        assert len(list(journal.records())) == 5


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("tra", ["train", "transfer"]),
        ("train ", [*DETECTORS]),
        ("train linear --targ", ["--target"]),
        ("train linear --target ", ["role", "claim", "promise", "gold", "self", "peer"]),
        ("transfer corpus --detector emb", ["embedding"]),
        ("play ", [*GAMES]),
        ("play mini-mafia --player ", ["scripted:novice", "scripted:steady", "scripted:bold"]),
        ("import ", [*IMPORTERS]),
        ("export runs/first --to ", [*EXPORTERS]),
        ("train linear --corpus ", []),
    ],
)
def test_names_are_completed(
    words: str, names: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_LIESCOPE_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"liescope {words}")
    with pytest.raises(SystemExit):
        cli.main([])
    found = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert set(names) <= set(found)
    assert names or not any(found)
