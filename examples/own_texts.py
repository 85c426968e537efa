"""Your own table of texts: a detector, whether it can be trusted, and shortcuts in the table.

Run: python examples/own_texts.py [FOLDER]        Reads data/messages.csv; replace it with your own file.
"""

import sys
from pathlib import Path

import polars as pl

import liescope

out = Path(sys.argv[1] if sys.argv[1:] else "out")
messages = pl.read_csv(Path(__file__).parent / "data" / "messages.csv")  # text, label (lie or truth), group

liescope.train("tfidf", messages, out=out / "models" / "mine")
report = liescope.evaluate(out / "models" / "mine", messages, out=out / "reports" / "mine")
print(report)  # every group is judged by what learned from others

# Is that better than text length alone? Only if the interval of the difference excludes 0.
ahead = report.metrics.filter(
    metric="auroc_within_difference", where="out-of-fold", scorer="mine", against="control:length"
).row(0, named=True)
print(f"ahead of length alone by {ahead['value']:.2f} ({ahead['lo']:.2f} to {ahead['hi']:.2f})")

found = liescope.audit(messages)
for finding in found.findings[:3]:
    print(f"{finding.severity}: {finding.words}")

print(liescope.score(out / "models" / "mine", ["I saw Bob at night. I am sure of it."]).select("score", "verdict"))
