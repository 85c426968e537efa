"""100 simulated people at 20 tables of one server, over loopback: how long a click takes, whether memory stays flat,
and whether anybody sees another's secret or misses something.

Each table that ends makes place for a new one. People think for --pause seconds on average; the tables play for
--minutes, and the last games are then played to their end.

    python tests/performance/bench_serve.py --minutes 5
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from liescope.generate.runs.journal import Journal
from tests.web.play.host import Host, said
from tests.web.play.person import Person
from tests.web.server import Server

GAME, TABLES, PEOPLE = "mafia", 20, 5


class Evening:
    """What happened so far."""

    def __init__(self, folder: Path, server: Server, pause: float, until: float) -> None:
        self.folder, self.server, self.pause, self.until = folder, server, pause, until
        self.host = Host(said(server, "host")[0])
        self.random = Random(7)
        self.making = asyncio.Lock()
        self.clicks: list[float] = []
        self.begun = self.ended = self.secrets = self.lost = self.answers = 0

    async def table(self) -> None:
        """Play one game after the other with new people."""
        while time.monotonic() < self.until:
            async with self.making:
                links = await asyncio.to_thread(self.host.add, GAME, PEOPLE)
                self.begun += 1
                folder = self.folder / f"table-{self.begun}"
            people = [Person(link, f"P{self.random.getrandbits(40):x}", Random(self.random.random()), self.pause)
                      for link in links]  # fmt: skip
            await asyncio.gather(*(person.play() for person in people))
            self.count(folder, people)

    def count(self, folder: Path, people: list[Person]) -> None:
        with Journal.open(folder) as journal:
            (record,) = journal.records()
        for person in people:
            self.clicks += person.clicks
            self.answers += len(person.received)
            (seat,) = (one.name for one in record.seats if one.model == person.name)
            self.lost += sum(event.seen_by(seat) for event in record.events) - person.seen
            got = b"".join(each.data for each in person.received)
            others = (one for one in people if one is not person)
            self.secrets += sum(text.encode() in got for one in others for text in (one.name, one.link[-22:]))
        self.ended += 1

    async def watch(self) -> None:
        while time.monotonic() < self.until:
            self.say()
            await asyncio.sleep(30)

    def say(self) -> None:
        clicks = sorted(self.clicks) or [0.0]
        p50, p95, p99 = (1000 * clicks[int(len(clicks) * share)] for share in (0.5, 0.95, 0.99))
        left = max(self.until - time.monotonic(), 0)
        print(f"{left:4.0f} s left; {self.ended} games; {len(self.clicks)} clicks: p50 {p50:.0f}, p95 {p95:.0f}, "
              f"p99 {p99:.0f} ms; server {memory(self.server):.0f} MB", flush=True)  # fmt: skip


def memory(server: Server) -> float:
    """Resident megabytes of a server's process."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


async def main(minutes: float, pause: float, tables: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "tables"
        server = Server(("liescope", "serve", "--out", str(out), "--port", "{port}"), Path(folder) / "log")
        try:
            evening = Evening(out, server, pause, time.monotonic() + 60 * minutes)
            watching = asyncio.create_task(evening.watch())
            await asyncio.gather(*(evening.table() for _ in range(tables)))
            await watching
            evening.say()
            print(f"{tables} tables of {PEOPLE} people; {evening.answers} answers received")
            print(f"events lost: {evening.lost}; secrets of others seen: {evening.secrets}")
            assert "Traceback" not in server.said(), server.said()
        finally:
            server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--pause", type=float, default=2)
    parser.add_argument("--tables", type=int, default=TABLES)
    given = parser.parse_args()
    asyncio.run(main(given.minutes, given.pause, given.tables))
