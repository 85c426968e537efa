"""Goldens that are texts, one file each: help, prompts, cards, exports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

from liescope.cli import command_line
from liescope.games.rated_game import RatingSpec
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.prompts.render import load_prompts
from liescope.generate.players.scripted import open_scripted
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import Shown, steps
from liescope.generate.runs.rating import RatingJob
from tests.golden.frozen import as_text, digest, masked
from tests.golden.world import RUNS, World

REFUSALS = Path(__file__).parent / "said" / "refusals.txt"
FOLDERS = ("help", "said", "prompts", "cards", "exports", "json")
MODEL, SCRIPT = "openai:gpt-4.1-mini", "scripted:steady"
PROMPTS: Mapping[str, tuple[str, ...]] = {
    "mini-mafia": ("play", "mini-mafia", "--assess", "--mutual-discovery"),
    "mini-mafia-minimal": ("play", "mini-mafia", "--assess", "--prompts", "minimal"),
    "mafia": (
        *("play", "mafia", "--mafiosos", "1", "--villagers", "3", "--assess-share", "0.3", "--assess", "--days", "2"),
    ),
    "werewolf": (
        *("play", "werewolf", "--villagers", "3", "--seers", "1", "--assess", "--assess-share", "0.1", "--days", "2"),
        *("--debate-turns", "3", "--defence-turns", "2", "--show-suspicion"),
    ),
    "werewolf-learning": (
        *("play", "werewolf", "--learning", "on", "--villagers", "3", "--days", "2", "--debate-turns", "2"),
        *("--defence-turns", "1"),
    ),
    "one-night-werewolf": ("play", "one-night-werewolf", "--assess", "--assess-share", "0.5"),
    "cheat": ("play", "cheat", "--assess", "--assess-share", "0.5", "--turns", "5"),
    "judge-mini-mafia": ("label", "runs/mini", "--judge", SCRIPT, "--roles"),
    "judge-werewolf": ("label", "runs/wolves", "--judge", SCRIPT, "--roles", "--lessons", "--share", "0.2"),
}
EXPORTS: Mapping[str, tuple[str, ...]] = {
    "inspect": ("runs/mini-told",),
    "kto": ("corpus/held", "--prefer", "deceptive"),
}


def commands_and_options() -> str:
    """Every command with its arguments and options, one a line."""
    lines = []
    for name, command in command_line([]).commands.items():
        lines.append(name)
        lines += [f"  {'/'.join([*param.opts, *param.secondary_opts])}" for param in command.params]
    return "\n".join(lines) + "\n"


def prompts_of(world: World, name: str) -> str:
    """The longest prompt of each kind of ask, as scripts would get it."""
    words, run = PROMPTS[name], f"runs/prompts-{name}"
    if words[0] == "label":
        world.run(words[1].removeprefix("runs/"))
    else:
        words = (*words, "--games", "1")
    world.command(*words, "--out", run)
    found: dict[str, list[str]] = {}
    with Journal.open(world.folder / run) as journal:
        shown = Shown(journal)
        for record in islice(journal.records(), 2):
            for one in (asked for step in steps(journal, record) for asked in step.asked):
                (message,), _ = shown.messages(one, ())
                found.setdefault(one.ask.kind.value, []).append(message["content"])
    longest = {kind: max(prompts, key=len) for kind, prompts in found.items()}
    return masked("\n".join(f"--- {kind} ---\n{prompt}" for kind, prompt in longest.items()))


def claims_prompt(world: World) -> str:
    """What a model is asked that lists the claims of a statement."""
    job = RatingJob.of(world.run("mini"), SCRIPT, RatingSpec(0.0, claims=True))
    (planned, *_) = next(iter(job.chains(set())))
    rated = job.begin(planned, {SCRIPT: open_scripted("steady", PlayerContext(log=lambda _: None, game="mini-mafia"))})
    ask = rated.asks[0]
    return masked(load_prompts(job.templates, "mini-mafia").render(ask, rated.game.view(ask.seat)).text)


def card_of(world: World, corpus: str) -> str:
    return masked((world.corpus(corpus) / "README.md").read_text(encoding="utf-8"))


def croissant_of(world: World, corpus: str) -> dict[str, Any]:
    """A digest of each file; what is not about a file, as it is."""
    data = json.loads(masked((world.corpus(corpus) / "croissant.json").read_text(encoding="utf-8")))
    files = {entry["name"]: digest(json.dumps(entry)) for entry in data.pop("distribution")}
    return {
        "dataset": {key: value if len(str(value)) < 400 else digest(json.dumps(value)) for key, value in data.items()},
        "files": files,
    }


def export_of(world: World, name: str) -> dict[str, Any]:
    """By file of the export: its text, or a digest and short digests of its lines (of its samples, in a log)."""
    source, *options = EXPORTS[name]
    room, _, which = source.partition("/")
    (world.run if room == "runs" else world.corpus)(which)
    out = f"exports/{name}"
    world.command("export", source, "--to", name.split("-")[0], *options, "--out", out)
    files = sorted(path for path in (world.folder / out).rglob("*") if path.is_file())
    return {path.relative_to(world.folder / out).as_posix(): _file(path) for path in files}


def _file(path: Path) -> Any:
    if is_zipfile(path):
        with ZipFile(path) as packed:
            return {name: _outline(json.loads(masked(packed.read(name).decode()))) for name in packed.namelist()}
    text = masked(path.read_text(encoding="utf-8"))
    match path.suffix:
        case ".md":
            return text.splitlines()
        case ".jsonl":
            lines = text.splitlines()
            return {"lines": len(lines), "digest": digest(text), "each": "".join(digest(line, 2) for line in lines)}
        case _:
            return _outline(json.loads(text))


def _outline(data: Any, depth: int = 2) -> Any:
    """The data, where it is deep or long as digests."""
    if isinstance(data, Mapping) and depth:
        return {key: _outline(value, depth - 1) for key, value in data.items()}
    text = json.dumps(data, sort_keys=True)
    if isinstance(data, list) and len(text) > 300:
        return [digest(json.dumps(item, sort_keys=True), 6) for item in data[:64]]
    return data if len(text) <= 300 else digest(text)


FIRST = "the first game"
TIMES = frozenset({"seconds", "age", "at", "bytes", "python", "liescope", "openai", "pydantic", "sha256"})
JSON: Mapping[str, tuple[str, ...]] = {
    "show": ("show", "runs/mini-told", "--json"),
    **{f"show-{run}": ("show", f"runs/{run}", FIRST, "--json") for run in RUNS},
    "show-calls": ("show", "runs/mini-told", "0", "--calls", "--json"),
    "show-prompt": ("show", "runs/mini-told", "0", "--prompt", "0", "Bob", "--json"),
    "status": ("status", "runs/mini", "--json"),
    "export": ("export", "corpus/held", "--to", "kto", "--out", "exports/json", "--json"),
    "play-dry-run": ("play", "mini-mafia", "--player", MODEL, "--games", "1", "--out", "none", "--dry-run", "--json"),
    "publish-corpus": ("publish", "corpus/rows", "--repo", "me/rows", "--dry-run", "--json"),
}


def first_game(world: World, run: str) -> str:
    """The id of the first game of a run."""
    return str(json.loads(world.command("show", run, "--json"))["games"][0]["game_id"])


def json_of(world: World, name: str) -> str:
    """What a command prints with --json, without times and hashes; of play, label, fork, import and build too."""
    if name in JSON:
        for word in JSON[name]:
            room, _, which = word.partition("/")
            if room in ("runs", "corpus") and which:
                (world.run if room == "runs" else world.corpus)(which)
        said = world.command(*(first_game(world, JSON[name][1]) if word == FIRST else word for word in JSON[name]))
    else:
        room, _, which = name.partition("-")
        (world.run if room == "runs" else world.corpus)(which)
        said = world.said[f"{room}/{which}"]
    return as_text(_untimed(json.loads(masked(said))))


def _untimed(data: Any) -> Any:
    """The data with six digits of every number and the lengths of what is long, without what another time changes."""
    match data:
        case float():
            return float(f"{data:.5e}")
        case dict():
            keys = sorted(data) if any(" " in key for key in data) else list(data)  # counted sentences in any order
            return {key: "…" if key in TIMES else _untimed(data[key]) for key in keys}
        case list():
            items = [_untimed(item) for item in data]
            long = len(items) > 3 and len(str(items)) > 3000
            return [f"{len(items)}, such as", items[0], *map(_short, items)] if long else items
        case str() if len(data) > 400:
            return f"{data[:200]}… {digest(data)}"
    return data


def _short(item: Any) -> str:
    kind = f"{item['kind']} " if isinstance(item, dict) and "kind" in item else ""
    return f"{kind}{digest(str(item), 6)}"


def show_of(world: World, run: str) -> str:
    """The list of a run's games, and the first of them."""
    folder = world.run(run).relative_to(world.folder).as_posix()
    listed, first = world.command("show", folder), world.command("show", folder, first_game(world, folder))
    return masked("\n".join(line.rstrip() for line in f"{listed}\n{first}".splitlines())) + "\n"


