"""Games between scripted players, a corpus of them, and a detector that reads whole games; no network is used.

Run: python examples/games_offline.py [FOLDER]
"""

import sys
from pathlib import Path

import liescope
from liescope.detectors.view.transcript import read_transcripts

out = Path(sys.argv[1] if sys.argv[1:] else "out")

players = ["scripted:bold", "scripted:novice"]
run = liescope.play("mini-mafia", players=players, games=12, assess=True, seed=1, out=out / "runs" / "games")
corpus = liescope.build(out / "runs" / "games", out=out / "corpus" / "games")
print(run, corpus, sep="\n")

statements = liescope.read(corpus.folder, "statements").collect()
print(statements.group_by("label_role", "label_claim").len().sort("len", descending=True))

trained = liescope.train("linear", corpus.folder, target="role", out=out / "models" / "linear")
print(trained)

# A whole game: how suspect each player is at its end.
game = next(iter(read_transcripts(corpus.folder, ["test"]).values()))
after = liescope.load(out / "models" / "linear").predict_game(game)
print(dict(after.players))
