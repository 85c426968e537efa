"""What people agree to before they play or judge: our texts, or the host's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from liescope.common.errors import BadData
from liescope.common.people import consent_hash

LONGEST = 8000  # characters of a host's text


@dataclass(frozen=True, slots=True)
class Consent:
    """A text in paragraphs. hash: changes with the text."""

    paragraphs: tuple[str, ...]

    @property
    def hash(self) -> str:
        return consent_hash(self.paragraphs)


CONSENT = Consent(
    (
        "You are invited to a game, played for research on deception. The rules ask some players to deceive the "
        "others: you may be deceived in it, and asked to deceive. Take part only if you are 18 or older.",
        "What is recorded: all that you write and choose, the forms that you fill in, and how long you take. All of "
        "it may be published, for anyone to read and study, also to train programs that detect lies.",
        "You play under a pseudonym. Do not use your name, and write nothing that tells who you or others are. Your "
        "address on the network is not recorded. The host keeps the time at which you agreed, apart from the game.",
        "Some of the other players may be computer programs. The end of the game says which.",
        "You may stop at any time; the game then goes on without you. On the page of your seat you can withdraw your "
        "words: then they are deleted, and your pseudonym with them, while your votes and choices and what others said "
        "stay. Words that were published before cannot be called back.",
    )
)


def read_consent(file: Path) -> Consent:
    """A host's own text: plain paragraphs with empty lines between them. Raises BadData for a file that is none."""
    try:
        with file.open(encoding="utf-8") as source:
            text = source.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        raise BadData(f"{file} cannot be read as a text: {getattr(error, 'strerror', None) or error}") from None
    paragraphs = tuple(" ".join(part.split()) for part in text.replace("\r\n", "\n").split("\n\n") if part.strip())
    if not paragraphs or len(text) > LONGEST:
        size = f"longer than {LONGEST:,} characters" if paragraphs else "empty"
        raise BadData(f"{file} is {size}; the text that people agree to is a few plain paragraphs")
    return Consent(paragraphs)


TO_JUDGE = Consent(
    (
        "You are invited to read games in which some players were asked to deceive the others, and to judge them. Your "
        "answers, and how long each took, are recorded for research on deception, and may be published.",
        "You answer under a pseudonym. Do not use your name. Your address on the network is not recorded.",
        "You may stop at any time, and go on later by the same link. What has been sent cannot be changed, but you can "
        "have all of your answers deleted, on the last line of every page. What was published before cannot be called "
        "back.",
    )
)
