"""What is installed: top-level names of our own, everything that it needs, seen from beside a user's own `games/`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ["games", "labeling", "generate", "detectors", "benchmark", "data_cards"]
SCRIPT = """
import games, benchmark, generate
assert games.MINE and benchmark.MINE and generate.MINE
import liescope
assert liescope.__file__.startswith({site!r}), liescope.__file__
liescope.play("mini-mafia", players=["scripted:bold", "scripted:novice"], games=4, out="run")
liescope.build("run", out="corpus")
liescope.train("tfidf", "corpus", out="model")
print(*liescope.load("model").score(["I investigated Bob. He is the mafioso."])["text"])
import liescope.benchmark
"""
TYPED = """
from liescope.games import Outcome

outcome: Outcome = "the town won"
"""


def built(kind: str, out: Path, source: Path = ROOT) -> Path:
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    (made,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built("sdist", folder)) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist as an installer builds it."""
    return built("wheel", tmp_path_factory.mktemp("wheel"), source)


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the installed wheel in it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A user's folder that holds modules of the same names as Liescope's rooms."""
    (tmp_path / "games").mkdir()
    for name in ("games/__init__.py", "benchmark.py", "generate.py"):
        (tmp_path / name).write_text("MINE = True\n", encoding="utf-8")
    return tmp_path


def files_of(room: str) -> set[str]:
    return {
        f"liescope/{path.relative_to(ROOT)}"
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def own_files() -> set[str]:
    """Files that stand in liescope/ itself, the pages' templates, styles and licences among them."""
    paths = {path for path in (ROOT / "liescope").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    return {str(path.relative_to(ROOT)) for path in paths}


def test_a_wheel_from_the_sdist_and_one_from_the_checkout_hold_every_file_under_one_name(
    wheel: Path, tmp_path: Path
) -> None:
    here = set().union(*map(files_of, ROOMS)) | own_files()
    names = zipfile.ZipFile(wheel).namelist()
    assert here <= set(names)
    assert here <= set(zipfile.ZipFile(built("wheel", tmp_path)).namelist())
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"liescope", "liescope_games.py"}  # verifiers finds plug-ins by top-level names only
    assert "liescope/py.typed" in names


def test_the_sdist_holds_what_the_makefile_works_with(source: Path) -> None:
    for name in ("Makefile", "mkdocs.yml", "constraints/py311.txt", "docs/index.md"):
        assert (source / name).read_bytes() == (ROOT / name).read_bytes()


def test_a_checkout_on_a_system_without_links_works_and_builds_the_same_wheel(
    source: Path, wheel: Path, tmp_path: Path
) -> None:
    """Git then writes a link as a file that holds its target."""
    checkout = tmp_path / "checkout"
    shutil.copytree(source, checkout)
    for room in ROOMS:
        (checkout / "liescope" / room).write_text(f"../{room}", encoding="utf-8")
    script = "import liescope, liescope.games.core; print(liescope.games.core.__file__, liescope.play)"
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(checkout / "games" / "core.py"))
    made = built("wheel", tmp_path / "made", checkout)
    assert sorted(zipfile.ZipFile(made).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


@pytest.mark.long
def test_installed_it_works_beside_foreign_packages_of_the_same_names(site: Path, beside: Path) -> None:
    script = beside / "mine.py"
    script.write_text(SCRIPT.format(site=str(site)), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, script], cwd=beside, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "I investigated Bob." in done.stdout


@pytest.mark.long
def test_its_types_are_seen_from_outside(site: Path, beside: Path) -> None:
    (beside / "mine.py").write_text(TYPED, encoding="utf-8")
    environment = os.environ | {"MYPYPATH": str(site)}
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "mine.py"]
    command += ["--no-site-packages", "--ignore-missing-imports"]  # what other packages type takes long to read
    done = subprocess.run(command, cwd=beside, env=environment, capture_output=True, text=True)
    assert 'expression has type "str", variable has type "Outcome"' in done.stdout
    assert "1 error" in done.stdout