def refusals(world: World) -> str:
    """What is said to mistaken commands, those of its file: a new one is added there as a line `$ liescope …`."""
    mistakes = re.findall(r"^\$ liescope (.+)$", REFUSALS.read_text(encoding="utf-8"), re.M)
    world.run("mini")
    (world.folder / "mistaken.toml").write_text("[play]\ngame = 'mafia'\nconcurency = 3\n", encoding="utf-8")
    return "".join(f"$ liescope {words}\n{masked(world.refused(*words.split()))}\n" for words in mistakes)


def page_of(world: World) -> str:
    """What a reader sees of two games in a file of `view --out`."""
    world.run("mini")
    world.command("view", "runs/mini", "0", "1", "--out", "view.html")
    text = (world.folder / "view.html").read_text(encoding="utf-8")
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", "", text, flags=re.S)
    lines = (" ".join(unescape(line).split()) for line in re.sub(r"<[^>]*>", "\n", text).splitlines())
    return masked("\n".join(line for line in lines if line)) + "\n"


def frozen_texts(world: World) -> dict[str, Callable[[], str]]:
    """By file below this folder: what makes its text now."""
    made: dict[str, Callable[[], str]] = {}
    made["help/commands.txt"] = commands_and_options
    for name in PROMPTS:
        made[f"prompts/{name}.txt"] = lambda name=name: prompts_of(world, name)
    made["prompts/claims-of-mini-mafia.txt"] = lambda: claims_prompt(world)
    said = [*(f"runs-{name}" for name in RUNS), "corpus-held", "corpus-rows", *JSON]
    for name in said:
        made[f"json/{name}.json"] = lambda name=name: json_of(world, name)
    made["said/refusals.txt"] = lambda: refusals(world)
    made["said/view.txt"] = lambda: page_of(world)
    for run in ("mini", "wolves", "judged", "fork", "rows", "diplomacy", "quack"):
        made[f"said/show-{run}.txt"] = lambda run=run: show_of(world, run)
    for corpus in ("held", "rows"):
        made[f"cards/{corpus}.md"] = lambda corpus=corpus: card_of(world, corpus)
    made["cards/croissant.json"] = lambda: as_text(croissant_of(world, "held"))
    for name in EXPORTS:
        made[f"exports/{name}.json"] = lambda name=name: as_text(export_of(world, name))
    return made
