"""What people agree to before they judge."""

from __future__ import annotations

from liescope.web.play.consent import Consent

CONSENT = Consent(
    (
        "You are invited to read games in which some players were asked to deceive the others, and to judge them. Your "
        "answers, and how long each took, are recorded for research on deception, and may be published.",
        "You answer under a pseudonym. Do not use your name. Your address on the network is not recorded.",
        "You may stop at any time, and go on later by the same link. What has been sent cannot be changed, but you can "
        "have all of your answers deleted, on the last line of every page. What was published before cannot be called "
        "back.",
    )
)
