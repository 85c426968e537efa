"""A report's folder becomes a static Space whose page works as it did on disk."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import yaml

import liescope
from liescope.common.errors import UsageError
from liescope.common.report.contents import Report
from liescope.common.report.files import write
from tests.generate.corpus.stand_in import Hub, hubs

REPO = "me/board"


@pytest.fixture
def start_hub(tmp_path: Path) -> Iterator[Callable[..., Hub]]:
    with hubs(tmp_path / "home") as start:
        yield start


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a figure, tables in a folder of their own, and data."""
    folder = tmp_path_factory.mktemp("board")
    rows = "".join(f"{i},{j},{k},{3 + n},20\n" for n, (i, j, k) in enumerate(product(("strong", "people"), repeat=3)))
    (folder / "counts.csv").write_text(f"mafioso,detective,villager,mafia_wins,games\n{rows}")
    liescope.report(folder / "counts.csv", out=folder / "site", model="paper", draws=200, tune=200)
    return folder / "site"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A folder that a test may spoil."""
    page = Report("Who lies: R&D", ("Nobody does.",), files={"report.json": {"a": 1}})
    write(page, tmp_path / "report")
    return tmp_path / "report"


def pulled(hub: Hub, folder: Path) -> dict[str, Path]:
    """The files of the Space, as a browser would fetch them."""
    found = {}
    for name in hub.state()["repos"][REPO]["files"]:
        asked = Request(
            f"{hub.url}/spaces/{REPO}/resolve/main/{name}", headers={"Authorization": "Bearer hf_writer_token"}
        )
        found[name] = folder / name
        found[name].parent.mkdir(parents=True, exist_ok=True)
        with urlopen(asked) as reply:
            found[name].write_bytes(reply.read())
    return found


def about(card: str) -> dict[str, object]:
    found = yaml.safe_load(card.split("---\n")[1])
    assert isinstance(found, dict)
    return found


def test_a_report_is_a_private_static_space_with_every_file_and_link(
    site: Path, start_hub: Callable[..., Hub], tmp_path: Path
) -> None:
    hub = start_hub()
    done = hub.publish(str(site), "--repo", REPO, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["kind"], said["url"], said["gated"]) == ("space", f"{hub.url}/spaces/{REPO}", False)
    kept = hub.state()["repos"][REPO]
    assert (kept["sdk"], kept["private"]) == ("static", True)
    files = pulled(hub, tmp_path / "space")
    local = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    local["index.html"] = local.pop("report.html")
    assert files.keys() - {"README.md"} == local.keys()
    assert all(files[name].read_bytes() == path.read_bytes() for name, path in local.items())
    card = files["README.md"].read_text()
    assert about(card).items() >= {"sdk": "static", "app_file": "index.html", "pinned": False}.items()
    pages = [path for name, path in files.items() if name.endswith(".html")]
    assert len(pages) == 1
    for page in pages:
        links = re.findall(r'(?:href|src)="([^"#]+)', page.read_text())
        assert all((page.parent / link).is_file() for link in links if not re.match(r"https?:|data:", link))


def test_a_report_opens_with_its_page_and_a_later_one_takes_its_place(
    report: Path, start_hub: Callable[..., Hub], tmp_path: Path
) -> None:
    hub = start_hub()
    done = hub.publish(str(report), "--repo", REPO, "--public")
    assert done.returncode == 0, done.stderr
    assert "can quote statements" in done.stderr
    kept = hub.state()["repos"][REPO]
    assert (kept["private"], kept["files"]) == (False, ["README.md", "index.html", "report.json", "report.md"])
    files = pulled(hub, tmp_path / "space")
    assert files["index.html"].read_bytes() == (report / "report.html").read_bytes()
    assert about(files["README.md"].read_text())["title"] == "Who lies: R&D"
    write(Report("Another"), report)
    assert hub.publish(str(report), "--repo", REPO).returncode == 0
    assert hub.state()["repos"][REPO]["files"] == ["README.md", "index.html", "report.md"]


def stray(report: Path) -> None:
    (report / "notes.txt").write_text("mine")


def hidden(report: Path) -> None:
    write(Report("One", files={"data/one.json": {"a": 1}}), report)
    (report / "data" / ".env").write_text("mine")


def linked(report: Path) -> None:
    other = shutil.move(report / "report.json", report.parent / "report.json")
    (report / "report.json").symlink_to(other)


def leaking(report: Path) -> None:
    (report / "report.json").write_text(json.dumps({"key": "sk-proj-" + "a1B2c3D4" * 5}))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (stray, "holds other files beside one"),
        (hidden, r"\.env is no file of a report"),
        (linked, "is a symbolic link"),
        (leaking, "report.json"),
    ],
)
def test_what_is_no_file_of_the_report_and_what_may_be_a_key_stays_here(
    report: Path, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(report)
    with pytest.raises(UsageError, match=message):
        liescope.publish(report, REPO, dry_run=True)


@pytest.mark.parametrize("option", [{"gated": True}, {"permission": "me"}, {"reports": ["x"]}])
def test_what_a_space_cannot_have_is_refused(report: Path, option: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="which a Space shows"):
        liescope.publish(report, REPO, dry_run=True, **option)  # type: ignore[arg-type]
