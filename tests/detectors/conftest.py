"""Small corpora on disk, as `build` lays them out, with a planted tie between a speaker's role and their words."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from liescope import train
from liescope.data_cards.tables import SPLITS, TABLES, arrow_schema
from liescope.detectors.detector import Detector
from liescope.detectors.examples import Example, Labelled, labelled, read_statements
from liescope.detectors.view.transcript import GameMoment, read_transcripts
from liescope.generate.corpus.read import FORMAT, DataFile, data_file, split_of
from tests.generate.players.openai.stub import Script, Stub
from tests.world import Once

NAMES = ("Alice", "Bob", "Charlie", "Diana")
ROLES = ("mafioso", "detective", "villager", "villager")
SHARED = (
    *("we", "should", "talk", "about", "this", "and", "look", "at", "how", "people", "voted", "before", "deciding"),
    *("who", "is", "lying", "today"),
)
TELLS = {True: ("calm", "rush", "random", "trust"), False: ("evidence", "checked", "certain", "night")}

Rows = dict[str, list[dict[str, Any]]]
Corpus = Callable[..., Path]


def sentence(draw: random.Random, deceives: bool, names: Sequence[str], tell: float) -> str:
    """Eight shared words, a name, and with probability `tell` one word that only this side uses."""
    words = [draw.choice(SHARED) for _ in range(8)]
    words.insert(draw.randrange(8), draw.choice(names))
    if draw.random() < tell:
        words.insert(draw.randrange(8), draw.choice(TELLS[deceives]))
    return " ".join(words) + "."


def game_rows(number: int, rows: Rows, tell: float, models: Sequence[str], source: str, names: Sequence[str]) -> None:
    """Append one game to every config: two rounds, the suspicion of the others, two blind votes."""
    draw = random.Random(number)
    game_id = f"game-{number:05}"
    split = split_of(game_id)
    order = draw.sample(names, 4)
    role = dict(zip(order, ROLES, strict=True))
    model = {name: models[(number + i) % len(models)] for i, name in enumerate(order)}
    alive, dead = order[:3], order[3]
    position = 0
    for turn in (1, 2):
        for speaker in draw.sample(alive, 3):
            position += 1
            lie = role[speaker] == "mafioso"
            key = f"{game_id}:{position + 10}"
            row = dict.fromkeys(TABLES["statements"].columns)
            row |= {
                **{"statement_id": key, "game_id": game_id, "game": "mini-mafia", "source": source, "split": split},
                **{
                    "day": 1,
                    "phase": "discussion",
                    "round": turn,
                    "position": position,
                    "alive": alive,
                    "read_notes": [],
                    "audience": [],
                },
                **{"speaker": speaker, "speaker_role": role[speaker], "speaker_model": model[speaker]},
                **{"speaker_team": "mafia" if lie else "town", "truncated": False, "label_role": lie},
                **{"label_claim": None if draw.random() < 0.5 else lie and draw.random() < 0.9},
                **{"label_self": lie, "text": sentence(draw, lie, names, tell), "peer_ratings": 2},
            }
            rows["statements"].append(row)
            for observer in alive:
                if observer == speaker:
                    continue
                suspicion = min(1.0, max(0.0, 0.45 + 0.1 * lie + draw.gauss(0, 0.2)))
                rating = dict.fromkeys(TABLES["ratings"].columns)
                rating |= {
                    **{"statement_id": key, "game_id": game_id, "speaker": speaker, "speaker_role": role[speaker]},
                    **{"observer": observer, "observer_role": role[observer], "observer_model": model[observer]},
                    **{"flag": suspicion > 0.5, "suspicion": suspicion, "running_suspicion": 0.5, "split": split},
                }
                rows["ratings"].append(rating)
    villager = order[2]
    voted = order[0] if draw.random() < 0.6 else order[1]
    rows["votes"].append(
        {
            **{"game_id": game_id, "day": 1, "ballot": 1, "voter": villager, "voter_role": "villager", "target": voted},
            **{"voter_model": model[villager], "voter_source": "human" if number % 10 == 0 else source},
            **{"target_role": role[voted], "fallback": "unreadable" if number % 7 == 0 else "", "split": split},
        }
    )
    seats = [
        {
            **{"name": name, "role": role[name], "team": "mafia" if role[name] == "mafioso" else "town"},
            **{"model": model[name], "source": source, "won": False, "deceives": role[name] == "mafioso"},
        }
        for name in names
    ]
    game = dict.fromkeys(TABLES["games"].columns)
    game |= {
        **{"game_id": game_id, "game": "mini-mafia", "source": source, "status": "done", "seats": seats},
        **{"killed": [dead], "statements": 6, "split": split},
    }
    rows["games"].append(game)


def events(rows: Rows) -> list[dict[str, Any]]:
    """What was said, who voted and who left, as the table of events holds it, in the order of days."""
    found: dict[tuple[str, int], dict[str, Any]] = {}

    def add(row: dict[str, Any], index: int, **facts: Any) -> None:
        event = {"drawn": False, "fallback": "", "text": "", "phase": "voting", "round": 0, "payload": "{}"}
        mine = {name: row[name] for name in ("game_id", "split", "day", "phase", "round", "text") if name in row}
        while (row["game_id"], index) in found:
            index += 1
        found[row["game_id"], index] = (
            dict.fromkeys(TABLES["events"].columns) | event | mine | {"index": index, **facts}
        )

    for row in rows["statements"]:
        index = int(row["statement_id"].rpartition(":")[2])
        add(row, index, kind="statement", actor=row["speaker"], audience=row["audience"] or None)
    for row in rows["votes"]:
        add(row, 1000 * row["day"] + 100 * row["ballot"], kind="vote", actor=row["voter"], target=row["target"])
    for game in rows["games"]:
        for seat in game["seats"]:
            if seat.get("fate") in ("killed", "exiled"):
                day = seat["day_out"]
                killed = seat["fate"] == "killed"
                kind, index = ("death", 1000 * (day - 1)) if killed else ("arrest", 1000 * day + 900)
                add(game | {"day": day}, index, kind=kind, target=seat["name"])
    return list(found.values())


def write(folder: Path, rows: Rows, hold_out: Sequence[str] = ()) -> Path:
    """The rows as a corpus folder, with the events that they come of."""
    rows["events"] = events(rows)
    counts: dict[str, dict[str, int]] = {}
    files: list[dict[str, Any]] = []
    for config in TABLES:
        (folder / config).mkdir(parents=True, exist_ok=True)
        counts[config] = {}
        for split in SPLITS:
            mine = [row for row in rows[config] if row["split"] == split]
            path = folder / data_file(config, split)
            columns = {field.name: field.stored(row.get(field.name) for row in mine) for field in TABLES[config].fields}
            pq.write_table(pa.Table.from_pydict(columns, schema=arrow_schema(config)), path)
            content = path.read_bytes()
            place, digest = data_file(config, split), hashlib.sha256(content).hexdigest()
            files.append(asdict(DataFile(place, config, split, len(mine), len(content), digest)))
            counts[config][split] = len(mine)
    facts = {
        "format": FORMAT,
        "name": "corpus",
        "liescope": "test",
        "rows": counts,
        "files": files,
        "runs": [],
        "licences": [],
        "seat_sources": [],
        "key_variables": [],
        "hold_out": list(hold_out),
    }
    (folder / "corpus.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def make_corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """make_corpus(games=…, tell=…, change=…): `change` gets the rows of every config before they are written."""

    def make(
        games: int = 120,
        tell: float = 0.7,
        models: Sequence[str] = ("model-a", "model-b"),
        source: str = "model",
        names: Sequence[str] = NAMES,
        hold_out: Sequence[str] = (),
        change: Callable[[Rows], None] = lambda rows: None,
    ) -> Path:
        rows: Rows = {config: [] for config in TABLES}
        for number in range(games):
            game_rows(number, rows, tell, models, source, names)
        change(rows)
        return write(tmp_path_factory.mktemp("corpus") / "small", rows, hold_out)

    return make


def elsewhere(rows: Rows, name: str = "other") -> None:
    """Make the games those of another corpus, under ids of its own."""
    for table in rows.values():
        for row in table:
            row |= {key: f"{name}-{row[key]}" for key in ("game_id", "statement_id") if key in row}


def after_the_game(detector: Detector, examples: Sequence[Example]) -> NDArray[np.float64]:
    """(n,): what it says at the end of each statement's game of its speaker."""
    games = {one.game_id: GameMoment(one.seen.transcript) for one in examples if one.seen}
    found = dict(zip(games, detector.player_posteriors(list(games.values())), strict=True))
    return np.array([found[one.game_id][one.speaker] for one in examples])


