"""Conversations of an assistant, as JSON lines: a detector beside the judges whose scores came with them.

Run: python examples/own_chats.py [FOLDER]        Reads data/chats.jsonl (messages, deceptive, task, model, judges).
"""

import sys
from pathlib import Path

import liescope

out = Path(sys.argv[1] if sys.argv[1:] else "out")
chats = Path(__file__).parent / "data" / "chats.jsonl"

done = liescope.import_games("chat", chats, out=out / "runs" / "chats", licence="cc0-1.0", origin="made up")
print(f"{done.games} conversations")
corpus = liescope.build(out / "runs" / "chats", out=out / "corpus" / "chats").folder

# context=2: the detector also reads the instruction and the question before the answer.
for name, context in (("answer", 0), ("answer-and-question", 2)):
    liescope.train("tfidf", corpus, context=context, out=out / "models" / name)
models = [out / "models" / "answer", out / "models" / "answer-and-question"]
report = liescope.evaluate(models, corpus, observers=True, out=out / "reports" / "chats")

# Conversations have one label each, so pairs are made within tasks. Detectors, controls, then judges.
figures = report.metrics.filter(metric="auroc_within").select("scorer", "where", "value", "lo", "hi")
print(figures.filter(figures["where"] == "out-of-fold"))
print(figures.filter(figures["where"] == "out-of-fold:rated-by-all"))
