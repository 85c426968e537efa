"""Every benchmark in turn; they print figures and assert nothing. Run: make performance"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    failed = [
        path.name
        for path in sorted(Path(__file__).parent.glob("bench_*.py"))
        if subprocess.run([sys.executable, str(path)], check=False).returncode
    ]
    sys.exit(f"these benchmarks failed: {', '.join(failed)}" if failed else 0)