@pytest.fixture(scope="session")
def corpus(once: Once, make_corpus: Corpus) -> Path:
    """120 games."""
    return once("corpora/small", lambda out: make_corpus().rename(out))


@pytest.fixture(scope="session")
def data(corpus: Path) -> Mapping[str, Labelled]:
    """The statements of two splits, with their games."""
    games = read_transcripts(corpus)
    return {name: labelled(read_statements(corpus, [name]), "role", 0, games) for name in ("train", "test")}


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache folder of the test's own, for what judges reply."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def large(once: Once, make_corpus: Corpus) -> Path:
    """400 games, in which words tell less."""
    return once("corpora/large", lambda out: make_corpus(games=400, tell=0.5).rename(out))


@pytest.fixture(scope="session")
def model(once: Once, corpus: Path) -> Path:
    """TF-IDF for the role, by default settings."""
    return once("models/tfidf", lambda out: train("tfidf", corpus, out=out))


@pytest.fixture(scope="session")
def model_with_context(once: Once, corpus: Path) -> Path:
    return once("models/with context/tfidf", lambda out: train("tfidf", corpus, out=out, folds=0, context=2))


@pytest.fixture(scope="session")
def large_model(once: Once, large: Path) -> Path:
    return once("models/large/tfidf", lambda out: train("tfidf", large, out=out, folds=3, strength=50.0))


