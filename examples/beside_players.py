"""A detector beside those who heard the same statements: the players of the games.

Run: python examples/beside_players.py [FOLDER]        Uses what games_offline.py left in FOLDER, or makes it.
"""

import runpy
import sys
from pathlib import Path

import liescope

out = Path(sys.argv[1] if sys.argv[1:] else "out")
if not (out / "models" / "linear").exists():
    runpy.run_path(str(Path(__file__).with_name("games_offline.py")))

report = liescope.evaluate(
    out / "models" / "linear", out / "corpus" / "games", observers=True, out=out / "reports" / "games"
)
differences = report.metrics.filter(metric="auroc_within_difference", scorer="linear")
for row in differences.filter(differences["against"].str.starts_with("observers:")).iter_rows(named=True):
    settled = "settled" if row["lo"] > 0 or row["hi"] < 0 else "not settled by these games"
    figure = f"{row['value']:+.2f} ({row['lo']:+.2f} to {row['hi']:+.2f})"
    print(f"{row['where']}: {figure} against {row['against']}: {settled}")
