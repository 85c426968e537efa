"""Publishing detectors, end to end against a local stand-in for the Hub: what is pushed opens without Liescope too."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import ModelCard

from liescope import evaluate, load, publish, train
from liescope.common.errors import BadData, LiescopeError, UsageError
from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.model_card import model_card
from tests.generate.corpus.stand_in import Hub, hubs

pytestmark = pytest.mark.slow

REPO = "me/detector"
SAID = "I investigated Bob. He is the mafioso."
# Publishes models one after another into one repository; after each, opens it as its card says: with Liescope, without.
PUBLISH_AND_OPEN = r"""
import contextlib, io, json, re, sys
from huggingface_hub import HfApi, hf_hub_download
import liescope
from liescope import cli
found = []
for model in sys.argv[1:]:
    assert cli.main(["publish", model, "--repo", "me/detector"]) == 0
    card = open(hf_hub_download("me/detector", "README.md"), encoding="utf-8").read()
    blocks, printed = re.findall(r"```python\n(.*?)```", card, re.DOTALL), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(blocks[1], {})
    plain = printed.getvalue()
    if "deceptive" in plain:
        plain = float(re.search(r"'deceptive', 'score': ([0-9.e-]+)", plain)[1])
    else:
        plain = float(plain.strip().strip("[]"))
    said = [{"text": "I investigated Bob. He is the mafioso.", "names": ["Bob"]}]
    ours = liescope.score("me/detector", said)["score"][0]
    found.append({"plain": plain, "ours": ours, "name": liescope.load("hf://models/me/detector").name,
                  "files": HfApi().list_repo_files("me/detector")})
print("\n" + json.dumps(found))
"""


@pytest.fixture(scope="module")
def trained(model: Path, embedding_model: Path, encoder_model: Path) -> dict[str, Path]:
    return {"tfidf": model, "embedding": embedding_model, "encoder": encoder_model}


@pytest.fixture
def mine(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that a test may spoil."""
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    return Path(shutil.copytree(model, tmp_path / "models" / "tfidf"))


@pytest.fixture
def start_hub(tmp_path: Path) -> Iterator[Callable[..., Hub]]:
    with hubs(tmp_path / "home") as start:
        yield start


@pytest.mark.long
def test_a_published_model_opens_as_its_card_says(trained: dict[str, Path], start_hub: Callable[..., Hub]) -> None:
    hub = start_hub()
    kinds = ("encoder", "embedding", "tfidf")
    done = hub.run("-c", PUBLISH_AND_OPEN, *(str(trained[kind]) for kind in kinds))
    assert done.returncode == 0, done.stderr
    for kind, found in zip(kinds, json.loads(done.stdout.splitlines()[-1]), strict=True):
        model = load(trained[kind])
        here = model.score([{"text": SAID, "names": ["Bob"]}])["score"][0]
        assert found["ours"] == pytest.approx(here, abs=1e-6)
        plain = model.file.confidence.of_scores(np.array([found["plain"]]))[0]
        assert plain == pytest.approx(here, abs=1e-5)
        assert found["name"] == "detector"
    state = hub.state()["repos"][REPO]
    assert state["private"]
    assert [message.split(",")[0] for message in state["messages"][-2:]] == ["Model of tfidf", "Card of tfidf"]
    kept = {"scores.parquet", "games.txt", "learned.parquet", "calibration.parquet"}
    assert set(state["files"]) == {"README.md", "model.json", "words.json", "words.npy", *kept}
    missing = hub.run("-m", "liescope", "score", "me/nothing", "x")
    assert missing.stderr.splitlines()[-1].endswith("no model of that name that you may see on the Hub")


OPEN_WITH_TRANSFORMERS = r"""
import json, sys
import torch
from liescope import cli
assert cli.main(["publish", sys.argv[1], "--repo", "me/detector"]) == 0
from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline
model = AutoModelForSequenceClassification.from_pretrained("me/detector")
tokenizer = AutoTokenizer.from_pretrained("me/detector")
said = "I investigated player1. He is the mafioso."
with torch.no_grad():
    plain = model(**tokenizer(said, return_tensors="pt")).logits.softmax(-1)[0].tolist()
piped = pipeline("text-classification", "me/detector", top_k=None)([said])[0]
print("\n" + json.dumps({"labels": model.config.id2label, "plain": plain, "piped": piped}))
"""