@pytest.fixture(scope="session")
def embedding_model(once: Once, corpus: Path, tiny_encoder: Path) -> Path:
    small = {"folds": 0, "encoder": str(tiny_encoder)}
    return once("models/embedding", lambda out: train("embedding", corpus, out=out, **small))


@pytest.fixture(scope="session")
def encoder_model(once: Once, corpus: Path, tiny_encoder: Path) -> Path:
    small = {"folds": 0, "encoder": str(tiny_encoder), "max_steps": 3}
    return once("models/encoder", lambda out: train("encoder", corpus, out=out, **small))


@pytest.fixture(scope="session", autouse=True)
def _controls_once() -> Iterator[None]:
    """The controls of equal statements, and words with shuffled labels, are fitted once, however many models are
    evaluated beside them.
    """
    from liescope.detectors.study import study

    fitted, shuffled = study.control_scores, study.shuffles
    known: dict[tuple[Any, ...], Any] = {}

    def once(statements: pl.DataFrame, scheme: Any, target: str, plan: Any, *reasoned_and_progress: Any) -> Any:
        key = (statements.hash_rows().sum(), target, plan.split, plan.seed, reasoned_and_progress[0])
        if key not in known:
            known[key] = fitted(statements, scheme, target, plan, *reasoned_and_progress)
        return known[key]

    def shuffled_once(statements: pl.DataFrame, scheme: Any, target: str, plan: Any, progress: Any) -> Any:
        key = (statements.hash_rows().sum(), target, plan.split, plan.seed)
        if key not in known:
            known[key] = shuffled(statements, scheme, target, plan, progress)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "control_scores", once)
        patch.setattr(study, "shuffles", shuffled_once)
        yield


@pytest.fixture(scope="session")
def tiny_encoder(once: Once) -> Path:
    return once("tiny/bert", make_encoder)


def make_encoder(folder: Path) -> None:
    """A BERT of a few thousand random weights with a vocabulary of the corpus's words, made on the spot."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ":", "speaker", "player", "##1", "##2", "##3"]
    words += sorted({*SHARED, *TELLS[True], *TELLS[False]})
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=64, **shape)).save_pretrained(folder)


@pytest.fixture(scope="session")
def tiny_lm(once: Once) -> Path:
    return once("tiny/llama", make_language_model)


def make_language_model(folder: Path) -> None:
    """A Llama of four layers with random weights and the corpus's words as its vocabulary."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<unk>", "<s>", "</s>", ".", ":", "?", "yes", "no", "speaker", "player1", "player2", "player3"]
    words += sorted({*SHARED, *TELLS[True], *TELLS[False]})
    plain = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=plain, **marks).save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 32}
    LlamaForCausalLM(
        LlamaConfig(vocab_size=len(words), max_position_embeddings=64, initializer_range=0.2, **shape)
    ).save_pretrained(folder)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], Stub]]:
    """serve(script): an endpoint on loopback, which is asked again at once when it fails."""
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.FIRST_WAIT", 0.001)
    running: list[Stub] = []

    def start(script: Script) -> Stub:
        running.append(Stub(script))
        return running[-1]

    yield start
    for stub in running:
        stub.close()
