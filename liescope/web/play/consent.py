"""What people agree to before they play."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Consent:
    """A text in paragraphs. hash: changes with the text."""

    paragraphs: tuple[str, ...]

    @property
    def hash(self) -> str:
        return sha256("\n".join(self.paragraphs).encode()).hexdigest()[:16]


CONSENT = Consent(
    (
        "You are invited to a game in which some players are asked to deceive the others. All that you write and "
        "choose in it, and how long you take, is recorded for research on deception, and may be published.",
        "You play under a pseudonym. Do not use your name, and write nothing that tells who you or others are. Your "
        "address on the network is not recorded.",
        "Some of the other players may be computer programs. You may stop at any time; the table then goes on without "
        "you.",
    )
)