@pytest.mark.long
def test_a_published_encoder_is_a_text_classification_model_of_transformers(
    trained: dict[str, Path], start_hub: Callable[..., Hub]
) -> None:
    done = start_hub().run("-c", OPEN_WITH_TRANSFORMERS, str(trained["encoder"]))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["labels"] == {"0": "honest", "1": "deceptive"}
    piped = {one["label"]: one["score"] for one in found["piped"]}
    assert found["plain"] == pytest.approx([piped["honest"], piped["deceptive"]], abs=1e-6)
    model = load(trained["encoder"])
    (score,) = model.file.confidence.of_scores(np.array([piped["deceptive"]]))
    assert score == pytest.approx(model.score([{"text": SAID, "names": ["Bob"]}])["score"][0], abs=1e-5)


def test_the_card_of_a_kind_that_only_liescope_opens_says_what_it_takes(mine: Path) -> None:
    file = load(mine).file
    plain = model_card("it", file, repo=REPO)
    assert "Without Liescope" in plain
    assert "Only Liescope" not in plain
    for kind, words in (
        ("linear", "Only Liescope opens it. It reads a whole game"),
        ("probe", "Only Liescope with its extra `train` opens it."),
    ):
        options = DETECTORS[kind].options_type().model_dump()
        card = model_card("it", file.model_copy(update={"kind": kind, "options": options}), repo=REPO)
        assert words in card
        assert "Without Liescope" not in card
        assert ModelCard(card).data.library_name == "liescope"


def test_a_dry_run_shows_everything_and_asks_nobody(mine: Path, start_hub: Callable[..., Hub]) -> None:
    hub = start_hub()
    (mine / "journal.sqlite").write_text("private", encoding="utf-8")
    done = hub.publish(str(mine), "--repo", REPO, "--dry-run", "--json", HF_TOKEN="")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    kept = [path for path in mine.iterdir() if path.name not in ("README.md", "journal.sqlite")]
    sizes = {file["path"]: file["bytes"] for file in found["files"]}
    assert sizes == {
        **{path.name: path.stat().st_size for path in kept},
        "README.md": len(found["card"].encode()),
    }
    assert (found["kind"], found["dry_run"], found["private"]) == ("model", True, True)
    assert hub.state()["log"] == []


@pytest.mark.parametrize(
    ("kind", "files", "library", "base"),
    [
        ("embedding", {"modules.json", "1_Pooling/config.json", "head.npy"}, "sentence-transformers", "MiniLM"),
        ("encoder", {"tokenizer.json", "tokenizer_config.json"}, "transformers", "MiniLM"),
    ],
)
def test_the_encoder_goes_along_where_its_library_looks_for_it(
    kind: str, files: set[str], library: str, base: str, trained: dict[str, Path]
) -> None:
    found = publish(trained[kind], REPO, dry_run=True)
    assert {"config.json", "model.safetensors", *files} <= {file.path for file in found.files}
    file = load(trained[kind]).file
    bundled = file.model_copy(update={"options": {**file.options, "encoder": ""}})
    card = ModelCard(model_card("it", bundled, repo=REPO)).data
    assert card.library_name == ModelCard(found.card).data.library_name == library
    assert base in card.base_model


def test_the_card_is_filled_from_the_training_and_the_reports_and_names_a_corpus_on_the_hub(
    mine: Path, corpus: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report" / "report.json"
    evaluate(mine, corpus, split="test", out=report.parent)
    card = publish(mine, REPO, reports=[tmp_path / "report"], dry_run=True).card
    data = ModelCard(card).data
    assert (data.library_name, data.pipeline_tag, data.license) == ("sklearn", "text-classification", "other")
    auroc = {one.dataset_name: one.metric_value for one in data.eval_results if one.metric_type == "auroc_within_games"}
    assert {"small, train", "small, validation", "small, test"} <= auroc.keys()
    test = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))["figures"]
    (value,) = (r["value"] for r in test if (r["scorer"], r["metric"], r["where"]) == ("tfidf", "auroc_within", "test"))
    assert auroc["small, test"] == pytest.approx(value, abs=1e-4)
    for words in (
        "control:length",
        f"| this model | test | AUROC within games | {value:.3f} |",
        "me/detector",
    ):
        assert words in card
    assert f"{load(mine).thresholds['5pct']:.3f}" in card
    files = re.findall(r"`(\w+\.\w+)`", card)
    assert "calibration.parquet" in files
    assert all((mine / name).is_file() for name in files)

    words = report.read_text(encoding="utf-8")
    report.write_text(words.replace('"corpus": "small"', '"corpus": "me/games"'), encoding="utf-8")
    found = publish(mine, REPO, reports=[tmp_path / "report"], dry_run=True)
    assert "me/games" in {one.dataset_type for one in ModelCard(found.card).data.eval_results}

    for path in (report, mine / "model.json"):  # of another version, which measures by other names
        facts = json.loads(path.read_text(encoding="utf-8"))
        facts["figures"] += [{**facts["figures"][0], "metric": name} for name in ("gini", "null_difference")]
        path.write_text(json.dumps(facts), encoding="utf-8")
    card = publish(mine, REPO, reports=[tmp_path / "report"], dry_run=True).card
    assert "| train | gini |" in card
    assert "| train | null, difference |" in card


def test_only_an_encoder_that_was_not_chosen_is_the_bundled_one(mine: Path) -> None:
    file = load(mine).file.model_copy(update={"kind": "encoder", "options": {"encoder": "", "checkpoints": ""}})
    card = model_card("it", file)
    assert "| `encoder` | bundled all-MiniLM-L6-v2 |" in card
    assert "| `checkpoints` | not set |" in card


def spoil_weights(model: Path) -> None:
    (model / "games.txt").write_text("other games", encoding="utf-8")


def link_weights(model: Path) -> None:
    (model / "words.npy").rename(model.parent / "elsewhere")
    (model / "words.npy").symlink_to(model.parent / "elsewhere")


def lose_the_list(model: Path) -> None:
    data = json.loads((model / "model.json").read_text(encoding="utf-8"))
    (model / "model.json").write_text(json.dumps({**data, "files": {}}), encoding="utf-8")


def name_a_file_elsewhere(model: Path) -> None:
    data = json.loads((model / "model.json").read_text(encoding="utf-8"))
    listed = {**data["files"], "../../etc/passwd": "0" * 64}
    (model / "model.json").write_text(json.dumps({**data, "files": listed}), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (spoil_weights, BadData, "was changed after training"),
        (link_weights, UsageError, "is a symbolic link"),
        (lose_the_list, BadData, "lists none of its files"),
        (name_a_file_elsewhere, BadData, "cannot be read .files"),
        (shutil.rmtree, BadData, "neither a corpus nor a model"),
    ],
)
def test_what_is_not_as_it_was_trained_is_not_published(
    spoil: Callable[[Path], None], error: type[LiescopeError], words: str, mine: Path
) -> None:
    spoil(mine)
    with pytest.raises(error, match=words):
        publish(mine, REPO, dry_run=True)


@pytest.mark.parametrize(("variable", "where"), [("OPENAI_API_KEY", "model.json"), ("ACME_TOKEN", "words.json")])
def test_a_secret_is_never_published(variable: str, where: str, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = {"model.json": load(mine).file.corpus.id, "words.json": "evidence"}[where]  # a word of the vocabulary
    monkeypatch.setenv(variable, secret)
    with pytest.raises(UsageError, match=f"{where} holds the value of {variable}") as raised:
        publish(mine, REPO, dry_run=True)
    assert secret not in str(raised.value)


def test_a_report_of_another_model_is_not_shown(
    mine: Path, model_with_context: Path, corpus: Path, tmp_path: Path
) -> None:
    evaluate(model_with_context, corpus, split="test", out=tmp_path / "report")
    with pytest.raises(UsageError, match="not this training of this model"):
        publish(mine, REPO, reports=[tmp_path / "report"], dry_run=True)
    with pytest.raises(BadData, match="is not a report"):
        publish(mine, REPO, reports=[tmp_path], dry_run=True)
    with pytest.raises(UsageError, match="leave --report out"):
        publish(corpus, REPO, reports=[tmp_path / "report"], dry_run=True)


def test_the_card_says_whose_words_it_learned_from(make_corpus: Callable[..., Path], tmp_path: Path) -> None:
    corpus = make_corpus(games=40)
    facts = json.loads((corpus / "corpus.json").read_text(encoding="utf-8"))
    terms = {"origin": "you, on a page", "licence": "MIT.", "licence_id": "mit", "redistributable": False}
    for odd, licences in ((False, [{"name": "quack", "games": 9, "terms": terms}]), (True, [{"name": "quack"}])):
        (corpus / "corpus.json").write_text(json.dumps({**facts, "licences": licences}), encoding="utf-8")
        if odd:
            with pytest.raises(BadData, match=r"corpus\.json cannot be read"):
                train("tfidf", corpus, out=tmp_path / "odd", folds=0)
        else:
            found = publish(train("tfidf", corpus, out=tmp_path / "m", folds=0).model, REPO, dry_run=True)
            assert "- 9 games, quack: you, on a page. MIT." in found.card
            assert "words that others wrote" in found.notices[0]
